"""From a triangle to component functions: the b x b algebra of spec 3, done in C++."""

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
"""Columns, scaled to unit norm, count as dependent below this, or below their own rounding where that is more."""

_MISSED = 1e-8  # deviations of f, by which the components may miss it without a word,
_LARGE = 8.0  # unless the terms of f are nearly as large, and so is its own rounding


class Projection(Protocol):
    """How the components of one output were found, in spans."""

    @property
    def n_effective(self) -> float:
        """The number of rows that the weights are worth."""
        ...

    def unused(
        self, rows: Any, dictionary: Any, output: int, black_box: Floats, left: Floats, work: float = ...
    ) -> Floats:
        """Return what is missed at rows that are left out one by one.

        Parameters
        ----------
        rows : Rows
        dictionary : SpanDictionary
        output : int
        black_box : ndarray of shape (1 + b,)
            Its coefficients, in units of the output's scale.
        left : ndarray of shape (m,)
            What is missed at the rows when they are used.
        work : float
            Multiplications that the leverages of different systems may take.
        """
        ...


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
        Var(f_u) and Cov(f_u, f), in units of scale².
    total : float
        Var(f), in units of scale².
    black_box : csc_array of shape (p, 1)
        The black box over the same columns.
    coef : ndarray of shape (b,)
        The coefficients beta of the columns that it is made of.
    rank : int or None
        Numerical rank of the columns that are the spans, the constant included; None where spans have a ridge, or where
        there are none.
    is_constant : bool
        Whether the black box varies by no more than rounding.
    scale : float
        A power of two: 1 but for outputs whose squares would leave the range of numbers.
    projection : Projection or None
        How the components were found, in spans.
    alpha : float or None
        The penalty of the ridge regression that coef is from; None: of none.
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
        """Return the solution for f, this being the one for (f - shift) / scale over columns divided by others.

        Parameters
        ----------
        shift, scale : float
        columns : ndarray of shape (b,)
            What the columns had been divided by.

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
                "The coefficients of the columns overflow: y is too large beside them. Bring both closer to one."
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
        """f_0 plus the kept components, as one more component."""
        weights = self.weights @ kept.astype(np.float64)
        weights[0] += self.constant
        return csc_array(weights[:, None])


def indices_of(
    solutions: Sequence[Solution], subspaces: Sequence[Subspace], divisors: Sequence[float]
) -> tuple[Floats, Floats]:
    """Return Sa and S, each (C, K): shares of divisors in units of each output's scale², which are 0 for none."""
    indices = np.zeros((2, len(subspaces), len(solutions)))
    for k, (solution, divisor) in enumerate(zip(solutions, divisors, strict=True)):
        scale = 0.0 if divisor == 0 else 1 / divisor
        number = {u: c for c, u in enumerate(solution.subspaces)}
        there = [c for c, u in enumerate(subspaces) if u in number]
        own = [number[subspaces[c]] for c in there]
        indices[:, there, k] = scale * np.array([solution.variance[own], solution.covariance[own]])
    return indices[0], indices[1]


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
    RankWarning
        If the columns are linearly dependent; components are then those of least norm. Or if the components are so
        large, as those of nearly dependent columns are, that rounding keeps their sum from f.
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
    # The largest term of f: what its variation has to be compared with.
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
    """Warn of collinear columns, and of components that are too large to sum to f (arguments: their and its terms)."""
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
            f"The terms of the components are up to {largest / scale:.1g} times as large as those of f, so rounding "
            f"keeps their sum about {rounding / deviation:.1g} standard deviations of f from f. Fewer columns that "
            "nearly depend on each other, or columns whose means are taken off, bring it nearer."
        )
    if complaints:
        warn(" ".join(complaints), RankWarning)


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


def least_squares(triangle: Floats) -> Floats:
    """Return intercept and coefficients of y on (1, B), of least norm for columns scaled to unit norm.

    Parameters
    ----------
    triangle : ndarray of shape (b + 2, b + 2)
        R of the QR of the weighted columns (1, B, y).

    Returns
    -------
    ndarray of shape (1 + b,)
        Columns that are constant up to rounding have the coefficient 0.
    """
    with one_blas_thread():
        return _core.least_squares(np.asfortranarray(triangle), RANK_TOLERANCE)
