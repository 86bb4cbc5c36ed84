"""The base class of functions with a closed form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_scalar

from fasthdmr._results.component import Component
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._support.subspaces import Subspace, as_subspace, as_variables, check_width, subspace_names
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import check_names, check_rows
from fasthdmr._support.warnings import ConstantWarning, warn

_PROBABILITIES = np.linspace(0, 1, 5_001)


class AnalyticModel(ABC):
    """A function f under a law of its variables, with the components of its HDMR in closed form.

    Every variable has a component, which may be 0. An interaction has one if it is not 0.
    """

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of variables, n."""

    @property
    @abstractmethod
    def intercept(self) -> float:
        """The constant f_0, the mean of f."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """V = Var(f)."""

    @property
    @abstractmethod
    def subspaces(self) -> list[Subspace]:
        """The subspaces that have a component, by order, then lexicographically; the constant is not among them."""

    @abstractmethod
    def sample(self, N: int, random_state: Any = None) -> Floats:
        """Draw N rows from the law, (N, n)."""

    @abstractmethod
    def sensitivity(self) -> Sensitivity:
        """Return the exact indices, in the order of `subspaces`."""

    @abstractmethod
    def _function(self, rows: Floats) -> Floats:
        """Return f at rows that are checked, (N,)."""

    @abstractmethod
    def _component_function(self, subspace: Subspace, values: Floats) -> Floats:
        """Return f_u at (N, |u|), checked."""

    @abstractmethod
    def _component_variance(self, subspace: Subspace) -> float:
        """Return Var(f_u)."""

    @abstractmethod
    def _derivative(self, subspace: Subspace, rows: Floats) -> Floats:
        """Return D^u f, once in each variable of u, at rows that are checked, (N,)."""

    @abstractmethod
    def derivative_moment(self, subspace: Subspace) -> float:
        """Return the mean of (D^u f)² under the law of the variables; see `fasthdmr.inspection.dgsm`.

        Parameters
        ----------
        subspace : tuple of int
            The variables of u. f is differentiated once with respect to each.

        Returns
        -------
        float
        """

    @abstractmethod
    def _quantiles(self, variable: int, probabilities: Floats) -> Floats:
        """Return quantiles of one variable, infinite ones included."""

    def _has_component(self, subspace: Subspace) -> bool:
        return subspace in self.subspaces

    def __call__(self, X: Any) -> Floats:
        """Return f at rows.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)

        Returns
        -------
        ndarray of shape (N,)

        Raises
        ------
        ValueError
            If X has another number of columns, or values that are not finite numbers.
        """
        return self._function(self._rows(X))

    def derivative(self, variables: int | str | Sequence[int | str], X: Any) -> Floats:
        """Return the derivative of f, once in each of some variables, at rows.

        Parameters
        ----------
        variables : int, str, or sequence of int or str
            By indices or names.
        X : array-like or data frame of shape (N, n)
            The rows.

        Returns
        -------
        ndarray of shape (N,)

        Raises
        ------
        ValueError
            As for a call, or if there is no such variable.
        """
        return self._derivative(as_subspace(variables, self.feature_names), self._rows(X))

    def _rows(self, X: Any) -> Floats:
        rows = check_rows(X, self.n_features, allow_nan=False, allow_inf=False, estimator=type(self).__name__)
        check_names(X, self.feature_names, may_be_unnamed=True)
        return np.asarray(rows, dtype=np.float64)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names x0, x1, … of the variables."""
        return tuple(f"x{i}" for i in range(self.n_features))

    def component(self, variables: int | str | Sequence[int | str]) -> Component:
        """Return the component function of a subspace.

        Parameters
        ----------
        variables : int, str, or sequence of int or str
            The variables of the subspace, by indices or names.

        Returns
        -------
        Component
            As that of an estimator: callable on (N, |u|), with `variance`, `bounds` and `fourier`.

        Raises
        ------
        ValueError
            If there is no such variable, or the component of an interaction is 0.
        """
        names = self.feature_names
        asked = as_variables(variables, names)
        subspace = tuple(sorted(asked))
        if not subspace or not self._has_component(subspace):
            raise ValueError(
                f"There is no component for {subspace} ({subspace_names([subspace], names)[0]}): this "
                f"{type(self).__name__} has no such interaction. Existing components are in subspaces."
            )
        tails = np.array([0.01, 0.99])
        return Component(
            subspace,
            tuple(names[i] for i in subspace),
            self._component_variance(subspace),
            np.array([self._quantiles(i, tails) for i in subspace]),
            tuple(names[i] for i in asked),
            tuple(map(asked.index, subspace)),
            self,
        )

    @property
    def components(self) -> list[Component]:
        """The component functions, in the order of `subspaces`."""
        return [self.component(u) for u in self.subspaces]

    def component_at(self, subspace: Subspace, values: Floats) -> Floats:
        """Return one component at given values of its variables.

        Parameters
        ----------
        subspace : tuple of int
            Sorted column indices.
        values : ndarray of shape (N, |u|)
            Values of these variables.

        Returns
        -------
        ndarray of shape (N,)
        """
        check_width(values, len(subspace), f"The component {subspace}")
        return self._component_function(subspace, values)

    def marginal(self, variable: int) -> tuple[Floats, Floats]:
        """Return evenly spaced quantiles of a variable and their weights.

        Parameters
        ----------
        variable : int
            Its column index.

        Returns
        -------
        quantiles, weights : ndarray of shape (S,)
        """
        weights = np.ones_like(_PROBABILITIES)
        weights[[0, -1]] = 0.5
        return self._quantiles(variable, _PROBABILITIES), weights

    def explained(self) -> Floats:
        """Return the fraction of the variance explained by the components up to each order.

        Returns
        -------
        ndarray of shape (T,)
            Entry t - 1 belongs to the orders 1 to t; T is the largest order of a component.
        """
        return self.sensitivity().explained()

    def order_for(self, fraction: float) -> int:
        """Return the lowest order up to which components explain a fraction of the variance.

        Parameters
        ----------
        fraction : float in (0, 1]
            The fraction of the variance that all components explain.

        Returns
        -------
        int
        """
        return self.sensitivity().order_for(fraction)

    @property
    def ST(self) -> Floats:
        """Total importance of each variable, (n,)."""
        return self.sensitivity().ST

    @property
    def R(self) -> Floats:
        """Relative importance of each variable, (n,): `ST` over its sum."""
        total = self.ST
        scale = total.sum()
        return total / scale if scale != 0 else total


def as_count(value: Any, name: str) -> int:
    """Return a positive integer; raise an error in scikit-learn's wording for anything else."""
    return int(check_scalar(value, name, Integral, min_val=1))


def as_finite(value: Any, name: str) -> float:
    """Return a finite number; raise an error for anything else."""
    number = float(check_scalar(value, name, Real))
    if not isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}.")
    return number


def as_positive(value: Any, name: str) -> float:
    """Return a finite number above 0; raise an error for anything else."""
    number = as_finite(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {value!r}.")
    return number


def draw(law: Any, N: int, n: int, random_state: Any) -> Floats:
    """Draw N rows of n independent variables with the same law."""
    size = (as_count(N, "N"), n)
    return np.asarray(law.rvs(size=size, random_state=random_state), dtype=np.float64)


def warn_constant(model: AnalyticModel) -> None:
    """Warn that the function is constant, so that its indices are 0."""
    warn(f"This {type(model).__name__} is constant: its indices are 0.", ConstantWarning)
