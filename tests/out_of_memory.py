"""Calls with little memory left, each of which ends in its result or a MemoryError: run by test_out_of_memory.py."""

import faulthandler
import resource
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from models import X, Y, gbr, rf

from fasthdmr import HDMR, TreeHDMR, decompose, load_forest
from fasthdmr.chisquare import power_law, simulate
from fasthdmr.inspection import partial_dependence

MODEL = gbr(max_depth=3).fit(X, Y)
FOREST = rf().fit(X, Y)
ROWS = np.random.default_rng(0).normal(size=(100_000, 4))
VALUES = ROWS[:60_000, 0] * ROWS[:60_000, 1]
COLUMNS = np.random.default_rng(0).normal(size=(60_000, 60))
CALLS = {
    "predict": lambda: load_forest(FOREST).predict(ROWS, n_jobs=2),
    "features": lambda: load_forest(FOREST).group_features(ROWS, by="node", n_jobs=2),
    "spline": lambda: TreeHDMR(MODEL, n_jobs=2).fit(ROWS[:60_000]).predict(ROWS),
    "trees": lambda: TreeHDMR(MODEL, basis="trees", n_jobs=2).fit(ROWS).predict(ROWS),
    "product": lambda: TreeHDMR(MODEL, measure="product", n_jobs=2).fit(ROWS).predict(ROWS),
    "values": lambda: HDMR(n_jobs=2).fit(ROWS[:60_000], VALUES).predict(ROWS),
    "columns": lambda: decompose(COLUMNS, [j % 4 for j in range(60)], y=VALUES, n_jobs=2).evaluate(COLUMNS),
    "partial dependence": lambda: partial_dependence(FOREST, ROWS, [0, 1], n_jobs=2).average,
}
if find_spec("numba"):  # the extra `chisquare`
    CALLS["simulation"] = lambda: simulate(power_law(1000, 0.5), 500, 20_000, random_state=0, n_jobs=2).hdmr
ROOMS = (*range(17), 64)  # MB
LONGEST = 120  # seconds; then the traceback shows where a call waits


def address_space():
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def outcome(call, room):
    """Return the outcome of a call that can allocate so many bytes at most."""
    faulthandler.dump_traceback_later(LONGEST, exit=True)
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + room, resource.RLIM_INFINITY))
    try:
        return call()
    except MemoryError:
        return None
    finally:
        faulthandler.cancel_dump_traceback_later()
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


if __name__ == "__main__":
    for name, call in CALLS.items():
        expected = call()
        ended = [outcome(call, room << 20) for room in ROOMS]
        right = all(result is None or np.array_equal(result, expected) for result in ended)
        print(name, sum(result is None for result in ended), right and np.array_equal(call(), expected), flush=True)
    sys.exit(0)
