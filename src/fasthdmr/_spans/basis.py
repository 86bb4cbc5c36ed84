"""Spans of a decomposition: B-splines and bins of one variable, tensor products of several (spec 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array, vstack
from scipy.special import ndtri

from fasthdmr import _core
from fasthdmr._spans.kinds import SPANS
from fasthdmr._support.cached import cached_property
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats


class Axis(NamedTuple):
    """The B-splines of one variable.

    Attributes
    ----------
    variable, degree : int
    knots : list of float
        Clamped; where there are scores, in units of these.
    missing : bool
        Whether there is a column for missing values.
    scores : (list of float, list of float)
        Rising values of the variable and their normal scores, which are interpolated in between; without any, the
        variable itself is the coordinate.
    """

    variable: int
    degree: int
    knots: list[float]
    missing: bool
    scores: tuple[list[float], list[float]] = ([], [])


MAX_DUAL_ROWS = 3000
"""Up to so many rows, columns that outnumber them are solved for through the Gram matrix of the rows."""

_MANY_ROWS = 20_000
_KNOT_ROWS = 100_000  # quantiles of more rows move by less than a row's share of them
_INNER = (0.25, 0.75), (0.05, 0.95), (0.0, 1.0)
_SKEWED = 3.0  # of normal variables these are 2.4 times as wide as the one before, and 2 to 2.7 times
_FEW_VALUES = 12
_LEAST_RANK = 1e-9  # rows of hardly any weight stay near the others
_SCORE_NODES = 256


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
    """Return how many rows the size rule may count on: distinct ones with weight, so that a repeated row is one.

    Above `_MANY_ROWS`, where sizes no longer grow, repetitions are not looked for.

    Examples
    --------
    >>> informative_rows(np.array([[1.0], [2.0], [2.0], [3.0]]), np.array([1.0, 1.0, 1.0, 0.0]))
    2
    """
    rows = X if weights is None else X[weights > 0]
    return len(rows) if len(rows) > _MANY_ROWS else len(np.unique(_records(rows)))


def distinct_rows(X: NDArray[Any], weights: Floats | None) -> tuple[NDArray[Any], Floats]:
    """Return every row that has weight once, and the sum of the weights of its repetitions.

    Examples
    --------
    >>> rows, mass = distinct_rows(np.array([[2.0], [1.0], [2.0]]), None)
    >>> sorted(zip(rows[:, 0].tolist(), mass.tolist()))
    [(1.0, 1.0), (2.0, 2.0)]
    """
    mass = np.ones(len(X)) if weights is None else weights[weights > 0]
    rows = X if weights is None else X[weights > 0]
    _, first, inverse = np.unique(_records(rows), return_index=True, return_inverse=True)
    return rows[first], np.bincount(inverse, mass, len(first)).astype(np.float64)


def _records(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the rows as one value each."""
    return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]


@dataclass(frozen=True, eq=False)
class Basis:
    """Axes and the spans made of them: what crosses into C++, picklable.

    Attributes
    ----------
    axes : list of Axis
    subspaces : list of tuple of int
        Sorted by order; closed under taking subsets, but for variables that are constant.
    axes_of : list of list of int
        The axes of each span.
    """

    axes: list[Axis]
    subspaces: list[Subspace]
    axes_of: list[list[int]]

    @cached_property
    def core(self) -> _core.Spans:
        """The spans in C++; made again after unpickling."""
        return _core.Spans([Axis(*axis) for axis in self.axes], self.subspaces, self.axes_of)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "core"}

    @property
    def sizes(self) -> list[int]:
        """The number of columns of each span."""
        columns = [len(knots) - degree - 1 + missing for _, degree, knots, missing, *_ in self.axes]
        return [int(np.prod([columns[a] for a in axes])) for axes in self.axes_of]


def closure(subspaces: Iterable[Subspace], order: int) -> list[Subspace]:
    """Return all non-empty subsets up to an order, sorted.

    Examples
    --------
    >>> closure([(0, 2), (1,)], 2)
    [(0,), (1,), (2,), (0, 2)]
    """
    found = {v for u in set(subspaces) for t in range(1, min(order, len(u)) + 1) for v in combinations(u, t)}
    return sorted(found, key=lambda u: (len(u), u))


def make_basis(
    X: NDArray[Any],
    weights: Floats | None,
    subspaces: Sequence[Subspace],
    sizes: Sequence[int],
    *,
    degree: int,
    main_sizes: Mapping[int, int] | None = None,
) -> Basis:
    """Place knots at (weighted) quantiles, and make the spans of the given subspaces.

    Parameters
    ----------
    X : ndarray of shape (N, n)
    weights : ndarray of shape (N,) or None
    subspaces : sequence of tuple of int
        Sorted by order.
    sizes : sequence of int
        Splines of a variable in spans of order 1, 2, …
    degree : int
        Of the splines; 0 makes bins.
    main_sizes : dict of int to int, optional
        Other sizes of single variables.

    Returns
    -------
    Basis
        Without the spans of variables that are constant.

    Raises
    ------
    ValueError
        If the range of a variable is no number.
    """
    profiles = {j: Profile.of(X[:, j], weights) for j in sorted({j for u in subspaces for j in u})}
    for j, profile in profiles.items():
        profile.check_range(j)
    main = main_sizes or {}
    axes_by_order = {
        j: profile.axes(j, [main.get(j, sizes[0]), *sizes[1:]], degree)
        for j, profile in profiles.items()
        if not profile.is_constant
    }
    axes: list[Axis] = []
    number: dict[tuple[int, int], int] = {}
    kept, axes_of = [], []
    for u in subspaces:
        if any(profiles[j].is_constant for j in u):
            continue
        for j in u:
            if (j, len(u)) not in number:
                number[j, len(u)] = len(axes)
                axes.append(axes_by_order[j][len(u) - 1])
        kept.append(u)
        axes_of.append([number[j, len(u)] for j in u])
    return Basis(axes, kept, axes_of)


@dataclass(frozen=True, eq=False)
class Profile:
    """The distinct values of a variable, and their weights."""

    values: Floats
    weights: Floats
    has_missing: bool

    @classmethod
    def of(cls, column: NDArray[Any], weights: Floats | None) -> Profile:
        """Sort a column, or evenly spaced rows of a long one."""
        step = max(1, len(column) // _KNOT_ROWS)
        values = np.asarray(column[::step], dtype=np.float64)
        if weights is None:
            distinct, counts = np.unique(values[np.isfinite(values)], return_counts=True)
            return cls(distinct, counts.astype(np.float64), bool(np.isnan(values).any()))
        mass = weights[::step]
        present = np.isfinite(values) & (mass > 0)
        distinct, inverse = np.unique(values[present], return_inverse=True)
        missing = bool((np.isnan(values) & (mass > 0)).any())
        total = np.bincount(inverse, mass[present], len(distinct)).astype(np.float64)
        return cls(distinct, total, missing)

    @property
    def is_constant(self) -> bool:
        """Whether nothing distinguishes the rows."""
        return len(self.values) + self.has_missing < 2

    def check_range(self, variable: int) -> None:
        """Refuse a variable whose largest value less its least overflows."""
        if len(self.values) == 0:
            return
        least, largest = self.values[0], self.values[-1]
        if largest / 2 - least / 2 > np.finfo(float).max / 2:
            raise ValueError(
                f"X has values from {least:.3g} to {largest:.3g} in column {variable}, and the difference overflows. "
                "Divide the column by a power of ten."
            )

    @property
    def is_skewed(self) -> bool:
        """Whether few rows hold most of the range, so that splines of the values would hardly see the others.

        That is so where the whole range, or that of the inner nine tenths, is several times as wide as the inner nine
        tenths, or half: one of the two is seen in small samples as well.
        """
        if len(self.values) <= _FEW_VALUES:
            return False
        with np.errstate(over="ignore"):  # check_range refuses that
            half, most, whole = (np.diff(self.quantiles(np.array(levels)))[0] for levels in _INNER)
            return bool(np.isfinite(whole) and (whole > _SKEWED * most or most > _SKEWED * half))

    def scored(self) -> tuple[Profile, tuple[list[float], list[float]]]:
        """Return the profile of the normal scores, and a table that they are interpolated in.

        The score of a value is the standard normal quantile of its rank, the share of the weight below it and half of
        that at it. Every rising function of the variable has the same, and that of a normal variable is the variable.
        """
        ranks = (np.cumsum(self.weights) - self.weights / 2) / self.weights.sum()
        scores = ndtri(np.clip(ranks, _LEAST_RANK, 1 - _LEAST_RANK))
        n = len(scores)
        nodes = np.unique(np.rint(np.linspace(0, n - 1, min(n, _SCORE_NODES))).astype(int))
        below = np.clip(np.searchsorted(nodes, np.arange(n), side="right") - 1, 0, len(nodes) - 2)
        first, last = nodes[below], nodes[below + 1]
        # As in C++, so that a row at a knot is there.
        share = (self.values - self.values[first]) / (self.values[last] - self.values[first])
        interpolated = scores[first] + share * (scores[last] - scores[first])
        table = self.values[nodes].tolist(), scores[nodes].tolist()
        return Profile(interpolated, self.weights, self.has_missing), table

    def axes(self, variable: int, sizes: Sequence[int], degree: int) -> list[Axis]:
        """Return the axes of a variable for each of falling sizes; splines of its normal scores where it is skewed."""
        profile, scores = self.scored() if degree > 0 and self.is_skewed else (self, ([], []))
        return [Axis(variable, d, knots, self.has_missing, scores) for d, knots in profile.knots(sizes, degree)]

    def knots(self, sizes: Sequence[int], degree: int) -> list[tuple[int, list[float]]]:
        """Return the degree and clamped knots for each of falling sizes; a column a value where these are few.

        The knots of a smaller size are among those of the one before, so that what a span of several variables says of
        one of them, the span of that variable can say too: components are unique then.
        """
        result: list[tuple[int, list[float]]] = []
        finer: Floats | None = None
        for size in sizes:
            as_bins = degree == 0 or len(self.values) <= max(size, 2)
            d = 0 if as_bins else min(degree, size - 1)
            intervals = size - d
            if finer is not None and intervals < len(finer) - 1:
                inner = finer[np.rint(np.linspace(0, len(finer) - 1, intervals + 1)).astype(int)]
            else:
                inner = self._edges(size) if as_bins else np.unique(self.quantiles(np.linspace(0, 1, intervals + 1)))
            finer = inner
            result.append((d, [*[inner[0]] * d, *inner.tolist(), *[inner[-1]] * d]))
        return result

    def _edges(self, size: int) -> Floats:
        """Return edges between values: one bin a value, or quantile bins."""
        values = self.values
        if len(values) == 0:
            return np.array([0.0, 1.0])  # nothing but missing values
        if len(values) > size:
            lower = np.searchsorted(values, self.quantiles(np.linspace(0, 1, size + 1)[1:-1]), side="right")
            cuts = np.unique(lower[(lower > 0) & (lower < len(values))])
        else:
            cuts = np.arange(1, len(values))
        # The edge is the upper value: a bin holds its lower edge.
        return np.concatenate([[values[0] - 1.0], values[cuts], [values[-1] + 1.0]])

    def quantiles(self, levels: Floats) -> Floats:
        """Return weighted quantiles: the least value up to which the share of the weight is reached."""
        share = np.cumsum(self.weights)
        position = np.searchsorted(share, levels * share[-1] * (1 - 1e-12), side="left")
        found: Floats = self.values[np.minimum(position, len(self.values) - 1)]
        return found


COARSE_SIZES = (4, 3)
"""Splines of a variable in the spans that terms of many variables are projected on: single variables, pairs."""


def axis_columns(axis: Axis, values: Floats) -> Floats:
    """Return all columns of an axis at values of its variable, (N, m)."""
    core = _core.Spans([axis._replace(variable=0)], [(0,)], [[0]])
    m = core.n_columns - 1
    return core.evaluate(values[:, None], np.arange(m + 1), np.arange(1, m + 1), np.ones(m), 1)


def coarsen(axis: Axis, size: int) -> Axis:
    """Return an axis of fewer columns whose functions are among those of the given one."""
    if len(axis.knots) - axis.degree - 1 <= size:
        return axis
    breaks = np.unique(axis.knots)
    coarse = min(axis.degree, size - 1)
    inner = breaks[np.rint(np.linspace(0, len(breaks) - 1, size - coarse + 1)).astype(int)]
    return axis._replace(degree=coarse, knots=[*[inner[0]] * coarse, *inner.tolist(), *[inner[-1]] * coarse])


def refinement(coarse: Axis, fine: Axis) -> Floats:
    """Return E with B_coarse = B_fine E, by interpolation: the coarse functions are among the fine ones.

    Examples
    --------
    >>> fine = Axis(0, 3, [0.0] * 4 + [0.5] + [1.0] * 4, False)
    >>> coarse, x = coarsen(fine, 4), np.array([0.1, 0.7])
    >>> bool(np.allclose(axis_columns(fine, x) @ refinement(coarse, fine), axis_columns(coarse, x)))
    True
    """
    coarse, fine = (axis._replace(scores=([], [])) for axis in (coarse, fine))  # both are functions of one coordinate
    breaks = np.unique(fine.knots)
    inside = (np.arange(fine.degree + 1) + 0.5) / (fine.degree + 1)
    points = (breaks[:-1, None] + np.diff(breaks)[:, None] * inside).ravel()
    points = np.append(points, np.nan) if fine.missing else points
    found = np.linalg.lstsq(axis_columns(fine, points), axis_columns(coarse, points), rcond=None)[0]
    return np.asarray(found, dtype=np.float64)


def coarse_basis(basis: Basis) -> tuple[Basis, csr_array]:
    """Return coarse spans of the single variables and pairs of a basis, and what their columns are in its own.

    Returns
    -------
    coarse : Basis
    refinement : csr_array of shape (columns of the basis, columns of the coarse one), the constant included
    """
    subspaces = [u for u in basis.subspaces if len(u) <= len(COARSE_SIZES)]
    axes_of = basis.axes_of[: len(subspaces)]
    order_of = {a: len(axes) for axes in axes_of for a in axes}
    axes = [coarsen(axis, COARSE_SIZES[order_of.get(a, 1) - 1]) for a, axis in enumerate(basis.axes)]
    finer = [refinement(axis, fine) for axis, fine in zip(axes, basis.axes, strict=True)]
    blocks: list[NDArray[Any]] = [np.ones((1, 1))]
    blocks += [finer[of[0]] if len(of) == 1 else np.kron(finer[of[0]], finer[of[1]]) for of in axes_of]
    used = csr_array(block_diag(blocks))
    others = csr_array((basis.core.n_columns - used.shape[0], used.shape[1]))
    return Basis(axes, subspaces, axes_of), csr_array(vstack([used, others]))
