"""Functions whose HDMR is known in closed form (spec 8), each with the law of its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from bench import ishigami

Subspace = tuple[int, ...]
Components = dict[Subspace, np.ndarray]


def subspaces_of(n_features: int, order: int) -> list[Subspace]:
    """Return all subspaces of orders 1 to `order`."""
    return [u for size in range(1, order + 1) for u in combinations(range(n_features), size)]


class Ishigami:
    """The Ishigami function of three independent uniform inputs."""

    name = "Ishigami"
    n_features = 3

    def sample(self, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and the function there."""
        return ishigami.sample(n_rows, seed)

    def components(self, X: np.ndarray) -> Components:
        """Return the component functions that are not zero, on the rows."""
        f1, f2 = ishigami.main_effects(X)
        f13 = ishigami.interaction(X[:, [0, 2]])
        return {(0,): f1, (1,): f2, (0, 2): f13}

    def indices(self) -> dict[Subspace, tuple[float, float]]:
        """Return (Sa, Sb) of all subspaces: the inputs are independent, so Sb = 0."""
        S = ishigami.exact_indices()
        return {u: (S.get(u, 0.0), 0.0) for u in subspaces_of(self.n_features, 3)}

    def cdf(self, x: np.ndarray) -> np.ndarray:
        """Return the distribution function of each input."""
        return np.clip((x + np.pi) / (2 * np.pi), 0.0, 1.0)


@dataclass(frozen=True)
class GaussianQuadratic:
    """f = const + linear·x + x'·quadratic·x of Gaussian inputs; `quadratic` is symmetric, `cov` any covariance."""

    name: str
    mean: np.ndarray
    cov: np.ndarray
    const: float
    linear: np.ndarray
    quadratic: np.ndarray

    @property
    def n_features(self) -> int:
        """The number of inputs."""
        return len(self.mean)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return f on the rows."""
        return self.const + X @ self.linear + np.einsum("ij,jk,ik->i", X, self.quadratic, X)

    def sample(self, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and the function there."""
        X = np.random.default_rng(seed).multivariate_normal(self.mean, self.cov, n_rows, method="cholesky")
        return X, self(X)

    def _standard(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return s, R, l and Q: deviations, correlations, and f's coefficients for z = (x - m)/s."""
        s = np.sqrt(np.diag(self.cov))
        slope = s * (self.linear + 2 * self.quadratic @ self.mean)
        return s, self.cov / np.outer(s, s), slope, self.quadratic * np.outer(s, s)

    def _forms(self) -> dict[Subspace, tuple[np.ndarray, np.ndarray]]:
        """Return l_u and A_u with f_u = l_u·z + z'·A_u·z - tr(A_u R)."""
        _, R, slope, Q = self._standard()
        a = R / (1 + R**2)
        np.fill_diagonal(a, 0.0)
        forms = {}
        for u in subspaces_of(self.n_features, 2):
            linear, form = np.zeros(self.n_features), np.zeros_like(R)
            if len(u) == 1:
                i = u[0]
                linear[i] = slope[i]
                form[i, i] = Q[i, i] + 2 * Q[i] @ a[i]
            else:
                i, j = u
                form[i, j] = form[j, i] = Q[i, j]
                form[i, i] = form[j, j] = -2 * Q[i, j] * a[i, j]
            forms[u] = linear, form
        return forms

    def components(self, X: np.ndarray) -> Components:
        """Return the component functions of orders 1 and 2 on the rows."""
        s, R, _, _ = self._standard()
        z = (X - self.mean) / s
        return {
            u: z @ linear + np.einsum("ij,jk,ik->i", z, form, z) - np.trace(form @ R)
            for u, (linear, form) in self._forms().items()
        }

    def indices(self) -> dict[Subspace, tuple[float, float]]:
        """Return (Sa, Sb) of the subspaces of orders 1 and 2."""
        _, R, slope, Q = self._standard()

        def covariance(linear: np.ndarray, form: np.ndarray, other: np.ndarray, other_form: np.ndarray) -> float:
            return float(linear @ R @ other + 2 * np.trace(form @ R @ other_form @ R))

        V = covariance(slope, Q, slope, Q)
        return {
            u: (
                covariance(linear, form, linear, form) / V,
                (covariance(linear, form, slope, Q) - covariance(linear, form, linear, form)) / V,
            )
            for u, (linear, form) in self._forms().items()
        }


def equicorrelated(n_features: int, rho: float) -> np.ndarray:
    """Return the covariance of unit variances and equal correlations."""
    return np.full((n_features, n_features), rho) + (1 - rho) * np.eye(n_features)


def bilinear(rho: float) -> GaussianQuadratic:
    """Return 1 + x1 + x2 + x1 x2, standard Gaussian with correlation rho."""
    quadratic = np.array([[0, 0.5], [0.5, 0]])
    return GaussianQuadratic(
        f"bilinear Gaussian, rho={rho:g}", np.zeros(2), equicorrelated(2, rho), 1.0, np.ones(2), quadratic
    )


def four_variables(rho: float) -> GaussianQuadratic:
    """Return x1 + x2 + .5 x3 + x1 x2 + .8 x3 x4 + .3 x3^2, unit variances, equal correlations."""
    quadratic = np.zeros((4, 4))
    quadratic[0, 1] = quadratic[1, 0] = 0.5
    quadratic[2, 3] = quadratic[3, 2] = 0.4
    quadratic[2, 2] = 0.3
    linear = np.array([1, 1, 0.5, 0])
    return GaussianQuadratic(
        f"Gaussian quadratic, rho={rho:g}", np.zeros(4), equicorrelated(4, rho), 0.0, linear, quadratic
    )


def label(u: Subspace) -> str:
    """Return the name of a component function: variables count from 1, as in the paper."""
    return "f_" + "".join(str(i + 1) for i in u)


def labelled(components: Components) -> dict[str, np.ndarray]:
    """Return centred components by name, because packages assign the constant differently."""
    return {label(tuple(sorted(u))): values - values.mean() for u, values in components.items()}


def relative_l2(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the root mean square of the error over that of the exact values."""
    return float(np.sqrt(np.mean((found - truth) ** 2) / np.mean(truth**2)))
