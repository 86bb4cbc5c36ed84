"""From the R factor of the columns to component functions: linear algebra on b x b matrices in C++ (spec 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from fasthdmr import _core
from fasthdmr._dictionaries.dictionary import Labels
from fasthdmr._support.scale import is_constant
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats
from fasthdmr._support.warnings import RankWarning, warn

RANK_TOLERANCE = 1e-12
"""Relative tolerance of the numerical rank, for columns of unit norm. Columns with large means have a larger one."""

_MISSED = 1e-8  # a warning needs a rounding error of the sum of components above this, in standard deviations of f,
_LARGE = 8.0  # and terms of components that are larger than those of f by this factor: f has rounding errors itself


class Projection(Protocol):
    """The projection on spans from which the components of one output were computed."""

    @property
    def n_effective(self) -> float:
        """The effective number of rows."""
        ...

    def leave_one_out(
        self, rows: Any, dictionary: Any, output: int, black_box: Floats, left: Floats, work: float = ...
    ) -> Floats:
        """Return the leave-one-out residuals.

        Parameters
        ----------
        rows : Rows
        dictionary : SpanDictionary
        output : int
        black_box : ndarray of shape (1 + b,)
            Its coefficients, in units of the output's scale.
        left : ndarray of shape (m,)
            The ordinary residuals at the rows.
        work : float
            The number of multiplications that the leverages may take; more than that are estimated.
        """
        ...


@dataclass(frozen=True, eq=False)
class Solution:
    """The hierarchically orthogonal components of one output.

    Attributes
    ----------
    subspaces : list of tuple of int, length C
    weights : csc_array of shape (p, C)
        The coefficients of each component with respect to the constant and the columns of the dictionary.
    constant : float
        f_0.
    variance, covariance : ndarray of shape (C,)
        Var(f_u) and Cov(f_u, f), in units of scale².
    total : float
        Var(f), in units of scale².
    black_box : csc_array of shape (p, 1)
        The coefficients of the black box with respect to the same columns.
    coef : ndarray of shape (b,)
        The coefficients beta of the columns whose linear combination is the black box.
    rank : int or None
        Numerical rank of the columns that components are projected on, including the constant. None for projections
        with a ridge, and if there is no projection.
    is_constant : bool
        Whether the black box is constant up to rounding.
    scale : float
        A power of two. It is 1 unless squares of the output would overflow or underflow.
    projection : Projection or None
        The projection on splines or bins, if there was one.
    alpha : float or None
        The penalty of the ridge regression that `coef` is from, if there was one.
    """

    subspaces: list[Subspace]
    weights: csc_array
    constant: float
    variance: Floats
    covariance: Floats
    total: float
    black_box: csc_array
    coef: Floats
    rank: int | None
    is_constant: bool
    scale: float = 1.0
    projection: Projection | None = None
    alpha: float | None = None

    def rescaled(self, shift: float, scale: float, columns: Floats) -> Solution:
        """Return the solution for f, if this is the solution for (f - shift) / scale with scaled columns.

        Parameters
        ----------
        shift, scale : float
        columns : ndarray of shape (b,)
            The number that each column was divided by.

        Raises
        ------
        ValueError
            If a coefficient overflows.
        """
        if shift == 0 and scale == 1 and (columns == 1).all():
            return self
        constant = shift + scale * self.constant
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            factor = scale / np.concatenate([[1.0], columns])
            black_box = factor * self.black_box.toarray()[:, 0]
            weights = self.weights.copy()
            weights.data *= factor[weights.indices]
        black_box[0] += shift
        if not (np.isfinite(black_box).all() and np.isfinite(weights.data).all()):
            raise ValueError(
                "The coefficients of the columns overflow, because y is too large relative to the columns. Scale both "
                "to about one."
            )
        return replace(
            self,
            weights=weights,
            constant=constant,
            black_box=csc_array(black_box[:, None]),
            coef=black_box[1:],
            is_constant=self.is_constant or bool(is_constant(self.total, scale, constant)),
            scale=scale,
        )

    def reduced(self, kept: NDArray[np.bool_]) -> csc_array:
        """Return the coefficients of f_0 plus the kept components."""
        weights = self.weights @ kept.astype(np.float64)
        weights[0] += self.constant
        return csc_array(weights[:, None])


def indices_of(
    solutions: Sequence[Solution], subspaces: Sequence[Subspace], divisors: Sequence[float]
) -> tuple[Floats, Floats]:
    """Return Sa and S, each (C, K): variances and covariances divided by `divisors`.

    Divisors are in units of the scale² of each output. If a divisor is 0, its indices are 0.
    """
    indices = np.zeros((2, len(subspaces), len(solutions)))
    for k, (solution, divisor) in enumerate(zip(solutions, divisors, strict=True)):
        scale = 0.0 if divisor == 0 else 1 / divisor
        number = {u: c for c, u in enumerate(solution.subspaces)}
        there = [c for c, u in enumerate(subspaces) if u in number]
        own = [number[subspaces[c]] for c in there]
        indices[:, there, k] = scale * np.array([solution.variance[own], solution.covariance[own]])
    return indices[0], indices[1]


def solve(triangle: Floats, labels: Labels, beta: Floats, n_threads: int) -> Solution:
    """Decompose f = beta_0 + B beta by the top-down pass (spec 3).

    Parameters
    ----------
    triangle : ndarray of shape (1 + b, 1 + b)
        R factor of the weighted matrix (1, B), for weights that sum to 1.
    labels : Labels
    beta : ndarray of shape (1 + b,)
    n_threads : int

    Returns
    -------
    Solution

    Warns
    -----
    RankWarning
        If the columns are collinear; the minimum-norm solution is returned. Also if the columns are so nearly collinear
        that, because of rounding, the components do not sum to f.
    """
    with one_blas_thread():
        result = _core.top_down(
            np.asfortranarray(triangle),
            labels.subspaces,
            labels.column_subspace,
            np.ascontiguousarray(beta),
            RANK_TOLERANCE,
            n_threads,
        )
    begin = result["begin"]
    weights = csc_array((result["weight"], result["column"], begin), shape=(len(beta), len(begin) - 1))
    sizes = np.linalg.norm(triangle, axis=0)  # root mean squares
    # The largest term of f. Variation of f is rounding if it is tiny relative to this.
    scale = float(np.max(np.abs(beta) * sizes, initial=0.0))
    largest = float(np.max(np.abs(weights.data) * sizes[weights.indices], initial=0.0))
    _warn(result["rank"], len(beta), largest, scale, np.sqrt(result["total"]))
    return Solution(
        subspaces=labels.subspaces,
        weights=weights,
        constant=result["constant"],
        variance=result["variance"],
        covariance=result["covariance"],
        total=result["total"],
        black_box=csc_array(beta[:, None]),
        coef=beta[1:],
        rank=result["rank"],
        is_constant=bool(is_constant(result["total"], 1.0, scale)),
    )


def _warn(rank: int, p: int, largest: float, scale: float, deviation: float) -> None:
    """Warn of collinear columns, and of components whose sum has large rounding errors.

    `largest` and `scale` are the largest terms of the components and of f, `deviation` is the standard deviation of f.
    """
    complaints = []
    if rank < p:
        complaints.append(
            f"The {p} feature columns, the constant included, have numerical rank {rank} (relative tolerance "
            f"{RANK_TOLERANCE:g}, or the rounding of columns with large means): they are collinear, so components are "
            "not unique, and the minimum-norm solution is returned. More rows, or fewer collinear variables, make them "
            "unique."
        )
    rounding = np.finfo(float).eps * largest
    if largest > _LARGE * scale and rounding > _MISSED * deviation > 0:
        complaints.append(
            f"The terms of the components are up to {largest / scale:.1g} times as large as those of f, so their sum "
            f"differs from f by about {rounding / deviation:.1g} standard deviations of f because of rounding. Centre "
            "the columns, or leave out columns that are nearly collinear."
        )
    if complaints:
        warn(" ".join(complaints), RankWarning)


def eta_and_nu(triangle: Floats, labels: Labels, beta: Floats, n_threads: int) -> tuple[Floats, Floats]:
    """Return the paper's A and nu, where A nu = beta (spec 3). Arguments are those of `solve`."""
    with one_blas_thread():
        return _core.a_and_nu(
            np.asfortranarray(triangle),
            labels.subspaces,
            labels.column_subspace,
            np.ascontiguousarray(beta),
            RANK_TOLERANCE,
            n_threads,
        )


def least_squares(triangle: Floats) -> Floats:
    """Return intercept and coefficients of the regression of y on B.

    For collinear columns, this is the minimum-norm solution for columns scaled to unit norm.

    Parameters
    ----------
    triangle : ndarray of shape (b + 2, b + 2)
        R factor of the weighted matrix (1, B, y).

    Returns
    -------
    ndarray of shape (1 + b,)
        The coefficient of a column that is constant up to rounding is 0.
    """
    with one_blas_thread():
        return _core.least_squares(np.asfortranarray(triangle), RANK_TOLERANCE)
