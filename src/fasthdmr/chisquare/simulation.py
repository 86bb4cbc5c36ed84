"""Simulation of both statistics, with the cheapest of several methods of sampling."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from threading import Event
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from fasthdmr._support.progress import progress
from fasthdmr._support.shown import Shown, ShownInNotebooks
from fasthdmr._support.threads import n_threads, start_thread
from fasthdmr.chisquare.probabilities import MOST_DRAWS, check_positive, check_probabilities, is_uniform

# Chunks of runs depend on n and k only and have a random stream each, so results do not depend on threads.
_CHUNK_DRAWS = 1 << 21
_CHUNK_CELLS = 1 << 18
_CHUNK_OCCUPANCIES = 1 << 11
_CHUNK_RUNS = 1 << 16
# Draws, or corrections of Poisson counts, of one call of a kernel: about a tenth of a second.
_CALL_DRAWS = 1 << 22
_CALL_CORRECTIONS = 1 << 24
# Cost of a binomial in draws from the alias table: 70 to 80 ns in NumPy, against 1.2 ns for a draw.
_DRAWS_PER_BINOMIAL = 64
# NumPy's binomials square deviations in 64-bit integers, which overflow at 6 standard deviations of 2^60 draws. Larger
# samples are sums of samples of at most this size, for which 24 standard deviations are possible.
_MOST_OF_BINOMIAL = 1 << 56
# Cost of adding a draw to a sample of Poisson counts, or of removing one; the search for its count costs n / k more.
# There are about sqrt(n) such corrections.
_DRAWS_PER_CORRECTION = 6
# Smallest probability of a count that is tabulated: it occurs once in 1e18 categories.
_LEAST_OF_POISSON = 2.0**-60
# Largest number of cells per draw for which a pass over all counts is faster.
_CELLS_PER_DRAW = 1
# A draw uses 64 random bits, or 32 if all probabilities are at least this, with relative errors up to 2^-17.
_LEAST_OF_HALVES = 2.0**-16
# Smallest probability with a finite inverse. Smaller ones are never drawn, and 0 times infinity would be NaN.
_LEAST_OF_INVERSE = 1e-308

Sampler = Callable[..., NDArray[np.float64]]
"""A function of the random stream, the number of runs and, optionally, the event that cancels it."""
_NEVER = Event()
T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class Simulation(ShownInNotebooks):
    """Statistics of simulated samples.

    Attributes
    ----------
    chi2, hdmr : ndarray of shape (n_runs,)
        Both statistics of each sample.
    """

    chi2: NDArray[np.float64]
    hdmr: NDArray[np.float64]

    def _shown(self) -> list[Shown]:
        if not self.chi2.size:
            return [Shown((), (), title="No simulated samples")]
        rows = [
            (name, *map(float, (values.mean(), values.std(), *np.quantile(values, (0.05, 0.5, 0.95)))))
            for name, values in (("chi2", self.chi2), ("HDMR", self.hdmr))
        ]
        heads = ("statistic", "mean", "standard deviation", "5 %", "median", "95 %")
        return [Shown(heads, rows, title=f"Statistics of {self.chi2.size:,} simulated samples")]


def simulate(
    p: Any, n: int, n_runs: int, *, random_state: Any = None, n_jobs: int | None = None, verbose: int = 0
) -> Simulation:
    """Return both statistics of `n_runs` samples of n draws from p.

    Memory does not grow with n_runs * n. The result for a seed does not depend on `n_jobs`, and the first runs are the
    same for any `n_runs`. Draws come from an alias table; if n is much larger than the number of categories, counts
    come from conditional binomials. If p is uniform, the statistics depend only on the numbers of categories with
    0, 1, 2, … draws, and these are sampled. All but the conditional binomials need Numba, the extra ``chisquare``.

    Parameters
    ----------
    p : array-like of shape (k,)
        Probabilities; categories of probability 0 are left out.
    n : int
        Draws of each sample, at most 2^63.
    n_runs : int
        The number of samples.
    random_state : None, int, RandomState, Generator or SeedSequence
        Seed or generator of the random numbers.
    n_jobs : int or None
        The number of threads; None means 1.
    verbose : int
        Whether a long run shows its progress (with tqdm).

    Returns
    -------
    Simulation

    Raises
    ------
    ValueError, TypeError
        If p are not probabilities, or n or n_runs is not a positive integer.
    ImportError
        If Numba is needed and missing.

    Examples
    --------
    >>> from fasthdmr.chisquare import power_law
    >>> found = simulate(power_law(100, 0.5), 50, 2000, random_state=0)
    >>> found.chi2.shape, bool(found.hdmr.var() < found.chi2.var())
    ((2000,), True)
    """
    p, n, n_runs = check_probabilities(p), check_positive(n, "n", MOST_DRAWS), check_positive(n_runs, "n_runs")
    p = p[p > 0]
    sample, chunk_runs = _sampler(p, n)
    starts = range(0, n_runs, chunk_runs)
    sizes = [min(chunk_runs, n_runs - start) for start in starts]
    seeds = _seed_sequence(random_state).spawn(len(sizes))
    stop = Event()
    chunk = partial(sample, stop=stop)
    shown = partial(progress, description="simulation", total=len(sizes), verbose=verbose)
    threads = min(n_threads(n_jobs), len(sizes))
    if threads == 1:
        parts = list(shown(map(chunk, seeds, sizes)))
    else:
        try:
            found = dict(shown(_on_threads(lambda k: chunk(seeds[k], sizes[k]), len(sizes), threads, stop)))
        finally:
            stop.set()  # Ctrl-C may come between two results
        parts = [found[k] for k in range(len(sizes))]
    chi2, hdmr = np.concatenate(parts, axis=1)
    return Simulation(chi2, hdmr)


def _on_threads(work: Callable[[int], T], count: int, threads: int, stop: Event) -> Iterator[tuple[int, T]]:
    """Yield k and work(k) for all k below count, in order of completion; the threads end when `stop` is set.

    This thread works too, so that nobody waits for threads that the system did not start. An executor of the standard
    library holds a lock: after Ctrl-C at that moment its threads wait for ever. A SimpleQueue holds none.
    """
    left, done = deque(range(count)), SimpleQueue[tuple[int, T | BaseException]]()

    def run_one() -> bool:
        """Do the next work, and return whether there was any."""
        try:
            k = left.popleft()
        except IndexError:
            return False
        try:
            done.put((k, work(k)))
        except BaseException as error:
            done.put((k, error))
        return True

    def run() -> None:
        while not stop.is_set() and run_one():
            pass

    for _ in range(threads - 1):
        start_thread(run)
    for _ in range(count):
        if done.empty():
            run_one()
        k, result = done.get()
        if isinstance(result, BaseException):
            raise result
        yield k, result


def cost_of_run(n: int, k: int) -> int:
    """Return an upper bound of the cost of a sample, in draws from the alias table.

    Parameters
    ----------
    n, k : int

    Returns
    -------
    int

    Examples
    --------
    >>> cost_of_run(5000, 2500), cost_of_run(10**6, 10)
    (5000, 640)
    """
    return min(n, _DRAWS_PER_BINOMIAL * k * -(-n // _MOST_OF_BINOMIAL))


def uses_binomials(n: int, k: int) -> bool:
    """Return whether conditional binomials cost less than n draws, or n or k exceeds the kernels' 32 bits.

    Parameters
    ----------
    n, k : int

    Returns
    -------
    bool

    Examples
    --------
    >>> uses_binomials(5000, 2500), uses_binomials(10**6, 10)
    (False, True)
    """
    return n > _DRAWS_PER_BINOMIAL * k or max(n, k) >= 1 << 32


def uses_occupancy(n: int, k: int) -> bool:
    """Return whether, for uniform p, sampling the numbers of categories with each count costs less.

    Parameters
    ----------
    n, k : int

    Returns
    -------
    bool

    Examples
    --------
    >>> uses_occupancy(5000, 2500), uses_occupancy(50, 2500), uses_occupancy(10**6, 10)
    (True, False, False)
    """
    binomials = stats.poisson.isf(1 / k, n / k) + 2  # down to the largest count that any category has
    cost = _DRAWS_PER_BINOMIAL * binomials + (_DRAWS_PER_CORRECTION + n / k) * n**0.5
    return bool(cost < min(n, _DRAWS_PER_BINOMIAL * k))


def rounding(n: int, k: int, n_runs: int) -> tuple[float, float]:
    """Return bounds of the absolute and relative rounding error of a simulated statistic.

    Sums over draws are of magnitude n + k, with n at most 64 k, and of magnitude 1/(n p), which is at most about n_runs
    in categories that occur. Deviations from n p have rounding errors eps n p, and magnitude sqrt(n p).

    Parameters
    ----------
    n, k, n_runs : int

    Returns
    -------
    tuple of float
    """
    unit = 64 * float(np.finfo(np.float64).eps)
    return unit * (_DRAWS_PER_BINOMIAL * k + n**0.5 + n_runs), unit * n**0.5


def _sampler(p: NDArray[np.float64], n: int) -> tuple[Sampler, int]:
    """Return the method, and the number of runs of a chunk."""
    if is_uniform(p) and uses_occupancy(n, len(p)):
        return _by_occupancy(len(p), n), _CHUNK_OCCUPANCIES
    if uses_binomials(n, len(p)):
        return partial(_by_binomials, p, n), max(1, min(_CHUNK_RUNS, _CHUNK_CELLS // len(p)))
    return _by_alias(p, n), max(1, min(_CHUNK_RUNS, _CHUNK_DRAWS // n))


def _by_binomials(
    p: NDArray[np.float64], n: int, seed: np.random.SeedSequence, n_runs: int, stop: Event = _NEVER
) -> NDArray[np.float64]:
    """Return chi2 and hdmr, (2, n_runs)."""
    rng = np.random.Generator(np.random.PCG64(seed))
    p = np.sort(p)  # rare ones first: the remaining probability of the others has a small relative error
    deviations = np.zeros((n_runs, len(p)))
    for start in range(0, n, _MOST_OF_BINOMIAL):
        draws = min(_MOST_OF_BINOMIAL, n - start)
        deviations += rng.multinomial(draws, p, size=n_runs) - draws * p
    relative = deviations / (n * p)
    # einsum, not BLAS: its result has the same bits for any number of threads and rows.
    chi2, first = np.einsum("rc,rc->r", deviations, relative), np.einsum("rc->r", relative)
    return np.stack([chi2, chi2 - first])


def _by_occupancy(k: int, n: int) -> Sampler:
    """Return the sampler of the numbers of categories that have each count."""
    law = stats.poisson(n / k)
    counts = np.arange(n / k + 12 * np.sqrt(n / k) + 60)  # isf is not accurate enough: it uses 1 minus the probability
    at_least = law.sf(counts - 1)
    likely = at_least >= _LEAST_OF_POISSON
    hazard = np.append((law.pmf(counts[likely]) / at_least[likely]).clip(max=1.0), 1.0)
    runs = max(1, int(_CALL_CORRECTIONS / (_DRAWS_PER_BINOMIAL * len(hazard) + _DRAWS_PER_CORRECTION * np.sqrt(n))))

    def prepare() -> Any:
        from fasthdmr.chisquare._kernels import simulate_occupancy  # Numba takes a second to import

        simulate_occupancy(np.random.default_rng(0), hazard, k, n, np.empty((0, 2)))
        return simulate_occupancy

    kernel = _undisturbed(prepare)

    def sample(seed: np.random.SeedSequence, n_runs: int, stop: Event = _NEVER) -> NDArray[np.float64]:
        """Return chi2 and hdmr, (2, n_runs)."""
        sums = np.empty((n_runs, 2))
        generator = np.random.Generator(np.random.PCG64(seed))
        for start in range(0, n_runs, runs):
            if stop.is_set():
                break
            kernel(generator, hazard, k, n, sums[start : start + runs])
        return _statistics(sums, n, k, k)

    return sample


def _statistics(sums: NDArray[np.float64], n: int, k: int, scale: int) -> NDArray[np.float64]:
    """Return chi2 and hdmr, (2, n_runs), from sum N w and sum N^2 w, where 1/p is scale times w."""
    S, squares = sums.T * scale
    hdmr = (squares - S) / n - n + k
    return np.stack([hdmr + (S / n - k), hdmr])


def _by_alias(p: NDArray[np.float64], n: int) -> Sampler:
    """Return the sampler that draws one by one."""
    k, uniform, dense = len(p), is_uniform(p), len(p) <= _CELLS_PER_DRAW * n
    narrow = bool(p.min() >= _LEAST_OF_HALVES)
    width: type[np.unsignedinteger[Any]] = np.uint16 if n < 1 << 16 else np.uint32

    def run(kernels: Any, table: Any, seed: np.random.SeedSequence, n_runs: int, stop: Event) -> NDArray[np.float64]:
        kernel = kernels.simulate_dense if dense else kernels.simulate_sparse
        sums = np.empty((n_runs, 2))
        state: NDArray[Any] = seed.generate_state(kernels.STATE_WORDS, np.uint64)
        numbers: NDArray[Any] = np.empty(kernels.LANES, np.uint64)
        halves = numbers.view(np.uint32) if narrow else None
        drawn: NDArray[np.uint32] = np.empty(kernels.LANES * (2 if narrow else 1), np.uint32)
        at = np.array([0, n, len(drawn)])
        touched: tuple[Any, ...] = () if dense else (np.empty(n, np.uint32),)
        counts: NDArray[Any] = np.zeros(k, width)
        while not stop.is_set():
            kernel(state, numbers, halves, *table, counts, n, sums, drawn, at, _CALL_DRAWS, *touched)
            if at[0] == n_runs:
                break
        return _statistics(sums, n, k, k if uniform else 1)

    def prepare() -> tuple[Any, Any]:
        from fasthdmr.chisquare import _kernels  # Numba takes a second to import

        table = (None, None) if uniform else (_kernels.alias_table(p), 1 / np.maximum(p, _LEAST_OF_INVERSE))
        run(_kernels, table, np.random.SeedSequence(0), 0, _NEVER)  # compiles
        return _kernels, table

    kernels, table = _undisturbed(prepare)

    def sample(seed: np.random.SeedSequence, n_runs: int, stop: Event = _NEVER) -> NDArray[np.float64]:
        """Return chi2 and hdmr, (2, n_runs)."""
        return run(kernels, table, seed, n_runs, stop)

    return sample


def _undisturbed(work: Callable[[], T]) -> T:
    """Return the result of work that must not be interrupted, such as imports and compilations of Numba.

    It runs in a thread of its own: Ctrl-C interrupts the thread that waits, and the work is completed.
    """
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    if not start_thread(run):
        return work()
    return result.result()


def _seed_sequence(random_state: Any) -> np.random.SeedSequence:
    """Return the seed sequence of all random streams; a generator draws its seed."""
    if isinstance(random_state, np.random.SeedSequence):
        # A copy: spawning changes the caller's seed sequence, and with it the next result.
        return np.random.SeedSequence(random_state.entropy, spawn_key=random_state.spawn_key)
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence([int(word) for word in random_state.integers(1 << 32, size=4)])
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence([int(word) for word in random_state.randint(1 << 32, size=4, dtype=np.int64)])
    return np.random.SeedSequence(random_state)
