"""The compensated Poisson integral: the law of hdmr if few draws fall in the same category."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

_POINTS = 1 << 16  # number of lattice points
_NODES = 4096  # nodes of the quadrature over a power law
_FEW_PAIRS = 1e-4  # largest expected number of pairs in the categories left out, and its largest fraction of all pairs
_SHARE_OF_PAIRS = 1e-3
_LARGEST_EXPONENT = 600.0  # largest argument of exp, with room for rates
_REACH = 40  # range of the lattice beyond the statistic, in standard deviations and in largest jumps


def is_negligible(p: NDArray[np.float64], n: int) -> NDArray[np.bool_]:
    """Return which categories are so rare that two draws in the same one are not expected.

    Parameters
    ----------
    p : ndarray of shape (k,)
    n : int

    Returns
    -------
    ndarray of bool, shape (k,)

    Examples
    --------
    >>> is_negligible(np.array([0.5, 1e-9, 0.5 - 1e-9]), 100)
    array([False,  True, False])
    """
    order = np.argsort(p, kind="stable")
    pairs = np.cumsum(n * (n - 1) / 2 * p[order] ** 2)
    found = np.empty(len(p), bool)
    found[order] = pairs <= min(_FEW_PAIRS, _SHARE_OF_PAIRS * pairs[-1])
    return found


@dataclass(frozen=True)
class CompoundPoisson:
    """A compound Poisson law: pairs of draws in category c add jumps 2 / (n p_c) at rate_c = n (n - 1) p_c^2 / 2.

    The statistic is the sum of the jumps less its mean, n - 1, plus k - 1. With p_c = (1 - alpha) t^-alpha / k and
    t = c / k it tends to the integral of J(t) [N(dt) - r(t) dt] as k grows. Its characteristic function is inverted by
    a Fourier transform on a lattice; a jump between two points is split between both, which preserves its mean.

    Attributes
    ----------
    jumps, rates : ndarray
    mean, sd : float
        Of the statistic.
    """

    jumps: NDArray[np.float64]
    rates: NDArray[np.float64]
    mean: float
    sd: float
    name: str = "compensated Poisson integral"

    @classmethod
    def of_probabilities(cls, p: NDArray[np.float64], k: int, n: int) -> CompoundPoisson:
        """Return the law of n draws from p.

        Parameters
        ----------
        p : ndarray
            Probabilities of the categories that are not negligible.
        k : int
            The number of all categories.
        n : int

        Returns
        -------
        CompoundPoisson
        """
        variance = 2 * (n - 1) * (len(p) - 1) / n
        jumps, rates = 2 / (n * p), n * (n - 1) / 2 * p**2
        return cls(jumps, rates * (variance / (rates @ jumps**2)), k - 1.0, variance**0.5)

    @classmethod
    def of_power_law(cls, k: int, alpha: float, n: int) -> CompoundPoisson:
        """Return the law of n draws from a power law, without arrays of size k.

        Parameters
        ----------
        k : int
        alpha : float
            In [0, 1).
        n : int

        Returns
        -------
        CompoundPoisson
        """
        u = (np.arange(_NODES) + 0.5) / _NODES
        t, dt = u**3, 3 * u**2 / _NODES  # denser near 0, where the rates increase
        p = (1 - alpha) * t**-alpha / k
        variance = 2 * (n - 1) * (k - 1) / n
        jumps, rates = 2 / (n * p), n * (n - 1) / 2 * p**2 * k * dt
        return cls(jumps, rates * (variance / (rates @ jumps**2)), k - 1.0, variance**0.5)

    def roughness(self) -> float:
        """Return the relative deviation of the tail from a line near 0.05 and 0.01, within the lattice's resolution.

        If p is nearly uniform or has few distinct values, sums of few jumps have large probabilities, and the tail has
        steps. The statistic lies at a step, and the lattice does not resolve on which side.

        Returns
        -------
        float
        """
        reach = _REACH * (self.sd + self.jumps.max())
        step = (float(self.rates @ self.jumps) + reach) / _POINTS
        transform = np.fft.rfft(self._on_lattice(step))
        tail = np.cumsum(np.fft.irfft(np.exp(transform - transform[0].real), _POINTS)[::-1])[::-1]
        share = self.jumps / step % 1
        blur = math.ceil(math.sqrt(self.rates @ (share * (1 - share)))) + 1  # a standard deviation
        found = 0.0
        for level in (0.05, 0.01):
            place = int(np.argmax(tail <= level))
            near = tail[max(place - blur, 0) : place + blur + 1]
            even = np.linspace(near[0], near[-1], len(near))
            found = max(found, float(np.abs(near - even).max()) / level)
        return found

    def standard_error(self, pvalue: float) -> float | None:
        """Return None: the law is not simulated.

        Parameters
        ----------
        pvalue : float

        Returns
        -------
        None
        """
        return None

    def sf(self, statistic: float) -> float:
        """Return the upper tail probability, with a small relative error also for tiny probabilities.

        Parameters
        ----------
        statistic : float

        Returns
        -------
        float
        """
        total = float(self.rates @ self.jumps) + statistic - self.mean  # of the jumps
        if total <= 0:
            return 1.0
        reach = _REACH * (self.sd + self.jumps.max())
        if total > _POINTS * reach:  # far below the smallest float64
            return 0.0
        step = (total + reach) / _POINTS
        rates = self._on_lattice(step)
        x = np.arange(_POINTS) * step
        first = round(total / step)
        if first == 0:
            return 1.0
        # Exponential tilting by exp(tilt * x) moves the mean to the statistic, where rounding is small.
        occurring = np.flatnonzero(rates)
        tilt = _saddle_point(x[occurring], rates[occurring], x[first])
        tilted = np.zeros(_POINTS)
        tilted[occurring] = rates[occurring] * np.exp(tilt * x[occurring])
        transform = np.fft.rfft(tilted)
        masses = np.fft.irfft(np.exp(transform - transform[0].real), _POINTS)
        tail = masses[first:] @ np.exp(-tilt * (x[first:] - x[first]))
        return float(min(1.0, tail * np.exp(tilted.sum() - rates.sum() - tilt * x[first])))

    def _on_lattice(self, step: float) -> NDArray[np.float64]:
        """Return the rates of the jumps 0, step, 2 step, ...; jumps of 0 do nothing."""
        places = self.jumps / step
        below = places.astype(np.int64)
        share = places - below
        rates = np.zeros(_POINTS)
        rates += np.bincount(below, self.rates * (1 - share), _POINTS)
        rates += np.bincount(below + 1, self.rates * share, _POINTS)
        rates[0] = 0.0
        return rates


def _saddle_point(x: NDArray[np.float64], rates: NDArray[np.float64], mean: float) -> float:
    """Return the exponential tilt that gives the law this mean; 0 if its own mean is larger."""

    def excess(tilt: float) -> float:
        return float(np.log(x @ (rates * np.exp(tilt * x)) / mean))

    if excess(0.0) >= 0:
        return 0.0
    return float(brentq(excess, 0.0, _LARGEST_EXPONENT / x[-1], rtol=1e-6))
