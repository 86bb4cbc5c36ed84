"""Leave-one-out residuals of decompositions in spans, without refitting.

The leave-one-out residual of a ridge regression is (f_i - fit_i) / (1 - h_i), where h_i is the leverage of the row, a
diagonal entry of the hat matrix. This is exact for fixed knots and a fixed penalty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import csc_array

from fasthdmr._solve.hierarchy import Solution
from fasthdmr._spans.axes import axis_columns, axis_kernel
from fasthdmr._spans.basis import Basis, tensor_columns
from fasthdmr._support.typing import Floats

EXACT_ROWS = 2000
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
        spans = [SpanColumns(basis, rows.X) for basis in self.bases]
        share, missed = rows.share, {}
        for (b, numbers), members in systems.items():
            found = spans[b].of(numbers) @ np.column_stack([self.coefficients[t] for t in members])
            rest = terms[:, members].sum(axis=1) - found.sum(axis=1)
            missed[b, numbers] = rest - share @ rest
        # Leverages are computed for the systems with the largest residuals first. When `work` is used up, the remaining
        # systems get the mean leverage per column of the earlier ones.
        result, done, spent, n_columns = left.copy(), 0.0, 0.0, 0
        for key in sorted(missed, key=lambda key: -(share @ missed[key] ** 2)):
            b, numbers = key
            sizes = spans[b].sizes[list(numbers)]
            p = np.repeat(sizes, sizes)
            done += len(share) * float(len(p)) ** 2
            if done <= work or not spent:
                quadratic = leverages(spans[b].of(numbers), share, self.ridge / p)
                spent, n_columns = spent + float(share @ quadratic), n_columns + len(p)
            else:
                quadratic = np.full(len(share), len(p) * spent / n_columns)
            leverage = rows.influence * (1 + quadratic)
            result += missed[key] * leverage / (1 - leverage)
        return result


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
        self.basis = basis
        self.sizes = np.array(basis.sizes)
        self.axes = [axis_columns(axis, X[:, axis[0]]) for axis in basis.axes]

    def of(self, spans: Sequence[int]) -> Floats:
        """Return the columns of the given spans, (m, p)."""
        return np.hstack([tensor_columns(self.axes, self.basis.axes_of[s]) for s in spans])

    def kernel(self) -> Floats:
        """Return the Gram matrix of the rows, (m, m), in which a column counts as often as its span has columns."""
        products = [axis_kernel(axis, columns) for axis, columns in zip(self.basis.axes, self.axes, strict=True)]
        result = np.zeros_like(products[0])
        for axes, size in zip(self.basis.axes_of, self.sizes.tolist(), strict=True):
            result += size * np.prod([products[a] for a in axes], axis=0)
        return result


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
