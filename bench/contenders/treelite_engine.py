"""treelite: its own walk (GTIL) and the C code that tl2cgen writes and compiles."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bench.models import converted
from bench.runner import Contender, quietly, threads


def _rows(X: np.ndarray) -> np.ndarray:
    """Return rows rounded to single precision, as scikit-learn compares them with thresholds."""
    return np.ascontiguousarray(X, dtype=np.float32).astype(np.float64)


@contextmanager
def silence() -> Iterator[None]:
    """Discard the output that a library writes to the standard streams of the process."""
    kept = [os.dup(stream) for stream in (1, 2)]
    with open(os.devnull, "w") as nothing:
        for stream in (1, 2):
            os.dup2(nothing.fileno(), stream)
    try:
        yield
    finally:
        for stream, before in zip((1, 2), kept, strict=True):
            os.dup2(before, stream)
            os.close(before)


def walk(model: Any, X: np.ndarray, *, stage: str, n_jobs: int = 1) -> Contender:
    """Return the prediction by GTIL; reading the model is not measured."""
    rows = _rows(X)

    def prepare() -> Any:
        import treelite

        return treelite, treelite.sklearn.import_model(model)

    def run(prepared: Any) -> Any:
        treelite, engine = prepared
        return treelite.gtil.predict(engine, rows, nthread=n_jobs).ravel()

    name = f"treelite, {threads(n_jobs)}"
    return Contender(name, stage, run, quietly(prepare), lambda output: {"output": output})


def compiled(model: Any, X: np.ndarray, *, stage: str) -> Contender:
    """Return the prediction by compiled code; writing and compiling it is not measured."""
    rows = _rows(X)

    def prepare() -> Any:
        import tl2cgen
        import treelite

        def write(path: Path) -> None:
            engine = treelite.sklearn.import_model(model)
            with silence():
                tl2cgen.export_lib(engine, toolchain="gcc", libpath=path, params={"parallel_comp": 32}, nthread=1)

        path = converted(model, f"tl2cgen{version('tl2cgen')}.so", write)
        return tl2cgen, tl2cgen.Predictor(path, nthread=1)

    def run(prepared: Any) -> Any:
        tl2cgen, engine = prepared
        return engine.predict(tl2cgen.DMatrix(rows)).ravel()

    return Contender("tl2cgen, 1 thread", stage, run, quietly(prepare), lambda output: {"output": output})
