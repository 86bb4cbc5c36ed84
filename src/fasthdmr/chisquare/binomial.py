"""Two categories: the count of one of them is binomial, so that p-values are exact."""

from __future__ import annotations

import numpy as np
from scipy import stats

from fasthdmr.chisquare.observations import Observed


def binomial_pvalues(observed: Observed) -> tuple[float, float]:
    """Return the p-values of chi2 and hdmr.

    With N draws in the one category, of probability p, chi2 grows with |N - n p|, and hdmr with |N - (n - 1) p - 1/2|.

    Parameters
    ----------
    observed : Observed
        Of two categories, whose probabilities are known.

    Returns
    -------
    tuple of float
    """
    assert observed.p is not None
    n, p = observed.n, float(observed.p.min())  # the smaller one: 1 - p may be rounded to 1
    occurred = observed.counts[observed.probabilities == p]
    count = float(occurred[0]) if len(occurred) else 0.0
    # Distances that differ by less are equal up to the rounding of p. With a larger tolerance, distinct outcomes of a
    # rare category would count as equal in very large samples.
    tie = observed.tolerance * min(4 * n * observed.tolerance, 16)
    return _two_sided(count, n * p, tie, n, p), _two_sided(count, (n - 1) * p + 0.5, tie, n, p)


def _two_sided(count: float, centre: float, tie: float, n: int, p: float) -> float:
    """Return the two-sided probability of a count at least as far from the centre."""
    mirrored = 2 * centre - count
    low, high = (count, np.ceil(mirrored - tie)) if count <= centre else (np.floor(mirrored + tie), count)
    if high <= low + 1:
        return 1.0
    return min(1.0, float(stats.binom.cdf(low, n, p) + stats.binom.sf(high - 1, n, p)))
