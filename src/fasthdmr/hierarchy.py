"""From a triangle to component functions: the b x b algebra of spec 3, done in C++."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from scipy.sparse import csc_array

from fasthdmr import _core
from fasthdmr._threads import one_blas_thread
from fasthdmr.dictionary import Labels, Subspace

Floats = NDArray[np.float64]

RANK_TOLERANCE = 1e-12
"""Columns, scaled to unit norm, count as dependent below this."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The hierarchically orthogonal components of one output.

    Attributes
    ----------
    subspaces : list of tuple of int, length C
    weights : csc_array of shape (p, C)
        The components over the constant and the columns of the dictionary.
    constant : float
        f_0.
    variance, covariance : ndarray of shape (C,)
        Var(f_u) and Cov(f_u, f).
    total : float
        Var(f).
    black_box : csc_array of shape (p, 1)
        The black box over the same columns.
    coef : ndarray of shape (b,)
        The coefficients beta of the columns that it is made of.
    rank : int
        Numerical rank of the columns that were solved for.
    is_constant : bool
        Whether the black box varies by no more than rounding.
    """

    subspaces: list[Subspace]
    weights: csc_array
    constant: float
    variance: Floats
    covariance: Floats
    total: float
    black_box: csc_array
    coef: Floats
    rank: int
    is_constant: bool

    def reduced(self, kept: NDArray[np.bool_]) -> csc_array:
        """f_0 plus the kept components, as one more component."""
        weights = self.weights @ kept.astype(np.float64)
        weights[0] += self.constant
        return csc_array(weights[:, None])


def solve(triangle: Floats, labels: Labels, beta: Floats, n_threads: int) -> Solution:
    """Decompose f = beta_0 + B beta by the top-down pass of spec 3.

    Parameters
    ----------
    triangle : ndarray of shape (1 + b, 1 + b)
        R of the QR of the weighted columns (1, B), weights summing to 1.
    labels : Labels
    beta : ndarray of shape (1 + b,)
    n_threads : int

    Returns
    -------
    Solution

    Warns
    -----
    LinAlgWarning
        If the columns are linearly dependent; components are then those of least norm.
    """
    p = len(beta)
    with one_blas_thread():
        result = _core.top_down(
            np.asfortranarray(triangle),
            labels.subspaces,
            labels.column_subspace,
            np.ascontiguousarray(beta),
            RANK_TOLERANCE,
            n_threads,
        )
    if result["rank"] < p:
        warnings.warn(
            f"The {p} feature columns, the constant included, have numerical rank {result['rank']} (relative tolerance "
            f"{RANK_TOLERANCE:g}): components that depend on each other are not unique, and those of least norm are "
            "returned, which share equally. More rows, or fewer collinear variables, make them unique.",
            LinAlgWarning,
            stacklevel=2,
        )
    begin = result["begin"]
    # Root mean square of the largest term of f: what its variation has to be compared with.
    scale = float(np.max(np.abs(beta) * np.linalg.norm(triangle, axis=0), initial=0.0))
    return Solution(
        subspaces=labels.subspaces,
        weights=csc_array((result["weight"], result["column"], begin), shape=(p, len(begin) - 1)),
        constant=result["constant"],
        variance=result["variance"],
        covariance=result["covariance"],
        total=result["total"],
        black_box=csc_array(beta[:, None]),
        coef=beta[1:],
        rank=result["rank"],
        is_constant=bool(np.sqrt(result["total"]) <= RANK_TOLERANCE * scale),
    )


def eta_and_nu(triangle: Floats, labels: Labels, beta: Floats, n_threads: int) -> tuple[Floats, Floats]:
    """Return A, whose columns are the eta, and nu with A nu = beta (spec 3; arguments as for `solve`)."""
    with one_blas_thread():
        return _core.a_and_nu(
            np.asfortranarray(triangle),
            labels.subspaces,
            labels.column_subspace,
            np.ascontiguousarray(beta),
            RANK_TOLERANCE,
            n_threads,
        )
