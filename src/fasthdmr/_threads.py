"""The one place that decides how many threads run: ours, and those of BLAS beside them."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import joblib
from joblib.parallel import get_active_backend
from threadpoolctl import threadpool_limits


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
    backend, _ = get_active_backend()
    if multiprocessing.current_process().daemon or getattr(backend, "nesting_level", 0):
        return 1
    limit = int(joblib.cpu_count())
    environment = os.environ.get("OMP_NUM_THREADS", "")
    if environment.isdecimal() and int(environment) > 0:
        limit = min(limit, int(environment))
    return max(1, min(limit, int(joblib.effective_n_jobs(n_jobs))))


class _BlasLimit:
    """BLAS kept to one thread while anybody is inside.

    The limit belongs to the process. Were every section to restore what it found, the last of two that overlap
    would restore the limit that the other one had set, for good.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limits: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limits = threadpool_limits(1, user_api="blas")
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limits.restore_original_limits()

    def forget(self) -> None:
        """Start anew in a forked child: of the threads that were inside, only the one that forked goes on."""
        self._lock = threading.Lock()
        if self._inside > 0:
            self._inside = 0
            self._limits.restore_original_limits()


_blas_limit = _BlasLimit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_blas_limit.forget)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread where our threads call it; sections may nest, and overlap in several threads."""
    _blas_limit.enter()
    try:
        yield
    finally:
        _blas_limit.leave()
