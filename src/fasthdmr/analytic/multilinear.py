"""Multilinear functions of independent variables with the same mean and standard deviation."""

from __future__ import annotations

from abc import abstractmethod
from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import ndtri

from fasthdmr._results.orders import order_reaching
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._support.cached import cached_property
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats
from fasthdmr.analytic.base import AnalyticModel, draw, warn_constant
from fasthdmr.analytic.coefficients import Coefficients, decimals

_MAX_SUBSPACES = 100_000
_AGREEMENT = 1e-9  # relative tolerance of a law's moments: the error of quadrature in SciPy


class MultilinearModel(AnalyticModel):
    """Base of functions with f_u = b_u times the product of x_i - mu over u.

    Sums over an order, sums over a variable and single components are available for any n; lists of all subspaces only
    if there are few.
    """

    n: int
    mu: float
    sigma: float

    @property
    @abstractmethod
    def _coefficients(self) -> Coefficients:
        """The b_u."""

    @property
    def n_features(self) -> int:
        """The number of variables, n."""
        return self.n

    @property
    def intercept(self) -> float:
        """The constant f_0, the mean of f; infinite or 0 where doubles cannot hold it."""
        return float(self._coefficients.constant)

    @property
    def variance(self) -> float:
        """V = Var(f); infinite or 0 where doubles cannot hold it."""
        return float(self._total)

    @property
    def subspaces(self) -> list[Subspace]:
        """The subspaces that have a component.

        Raises
        ------
        ValueError
            If there are more than 100,000.
        """
        count = self._coefficients.count()
        if count > _MAX_SUBSPACES:
            number = f"{count:,}" if count <= 10**18 else "more than 10^18"
            raise ValueError(
                f"This {type(self).__name__} of {self.n} variables has {number} components, of which at most "
                f"{_MAX_SUBSPACES:,} are listed. Use what needs no list: component(u), order_shares(), explained(), "
                "order_for(), ST and R."
            )
        return self._coefficients.subspaces()

    def sample(self, N: int, random_state: Any = None, law: Any = None) -> Floats:
        """Draw rows of independent variables.

        Parameters
        ----------
        N : int
            The number of rows.
        random_state : int, RandomState, Generator or None
            Seed or generator of the random numbers.
        law : frozen SciPy distribution, optional
            With the mean and the standard deviation of the model. Default: Gaussian.

        Returns
        -------
        ndarray of shape (N, n)

        Raises
        ------
        TypeError
            If `law` is no distribution.
        ValueError
            If it has another mean or standard deviation.
        """
        if law is None:
            law = stats.norm(self.mu, self.sigma)
        elif not all(callable(getattr(law, name, None)) for name in ("rvs", "mean", "std")):
            raise TypeError(f"law must be a frozen SciPy distribution, such as scipy.stats.norm(0, 1), got {law!r}.")
        mean, sd = float(law.mean()), float(law.std())
        tolerance = _AGREEMENT * (abs(self.mu) + self.sigma)
        if not (abs(mean - self.mu) <= tolerance and abs(sd - self.sigma) <= _AGREEMENT * self.sigma):
            raise ValueError(
                f"law must have mean {self.mu:g} and standard deviation {self.sigma:g}, as this "
                f"{type(self).__name__}; it has {mean:g} and {sd:g}."
            )
        return draw(law, N, self.n, random_state)

    def sensitivity(self) -> Sensitivity:
        """Return the exact indices.

        Returns
        -------
        Sensitivity
            In the order of `subspaces`.

        Raises
        ------
        ValueError
            If there are more than 100,000 subspaces.

        Warns
        -----
        ConstantWarning
            If f is constant: its indices are 0.
        """
        subspaces = self.subspaces
        if not self._total:
            warn_constant(self)
        with decimals():
            square = Decimal(self.sigma) ** 2
            powers = [square**k for k in range(self._coefficients.order + 1)]
            S = [self._share(self._coefficients.of(u) ** 2 * powers[len(u)]) for u in subspaces]
        return Sensitivity(subspaces, np.array(S), np.array(S), 0.0, self.variance, self.feature_names)

    def order_shares(self, *, log: bool = False) -> Floats:
        """Return the share of the variance that belongs to the components of each order, for any n.

        Parameters
        ----------
        log : bool
            Whether to return natural logarithms, for shares that underflow as float64.

        Returns
        -------
        ndarray of shape (T,)
            Entry k - 1 is the sum of `S` over |u| = k; T is the largest order of a component.
        """
        if not log:
            return np.array([self._share(s) for s in self._sums])
        with decimals():
            return np.array([float((s / self._total).ln()) if s else -np.inf for s in self._sums])

    def order_moments(self) -> tuple[float, float]:
        """Return mean and variance of the order of a subspace drawn with probability `S`.

        Returns
        -------
        mean, variance : float
            Both are 0 if f is constant.
        """
        if not self._total:
            return 0.0, 0.0
        with decimals():
            mean = sum((k * s for k, s in enumerate(self._sums, 1)), Decimal(0)) / self._total
            square = sum(((k - mean) ** 2 * s for k, s in enumerate(self._sums, 1)), Decimal(0)) / self._total
        return float(mean), float(square)

    def explained(self) -> Floats:
        """Return the fraction of the variance explained by the components up to each order, for any n.

        Returns
        -------
        ndarray of shape (T,)
            Entry t - 1 belongs to the orders 1 to t; T is the largest order of a component.
        """
        with decimals():
            shares, total = [], Decimal(0)
            for s in self._sums:
                total += s
                shares.append(self._share(total))
        return np.array(shares)

    def order_for(self, fraction: float) -> int:
        """Return the least order whose components explain a fraction of the variance, for any n.

        Parameters
        ----------
        fraction : float in (0, 1]
            Of the variance.

        Returns
        -------
        int
        """
        return order_reaching(self.explained(), fraction)

    @property
    def ST(self) -> Floats:
        """Total importance of each variable, (n,), for any n."""
        with decimals():
            return np.array([self._share(s) for s in self._coefficients.by_variable(Decimal(self.sigma) ** 2)])

    @cached_property
    def _sums(self) -> list[Decimal]:
        """The variances of the components of each order."""
        with decimals():
            return self._coefficients.by_order(Decimal(self.sigma) ** 2)

    @cached_property
    def _total(self) -> Decimal:
        with decimals():
            return sum(self._sums, Decimal(0))

    def _share(self, variance: Decimal) -> float:
        """Return what part of the variance this is; 0 for a constant f."""
        with decimals():
            return float(variance / self._total) if self._total else 0.0

    def _has_component(self, subspace: Subspace) -> bool:
        return len(subspace) == 1 or bool(self._coefficients.of(subspace))

    def _component_function(self, subspace: Subspace, values: Floats) -> Floats:
        component: Floats = float(self._coefficients.of(subspace)) * np.prod(values - self.mu, axis=1)
        return component

    def _component_variance(self, subspace: Subspace) -> float:
        with decimals():
            return float(self._coefficients.of(subspace) ** 2 * Decimal(self.sigma) ** (2 * len(subspace)))

    def _derivative(self, subspace: Subspace, rows: Floats) -> Floats:
        # f is linear in each variable: a difference quotient with any step is the derivative.
        total: Floats = np.zeros(len(rows))
        for ends in product((1.0, 0.0), repeat=len(subspace)):
            moved = rows.copy()
            moved[:, list(subspace)] = ends
            total += (-1) ** ends.count(0.0) * self._function(moved)
        return total

    def derivative_moment(self, subspace: Subspace) -> float:
        """Return the mean of (D^u f)²: the sum of b_v² sigma^(2|v - u|) over the v that contain u.

        Parameters
        ----------
        subspace : tuple of int
            The variables of u. f is differentiated once with respect to each.

        Returns
        -------
        float
        """
        with decimals():
            return float(self._coefficients.above(subspace, Decimal(self.sigma) ** 2))

    def _quantiles(self, variable: int, probabilities: Floats) -> Floats:
        quantiles: Floats = self.mu + self.sigma * ndtri(probabilities)
        return quantiles
