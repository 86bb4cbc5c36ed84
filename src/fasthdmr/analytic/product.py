"""The product of independent variables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasthdmr._support.cached import cached_property
from fasthdmr._support.typing import Floats
from fasthdmr.analytic.base import as_count, as_finite, as_positive
from fasthdmr.analytic.coefficients import ByOrder, of_product
from fasthdmr.analytic.multilinear import MultilinearModel


@dataclass(frozen=True, eq=False)
class Product(MultilinearModel):
    """The product of independent variables that have the same mean and standard deviation, x_0 x_1 ⋯ x_{n-1}.

    Parameters
    ----------
    n : int
        The number of variables.
    mu : float
        The mean; 0 leaves nothing but the interaction of all variables.
    sigma : float
        The standard deviation, positive.

    Attributes
    ----------
    n_features : int
        n.
    intercept, variance : float
        f_0 and V; infinite or 0 where doubles cannot hold them.
    subspaces, components : list
        All 2^n - 1 of them, where they are at most 100,000.
    ST, R : ndarray of shape (n,)
        Total and relative importance, for any n.

    Raises
    ------
    ValueError, TypeError
        If a parameter is none of those allowed.

    Notes
    -----
    With ρ = σ/μ the order of a subspace drawn with probability S_u is Binomial(n, ρ²/(1+ρ²)), given that it is not 0
    (specification, section 8). Indices hold to the last digit for any n and ρ. `bounds` and Fourier series of
    components take the variables as Gaussian.

    Examples
    --------
    >>> from fasthdmr.analytic import Product
    >>> f = Product(100, mu=1, sigma=0.5)
    >>> f.order_for(0.9), f.order_shares()[19:22].round(4)
    (25, array([0.0993, 0.0946, 0.0849]))
    >>> f.ST[:2], f.R[:2]
    (array([0.2, 0.2]), array([0.01, 0.01]))
    >>> f.component((0, 1))([[2.0, 3.0]])
    array([2.])
    """

    n: int
    mu: float
    sigma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", as_count(self.n, "n"))
        object.__setattr__(self, "mu", as_finite(self.mu, "mu"))
        object.__setattr__(self, "sigma", as_positive(self.sigma, "sigma"))

    @cached_property
    def _coefficients(self) -> ByOrder:
        return of_product(self.n, self.mu)

    def _function(self, rows: Floats) -> Floats:
        values: Floats = np.prod(rows, axis=1)
        return values
