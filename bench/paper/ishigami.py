"""The Ishigami function, its exact HDMR (spec 8) and the ensembles that are fitted to it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

from bench.models import fitted
from fasthdmr import TreeHDMR

A, B = 7.0, 0.1
N_TREES, N_ROWS = 1000, 5000  # of the paper's ensembles and samples


def sample(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows uniform on [-pi, pi]^3 and the function there."""
    X = np.random.default_rng(seed).uniform(-np.pi, np.pi, (n_rows, 3))
    return X, np.sin(X[:, 0]) + A * np.sin(X[:, 1]) ** 2 + B * X[:, 2] ** 4 * np.sin(X[:, 0])


def main_effects(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return f_1 and f_2 on the rows."""
    return (1 + B * np.pi**4 / 5) * np.sin(X[:, 0]), -A / 2 * np.cos(2 * X[:, 1])


def interaction(X: np.ndarray) -> np.ndarray:
    """Return f_13 at rows of (x1, x3)."""
    return B * (X[:, 1] ** 4 - np.pi**4 / 5) * np.sin(X[:, 0])


def exact_indices() -> dict[tuple[int, ...], float]:
    """Return S_u of the components that are not zero."""
    V1, V2, V13 = (1 + B * np.pi**4 / 5) ** 2 / 2, A**2 / 8, 8 * B**2 * np.pi**8 / 225
    V = V1 + V2 + V13
    return {(0,): V1 / V, (1,): V2 / V, (0, 2): V13 / V}


def member(kind: str, depth: int | None, n_trees: int, X: np.ndarray, y: np.ndarray) -> Any:
    """Return a fitted ensemble: kind "gbr" or "rf"."""
    if kind == "gbr":
        model = GradientBoostingRegressor(n_estimators=n_trees, max_depth=depth, random_state=0)
    else:
        model = RandomForestRegressor(n_estimators=n_trees, max_depth=depth, random_state=0, n_jobs=2)
    if depth is None:
        # Fully grown trees fill half a gigabyte on disk and take seconds to fit.
        return model.fit(X, y)
    return fitted(model, X, y)


@lru_cache(maxsize=2)
def decomposed(kind: str) -> tuple[np.ndarray, TreeHDMR]:
    """Return a sample and the paper's HDMR of it: I_3, the tree columns as spans, ridge."""
    X, y = sample(N_ROWS, 0)
    members = [member(kind, depth, N_TREES, X, y) for depth in (1, 2, 3)]
    hdmr = TreeHDMR(members, basis="trees", order=None, combine="ridge", normalise="data", n_jobs=2)
    return X, hdmr.fit(X, y)


def component(hdmr: TreeHDMR, subspace: tuple[int, ...], values: np.ndarray) -> np.ndarray:
    """Return a component at values (N, |u|); 0 where there are no trees on exactly these variables."""
    return hdmr.component(subspace)(values) if subspace in hdmr.subspaces_ else np.zeros(len(values))
