"""The data of a plot of a component: ranges and grid values of its variables, and where rows are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.cached import cached_property
from fasthdmr._support.sample import Sample
from fasthdmr._support.text import level_name
from fasthdmr._support.typing import Floats
from fasthdmr.plotting._scales import Scale, scale_of
from fasthdmr.plotting._shared import (
    function_label,
    join_label,
    number_text,
    quantity_label,
    short_by_name,
    short_names,
    shorten,
)

MAX_LEVELS = 10  # a numeric variable with at most so many distinct values is drawn as bars
TOP = 20  # of the levels of a categorical variable, so many are drawn by name
_BAND = 2  # standard errors to either side
_MISSING_WIDTH = 0.07  # width of the strip for missing values, as a fraction of the axis
_MAX_SUPPORT_CELLS = 16


@dataclass(frozen=True, eq=False)
class Variable:
    """One variable of a component.

    Attributes
    ----------
    name : str
    bounds : ndarray of shape (2,)
        The range of a curve or map.
    levels : ndarray or None
        The distinct values in the rows if they are few, or the codes of a categorical variable; they are drawn at 0, 1
        and so on.
    rows : ndarray of shape (S,)
        Values in a sample of the fitted rows; empty where there is none.
    weights : ndarray of shape (S,)
        Positive.
    categories : tuple or None
        The levels of a categorical variable by code, the most frequent first; None stands for missing values.
    short : str
        The name for an axis.
    scale : Scale
        The scale of its axis; linear for a variable with levels.
    """

    name: str
    bounds: Floats
    levels: Floats | None
    rows: Floats
    weights: Floats
    categories: tuple[Any, ...] | None = None
    short: str = ""
    scale: Scale = Scale()  # noqa: RUF009 - immutable

    def top(self, count: int = TOP) -> Variable:
        """Return the variable with the most frequent of its categories only; itself if it is numeric."""
        return self if self.categories is None or self.levels is None else replace(self, levels=self.levels[:count])

    @property
    def label(self) -> str:
        """The name for an axis, with the number of categories that are not drawn."""
        hidden = 0 if self.categories is None or self.levels is None else len(self.categories) - len(self.levels)
        return (self.short or shorten(self.name)) + (f" ({hidden} rarer not shown)" if hidden else "")

    @cached_property
    def category_names(self) -> list[str]:
        """The names of the categories by code, short and distinct."""
        return short_names([level_name(level) for level in self.categories or ()])

    def name_of(self, value: float) -> str:
        """Return a value as text, the level of a code."""
        return level_name(value) if self.categories is None else self.category_names[int(value)]

    @property
    def has_missing(self) -> bool:
        """Whether some rows have a missing value."""
        return bool(np.isnan(self.rows).any())

    def line(self, count: int) -> Floats:
        """Return values over the range, evenly spaced along the axis."""
        low, high = self.bounds.tolist()
        if self.scale.name == "linear":
            return np.linspace(low, high, count)
        first, last = self.scale.forward(self.bounds).tolist()
        values = self.scale.backward(np.linspace(first, last, count))
        values[[0, -1]] = low, high  # not beside the range by rounding
        return values

    def centres(self, edges: Floats) -> Floats:
        """Return the places halfway between edges along the axis."""
        at = self.scale.forward(edges)
        return self.scale.backward((at[1:] + at[:-1]) / 2)

    def cells(self, count: int) -> tuple[Floats, Floats]:
        """Return the edges of cells along an axis, and the value in the middle of each.

        Missing values have a cell of their own after a gap. Its value is NaN, and the gap has an edge of its own.
        """
        if self.levels is None:
            edges = self.line(count + 1)
            middles = self.centres(edges)
        else:
            middles = self.levels
            edges = np.arange(len(middles) + 1, dtype=np.float64) - 0.5
        if not self.has_missing:
            return edges, middles
        first, last = self.scale.forward(edges[[0, -1]])
        begin = last + _MISSING_WIDTH / 2 * (last - first)
        end = begin + (_MISSING_WIDTH * (last - first) if self.levels is None else 1.0)
        return np.append(edges, self.scale.backward(np.array([begin, end]))), np.append(middles, np.nan)

    def levels_drawn(self) -> tuple[Floats, Floats, list[str]]:
        """Return where the distinct values are drawn, the values, and their names; missing values are the last."""
        edges, values = self.cells(0)
        centres = (edges[1:] + edges[:-1]) / 2
        if self.has_missing:
            centres = np.delete(centres, -2)
        return centres, values, [self.name_of(value) for value in values]

    def shares(self) -> Floats:
        """Return the weight of each distinct value, missing ones included, as a share of that of all rows."""
        _, values = self.cells(0)
        cell = self.cell_of(self.rows, 0)
        shares: Floats = np.bincount(cell[cell >= 0], self.weights[cell >= 0], values.size) / self.weights.sum()
        return shares

    def cell_of(self, values: Floats, count: int) -> NDArray[np.intp]:
        """Return the index of the cell of each value, -1 for none."""
        if self.levels is None:
            low, high = self.bounds
            inside = (low <= values) & (values <= high)
            first, last = self.scale.forward(self.bounds)
            share = (self.scale.forward(np.where(inside, values, low)) - first) / (last - first)
            cell = np.where(inside, np.minimum((share * count).astype(np.intp), count - 1), -1)
        elif self.categories is not None:
            return np.where(values < len(self.levels), values, -1).astype(np.intp)
        else:
            count = len(self.levels)
            cell = np.minimum(np.searchsorted(self.levels, values), count - 1)
        return np.where(np.isnan(values), count, cell)


@dataclass(frozen=True, eq=False)
class Drawn:
    """One output of a component, and its variables; whether its label shows the constant f_0."""

    component: Any
    output: int
    shows_constant: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(variable.name for variable in self.variables)

    @property
    def label(self) -> str:
        """The name of the function, and what its values are."""
        label = join_label(function_label(self.names, self._all_names), self.quantity)
        return f"{label}\n{self.constant}" if self.shows_constant and self.constant else label

    @property
    def quantity(self) -> str:
        """What the values are: their unit, and the target; "" if it is not known."""
        target_of = getattr(self._source, "target_of", None)
        return quantity_label(getattr(self.component, "unit", ""), "" if target_of is None else target_of(self.output))

    @property
    def constant(self) -> str:
        """The constant f_0 in words, "" if it is not known."""
        f_0 = getattr(self._source, "intercept", None)
        return "" if f_0 is None else f"f₀ = {number_text(np.atleast_1d(f_0)[self.output])}"

    @property
    def _all_names(self) -> tuple[str, ...]:
        """The names of all variables, or of the columns of groups, which short names are distinct from."""
        groups = getattr(self._source, "groups", None)
        names: tuple[str, ...] = getattr(self._source, "feature_names", ()) if groups is None else groups.column_names
        return names

    @property
    def _source(self) -> Any:
        """The decomposition or the closed form that the component is of."""
        return getattr(self.component, "_source", None)

    @cached_property
    def variables(self) -> list[Variable]:
        """The variables, in the order in which the component takes them."""
        component = self.component
        sample, levels = getattr(self._source, "sample", None), getattr(component, "levels", {})
        columns = getattr(component, "columns", component.subspace)
        order = getattr(component, "_order", range(len(columns)))
        names = getattr(component, "arguments", component.names)  # of the columns of groups
        if not isinstance(sample, Sample) or np.isinf(sample.n_effective):  # the measure is a known law, without rows
            sample = Sample(np.empty((0, max(columns) + 1)), np.empty(0))
        present = sample.weights > 0
        variables = [
            _variable(names[k], bounds, sample.rows[present, j], sample.weights[present], levels.get(j))
            for j, k, bounds in zip(columns, order, component.bounds, strict=True)
        ]
        short = short_by_name([*names, *self._all_names])
        return [replace(variables[k], short=short[variables[k].name]) for k in np.argsort(order)]

    def values(self, points: Floats) -> Floats:
        """Return the component at points, (N,). Those of categorical variables are codes."""
        return self._of_output(self.component(self._arguments(points)))

    def error(self, points: Floats) -> Floats | None:
        """Return the half-width of its band at points, two standard errors, (N,); None if it is not available."""
        try:
            return _BAND * self._of_output(self.component.standard_error(self._arguments(points)))
        except ValueError:
            return None

    def _arguments(self, points: Floats) -> Any:
        """Return points with levels in place of codes."""
        if all(variable.categories is None for variable in self.variables):
            return points
        arguments = points.astype(object)
        for column, variable in enumerate(self.variables):
            if variable.categories is not None:
                arguments[:, column] = [variable.categories[int(code)] for code in points[:, column]]
        return arguments

    def _of_output(self, values: Floats) -> Floats:
        return values[:, self.output] if values.ndim == 2 else values


def _variable(name: str, bounds: Floats, rows: Floats, weights: Floats, categories: tuple[Any, ...] | None) -> Variable:
    if categories is not None:
        return Variable(name, bounds, np.arange(len(categories), dtype=np.float64), rows, weights, categories)
    low, high = bounds
    if low == high:  # a constant variable: a range around its value
        bounds = np.array([low - 0.5, high + 0.5])
    levels = np.unique(rows[np.isfinite(rows)])
    if 1 < len(levels) <= MAX_LEVELS:
        return Variable(name, bounds, levels, rows, weights)
    return Variable(name, bounds, None, rows, weights, scale=scale_of(rows, bounds))


@dataclass(frozen=True, eq=False)
class Support:
    """The cells of a coarse grid of two variables that contain rows.

    Attributes
    ----------
    x, y : Variable
    count : int
        Number of cells of a variable without levels, see `Variable.cells`.
    present : ndarray of bool, shape (cells of y, cells of x)
    """

    x: Variable
    y: Variable
    count: int
    present: NDArray[np.bool_]

    def near(self, x: Floats, y: Floats) -> NDArray[np.bool_]:
        """Return whether there are rows in the cell of each pair of values, (values of y, values of x)."""
        return self.present[np.ix_(self.y.cell_of(y, self.count), self.x.cell_of(x, self.count))]


def support(x: Variable, y: Variable) -> Support | None:
    """Return the cells with rows of two variables, None if the measure is a known law without rows."""
    if x.rows.size == 0:
        return None
    count = int(np.clip(np.sqrt(x.rows.size) / 3, 3, _MAX_SUPPORT_CELLS))
    present = np.zeros((y.cells(count)[1].size, x.cells(count)[1].size), dtype=bool)
    i, j = y.cell_of(y.rows, count), x.cell_of(x.rows, count)
    inside = (i >= 0) & (j >= 0)
    present[i[inside], j[inside]] = True
    return Support(x, y, count, present)
