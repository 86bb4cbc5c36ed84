"""Pictures of component functions: curves and bars of one variable, maps and surfaces of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_scalar

from fasthdmr._support.outputs import output_index
from fasthdmr._support.subspaces import subspace_names
from fasthdmr._support.validation import check_kind
from fasthdmr.plotting import _shared as shared
from fasthdmr.plotting._categories import bar_count, draw_level_bars, draw_level_curves, is_drawn_as_curves
from fasthdmr.plotting._curves import draw_single
from fasthdmr.plotting._drawn import Drawn
from fasthdmr.plotting._maps import draw_map, draw_surface, map_size

Kind = Literal["map", "surface"]
Sort = Literal["frequency", "effect"]


class ComponentDisplay:
    """Component functions: a curve or bars for each of one variable, a map or surface for each of two.

    Parameters
    ----------
    components : sequence of Component
        Of order 1 or 2.
    output : int, default=0
        Which of several outputs to show.
    kind : {"map", "surface"}, default="map"
        How components of two numeric variables are drawn: as heat maps, or as surfaces in three dimensions.
    sort : {"frequency", "effect"}, default="frequency"
        The order of the levels of a categorical variable: the most frequent first, or the largest value of the
        component.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : ndarray of matplotlib.axes.Axes, shape (number of components,)

    Raises
    ------
    ValueError
        If there are no components, one is of order 3 or more, or one is not a function of variables; if `kind` is
        none of those allowed, or "surface" with a categorical variable; if `sort` is none of those allowed.
    ImportError
        If matplotlib is not installed (extra ``plot``).

    Notes
    -----
    Labels name the function and the unit of its values, and the class or target that they are of if it is known. The
    constant f_0 is above a new figure; in axes that are given, it is below the first label.

    Components of one variable in one figure share their scale, so a flat curve is an unimportant one. It is the scale
    of curves and bars: a wide band leaves it. A variable is drawn from the 1st to the 99th percentile of the fitted
    rows, or of its law. If a sample of the rows is kept,

    - the axis of a skewed variable is logarithmic: from the median, the range extends at least 4 times as far up as
      down, less unevenly in logarithms, and over a factor of at least 10. With zeros it is linear up to the 5th
      percentile of the positive values ("symlog"); with negative values, and for surfaces, linear;
    - ticks along the bottom of a curve are some of the rows (a rug plot), and the band is two standard errors to either
      side, if the estimator has them;
    - a variable with at most 10 distinct values has a bar for each value, with the fraction of rows, and missing values
      have a bar or mark of their own, "missing";
    - grey, hatched on a map, covers cells of a coarse grid without rows: the component is an extrapolation there, and
      the colour scale does not include it.

    Maps show the interaction of two variables, without their main effects; blue is negative and red positive. Surfaces
    leave missing values out.

    A categorical variable has a bar for each level, with its share of the sample of rows; missing values are a level.
    The 20 most frequent levels have bars of their own (with ``sort="effect"`` those with the 20 largest effects), the
    others together one with the mean over their rows. A categorical and a numeric variable have a curve for each of the
    6 most frequent levels, thin where the level has no rows. Two categorical variables have a map of the 20 most
    frequent levels of each, hatched where no row has both.

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

    def __init__(
        self, components: Sequence[Any], *, output: int = 0, kind: Kind = "map", sort: Sort = "frequency"
    ) -> None:
        if not components:
            raise ValueError("subspaces must contain at least one subspace, got none.")
        check_kind(kind, ("map", "surface"))
        check_kind(sort, ("frequency", "effect"), name="sort")
        for component in components:
            _check_can_be_drawn(component, kind)
        self.components = list(components)
        self.output = output
        self.kind = kind
        self.sort = sort
        self._drawn = [Drawn(component, output) for component in components]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        subspaces: Sequence[Any] | None = None,
        *,
        top: int = 6,
        output: int | str | None = None,
        kind: Kind = "map",
        sort: Sort = "frequency",
        ax: Any = None,
    ) -> ComponentDisplay:
        """Draw component functions of a fitted estimator, or of a closed form.

        Parameters
        ----------
        estimator : TreeHDMR, HDMR, KernelHDMR or function of `fasthdmr.analytic`
            Estimators fitted.
        subspaces : sequence of int, str, or tuple of int or str, optional
            By index, such as ``[(0,), (0, 2)]``, or by name: ``["MedInc", ("Latitude", "Longitude")]``, of which the
            first is drawn from left to right. Default: the strongest.
        top : int, default=6
            How many of the strongest components to draw: those with the largest magnitudes of S among the components
            that can be drawn. Ignored if `subspaces` are given.
        output : int or str, optional
            Index or name of the output; needed where there are several.
        kind : {"map", "surface"}, default="map"
            How components of two numeric variables are drawn.
        sort : {"frequency", "effect"}, default="frequency"
            The order of the levels of a categorical variable.
        ax : matplotlib Axes or array of Axes, optional
            One for each subspace; a single one is divided among several. Default: a new figure.

        Returns
        -------
        display : ComponentDisplay

        Raises
        ------
        ValueError
            If a subspace has no component, is of order 3 or more, or `output`, `kind`, `sort` or `ax` does not fit.
            Without `subspaces`, also if `top` is not a positive integer, or no component can be drawn.
        """
        check_kind(kind, ("map", "surface"))
        if shared.is_closed_form(estimator):  # there may be too many indices to list
            number = output_index(output, 1)
        else:
            indices = estimator.sensitivity_
            number = output_index(output, indices.n_outputs, indices.output_names)
        if subspaces is None:
            components = strongest(estimator, number, top, lambda c: _check_can_be_drawn(c, kind))
        else:
            components = [estimator.component(u) for u in subspaces]
        return cls(components, output=number, kind=kind, sort=sort).plot(ax=ax)

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
        projections = ["3d" if self.kind == "surface" and len(drawn.variables) == 2 else None for drawn in self._drawn]
        self.axes_ = shared.several_axes(ax, projections, self._size(projections))
        self.figure_ = self.axes_[0].figure
        first = self._drawn[0]
        if ax is None and first.constant:
            title = ": ".join(filter(None, [first.quantity, first.constant]))
            self.figure_.suptitle(title, fontsize="medium", **shared.PLAIN)
        for k, (drawn, axes) in enumerate(zip(self._drawn, self.axes_, strict=True)):
            self._draw(replace(drawn, shows_constant=ax is not None and k == 0), axes)
        _share_scale(self._drawn, self.axes_)
        return self

    def _draw(self, drawn: Drawn, axes: Any) -> None:
        if len(drawn.variables) == 1:
            if drawn.variables[0].categories is None:
                draw_single(drawn, axes)
            else:
                draw_level_bars(drawn, axes, self.sort)
        elif self.kind == "surface":
            draw_surface(drawn, axes)
        elif is_drawn_as_curves(drawn):
            draw_level_curves(drawn, axes)
        else:
            draw_map(drawn, axes)

    def _size(self, projections: Sequence[str | None]) -> tuple[float, float]:
        """Return the width and height of axes in inches that have room for the names of levels."""
        width, height = 4.2, 3.8 if "3d" in projections else 3.2
        for drawn in self._drawn:
            if is_drawn_as_curves(drawn):
                height = max(height, 3.8)
            elif len(drawn.variables) == 2:
                size = map_size(drawn)
                width, height = max(width, size[0]), max(height, size[1])
            elif drawn.variables[0].categories is not None:
                height = max(height, 0.9 + 0.19 * bar_count(drawn.variables[0]))
        return width, height


def _check_can_be_drawn(component: Any, kind: Kind) -> None:
    """Raise an error if a component has more than two variables, none, or categorical ones for a surface."""
    if len(getattr(component, "columns", component.subspace)) > 2:
        (name,) = subspace_names([range(len(component.names))], component.names)
        raise ValueError(
            f"The component function of {name} cannot be drawn, only those of one or two variables. Evaluate it with "
            "component(subspace)."
        )
    if component.bounds is None:
        raise ValueError("A component of a dictionary of columns has no variables for the axes of a plot.")
    variables = Drawn(component, 0).variables if kind == "surface" else []
    names = [variable.name for variable in variables if variable.categories is not None]
    if len(variables) == 2 and names:
        raise ValueError(f"kind='surface' is for numeric variables, but {names[0]!r} is categorical. Use kind='map'.")


def strongest(
    estimator: Any, output: int, top: int, check: Callable[[Any], None], *, what: str = "one or two variables"
) -> list[Any]:
    """Return the components with the largest magnitudes of S that pass a check, which raises ValueError for others."""
    check_scalar(top, "top", Integral, min_val=1)
    indices = estimator.sensitivity() if shared.is_closed_form(estimator) else estimator.sensitivity_
    S = indices.S[:, output] if indices.S.ndim == 2 else indices.S
    found: list[Any] = []
    for k in np.argsort(-np.abs(S), kind="stable"):
        component = estimator.component(indices.subspaces[k])
        with suppress(ValueError):
            check(component)
            found.append(component)
        if len(found) == top:
            break
    if not found:
        raise ValueError(f"None of the {len(indices.subspaces)} components can be drawn: none is a function of {what}.")
    return found


def _share_scale(all_drawn: Sequence[Drawn], axes: NDArray[np.object_]) -> None:
    """Give all components of one variable the same scale: vertical axes of curves, horizontal ones of levels."""
    shared.share_limits(
        (one, "y" if drawn.variables[0].categories is None else "x")
        for drawn, one in zip(all_drawn, axes, strict=True)
        if len(drawn.variables) == 1
    )
