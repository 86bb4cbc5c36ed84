"""Both chi-square statistics of many samples with NumPy and SciPy, as fast as these allow."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import stats

CHUNK = 200  # runs: counts of 2,500 categories take 4 MB

Statistics = tuple[np.ndarray, np.ndarray]


def of_counts(counts: np.ndarray, p: np.ndarray, n: int) -> Statistics:
    """Return chi2 and hdmr of counts (runs, k), by two products with 1/p."""
    N, inverse = counts.astype(np.float64), 1 / p
    S = N @ inverse
    hdmr = (np.square(N, out=N) @ inverse - S) / n - n + len(p)
    return hdmr + S / n - len(p), hdmr


def multinomial(p: np.ndarray, n: int, n_runs: int, seed: int = 0) -> Statistics:
    """Sample by Generator.multinomial, the statistics vectorised over chunks."""
    rng = np.random.default_rng(seed)
    chunks = [min(CHUNK, n_runs - start) for start in range(0, n_runs, CHUNK)]
    parts = [of_counts(rng.multinomial(n, p, size=runs), p, n) for runs in chunks]
    chi2, hdmr = map(np.concatenate, zip(*parts, strict=True))
    return chi2, hdmr


def multinomial_threads(p: np.ndarray, n: int, n_runs: int) -> Statistics:
    """Do it on two threads: Generator.multinomial works without the lock."""
    with ThreadPoolExecutor(2) as pool:
        halves = pool.map(lambda seed: multinomial(p, n, n_runs // 2, seed), range(2))
    chi2, hdmr = map(np.concatenate, zip(*halves, strict=True))
    return chi2, hdmr


def _drawer(p: np.ndarray, n: int) -> Callable[[], np.ndarray]:
    """Return a function that draws a sample and counts it."""
    rng, k = np.random.default_rng(0), len(p)
    if np.ptp(p) == 0:  # without p, Generator.choice is Generator.integers, which is faster in 16 bits
        return lambda: np.bincount(rng.integers(k, size=n, dtype=np.uint16), minlength=k)
    return lambda: np.bincount(rng.choice(k, n, p=p), minlength=k)


def choice(p: np.ndarray, n: int, n_runs: int) -> Statistics:
    """Loop over runs: Generator.choice, bincount, two scalar products."""
    draw, inverse = _drawer(p, n), 1 / p
    chi2, hdmr = np.empty(n_runs), np.empty(n_runs)
    for run in range(n_runs):
        N = draw()
        S = N @ inverse
        hdmr[run] = ((N * N) @ inverse - S) / n - n + len(p)
        chi2[run] = hdmr[run] + S / n - len(p)
    return chi2, hdmr


def scipy_chisquare(p: np.ndarray, n: int, n_runs: int) -> Statistics:
    """Loop over runs: the same samples, scipy.stats.chisquare; it has no hdmr."""
    draw, expected = _drawer(p, n), n * p
    chi2 = np.array([stats.chisquare(draw(), expected).statistic for _ in range(n_runs)])
    return chi2, np.empty(0)
