"""Bias of indices on finite samples, from decompositions of two halves of the rows.

Indices on few rows differ from those on many by chance, and also on average. The ridge shrinks components of many
columns. Components of low order absorb what higher ones have in common with their columns on these rows. `Sa` includes
the variance of the error of a component. All three decrease as the number of rows increases.

Let the bias be proportional to N^-r. Then the indices on half of the rows differ on average by (2^r - 1) times the bias
from those on all rows. In the mean over two halves that complement each other, random errors cancel to first order.

r is 1 for what is proportional to degrees of freedom, p/N. It is less for functions whose variance comes from rare
rows, such as products of unbounded variables, and because numbers of splines increase with N. In simulations with 2,000
rows it was .45 to .85.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fasthdmr._solve.decomposed import Decomposed
from fasthdmr._solve.hierarchy import Solution, indices_of
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats
from fasthdmr._support.weights import RowCounts
from fasthdmr._uncertainty.blocks import random_blocks
from fasthdmr._uncertainty.refits import all_indices, solve_again

RATE = 2 / 3
"""The exponent r."""

_FEWEST_ROWS = 4


def bias_of_indices(
    decomposition: Decomposed,
    rows: Floats,
    weights: Floats,
    values: Floats | None,
    n_effective: float,
    divisors: Floats | None,
    n_threads: int,
) -> list[Floats]:
    """Estimate by how much indices are smaller on many rows, on average.

    Parameters
    ----------
    decomposition : Decomposed
    rows : ndarray of shape (S, n)
        All rows of the fit, or a sample of them.
    weights : ndarray of shape (S,)
        Positive.
    values : ndarray of shape (S, K) or None
        The values of the black box, if it is known by its values only.
    n_effective : float
        The effective number of rows of the fit, (sum of w)² / (sum of w²).
    divisors : ndarray of shape (K,) or None
        See `Uncertainty`.
    n_threads : int

    Returns
    -------
    list of ndarray
        In the order of `INDICES`, each (C, K) or (n, K).
    """
    mass = weights / weights.sum()
    sampled = min(1.0, RowCounts.of(len(rows), weights).kish / n_effective)

    def solved(chosen: NDArray[np.int64]) -> list[Solution]:
        given, share = None if values is None else values[chosen], sampled * mass[chosen].sum()
        with one_blas_thread():
            return solve_again(
                decomposition.dictionary,
                decomposition.solutions,
                rows[chosen],
                weights[chosen],
                given,
                share,
                n_threads=n_threads,
            )

    is_whole = sampled > 1 - 1e-9
    whole = decomposition.solutions if is_whole else solved(np.arange(len(rows)))
    all_rows = _indices(decomposition, [whole], [1.0], divisors)
    if len(rows) < _FEWEST_ROWS:
        return [np.zeros_like(index) for index in all_rows]
    order, filled = random_blocks(len(rows), 2)
    halves = [np.sort(half[there]) for half, there in zip(order.reshape(2, -1), filled.reshape(2, -1), strict=True)]
    of_halves = _indices(
        decomposition, [solved(half) for half in halves], [mass[half].sum() for half in halves], divisors
    )
    factor = sampled**RATE / (2**RATE - 1)
    return [factor * (half - one) for half, one in zip(of_halves, all_rows, strict=True)]


def _indices(
    decomposition: Decomposed,
    parts: Sequence[Sequence[Solution]],
    shares: Sequence[float],
    divisors: Floats | None,
) -> list[Floats]:
    """Return all indices from the mean variances and covariances over parts of the rows with these shares.

    Means of indices themselves would vary more, because they have different divisors.
    """
    K = len(decomposition.solutions)
    Sa, S = np.zeros((2, len(decomposition.subspaces), K))
    total = np.zeros(K) if divisors is None else np.asarray(divisors, dtype=np.float64)
    for solutions, share in zip(parts, shares, strict=True):
        pairs = list(zip(solutions, decomposition.solutions, strict=True))
        units = [0.0 if s.is_constant else (first.scale / s.scale) ** 2 / share for s, first in pairs]
        variance, covariance = indices_of(solutions, decomposition.subspaces, units)
        Sa, S = Sa + variance, S + covariance
        if divisors is None:
            total = total + [s.total / unit if unit else 0.0 for s, unit in zip(solutions, units, strict=True)]
    varies = (total > 0) & ~np.array([first.is_constant for first in decomposition.solutions])
    scale = np.divide(1.0, total, out=np.zeros(K), where=varies)
    return all_indices(decomposition, scale * Sa, scale * S)
