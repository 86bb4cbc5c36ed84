"""The data sets of the benchmarks and of the paper."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

FILE_NAME = "california_housing.csv"


def california_file() -> Path | None:
    """Return the local copy, in the directory FASTHDMR_DATA or beside the checkout, or None."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    for directory in (os.environ.get("FASTHDMR_DATA"), beside):
        if directory and (Path(directory) / FILE_NAME).is_file():
            return Path(directory) / FILE_NAME
    return None


def with_jitter(X: np.ndarray, copies: int, deviation: float) -> np.ndarray:
    """Return the rows, repeated, with normal noise of this standard deviation."""
    noise = np.random.default_rng(0).standard_normal((copies * len(X), X.shape[1]))
    return np.tile(X, (copies, 1)) + deviation * noise


def california() -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return California housing as (X, y, names), all standardised, the target too, as in the paper."""
    path = california_file()
    if path is None:
        from sklearn.datasets import fetch_california_housing

        bunch = fetch_california_housing()
        table, names = np.column_stack([bunch.data, bunch.target]), tuple(bunch.feature_names)
    else:
        with path.open(encoding="utf-8-sig") as lines:
            names = tuple(lines.readline().strip().split(","))[:-1]
            table = np.loadtxt(lines, delimiter=",")
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].copy(), names
