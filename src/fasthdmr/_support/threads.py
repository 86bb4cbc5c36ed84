"""The numbers of threads: of our own code, and of BLAS."""

from __future__ import annotations

import _thread
import multiprocessing
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import joblib
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

_LONGEST_START = 1.0  # seconds; threads begin within milliseconds, and one that begins later does no harm


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`.

    `None` means 1 and negative numbers count back from all cores, as in scikit-learn; a surrounding
    `joblib.parallel_config` is obeyed. The CPU affinity, the container's limit and OMP_NUM_THREADS cap the result.
    Inside a worker of joblib or of a `multiprocessing.Pool` it is 1: the workers share the cores already.

    Parameters
    ----------
    n_jobs : int or None

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If `n_jobs` is 0.

    Examples
    --------
    >>> n_threads(None)
    1
    """
    if n_jobs == 0:
        raise ValueError("n_jobs must be None or another number than 0.")
    if n_jobs == 1:
        return 1
    backend, _ = get_active_backend()
    if multiprocessing.current_process().daemon or getattr(backend, "nesting_level", None):
        return 1
    wanted = int(joblib.effective_n_jobs(n_jobs))
    if wanted == 1:
        return 1
    limit = int(joblib.cpu_count())
    environment = os.environ.get("OMP_NUM_THREADS", "")
    if environment.isdecimal() and int(environment) > 0:
        limit = min(limit, int(environment))
    return max(1, min(limit, wanted))


def start_thread(run: Callable[[], None]) -> bool:
    """Start a daemon thread, and return whether it has begun. Where the system starts no more threads, it has not.

    `threading.Thread.start` is not used: it waits for ever for a thread that lacks the memory to begin.

    Examples
    --------
    >>> start_thread(lambda: None)
    True
    """
    begun = threading.Event()

    def begin() -> None:
        begun.set()
        run()

    try:
        _thread.start_new_thread(begin, ())
    except (RuntimeError, MemoryError):
        return False
    return begun.wait(_LONGEST_START)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while our threads call it. Sections may be nested, and may overlap in several threads.

    A limit that another thread sets meanwhile takes effect at once and is kept.
    """
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


class _BlasLimit:
    """Limit of one thread for each BLAS pool, counted: the first section sets it, the last one restores it.

    `threadpool_limits` does not count: the first of two overlapping sections to end would lift the limit of both.
    """

    def __init__(self) -> None:
        self._before: dict[Any, int] = {}
        self.start()

    def start(self) -> None:
        """Start with a count of 0; also in a forked child, where the other threads do not exist."""
        self._lock = threading.Lock()
        self._inside: Counter[Any] = Counter()

    def enter(self) -> None:
        with self._lock:
            for library in _blas_libraries():
                pool, count = _pool(library), library.num_threads
                if count != 1:
                    self._before[pool] = count
                    _set_threads(library, 1)
                self._inside[pool] += 1

    def leave(self) -> None:
        with self._lock:
            for library in _blas_libraries():
                pool = _pool(library)
                self._inside[pool] -= 1
                if self._inside[pool] == 0:
                    before = self._before.pop(pool, 1)
                    if before != 1 and library.num_threads == 1:
                        _set_threads(library, before)


@cache
def _blas_libraries() -> list[Any]:
    """List the BLAS libraries at the first call: those in use are loaded by then."""
    libraries: list[Any] = ThreadpoolController().select(user_api="blas").lib_controllers
    return libraries


def _pool(library: Any) -> tuple[Any, int | None]:
    """Return the scope of a limit: the calling thread for MKL and OpenMP, otherwise the process."""
    own = library.internal_api == "mkl" or getattr(library, "threading_layer", None) == "openmp"
    return library, threading.get_ident() if own else None


def _set_threads(library: Any, count: int) -> None:
    """Set the number of threads, also if another thread holds a limit: threadpoolctl 3.8 would do nothing then."""
    let_go = getattr(library, "clear_controlling_thread", lambda force: None)
    let_go(force=True)
    library.set_num_threads(count)
    let_go(force=True)


_limit = _BlasLimit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit.start)
