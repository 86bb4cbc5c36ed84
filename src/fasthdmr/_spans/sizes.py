"""Number of splines of each single variable: the default, or more where generalised cross-validation is lower."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._spans.additive_fit import AdditiveFit
from fasthdmr._spans.axes import Axis, Profile
from fasthdmr._spans.basis import Basis, distinct_rows, informative_rows
from fasthdmr._support.scale import Deviations
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats

CANDIDATES = (8, 12, 16, 24, 32)
"""Candidate numbers of splines above the default."""

SIZED_ROWS = 4000
"""The approximate size of the subsample from which sizes are chosen; its rows are evenly spaced, not random."""

_GAIN = 0.9  # the largest ratio of new to old criterion at which a larger size is chosen
_INFLATION = 1.5  # factor of the degrees of freedom in GCV, which makes overfitting rarer
_ROWS_PER_SPLINE = 8  # the least
_MOST_LEVELS = 64  # a categorical variable with more levels has one indicator for all the others
_MOST_COLUMNS = 1500  # with more columns in all, every variable keeps the default
_LEAST_RIDGE = 1e-12  # makes singular systems positive definite if the ridge is 0


def rows_for_sizes(n_rows: int) -> slice:
    """Return the rows of the subsample from which sizes are chosen."""
    return slice(None, None, max(1, n_rows // SIZED_ROWS))


@one_blas_thread()  # rounding of sums must not depend on the number of threads
def main_sizes(
    X: NDArray[Any],
    weights: Floats | None,
    values: Floats,
    variables: list[int],
    rule: int,
    degree: int,
    ridge: float,
    n_levels: Mapping[int, int],
    n_threads: int,
) -> dict[int, int]:
    """Choose the number of splines of single variables by generalised cross-validation (GCV) of the additive fit.

    The main effect of a variable is refitted with more splines to the residual of the other variables. It gets the
    larger size if this lowers the GCV by a tenth, as for an oscillating effect. Else more splines would fit noise.

    Parameters
    ----------
    X : ndarray of shape (N, n)
    weights : ndarray of shape (N,) or None
    values : ndarray of shape (N, K)
        The outputs. Sizes are the same for all. The error of each output is divided by its variance.
    variables : list of int
    rule : int
        The default size.
    degree : int
    ridge : float
        The constant c of the penalty c / (N p).
    n_levels : dict of int to int
        The number of levels of each categorical variable. These take part in the additive fit.
    n_threads : int

    Returns
    -------
    dict of int to int
        Sizes of the variables that get more splines than the default.
    """
    # Repeated rows become weights, so that they do not look like independent observations.
    if weights is not None or informative_rows(X, None) < len(X):
        rows, mass = distinct_rows(np.column_stack([X, values]), weights)
        if weights is not None or len(rows) < len(X):
            X, values, weights = rows[:, : X.shape[1]], rows[:, X.shape[1] :], mass
    share = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
    n_rows = 1 / np.sum(share**2)
    deviations = Deviations.of(values, weights)
    varies = deviations.variance > 0
    target = deviations.values[:, varies] / np.sqrt(deviations.variance[varies])
    most = min(_MOST_COLUMNS, n_rows / 2)
    varying = np.fmin.reduce(X, initial=np.inf) < np.fmax.reduce(X, initial=-np.inf)
    if rule * sum(bool(varying[j]) for j in variables if j not in n_levels) > most:
        return {}
    columns = [j for j in variables if j not in n_levels]
    profiles = dict(zip(columns, Profile.of(X, weights, columns, n_threads), strict=True))
    for j, profile in profiles.items():
        profile.check_range(j)
    factors = {j: count for j in variables if (count := n_levels.get(j, 0)) > 1}
    numeric = [j for j, profile in profiles.items() if not profile.is_constant]
    n_columns = len(numeric) * rule + sum(min(count, _MOST_LEVELS) for count in factors.values())
    if target.shape[1] == 0 or not numeric or n_columns > most:
        return {}

    def axis(j: int, size: int) -> Axis:
        if j in factors:
            return Axis.of_levels(j, factors[j], _MOST_LEVELS)
        return profiles[j].axes(j, [size], min(degree, size - 1))[0]

    def spans(of: list[int], size: int) -> Basis:
        return Basis([axis(j, size) for j in of], [(j,) for j in of], [[a] for a in range(len(of))])

    n_targets, used = target.shape[1], sorted([*numeric, *factors])
    fit = AdditiveFit(spans(used, rule), X, weights, target, ridge / n_rows, joint=True, n_threads=n_threads)
    coefficients, freedom = fit.solve(list(range(len(used))))
    effects = fit.effects(X, share, coefficients)
    left = target - effects.sum(axis=1)

    def criterion(squares: float, freedom: float) -> float:
        return float(squares / max(1 - _INFLATION * (1 + freedom) / n_rows, 1e-3) ** 2)

    before = criterion(float(np.sum(share @ left**2)), freedom)
    others = {j: freedom - fit.solve([a])[1] for a, j in enumerate(used) if j in profiles}
    partial = {j: left + effects[:, a] for a, j in enumerate(used) if j in profiles}
    tried: dict[int, dict[int, float]] = {j: {} for j in numeric}
    # The largest size has the smallest residual. A variable whose residual is too large there is not tried further.
    for size in reversed([size for size in CANDIDATES if rule < size <= n_rows / _ROWS_PER_SPLINE]):
        residuals = np.hstack([partial[j] for j in numeric])
        finer = AdditiveFit(
            spans(numeric, size), X, weights, residuals, ridge / n_rows, joint=False, n_threads=n_threads
        )
        gains = []
        for a, j in enumerate(numeric):
            squares, own = finer.residual(a, slice(a * n_targets, (a + 1) * n_targets))
            if criterion(squares, freedom) < _GAIN * before:
                tried[j][size] = criterion(squares, others[j] + own)
                gains.append(j)
        numeric = gains
        if not numeric:
            break
    best = {j: min(sorted(found), key=found.__getitem__) for j, found in tried.items() if found}
    return {j: size for j, size in best.items() if tried[j][size] < _GAIN * before}
