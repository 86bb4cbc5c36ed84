"""Pictures of component functions: curves and bars of one variable, maps and surfaces of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.outputs import output_index
from fasthdmr._support.validation import check_kind
from fasthdmr.plotting import _shared as shared
from fasthdmr.plotting._curves import draw_single
from fasthdmr.plotting._drawn import Drawn
from fasthdmr.plotting._maps import draw_map, draw_surface


class ComponentDisplay:
    """Component functions: a curve or bars for each of one variable, a map or surface for each of two.

    Parameters
    ----------
    components : sequence of Component
        Of order 1 or 2.
    output : int, default=0
        Which of several outputs to show.
    kind : {"map", "surface"}, default="map"
        How components of two variables are drawn: as heat maps, or as surfaces in three dimensions.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : ndarray of matplotlib.axes.Axes, shape (number of components,)

    Raises
    ------
    ValueError
        If there are no components, one is of order 3 or more, or one is not a function of variables; if `kind` is
        none of those allowed.
    ImportError
        If matplotlib is not installed (extra ``plot``).

    Notes
    -----
    Components of one variable in one figure share their scale, so a flat curve is an unimportant one. A variable
    is drawn from the 1st to the 99th percentile of the fitted rows, or of its law. If a sample of the rows is kept,

    - ticks along the bottom of a curve are some of the rows (a rug plot), and the band is two standard errors to either
      side, if the estimator has them;
    - a variable with at most 10 distinct values has a bar for each value, with the fraction of rows, and missing values
      have a bar or mark of their own, "missing";
    - grey, hatched on a map, covers cells of a coarse grid without rows: the component is an extrapolation there, and
      the colour scale does not include it.

    Maps show the interaction of two variables, without their main effects; blue is negative and red positive. Surfaces
    leave missing values out.

    Examples
    --------
    >>> import fasthdmr
    >>> X, y = fasthdmr.datasets.make_ishigami(200, random_state=0)
    >>> hdmr = fasthdmr.TreeHDMR(smooth=False, random_state=0).fit(X, y)
    >>> display = fasthdmr.plotting.ComponentDisplay.from_estimator(hdmr, ["x0", ("x0", "x2")])
    >>> [axes.get_xlabel() for axes in display.axes_]
    ['x0', 'x0']
    """

    figure_: Any
    axes_: Any

    def __init__(self, components: Sequence[Any], *, output: int = 0, kind: str = "map") -> None:
        if not components:
            raise ValueError("subspaces must contain at least one subspace, got none.")
        check_kind(kind, ("map", "surface"))
        for component in components:
            if len(component.subspace) > 2:
                raise ValueError(
                    f"The component function of {', '.join(component.names)} cannot be drawn, only those of "
                    "one or two variables. Evaluate it with component(subspace)."
                )
            if component.bounds is None:
                raise ValueError("A component of a dictionary of columns has no variables for the axes of a plot.")
        self.components = list(components)
        self.output = output
        self.kind = kind

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        subspaces: Sequence[Any],
        *,
        output: int | str | None = None,
        kind: str = "map",
        ax: Any = None,
    ) -> ComponentDisplay:
        """Draw component functions of a fitted estimator, or of a closed form.

        Parameters
        ----------
        estimator : TreeHDMR, HDMR, KernelHDMR or function of `fasthdmr.analytic`
            Estimators fitted.
        subspaces : sequence of int, str, or tuple of int or str
            By index, such as ``[(0,), (0, 2)]``, or by name: ``["MedInc", ("Latitude", "Longitude")]``, of which the
            first is drawn from left to right.
        output : int or str, optional
            Index or name of the output; needed where there are several.
        kind : {"map", "surface"}, default="map"
            How components of two variables are drawn.
        ax : matplotlib Axes or array of Axes, optional
            One for each subspace; a single one is divided among several. Default: a new figure.

        Returns
        -------
        display : ComponentDisplay

        Raises
        ------
        ValueError
            If a subspace has no component, is of order 3 or more, or `output`, `kind` or `ax` does not fit.
        """
        components = [estimator.component(u) for u in subspaces]
        if shared.is_closed_form(estimator):  # there may be too many indices to list
            number = output_index(output, 1)
        else:
            indices = estimator.sensitivity_
            number = output_index(output, indices.n_outputs, indices.output_names)
        return cls(components, output=number, kind=kind).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ComponentDisplay:
        """Draw the components.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, optional
            One for each component; a single one is divided among several. Default: a new figure. Surfaces need axes
            made with ``projection="3d"``.

        Returns
        -------
        self : ComponentDisplay

        Raises
        ------
        ValueError
            If `ax` is an array of another length, or has no third dimension for a surface.
        """
        pairs = [len(component.subspace) == 2 for component in self.components]
        is_surface = self.kind == "surface"
        self.axes_ = shared.several_axes(ax, ["3d" if pair and is_surface else None for pair in pairs])
        self.figure_ = self.axes_[0].figure
        for component, axes in zip(self.components, self.axes_, strict=True):
            drawn = Drawn(component, self.output)
            if len(component.subspace) == 1:
                draw_single(drawn, axes)
            else:
                (draw_surface if is_surface else draw_map)(drawn, axes)
        _share_scale(self.axes_[~np.array(pairs)])
        return self


def _share_scale(axes: NDArray[np.object_]) -> None:
    limits = np.array([one.get_ylim() for one in axes])
    for one in axes:
        one.set_ylim(limits[:, 0].min(), limits[:, 1].max())
