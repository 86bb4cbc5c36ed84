"""The ensembles that the paper fits to the Ishigami function, and their HDMR."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

from bench.ishigami import sample
from bench.models import fitted
from fasthdmr import TreeHDMR

N_TREES, N_ROWS = 1000, 5000  # of the paper's ensembles and samples


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
