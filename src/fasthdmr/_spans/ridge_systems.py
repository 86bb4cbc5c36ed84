"""Ridge regressions by the Gram matrix of the columns, for one penalty or approximately for all (spec 3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from fasthdmr import _core
from fasthdmr._spans.penalties import Quadratures
from fasthdmr._support.typing import Floats

EXACT = 600
"""Up to this size of a system, degrees of freedom are exact. Beyond it they are estimated from random signs."""

_PROBES = 32


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


def factored(matrix: Floats, factor: float, diagonal: Floats, n_threads: int) -> Callable[[Floats], Floats]:
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
        return factored(self.products, factor, self.diagonal, self.n_threads)

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


def random_signs(n: int) -> Floats:
    """Return random signs for Hutchinson's estimator of a trace. The seed is fixed."""
    return np.random.default_rng(0).choice([-1.0, 1.0], size=(n, _PROBES))
