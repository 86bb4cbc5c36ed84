"""The joint projection of values on all spans: ridge regression with a penalty chosen by cross-validation (spec 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr import _core
from fasthdmr._spans.axes import axis_columns, axis_kernel
from fasthdmr._spans.basis import MAX_DUAL_ROWS, Basis, tensor_columns
from fasthdmr._spans.leave_out import JointProjection
from fasthdmr._support.steps import steps
from fasthdmr._support.typing import Floats

_INFLATION = 1.5
"""Factor of the degrees of freedom in generalised cross-validation (GCV), which makes undersmoothing rarer."""

_LARGEST_FACTOR = 1e4
_PROBES = 32
EXACT = 600
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
    freedom_of: dict[float, float] = {}

    def criterion(factor: float) -> float:
        left, freedom = system.fit(factor)
        freedom_of[factor] = freedom
        share = 1 - _INFLATION * (1 + freedom) / n_effective
        return float(np.sum(left[usable] / variance[usable]) / share**2) if share > 0 else np.inf

    if factor is None:
        factor = _minimise(criterion, least)
    coefficients = np.zeros(shape, order="F")
    coefficients[1:] = system.coefficients(factor)
    projection = JointProjection(basis, factor, freedom_of[factor], n_effective) if freedom_of else None
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


class Primal:
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
        self.products, self.right, self.ridge, self.variance = products, right, ridge, variance
        self.n_threads = n_threads
        self.solutions: dict[float, Floats] = {}  # those of `fit`
        p = len(ridge)
        self.probes = np.eye(p) if p <= EXACT else random_signs(p)
        self.probes_norm = 1.0 if p <= EXACT else float(_PROBES)

    def _solve(self, factor: float, right: Floats) -> Floats:
        system = self.products.copy()
        system.flat[:: len(system) + 1] += factor * self.ridge
        return _core.solve_positive(system, np.asfortranarray(right), self.n_threads)

    def fit(self, factor: float) -> tuple[Floats, float]:
        """Return the mean squared residuals, (K,), and the degrees of freedom."""
        root = np.sqrt(factor * self.ridge)[:, None]
        both = self._solve(factor, np.hstack([self.right, root * self.probes]))
        K = self.right.shape[1]
        a, solved = both[:, :K].copy(), both[:, K:]
        self.solutions[factor] = a
        left = self.variance - np.sum(a * self.right, axis=0) - factor * np.sum(self.ridge[:, None] * a**2, axis=0)
        freedom = len(self.ridge) - float(np.sum(root * self.probes * solved)) / self.probes_norm
        return np.maximum(left, 0.0), freedom

    def coefficients(self, factor: float) -> Floats:
        """Return the coefficients, (p, K)."""
        return self.solutions[factor] if factor in self.solutions else self._solve(factor, self.right)


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

    def _solve(self, factor: float, right: Floats) -> Floats:
        return self.gram.solve(self.spans, factor / self.n_effective, np.asfortranarray(right))


class Dual:
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
        centred = kernel - mean - mean[:, None] + share @ mean
        self.kernel = root * centred * root.T
        self.right = root * (values - share @ values)
        self.root, self.share, self.columns, self.basis, self.scale = root, share, columns, basis, scale
        self.n_threads = n_threads

    def _solve(self, factor: float, right: Floats) -> Floats:
        system = self.kernel.copy()
        system.flat[:: len(system) + 1] += factor
        return _core.solve_positive(system, np.asfortranarray(right), self.n_threads)

    def fit(self, factor: float) -> tuple[Floats, float]:
        """Return the mean squared residuals, (K,), and the degrees of freedom."""
        n_rows = len(self.kernel)
        probes = np.eye(n_rows) if n_rows <= EXACT else random_signs(n_rows)
        both = self._solve(factor, np.hstack([self.right, probes]))
        K = self.right.shape[1]
        left = np.sum((factor * both[:, :K]) ** 2, axis=0)
        norm = 1.0 if n_rows <= EXACT else float(_PROBES)
        return left, n_rows - factor * float(np.sum(probes * both[:, K:])) / norm

    def coefficients(self, factor: float) -> Floats:
        """Return the coefficients, (p, K)."""
        rows = self.root * self._solve(factor, self.right)
        rows = rows - self.share[:, None] * rows.sum(axis=0)
        found = [tensor_columns(self.columns, axes).T @ rows for axes in self.basis.axes_of]
        result: Floats = self.scale[:, None] * np.vstack(found)
        return result


def _gram_of_rows(basis: Basis, columns: list[Floats], scale: Floats) -> Floats:
    """Return the sum over the spans of their scale times the products of their columns at all pairs of rows, (N, N).

    The columns of a span are products of those of its axes, so these products are, too. The sum over all pairs of axes
    is a quadratic form.
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
    in_pairs = np.flatnonzero(quadratic.any(axis=0) | quadratic.any(axis=1))
    quadratic = quadratic[np.ix_(in_pairs, in_pairs)]
    gram = np.empty((n_rows, n_rows))
    for rows in steps(n_rows, float(n_axes * n_rows), _CACHED):
        kernels = np.array([axis_kernel(axis, each, rows) for axis, each in zip(basis.axes, columns, strict=True)])
        flat = kernels.reshape(n_axes, -1)
        of_pairs = flat[in_pairs]
        gram[rows] = (linear @ flat + np.einsum("am,am->m", of_pairs, quadratic @ of_pairs)).reshape(-1, n_rows)
        for axes, factor in others:
            gram[rows] += factor * np.prod(kernels[axes], axis=0)
    return gram


def random_signs(n: int) -> Floats:
    """Return random signs for Hutchinson's estimator of a trace. The seed is fixed."""
    return np.random.default_rng(0).choice([-1.0, 1.0], size=(n, _PROBES))
