"""The one place that decides how many threads run: ours, and those of BLAS beside them."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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


_section = threading.RLock()


def _free_section() -> None:
    """Start anew in a forked child, where the thread that was inside does not exist."""
    global _section
    _section = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_section)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread where our threads call it.

    The limit belongs to the process, and only the thread that set it can take it back (threadpoolctl). So one thread
    at a time is inside: else it would go when the first of two leaves, and the bits of the other's result with it.
    """
    with _section, threadpool_limits(1, user_api="blas"):
        yield
