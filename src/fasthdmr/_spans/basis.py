"""Spans of a decomposition: tensor products of the B-splines or bins of single variables (spec 4).

A span is the space of functions of the variables of one subspace. Its basis is the tensor product of B-splines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr import _core
from fasthdmr._spans.axes import Axis, Profile, coarsen, refinements
from fasthdmr._spans.kinds import SPANS
from fasthdmr._support.cached import cached_property
from fasthdmr._support.groups import Groups, columns_of
from fasthdmr._support.steps import steps
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats

MAX_DUAL_ROWS = 3000
"""The most rows for which a fit with more columns than rows uses the Gram matrix of the rows (dual form)."""

_MANY_ROWS = 20_000
_STEP = 1e7  # bytes at a time, of rows that are compared or coefficients


def default_size(n_rows: int, order: int, basis: str = "spline") -> int:
    """Return the rule's number of splines (or bins) of a variable in spans of an order.

    It is n_rows ** (0.35 - 0.05 order), up to the largest size of the kind; for bins of a single variable,
    n_rows ** 0.41. Columns stay far below rows so: a sample of N rows absorbs about p/N of the variance of a component
    with p columns by chance.

    Parameters
    ----------
    n_rows : int
        Rows with weight.
    order : int
        Number of variables of a span.
    basis : str
        A kind of `kinds.SPANS`.

    Returns
    -------
    int

    Examples
    --------
    >>> [default_size(5000, order) for order in (1, 2, 3)]
    [12, 8, 5]
    >>> [default_size(50, order) for order in (1, 2, 3)]
    [3, 2, 2]
    """
    kind = SPANS[basis]
    largest = kind.max_sizes[min(order, len(kind.max_sizes)) - 1]
    exponent = kind.growth if order == 1 else max(0.35 - 0.05 * order, 0.05)
    return max(2, min(largest, int(n_rows**exponent)))


def informative_rows(X: NDArray[Any], weights: Floats | None) -> int:
    """Return the number of distinct rows with positive weight, from which default sizes are computed.

    Above `_MANY_ROWS`, repeated rows are counted too, since default sizes no longer grow.

    Examples
    --------
    >>> informative_rows(np.array([[1.0], [2.0], [2.0], [3.0]]), np.array([1.0, 1.0, 1.0, 0.0]))
    2
    """
    used = np.arange(len(X)) if weights is None else np.flatnonzero(weights > 0)
    if len(used) > _MANY_ROWS or len(np.unique(X[used, 0])) == len(used):  # mostly so, and no copy of X is needed
        return len(used)
    return len(_first_of_each(_records(X if weights is None else X[used]))[0])


def distinct_rows(X: NDArray[Any], weights: Floats | None) -> tuple[NDArray[Any], Floats]:
    """Return the distinct rows with positive weight, and the total weight of each.

    Examples
    --------
    >>> rows, mass = distinct_rows(np.array([[2.0], [1.0], [2.0]]), None)
    >>> sorted(zip(rows[:, 0].tolist(), mass.tolist()))
    [(1.0, 1.0), (2.0, 2.0)]
    """
    mass = np.ones(len(X)) if weights is None else weights[weights > 0]
    rows = X if weights is None else X[weights > 0]
    first, inverse = _first_of_each(_records(rows))
    return rows[first], np.bincount(inverse, mass, len(first)).astype(np.float64)


def _first_of_each(records: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first index of each distinct record, sorted by record, and for every record the number of its own.

    These are the indices and the inverse of `np.unique`, which makes several copies of the records.

    Examples
    --------
    >>> _first_of_each(np.array([3, 1, 3, 1, 2]))
    (array([1, 4, 0]), array([2, 0, 2, 0, 1]))
    """
    order = np.argsort(records, kind="stable")
    is_first = np.ones(len(order), dtype=bool)
    for part in steps(len(order) - 1, records.itemsize, _STEP):
        here = order[part.start : part.stop + 1]
        is_first[1:][part] = records[here[1:]] != records[here[:-1]]
    inverse = np.empty(len(order), dtype=np.int64)
    inverse[order] = np.cumsum(is_first) - 1
    return order[is_first], inverse


def _records(rows: NDArray[Any]) -> NDArray[Any]:
    """Return each row as one comparable value."""
    return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]


@dataclass(frozen=True, eq=False)
class Basis:
    """Axes, and the spans that are tensor products of them. It can be pickled.

    Attributes
    ----------
    axes : list of Axis
    subspaces : list of tuple of int
        Sorted by order. Every subset of a subspace is included, unless it contains a constant variable.
    axes_of : list of list of int
        The indices of the axes of each span, in the order of their columns of X. A variable is one column, or a group
        of columns with an axis for each of them.
    """

    axes: list[Axis]
    subspaces: list[Subspace]
    axes_of: list[list[int]]

    @cached_property
    def core(self) -> _core.Spans:
        """The C++ object for the spans, which is not pickled but constructed again."""
        return _core.Spans([Axis(*axis) for axis in self.axes], self.subspaces, self.axes_of)

    @cached_property
    def number(self) -> dict[Subspace, int]:
        """The index of the span of each subspace."""
        return {u: s for s, u in enumerate(self.subspaces)}

    @cached_property
    def columns(self) -> list[Subspace]:
        """The columns of X that each span depends on; they are its subspace if there are no groups."""
        return [tuple(self.axes[a].variable for a in axes) for axes in self.axes_of]

    @cached_property
    def number_of_columns(self) -> dict[Subspace, int]:
        """The index of the span of the given columns of X."""
        return {columns: s for s, columns in enumerate(self.columns)}

    def __getstate__(self) -> dict[str, Any]:
        return {"axes": self.axes, "subspaces": self.subspaces, "axes_of": self.axes_of}

    def inside(self, subspace: Subspace, order: int) -> list[int]:
        """Return the indices of the spans of subsets of a subspace up to an order."""
        subsets = (v for t in range(1, min(order, len(subspace)) + 1) for v in combinations(subspace, t))
        return sorted(self.number[v] for v in subsets if v in self.number)

    @cached_property
    def sizes(self) -> list[int]:
        """The number of columns of each span."""
        size = [axis.size for axis in self.axes]
        return [prod([size[a] for a in axes]) for axes in self.axes_of]


def closure(subspaces: Iterable[Subspace], order: int) -> list[Subspace]:
    """Return all non-empty subsets up to an order, sorted.

    Examples
    --------
    >>> closure([(0, 2), (1,)], 2)
    [(0,), (1,), (2,), (0, 2)]
    """
    found: dict[int, set[Subspace]] = {}
    for u in set(subspaces):
        for t in range(1, min(order, len(u)) + 1):
            found.setdefault(t, set()).update(combinations(u, t))
    return [v for t in sorted(found) for v in sorted(found[t])]


def make_basis(
    X: NDArray[Any],
    weights: Floats | None,
    subspaces: Sequence[Subspace],
    sizes: Sequence[int],
    *,
    degree: int,
    main_sizes: Mapping[int, int] | None = None,
    n_levels: Mapping[int, int] | None = None,
    max_levels: Sequence[int] | None = None,
    groups: Groups | None = None,
    n_threads: int = 1,
) -> Basis:
    """Make the spans of the given subspaces, with knots at (weighted) quantiles.

    Parameters
    ----------
    X : ndarray of shape (N, n)
    weights : ndarray of shape (N,) or None
    subspaces : sequence of tuple of int
        Sorted by order.
    sizes : sequence of int
        Number of splines per variable in spans of order 1, 2, …
    degree : int
        Degree of the splines; 0 gives bins.
    main_sizes : dict of int to int, optional
        Sizes of single variables that differ from ``sizes[0]``.
    n_levels : dict of int to int, optional
        The number of levels of each categorical variable. Its columns are indicators of levels.
    max_levels : sequence of int, optional
        The largest number of indicators of a categorical variable in spans of order 1, 2, …, decreasing. If there are
        more levels, the last ones share an indicator.
    groups : Groups, optional
        The columns of each variable. A span has the size of the order that is its number of columns.
    n_threads : int

    Returns
    -------
    Basis
        Without the spans of variables that are constant.

    Raises
    ------
    ValueError
        If the range of a variable overflows.
    """
    main, levels, spanned = main_sizes or {}, n_levels or {}, [columns_of(groups, u) for u in subspaces]
    used = sorted({j for columns in spanned for j in columns})
    axes_by_order = {j: _axes_of_levels(j, levels[j], sizes, max_levels) for j in used if levels.get(j, 0) > 1}
    numeric = [j for j in used if j not in levels]
    for j, profile in zip(numeric, Profile.of(X, weights, numeric, n_threads), strict=True):
        profile.check_range(j)
        if not profile.is_constant:
            axes_by_order[j] = profile.axes(j, [main.get(j, sizes[0]), *sizes[1:]], degree)
    # A constant column does not remove a group of which another column varies.
    variables = set[int]().union(*subspaces)
    varying = {i for i in variables if any(j in axes_by_order for j in columns_of(groups, (i,)))}
    number: dict[tuple[int, int], int] = {}  # of the axis of a variable in spans of an order
    kept, axes_of = [], []
    for u, columns in zip(subspaces, spanned, strict=True):
        if varying.issuperset(u):
            there = [j for j in columns if j in axes_by_order]
            kept.append(u)
            axes_of.append([number.setdefault((j, len(there)), len(number)) for j in there])
    axes = [axes_by_order[j][order - 1] for j, order in number]
    return Basis(axes, kept, axes_of)


def _axes_of_levels(variable: int, n_levels: int, sizes: Sequence[int], max_levels: Sequence[int] | None) -> list[Axis]:
    """Return the axes of a categorical variable by order (arguments: see `make_basis`)."""
    limits = [n_levels] * len(sizes) if max_levels is None else max_levels
    return [Axis.of_levels(variable, n_levels, limit) for limit in limits]


COARSE_SIZES = (4, 3)
"""Numbers of splines per variable in the coarse spans of single variables and of pairs."""

COARSE_LEVELS = (32, 4)
"""The largest numbers of indicators of categorical variables in these spans. Rarer levels share the last one."""


def tensor_columns(columns: Sequence[Floats] | Mapping[int, Floats], axes: Sequence[int]) -> Floats:
    """Return the columns of a span, (N, p): the products of the columns of its axes.

    Examples
    --------
    >>> tensor_columns([np.array([[2.0, 3.0]]), np.array([[5.0, 7.0]])], [0, 1])
    array([[10., 14., 15., 21.]])
    """
    product = columns[axes[0]]
    for a in axes[1:]:
        product = (product[:, :, None] * columns[a][:, None, :]).reshape(len(product), -1)
    return product


@dataclass(frozen=True, eq=False)
class Refinement:
    """The map from coefficients on coarse spans to those on finer spans, which contain them.

    Attributes
    ----------
    basis, coarse : Basis
        The coarse spans are those of the first subspaces of the basis.
    matrices : list of ndarray
        By axis, what `refinements` returns.
    """

    basis: Basis
    coarse: Basis
    matrices: list[Floats]

    def __call__(self, coefficients: Floats) -> Floats:
        """Return the coefficients on the basis, (columns, m), of functions on the coarse spans."""
        result = np.zeros((self.basis.core.n_columns, coefficients.shape[1]))
        result[0] = coefficients[0]
        alike: dict[tuple[tuple[int, ...], ...], list[int]] = {}
        for s, axes in enumerate(self.coarse.axes_of):
            alike.setdefault(tuple(self.matrices[a].shape for a in axes), []).append(s)
        for shapes, spans in alike.items():
            fine, coarse = (np.array(sizes) for sizes in zip(*shapes, strict=True))
            for part in steps(len(spans), 8 * max(fine) * prod(fine) * coefficients.shape[1], _STEP):
                of = spans[part]
                values = coefficients[_columns_of(self.coarse, of)].reshape(len(of), *coarse, -1)
                for k in range(len(shapes)):
                    matrices = np.array([self.matrices[self.coarse.axes_of[s][k]] for s in of])
                    last = np.moveaxis(values, 1 + k, -1)
                    shape = (len(of), *[1] * (last.ndim - 3), *matrices.shape[1:])
                    values = np.moveaxis(last @ matrices.reshape(shape).swapaxes(-1, -2), -1, 1 + k)
                result[_columns_of(self.basis, of)] = values.reshape(len(of), prod(fine), -1)
        return result


def _columns_of(basis: Basis, spans: Sequence[int]) -> NDArray[np.int64]:
    """Return the columns of spans of the same size, (len(spans), size)."""
    return basis.core.first_columns[spans][:, None] + np.arange(basis.sizes[spans[0]])


def coarse_basis(basis: Basis) -> tuple[Basis, Refinement]:
    """Return coarse spans of the single variables and pairs of a basis, and the map that refines coefficients."""
    subspaces = [u for u in basis.subspaces if len(u) <= len(COARSE_SIZES)]
    axes_of = basis.axes_of[: len(subspaces)]
    order_of = {a: min(len(axes), len(COARSE_SIZES)) for axes in axes_of for a in axes}
    axes = [
        coarsen(axis, (COARSE_LEVELS if axis.is_categorical else COARSE_SIZES)[order_of.get(a, 1) - 1])
        for a, axis in enumerate(basis.axes)
    ]
    coarse = Basis(axes, subspaces, axes_of)
    return coarse, Refinement(basis, coarse, refinements(axes, basis.axes))
