"""Functions of variables with different marginals and a Gaussian copula: their components, exact up to quadrature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.interpolate import CubicSpline
from scipy.special import ndtr, ndtri

from bench.boxes import additive_part
from bench.exact import Components, equicorrelated

GRID = np.linspace(-6, 6, 241)  # normal scores; sums over equal steps are exact to 1e-9 for a Gaussian weight


@dataclass(frozen=True)
class Copula:
    """A sum of functions of one variable and of two. Every two variables have the same correlation of normal scores.

    The component of a pair is the residual of its function after projection on functions of its two variables, and
    that projection goes to these.
    """

    name: str
    rho: float
    margins: list[Any]
    singles: dict[int, Callable[[np.ndarray], np.ndarray]]
    pairs: dict[tuple[int, int], Callable[[np.ndarray, np.ndarray], np.ndarray]]

    @property
    def n_features(self) -> int:
        """The number of variables."""
        return len(self.margins)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return f on the rows."""
        singles = sum(g(X[:, j]) for j, g in self.singles.items())
        return singles + sum(g(X[:, i], X[:, j]) for (i, j), g in self.pairs.items())

    def sample(self, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and the function there."""
        cov = equicorrelated(self.n_features, self.rho)
        rng = np.random.default_rng(seed)
        scores = rng.multivariate_normal(np.zeros(self.n_features), cov, n_rows, method="cholesky")
        X = np.column_stack([self._values(j, z) for j, z in enumerate(scores.T)])
        return X, self(X)

    def components(self, X: np.ndarray) -> Components:
        """Return the component functions that are not zero, on the rows."""
        found: Components = {}
        for j, g in self.singles.items():
            weight = _normal(GRID)
            found[j,] = g(X[:, j]) - weight @ g(self._values(j, GRID))
        for (i, j), g in self.pairs.items():
            mean, of_i, of_j = self._additive_part((i, j), g)
            at_i, at_j = (CubicSpline(GRID, h)(self._scores(k, X[:, k])) for k, h in ((i, of_i), (j, of_j)))
            found[i,], found[j,] = found.get((i,), 0.0) + at_i, found.get((j,), 0.0) + at_j
            found[i, j] = g(X[:, i], X[:, j]) - mean - at_i - at_j
        return found

    def _values(self, variable: int, scores: np.ndarray) -> np.ndarray:
        """Return values of a variable from normal scores."""
        return self.margins[variable].ppf(ndtr(scores))

    def _scores(self, variable: int, values: np.ndarray) -> np.ndarray:
        """Return normal scores from values of a variable."""
        return np.clip(ndtri(self.margins[variable].cdf(values)), GRID[0], GRID[-1])

    def _additive_part(
        self, u: tuple[int, int], g: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the mean of a pair's function, and its projection on functions of one variable on the grid."""
        spread = np.sqrt(1 - self.rho**2)
        masses = np.array(
            [w * _normal((GRID - self.rho * z) / spread) for z, w in zip(GRID, _normal(GRID), strict=True)]
        )
        x, y = (self._values(j, GRID) for j in u)
        values = g(x[:, None], y)
        mean = float(np.vdot(masses, values))
        of_x, of_y = additive_part(values - mean, masses)
        # The mean is subtracted, because it is returned separately.
        return mean, of_x - masses.sum(axis=1) @ of_x, of_y - masses.sum(axis=0) @ of_y


def _normal(z: np.ndarray) -> np.ndarray:
    """Return weights in proportion to the normal density, with sum 1."""
    weight = np.exp(-(z**2) / 2)
    return weight / weight.sum()


def six_variables(rho: float) -> Copula:
    """Return six main effects and three pairs; margins are normal, lognormal, t, gamma, beta and gamma."""
    return Copula(
        f"copula, rho={rho:g}",
        rho,
        [stats.norm(), stats.lognorm(0.8), stats.t(3), stats.gamma(3), stats.beta(0.5, 0.5), stats.gamma(2)],
        {
            0: lambda x: x,
            1: lambda x: 1.5 * np.log1p(x),
            2: lambda x: 1.5 * np.tanh(x),
            3: lambda x: 0.4 * x,
            4: lambda x: np.sin(3 * x),
            5: lambda x: 0.3 * x,
        },
        {
            (0, 1): lambda x, y: 0.8 * x * np.log1p(y),
            (2, 4): lambda x, y: 2 * np.tanh(x) * y,
            (0, 3): lambda x, y: 0.3 * x * (y - 2),
        },
    )
