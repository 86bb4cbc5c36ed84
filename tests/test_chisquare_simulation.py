"""Simulated statistics: the right law by every method, the same for any number of threads, and bounded memory."""

import os
import subprocess
import sys
from fractions import Fraction

import joblib
import numpy as np
import pytest
from scipy import stats
from test_chisquare_moments import outcomes
from tolerance import assert_close

from fasthdmr import chisquare
from fasthdmr.chisquare import simulation

_kernels = pytest.importorskip(
    "fasthdmr.chisquare._kernels",
    reason="numba is not installed: pip install 'fasthdmr[chisquare]'",
    exc_type=ImportError,
)

SMALL = [1, 2, 4]
# The alias table with sums by draws and by cells, in 64 and 32 bits a draw; binomials; for uniform p, occupancy.
METHODS = ["sparse", "dense", "wide", "binomials"]
BOTH = [(method, law) for method in METHODS for law in ("uniform", "skewed")] + [("occupancy", "uniform")]


@pytest.fixture
def method(request, monkeypatch):
    """Force a method."""
    monkeypatch.setattr(simulation, "uses_occupancy", lambda n, k: request.param == "occupancy")
    monkeypatch.setattr(simulation, "_DRAWS_PER_BINOMIAL", 0 if request.param == "binomials" else 1000)
    monkeypatch.setattr(simulation, "_CELLS_PER_DRAW", 0 if request.param == "sparse" else 1000)
    monkeypatch.setattr(simulation, "_LEAST_OF_HALVES", 2.0 if request.param == "wide" else 0.0)
    return request.param


def table(alias, k):
    """The probabilities that an alias table stands for."""
    found = np.zeros(k)
    threshold, other = (alias >> np.uint64(32)).astype(float) / 2**32, (alias & np.uint64(0xFFFFFFFF)).astype(int)
    np.add.at(found, np.arange(k), threshold / k)
    np.add.at(found, other, (1 - threshold) / k)
    return found


@pytest.mark.parametrize("k", [1, 2, 7, 1000])
def test_alias_table_holds_the_probabilities(k):
    p = np.random.default_rng(k).dirichlet(np.full(k, 0.5))
    assert np.abs(table(_kernels.alias_table(p), k) - p).max() < 2**-31


@pytest.mark.parametrize(("method", "law"), BOTH, indirect=["method"])
def test_every_outcome_is_as_frequent_as_it_should_be(method, law):
    """All pairs (chi2, hdmr) that 4 draws from 3 categories can give."""
    n, n_runs, weights = 4, 200_000, [1, 1, 1] if law == "uniform" else SMALL
    p = [Fraction(w, sum(weights)) for w in weights]
    expected = {}
    for probability, chi2, hdmr in outcomes(p, n):
        key = round(float(chi2), 6), round(float(hdmr), 6)
        expected[key] = expected.get(key, 0) + float(probability)
    found = chisquare.simulate([float(q) for q in p], n, n_runs, random_state=7)
    pairs = np.round(np.column_stack([found.chi2, found.hdmr]), 6) + 0.0
    keys, counts = np.unique(pairs, axis=0, return_counts=True)
    observed = {tuple(key): count for key, count in zip(keys.tolist(), counts, strict=True)}
    assert set(observed) == set(expected)
    order = sorted(expected)
    fit = stats.chisquare([observed[key] for key in order], [n_runs * expected[key] for key in order])
    assert fit.pvalue > 1e-3


@pytest.mark.parametrize(("method", "law"), BOTH, indirect=["method"])
def test_moments_are_the_exact_ones(method, law):
    p, n, n_runs = chisquare.power_law(300, 0.0 if law == "uniform" else 0.5), 400, 20_000
    exact = chisquare.moments(p, n)
    found = chisquare.simulate(p, n, n_runs, random_state=3)
    for values, variance in [(found.chi2, exact.variance_chi2), (found.hdmr, exact.variance_hdmr)]:
        kurtosis = stats.kurtosis(values, fisher=False)
        assert abs(values.mean() - exact.mean) < 4 * np.sqrt(variance / n_runs)
        assert abs(values.var() - variance) < 4 * variance * np.sqrt((kurtosis - 1) / n_runs)


def test_both_methods_have_one_law():
    p = chisquare.power_law(20, 0.5)
    samples = [simulation._by_alias(p, 60)(np.random.SeedSequence(1), 20_000)]
    samples.append(simulation._by_binomials(p, 60, np.random.SeedSequence(2), 20_000))
    for alias, binomials in zip(*samples, strict=True):
        assert stats.ks_2samp(alias, binomials).pvalue > 1e-3


@pytest.mark.parametrize(("k", "n"), [(2500, 5000), (40, 6000), (10**6, 1000), (1, 7), (2, 1)])
def test_occupancy_has_the_law_of_single_draws(k, n):
    """Few and many draws a category; with one category or one draw the statistic is constant."""
    p = np.full(k, 1 / k)
    samples = [
        sampler(np.random.SeedSequence(s), 5_000)[1]
        for s, sampler in enumerate([simulation._by_occupancy(k, n), simulation._by_alias(p, n)])
    ]
    if min(k, n) == 1:
        assert_close(*samples)
    else:
        assert stats.ks_2samp(*samples).pvalue > 1e-3


def test_counts_above_16_bits():
    """With two categories counts pass 65,535; the statistic would be far off if they wrapped around."""
    p = np.array([0.999, 0.001])
    chi2 = simulation._by_alias(p, 200_000)(np.random.SeedSequence(0), 50)[0]
    assert stats.kstest(chi2, stats.chi2(1).cdf).pvalue > 1e-3


@pytest.mark.parametrize(("k", "n"), [(2500, 5000), (2500, 50), (3, 100_000)])
def test_result_depends_on_the_seed_only(k, n, monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    monkeypatch.setattr(simulation, "_CHUNK_RUNS", 16)
    p = chisquare.power_law(k, 0.5)
    one = chisquare.simulate(p, n, 100, random_state=5)
    for n_jobs in (2, 3, 4):
        several = chisquare.simulate(p, n, 100, random_state=5, n_jobs=n_jobs)
        assert np.array_equal(one.chi2, several.chi2) and np.array_equal(one.hdmr, several.hdmr)
    assert np.array_equal(chisquare.simulate(p, n, 40, random_state=5).hdmr, one.hdmr[:40])
    assert not np.array_equal(chisquare.simulate(p, n, 100, random_state=6).hdmr, one.hdmr)
    assert len(np.unique(one.chi2)) > 90  # streams of chunks differ


@pytest.mark.usefixtures("no_further_threads")
def test_without_further_threads_this_one_does_it_all(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    monkeypatch.setattr(simulation, "_CHUNK_RUNS", 16)
    p = chisquare.power_law(2500, 0.5)
    one, several = (chisquare.simulate(p, 50, 100, random_state=5, n_jobs=n_jobs) for n_jobs in (1, 4))
    assert np.array_equal(one.chi2, several.chi2)


@pytest.mark.parametrize(("k", "n", "exponent"), [(50, 700, 0.5), (5000, 700, 0.5), (300, 9000, 0.0)])
def test_kernels_may_return_early(k, n, exponent, monkeypatch):
    """Python handles signals between calls only."""
    p = chisquare.power_law(k, exponent)
    whole = chisquare.simulate(p, n, 30, random_state=5)
    monkeypatch.setattr(simulation, "_CALL_DRAWS", 300)
    monkeypatch.setattr(simulation, "_CALL_CORRECTIONS", 300)
    parts = chisquare.simulate(p, n, 30, random_state=5)
    assert np.array_equal(whole.chi2, parts.chi2) and np.array_equal(whole.hdmr, parts.hdmr)


def test_occupancy_depends_on_the_seed_only(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    monkeypatch.setattr(simulation, "_CHUNK_OCCUPANCIES", 16)
    p = chisquare.power_law(2500, 0.0)
    one = chisquare.simulate(p, 5000, 100, random_state=5)
    for n_jobs in (2, 3, 4):
        assert np.array_equal(chisquare.simulate(p, 5000, 100, random_state=5, n_jobs=n_jobs).chi2, one.chi2)
    assert np.array_equal(chisquare.simulate(p, 5000, 40, random_state=5).chi2, one.chi2[:40])
    assert not np.array_equal(one.chi2[:16], one.chi2[16:32])  # streams of chunks differ


def test_kinds_of_random_state():
    def run(random_state):
        return chisquare.simulate([0.5, 0.5], 1000, 5, random_state=random_state).chi2

    root = np.random.SeedSequence(5)
    assert np.array_equal(run(root), run(root)) and np.array_equal(run(root), run(5))
    for kind in (np.random.default_rng, np.random.RandomState):
        generator = kind(0)
        first = run(generator)
        assert not np.array_equal(first, run(generator)) and np.array_equal(first, run(kind(0)))
    assert not np.array_equal(run(None), run(None))


def test_categories_of_probability_zero_are_left_out():
    with_zero = chisquare.simulate([0.3, 0.0, 0.7], 50, 20, random_state=0)
    assert np.array_equal(with_zero.chi2, chisquare.simulate([0.3, 0.7], 50, 20, random_state=0).chi2)


def test_one_draw_has_no_pairs():
    p = chisquare.power_law(50, 0.5)
    found = chisquare.simulate(p, 1, 100, random_state=0)
    assert_close(found.hdmr, np.full(100, 49.0))
    assert np.isin(np.round(found.chi2, 6), np.round(1 / p - 1, 6)).all()


def test_memory_does_not_grow_with_runs_and_draws():
    """5,000 runs of 20,000 draws: 200 MB if the draws were kept in 16 bits."""
    code = """
import resource
from fasthdmr import chisquare
p = chisquare.power_law(2500, 0.5)
chisquare.simulate(p, 20_000, 1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
chisquare.simulate(p, 20_000, 5_000, random_state=0)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(run.stdout) * unit < 20e6


def test_nothing_is_written_to_disk(tmp_path):
    """Kernels work where no cache can be written, and leave none."""
    environment = {name: value for name, value in os.environ.items() if name != "HOME"}
    environment |= {"NUMBA_CACHE_DIR": os.devnull + "/none", "HOME": os.devnull + "/none"}
    code = "from fasthdmr import chisquare as c; print(len(c.simulate(c.power_law(9, 0.5), 9, 9, random_state=0).chi2))"
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "9"
    kernels = [kernel for kernel in vars(_kernels).values() if hasattr(kernel, "py_func")]
    assert len(kernels) == 8
    assert all(kernel.stats.cache_path is None for kernel in kernels)


def test_numba_comes_with_the_first_kernel_only():
    code = (
        "import sys; from fasthdmr import chisquare as c; c.moments([0.5, 0.5], 9); c.simulate([0.5, 0.5], 9999, 9); "
        "print('numba' in sys.modules); c.simulate([0.5, 0.5], 9, 9); print('numba' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("n", [2**56, 2**60 + 1, 2**63 - 1, 2**63])
@pytest.mark.parametrize("p", [[0.5, 0.5], [0.2, 0.3, 0.5]])
def test_moments_of_the_largest_samples(n, p):
    """NumPy's binomials are too wide from 2^61 draws on."""
    n_runs = 20_000
    exact, found = chisquare.moments(p, n), chisquare.simulate(p, n, n_runs, random_state=0)
    for values, variance in [(found.chi2, exact.variance_chi2), (found.hdmr, exact.variance_hdmr)]:
        assert abs(values.mean() - exact.mean) < 4 * np.sqrt(variance / n_runs)
        kurtosis = 3 + 12 / exact.mean  # of chi2
        assert abs(values.var() - variance) < 4 * variance * np.sqrt((kurtosis - 1) / n_runs)


@pytest.mark.skipif(int(np.__version__.split(".")[0]) < 2, reason="the binomials of NumPy 1.26 round 1 - p to 1")
@pytest.mark.parametrize("order", [1, -1])
def test_rare_categories_of_large_samples_are_drawn(order):
    """n p is 0.3 and 4.6, where 1 - p is 1 in floats."""
    for rare, n in ((3e-17, 10**16), (1e-18, 2**62)):
        found = chisquare.simulate([1.0, rare][::order], n, 20_000, random_state=0)
        share = np.mean(np.abs(found.chi2 - n * rare) < 1e-6 * n * rare)  # none drawn
        none = np.exp(-n * rare)
        assert abs(share - none) < 4 * np.sqrt(none * (1 - none) / 20_000)


def test_a_category_that_is_never_drawn_adds_nothing():
    for n in (20, 2000):  # single draws, and binomials
        for rare in (1e-200, 1e-310, 5e-324):
            found = chisquare.simulate([0.2, rare, 0.3, 0.5], n, 200, random_state=0)
            assert np.isfinite(found.chi2).all() and np.isfinite(found.hdmr).all()
            assert abs(found.chi2.mean() - 2) < 4 * np.sqrt(4 / 200)
            assert abs(found.hdmr.mean() - 3) < 4 * np.sqrt(4 / 200)


def test_occupancy_is_not_for_large_counts():
    """Each of sqrt(n) corrections passes n / k counts: at 10,000 draws a category that is 40 times the binomials."""
    assert simulation.uses_occupancy(5000, 2500) and simulation.uses_occupancy(10**6, 10**5)
    assert not simulation.uses_occupancy(10**9, 10**5) and not simulation.uses_occupancy(10**13, 10**7)


def test_ties_of_large_samples_are_no_wider_than_rounding():
    """The tolerance for ties does not grow like n, so that not every value of 8e15 draws is a tie."""
    counts = [4 * 10**15 + 10**8, 3 * 10**15, 10**15 - 10**8]
    law, found = (chisquare.test(counts, [0.5, 0.375, 0.125], method=method) for method in ("auto", "simulation"))
    assert law.method == "chi2(k - 1)" and found.method.endswith("runs)")
    assert abs(found.pvalue - law.pvalue) < 4 * found.standard_error


def test_large_samples_of_few_categories_get_all_runs():
    assert chisquare.test([10**9, 1, 0], [1 - 2e-9, 1e-9, 1e-9]).method == "simulation (99999 runs)"


def test_too_many_draws_are_refused():
    with pytest.raises(ValueError, match="n must be at most 9223372036854775808"):
        chisquare.simulate([0.5, 0.5], 2**63 + 1, 9)


@pytest.mark.parametrize("n_runs", [0, -1])
def test_wrong_numbers_of_runs_are_refused(n_runs):
    with pytest.raises(ValueError, match="n_runs"):
        chisquare.simulate([0.5, 0.5], 9, n_runs)
