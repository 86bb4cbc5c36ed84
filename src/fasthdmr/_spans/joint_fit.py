"""The joint projection of values on all spans: ridge regression with a penalty chosen by cross-validation (spec 3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr import _core
from fasthdmr._spans.axes import Axis, axis_columns, axis_kernel
from fasthdmr._spans.basis import MAX_DUAL_ROWS, Basis, tensor_columns
from fasthdmr._spans.leave_out import JointProjection
from fasthdmr._spans.penalties import Quadratures
from fasthdmr._support.steps import product, steps
from fasthdmr._support.typing import Floats

_INFLATION = 1.5
"""Factor of the degrees of freedom in generalised cross-validation (GCV), which makes undersmoothing rarer."""

_LARGEST_FACTOR = 1e4
_PROBES = 32
EXACT = 600
_NEAR = 32.0  # up to this ratio of factors, approximations around one of them are exact enough to choose another one
_MOST_CENTRES = 4
_CACHED = 3e5  # the most products of rows in one step, for all axes, so that they stay in the cache
_MAX_COLUMNS = 6000  # up to this number, elimination of levels takes less time than the dual form
FEW_LEVELS = 32
"""Up to this number of levels, elimination of levels is not faster than a factorisation of the whole matrix."""


@dataclass(frozen=True, eq=False)
class JointFit:
    """The result of a joint projection.

    Attributes
    ----------
    gram : _core.SpanGram
        The Gram blocks that the top-down pass needs.
    coefficients : ndarray of shape (columns, K)
    factor : float
        The constant c of the penalty.
    projection : JointProjection or None
        The data for leave-one-out residuals. None if c was given.
    """

    gram: _core.SpanGram
    coefficients: Floats
    factor: float
    projection: JointProjection | None


def fit_jointly(
    X: NDArray[Any],
    weights: Floats | None,
    basis: Basis,
    values: Floats,
    sums: _core.TermSums,
    n_effective: float,
    least: float,
    n_threads: int,
    factor: float | None = None,
) -> JointFit:
    """Project values on all spans at once.

    Parameters
    ----------
    X : ndarray of shape (N, n)
    weights : ndarray of shape (N,) or None
    basis : Basis
    values : ndarray of shape (N, K)
    sums : _core.TermSums
        The sums for these values.
    n_effective : float
        The effective number of rows.
    least : float
        The smallest c of the penalty c / (N p) on the coefficients of a span of p columns.
    n_threads : int
    factor : float or None
        The value of c. None: c is chosen by GCV.

    Returns
    -------
    JointFit
    """
    gram, system = joint_system(X, weights, basis, values, sums, n_effective, n_threads)
    return fit_system(gram, system, basis, sums, n_effective, least, factor)


def fit_system(
    gram: _core.SpanGram,
    system: Primal | Dual,
    basis: Basis,
    sums: _core.TermSums,
    n_effective: float,
    least: float,
    factor: float | None = None,
) -> JointFit:
    """Solve the ridge regression of `joint_system` (arguments: see `fit_jointly`)."""
    variance = sums.output_variance
    usable, shape = variance > 0, (basis.core.n_columns, len(variance))
    if not usable.any():
        nothing = JointProjection(basis, least, 0.0, n_effective)
        return JointFit(gram, np.zeros(shape, order="F"), least, nothing)

    def criterion(left: Floats, freedom: float) -> float:
        share = 1 - _INFLATION * (1 + freedom) / n_effective
        return float(np.sum(left[usable] / variance[usable]) / share**2) if share > 0 else np.inf

    projection = None
    if factor is None:
        factor, freedom = _choose(system, criterion, least)
        projection = JointProjection(basis, factor, freedom, n_effective)
    coefficients = np.zeros(shape, order="F")
    coefficients[1:] = system.coefficients(factor)
    return JointFit(gram, coefficients, factor, projection)


def joint_system(
    X: NDArray[Any],
    weights: Floats | None,
    basis: Basis,
    values: Floats,
    sums: _core.TermSums,
    n_effective: float,
    n_threads: int,
) -> tuple[_core.SpanGram, Primal | Dual]:
    """Return the Gram matrix of the spans, and the ridge regression on all of them (arguments: see `fit_jointly`)."""
    n_columns, n_rows = basis.core.n_columns - 1, len(X)
    primal = _has_many_levels(basis) and n_columns <= _MAX_COLUMNS
    dual = n_rows < n_columns and n_rows <= MAX_DUAL_ROWS and not primal
    gram = _core.SpanGram(sums, X, weights, "inside" if dual else "all", n_threads)
    if dual:
        p = np.repeat(basis.sizes, basis.sizes).astype(np.float64)
        return gram, Dual(X, weights, basis, values, p * n_effective, n_threads)
    return gram, primal_system(gram, basis, sums, n_effective, n_threads)


def primal_system(
    gram: _core.SpanGram, basis: Basis, sums: _core.TermSums, n_effective: float, n_threads: int
) -> Primal:
    """Return the ridge regression on all spans, given their whole Gram matrix (arguments: see `fit_jointly`)."""
    p = np.repeat(basis.sizes, basis.sizes).astype(np.float64)
    right = sums.output_with_columns.reshape(len(p) + 1, -1)[1:]
    every, ridge = list(range(len(basis.subspaces))), 1 / (p * n_effective)
    if _has_many_levels(basis):
        return ByLevels(gram, every, right, ridge, sums.output_variance, n_effective)
    return Primal(gram.covariance(every, n_threads), right, ridge, sums.output_variance, n_threads)


def _has_many_levels(basis: Basis) -> bool:
    return any(axis.is_categorical and axis.size > FEW_LEVELS for axis in basis.axes)


def _choose(system: Ridge, criterion: Callable[[Floats, float], float], least: float) -> tuple[float, float]:
    """Return the factor that minimises a criterion of `Ridge.fit`, and its degrees of freedom.

    If there are many columns, the fits are approximations around a centre, which is moved to the minimum.
    """
    if system.size <= EXACT:
        exact = cache(system.fit)
        factor = _minimise(lambda c: criterion(*exact(c)), least)
        return factor, exact(factor)[1]
    factor, centre = _NEAR * least, np.inf
    for _ in range(_MOST_CENTRES):
        if max(factor / centre, centre / factor) <= _NEAR:
            break
        centre = factor
        fit = system.fits_around(centre)
        factor = _minimise(lambda c: criterion(*fit(c)), least)  # noqa: B023 - called at once
    return factor, fit(factor)[1]


def _minimise(criterion: Callable[[float], float], least: float) -> float:
    """Return the factor that minimises a criterion, among `least` times powers of two.

    The criterion is infinite for small factors if the degrees of freedom exceed the rows. Beyond that it has one
    minimum.
    """
    found = {least: criterion(least)}

    def best() -> float:
        return min(found, key=lambda f: (found[f], f if np.isfinite(found[f]) else -f))

    factor = least
    while 4 * factor <= _LARGEST_FACTOR and not (np.isfinite(found[best()]) and factor >= 16 * best()):
        factor *= 4
        found[factor] = criterion(factor)
    middle = best()
    found |= {f: criterion(f) for f in (middle / 2, middle * 2) if least < f <= _LARGEST_FACTOR}
    return best()


class Ridge(ABC):
    """Ridge regression with a penalty c, given by a matrix A, the diagonal of D and right-hand sides b.

    The solutions are (A + c D)⁻¹ b.

    Parameters
    ----------
    right : ndarray of shape (n, K)
    diagonal : ndarray of shape (n,)
    """

    def __init__(self, right: Floats, diagonal: Floats) -> None:
        self.size, K = right.shape
        self.diagonal = diagonal
        probes = np.eye(self.size) if self.size <= EXACT else random_signs(self.size)
        self._n_probes = 1 if self.size <= EXACT else _PROBES
        self._both = np.asfortranarray(np.hstack([right, np.sqrt(diagonal)[:, None] * probes]))
        self.right = self._both[:, :K]
        self._solutions: dict[float, Floats] = {}

    @abstractmethod
    def factored(self, factor: float) -> Callable[[Floats], Floats]:
        """Return the function that multiplies columns, (n, m), by (A + c D)⁻¹."""

    @abstractmethod
    def mean_squares(self, factor: float, first: Floats, second: Floats) -> Floats:
        """Return the mean squared residuals, (K,), from b' x and x' D x of the solutions x."""

    def fit(self, factor: float) -> tuple[Floats, float]:
        """Return the mean squared residuals, (K,), and the degrees of freedom."""
        x = self.factored(factor)(self._both)
        self._solutions[factor] = x[:, : self.right.shape[1]]
        forms = np.sum(self._both * x, axis=0), np.sum(self.diagonal[:, None] * x**2, axis=0)
        return self._result(factor, *forms)

    def fits_around(self, centre: float) -> Callable[[float], tuple[Floats, float]]:
        """Return an approximation of `fit`, which needs one factorisation for all factors."""
        forms = Quadratures(self.factored(centre), centre, self.diagonal, self._both)
        self._solutions[centre] = forms.of_centre[:, : self.right.shape[1]]
        return lambda factor: self._result(factor, *forms.at(factor))

    def _result(self, factor: float, first: Floats, second: Floats) -> tuple[Floats, float]:
        K = self.right.shape[1]
        freedom = self.size - factor * float(np.sum(first[K:])) / self._n_probes
        return np.maximum(self.mean_squares(factor, first[:K], second[:K]), 0.0), freedom

    def solution(self, factor: float) -> Floats:
        """Return the solutions for the right-hand sides, (n, K)."""
        if factor not in self._solutions:
            self._solutions[factor] = self.factored(factor)(self.right)
        return self._solutions[factor]

    def coefficients(self, factor: float) -> Floats:
        """Return the coefficients, (columns, K)."""
        return self.solution(factor)


def _factored(matrix: Floats, factor: float, diagonal: Floats, n_threads: int) -> Callable[[Floats], Floats]:
    system = matrix.copy()
    system.flat[:: len(system) + 1] += factor * diagonal
    solver = _core.PositiveMatrix(system, n_threads)
    return lambda right: solver.solve(np.asfortranarray(right), n_threads)


class Primal(Ridge):
    """Ridge regression by the Gram matrix of the columns.

    Parameters
    ----------
    products : ndarray of shape (p, p)
        Covariances of the columns.
    right : ndarray of shape (p, K)
        Covariances with the outputs.
    ridge : ndarray of shape (p,)
    variance : ndarray of shape (K,)
    n_threads : int
    """

    def __init__(self, products: Floats, right: Floats, ridge: Floats, variance: Floats, n_threads: int) -> None:
        super().__init__(right, ridge)
        self.products, self.variance, self.n_threads = products, variance, n_threads

    def factored(self, factor: float) -> Callable[[Floats], Floats]:
        """Return the function that solves for right-hand sides (see `Ridge`)."""
        return _factored(self.products, factor, self.diagonal, self.n_threads)

    def mean_squares(self, factor: float, first: Floats, second: Floats) -> Floats:
        """Return the mean squared residuals (see `Ridge`)."""
        result: Floats = self.variance - first - factor * second
        return result


class ByLevels(Primal):
    """Ridge regression with categorical variables, whose levels are eliminated one by one if there are many.

    Parameters
    ----------
    gram : _core.SpanGram
    spans : list of int
        All spans.
    right, ridge, variance
        See `Primal`.
    n_effective : float
    """

    def __init__(
        self,
        gram: _core.SpanGram,
        spans: list[int],
        right: Floats,
        ridge: Floats,
        variance: Floats,
        n_effective: float,
    ) -> None:
        super().__init__(np.empty((0, 0)), right, ridge, variance, 1)
        self.gram, self.spans, self.n_effective = gram, spans, n_effective

    def factored(self, factor: float) -> Callable[[Floats], Floats]:
        """Return the function that solves for right-hand sides (see `Ridge`)."""
        system = self.gram.ridge_system(self.spans, factor / self.n_effective)
        return lambda right: system.solve(np.asfortranarray(right))


class Dual(Ridge):
    """Ridge regression by the Gram matrix of the rows (dual form), for more columns than rows.

    Parameters
    ----------
    X : ndarray of shape (N, n)
    weights : ndarray of shape (N,) or None
    basis : Basis
    values : ndarray of shape (N, K)
    scale : ndarray of shape (p,)
        The inverse of the penalty of each column.
    n_threads : int
    """

    def __init__(
        self, X: NDArray[Any], weights: Floats | None, basis: Basis, values: Floats, scale: Floats, n_threads: int
    ) -> None:
        share = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
        root = np.sqrt(share)[:, None]
        columns = [axis_columns(axis, np.asarray(X[:, axis.variable], dtype=np.float64)) for axis in basis.axes]
        kernel = _gram_of_rows(basis, columns, scale)
        mean = share @ kernel
        kernel -= mean - share @ mean
        kernel -= mean[:, None]
        kernel *= root
        kernel *= root.T
        self.kernel = kernel
        super().__init__(root * (values - share @ values), np.ones(len(X)))
        self.root, self.share, self.columns, self.basis, self.scale = root, share, columns, basis, scale
        self.n_threads = n_threads

    def factored(self, factor: float) -> Callable[[Floats], Floats]:
        """Return the function that solves for right-hand sides (see `Ridge`)."""
        return _factored(self.kernel, factor, self.diagonal, self.n_threads)

    def mean_squares(self, factor: float, first: Floats, second: Floats) -> Floats:
        """Return the mean squared residuals (see `Ridge`)."""
        return factor**2 * second

    def coefficients(self, factor: float) -> Floats:
        """Return the coefficients, (p, K)."""
        rows = self.root * self.solution(factor)
        rows = rows - self.share[:, None] * rows.sum(axis=0)
        found = [tensor_columns(self.columns, axes).T @ rows for axes in self.basis.axes_of]
        result: Floats = self.scale[:, None] * np.vstack(found)
        return result


def _gram_of_rows(basis: Basis, columns: list[Floats], scale: Floats) -> Floats:
    """Return the sum over the spans of their scale times the products of their columns at all pairs of rows, (N, N).

    The columns of a span are products of those of its axes, so these products are, too. The sum over pairs of axes is a
    quadratic form, and has a shorter one if all pairs of some axes occur.
    """
    n_rows, n_axes = len(columns[0]), len(basis.axes)
    linear, quadratic = np.zeros(n_axes), np.zeros((n_axes, n_axes))
    others = []
    for axes, first in zip(basis.axes_of, np.cumsum([0, *basis.sizes[:-1]]), strict=True):
        if len(axes) == 1:
            linear[axes[0]] += scale[first]
        elif len(axes) == 2:
            quadratic[axes[0], axes[1]] += scale[first]
        else:
            others.append((axes, scale[first]))
    quadratic += quadratic.T
    in_pairs = np.flatnonzero(quadratic.any(axis=0))
    shares = np.array([float(columns[a].shape[1]) for a in in_pairs])
    ratios = quadratic[np.ix_(in_pairs, in_pairs)] / np.outer(shares, shares)
    if len(in_pairs) > 1 and np.allclose(ratios, ratios[0, 1] * (1 - np.eye(len(in_pairs))), rtol=1e-12, atol=0):
        gram = _of_all_pairs([basis.axes[a] for a in in_pairs], [columns[a] for a in in_pairs])
        gram *= ratios[0, 1]
        in_pairs = in_pairs[:0]
    else:
        gram = np.zeros((n_rows, n_rows))
    single = np.flatnonzero(linear)
    if len(single):
        roots = np.hstack([np.sqrt(linear[a]) * columns[a] for a in single])
        gram += product(roots, roots.T)
    quadratic = quadratic[np.ix_(in_pairs, in_pairs)] / 2
    used = sorted({*in_pairs.tolist(), *(a for axes, _ in others for a in axes)})
    for rows in steps(n_rows, float(len(used) * n_rows), _CACHED) if used else ():
        kernels = {a: axis_kernel(basis.axes[a], columns[a], rows) for a in used}
        if len(in_pairs):
            of_pairs = np.array([kernels[a].ravel() for a in in_pairs.tolist()])
            gram[rows] += np.einsum("am,am->m", of_pairs, quadratic @ of_pairs).reshape(-1, n_rows)
        for axes, scale_of in others:
            gram[rows] += scale_of * np.prod([kernels[a] for a in axes], axis=0)
    return gram


def _of_all_pairs(axes: list[Axis], columns: list[Floats]) -> Floats:
    """Return the sum over all pairs of axes of the products of their kernels, (N, N).

    The kernel of an axis of m columns is m times the products of its rows. The sum over pairs is half of the square of
    the sum, minus the sum of the squares. A square is a product of rows, too: of the products of pairs of columns.
    """
    sums, squares = [], []
    for axis, each in zip(axes, columns, strict=True):
        m = each.shape[1]
        sums.append(np.sqrt(m) * each)
        if axis.is_categorical:  # a row has at most one nonzero, a 1
            squares.append(m * each)
            continue
        i, j = np.triu_indices(m)
        squares.append(m * np.where(i == j, 1.0, np.sqrt(2)) * each[:, i] * each[:, j])
    both = [np.hstack(part) for part in (sums, squares)]
    gram = product(both[0], both[0].T)
    gram *= gram
    gram -= product(both[1], both[1].T)
    gram /= 2
    return gram


def random_signs(n: int) -> Floats:
    """Return random signs for Hutchinson's estimator of a trace. The seed is fixed."""
    return np.random.default_rng(0).choice([-1.0, 1.0], size=(n, _PROBES))
