"""Moments of both statistics: rational enumeration of all outcomes, reference numbers, and the HDMR itself."""

import json
from fractions import Fraction
from itertools import product
from math import factorial, prod
from pathlib import Path

import numpy as np
import pytest
from tolerance import assert_close

from fasthdmr import chisquare
from fasthdmr.chisquare.exact_moments import Inverse, inverse_of, moments_of
from fasthdmr.chisquare.observations import _inverse_of_sums

GOLDEN = json.loads((Path(__file__).parent / "golden" / "chisquare.json").read_text())["1_chi2"]
WEIGHTS = {3: (1, 2, 4), 4: (3, 1, 5, 7)}


def outcomes(p, n):
    """Yield the probability, chi2 and hdmr of all counts, as fractions."""
    for counts in product(range(n + 1), repeat=len(p)):
        if sum(counts) == n:
            probability = Fraction(factorial(n), prod(map(factorial, counts)))
            probability *= prod(q**c for q, c in zip(p, counts, strict=True))
            chi2 = sum((c - n * q) ** 2 / (n * q) for q, c in zip(p, counts, strict=True))
            S = sum(c / q for q, c in zip(p, counts, strict=True))
            yield probability, chi2, chi2 - S / n + len(p)


def central(values, order):
    mean = sum(q * v for q, v in values)
    return mean if order == 1 else sum(q * (v - mean) ** order for q, v in values)


@pytest.mark.parametrize(("k", "n"), [(3, 4), (4, 5), (3, 1)])
@pytest.mark.parametrize("uniform", [False, True])
def test_moments_agree_with_enumeration(k, n, uniform):
    weights = (1,) * k if uniform else WEIGHTS[k]
    p = [Fraction(w, sum(weights)) for w in weights]
    table = list(outcomes(p, n))
    chi2, hdmr = [(q, x) for q, x, _ in table], [(q, y) for q, _, y in table]
    found = chisquare.moments([float(q) for q in p], n)
    for statistic, variance, third in [
        (chi2, found.variance_chi2, found.third_chi2),
        (hdmr, found.variance_hdmr, found.third_hdmr),
    ]:
        assert central(statistic, 1) == k - 1 == found.mean
        assert_close(variance, float(central(statistic, 2)))
        assert_close(third, float(central(statistic, 3)))
    if central(chi2, 2):
        second = float(central(hdmr, 2) / central(chi2, 2))
        assert_close([found.first_order, found.second_order], [1 - second, second])


def test_components_are_the_hdmr():
    """The components of spec 7, from conditional means in rational arithmetic."""
    p, n = [Fraction(w, 7) for w in WEIGHTS[3]], 4

    def chi2(draws):
        return sum((draws.count(c) - n * q) ** 2 / (n * q) for c, q in enumerate(p))

    def mean(fixed):
        rest = product(range(3), repeat=n - len(fixed))
        return sum(prod(p[c] for c in others) * chi2(fixed + others) for others in rest)

    f = [(1 / q - 3) / n for q in p]
    pair = [[Fraction(2, n) * ((x == y) / p[x] - 1) for y in range(3)] for x in range(3)]
    assert mean(()) == 2
    for x in range(3):
        assert mean((x,)) - 2 == f[x]
        assert sum(q * value for q, value in zip(p, pair[x], strict=True)) == 0
        for y in range(3):
            assert mean((x, y)) - f[x] - f[y] - 2 == pair[x][y]


@pytest.mark.parametrize("row", GOLDEN["table_exact_C"] + GOLDEN["extra"])
def test_power_laws_agree_with_the_reference(row):
    p = chisquare.power_law(row["kn"], row["alpha"])
    found = chisquare.moments(p, row["n"])
    assert_close(1 / p[0], row["C"])
    assert found.mean == row["E"]
    assert_close(inverse_of(p).variance, row["Var_inv_mu"], 1e-10)
    assert_close(found.variance_chi2, row["Var_chi2"], 1e-11)
    assert_close(found.variance_hdmr, row["Var_hdmr"])
    assert_close(found.third_hdmr / found.variance_hdmr**1.5, row["skew_hdmr"])
    assert_close([found.first_order, found.second_order], [row["S1_sum"], row["S2_sum"]], 1e-11)


def test_nearly_uniform_probabilities_lose_no_digits():
    e = 1e-7
    found = inverse_of(np.array([0.5 + e, 0.5 - e]))
    assert_close(found.variance, 4 * (2 * e) ** 2 / (1 - 4 * e**2), 1e-8, reason="1/p - 2 itself has 9 digits")


def test_cells_of_probability_zero_do_not_count():
    assert chisquare.moments([0.2, 0.0, 0.8], 10) == chisquare.moments([0.2, 0.8], 10)


def test_moments_of_categories_of_tiny_probability():
    """What is above the largest number is infinite, nothing is NaN, and what is below it is right."""
    found = chisquare.moments([0.5, 0.5 - 1e-200, 1e-200], 10)
    assert_close([found.variance_chi2, found.third_hdmr], [1e199, 0.36e200])
    assert found.third_chi2 == np.inf and found.variance_hdmr == 3.6
    for rare in (1e-310, 5e-324):
        found = chisquare.moments([1.0, rare], 10)
        assert (found.variance_chi2, found.variance_hdmr) == (np.inf, 1.8)
        assert (found.first_order, found.second_order) == (1.0, 0.0)


def test_one_category_is_constant():
    found = chisquare.moments([1.0], 5)
    assert (found.mean, found.variance_chi2, found.first_order, found.second_order) == (0, 0, 0, 0)


def test_the_sum_of_inverses_determines_a_power_law():
    """The sum of 1/p alone gives the third moment of a power law, in the limit of many categories."""
    exact = inverse_of(chisquare.power_law(10**6, 0.5))
    found = _inverse_of_sums(10**6, exact.total)
    assert_close(found.variance, exact.variance)
    assert abs(found.third) < 1e-2 * 1e18  # 1/p is uniform on (0, 2k): 0 in the limit
    assert moments_of(found, 1000).third_hdmr == moments_of(exact, 1000).third_hdmr
    steep, alike = inverse_of(chisquare.power_law(10**6, 0.75)), Inverse(10**6, 1e12, 0.0, 0.0)
    third = _inverse_of_sums(10**6, steep.total).third
    assert_close(third, steep.third, 0.05, reason="the limit: corrections are of order k^(alpha - 1)")
    assert _inverse_of_sums(10**6, 1e12) == alike


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.5, 0.6], "sum to 1"),
        ([5, 5], "Divide expected counts"),
        ([0.5, np.nan], "NaN"),
        ([1.5, -0.5], "negative"),
        ([], "empty"),
        ([[0.5, 0.5]], "one-dimensional"),
        (1.0, "one-dimensional"),
        (np.ma.array([0.5, 0.5], mask=[1, 0]), "masked"),
        (["0.5", "0.5"], "p must be numbers, got values of type <U3"),
        ([0.5, 0.5j], "complex"),
        (np.array([0.5, None], object), "p must be numbers, got None"),
        (np.array([0.5, 0.5004], np.float32), "sum to 1"),
        ([0.5, 0.50000002], "sum to 1"),
        (np.array([1e4000, 1], np.longdouble), "infinite"),
    ],
)
def test_wrong_probabilities_are_refused(p, message):
    with pytest.raises(ValueError, match=message):
        chisquare.moments(p, 10)


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="n must be at least 1"):
        chisquare.moments([0.5, 0.5], 0)
    with pytest.raises(TypeError, match="integer"):
        chisquare.moments([0.5, 0.5], 2.5)
    with pytest.raises(ValueError, match="alpha"):
        chisquare.power_law(10, -1.0)
    for alpha in ("1", None, 1j, np.inf):
        with pytest.raises(ValueError, match="alpha must be a"):
            chisquare.power_law(10, alpha)
    with pytest.raises(ValueError, match="k must be"):
        chisquare.power_law(0, 0.5)
