"""Quadratic functions of variables that are jointly Gaussian, with any covariance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import ndtri

from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._support.cached import cached_property
from fasthdmr._support.moments import check_moments
from fasthdmr._support.numbers import as_array
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats
from fasthdmr.analytic.base import AnalyticModel, as_finite, draw, warn_constant


class GaussianQuadratic(AnalyticModel):
    """A quadratic function of Gaussian variables, f(x) = const + linear·x + x'quadratic x, x ~ N(mean, cov).

    Parameters
    ----------
    mean : array-like of shape (n,)
        The means of the variables.
    cov : array-like of shape (n, n)
        Any covariance, singular ones included.
    const : float
        The constant term.
    linear : array-like of shape (n,)
        The linear coefficients.
    quadratic : array-like of shape (n, n)
        The matrix of the quadratic form. Only its symmetric part is used, which does not change f.

    Attributes
    ----------
    n_features : int
        n.
    intercept, variance : float
        f_0 and V.
    subspaces, components : list
        All variables, and the pairs that `quadratic` joins.
    ST, R : ndarray of shape (n,)
        Total and relative importance.

    Raises
    ------
    ValueError
        If shapes disagree, a number is not finite, or `cov` is not symmetric and positive semi-definite.

    Notes
    -----
    Specification, section 8. For collinear variables, only sums of their components are unique. The closed form
    assigns each variable its own linear term, and divides an interaction equally among fully correlated ones. The
    component of a variable without variance is 0.

    Examples
    --------
    1 + x0 + x1 + x0 x1 with a correlation of one half: the component of x0 is not linear.

    >>> from fasthdmr.analytic import GaussianQuadratic
    >>> f = GaussianQuadratic([0, 0], [[1, 0.5], [0.5, 1]], 1, [1, 1], [[0, 0.5], [0.5, 0]])
    >>> f.component(0)([0.0, 1.0, 2.0])
    array([-0.4,  1. ,  3.2])
    >>> print(f.sensitivity())
    Subspace  Variables      Sa      Sb       S      ST       R
    -----------------------------------------------------------
    (0,)      x0         0.3106  0.1365  0.4471  0.5529  0.5000
    (1,)      x1         0.3106  0.1365  0.4471  0.5529  0.5000
    (0, 1)    x0 & x1    0.1059  0.0000  0.1059       -       -
    -----------------------------------------------------------
              Sum        0.7271  0.2729  1.0000  1.1059  1.0000
              Residual        -       -  0.0000       -       -
    """

    def __init__(self, mean: ArrayLike, cov: ArrayLike, const: float, linear: ArrayLike, quadratic: ArrayLike) -> None:
        self.mean, self.cov = check_moments(mean, cov)
        n = len(self.mean)
        self.const = as_finite(const, "const")
        self.linear = as_array(linear, "linear", (n,))
        square = as_array(quadratic, "quadratic", (n, n))
        self.quadratic = (square + square.T) / 2

    @property
    def n_features(self) -> int:
        """The number of variables, n."""
        return len(self._sd)

    @property
    def intercept(self) -> float:
        """The constant f_0, the mean of f."""
        return float(self._function(self.mean[None])[0] + np.sum(self._Q * self._correlation))

    @property
    def variance(self) -> float:
        """V = Var(f)."""
        return float(self._l @ self._correlation @ self._l + 2 * np.sum(self._Q * self._spread))

    @cached_property
    def subspaces(self) -> list[Subspace]:
        """All variables, and the pairs with a product in f."""
        pairs = np.argwhere(np.triu(self.quadratic, 1) != 0)
        return [*((i,) for i in range(self.n_features)), *((int(i), int(j)) for i, j in pairs)]

    def sample(self, N: int, random_state: Any = None) -> Floats:
        """Draw rows.

        Parameters
        ----------
        N : int
            The number of rows.
        random_state : int, RandomState, Generator or None
            Seed or generator of the random numbers.

        Returns
        -------
        ndarray of shape (N, n)
        """
        eigenvalues, vectors = np.linalg.eigh(self.cov)
        rounding = self.n_features * np.finfo(float).eps * eigenvalues[-1]  # its root would leave the support
        root = vectors * np.sqrt(np.where(eigenvalues > rounding, eigenvalues, 0))
        rows: Floats = self.mean + draw(stats.norm(), N, self.n_features, random_state) @ root.T
        return rows

    def sensitivity(self) -> Sensitivity:
        """Return the exact indices.

        Returns
        -------
        Sensitivity
            In the order of `subspaces`.

        Warns
        -----
        ConstantWarning
            If f is constant: its indices are 0.
        """
        V = self.variance
        if V <= 0:
            warn_constant(self)
        i, j = np.array(self.subspaces[self.n_features :], dtype=np.intp).reshape(-1, 2).T
        # Cov(f_u, f) = l_u'Rl + 2 tr(A_u R Q R)
        single = self._l * (self._correlation @ self._l) + 2 * self._curvature * self._spread.diagonal()
        ends = self._spread[i, i] + self._spread[j, j]
        pair = 4 * self._Q[i, j] * (self._spread[i, j] - self._shrinkage[i, j] * ends)
        Sa = np.concatenate([self._l**2 + 2 * self._curvature**2, self._pair_variance(i, j)])
        S = np.concatenate([single, pair])
        scale = 1 / V if V > 0 else 0.0
        return Sensitivity(self.subspaces, scale * Sa, scale * S, 0.0, V, self.feature_names)

    @cached_property
    def _sd(self) -> Floats:
        """The standard deviations s."""
        return np.sqrt(np.maximum(self.cov.diagonal(), 0))

    @cached_property
    def _correlation(self) -> Floats:
        """The correlations R, with 0 for variables without variance: their z is 0."""
        scale = np.where(self._sd > 0, self._sd, 1)
        correlation = np.clip(self.cov / scale / scale[:, None], -1, 1)
        np.fill_diagonal(correlation, self._sd > 0)
        return correlation

    @cached_property
    def _l(self) -> Floats:
        """The linear coefficients in z = (x - m) / s."""
        slope: Floats = self._sd * (self.linear + 2 * self.quadratic @ self.mean)
        return slope

    @cached_property
    def _Q(self) -> Floats:
        """The quadratic coefficients in z."""
        return self.quadratic * self._sd * self._sd[:, None]

    @cached_property
    def _spread(self) -> Floats:
        """The matrix RQR: the covariances of z'Qz with products of z, halved."""
        return np.asarray(self._correlation @ self._Q @ self._correlation)

    @cached_property
    def _shrinkage(self) -> Floats:
        """The coefficients a of the projection of z_i z_j on z_i² and z_j²: r / (1 + r²)."""
        return self._correlation / (1 + self._correlation**2)

    @cached_property
    def _curvature(self) -> Floats:
        """The coefficients of z_i² - 1 in the components of single variables."""
        return np.asarray(2 * np.sum(self._Q * self._shrinkage, axis=1))

    def _pair_variance(self, i: Any, j: Any) -> Any:
        """Return Var(f_ij), of one pair or of arrays of them."""
        square = self._correlation[i, j] ** 2
        return 4 * self._Q[i, j] ** 2 * (1 - square) ** 2 / (1 + square)

    def _function(self, rows: Floats) -> Floats:
        values: Floats = self.const + rows @ self.linear + np.sum(rows @ self.quadratic * rows, axis=1)
        return values

    def _has_component(self, subspace: Subspace) -> bool:
        return len(subspace) == 1 or (len(subspace) == 2 and bool(self.quadratic[subspace] != 0))

    def _component_function(self, subspace: Subspace, values: Floats) -> Floats:
        at = list(subspace)
        sd = self._sd[at]
        z = np.where(sd > 0, (values - self.mean[at]) / np.where(sd > 0, sd, 1), 0.0).T
        component: Floats
        if len(at) == 1:
            component = self._l[at] * z[0] + self._curvature[at] * (z[0] ** 2 - 1)
        else:
            squares = self._shrinkage[subspace] * (z[0] ** 2 + z[1] ** 2 - 2)
            component = 2 * self._Q[subspace] * (z[0] * z[1] - self._correlation[subspace] - squares)
        return component

    def _component_variance(self, subspace: Subspace) -> float:
        if len(subspace) == 1:
            return float(self._l[subspace] ** 2 + 2 * self._curvature[subspace] ** 2)
        return float(self._pair_variance(*subspace))

    def _derivative(self, subspace: Subspace, rows: Floats) -> Floats:
        at = list(subspace)
        derivative: Floats
        if len(at) == 1:
            derivative = self.linear[at] + 2 * rows @ self.quadratic[at[0]]
        else:
            derivative = np.full(len(rows), 2 * self.quadratic[subspace] if len(at) == 2 else 0.0)
        return derivative

    def derivative_moment(self, subspace: Subspace) -> float:
        """Return the mean of (D^u f)² under the law of the variables.

        Parameters
        ----------
        subspace : tuple of int
            The variables of u. f is differentiated once with respect to each.

        Returns
        -------
        float
        """
        if len(subspace) > 1:
            return float((2 * self.quadratic[subspace]) ** 2) if len(subspace) == 2 else 0.0
        slopes = self.quadratic[subspace[0]]
        mean = self.linear[subspace[0]] + 2 * slopes @ self.mean
        return float(mean**2 + 4 * slopes @ self.cov @ slopes)

    def _quantiles(self, variable: int, probabilities: Floats) -> Floats:
        if self._sd[variable] == 0:
            return np.full(probabilities.shape, self.mean[variable])
        quantiles: Floats = self.mean[variable] + self._sd[variable] * ndtri(probabilities)
        return quantiles
