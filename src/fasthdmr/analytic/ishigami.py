"""The Ishigami function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats
from fasthdmr.analytic.base import AnalyticModel, as_finite, draw

_LAW = stats.uniform(-np.pi, 2 * np.pi)


@dataclass(frozen=True, eq=False)
class Ishigami(AnalyticModel):
    """The Ishigami function, sin x0 + a sin² x1 + b x2⁴ sin x0, on independent uniform variables on [-π, π].

    Parameters
    ----------
    a, b : float
        Coefficients of the function.

    Attributes
    ----------
    n_features : int
        3.
    intercept, variance : float
        f_0 and V.
    subspaces, components : list
        The three variables, and x0 with x2.
    ST, R : ndarray of shape (3,)
        Total and relative importance.

    Raises
    ------
    ValueError
        If `a` or `b` is not finite.

    See Also
    --------
    fasthdmr.datasets.make_ishigami : Rows and values at once.

    Notes
    -----
    Specification, section 8.

    Examples
    --------
    >>> from fasthdmr.analytic import Ishigami
    >>> print(Ishigami().sensitivity())
    Subspace  Variables      Sa      Sb       S      ST       R
    -----------------------------------------------------------
    (0,)      x0         0.3139  0.0000  0.3139  0.5576  0.4483
    (1,)      x1         0.4424  0.0000  0.4424  0.4424  0.3557
    (2,)      x2         0.0000  0.0000  0.0000  0.2437  0.1959
    (0, 2)    x0 & x2    0.2437  0.0000  0.2437       -       -
    -----------------------------------------------------------
              Sum        1.0000  0.0000  1.0000  1.2437  1.0000
              Residual        -       -  0.0000       -       -
    >>> Ishigami().component(1)([0.0, np.pi / 2])
    array([-3.5,  3.5])
    """

    a: float = 7.0
    b: float = 0.1

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            object.__setattr__(self, name, as_finite(getattr(self, name), name))

    @property
    def n_features(self) -> int:
        """The number of variables, 3."""
        return 3

    @property
    def intercept(self) -> float:
        """The constant f_0, the mean of f."""
        return self.a / 2

    @property
    def variance(self) -> float:
        """V = Var(f)."""
        return sum(self._component_variance(u) for u in self.subspaces)

    @property
    def subspaces(self) -> list[Subspace]:
        """The subspaces that have a component; that of x2 alone is 0."""
        return [(0,), (1,), (2,), (0, 2)]

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
        ndarray of shape (N, 3)
        """
        return draw(_LAW, N, 3, random_state)

    def sensitivity(self) -> Sensitivity:
        """Return the exact indices.

        Returns
        -------
        Sensitivity
            In the order of `subspaces`.
        """
        S = np.array([self._component_variance(u) for u in self.subspaces]) / self.variance
        return Sensitivity(self.subspaces, S, S, 0.0, self.variance, self.feature_names)

    @property
    def _main(self) -> float:
        """The coefficient of sin x0 in its component."""
        return 1 + self.b * np.pi**4 / 5

    def _function(self, rows: Floats) -> Floats:
        x0, x1, x2 = rows.T
        values: Floats = (1 + self.b * x2**4) * np.sin(x0) + self.a * np.sin(x1) ** 2
        return values

    def _component_function(self, subspace: Subspace, values: Floats) -> Floats:
        x = values.T
        component: Floats
        if subspace == (0,):
            component = self._main * np.sin(x[0])
        elif subspace == (1,):
            component = -self.a / 2 * np.cos(2 * x[0])
        elif subspace == (2,):
            component = np.zeros(len(values))
        else:
            component = self.b * (x[1] ** 4 - np.pi**4 / 5) * np.sin(x[0])
        return component

    def _component_variance(self, subspace: Subspace) -> float:
        variances = {
            (0,): self._main**2 / 2,
            (1,): self.a**2 / 8,
            (2,): 0.0,
            (0, 2): 8 * self.b**2 * np.pi**8 / 225,
        }
        return variances[subspace]

    def _derivative(self, subspace: Subspace, rows: Floats) -> Floats:
        x0, x1, x2 = rows.T
        derivatives = {
            (0,): lambda: (1 + self.b * x2**4) * np.cos(x0),
            (1,): lambda: self.a * np.sin(2 * x1),
            (2,): lambda: 4 * self.b * x2**3 * np.sin(x0),
            (0, 2): lambda: 4 * self.b * x2**3 * np.cos(x0),
        }
        derivative: Floats = derivatives[subspace]() if subspace in derivatives else np.zeros(len(rows))
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
        steep = 8 * self.b**2 * np.pi**6 / 7
        moments = {
            (0,): (1 + 2 * self.b * np.pi**4 / 5 + self.b**2 * np.pi**8 / 9) / 2,
            (1,): self.a**2 / 2,
            (2,): steep,
            (0, 2): steep,
        }
        return moments.get(subspace, 0.0)

    def _quantiles(self, variable: int, probabilities: Floats) -> Floats:
        return np.asarray(_LAW.ppf(probabilities), dtype=np.float64)
