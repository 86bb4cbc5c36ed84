"""Sizes of single variables: the default, or more splines if generalised cross-validation prefers them (spec 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr import _core
from fasthdmr._spans.basis import Profile, axis_columns, distinct_rows
from fasthdmr._support.scale import Deviations
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats

CANDIDATES = (8, 12, 16, 24, 32)
"""Candidate numbers of splines above the default."""

SIZED_ROWS = 4000
"""The approximate size of the subsample from which sizes are chosen; its rows are evenly spaced, not random."""

_GAIN = 0.9  # the largest ratio of new to old criterion at which a larger size is chosen
_INFLATION = 1.5  # factor of the degrees of freedom in GCV, which makes overfitting rarer
_ROWS_PER_SPLINE = 8
_MOST_COLUMNS = 1500


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
) -> dict[int, int]:
    """Choose the number of splines of single variables by generalised cross-validation (GCV) of the additive fit.

    A variable gets more splines than the default if its main effect, refitted to the residual of the other variables,
    then lowers the GCV by a tenth, as for an oscillating effect. For other effects, more splines would only fit noise.

    Parameters
    ----------
    X : ndarray of shape (N, n)
    weights : ndarray of shape (N,) or None
    values : ndarray of shape (N, K)
        The outputs. All get the same sizes; their errors are divided by their variances.
    variables : list of int
    rule : int
        The default size.
    degree : int
    ridge : float
        The constant c of the penalty c / (N p).

    Returns
    -------
    dict of int to int
        Sizes of the variables that get more splines than the default.
    """
    # Repeated rows become weights, so that they do not look like independent observations.
    rows, mass = distinct_rows(np.column_stack([X, values]), weights)
    if weights is not None or len(rows) < len(X):
        X, values, weights = rows[:, : X.shape[1]], rows[:, X.shape[1] :], mass
    share = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
    n_rows = 1 / np.sum(share**2)
    deviations = Deviations.of(values, weights)
    varies = deviations.variance > 0
    target = deviations.values[:, varies] / np.sqrt(deviations.variance[varies])
    profiles = {j: Profile.of(X[:, j], weights) for j in variables}
    for j, profile in profiles.items():
        profile.check_range(j)
    used = [j for j in variables if not profiles[j].is_constant]
    if target.shape[1] == 0 or not used or len(used) * rule > min(_MOST_COLUMNS, n_rows / 2):
        return {}

    def smoother(j: int, size: int) -> Smoother:
        (axis,) = profiles[j].axes(0, [size], min(degree, size - 1))
        columns = axis_columns(axis, np.asarray(X[:, j], dtype=np.float64))
        return Smoother(columns - share @ columns, share, ridge / (n_rows * columns.shape[1]))

    blocks = {j: smoother(j, rule) for j in used}
    together = Smoother(
        np.hstack([b.columns for b in blocks.values()]),
        share,
        np.concatenate([np.full(b.columns.shape[1], b.ridge) for b in blocks.values()]),
    )
    coefficients = together.fit(target)
    left = target - together.columns @ coefficients

    def criterion(residual: Floats, spent: float) -> float:
        return float(np.sum(share @ residual**2) / max(1 - _INFLATION * (1 + spent) / n_rows, 1e-3) ** 2)

    before, spent = criterion(left, together.spent), together.spent
    found, first = {}, 0
    for j, block in blocks.items():
        m = block.columns.shape[1]
        partial = left + block.columns @ coefficients[first : first + m]
        first += m
        sizes = [size for size in CANDIDATES if rule < size <= n_rows / _ROWS_PER_SPLINE]
        tried = {}
        # The largest size has the smallest residual. If it does not gain enough, no other size can.
        for size in reversed(sizes):
            finer = smoother(j, size)
            residual = partial - finer.columns @ finer.fit(partial)
            if criterion(residual, spent) >= _GAIN * before:
                break
            tried[size] = criterion(residual, spent - block.spent + finer.spent)
        best = min(sorted(tried), key=lambda size: tried[size], default=rule)
        if tried and tried[best] < _GAIN * before:
            found[j] = best
    return found


class Smoother:
    """Ridge regression on centred columns under the measure.

    Parameters
    ----------
    columns : ndarray of shape (N, p)
    share : ndarray of shape (N,)
        Weights that sum to 1.
    ridge : float or ndarray of shape (p,)
    """

    def __init__(self, columns: Floats, share: Floats, ridge: Any) -> None:
        self.columns, self.share, self.ridge = columns, share, ridge
        products = (columns * share[:, None]).T @ columns
        self.system = products.copy()
        self.system.flat[:: len(products) + 1] += ridge + 1e-12
        solved = _core.solve_positive(self.system, np.asfortranarray(products), 1)
        self.spent = float(np.trace(solved))

    def fit(self, target: Floats) -> Floats:
        """Return the coefficients, (p, K)."""
        right = (self.columns * self.share[:, None]).T @ target
        return _core.solve_positive(self.system, np.asfortranarray(right), 1)
