"""1 + x1 + x2 + x1 x2 of standard Gaussians with correlation rho: importance by HDMR and other measures (spec 9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc
from sklearn.ensemble import GradientBoostingRegressor

from bench.models import fitted
from fasthdmr.analytic import GaussianQuadratic
from fasthdmr.inspection import dgsm, pd_sensitivity

HDMR = "HDMR"
CENTRED, UNCENTRED, CONDITIONAL = "PD marginal, centred", "PD marginal, uncentred", "PD conditional"
DERIVATIVES, VARIANCE_DERIVATIVES = "DGSM of f", "DGSM of Var f (β)"

# Of the paper: rows, trees and depth of its GBRs.
N_ROWS, N_TREES, DEPTH = 1000, 500, 4
QUADRATURE = 14  # log2 of the number of points that represent the distribution

Indices = tuple[float, float]
Form = Callable[[Any], tuple[Any, Any]]


def _variance(r: Any) -> Any:
    return r**2 + 2 * r + 3


# Sa and Sb, summed over the two variables.
CLOSED: dict[str, Form] = {
    HDMR: lambda r: (
        2 * (r**4 + 4 * r**2 + 1) / (r**2 + 1) ** 2 / _variance(r),
        2 * r * (2 * r**3 + (r**2 + 1) ** 2) / (r**2 + 1) ** 2 / _variance(r),
    ),
    CENTRED: lambda r: (2 / _variance(r), 2 * r / _variance(r)),
    UNCENTRED: lambda r: (2 * (r**2 + 1) / _variance(r), 2 * r * (r + 1) / _variance(r)),
    CONDITIONAL: lambda r: (
        (6 * r**2 + 4 * r + 2) / _variance(r),
        2 * r * (2 * r**3 + r**2 + 2 * r + 1) / _variance(r),
    ),
    DERIVATIVES: lambda r: (0.8 + 0 * r, 0 * r),
    VARIANCE_DERIVATIVES: lambda r: (2 * (r + 1) ** 2 / (r * (r**3 + 4 * r + 4) + 3), 0 * r),
}


def polynomial(rho: float) -> GaussianQuadratic:
    """Return the function with its law."""
    return GaussianQuadratic([0, 0], [[1, rho], [rho, 1]], 1, [1, 1], [[0, 0.5], [0.5, 0]])


def points(rho: float) -> np.ndarray:
    """Return evenly spread points that represent the distribution; their moments are accurate to three digits."""
    even = qmc.Sobol(2, scramble=False).random_base2(QUADRATURE) + 0.5**QUADRATURE / 2
    even[:, 1] = (even[:, 1] + 0.5) % 1  # without the corner of the square, which is mapped to an extreme point
    z = ndtri(even)
    return np.column_stack([z[:, 0], rho * z[:, 0] + np.sqrt(1 - rho**2) * z[:, 1]])


def computed(rho: float) -> dict[str, Indices]:
    """Return Sa and Sb, summed over the two variables, as the package computes them."""
    f, X = polynomial(rho), points(rho)
    own = f.sensitivity()
    marginal, uncentred = (pd_sensitivity(f, X, centred=centred) for centred in (True, False))
    conditional = pd_sensitivity(f, X, kind="conditional")
    # Of the variance in its coefficients (β_1, β_2, β_12), at β = 1.
    coefficients = dgsm(
        lambda b: b[:, 0] ** 2 + 2 * b[:, 0] * b[:, 1] * rho + b[:, 1] ** 2 + b[:, 2] ** 2 * (1 + rho**2),
        np.ones((1, 3)),
    )
    return {
        HDMR: (own.Sa[:2].sum(), own.Sb[:2].sum()),
        CENTRED: sums(marginal),
        UNCENTRED: sums(uncentred),
        CONDITIONAL: sums(conditional),
        DERIVATIVES: (dgsm(f, subspaces=[0, 1, (0, 1)]).S[:2].sum(), 0.0),
        VARIANCE_DERIVATIVES: (coefficients.S[:2].sum(), 0.0),
    }


def sums(indices: Any) -> Indices:
    """Return Sa and Sb, summed."""
    return float(indices.Sa.sum()), float(indices.Sb.sum())


def boosted(rho: float, seed: int, n_trees: int) -> tuple[Any, np.ndarray]:
    """Return the paper's GBR of one random sample, and the sample."""
    f = polynomial(rho)
    X = f.sample(N_ROWS, random_state=seed)
    return fitted(GradientBoostingRegressor(n_estimators=n_trees, max_depth=DEPTH, random_state=seed), X, f(X)), X
