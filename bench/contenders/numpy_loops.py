"""B in NumPy, tree after tree: simple loops, and references for assignment by tree and by node."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bench.contenders import numpy_reference
from bench.runner import Contender

Subspace = tuple[int, ...]


def positions(subspaces: list[Subspace]) -> tuple[np.ndarray, int]:
    """Return where each subspace is in the sorted list of distinct ones, and the length of that list."""
    distinct = sorted(set(subspaces), key=lambda u: (len(u), u))
    place = {u: position for position, u in enumerate(distinct)}
    return np.array([place[u] for u in subspaces]), len(distinct)


def trees_of(model: Any) -> tuple[list[Any], float]:
    """Return the fitted trees and the factor of each."""
    trees = list(np.ravel(model.estimators_))
    return trees, getattr(model, "learning_rate", 1 / len(trees))


def variables(tree: Any) -> Subspace:
    """Return the variables that a tree splits on."""
    feature = tree.tree_.feature
    return tuple(np.unique(feature[feature >= 0]).tolist())


@dataclass(frozen=True)
class Walk:
    """One tree for a walk level by level: a leaf is its own child."""

    depth: int
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray

    @classmethod
    def of(cls, tree: Any, scale: float) -> Walk:
        """Read a tree of scikit-learn."""
        t = tree.tree_
        leaf, itself = t.children_left < 0, np.arange(t.node_count)
        left, right = (np.where(leaf, itself, child) for child in (t.children_left, t.children_right))
        return cls(t.max_depth, np.where(leaf, 0, t.feature), t.threshold, left, right, scale * t.value[:, 0, 0])

    def down(self, X: np.ndarray, rows: np.ndarray, node: np.ndarray) -> np.ndarray:
        """Return the nodes a level below."""
        goes_left = X[rows, self.feature[node]] <= self.threshold[node]
        return np.where(goes_left, self.left[node], self.right[node])


def by_predict(prepared: tuple[np.ndarray, int, list[Any], float], X: np.ndarray) -> np.ndarray:
    """Return B through the public `predict` of every tree."""
    columns, width, trees, scale = prepared
    B = np.zeros((len(X), width), order="F")
    for column, tree in zip(columns, trees, strict=True):
        B[:, column] += scale * tree.predict(X)
    return B


def by_walk(prepared: tuple[np.ndarray, int, list[Walk]], X: np.ndarray) -> np.ndarray:
    """Return B, all rows a level of a tree at a time."""
    columns, width, walks = prepared
    B, rows = np.zeros((len(X), width), order="F"), np.arange(len(X))
    for column, walk in zip(columns, walks, strict=True):
        node = np.zeros(len(X), dtype=np.intp)
        for _ in range(walk.depth):
            node = walk.down(X, rows, node)
        B[:, column] += walk.value[node]
    return B


def by_node(prepared: tuple[np.ndarray, int, list[Walk]], X: np.ndarray) -> np.ndarray:
    """Return B sorted by node: the step in value at every level is added to the column of the node's path."""
    columns, width, walks = prepared
    B, rows, first = np.zeros((len(X), width), order="F"), np.arange(len(X)), 0
    for walk in walks:
        column = columns[first : first + len(walk.value)]
        first += len(walk.value)
        node = np.zeros(len(X), dtype=np.intp)
        B[:, column[0]] += walk.value[0]
        for _ in range(walk.depth):
            below = walk.down(X, rows, node)
            B[rows, column[below]] += walk.value[below] - walk.value[node]
            node = below
    return B


def paths(walk: Walk) -> list[Subspace]:
    """Return for every node which variables are on the path to it; children come after their parents."""
    found: list[Subspace] = [()] * len(walk.value)
    for parent in range(len(walk.value)):
        for child in {walk.left[parent], walk.right[parent]} - {parent}:
            found[child] = tuple(sorted({*found[parent], int(walk.feature[parent])}))
    return found


def averaged(walk: Walk, weight: np.ndarray) -> Walk:
    """Give the inner nodes the mean of their children."""
    for parent in reversed(range(len(walk.value))):
        left, right = walk.left[parent], walk.right[parent]
        if left != parent:
            walk.value[parent] = np.average(walk.value[[left, right]], weights=weight[[left, right]])
    return walk


def contenders(model: Any, X: np.ndarray, *, stage: str, limit: float) -> list[Contender]:
    """Return the loops, each run once; the first is the reference of B by tree, the last of B by node."""
    rows = np.ascontiguousarray(X, dtype=np.float32)
    trees, scale = trees_of(model)

    def whole_trees() -> tuple[np.ndarray, int]:
        return positions([variables(tree) for tree in trees])

    def nodes() -> Any:
        walks = [averaged(Walk.of(tree, scale), tree.tree_.weighted_n_node_samples) for tree in trees]
        return *positions([path for walk in walks for path in paths(walk)]), walks

    def loop(name: str, run: Any, prepare: Any, result: str) -> Contender:
        return Contender(name, stage, partial(run, X=rows), prepare, lambda B: {result: B}, limit)

    def reference(_: Any, X: np.ndarray) -> np.ndarray:
        return numpy_reference.features([model], X)[1]

    return [
        loop("loop, tree_.predict", reference, lambda: None, "B by tree"),
        loop("loop, tree.predict", by_predict, lambda: (*whole_trees(), trees, scale), "B by tree"),
        loop("loop, NumPy walk", by_walk, lambda: (*whole_trees(), [Walk.of(t, scale) for t in trees]), "B by tree"),
        loop("loop by node, NumPy walk", by_node, nodes, "B by node"),
    ]
