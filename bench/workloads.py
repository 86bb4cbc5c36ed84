"""Ten calls of fasthdmr whose CPU time is compared between versions, as ratios to that of a fixed reference.

The reference is work of NumPy alone, timed in turn with each call: what the machine and its load change is in both.
``python workloads.py DIRECTORY`` measures the fasthdmr that is installed there, and prints ratios by name as JSON;
``python workloads.py DIRECTORY bench.problem_lines`` measures the calls of another module.
"""

from __future__ import annotations

import io
import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

REPEATS = 3
LEAST = 0.1  # seconds of one measurement: short calls are repeated
NAMES = (
    "load",
    "predict, shallow trees",
    "predict, deep trees",
    "features of groups",
    "fit with trees",
    "fit with splines",
    "fit to data",
    "evaluate",
    "Shapley values",
    "save and load",
)


def reference() -> Callable[[], Any]:
    """Return the reference: a matrix product, a sort and a copy, about 10 ms."""
    rng = np.random.default_rng(0)
    matrix, numbers = rng.normal(size=(400, 400)), rng.normal(size=500_000)
    return lambda: (matrix @ matrix, np.sort(numbers[:100_000]), numbers.copy())


def workloads(fasthdmr: Any) -> dict[str, Callable[[], Any]]:
    """Return calls without arguments, by name. Models and fits are made here, once."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 8))
    y = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3]) + 0.3 * rng.normal(size=len(X))
    shallow = GradientBoostingRegressor(n_estimators=200, max_depth=3, random_state=0).fit(X[:1000], y[:1000])
    deep = RandomForestRegressor(n_estimators=20, random_state=0).fit(X[:1000], y[:1000])
    forest, deep_forest = fasthdmr.load_forest(shallow), fasthdmr.load_forest(deep)
    hdmr = fasthdmr.TreeHDMR(shallow).fit(X)

    def saved_and_loaded() -> Any:
        file = io.BytesIO()
        hdmr.save(file)
        return fasthdmr.load_decomposition(io.BytesIO(file.getvalue()))

    calls = (
        lambda: fasthdmr.load_forest(deep),
        lambda: forest.predict(X),
        lambda: deep_forest.predict(X),
        lambda: forest.group_features(X),
        lambda: fasthdmr.TreeHDMR(shallow, basis="trees").fit(X),
        lambda: fasthdmr.TreeHDMR(shallow).fit(X),
        lambda: fasthdmr.HDMR().fit(X, y),
        lambda: hdmr.evaluate(X),
        lambda: hdmr.shapley_values(X),
        saved_and_loaded,
    )
    return dict(zip(NAMES, calls, strict=True))


def seconds_of(call: Callable[[], Any]) -> float:
    """Return the mean CPU time of a call that is repeated for a while, in seconds."""
    start, count = time.process_time(), 0
    while (passed := time.process_time() - start) < LEAST:
        call()
        count += 1
    return passed / count


def ratio_of(call: Callable[[], Any], base: Callable[[], Any]) -> float:
    """Return the least CPU time of a call, relative to that of a base. They are timed in turn.

    NaN: the call needs a function that the version does not have.
    """
    try:
        call(), base()  # the first calls fill caches
    except AttributeError:
        return float("nan")
    times = [(seconds_of(call), seconds_of(base)) for _ in range(REPEATS)]
    return min(time for time, _ in times) / min(time for _, time in times)


def main(directory: str, module: str = "bench.workloads") -> None:
    """Import fasthdmr from a directory, measure the calls of a module and print."""
    # An editable installation would be found before the directory.
    sys.meta_path[:] = [f for f in sys.meta_path if "editable" not in type(f).__module__]
    sys.path[0] = directory
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    import fasthdmr

    if not Path(fasthdmr.__file__).is_relative_to(Path(directory).resolve()):
        raise ImportError(f"fasthdmr was imported from {fasthdmr.__file__}, not from {directory}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        base, calls = reference(), import_module(module).workloads(fasthdmr)
        print(json.dumps({name: ratio_of(call, base) for name, call in calls.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
