"""Linear combinations of products of different independent variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fasthdmr._support.cached import cached_property
from fasthdmr._support.numbers import as_array
from fasthdmr._support.subspaces import Subspace, as_subspace
from fasthdmr._support.typing import Floats
from fasthdmr.analytic.base import as_count, as_finite, as_positive
from fasthdmr.analytic.coefficients import Coefficients, of_mapping, of_ones, of_orders
from fasthdmr.analytic.multilinear import MultilinearModel


class SymmetricPolynomial(MultilinearModel):
    """A multilinear polynomial of independent variables that have the same mean and standard deviation.

    It is f(x) = Σ β_u x_u over |u| ≤ T, where x_u is the product of the variables of u.

    Parameters
    ----------
    n : int
        The number of variables.
    order : int
        The largest order T, at most n.
    mu : float
        The mean; 0 is allowed.
    sigma : float
        The standard deviation, positive.
    beta : None, array-like of shape (order + 1,), or mapping of subspaces to numbers
        None: all are 1. An array: one for each order from 0. A mapping: the subspaces, by indices or names, whose
        coefficient is not 0, () the constant.

    Attributes
    ----------
    n_features : int
        n.
    intercept, variance : float
        f_0 and V; infinite or 0 where doubles cannot hold them.
    subspaces, components : list
        All variables, and the interactions that are not 0, where they are at most 100,000.
    ST, R : ndarray of shape (n,)
        Total and relative importance, for any n.

    Raises
    ------
    ValueError, TypeError
        If a parameter is none of those allowed, or a mapping has too many subsets of its subspaces.

    Notes
    -----
    f_u = b_u ∏(x_i - μ) with b_u = Σ_{v⊇u} β_v μ^(|v|-|u|) (specification, section 8). Sums are exact before they are
    rounded, so that alternating signs (μ < 0) lose nothing. With `beta` by order the time grows as T times the number
    of orders whose coefficient is not 0: seconds for all of 1,000. `bounds` and Fourier series of components take the
    variables as Gaussian.

    Examples
    --------
    >>> from fasthdmr.analytic import SymmetricPolynomial
    >>> SymmetricPolynomial(5, 2, mu=0.5, sigma=0.25).order_shares().round(4)
    array([0.9863, 0.0137])
    >>> f = SymmetricPolynomial(3, 2, mu=0, sigma=1, beta={0: 1, (1, 2): 2})
    >>> print(f.sensitivity())
    Subspace  Variables      Sa      Sb       S      ST       R
    -----------------------------------------------------------
    (0,)      x0         0.2000  0.0000  0.2000  0.2000  0.1111
    (1,)      x1         0.0000  0.0000  0.0000  0.8000  0.4444
    (2,)      x2         0.0000  0.0000  0.0000  0.8000  0.4444
    (1, 2)    x1 & x2    0.8000  0.0000  0.8000       -       -
    -----------------------------------------------------------
              Sum        1.0000  0.0000  1.0000  1.8000  1.0000
              Residual        -       -  0.0000       -       -
    """

    def __init__(
        self,
        n: int,
        order: int,
        mu: float,
        sigma: float,
        beta: ArrayLike | Mapping[Any, float] | None = None,
    ) -> None:
        self.n = as_count(n, "n")
        self.order = as_count(order, "order")
        if self.order > self.n:
            raise ValueError(f"order must be at most n = {self.n}, got {self.order}.")
        self.mu = as_finite(mu, "mu")
        self.sigma = as_positive(sigma, "sigma")
        self.beta: Floats | dict[Subspace, float] | None
        if beta is None:
            self.beta = None
        elif isinstance(beta, Mapping):
            self.beta = _by_subspace(beta, self.feature_names, self.order)
        else:
            self.beta = as_array(beta, "beta", (self.order + 1,))

    def __repr__(self) -> str:
        return f"SymmetricPolynomial(n={self.n}, order={self.order}, mu={self.mu}, sigma={self.sigma})"

    @cached_property
    def _coefficients(self) -> Coefficients:
        if self.beta is None:
            return of_ones(self.n, self.order, self.mu)
        if isinstance(self.beta, dict):
            return of_mapping(self.n, self.beta, self.mu)
        return of_orders(self.n, self.beta.tolist(), self.mu)

    def _function(self, rows: Floats) -> Floats:
        values: Floats
        if isinstance(self.beta, dict):
            values = np.zeros(len(rows))
            for u, b in self.beta.items():
                values += b * np.prod(rows[:, list(u)], axis=1)
            return values
        if self.beta is None and self.order == self.n:
            values = np.prod(1 + rows, axis=1)
            return values
        elementary = np.zeros((self.order + 1, len(rows)))
        elementary[0] = 1
        for x in rows.T:
            elementary[1:] += x * elementary[:-1]
        values = elementary.sum(axis=0) if self.beta is None else self.beta @ elementary
        return values


def _by_subspace(beta: Mapping[Any, float], names: Sequence[str], order: int) -> dict[Subspace, float]:
    """Return the mapping with sorted tuples of indices as its keys."""
    values: dict[Subspace, float] = {}
    for variables, value in beta.items():
        u = as_subspace(variables, names, what="beta")
        if u in values:
            raise ValueError(f"beta names the subspace {u} twice.")
        if len(u) > order:
            raise ValueError(f"beta has the subspace {u} of order {len(u)}, above order = {order}.")
        values[u] = as_finite(value, f"beta[{variables!r}]")
    return values
