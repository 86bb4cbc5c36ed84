"""The one place that decides how many threads run."""

from __future__ import annotations

import os

import joblib


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`.

    `None` means 1 and negative numbers count back from all cores, as in scikit-learn; a surrounding
    `joblib.parallel_config` is obeyed. The CPU affinity, the container's limit and OMP_NUM_THREADS cap the result.

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
    limit = int(joblib.cpu_count())
    environment = os.environ.get("OMP_NUM_THREADS", "")
    if environment.isdecimal() and int(environment) > 0:
        limit = min(limit, int(environment))
    return max(1, min(limit, int(joblib.effective_n_jobs(n_jobs))))
