"""The test: statistics, all forms of input, invalid input, and the law of each regime."""

import pickle
import tracemalloc
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tolerance import assert_close

from fasthdmr import chisquare

COUNTS = [180, 220, 240, 160, 200, 200]
UNIFORM = np.full(6, 1 / 6)


def refuse_to_simulate(*arguments, **options):
    raise AssertionError("simulated")


def test_agrees_with_scipy_where_chi2_holds():
    found, expected = chisquare.test(COUNTS, UNIFORM), stats.chisquare(COUNTS)
    assert_close([found.statistic, found.pvalue], [expected.statistic, expected.pvalue])
    assert found.statistic_hdmr == found.statistic and found.pvalue_hdmr == found.pvalue
    assert found.method == found.method_hdmr == "chi2(k - 1)"
    assert found.standard_error is None
    assert (found.n, found.k) == (1200, 6)
    assert_close(found.regime, 1200 / np.sqrt(6))


def test_hdmr_statistic_by_its_definition():
    rng = np.random.default_rng(0)
    p = chisquare.power_law(40, 0.5)
    draws = rng.choice(40, 300, p=p)
    found = chisquare.test(draws, p, samples=True)
    first = (1 / p[draws] - 40) / 300
    equal = draws[:, None] == draws
    second = (2 / 300 * (equal / p[draws] - 1))[np.triu_indices(300, 1)]
    assert_close(found.statistic_hdmr, 39 + second.sum(), 1e-11)
    assert_close(found.statistic, 39 + first.sum() + second.sum(), 1e-11)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint64, np.float32, object])
def test_counts_do_not_overflow(dtype):
    counts = np.array([100, 120, 10], dtype)
    expected = stats.chisquare([100.0, 120.0, 10.0], [115, 69, 46])
    assert_close(chisquare.test(counts, [0.5, 0.3, 0.2]).statistic, expected.statistic)
    assert chisquare.test(np.array([200, 201], np.uint8), [0.5, 0.5]).statistic < 1
    assert chisquare.test([2**62, 2**62], [0.5, 0.5]).statistic == 0


def test_all_forms_of_input_give_the_same():
    p = np.array([0.1, 0.2, 0.3, 0.4])
    counts = np.array([110, 0, 430, 460])
    draws = np.random.default_rng(0).permutation(np.repeat(np.arange(4), counts))
    names = ["a", "b", "c", "d"]
    named = {name: int(count) for name, count in zip(names, counts, strict=True) if count}
    series = pd.Series(counts, names)
    by_name = dict(zip(names, p, strict=True))
    same = [
        chisquare.test(list(counts), p),
        chisquare.test({0: 110, 2: 430, 3: 460}, p),
        chisquare.test(draws, p, samples=True),
        chisquare.test(series, p),
        chisquare.test(named, by_name),
        chisquare.test(series[::-1], by_name),
        chisquare.test(series.drop("b")[::-1], pd.Series(p, names)),
        chisquare.test(np.array(names)[draws], by_name, samples=True),
        chisquare.test([names[c] for c in draws], pd.Series(p, names), samples=True),
        chisquare.test(pd.Series(draws), p, samples=True),
    ]
    assert len(set(same)) == 1
    callable_p = [
        chisquare.test(named, by_name.get, k=4, inverse_sum=(1 / p).sum()),
        chisquare.test(series, by_name.get, k=4, inverse_sum=(1 / p).sum()),
        chisquare.test(np.array(names)[draws], by_name.get, samples=True, k=4, inverse_sum=(1 / p).sum()),
    ]
    for found in callable_p:
        assert_close(found.statistic, same[0].statistic)
        assert_close(found.statistic_hdmr, same[0].statistic_hdmr)
        assert_close(found.pvalue_hdmr, same[0].pvalue_hdmr, 1e-11)


def test_categories_of_probability_zero():
    assert chisquare.test([180, 0, 220], [0.5, 0, 0.5]) == chisquare.test([180, 220], [0.5, 0.5])
    for found in (
        chisquare.test([10, 1, 10], [0.5, 0, 0.5]),
        chisquare.test({"a": 5, "b": 1}, {"a": 1.0, "b": 0.0}.get, k=1, inverse_sum=1.0),
    ):
        assert found.statistic == found.statistic_hdmr == np.inf
        assert found.pvalue == found.pvalue_hdmr == 0
        assert found.method == "impossible"


def test_constant_statistics():
    assert chisquare.test([5], [1.0]).pvalue == 1
    one = chisquare.test([0, 1, 0], [0.25, 0.25, 0.5])
    assert one.method_hdmr == "constant" and one.pvalue_hdmr == 1
    assert_close([one.statistic, one.statistic_hdmr], [3, 2])
    assert_close(one.pvalue, 0.5)


def test_far_tails_have_small_relative_errors():
    far = chisquare.test([2200, 1800, 2000], np.full(3, 1 / 3))
    assert 0 < far.pvalue < 1e-8
    assert_close(far.pvalue, stats.chi2.sf(far.statistic, 2), 1e-10)
    far = chisquare.test([40_000] + [10_000] * 999, np.full(1000, 1e-3))
    assert 0 <= far.pvalue < 1e-300


def test_a_million_categories_that_did_not_occur():
    """No array of size k is made, and dense probabilities give the same."""
    k, n = 10**12, 10**5
    rng = np.random.default_rng(0)
    draws = rng.integers(0, k, n)
    draws[:3] = draws[3:6]
    tracemalloc.start()
    found = chisquare.test(draws, lambda category: 1 / k, samples=True, k=k, inverse_sum=float(k) ** 2)
    assert tracemalloc.get_traced_memory()[1] < 1e8
    tracemalloc.stop()
    assert found.method_hdmr == "Poisson"
    assert_close(found.pvalue_hdmr, stats.poisson.sf(2, n * (n - 1) / 2 / k), 1e-9)

    k, n = 10**6, 1000
    p = chisquare.power_law(k, 0.5)
    draws = rng.choice(k, n, p=p)
    dense = chisquare.test(draws, p, samples=True)
    sparse = chisquare.test(draws, lambda c: p[c], samples=True, k=k, inverse_sum=(1 / p).sum())
    assert dense.method_hdmr == sparse.method_hdmr == "compensated Poisson integral"
    assert_close(sparse.statistic_hdmr, dense.statistic_hdmr, 1e-9)
    assert_close(sparse.pvalue_hdmr, dense.pvalue_hdmr, 1e-2, reason="the limit of k instead of k = 1e6")


@pytest.mark.parametrize(
    ("alpha", "k", "n", "name", "name_hdmr"),
    [
        (0.0, 10, 10_000, "chi2(k - 1)", "chi2(k - 1)"),
        (0.5, 10, 10_000, "chi2(k - 1)", "chi2(k - 1)"),
        (0.0, 2500, 5000, "chi2(k - 1)", "chi2(k - 1)"),
        (0.5, 2500, 5000, "simulation", "chi2(k - 1)"),
        (0.5, 2500, 500, "simulation", "simulation"),
        (0.0, 2500, 50, "simulation", "simulation"),
        (0.0, 10**6, 1000, "Poisson", "Poisson"),
        (0.5, 10**6, 1000, "Gaussian", "compensated Poisson integral"),
        (0.0, 2, 30, "binomial", "binomial"),
        (0.5, 2, 3 * 10**9, "binomial", "binomial"),
        (0.0, 3, 30, "enumeration", "enumeration"),
    ],
)
def test_each_regime_has_its_law(alpha, k, n, name, name_hdmr):
    found = chisquare.test({0: n // 2, 1: n - n // 2}, chisquare.power_law(k, alpha))
    assert found.method.startswith(name) and found.method_hdmr.startswith(name_hdmr)


def test_simulation_replaces_the_laws():
    law = chisquare.test(COUNTS, UNIFORM)
    found = chisquare.test(COUNTS, UNIFORM, method="simulation")
    assert found.method == found.method_hdmr == "simulation (99999 runs)"
    assert_close(found.standard_error, np.sqrt(found.pvalue * (1 - found.pvalue) / 99_999))
    assert abs(found.pvalue - law.pvalue) < 4 * found.standard_error + 1e-4
    assert found == chisquare.test(COUNTS, UNIFORM, method="simulation", n_jobs=2)
    assert found != chisquare.test(COUNTS, UNIFORM, method="simulation", random_state=1)
    assert chisquare.test([900, 100], [0.5, 0.5], method="simulation").pvalue == 1e-5  # never 0


def test_ties_count_as_as_extreme():
    """Every sample of 2 draws that are not alike has the same statistics, whatever their rounding."""
    p = np.full(7, 1 / 7)
    assert chisquare.test({0: 1, 3: 1}, p).pvalue == 1.0
    assert_close(chisquare.test({2: 2}, p).pvalue, 1 / 7)
    assert chisquare.test({0: 1, 3: 1}, p, method="simulation").pvalue == 1.0


def test_a_callable_without_a_near_law_warns():
    p = chisquare.power_law(2500, 0.5)
    with pytest.warns(UserWarning, match="No law is within 5%"):
        chisquare.test({0: 250, 7: 250}, lambda c: p[c], k=2500, inverse_sum=(1 / p).sum())
    with pytest.raises(ValueError, match="cannot be simulated"):
        chisquare.test({0: 9}, lambda c: 1 / 3, k=3, inverse_sum=9.0, method="simulation")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chisquare.test({0: 250, 7: 250}, p)


@pytest.mark.parametrize(
    ("counts", "p", "options", "message"),
    [
        ([1, 2, 3], [0.5, 0.5], {}, "3 counts, but 2 probabilities"),
        ([1, -2], [0.5, 0.5], {}, "negative"),
        ([1, np.nan], [0.5, 0.5], {}, "NaN"),
        ([1, np.inf], [0.5, 0.5], {}, "infinite"),
        ([0.5, 0.5], [0.5, 0.5], {}, "frequencies"),
        (["a", "b"], [0.5, 0.5], {}, "whole numbers"),
        ([0, 0], [0.5, 0.5], {}, "at least one observation"),
        (5, [0.5, 0.5], {}, "one-dimensional"),
        ([], [], {}, "not empty"),
        ([[1, 2]], [0.5, 0.5], {}, "one-dimensional"),
        ([5, 5], [5, 5], {}, "Divide expected counts"),
        ([5, 5], [0.5, np.nan], {}, "NaN"),
        ([0, 2], [0.5, 0.5], {"samples": True}, "Category 2 occurred"),
        (["a", None], {"a": 1.0}, {"samples": True}, "missing"),
        ({"c": 1}, {"a": 1.0}, {}, "Category 'c'"),
        (pd.Series([1, 1], ["a", "a"]), {"a": 1.0}, {}, "counts name a category twice"),
        ([1, 1], pd.Series([0.5, 0.5], ["a", "a"]), {}, "p names a category twice"),
        ([1, 1], [0.5, 0.5], {"k": 2}, "callable p"),
        ([1, 1], [0.5, 0.5], {"method": "exact"}, "method"),
        ({"a": 1}, lambda c: 0.5, {}, "needs k"),
        ({"a": 1}, lambda c: 1.5, {"k": 2, "inverse_sum": 4.0}, "from 0 to 1"),
        ({"a": 1}, lambda c: np.nan, {"k": 2, "inverse_sum": 4.0}, "from 0 to 1"),
        ({"a": 1, "b": 1}, lambda c: 0.7, {"k": 2, "inverse_sum": 4.0}, "more than 1"),
        ({"a": 1, "b": 1}, lambda c: 0.5, {"k": 1, "inverse_sum": 4.0}, "k is 1"),
        ({"a": 1, "b": 1}, lambda c: 0.3, {"k": 2, "inverse_sum": 7.0}, "k = 2 categories occurred.*0.6, less than 1"),
        ({"a": 1, "b": 1}, lambda c: 0.5, {"k": 2, "inverse_sum": 7.0}, "the sum of 1/p is 4"),
        ({"a": 1, "b": 1}, lambda c: 0.1, {"k": 4, "inverse_sum": 24.0}, "is at least 25"),
        ({"a": 1}, lambda c: "0.5", {"k": 2, "inverse_sum": 4.0}, "p must give numbers"),
        ({"a": 1, "b": 1}, lambda c: 0.5, {"k": 3, "inverse_sum": 4.0}, "inverse_sum"),
        ({"a": 1}, lambda c: 0.5, {"k": 2, "inverse_sum": np.inf}, "inverse_sum"),
        (np.ma.array([5, 7], mask=[0, 1]), [0.5, 0.5], {}, "counts must be whole numbers, but some are masked"),
        (np.ma.array([0, 1], mask=[0, 1]), [0.5, 0.5], {"samples": True}, "masked"),
        (np.ma.array([0, 1], mask=[0, 1]), {0: 0.5, 1: 0.5}, {"samples": True}, "missing"),
        ([5, 7], np.ma.array([0.5, 0.5], mask=[0, 1]), {}, "p must be numbers, but some are masked"),
        (np.array(["2020-01-01", "2020-01-02"], "M8[D]"), [0.5, 0.5], {}, r"type datetime64\[D\]"),
        (["5", "7"], [0.5, 0.5], {}, "whole numbers, got values of type <U1"),
        (np.array(["5", 7], object), [0.5, 0.5], {}, "whole numbers, got '5'"),
        ([5 + 0j, 7], [0.5, 0.5], {}, "complex"),
        ([5, 7], ["0.5", "0.5"], {}, "p must be numbers"),
        ([10**400, 1], [0.5, 0.5], {}, "at most 2.63"),
        ([1e300, 1], [0.5, 0.5], {}, r"more than 2\^63 observations"),
        ([2**63, 2**63], [0.5, 0.5], {}, r"more than 2\^63 observations"),
    ],
)
def test_errors_name_the_fault(counts, p, options, message):
    with pytest.raises(ValueError, match=message):
        chisquare.test(counts, p, **options)


def test_dense_counts_do_not_fit_a_callable():
    with pytest.raises(TypeError, match="samples=True"):
        chisquare.test([1, 2], lambda c: 0.5, k=2, inverse_sum=4.0)


def test_counts_are_not_draws():
    with pytest.raises(TypeError, match="draws themselves, got a mapping"):
        chisquare.test({"a": 5, "b": 2}, {"a": 0.5, "b": 0.5}, samples=True)


def test_masked_arrays_without_a_mask_are_arrays():
    found = chisquare.test(np.ma.array([180, 220]), np.ma.array([0.5, 0.5], mask=False))
    assert found == chisquare.test([180, 220], [0.5, 0.5])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, object])
def test_p_in_every_type_of_numbers(dtype):
    """Thirds sum to 1 up to the rounding of their type."""
    thirds = np.array([1, 1, 1], dtype) / dtype(3) if dtype is not object else np.array([Fraction(1, 3)] * 3)
    assert chisquare.test([300, 300, 400], thirds) == chisquare.test([300, 300, 400], np.full(3, 1 / 3))
    many = np.random.default_rng(0).dirichlet(np.ones(1000)).astype(np.float64 if dtype is object else dtype)
    assert_close(chisquare.moments(many, 5).mean, 999)
    assert chisquare.test([5, 0, 0], np.array([1, 0, 0], dtype)).method == "constant"
    assert chisquare.test([5, 1, 0], np.array([1, 0, 0], dtype)).pvalue == 0
    by_name = dict(zip("abc", thirds, strict=True))
    whole = chisquare.test({"a": 300, "b": 300, "c": 400}, by_name.get, k=3, inverse_sum=9.0)
    assert_close(whole.statistic, 20.0)


@pytest.mark.parametrize("rare", [1e-9, 1e-20, 1e-110, 1e-200, 1e-310, 5e-324])
def test_categories_of_tiny_probability(rare):
    """All but one rare, or one of many; where it occurs, chi2 is enormous and hdmr is what it would be without it."""
    for counts, p in (([1000, 0, 0], [1 - 2 * rare, rare, rare]), ([500, 500, 0], [0.5, 0.5 - rare, rare])):
        for method in ("auto", "simulation"):
            never = chisquare.test(counts, p, method=method)
            assert_close(never.statistic, 0.0, 1e-5, reason="n p of a category that did not occur, at most 2e-6")
            assert_close([never.pvalue, never.pvalue_hdmr], [1.0, 1.0], 1e-5, reason="n p, at most 2e-6")
    once = chisquare.test([500, 499, 1], [0.5, 0.5 - rare, rare])
    assert_close(once.statistic_hdmr, -0.996, 1e-6, reason="n p, at most 1e-6")
    assert_close(once.pvalue, -np.expm1(1000 * np.log1p(-rare)), 1e-9, reason="rare + rounding of 1 - rare")
    assert once.statistic > 0.99 / (1000 * max(rare, 1e-308))
    assert chisquare.test([500, 499, 1], [0.5, 0.5 - rare, rare], method="simulation").pvalue == 1e-5
    twice = np.zeros(10**4)
    twice[0], twice[1:101] = 2, 1
    p = np.array([rare, *chisquare.power_law(10**4 - 1, 0.5) * (1 - rare)])
    assert chisquare.test(twice, p).pvalue_hdmr < 1e-4


def test_results_can_be_stored():
    found = chisquare.test(COUNTS, UNIFORM)
    assert pickle.loads(pickle.dumps(found)) == found
