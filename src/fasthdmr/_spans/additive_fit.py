"""Ridge regression on the spans of single variables, for their sizes and for concurvity."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr import _core
from fasthdmr._spans.basis import Basis
from fasthdmr._spans.span_sums import Pairs, SpanSums
from fasthdmr._support.typing import Floats


class AdditiveFit:
    """Ridge regression on the spans of single variables, from the covariances of their columns.

    Parameters
    ----------
    spans : Basis
        Of single variables.
    X : ndarray of shape (N, n)
    weights : ndarray of shape (N,) or None
    targets : ndarray of shape (N, K)
    ridge : float
        The penalty of a span of p columns is this number divided by p.
    joint : bool
        Whether spans will be fitted jointly, which needs the covariances of columns of different spans.
    n_threads : int

    Attributes
    ----------
    first : ndarray of shape (variables + 1,), int64
        The first column of each span. The last entry is the number of columns.
    penalties : ndarray of shape (columns,)
    right : ndarray of shape (columns, K)
        Covariances of the columns and the targets.
    variance : ndarray of shape (K,)
        Of the targets.
    """

    def __init__(
        self,
        spans: Basis,
        X: NDArray[Any],
        weights: Floats | None,
        targets: Floats,
        ridge: float,
        *,
        joint: bool,
        n_threads: int = 1,
    ) -> None:
        self.spans, self.n_threads = spans, n_threads
        pairs: Pairs = "all" if joint else "inside"
        sums = SpanSums.of_values(spans, X, weights, targets, pairs=pairs, n_threads=n_threads)
        self._gram = sums.gram
        self.first = np.concatenate([[0], np.cumsum(spans.sizes)])
        self.penalties = ridge / np.repeat(spans.sizes, spans.sizes)
        self.right = sums.sums.output_with_columns.reshape(-1, targets.shape[1])[1:]
        self.variance = sums.sums.output_variance

    def system(self, of: list[int]) -> Floats:
        """Return the Gram matrix of the columns of some spans, with the penalties on its diagonal."""
        matrix = self._gram.covariance(of, self.n_threads)
        matrix.flat[:: len(matrix) + 1] += self.penalties[self._columns(of)]
        return matrix

    def solve(self, of: list[int], targets: slice = slice(None)) -> tuple[Floats, float]:
        """Return the coefficients of some spans, fitted jointly, and the effective degrees of freedom."""
        columns, matrix = self._columns(of), self.system(of)
        right = np.hstack([self.right[columns, targets], np.eye(len(columns))])
        solved = _core.solve_positive(matrix, np.asfortranarray(right), self.n_threads)
        coefficients, inverse = np.hsplit(solved, [-len(columns)])
        return coefficients, float(len(columns) - self.penalties[columns] @ np.diag(inverse))

    def residual(self, a: int, targets: slice) -> tuple[float, float]:
        """Return the residual variance of targets on span `a` alone, summed, and the effective degrees of freedom."""
        coefficients, freedom = self.solve([a], targets)
        columns = self._columns([a])
        # The Gram matrix times the coefficients is the right-hand side less the penalties times the coefficients.
        explained = np.sum(coefficients * (self.right[columns, targets] + self.penalties[columns, None] * coefficients))
        return float(np.sum(self.variance[targets]) - explained), freedom

    def effects(self, X: NDArray[Any], share: Floats, coefficients: Floats) -> Floats:
        """Return the centred main effects at the rows, (N, variables, K)."""
        n_targets = coefficients.shape[1]
        begin = np.concatenate([[0], np.cumsum(np.repeat(self.spans.sizes, n_targets))])
        column = np.concatenate([np.tile(np.arange(f, e), n_targets) for f, e in pairwise(self.first)])
        weight = np.concatenate([coefficients[f:e].T.ravel() for f, e in pairwise(self.first)])
        values = self.spans.core.evaluate(X, begin, column + 1, weight, self.n_threads)
        return (values - share @ values).reshape(len(X), -1, n_targets)

    def _columns(self, of: list[int]) -> NDArray[np.int64]:
        return np.concatenate([np.arange(self.first[a], self.first[a + 1]) for a in of])
