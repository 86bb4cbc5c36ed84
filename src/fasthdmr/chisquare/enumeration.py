"""The exact law of both statistics: the sum over all vectors of counts, if there are few of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from fasthdmr.chisquare.laws import Exact
from fasthdmr.chisquare.observations import terms
from fasthdmr.chisquare.simulation import rounding

# Largest number of vectors of counts times their length: a few tenths of a second.
_MOST_CELLS = 1 << 22


@dataclass(frozen=True)
class Enumerated(Exact):
    """The law as a list of all values.

    Values that differ by less than the rounding errors `absolute` and `relative` are equal.

    Attributes
    ----------
    values : ndarray
        In ascending order.
    tails : ndarray
        The probability of each value or more.
    absolute, relative : float
    """

    values: NDArray[np.float64]
    tails: NDArray[np.float64]
    absolute: float
    relative: float
    name: str = "enumeration"

    @classmethod
    def of_values(
        cls, values: NDArray[np.float64], probabilities: NDArray[np.float64], absolute: float, relative: float
    ) -> Enumerated:
        """Return the law of values with these probabilities.

        Parameters
        ----------
        values, probabilities : ndarray of shape (m,)
        absolute, relative : float

        Returns
        -------
        Enumerated
        """
        order = np.argsort(values)
        tails = np.cumsum(probabilities[order][::-1])[::-1]  # from the smallest tail on: no cancellation
        return cls(values[order], tails, absolute, relative)

    def sf(self, statistic: float) -> float:
        """Return the probability of the statistic or more."""
        if math.isfinite(statistic):
            statistic -= self.absolute + self.relative * abs(statistic)
        below = int(np.searchsorted(self.values, statistic))
        return min(1.0, float(self.tails[below])) if below < len(self.tails) else 0.0


def can_enumerate(n: int, k: int) -> bool:
    """Return whether n draws from k categories have few enough vectors of counts.

    Parameters
    ----------
    n, k : int

    Returns
    -------
    bool

    Examples
    --------
    >>> can_enumerate(1000, 3), can_enumerate(30, 6), can_enumerate(50, 2500)
    (True, True, False)
    """
    # The number of vectors, C(n + k - 1, m), is at least ((n + k - 1) / m)^m.
    chosen = min(n, k - 1)
    if chosen * math.log((n + k - 1) / max(chosen, 1)) > math.log(_MOST_CELLS):
        return False
    return math.comb(n + k - 1, chosen) * k <= _MOST_CELLS


def enumerated_laws(p: NDArray[np.float64], n: int) -> tuple[Enumerated, Enumerated]:
    """Return the laws of chi2 and hdmr.

    Counts of one category after the other are added to all vectors; what is kept of a vector are the draws that are
    left, both statistics and the logarithm of its probability.

    Parameters
    ----------
    p : ndarray of shape (k,)
        All positive.
    n : int

    Returns
    -------
    tuple of Enumerated
    """
    k, numbers = len(p), np.arange(n + 1.0)
    log_factorial = special.gammaln(numbers + 1)
    left, sums = np.array([n]), np.array([[0.0], [float(k)], [log_factorial[n]]])
    added = [np.stack([*terms(numbers, n * q), numbers * math.log(q) - log_factorial]) for q in p]
    with np.errstate(over="ignore"):  # overflow gives infinity
        for added_here in added[:-1]:
            sizes = left + 1
            parent = np.repeat(np.arange(len(left)), sizes)
            count = np.arange(len(parent)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            left, sums = left[parent] - count, sums[:, parent] + added_here[:, count]
        chi2, hdmr, logarithms = sums + added[-1][:, left]
    errors = rounding(n, k, n_runs=1)
    probabilities = np.exp(logarithms)
    return Enumerated.of_values(chi2, probabilities, *errors), Enumerated.of_values(hdmr, probabilities, *errors)
