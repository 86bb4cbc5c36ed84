"""Few draws from few categories: exact p-values by enumeration, against fractions and simulation; no Numba needed."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from test_chisquare_moments import outcomes
from tolerance import assert_close

from fasthdmr import chisquare
from fasthdmr.chisquare.enumeration import _MOST_CELLS, can_enumerate, enumerated_laws


@pytest.fixture
def no_numba(monkeypatch):
    """As if Numba were not installed."""
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "fasthdmr.chisquare._kernels", raising=False)
    monkeypatch.delattr(chisquare, "_kernels", raising=False)


def counts_of(draws, k):
    return np.bincount(draws, minlength=k)


@pytest.mark.parametrize(("weights", "n"), [((1, 1, 1), 5), ((1, 2, 4), 5), ((1, 2, 2, 5), 4), ((3, 1, 1, 1, 1), 3)])
def test_tails_are_the_exact_ones(weights, n):
    """Of every outcome, in fractions, ties included."""
    p = [Fraction(weight, sum(weights)) for weight in weights]
    exact = list(outcomes(p, n))
    laws = enumerated_laws(np.array([float(q) for q in p]), n)
    for law, place in zip(laws, (1, 2), strict=True):
        assert_close(law.tails[0], 1.0)
        for outcome in exact:
            tail = sum(other[0] for other in exact if other[place] >= outcome[place])
            assert_close(law.sf(float(outcome[place])), float(tail))
        assert law.sf(max(float(outcome[place]) for outcome in exact) + 1) == 0


@pytest.mark.parametrize("weights", [(1, 1, 1), (1, 2, 4), (1, 1, 2, 2)])
def test_test_agrees_with_the_fractions(weights):
    p, rng = [Fraction(weight, sum(weights)) for weight in weights], np.random.default_rng(0)
    n, k = 5, len(weights)
    exact = list(outcomes(p, n))
    for _ in range(5):
        counts = counts_of(rng.integers(k, size=n), k)
        found = chisquare.test(counts, [float(q) for q in p])
        chi2 = sum((int(N) - n * q) ** 2 / (n * q) for N, q in zip(counts, p, strict=True))
        hdmr = sum(int(N) * (int(N) - 1) / q for N, q in zip(counts, p, strict=True)) / n - n + k
        assert found.method == found.method_hdmr == "enumeration" and found.standard_error is None
        assert_close(found.pvalue, float(sum(outcome[0] for outcome in exact if outcome[1] >= chi2)))
        assert_close(found.pvalue_hdmr, float(sum(outcome[0] for outcome in exact if outcome[2] >= hdmr)))


@pytest.mark.parametrize(
    ("counts", "p"), [([9, 14, 7], [0.2, 0.3, 0.5]), ([4, 0, 1, 3, 2], chisquare.power_law(5, 1.0))]
)
def test_simulation_agrees(counts, p):
    exact, found = (chisquare.test(counts, p, method=method) for method in ("auto", "simulation"))
    assert exact.method == exact.method_hdmr == "enumeration"
    assert abs(found.pvalue - exact.pvalue) < 4 * found.standard_error
    assert abs(found.pvalue_hdmr - exact.pvalue_hdmr) < 4 * found.standard_error_hdmr


def test_order_of_categories_does_not_matter():
    counts, p = np.array([3, 0, 5, 2]), np.array([0.1, 0.2, 0.3, 0.4])
    one, other = (chisquare.test(counts[order], p[order]) for order in ([0, 1, 2, 3], [2, 0, 3, 1]))
    assert_close([one.pvalue, one.pvalue_hdmr], [other.pvalue, other.pvalue_hdmr])


@pytest.mark.parametrize(("n", "k"), [(1, 1), (1, 2000), (1, 10**9), (2, 150), (10**9, 2), (10**18, 10**18), (40, 5)])
def test_only_short_lists_are_made(n, k):
    if can_enumerate(n, k):
        law, _ = enumerated_laws(np.full(k, 1 / k), n)
        assert len(law.values) * k <= _MOST_CELLS
        assert_close(law.tails[0], 1.0, 1e-11)
    else:
        assert n * k > _MOST_CELLS


@pytest.mark.usefixtures("no_numba")
def test_what_needs_no_numba():
    """Limit laws, binomials, enumeration, and simulation by NumPy's binomials."""
    uniform = np.full(6, 1 / 6)
    assert chisquare.test([180, 220, 240, 160, 200, 200], uniform).method == "chi2(k - 1)"
    assert chisquare.test([3, 27], [0.5, 0.5]).method == "binomial"
    assert chisquare.test([9, 14, 7], [0.2, 0.3, 0.5]).method == "enumeration"
    assert chisquare.test([5], [1.0]).method == "constant"
    assert chisquare.test([10, 1, 10], [0.5, 0, 0.5]).method == "impossible"
    assert chisquare.test([180, 220, 240, 160, 200, 200], uniform, method="simulation").standard_error > 0
    assert len(chisquare.simulate([0.5, 0.5], 10_000, 7).chi2) == 7
    assert chisquare.moments(uniform, 30).mean == 5


@pytest.mark.usefixtures("no_numba")
@pytest.mark.parametrize(("alpha", "n"), [(0.5, 500), (0.0, 50), (0.0, 1000)])
def test_where_numba_is_needed_the_error_names_the_extra(alpha, n):
    p = chisquare.power_law(2500, alpha)
    message = r"numba is needed here: pip install 'fasthdmr\[chisquare\]'"
    with pytest.raises(ImportError, match=message):
        chisquare.simulate(p, n, 10)
    with pytest.raises(ImportError, match=message):
        chisquare.test({0: n // 2, 7: n - n // 2}, p, method="simulation")
