"""Leave-one-out residuals of decompositions in spans, without refitting.

The leave-one-out residual of a ridge regression is (f_i - fit_i) / (1 - h_i), where h_i is the leverage of the row, a
diagonal entry of the hat matrix. This is exact for fixed knots and a fixed penalty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import csc_array

from fasthdmr._solve.hierarchy import Solution
from fasthdmr._spans.axes import axis_columns, axis_kernel
from fasthdmr._spans.basis import Basis, tensor_columns
from fasthdmr._support.steps import steps
from fasthdmr._support.typing import Floats

EXACT_ROWS = 2000
_STEP = 1e6  # numbers of projections computed at a time
WORK = 4e9
"""The most multiplications for exact leverages, which take less than a second."""


@dataclass(frozen=True, eq=False)
class Rows:
    """A subsample of evenly spaced rows among those that a decomposition was fitted on.

    Attributes
    ----------
    X : ndarray of shape (m, n)
    weights : ndarray of shape (m,)
        All positive.
    n_effective : float
        The effective number of all fitted rows.
    """

    X: Floats
    weights: Floats
    n_effective: float

    @property
    def share(self) -> Floats:
        """Weights that sum to 1."""
        share: Floats = self.weights / self.weights.sum()
        return share

    @property
    def influence(self) -> Floats:
        """The share of each left-out row in the total weight; its mean is 1 / n_effective.

        Whole weights are repetition counts, and only one repetition is left out.
        """
        if np.all(self.weights == np.rint(self.weights)):
            return np.full(len(self.weights), 1 / self.n_effective)
        influence: Floats = self.weights * self.weights.sum() / (self.weights @ self.weights) / self.n_effective
        return influence


@dataclass(frozen=True, eq=False)
class LocalProjection:
    """Terms of trees, each projected within its own subspace.

    Attributes
    ----------
    bases : list of Basis
        The spans, and coarser spans for terms of many variables.
    of_term : list of (int, int)
        For each term, the index of its basis and the largest order of the spans it is projected on. Order 0: it is not
        projected.
    coefficients : list of ndarray
        The coefficients of the projection of each term.
    ridge : float
        The penalty of a span of p columns is this number divided by p.
    n_effective : float
    """

    bases: list[Basis]
    of_term: list[tuple[int, int]]
    coefficients: list[Floats]
    ridge: float
    n_effective: float

    def leave_one_out(
        self, rows: Rows, dictionary: Any, output: int, black_box: Floats, left: Floats, work: float = WORK
    ) -> Floats:
        """Return the leave-one-out residuals (see `Projection`)."""
        columns = dictionary.given.columns[output]
        term_of = columns.column_subspace
        shape = (1 + len(term_of), len(columns.subspaces))
        weights = csc_array((black_box[1 : 1 + len(term_of)], (1 + np.arange(len(term_of)), term_of)), shape=shape)
        terms = dictionary.given.evaluate(rows.X, output, weights, 1)
        systems: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for t, u in enumerate(columns.subspaces):
            b, order = self.of_term[t]
            if order and len(self.coefficients[t]):
                systems.setdefault((b, tuple(self.bases[b].inside(u, order))), []).append(t)
        numbers, members = list(systems), list(systems.values())
        share, missed = rows.share, -self._projections(rows, numbers, members)
        for s, of in enumerate(members):
            missed[:, s] += terms[:, of].sum(axis=1)
        missed -= share @ missed
        # Leverages are computed for the systems with the largest residuals first. When `work` is used up, the remaining
        # systems get the mean leverage per column of the earlier ones.
        columns = [SpanColumns(basis, rows.X) for basis in self.bases]
        sizes = [np.array(basis.sizes) for basis in self.bases]
        n_columns = np.array([sizes[b][list(spans)].sum() for b, spans in numbers], dtype=np.int64)
        by_size = np.argsort(-(share @ missed**2), kind="stable")
        done = len(share) * np.cumsum(n_columns[by_size].astype(np.float64) ** 2)
        n_exact = max(1, int(np.searchsorted(done, work, side="right")))
        result, spent = left.copy(), 0.0
        for k in by_size[:n_exact]:
            b, spans = numbers[k]
            p = np.repeat(sizes[b][list(spans)], sizes[b][list(spans)])
            quadratic = leverages(columns[b].of(spans), share, self.ridge / p)
            spent += float(share @ quadratic)
            result += missed[:, k] * _odds(rows.influence * (1 + quadratic))
        per_column = spent / max(n_columns[by_size[:n_exact]].sum(), 1)
        for k in by_size[n_exact:]:
            result += missed[:, k] * _odds(rows.influence * (1 + n_columns[k] * per_column))
        return result

    def _projections(
        self, rows: Rows, systems: Sequence[tuple[int, Sequence[int]]], members: Sequence[Sequence[int]]
    ) -> Floats:
        """Return the sum of the projections of the terms of each system, given its basis and spans; (m, systems)."""
        result = np.empty((len(rows.X), len(systems)), order="F")
        for b, basis in enumerate(self.bases):
            ends = basis.core.first_columns + basis.sizes
            columns = np.split(np.arange(basis.core.n_columns), ends - basis.sizes)[1:]
            own = np.flatnonzero([own == b for own, _ in systems])
            for part in steps(len(own), len(rows.X), _STEP):
                of = own[part]
                column = [np.concatenate([columns[s] for s in systems[k][1]]) for k in of]
                weight = [np.sum([self.coefficients[t] for t in members[k]], axis=0) for k in of]
                begin = np.cumsum([0, *map(len, column)])
                found = basis.core.evaluate(rows.X, begin, np.concatenate(column), np.concatenate(weight), 1)
                result[:, of] = found
        return result


def _odds(leverage: Floats) -> Floats:
    return leverage / (1 - leverage)


@dataclass(frozen=True, eq=False)
class JointProjection:
    """Values projected on all spans jointly.

    Attributes
    ----------
    basis : Basis
    factor : float
        The constant c of the penalty c / (n_effective p) of a span of p columns.
    freedom : float
        The degrees of freedom without the one of the mean.
    n_effective : float
    """

    basis: Basis
    factor: float
    freedom: float
    n_effective: float

    def leave_one_out(
        self, rows: Rows, dictionary: Any, output: int, black_box: Floats, left: Floats, work: float = WORK
    ) -> Floats:
        """Return the leave-one-out residuals (see `Projection`).

        For many rows, all leverages are replaced by their mean, as in generalised cross-validation.
        """
        if self.n_effective > EXACT_ROWS:
            quadratic = np.full(len(left), self.freedom)
        else:
            kernel = SpanColumns(self.basis, rows.X).kernel() / (self.factor / self.n_effective)
            root = np.sqrt(rows.share)
            mean = rows.share @ kernel
            centred = kernel - mean - mean[:, None] + rows.share @ mean
            system = root[:, None] * centred * root
            system.flat[:: len(system) + 1] += 1.0
            half = solve_triangular(cholesky(system, lower=True), np.eye(len(system)), lower=True)
            quadratic = (1 - np.sum(half**2, axis=0)) / rows.share
        leverage = rows.influence * (1 + quadratic)
        result: Floats = left / (1 - leverage)
        return result


class SpanColumns:
    """The values of the columns of spans at rows.

    Parameters
    ----------
    basis : Basis
    X : ndarray of shape (m, n)
    """

    def __init__(self, basis: Basis, X: Floats) -> None:
        self.basis, self.X = basis, X
        self._axes: dict[int, Floats] = {}  # those that were needed

    def of(self, spans: Sequence[int]) -> Floats:
        """Return the columns of the given spans, (m, p)."""
        axes_of = [self.basis.axes_of[s] for s in spans]
        values = self._values({a for axes in axes_of for a in axes})
        return np.hstack([tensor_columns(values, axes) for axes in axes_of])

    def kernel(self) -> Floats:
        """Return the Gram matrix of the rows, (m, m), in which a column counts as often as its span has columns."""
        values = self._values(range(len(self.basis.axes)))
        products = [axis_kernel(axis, values[a]) for a, axis in enumerate(self.basis.axes)]
        result = np.zeros_like(products[0])
        for axes, size in zip(self.basis.axes_of, self.basis.sizes, strict=True):
            result += size * np.prod([products[a] for a in axes], axis=0)
        return result

    def _values(self, axes: Iterable[int]) -> dict[int, Floats]:
        """Return the columns of axes, and perhaps of others, by number."""
        for a in set(axes) - self._axes.keys():
            axis = self.basis.axes[a]
            self._axes[a] = axis_columns(axis, self.X[:, axis.variable])
        return self._axes


def leverages(columns: Floats, share: Floats, ridge: Floats) -> Floats:
    """Return phi_i' (G + ridge)^-1 phi_i for each row i, where phi are centred columns and G is their covariance; (m,).

    Examples
    --------
    >>> columns, share = np.array([[0.0], [0.0], [3.0]]), np.full(3, 1 / 3)
    >>> leverages(columns, share, np.array([0.0])).round(12)
    array([0.5, 0.5, 2. ])
    """
    centred = columns - share @ columns
    weighted = np.sqrt(share)[:, None] * centred
    system = weighted.T @ weighted
    system.flat[:: len(system) + 1] += ridge
    half = solve_triangular(cholesky(system, lower=True), centred.T, lower=True)
    result: Floats = np.sum(half**2, axis=0)
    return result


def r_squared(
    dictionary: Any,
    solutions: Sequence[Solution],
    X: NDArray[Any],
    weights: Floats,
    f: Floats,
    left: Floats,
    work: float = WORK,
) -> Floats:
    """Return the R² of decompositions in spans, and their leave-one-out R².

    Parameters
    ----------
    dictionary : SpanDictionary
    solutions : sequence of Solution, length K
    X : ndarray of shape (m, n)
        Rows that the components were fitted on, or a subsample.
    weights : ndarray of shape (m,)
        All positive.
    f : ndarray of shape (m, K)
        The black box.
    left : ndarray of shape (m, K)
        The residual: the black box minus f_0 and the components.
    work : float
        The most multiplications for exact leverages.

    Returns
    -------
    ndarray of shape (2, K)
    """
    result = np.ones((2, len(solutions)))
    for k, solution in enumerate(solutions):
        if solution.is_constant or solution.projection is None:
            continue
        rows = Rows(X, weights, solution.projection.n_effective)
        black_box = solution.black_box.toarray()[:, 0] / solution.scale
        missed = left[:, k] / solution.scale
        unused = solution.projection.leave_one_out(rows, dictionary, k, black_box, missed, work)
        values = f[:, k] / solution.scale
        variance = rows.share @ (values - rows.share @ values) ** 2
        result[:, k] = 1 - np.array([rows.share @ missed**2, rows.share @ unused**2]) / variance
    return result
