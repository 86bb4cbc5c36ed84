"""Component functions together with partial dependence: the difference is what correlation does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from fasthdmr._support.outputs import output_index
from fasthdmr._support.subspaces import subspace_names
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import check_kind
from fasthdmr.inspection._grid import as_table
from fasthdmr.inspection._partial_dependence import Kind, partial_dependences
from fasthdmr.plotting import _shared as shared
from fasthdmr.plotting._drawn import Drawn
from fasthdmr.plotting.components import ComponentDisplay, strongest

_POINTS, _MARKS = 50, 8
_TAILS = [0, 0.2, 0.5, 1, 2, 98, 99, 99.5, 99.8, 100]  # percentiles
_STYLES: dict[str, dict[str, Any]] = {
    "marginal": {"color": "#d55e00", "linestyle": "--", "marker": "s", "markersize": 4},
    "conditional": {"color": "#009e73", "linestyle": "-.", "marker": "^", "markersize": 4},
}


class OverlayDisplay:
    """Component functions of one variable, and its marginal and conditional partial dependence, in the same axes.

    Made by `from_estimator`.

    Parameters
    ----------
    components : sequence of Component
        Of one numeric variable each.
    curves : sequence of mapping
        For each component, from a kind of partial dependence to two arrays: values of the variable, and the partial
        dependence there.
    differences : sequence of mapping
        For each component, from a kind to the root mean square of its difference from the component over the rows.
    output : int, default=0
        Which of several outputs to show.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : ndarray of matplotlib.axes.Axes, shape (number of components,)

    Raises
    ------
    ImportError
        If matplotlib is not installed (extra ``plot``).

    See Also
    --------
    fasthdmr.inspection.partial_dependence : The curves.

    Notes
    -----
    Without correlation and interactions of higher order all three agree. The marginal curve evaluates the model at
    combinations of values that do not occur; the conditional one includes what correlated variables do. Each curve is
    shifted so that its mean over the rows is that of the component. The legend has the root mean square of its
    difference from the component over the rows, in the units of the output.

    Examples
    --------
    >>> import fasthdmr
    >>> X, y = fasthdmr.datasets.make_bilinear_gaussian(500, random_state=0)
    >>> hdmr = fasthdmr.TreeHDMR(random_state=0).fit(X, y)
    >>> display = fasthdmr.plotting.OverlayDisplay.from_estimator(hdmr, X, ["x0"])
    >>> [text.get_text().partition(":")[0] for text in display.axes_[0].get_legend().get_texts()]
    ['component f', 'partial dependence, marginal', 'partial dependence, conditional']
    """

    figure_: Any
    axes_: Any

    def __init__(
        self,
        components: Sequence[Any],
        curves: Sequence[Mapping[str, tuple[Floats, Floats]]],
        differences: Sequence[Mapping[str, float]],
        *,
        output: int = 0,
    ) -> None:
        self.components = list(components)
        self.curves = list(curves)
        self.differences = list(differences)
        self.output = output

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        features: Sequence[Any] | None = None,
        *,
        model: Any = None,
        kinds: Sequence[Kind] = ("marginal", "conditional"),
        top: int = 3,
        output: int | str | None = None,
        ax: Any = None,
    ) -> OverlayDisplay:
        """Draw components of a fitted estimator and the partial dependence of its model.

        Parameters
        ----------
        estimator : TreeHDMR, HDMR or KernelHDMR
            Fitted.
        X : array-like or data frame of shape (N, n)
            The rows that partial dependence averages over, usually those of `fit`.
        features : sequence of int or str, optional
            Numeric variables. Default: those with the strongest main effects.
        model : fitted estimator, Forest or callable, optional
            The model. Default: that of the estimator. Needed if the estimator decomposes y itself.
        kinds : sequence of {"marginal", "conditional"}, default=("marginal", "conditional")
            The kinds of partial dependence.
        top : int, default=3
            How many of the strongest main effects to draw. Ignored if `features` are given.
        output : int or str, optional
            Index or name of the output; needed where there are several.
        ax : matplotlib Axes or array of Axes, optional
            One for each variable; a single one is divided among several. Default: a new figure.

        Returns
        -------
        display : OverlayDisplay

        Raises
        ------
        ValueError
            If a variable has no component, or is categorical or a group of columns; if there is no numeric main effect;
            if another parameter does not fit.

        Notes
        -----
        For models that are not trees, the marginal partial dependence evaluates the model about 70 times at all rows of
        X, for each variable.
        """
        for kind in kinds:
            check_kind(kind, list(_STYLES), name="kinds")
        indices = estimator.sensitivity_
        number = output_index(output, indices.n_outputs, indices.output_names)
        if features is None:
            components = strongest(estimator, number, top, _check_is_curve, what="one numeric variable")
        else:
            components = [estimator.component(feature) for feature in features]
        for component in components:
            _check_is_curve(component)
        X = as_table(X)
        models = _models_of(estimator) if model is None else [model]
        pairs = [_Pair(Drawn(component, number), X) for component in components]
        found = [
            {kind: pair.compared(values) for kind, values in averages.items()}
            for pair, averages in zip(pairs, _averages(models, X, kinds, pairs, estimator.n_jobs), strict=True)
        ]
        curves = [{kind: curve for kind, (curve, _) in one.items()} for one in found]
        differences = [{kind: difference for kind, (_, difference) in one.items()} for one in found]
        return cls(components, curves, differences, output=number).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> OverlayDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, optional
            One for each component; a single one is divided among several. Default: a new figure.

        Returns
        -------
        self : OverlayDisplay

        Raises
        ------
        ValueError
            If `ax` is an array of another length.
        """
        display = ComponentDisplay(self.components, output=self.output).plot(ax=ax)
        self.figure_, self.axes_ = display.figure_, display.axes_
        for axes, curves, differences in zip(self.axes_, self.curves, self.differences, strict=True):
            axes.plot([], [], color=shared.line_colour(axes), label="component f")
            low, high = axes.get_ylim()
            for kind, (x, values) in curves.items():
                label = f"partial dependence, {kind}: differs by {differences[kind]:.2g}"
                axes.plot(x, values, label=label, markevery=max(1, len(x) // _MARKS), **_STYLES[kind])
                ends = shared.limits(values)
                low, high = min(low, ends[0]), max(high, ends[1])
            axes.set_ylim(low, high)
            axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize="x-small")
        limits = np.array([axes.get_ylim() for axes in self.axes_])
        for axes in self.axes_:
            axes.set_ylim(limits[:, 0].min(), limits[:, 1].max())
        return self


class _Pair:
    """A component of one numeric variable, and the grid of its partial dependence."""

    def __init__(self, drawn: Drawn, X: Any) -> None:
        self.drawn, self.column, self.variable = drawn, drawn.component.columns[0], drawn.variables[0]
        rows = np.asarray(_safe_indexing(X, self.column, axis=1), dtype=np.float64)
        self.rows = rows[np.isfinite(rows)]
        levels = self.variable.levels
        # Values beyond the range that is drawn are for means over rows.
        beyond = np.percentile(self.rows, _TAILS) if self.rows.size else self.rows
        self.grid = np.unique(np.append(self.variable.line(_POINTS) if levels is None else levels, beyond))

    def compared(self, values: Floats) -> tuple[tuple[Floats, Floats], float]:
        """Return a curve for values on the grid, shifted to the mean of the component, and their difference."""
        component = self.drawn.values(self.rows[:, None])
        dependence = np.interp(self.rows, self.grid, values)
        shift = float(np.mean(component - dependence))
        difference = float(np.sqrt(np.mean((dependence + shift - component) ** 2)))
        if self.variable.levels is not None:
            centres, levels, _ = self.variable.levels_drawn()
            present = np.isfinite(levels)
            return (centres[present], np.interp(levels[present], self.grid, values) + shift), difference
        low, high = self.variable.bounds
        inside = (low <= self.grid) & (self.grid <= high)
        return (self.grid[inside], values[inside] + shift), difference


def _averages(
    models: Sequence[Any], X: Any, kinds: Sequence[Kind], pairs: Sequence[_Pair], n_jobs: int | None
) -> list[dict[str, Floats]]:
    """Return the partial dependence of a sum of models, for each variable and kind."""
    grids = {pair.column: pair.grid for pair in pairs}
    found: list[dict[str, Floats]] = [{} for _ in pairs]
    for kind in kinds:
        for model in models:
            results = partial_dependences(model, X, list(grids), kind=kind, custom_values=grids, n_jobs=n_jobs)
            averages = {column: result.average for column, result in zip(grids, results, strict=True)}
            for values, pair in zip(found, pairs, strict=True):
                values[kind] = values.get(kind, 0.0) + averages[pair.column][pair.drawn.output]
    return found


def _models_of(estimator: Any) -> list[Any]:
    """Return the models that the black box of a fitted estimator is the sum of: forests, or one function."""
    if getattr(estimator, "model", estimator) is None:
        raise ValueError("The estimator decomposes y itself, so it has no model for partial dependence. Pass model=….")
    forests = getattr(estimator, "forests_", [])
    is_sum = bool(forests) and estimator.alpha_ is None and not estimator.decomposition_.levels
    if is_sum and all(forest.front is None for forest in forests):
        return list(forests)
    return [lambda rows: estimator.predict(rows) + estimator.residual(rows)]


def _check_is_curve(component: Any) -> None:
    """Raise an error unless a component is a function of one numeric variable."""
    if len(component.subspace) > 1 or len(component.columns) > 1 or component.levels:
        name = subspace_names([range(len(component.names))], component.names)[0]
        raise ValueError(f"Only components of one numeric variable have such a picture, got {name}.")
