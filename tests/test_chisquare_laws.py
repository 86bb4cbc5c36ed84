"""Laws: their tails against references, and the level that the test holds."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tolerance import assert_close

from fasthdmr import chisquare
from fasthdmr.chisquare.compound import CompoundPoisson
from fasthdmr.chisquare.exact_moments import inverse_of
from fasthdmr.chisquare.goodness_of_fit import null_laws
from fasthdmr.chisquare.laws import ChiSquared, Gaussian, PoissonPairs, Simulated, power_law_exponent

GOLDEN = json.loads((Path(__file__).parent / "golden" / "chisquare.json").read_text())["1_chi2_limit"]


@pytest.mark.parametrize("x", [-3.0, 0.0, 2.0, 80.0, 900.0])
def test_closed_tails_are_scipys(x):
    assert_close(ChiSquared(7).sf(x), stats.chi2.sf(x, 7))
    assert_close(Gaussian(1.0, 30.0).sf(x), stats.norm.sf(x, 1.0, 30.0))


def test_pairs_are_counted_exactly():
    n, k = 1000, 10**6
    law, mean = PoissonPairs(n, k), n * (n - 1) / 2 / k
    for pairs in range(5):
        statistic = 2 * k * pairs / n - n + k
        assert_close(law.sf(statistic), stats.poisson.sf(pairs - 1, mean))
        assert_close(law.sf(statistic + 1), stats.poisson.sf(pairs, mean))


@pytest.mark.parametrize("shift", [0, 1, 5, 30, 200])
def test_compound_tail_against_the_exact_poisson(shift):
    """With equal jumps it is a Poisson law, to a relative error also where the tail is 1e-200."""
    n, k = 1000, 10**5
    law = CompoundPoisson.of_probabilities(np.full(k, 1 / k), k, n)
    mean = law.rates.sum()
    jump, pairs = 2 * k / n, int(mean) + shift
    statistic = law.mean + jump * (pairs - 0.5 - mean)
    expected = stats.poisson.sf(pairs - 1, mean)
    # The lattice spreads jumps over two points, which has no effect near the middle between two atoms.
    assert_close(law.sf(statistic), expected, 0.02, reason="a jump is shared by two points of the lattice")


@pytest.mark.parametrize("alpha", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("lam", [1, 3])
def test_compound_law_has_the_cumulants_of_the_integral(alpha, lam):
    k = 10**8
    law = CompoundPoisson.of_power_law(k, alpha, int(lam * 1e4))
    variance, third = law.rates @ law.jumps**2, law.rates @ law.jumps**3
    assert_close(variance, law.sd**2)
    expected = np.sqrt(2) / (lam * (1 - alpha**2))
    assert_close(third / variance**1.5, expected, 1e-3, reason="n - 1 for n, and 4,096 nodes")
    row = next(r for r in GOLDEN["powerlaw_limit"] if (r["alpha"], r["lam"]) == (alpha, lam))
    assert_close(row["skew_theory"], expected)


def test_compound_law_against_simulation():
    """The integral at k = 1e6: Kolmogorov's distance above the atom of no pairs at all."""
    p, n = chisquare.power_law(10**6, 0.5), 1000
    values = np.sort(chisquare.simulate(p, n, 50_000, random_state=1).hdmr)
    law = CompoundPoisson.of_probabilities(p, len(p), n)
    for z in (-0.5, 0.0, 1.0, 2.0, 3.0, 4.0):
        statistic = law.mean + z * law.sd
        share, expected = (values >= statistic).mean(), law.sf(statistic)
        assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / len(values)) + 0.005 * expected
    assert law.sf(law.mean - 2 * law.sd) == 1.0


@pytest.mark.parametrize("rare", [1e-6, 1e-12, 1e-30, 1e-110, 1e-200])
def test_categories_of_negligible_probability_do_not_affect_the_law(rare):
    """Its 1/p dominates all moments, by which the Poisson integral would be chosen for large counts."""
    p = np.array([rare, *np.full(9, (1 - rare) / 9)])
    _, law = null_laws(1000, inverse_of(p), p)
    assert law.name.startswith("simulation")
    assert abs(law.sf(stats.chi2.isf(0.05, 8) + 1) - 0.05) < 0.005  # n p of it is nearly 0, and so is its part of chi2

    few = np.array([rare, *chisquare.power_law(10**5, 0.5) * (1 - rare)])
    _, law = null_laws(100, inverse_of(few), few)
    _, without = null_laws(100, inverse_of(few[1:]), few[1:] / (1 - rare))
    assert law.name == without.name == "compensated Poisson integral"
    for shift in (0.0, 300.0, 3000.0):
        assert_close(law.sf(10**5 + shift + 1), without.sf(10**5 + shift), 1e-3, reason="left out up to 1e-4 pairs")


def nearly_uniform(k):
    return np.full(k, 1 / k) * (1 + 1e-9 * np.random.default_rng(0).normal(size=k))


def of_two_values(k):
    return np.where(np.arange(k) % 2, 0.5 / k, 1.5 / k)


def of_heavy_and_light(k):
    return np.where(np.arange(k) < 10, 0.05, 0.5 / (k - 10))


@pytest.mark.parametrize("make", [nearly_uniform, of_two_values, of_heavy_and_light])
def test_tails_in_steps_are_simulated(make):
    """The statistic is at a step, which the integral's lattice blurs: its p-values would be off by 20 to 300 %."""
    p, n = make(10**5), 300
    p /= p.sum()
    _, law = null_laws(n, inverse_of(p), p)
    values = np.sort(chisquare.simulate(p, n, 100_000, random_state=5).hdmr)
    for level in (0.05, 0.03, 0.02, 0.01):
        at = values[int(len(values) * (1 - level))]
        share = (values >= at - 1e-7).mean()
        error = np.sqrt(share * (1 - share) / len(values))
        assert abs(law.sf(at) - share) < 4 * np.hypot(error, law.standard_error(share) or 0.0) + 0.05 * share


def test_smooth_tails_are_not():
    for p, n in ((chisquare.power_law(10**6, 0.75), 3000), (chisquare.power_law(10**5, 1.0), 10_000)):
        _, law = null_laws(n, inverse_of(p), p)
        assert law.name == "compensated Poisson integral"
        assert law.roughness() < 0.03


def test_exponent_from_the_sum():
    exact = inverse_of(chisquare.power_law(10**6, 0.5))
    assert_close(power_law_exponent(exact), 0.5, 3e-3, reason="the limit of large k")


def test_simulated_tail():
    law = Simulated(np.arange(1.0, 100.0), 1e-9, 1e-11)
    assert law.sf(1000.0) == 0.01 and law.sf(-5.0) == 1.0
    assert law.sf(99.0) == law.sf(99.0 + 1e-12) == law.sf(99.0 + 1.9e-9) == 0.02
    assert law.sf(99.0 + 2.1e-9) == 0.01


def share_rejected(law, values, level):
    """The share of values whose p-value is at most `level`, and the least of these values' own tail."""
    values = np.sort(values)
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if law.sf(values[middle]) <= level else (middle + 1, high)
    return 1 - low / len(values), law.sf(values[low]) if low < len(values) else 0.0


@pytest.mark.parametrize(("k", "n"), [(2500, 5000), (2500, 500), (2500, 50), (10**6, 1000)])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_level_is_held(k, n, alpha):
    """`python -m bench chisquare_level` in short. A lattice does not have every level: its own is compared."""
    p, n_runs = chisquare.power_law(k, alpha), 20_000
    _, law = null_laws(n, inverse_of(p), p)
    values = chisquare.simulate(p, n, n_runs, random_state=11).hdmr
    for level in (0.05, 0.01):
        share, own = share_rejected(law, values, level)
        assert own <= level and (own > 0.9 * level or alpha == 0)
        own_error = law.standard_error(own) or 0.0
        assert abs(share - own) < 4 * np.hypot(np.sqrt(level * (1 - level) / n_runs), own_error)
