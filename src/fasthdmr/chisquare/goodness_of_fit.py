"""The test: both statistics, each with a p-value from the most accurate law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.shown import Shown, ShownInNotebooks
from fasthdmr._support.warnings import FastHDMRWarning, warn
from fasthdmr.chisquare.binomial import binomial_pvalues
from fasthdmr.chisquare.enumeration import can_enumerate, enumerated_laws
from fasthdmr.chisquare.exact_moments import Inverse, moments_of
from fasthdmr.chisquare.laws import TOLERANCE, Constant, Law, Simulated, law_of_chi2, law_of_hdmr
from fasthdmr.chisquare.observations import Observed, observe, terms
from fasthdmr.chisquare.simulation import cost_of_run, rounding, simulate

# Runs of a simulation: standard error of 3 % for p-values of 0.01; fewer runs if each takes long.
_MOST_RUNS, _LEAST_RUNS, _DRAWS = 99_999, 999, 2_000_000_000


@dataclass(frozen=True, repr=False)
class ChiSquareResult(ShownInNotebooks):
    """The result of `test`.

    Attributes
    ----------
    statistic, pvalue : float
        Pearson's chi2.
    statistic_hdmr, pvalue_hdmr : float
        The HDMR statistic: chi2 without its components of first order.
    n, k : int
        Observations, and categories with p > 0.
    regime : float
        lambda = n / sqrt(k).
    method, method_hdmr : str
        The law of each p-value: "binomial", "chi2(k - 1)", "Gaussian", "Poisson", "compensated Poisson integral",
        "enumeration", "simulation (... runs)", "constant" or "impossible".
    standard_error, standard_error_hdmr : float or None
        The standard error of the p-value, if it is simulated.
    """

    statistic: float
    pvalue: float
    statistic_hdmr: float
    pvalue_hdmr: float
    n: int
    k: int
    regime: float
    method: str
    method_hdmr: str
    standard_error: float | None = None
    standard_error_hdmr: float | None = None

    def _shown(self) -> list[Shown]:
        rows = []
        for name, end in (("chi2", ""), ("HDMR", "_hdmr")):
            pvalue, error = getattr(self, f"pvalue{end}"), getattr(self, f"standard_error{end}")
            shown = f"{pvalue:.4g}" + ("" if error is None else f" (standard error {error:.2g})")
            rows.append((name, getattr(self, f"statistic{end}"), shown, getattr(self, f"method{end}")))
        title = f"Chi-square test of n = {self.n:,} observations in k = {self.k:,} categories"
        remark = f"(n / sqrt(k) = {self.regime:.4g})"
        return [Shown(("statistic", "value", "p-value", "law"), rows, title=title, remarks=[remark])]


def test(
    counts: Any,
    p: Any,
    *,
    samples: bool = False,
    k: int | None = None,
    inverse_sum: float | None = None,
    method: Literal["auto", "simulation"] = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> ChiSquareResult:
    """Test whether observations come from p, by Pearson's statistic and by the HDMR statistic.

    Large values are evidence against p. For two categories p-values are exact: the count is binomial (SciPy before 1.17
    has a relative error of 2.5e-17 n there, from 10^9 draws on). With more, a p-value comes from the asymptotic law
    with the smallest error at this n and k, estimated from exact moments. If that error is above 5 % at the p-values
    0.05 and 0.01, the law is exact by enumeration of all vectors of counts if there are few of them, and simulated if
    there are many. Simulation needs Numba (the extra ``chisquare``), except for many more draws than categories.

    Parameters
    ----------
    counts : array-like of shape (k,), Series, or mapping
        Whole numbers in the order of p, or {category: count}, where categories that did not occur may be left out. A
        Series is matched by its index where p has names or is callable, else by position. With ``samples=True`` the
        draws themselves: names of categories, or positions in p.
    p : array-like of shape (k,), Series, mapping, or callable
        Probabilities. A callable gives p(category) for categories that occurred; arrays of size k are avoided then, so
        simulation is not possible. If p is not uniform, laws that need more than `k` and `inverse_sum` are those of
        the power law with the same values. Categories of probability 0 do not count; if one occurs, both statistics
        are infinite.
    samples : bool
        Whether `counts` are draws.
    k : int, with a callable p
        The number of categories.
    inverse_sum : float, with a callable p
        The sum of 1/p over all categories.
    method : {"auto", "simulation"}
        "simulation" replaces all other laws, for example to check them.
    random_state : None, int, RandomState, Generator or SeedSequence
        Seed or generator of the random numbers of the simulation.
    n_jobs : int or None
        Threads of the simulation; the result does not depend on them.

    Returns
    -------
    ChiSquareResult

    Raises
    ------
    ValueError, TypeError
        If the arguments are inconsistent.
    ImportError
        If only a simulation can tell, and Numba is missing.

    Examples
    --------
    >>> result = test([180, 210, 220, 190, 195, 205], np.full(6, 1 / 6))
    >>> print(f"{result.statistic:.3f} {result.pvalue:.4f} {result.method}")
    5.250 0.3861 chi2(k - 1)

    A thousand draws from a million categories, of which 4 occurred twice:

    >>> counts = {category: 1 for category in range(992)} | {category: 2 for category in range(992, 996)}
    >>> result = test(counts, lambda category: 1e-6, k=10**6, inverse_sum=1e12)
    >>> print(f"{result.pvalue_hdmr:.5f} {result.method_hdmr}, lambda = {result.regime:g}")
    0.00175 Poisson, lambda = 1
    """
    if method not in ("auto", "simulation"):
        raise ValueError(f'method must be "auto" or "simulation", got {method!r}.')
    observed = observe(counts, p, samples=samples, k=k, inverse_sum=inverse_sum)
    n, n_categories = observed.n, observed.inverse.k
    regime = n / math.sqrt(n_categories)
    if observed.is_impossible:
        return ChiSquareResult(np.inf, 0.0, np.inf, 0.0, n, n_categories, regime, "impossible", "impossible")
    chi2, hdmr = statistics(observed)
    if n_categories == 2 and method == "auto":
        pvalues = binomial_pvalues(observed)
        return ChiSquareResult(chi2, pvalues[0], hdmr, pvalues[1], n, n_categories, regime, "binomial", "binomial")
    laws = null_laws(n, observed.inverse, observed.p, method=method, random_state=random_state, n_jobs=n_jobs)
    law, law_hdmr = laws
    pvalue, pvalue_hdmr = law.sf(chi2), law_hdmr.sf(hdmr)
    errors = law.standard_error(pvalue), law_hdmr.standard_error(pvalue_hdmr)
    names = law.name, law_hdmr.name
    return ChiSquareResult(chi2, pvalue, hdmr, pvalue_hdmr, n, n_categories, regime, *names, *errors)


def statistics(observed: Observed) -> tuple[float, float]:
    """Return chi2 and hdmr.

    Parameters
    ----------
    observed : Observed

    Returns
    -------
    tuple of float
    """
    n = observed.n
    squares, own = terms(observed.counts, n * observed.probabilities)
    with np.errstate(over="ignore"):  # overflow gives infinity
        chi2 = float(squares.sum()) + n * observed.unseen
    if observed.inverse.is_uniform:  # sum f_i = S / n - k = 0, without rounding
        return chi2, chi2
    return chi2, float(own.sum()) + n * observed.unseen + observed.inverse.k


def null_laws(
    n: int,
    inverse: Inverse,
    p: NDArray[np.float64] | None,
    *,
    method: str = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> tuple[Law, Law]:
    """Return the laws of chi2 and hdmr that p-values are taken from.

    Parameters
    ----------
    n : int
    inverse : Inverse
    p : ndarray of shape (k,) or None
        All positive; None if unknown.
    method, random_state, n_jobs
        As for `test`.

    Returns
    -------
    tuple of Law
    """
    if p is None and method == "simulation":
        raise ValueError("A callable p cannot be simulated. Pass the probabilities of all categories.")
    moments = moments_of(inverse, n)
    best_hdmr = law_of_hdmr(moments, inverse, p)
    best = best_hdmr if inverse.is_uniform else law_of_chi2(moments)
    if isinstance(best.law, Constant):
        return best.law, best_hdmr.law
    poor, poor_hdmr = (method == "simulation" or found.error > TOLERANCE for found in (best, best_hdmr))
    if not (poor or poor_hdmr):
        return best.law, best_hdmr.law
    if p is None:
        warn(
            f"No law is within {TOLERANCE:.0%} of its p-values for n = {n}, k = {inverse.k}; the closest law is used. "
            "Pass the probabilities of all categories to simulate it.",
            FastHDMRWarning,
        )
        return best.law, best_hdmr.law
    replacing: tuple[Law, Law]
    if method == "auto" and can_enumerate(n, len(p)):
        replacing = enumerated_laws(p, n)
    else:
        replacing = _simulated(p, n, random_state, n_jobs)
    return (replacing[0] if poor else best.law), (replacing[1] if poor_hdmr else best_hdmr.law)


def _simulated(p: NDArray[np.float64], n: int, random_state: Any, n_jobs: int | None) -> tuple[Simulated, Simulated]:
    """Return both laws from one simulation."""
    n_runs = min(_MOST_RUNS, max(_LEAST_RUNS, _DRAWS // cost_of_run(n, len(p))))
    found = simulate(p, n, n_runs, random_state=random_state, n_jobs=n_jobs)
    chi2, hdmr = (Simulated(np.sort(values), *rounding(n, len(p), n_runs)) for values in (found.chi2, found.hdmr))
    return chi2, hdmr
