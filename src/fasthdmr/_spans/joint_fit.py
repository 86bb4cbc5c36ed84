"""The joint projection of values on all spans: ridge regression with a penalty chosen by cross-validation (spec 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr import _core
from fasthdmr._spans.basis import MAX_DUAL_ROWS, Basis
from fasthdmr._spans.dual import Dual
from fasthdmr._spans.leave_out import JointProjection
from fasthdmr._spans.ridge_systems import EXACT, ByLevels, Primal, Ridge
from fasthdmr._support.typing import Floats

_INFLATION = 1.5
"""Factor of the degrees of freedom in generalised cross-validation (GCV), which makes undersmoothing rarer."""

_LARGEST_FACTOR = 1e4
_NEAR = 32.0  # up to this ratio of factors, approximations around one of them are exact enough to choose another one
_MOST_CENTRES = 4
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
