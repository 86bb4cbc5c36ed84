"""Yggdrasil Decision Forests: the fastest of its engines for a model of scikit-learn."""

from __future__ import annotations

import copy
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bench.models import converted
from bench.runner import Contender, quietly, threads


def shifted(model: Any) -> Any:
    """Return the model with the thresholds that YDF needs.

    It goes right where x >= threshold, in single precision. For such x this is x > t for the next number above t.
    """
    model = copy.deepcopy(model)
    for tree in np.ravel(model.estimators_):
        exact = tree.tree_.threshold
        nearest = exact.astype(np.float32)
        above = np.nextafter(nearest, np.float32(np.inf))
        exact[:] = np.where(nearest.astype(np.float64) > exact, nearest, above)
    return model


def contender(model: Any, X: np.ndarray, *, stage: str, n_jobs: int = 1) -> Contender:
    """Return its prediction; converting is not measured."""
    rows = {"features": np.ascontiguousarray(X, dtype=np.float32)}

    def prepare() -> Any:
        import ydf

        ydf.verbose(0)

        def write(path: Path) -> None:
            shutil.rmtree(path, ignore_errors=True)
            ydf.from_sklearn(shifted(model)).save(str(path))

        return ydf.load_model(str(converted(model, f"{version('ydf')}.ydf", write)))

    def run(engine: Any) -> Any:
        return engine.predict(rows, num_threads=n_jobs)

    name = f"YDF, {threads(n_jobs)}"
    return Contender(name, stage, run, quietly(prepare), lambda output: {"output": output})
