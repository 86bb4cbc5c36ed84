"""Pictures of component functions and of sensitivity indices, in the style of scikit-learn's displays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._optional import require
from fasthdmr.sensitivity import Sensitivity, output_index

Floats = NDArray[np.float64]

_CURVE_POINTS = 200
_MAP_POINTS = 100
_MAX_BARS = 20
_LINE, _STRUCTURAL, _CORRELATIVE = "#1f4e79", "#1f4e79", "#e08a1e"


def _pyplot() -> Any:
    return require("matplotlib.pyplot", extra="plot")


class ComponentDisplay:
    """Component functions: a curve for each of one variable, a map for each of two.

    Parameters
    ----------
    components : sequence of Component
        Of order 1 or 2.
    output : int, default=0
        Which of several outputs to show.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : ndarray of matplotlib.axes.Axes, shape (number of components,)

    Raises
    ------
    ValueError
        If there are no components, one is of order 3 or more, or one is not a function of variables.
    ImportError
        If matplotlib is not installed (extra ``plot``).

    Notes
    -----
    Curves in one figure share the scale of their component, so that a flat curve is an unimportant one. A
    variable is drawn from the 1st to the 99th percentile of the rows that were fitted, or of its law. Maps show
    what two variables do together beyond what each does alone; blue is below 0 and red above.

    Examples
    --------
    >>> import fasthdmr
    >>> X, y = fasthdmr.datasets.make_ishigami(200, random_state=0)
    >>> hdmr = fasthdmr.TreeHDMR(random_state=0).fit(X, y)
    >>> display = fasthdmr.plotting.ComponentDisplay.from_estimator(hdmr, ["x0", ("x0", "x2")])
    >>> [axes.get_xlabel() for axes in display.axes_]
    ['x0', 'x0']
    """

    figure_: Any
    axes_: Any

    def __init__(self, components: Sequence[Any], *, output: int = 0) -> None:
        if not components:
            raise ValueError("There are no subspaces to draw: name at least one.")
        for component in components:
            if len(component.subspace) > 2:
                raise ValueError(
                    f"The component function of {', '.join(component.names)} cannot be drawn, only those of "
                    "one or two variables. Evaluate it with component(subspace)."
                )
            if component.bounds is None:
                raise ValueError("A component of a dictionary of columns has no variables to be drawn over.")
        self.components = list(components)
        self.output = output

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        subspaces: Sequence[Any],
        *,
        output: int | str | None = None,
        ax: Any = None,
    ) -> ComponentDisplay:
        """Draw component functions of a fitted estimator, or of a closed form.

        Parameters
        ----------
        estimator : TreeHDMR, HDMR or function of `fasthdmr.analytic`
            Estimators fitted.
        subspaces : sequence of int, str, or tuple of int or str
            By index, such as ``[(0,), (0, 2)]``, or by name: ``["MedInc", ("Latitude", "Longitude")]``.
        output : int or str, optional
            Index or name of the output; needed where there are several.
        ax : matplotlib Axes or array of Axes, optional
            One for each subspace; a single one is divided among several. Default: a new figure.

        Returns
        -------
        display : ComponentDisplay

        Raises
        ------
        ValueError
            If a subspace has no component, is of order 3 or more, or `output` or `ax` does not fit.
        """
        components = [estimator.component(u) for u in subspaces]
        if _is_closed_form(estimator):  # the indices may be too many to be listed
            display = cls(components, output=output_index(output, 1))
        else:
            indices = estimator.sensitivity_
            display = cls(components, output=output_index(output, indices.n_outputs, indices.output_names))
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ComponentDisplay:
        """Draw the components.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, optional
            One for each component; a single one is divided among several. Default: a new figure.

        Returns
        -------
        self : ComponentDisplay

        Raises
        ------
        ValueError
            If `ax` is an array of another length.
        """
        self.axes_ = _axes(ax, len(self.components))
        self.figure_ = self.axes_[0].figure
        curves = []
        for component, axes in zip(self.components, self.axes_, strict=True):
            if len(component.subspace) == 1:
                self._curve(component, axes)
                curves.append(axes)
            else:
                self._map(component, axes)
        if curves:
            limits = np.array([axes.get_ylim() for axes in curves])
            for axes in curves:
                axes.set_ylim(limits[:, 0].min(), limits[:, 1].max())
        return self

    def _values(self, component: Any, points: Floats) -> Floats:
        values: Floats = component(points)
        return values[:, self.output] if values.ndim == 2 else values

    def _curve(self, component: Any, axes: Any) -> None:
        (name,) = component.names
        x = _points(component.bounds[0], _CURVE_POINTS)
        axes.axhline(0, color="0.75", linewidth=0.8, zorder=1)
        axes.plot(x, self._values(component, x[:, None]), color=_LINE, linewidth=1.8)
        axes.set(xlabel=name, ylabel=f"f({name})")
        axes.margins(x=0)
        axes.spines[["top", "right"]].set_visible(False)

    def _map(self, component: Any, axes: Any) -> None:
        x, y = (_points(bounds, _MAP_POINTS) for bounds in component.bounds)
        grid = np.stack(np.meshgrid(x, y), axis=-1)
        values = self._values(component, grid.reshape(-1, 2)).reshape(y.size, x.size)
        limit = np.abs(values).max() or 1.0
        mesh = axes.pcolormesh(x, y, values, cmap="RdBu_r", vmin=-limit, vmax=limit, shading="nearest", rasterized=True)
        axes.set(xlabel=component.names[0], ylabel=component.names[1])
        bar = axes.figure.colorbar(mesh, ax=axes, label=f"f({', '.join(component.names)})")
        bar.outline.set_visible(False)


class SensitivityDisplay:
    """Structural and correlative indices as stacked bars, the strongest subspace on top.

    Parameters
    ----------
    sensitivity : Sensitivity
    output : int or str, optional
        Index or name of the output; needed where there are several.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : ndarray of matplotlib.axes.Axes, shape (1,)

    Raises
    ------
    ValueError
        If `output` is none of the outputs.
    ImportError
        If matplotlib is not installed (extra ``plot``).

    Notes
    -----
    A negative correlative index extends to the left of 0; the mark is the sum of both, the overall index S.
    Only the 20 strongest subspaces are drawn.

    Examples
    --------
    >>> from fasthdmr import Sensitivity, plotting
    >>> indices = Sensitivity([(0,), (1,)], [0.75, 0.25], [0.75, 0.25], 0.0, 1.0, ["age", "income"])
    >>> display = plotting.SensitivityDisplay(indices).plot()
    >>> display.axes_[0].get_xlabel()
    'share of variance'
    """

    figure_: Any
    axes_: Any

    def __init__(self, sensitivity: Sensitivity, *, output: int | str | None = None) -> None:
        self.sensitivity = sensitivity
        self.output = output_index(output, sensitivity.n_outputs, sensitivity.output_names)

    @classmethod
    def from_estimator(cls, estimator: Any, *, output: int | str | None = None, ax: Any = None) -> SensitivityDisplay:
        """Draw the indices of a fitted estimator, or of a closed form.

        Parameters
        ----------
        estimator : TreeHDMR, HDMR or function of `fasthdmr.analytic`
            Estimators fitted.
        output : int or str, optional
            Index or name of the output; needed where there are several.
        ax : matplotlib Axes, optional
            Default: a new figure.

        Returns
        -------
        display : SensitivityDisplay

        Raises
        ------
        ValueError
            If `output` is none of the outputs.
        """
        indices = estimator.sensitivity() if _is_closed_form(estimator) else estimator.sensitivity_
        return cls(indices, output=output).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> SensitivityDisplay:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Default: a new figure.

        Returns
        -------
        self : SensitivityDisplay
        """
        indices = self.sensitivity
        of_output = (slice(None), self.output) if indices.S.ndim == 2 else slice(None)
        Sa, Sb, S = indices.Sa[of_output], indices.Sb[of_output], indices.S[of_output]
        strongest = np.argsort(-np.abs(S), kind="stable")[:_MAX_BARS]
        rows = strongest[np.argsort(-S[strongest], kind="stable")]

        if ax is None:
            height = 1.1 + 0.28 * max(rows.size, 3)
            _, ax = _pyplot().subplots(figsize=(6.4, height), layout="constrained")
        self.axes_, self.figure_ = np.array([ax]), ax.figure
        positions = np.arange(rows.size)
        ax.barh(positions, Sa[rows], height=0.7, color=_STRUCTURAL, label="structural $S^a$")
        start = np.where(Sb[rows] > 0, Sa[rows], 0.0)
        ax.barh(positions, Sb[rows], left=start, height=0.7, color=_CORRELATIVE, label="correlative $S^b$")
        ax.plot(
            S[rows],
            positions,
            "D",
            color="white",
            markeredgecolor="black",
            markersize=4.5,
            label="overall $S$",
        )
        ax.axvline(0, color="black", linewidth=0.8)
        labels = [", ".join(indices.feature_names[i] for i in indices.subspaces[k]) for k in rows]
        ax.set_yticks(positions, labels)
        ax.invert_yaxis()
        hidden = S.size - rows.size
        ax.set_xlabel("share of variance" + (f"  ({hidden} weaker subspaces not shown)" if hidden else ""))
        ax.legend(frameon=False, loc="lower right")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        return self


def _is_closed_form(estimator: Any) -> bool:
    return callable(getattr(estimator, "sensitivity", None))


def _points(bounds: Floats, count: int) -> Floats:
    low, high = bounds
    if low == high:  # a constant variable: draw around its value
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, count)


def _axes(ax: Any, count: int) -> NDArray[np.object_]:
    """Return one axes a component: those given, a grid inside the one given, or a grid in a new figure."""
    if ax is not None and np.ndim(ax) > 0:
        axes = np.ravel(np.asarray(ax, dtype=object))
        if axes.size != count:
            raise ValueError(f"Expected ax to have {count} axes, got {axes.size}.")
        return axes
    if ax is not None and count == 1:
        return np.array([ax], dtype=object)
    columns = min(count, 3)
    rows = -(-count // columns)
    if ax is None:
        figure = _pyplot().figure(figsize=(4.2 * columns, 3.2 * rows), layout="constrained")
        grid = figure.add_gridspec(rows, columns)
    else:
        figure = ax.figure
        ax.set_axis_off()
        grid = ax.get_subplotspec().subgridspec(rows, columns)
    return np.array([figure.add_subplot(grid[k // columns, k % columns]) for k in range(count)], dtype=object)
