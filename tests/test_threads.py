"""Threads: how many there are, in workers too, and that BLAS gets its own back."""

from __future__ import annotations

import multiprocessing
import threading

import joblib
import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from threadpoolctl import threadpool_info

from fasthdmr import TreeHDMR, load_forest
from fasthdmr._threads import n_threads, one_blas_thread

RNG = np.random.default_rng(0)
X = RNG.random((3000, 4))
Y = X[:, 0] * X[:, 1] + X[:, 2]
MODEL = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, Y)


def work(_: int) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the threads that all cores stand for here, and results made with them."""
    hdmr = TreeHDMR(MODEL, combine="sum", n_jobs=-1).fit(X)
    return n_threads(-1), load_forest(MODEL).predict(X, n_jobs=-1), hdmr.sensitivity_.S


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 4])
def test_results_do_not_depend_on_threads(n_jobs, monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    forest, reference = load_forest(MODEL), load_forest(MODEL)
    assert np.array_equal(forest.group_features(X, n_jobs=n_jobs), reference.group_features(X, n_jobs=1))
    S = TreeHDMR(MODEL, combine="sum", n_jobs=n_jobs).fit(X).sensitivity_.S
    assert np.array_equal(S, TreeHDMR(MODEL, combine="sum", n_jobs=1).fit(X).sensitivity_.S)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_workers_get_one_thread_each(backend):
    _, prediction, S = work(0)
    for threads, same_prediction, same_S in joblib.Parallel(n_jobs=2, backend=backend)(
        joblib.delayed(work)(k) for k in range(2)
    ):
        assert threads == 1
        assert np.array_equal(same_prediction, prediction)
        assert np.array_equal(same_S, S)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_works_after_fork():
    _, prediction, S = work(0)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        threads, same_prediction, same_S = pool.apply_async(work, (0,)).get(timeout=60)
    assert threads == 1
    assert np.array_equal(same_prediction, prediction)
    assert np.array_equal(same_S, S)


def test_sections_of_several_threads_give_blas_its_threads_back():
    before, seen = blas_threads(), []

    def enter_and_leave() -> None:
        for _ in range(10):
            with one_blas_thread(), one_blas_thread():
                seen.extend(blas_threads())

    threads = [threading.Thread(target=enter_and_leave) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(seen) == 30 * len(before) and set(seen) == {1}
    assert blas_threads() == before


def test_n_jobs_of_zero_is_refused():
    with pytest.raises(ValueError, match="n_jobs"):
        n_threads(0)
