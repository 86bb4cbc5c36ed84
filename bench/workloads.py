"""Ten calls of fasthdmr whose CPU time is compared between two versions.

``python workloads.py DIRECTORY`` measures the fasthdmr that is installed there, and prints seconds by name as JSON.
"""

from __future__ import annotations

import io
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

REPEATS = 3
LEAST = 0.2  # seconds of one measurement: short calls are repeated


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

    return {
        "load": lambda: fasthdmr.load_forest(deep),
        "predict, shallow trees": lambda: forest.predict(X),
        "predict, deep trees": lambda: deep_forest.predict(X),
        "features of groups": lambda: forest.group_features(X),
        "fit with trees": lambda: fasthdmr.TreeHDMR(shallow, basis="trees").fit(X),
        "fit with splines": lambda: fasthdmr.TreeHDMR(shallow).fit(X),
        "fit to data": lambda: fasthdmr.HDMR().fit(X, y),
        "evaluate": lambda: hdmr.evaluate(X),
        "Shapley values": lambda: hdmr.shapley_values(X),
        "save and load": saved_and_loaded,
    }


def seconds_of(call: Callable[[], Any]) -> float:
    """Return the least CPU time of a call, in seconds."""
    call()
    found = []
    for _ in range(REPEATS):
        start, count = time.process_time(), 0
        while (passed := time.process_time() - start) < LEAST:
            call()
            count += 1
        found.append(passed / count)
    return min(found)


def main(directory: str) -> None:
    """Import fasthdmr from a directory, measure and print."""
    # An editable installation would be found before the directory.
    sys.meta_path[:] = [f for f in sys.meta_path if "editable" not in type(f).__module__]
    sys.path.insert(0, directory)
    import fasthdmr

    if not Path(fasthdmr.__file__).is_relative_to(Path(directory).resolve()):
        raise ImportError(f"fasthdmr was imported from {fasthdmr.__file__}, not from {directory}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print(json.dumps({name: seconds_of(call) for name, call in workloads(fasthdmr).items()}))


if __name__ == "__main__":
    main(sys.argv[1])
