"""Laws of a statistic under the null hypothesis: their upper tails, and estimates of their errors.

As n grows with lambda = n / sqrt(k), a fixed k leads to chi2 with k - 1 degrees of freedom, k and lambda to infinity to
a Gaussian, lambda to a finite limit to a Poisson law (uniform p), or to a compensated Poisson integral (hdmr, any p).
The error of each at finite n is estimated from the exact moments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

from fasthdmr.chisquare.compound import CompoundPoisson, is_negligible
from fasthdmr.chisquare.exact_moments import Inverse, Moments, moments_of

# Largest accepted relative error of a law at the p-values 0.05 and 0.01.
TOLERANCE = 0.05
# Quantiles of the Gaussian at upper tails 0.05 and 0.01, and density over tail there.
_POINTS = ((1.6449, 2.0627), (2.3263, 2.6652))

_LARGEST_EXPONENT = 0.999  # largest exponent of a power law that replaces p


class Law(Protocol):
    """The law of a statistic."""

    @property
    def name(self) -> str:
        """The text of `ChiSquareResult.method`."""

    def sf(self, statistic: float) -> float:
        """Return the probability of the statistic or more."""

    def standard_error(self, pvalue: float) -> float | None:
        """Return the standard error of a p-value if it is simulated, else None."""


class Exact:
    """A law that is not simulated."""

    def standard_error(self, pvalue: float) -> float | None:
        """Return None."""
        return None


@dataclass(frozen=True)
class Constant(Exact):
    """The law of a constant statistic: n = 1 or k = 1."""

    name: str = "constant"

    def sf(self, statistic: float) -> float:
        """Return the probability of the statistic or more."""
        return 1.0


@dataclass(frozen=True)
class ChiSquared(Exact):
    """The limit of n to infinity at fixed k."""

    df: int
    name: str = "chi2(k - 1)"

    def sf(self, statistic: float) -> float:
        """Return the probability of the statistic or more."""
        return float(special.chdtrc(self.df, max(statistic, 0.0)))


@dataclass(frozen=True)
class Gaussian(Exact):
    """The limit of k and lambda to infinity, with the exact mean and variance."""

    mean: float
    sd: float
    name: str = "Gaussian"

    def sf(self, statistic: float) -> float:
        """Return the probability of the statistic or more."""
        return float(special.ndtr((self.mean - statistic) / self.sd))


@dataclass(frozen=True)
class PoissonPairs(Exact):
    """The limit of fixed lambda for uniform p: the number of pairs of equal draws is Poisson distributed.

    Its mean is the exact n (n - 1) / 2k, whose limit is lambda^2 / 2.
    """

    n: int
    k: int
    name: str = "Poisson"

    def sf(self, statistic: float) -> float:
        """Return the probability of the statistic or more."""
        pairs = math.ceil((statistic + self.n - self.k) * self.n / (2 * self.k) - 1e-6)
        return 1.0 if pairs <= 0 else float(special.pdtrc(pairs - 1, self.n * (self.n - 1) / (2 * self.k)))


@dataclass(frozen=True)
class Simulated:
    """The empirical law of a simulation: values in ascending order.

    Values that differ by less than the rounding errors `absolute` and `relative` are equal.
    """

    values: NDArray[np.float64]
    absolute: float
    relative: float

    @property
    def name(self) -> str:
        """Return the text of the method, with the number of runs."""
        return f"simulation ({len(self.values)} runs)"

    def sf(self, statistic: float) -> float:
        """Return the p-value; the observed sample counts as one of the runs, so that it is not 0."""
        slack = self.absolute + self.relative * abs(statistic)
        below = int(np.searchsorted(self.values, statistic - slack))
        return (1 + len(self.values) - below) / (1 + len(self.values))

    def standard_error(self, pvalue: float) -> float | None:
        """Return the standard error of a p-value."""
        return math.sqrt(pvalue * (1 - pvalue) / len(self.values))


@dataclass(frozen=True)
class Candidate:
    """A law and the relative error of its p-values, estimated."""

    law: Law
    error: float


def _candidate(
    law: Law, sd: float, skewness: float, exact_sd: float, exact_third: float, step: float = 0.0, order: float = 0.0
) -> Candidate:
    """Estimate the error of a law from its moments by the first terms of an Edgeworth expansion.

    `step` is the spacing of the values of the statistic; a continuous law neglects half of it. `order` is that of the
    first term that is not computed.
    """
    exact_skewness = exact_third / exact_sd / exact_sd / exact_sd  # the cube may overflow
    scale, skew = abs(math.log(sd) - math.log(exact_sd)), abs(skewness - exact_skewness)
    errors = [hazard * (z * scale + skew * (z * z - 1) / 6 + step / exact_sd / 2) + order for z, hazard in _POINTS]
    error = max(errors)
    return Candidate(law, error if math.isfinite(error) else math.inf)


def _continuous(moments: Moments, variance: float, third: float, step: float = 0.0) -> list[Candidate]:
    """Return the laws for many observations: chi2 and the Gaussian."""
    df, sd, order = moments.k - 1, math.sqrt(variance), 1 / moments.n
    return [
        _candidate(ChiSquared(df), math.sqrt(2 * df), math.sqrt(8 / df), sd, third, step, order),
        _candidate(Gaussian(moments.mean, sd), sd, 0.0, sd, third, step, order),
    ]


def law_of_hdmr(moments: Moments, inverse: Inverse, p: NDArray[np.float64] | None) -> Candidate:
    """Return the law with the smallest error for hdmr.

    Parameters
    ----------
    moments : Moments
    inverse : Inverse
    p : ndarray of shape (k,) or None
        All positive. None: only sums over 1/p are known; p is replaced by the power law with the same sums.

    Returns
    -------
    Candidate
    """
    n, k, variance, third = moments.n, moments.k, moments.variance_hdmr, moments.third_hdmr
    if variance == 0:
        return Candidate(Constant(), 0.0)
    sd = math.sqrt(variance)
    if inverse.is_uniform:
        candidates = _continuous(moments, variance, third, step=2 * k / n)
        mean = n * (n - 1) / (2 * k)
        law = PoissonPairs(n, k)
        candidates.append(_candidate(law, 2 * k / n * math.sqrt(mean), 1 / math.sqrt(mean), sd, third))
        return _nearest(candidates)
    continuous = _continuous(moments, variance, third)
    nearest = _nearest([*continuous, *_compound(inverse, n, p)])
    if isinstance(nearest.law, CompoundPoisson):  # computing its roughness takes as long as all else
        nearest = _nearest([*continuous, Candidate(nearest.law, nearest.error + nearest.law.roughness())])
    return nearest


def _compound(inverse: Inverse, n: int, p: NDArray[np.float64] | None) -> list[Candidate]:
    """Return the compensated Poisson integral; None if it is constant, since all categories but one are rare.

    Categories so rare that two draws in one are not expected do not affect the tail, but would dominate the moments.
    """
    if p is None:
        law, k, total = (
            CompoundPoisson.of_power_law(inverse.k, power_law_exponent(inverse), n),
            inverse.k,
            inverse.total,
        )
    else:
        kept = p[~is_negligible(p, n)]
        if len(kept) < 2:
            return []
        law, k, total = CompoundPoisson.of_probabilities(kept, inverse.k, n), len(kept), float((1 / kept).sum())
    exact = moments_of(Inverse(k, total, 0.0, 0.0), n)
    sd = math.sqrt(exact.variance_hdmr)
    return [_candidate(law, sd, 4 * (n - 1) / n**2 * total / sd**3, sd, exact.third_hdmr)]


def law_of_chi2(moments: Moments) -> Candidate:
    """Return the law with the smallest error for chi2 if p is not uniform (else chi2 and hdmr are equal).

    Parameters
    ----------
    moments : Moments

    Returns
    -------
    Candidate
    """
    return _nearest(_continuous(moments, moments.variance_chi2, moments.third_chi2))


def _nearest(candidates: Sequence[Candidate]) -> Candidate:
    return min(candidates, key=lambda candidate: candidate.error)


def power_law_exponent(inverse: Inverse) -> float:
    """Return alpha of the power law with this sum of 1/p: k^2 / (1 - alpha^2), in the limit of large k.

    Parameters
    ----------
    inverse : Inverse

    Returns
    -------
    float
        In [0, 1).
    """
    return min(_LARGEST_EXPONENT, math.sqrt(max(0.0, 1 - inverse.k**2 / inverse.total)))
