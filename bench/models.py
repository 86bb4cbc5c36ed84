"""Fitted models, kept outside the repository because training them takes minutes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import sklearn
from sklearn.ensemble import GradientBoostingRegressor


def cache_directory() -> Path:
    """Return FASTHDMR_CACHE, else the platform's cache directory."""
    if chosen := os.environ.get("FASTHDMR_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    return Path(base) / "fasthdmr-bench"


def fitted(estimator: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """Return `estimator` fitted on (X, y), from the cache if it was fitted before.

    The key contains everything that the result depends on, so not n_jobs.
    """
    name = type(estimator).__name__
    parameters = {key: value for key, value in estimator.get_params().items() if key != "n_jobs"}
    key = joblib.hash((name, parameters, sklearn.__version__, X, y))
    path = cache_directory() / f"{name}-{key}.joblib"
    if path.is_file():
        return joblib.load(path)
    estimator.fit(X, y)
    _make(path, lambda unfinished: joblib.dump(estimator, unfinished))
    return estimator


def boosted(X: np.ndarray, y: np.ndarray, *, depths: tuple[int, ...] = (1, 2, 3), n_trees: int) -> list[Any]:
    """Return the paper's collection I: one gradient boosting regressor a depth."""
    return [
        fitted(GradientBoostingRegressor(n_estimators=n_trees, max_depth=depth, random_state=0), X, y)
        for depth in depths
    ]


def converted(model: Any, kind: str, write: Callable[[Path], Any]) -> Path:
    """Return the file that `write` makes of a fitted model, from the cache if it was made before.

    The kind identifies the format and everything else that the file depends on; it ends in the file's suffix.
    """
    path = cache_directory() / f"{type(model).__name__}-{joblib.hash(model)}-{kind}"
    if not path.exists():
        _make(path, write)
    return path


def _make(path: Path, write: Callable[[Path], Any]) -> None:
    """Let a file be written under a temporary name, and rename it when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{os.getpid()}-{path.name}")
    try:
        write(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
