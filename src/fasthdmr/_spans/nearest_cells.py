"""Evaluation of components where there are no rows: at the nearest cell with rows, or 0 at unknown levels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_cdt
from scipy.sparse import csc_array

from fasthdmr import _core
from fasthdmr._spans.axes import Axis
from fasthdmr._spans.basis import Basis
from fasthdmr._support.cached import cached_property
from fasthdmr._support.steps import steps
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats

_PARTS = 4
"""The number of cells per interval between knots, so that a cell is smaller than the resolution of the splines."""

_STEP = 4e5  # numbers of cells computed at a time, so that they fit into the cache
_SAME_TABLE = np.zeros((3, 3, 3), dtype=bool)
_SAME_TABLE[1] = True
"""The neighbours of a cell in a stack of tables: those around it in its own table."""


@dataclass(frozen=True, eq=False)
class Support:
    """The cells of pairs of variables that contain fitted rows, and for each other cell the nearest of these.

    Splines are undetermined in regions without rows. A point in an empty cell is moved before the component of the pair
    is evaluated: both values become the nearest ones in the nearest cell with rows (Chebyshev distance in numbers of
    cells). Missing values stay missing. The map is the same for all outputs. Points in cells with rows are not moved,
    so components at the fitted rows do not change.

    The level of a categorical variable is never replaced by another one. So pairs of a categorical and a numeric
    variable are moved along the numeric variable only, and pairs of categorical variables are not moved. Where no cell
    with rows can be reached, such as at an empty cell of a contingency table, the component of the pair is 0: the rows
    do not say whether these levels interact. All components of a variable are 0 at its unknown levels.

    Attributes
    ----------
    basis : Basis
    nearest : dict of int to ndarray of int
        For each span of a pair with empty cells: the number of the nearest cell with rows, for each cell. The number of
        all cells stands for none.
    """

    basis: Basis
    nearest: dict[int, NDArray[Any]]

    @classmethod
    def from_cells(cls, basis: Basis, occupied: Mapping[int, NDArray[np.bool_]]) -> Support:
        """Find the nearest occupied cells, given what `occupied_cells` returns."""
        cells, nearest = cells_of_pairs(basis), dict[int, NDArray[Any]]()
        alike: dict[tuple[int, int, bool, bool], list[int]] = {}
        for s, holds in occupied.items():
            if not holds.all():
                first, second = (cells[j] for j in basis.columns[s])
                kind = (first.count, second.count, first.is_categorical, second.is_categorical)
                alike.setdefault(kind, []).append(s)
        for (m, n, *fixed), spans in alike.items():
            for part in steps(len(spans), m * n, _STEP):
                tables = np.array([occupied[s].reshape(m, n) for s in spans[part]])
                nearest.update(zip(spans[part], _nearest(tables, *fixed), strict=True))
        return cls(basis, dict(sorted(nearest.items())))

    @cached_property
    def _cells(self) -> dict[int, Cells]:
        return cells_of_pairs(self.basis)

    @cached_property
    def _is_moved(self) -> NDArray[np.bool_]:
        """For each cell of all these pairs, one pair after the other, whether another cell is used."""
        return np.concatenate([(of != np.arange(len(of))) & (of < len(of)) for of in self.nearest.values()])

    @cached_property
    def _place(self) -> dict[int, int]:
        """The place of the first cell of each pair, by span."""
        ends = np.cumsum([0, *map(len, self.nearest.values())]).tolist()
        return dict(zip(self.nearest, ends, strict=False))

    def __getstate__(self) -> dict[str, Any]:
        return {"basis": self.basis, "nearest": self.nearest}

    def changes(
        self, rows: NDArray[Any], weights: csc_array, subspaces: Iterable[Subspace], n_given: int
    ) -> Iterator[tuple[int, NDArray[np.int64], Floats]]:
        """Yield the changes of components of pairs at rows in empty cells.

        Parameters
        ----------
        rows : ndarray of shape (N, n)
        weights : csc_array of shape (1 + n_given + columns of the basis, C)
        subspaces : sequence of tuple of int, length C
        n_given : int

        Yields
        ------
        component : int
        moved : ndarray of shape (M,)
            The indices of these rows.
        change : ndarray of shape (M,)
        """
        wanted = [(c, s) for c, u in enumerate(subspaces) if (s := self.basis.number.get(u)) in self._place]
        if not wanted:
            return
        variables = sorted({j for _, s in wanted for j in self.basis.columns[s]})
        number = {j: k for k, j in enumerate(variables)}
        first, second = np.array([[number[j] for j in self.basis.columns[s]] for _, s in wanted]).T
        counts = np.array([self._cells[j].count for j in variables])[second]
        begin = np.array([self._place[s] for _, s in wanted])
        functions: dict[int, Any] = {}
        for part in steps(len(rows), len(variables), _STEP):
            values = [np.asarray(rows[part, j], dtype=np.float64) for j in variables]
            codes = np.array([self._cells[j].codes(of) for j, of in zip(variables, values, strict=True)])
            for some in steps(len(wanted), codes.shape[1], _STEP):
                code = codes[first[some]] * counts[some, None] + codes[second[some]]
                is_moved = self._is_moved[begin[some, None] + code]
                for p in np.flatnonzero(is_moved.any(axis=1)):
                    c, s = wanted[some][p]
                    moved = np.flatnonzero(is_moved[p])
                    target = np.divmod(self.nearest[s][code[p, moved]].astype(np.int64), counts[some][p])
                    here, there = [], []
                    for j, cells in zip(self.basis.columns[s], target, strict=True):
                        here.append(values[number[j]][moved])
                        there.append(self._cells[j].clip(here[-1], cells))
                    if c not in functions:
                        functions[c] = self._pair(self.basis.columns[s], weights[:, [c]], n_given)
                    component = functions[c]
                    change = component(np.column_stack(there)) - component(np.column_stack(here))
                    yield c, moved + part.start, change

    def _columns(self, subspace: Subspace) -> Subspace:
        """Return the columns of X that a component depends on."""
        s = self.basis.number.get(subspace)
        return subspace if s is None else self.basis.columns[s]

    def zeros(self, rows: NDArray[Any], subspaces: Iterable[Subspace]) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield the numbers of components that are 0 at some rows, and the indices of these rows."""
        levels = {axis.variable: axis.n_levels for axis in self.basis.axes if axis.is_categorical}
        if not levels:
            return
        codes = {j: np.asarray(rows[:, j], dtype=np.float64) for j in levels}
        known = {j: (codes[j] >= 0) & (codes[j] < n) for j, n in levels.items()}
        for c, u in enumerate(map(self._columns, subspaces)):
            if not levels.keys() & set(u):
                continue
            is_zero = ~np.logical_and.reduce([known[j] for j in u if j in levels])
            if (s := self.basis.number_of_columns[u]) in self.nearest:
                first, second = (self._cells[j].codes(np.asarray(rows[:, j], dtype=np.float64)) for j in u)
                nearest = self.nearest[s]
                is_zero |= (nearest == len(nearest))[first * self._cells[u[1]].count + second]
            if is_zero.any():
                yield c, np.flatnonzero(is_zero)

    def _pair(self, pair: Subspace, weights: csc_array, n_given: int) -> Any:
        """Return the component of a pair without its constant, as a function of values of both variables."""
        number = self.basis.number_of_columns
        inside = [v for v in ((pair[0],), (pair[1],), pair) if v in number]
        spans = [number[v] for v in inside]
        axes: list[Axis] = []
        axes_of, coefficients = [], []
        for v, s in zip(inside, spans, strict=True):
            axes_of.append([len(axes) + k for k in range(len(v))])
            axes += [
                self.basis.axes[a]._replace(variable=pair.index(x))
                for x, a in zip(v, self.basis.axes_of[s], strict=True)
            ]
            place = weights.indices - (n_given + int(self.basis.core.first_columns[s]))
            own = (place >= 0) & (place < self.basis.sizes[s])
            coefficients.append(np.bincount(place[own], weights.data[own], self.basis.sizes[s]))
        core = _core.Spans(axes, [tuple(pair.index(x) for x in v) for v in inside], axes_of)
        weight = np.concatenate(coefficients, dtype=np.float64)
        begin, columns = np.array([0, len(weight)]), np.arange(1, len(weight) + 1)
        return lambda values: core.evaluate(values, begin, columns, weight, 1)[:, 0]


@dataclass(frozen=True, eq=False)
class Occupied:
    """The cells of each span of a pair that contain rows (see `occupied_cells`)."""

    cells: Mapping[int, NDArray[np.bool_]]

    def merged(self, other: Occupied) -> Occupied:
        """Return the cells that contain rows of one or the other."""
        return Occupied({s: holds | other.cells[s] for s, holds in self.cells.items()})


def occupied_cells(
    X: NDArray[Any], weights: Floats | None, basis: Basis, n_threads: int
) -> dict[int, NDArray[np.bool_]]:
    """Return which cells contain rows with positive weight, for each span of a pair.

    Those of several sets of rows can be combined: a cell is occupied if it is in one of them.
    """
    pairs = {s: u for s, u in enumerate(basis.columns) if len(u) == 2}
    cells = cells_of_pairs(basis)
    place = {j: k for k, j in enumerate(cells)}
    axes = [own.of_column(j) for j, own in cells.items()]
    holds = _core.occupied_cells(axes, [(place[i], place[j]) for i, j in pairs.values()], X, weights, n_threads)
    return dict(zip(pairs, holds, strict=True))


def cells_of_pairs(basis: Basis) -> dict[int, Cells]:
    """Return the cells of each variable that belongs to a pair."""
    pairs = [axes for axes in basis.axes_of if len(axes) == 2]
    used = {basis.axes[a].variable: a for axes in pairs for a in axes}
    return {j: Cells.of(basis.axes[a]) for j, a in used.items()}


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a variable: subdivided intervals between its knots, and last a cell for missing values."""

    breaks: Floats
    is_categorical: bool = False

    @classmethod
    def of(cls, axis: Axis) -> Cells:
        """Subdivide the intervals of splines, but not bins, and map normal scores back to values of the variable."""
        knots = np.unique(axis.knots)
        if axis.is_categorical:
            return cls(knots, True)
        parts = 1 if axis.degree == 0 else _PARTS
        places = np.arange((len(knots) - 1) * parts + 1) / parts
        breaks = np.unique(np.interp(places, np.arange(len(knots)), knots))
        return cls(np.interp(breaks, axis.scores[1], axis.scores[0]) if axis.scores[0] else breaks)

    @property
    def count(self) -> int:
        """The number of cells."""
        return len(self.breaks)

    def of_column(self, column: int) -> tuple[int, list[float], bool, float, float]:
        """Return what the core needs to find cells of a column: inner breaks, whether levels have bounds, and these."""
        return column, self.breaks[1:-1].tolist(), self.is_categorical, float(self.breaks[0]), float(self.breaks[-1])

    def codes(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the cell of each value.

        Values outside the knots are in the first or last cell, and unknown levels in the cell of missing values.
        """
        return _core.find_cells(self.of_column(0), values[:, None])

    def clip(self, values: Floats, cells: NDArray[Any]) -> Floats:
        """Return the nearest values in the given cells. Cells include their lower ends; outer cells are unbounded."""
        low = np.concatenate([[-np.inf], self.breaks[1:-1], [-np.inf]])
        high = np.concatenate([np.nextafter(self.breaks[1:-1], -np.inf), [np.inf, np.inf]])
        return np.clip(values, low[cells], high[cells])


def _nearest(holds: NDArray[np.bool_], fixed_row: bool = False, fixed_column: bool = False) -> NDArray[Any]:
    """Return the nearest cell with rows for every cell of each table, in row-major order.

    Cells with rows map to themselves. The last row and the last column are for missing values. Cells with and without
    missing values are never matched. If a variable is categorical, its row or column is fixed, and cells without a
    match map to the number of cells.

    Parameters
    ----------
    holds : ndarray of shape (P, m, n)
    fixed_row, fixed_column : bool

    Returns
    -------
    ndarray of shape (P, m n)

    Examples
    --------
    >>> _nearest(np.array([[[True, False, False], [False, False, True], [False, False, False]]]))
    array([[0, 0, 5, 0, 0, 5, 6, 7, 8]], dtype=uint8)
    """
    if fixed_row or fixed_column:
        return np.array([_nearest_of_levels(table, fixed_row, fixed_column) for table in holds])
    size = holds[0].size
    number = np.arange(size, dtype=np.min_scalar_type(size)).reshape(holds[0].shape)
    nearest = np.repeat(number[None], len(holds), axis=0)
    present, missing = slice(None, -1), slice(-1, None)
    for block in ((present, present), (present, missing), (missing, present)):
        own = holds[:, *block]
        some = np.flatnonzero(own.any(axis=(1, 2)))
        if len(some):
            _, row, column = distance_transform_cdt(
                ~own[some], metric=_SAME_TABLE, return_distances=False, return_indices=True
            )
            nearest[some, *block] = number[block][row, column]
    return nearest.reshape(len(holds), -1)


def _nearest_of_levels(holds: NDArray[np.bool_], fixed_row: bool, fixed_column: bool) -> NDArray[Any]:
    """Return the nearest cell with rows of the same level (see `_nearest`).

    Examples
    --------
    >>> _nearest_of_levels(np.array([[False, True, False], [False, False, True]]), True, False)
    array([1, 1, 6, 6, 6, 5], dtype=uint8)
    """
    number = np.arange(holds.size, dtype=np.min_scalar_type(holds.size)).reshape(holds.shape)
    if not fixed_row:  # the categorical variable comes first
        number, holds = number.T, holds.T
    nearest = np.where(holds, number, number.dtype.type(holds.size))
    if not (fixed_row and fixed_column):
        present, n = holds[:, :-1], holds.shape[1] - 1
        place = np.arange(n)
        before = np.maximum.accumulate(np.where(present, place, -n), axis=1)
        after = np.minimum.accumulate(np.where(present, place, 2 * n)[:, ::-1], axis=1)[:, ::-1]
        closest = np.where(place - before <= after - place, before, after)
        some = present.any(axis=1)
        nearest[some, :-1] = np.take_along_axis(number[some, :-1], closest[some], axis=1)
    return (nearest if fixed_row else nearest.T).ravel()
