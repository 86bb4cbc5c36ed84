"""California housing: the data, the paper's collection I of it, and its HDMR, which several items share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from bench.data import california
from bench.models import boosted
from bench.paper.options import Options
from bench.paper.result import fewer
from fasthdmr import TreeHDMR

N_TREES, QUICK_TREES = 5000, 500
ALPHA = 1e-6


@dataclass(frozen=True, eq=False)
class Housing:
    """Standardised data, gradient boosting of depth 1, 2, 3, and their HDMR."""

    X: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]
    models: list[Any]
    hdmr: TreeHDMR


@lru_cache(maxsize=1)
def decomposed(n_trees: int) -> Housing:
    """Return the data, and models with the given number of trees each."""
    X, y, names = california()
    models = boosted(X, y, n_trees=n_trees)
    return Housing(X, y, names, models, hdmr_of(models, X, y))


def hdmr_of(models: list[Any], X: np.ndarray, y: np.ndarray) -> TreeHDMR:
    """Return the paper's HDMR of a collection: the tree columns as spans, ridge."""
    hdmr = TreeHDMR(models, basis="trees", order=None, combine="ridge", alphas=[ALPHA], normalise="data", n_jobs=2)
    return hdmr.fit(X, y)


def size(options: Options) -> tuple[int, list[str]]:
    """Return the number of trees, and a text about reductions."""
    n_trees = QUICK_TREES if options.quick else N_TREES
    return n_trees, fewer(trees=(n_trees, N_TREES))
