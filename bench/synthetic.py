"""Ensembles that cost nothing to make: complete trees with random splits, as flat arrays."""

from __future__ import annotations

from itertools import combinations, islice

import numpy as np

from fasthdmr.loaders.trees import Trees

N_FEATURES = 8


def rows(n_rows: int, n_features: int = N_FEATURES, seed: int = 0) -> np.ndarray:
    """Return rows in the unit cube, in single precision."""
    return np.random.default_rng(seed).random((n_rows, n_features), dtype=np.float32)


def complete(feature: np.ndarray, n_features: int, n_thresholds: int | None = None) -> Trees:
    """Return trees whose inner nodes split on feature[tree, node], level by level.

    Thresholds are uniform on (0, 1), or on a grid of the given size.
    """
    rng = np.random.default_rng(0)
    n_trees, n_inner = feature.shape
    n_nodes = 2 * n_inner + 1
    node = np.arange(n_nodes)
    inner = node < n_inner
    threshold = rng.random(feature.shape, dtype=np.float32)
    if n_thresholds is not None:
        threshold = (1 + np.floor(n_thresholds * threshold)) / (1 + n_thresholds)

    def every(of_node: np.ndarray) -> np.ndarray:
        return np.tile(of_node, n_trees)

    def padded(of_inner: np.ndarray) -> np.ndarray:
        return np.concatenate([of_inner, np.zeros((n_trees, n_inner + 1), of_inner.dtype)], axis=1).ravel()

    value = rng.standard_normal((n_trees, n_nodes)) / np.sqrt(n_trees)
    return Trees(
        n_features=n_features,
        tree_offsets=n_nodes * np.arange(n_trees + 1),
        left=every(np.where(inner, 2 * node + 1, -1)),
        right=every(np.where(inner, 2 * node + 2, -1)),
        feature=padded(feature.astype(np.int64)),
        threshold=padded(threshold.astype(np.float64)),
        missing_left=np.zeros(n_trees * n_nodes, np.uint8),
        value=value.reshape(-1, 1),
        tree_output=np.zeros(n_trees, np.int64),
        offset=np.zeros(1),
        weight=every(2.0 ** -np.floor(np.log2(node + 1))),
    )


def random_trees(n_trees: int, depth: int, n_features: int = N_FEATURES, *, n_thresholds: int | None = None) -> Trees:
    """Return trees that split on variables drawn at random."""
    feature = np.random.default_rng(1).integers(n_features, size=(n_trees, 2**depth - 1))
    return complete(feature, n_features, n_thresholds)


def columns(n_columns: int, n_features: int) -> Trees:
    """Return one tree of depth 2 a column: first on every variable alone, then on pairs."""
    alone = [(i, i) for i in range(n_features)]
    chosen = [*alone, *islice(combinations(range(n_features), 2), n_columns - n_features)]
    return complete(np.array([[i, j, j] for i, j in chosen]), n_features)
