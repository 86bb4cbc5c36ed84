"""Two categories: exact p-values against enumeration in fractions, whatever p and however large n."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb

import numpy as np
import pytest
import scipy
from scipy import stats
from tolerance import assert_close

from fasthdmr import chisquare


def enumerated(count, n, p):
    """P-values of both statistics: outcomes whose statistic is as large, ties included."""
    q = 1 - p

    def chi2(m):
        return (m - n * p) ** 2 / (n * p * q)

    def hdmr(m):
        return chi2(m) - (m / p + (n - m) / q) / n

    law = [comb(n, m) * p**m * q ** (n - m) for m in range(n + 1)]
    return [float(sum(law[m] for m in range(n + 1) if f(m) >= f(count))) for f in (chi2, hdmr)]


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("p", ["1/2", "1/3", "3/10", "1/1000", "999/1000", "1/7", "1/99999999"])
def test_agrees_with_enumeration(p, n):
    """Of the float p: one that is 3/10 but for its rounding has the ties of 3/10."""
    exact = Fraction(p)
    for count in range(n + 1):
        found = chisquare.test([count, n - count], [float(exact), float(1 - exact)])
        desired = enumerated(count, n, exact)
        assert found.method == found.method_hdmr == "binomial" and found.standard_error is None
        assert_close([found.pvalue, found.pvalue_hdmr], desired, 1e-11)
        # 1 - p has a rounding error of 1e-16, so its relative error is larger if it is small.
        found = chisquare.test([count, n - count], [float(exact), 1 - float(exact)])
        assert_close([found.pvalue, found.pvalue_hdmr], desired, 1e-7, reason="1 - 99999999/1e8 has 8 digits")


def test_p_in_float32_has_its_ties():
    """3/10 as float32 is 0.30000001: 1 and 5 of 10 are not as far from 3 as each other, but for its rounding."""
    for count in range(11):
        narrow = chisquare.test([count, 10 - count], np.array([0.3, 0.7], np.float32))
        expected = chisquare.test([count, 10 - count], [0.3, 0.7])
        assert_close(narrow.pvalue, expected.pvalue, 1e-6, reason="float32")


def test_symmetric_ones_are_scipys_binomial_test():
    for counts in ([1000, 100], [100, 1000], [551, 549], [550, 550], [0, 1100]):
        expected = stats.binomtest(counts[0], sum(counts), 0.5).pvalue
        assert_close(chisquare.test(counts, [0.5, 0.5]).pvalue, expected, 1e-11)
    far = Fraction(sum(comb(1100, m) for m in range(101)), 2**1099)
    assert_close(chisquare.test([1000, 100], [0.5, 0.5]).pvalue, float(far), 1e-11)
    assert_close(float(far), 2.32745e-187, 1e-5, reason="as printed; chi2(1) says 3.7e-162 here")


@pytest.mark.parametrize(
    ("counts", "rare"), [([1000, 0], 1e-6), ([2, 0], 1e-3), ([100_000, 1], 1e-8), ([5, 1], 5e-324), ([5, 0], 5e-324)]
)
def test_a_rare_category(counts, rare):
    n = sum(counts)
    found = chisquare.test(counts, [1 - rare, rare])
    expected = 1.0 if counts[1] == 0 else -np.expm1(n * np.log1p(-rare))
    assert_close(found.pvalue, expected, 1e-9)
    simulated = chisquare.test(counts, [1 - rare, rare], method="simulation")
    assert abs(simulated.pvalue - expected) <= 4 * simulated.standard_error + 1e-5


def upper_tail(count, n):
    """P(X >= count) of n fair coins in 40 digits: Stirling's series, and Gauss's fraction for its ratio to P(count)."""
    with localcontext() as context:
        context.prec = 40
        pi = Decimal("3.141592653589793238462643383279502884197")

        def log_factorial(m):
            m = Decimal(m)
            return m * m.ln() - m + (2 * pi * m).ln() / 2 + 1 / (12 * m) - 1 / (360 * m**3)

        ratio, b, c = Decimal(1), Decimal(count - n), Decimal(count + 1)
        for i in range(3000, 0, -1):
            m, odd = divmod(i, 2)
            step = (
                (b + m) * (c - 1 + m) / ((c + 2 * m - 1) * (c + 2 * m))
                if odd
                else m * (c - 1 - b + m) / ((c + 2 * m - 2) * (c + 2 * m - 1))
            )
            ratio = 1 + step / ratio
        first = log_factorial(n) - log_factorial(count) - log_factorial(n - count) - n * Decimal(2).ln()
        return float(first.exp() / ratio)


@pytest.mark.parametrize("n", [10**6, 10**12, 10**15])
def test_many_observations(n):
    """Three and thirty standard deviations out, on both sides."""
    old_scipy = tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 17)
    for z in (3, 30):
        above = n // 2 + int(z * n**0.5 / 2)
        assert_close(
            chisquare.test([above, n - above], [0.5, 0.5]).pvalue,
            2 * upper_tail(above, n),
            max(1e-6, 3e-17 * n) if old_scipy else 1e-6,
            reason="a density of n trials has the rounding of n * 1e-16 in its logarithm's terms; before SciPy 1.17 "
            "the incomplete beta function is wrong by a factor of 1 + 2.5e-17 n",
        )
    assert chisquare.test([n // 2, n // 2], [0.5, 0.5]).pvalue == 1


def test_level_is_never_above_the_nominal_one():
    """The probability of p-values below a level is at most the level; it is smaller if the binomial has gaps."""
    n, p = 60, 0.07
    law = stats.binom.pmf(np.arange(n + 1), n, p)
    found = [chisquare.test([m, n - m], [p, 1 - p]) for m in range(n + 1)]
    for pvalues in ([f.pvalue for f in found], [f.pvalue_hdmr for f in found]):
        for level in (*pvalues, 0.05, 0.01):
            assert law[np.array(pvalues) <= level].sum() <= level * (1 + 1e-9)


def test_a_callable_gives_the_same_p_values():
    by_name = {"a": 0.3, "b": 0.7}
    expected = chisquare.test({"a": 9, "b": 4}, by_name)
    assert chisquare.test({"a": 9, "b": 4}, by_name.get, k=2, inverse_sum=1 / 0.3 + 1 / 0.7) == expected
    for name in by_name:
        found = chisquare.test({name: 4}, by_name.get, k=2, inverse_sum=1 / 0.3 + 1 / 0.7)
        dense = chisquare.test({name: 4}, by_name)
        assert found.method == "binomial"
        assert_close([found.pvalue, found.pvalue_hdmr], [dense.pvalue, dense.pvalue_hdmr])
    rare = chisquare.test({"a": 4}, lambda c: 1 - 1e-20, k=2, inverse_sum=1e20)
    assert rare.pvalue == 1
