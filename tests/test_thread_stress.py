"""Threads fit, predict, pickle, explain and save the same objects and others at once, and get what one thread gets.

``python tests/test_thread_stress.py SECONDS`` goes on for longer.
"""

import io
import multiprocessing
import pickle
import random
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

import fasthdmr
from fasthdmr import HDMR, TreeHDMR, load_forest

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = X[:, 0] + X[:, 1] * X[:, 2]
MODEL = GradientBoostingRegressor(n_estimators=4, max_depth=2, random_state=0).fit(X, Y)
THREADS = 3
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning")


def fitted_spans():
    return TreeHDMR(MODEL, n_splines=3, n_jobs=2).fit(X)


def fitted_trees():
    return TreeHDMR(MODEL, basis="trees").fit(X)


def saved(hdmr):
    file = io.BytesIO()
    hdmr.save(file)
    return file


class Shared:
    """Objects that all threads use. Values that are computed at first access are computed by several at once."""

    def __init__(self):
        self.forest, self.hdmr = load_forest(MODEL), fitted_spans()


def calls(shared):
    """Functions without arguments, whose results must not depend on what runs beside them."""
    hdmr, forest = shared.hdmr, shared.forest
    return {
        "fit spans": lambda: fitted_spans().evaluate(X),
        "fit trees": lambda: fitted_trees().sensitivity_.Sa,
        "fit data": lambda: HDMR(n_splines=3, order=1).fit(X, Y).predict(X),
        "fit bootstrap": lambda: TreeHDMR(MODEL, n_splines=3, order=1, ci="bootstrap").fit(X).sensitivity_.S_conf,
        "product": lambda: TreeHDMR(MODEL, measure="product").fit(X).sensitivity_.S,
        "load and predict": lambda: load_forest(MODEL).predict(X, n_jobs=2),
        "predict": lambda: forest.predict(X, n_jobs=2),
        "groups": lambda: forest.group_features(X),
        "pickle the forest": lambda: pickle.loads(pickle.dumps(forest)).predict(X),
        "evaluate": lambda: hdmr.evaluate(X),
        "pickle": lambda: pickle.loads(pickle.dumps(hdmr)).predict(X),
        "explain": lambda: hdmr.explain(X[:20]).to_frame().to_numpy(),
        "component": lambda: hdmr.component(0)(X[:, 0]),
        "indices": lambda: np.array(hdmr.sensitivity_.S_conf),
        "Shapley": lambda: hdmr.shapley_values(X[:20]),
        "save and load": lambda: fasthdmr.load_decomposition(io.BytesIO(saved(hdmr).getvalue())).predict(X),
    }


def stress(rounds=1, seconds=0.0):
    """Run all calls on several threads, each in an order of its own; return the names of those that went wrong."""
    desired = {name: call() for name, call in calls(Shared()).items()}
    shared, wrong, start = Shared(), [], threading.Barrier(THREADS)
    end = time.monotonic() + seconds

    def work(seed):
        order, own = random.Random(seed), calls(shared)
        start.wait(60)
        done = 0
        while done < rounds or time.monotonic() < end:
            done += 1
            for name in order.sample(sorted(own), len(own)):
                try:
                    if not np.array_equal(own[name](), desired[name]):
                        wrong.append(name)
                except Exception as error:
                    wrong.append(f"{name}: {error!r}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def test_threads_get_what_one_thread_gets():
    pytest.importorskip("pandas", reason="explanations as frames")
    filters = list(warnings.filters)
    assert stress() == []
    assert warnings.filters == filters  # as they were, whichever thread was the last


def numbers(start):
    """What a child process computes from an object that the parent sent, on threads of its own."""
    hdmr = pickle.loads(start)
    return hdmr.predict(X), fitted_spans().evaluate(X)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_children_get_what_their_parent_gets(method):
    hdmr = fitted_spans()  # threads have run before the child starts
    with multiprocessing.get_context(method).Pool(1) as pool:
        found = pool.map_async(numbers, [pickle.dumps(hdmr)]).get(100)[0]
    for actual, desired in zip(found, (hdmr.predict(X), hdmr.evaluate(X)), strict=True):
        np.testing.assert_array_equal(actual, desired)


if __name__ == "__main__":
    problems = stress(seconds=float(sys.argv[1]))
    print(problems or "all results are those of one thread")
    sys.exit(bool(problems))
