"""The exact HDMR of a fitted ensemble under a known density, from the boxes of its leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from bench.exact import Components, Subspace, subspaces_of

BLOCK = 16  # rows, or leaves, that are processed together, limited by the cache
CDF = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Boxes:
    """Leaves of all trees: (L,) values, and (L, n) bounds; x is inside where low < x <= high."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def leaf_boxes(model: Any) -> Boxes:
    """Return the leaves of scikit-learn's gradient boosting, without its initial constant."""
    values, lows, highs = [], [], []
    for estimator in np.ravel(model.estimators_):
        tree = estimator.tree_
        low = np.full((tree.node_count, model.n_features_in_), -np.inf)
        high = np.full_like(low, np.inf)
        for node in np.flatnonzero(tree.children_left >= 0):  # parents come before their children
            left, right, variable = tree.children_left[node], tree.children_right[node], tree.feature[node]
            low[[left, right]], high[[left, right]] = low[node], high[node]
            high[left, variable] = low[right, variable] = tree.threshold[node]
        leaf = tree.children_left < 0
        values.append(model.learning_rate * tree.value[leaf, 0, 0])
        lows.append(low[leaf])
        highs.append(high[leaf])
    return Boxes(np.concatenate(values), np.concatenate(lows), np.concatenate(highs))


def _product(factors: np.ndarray, within: np.ndarray, u: Subspace) -> np.ndarray:
    """Return the product over variables: of `factors` in u, of `within` elsewhere; variables come first."""
    return reduce(np.multiply, [factors[j] if j in u else within[j] for j in range(len(factors))])


def product_components(boxes: Boxes, cdf: CDF, X: np.ndarray) -> Components:
    """Return every f_u on the rows, the inputs being independent with distribution function `cdf` each.

    A leaf with value c and box prod I_j adds c prod_{j in u} (1[x_j in I_j] - p_j) prod_{j not in u} p_j
    (specification, section 4).
    """
    p = (cdf(boxes.high) - cdf(boxes.low)).T
    subspaces = subspaces_of(len(p), len(p))
    found: dict[Subspace, list[np.ndarray]] = {u: [] for u in subspaces}
    rows = X.astype(np.float32).astype(np.float64)  # as the trees see them
    for block in np.split(rows, range(BLOCK, len(rows), BLOCK)):
        x = block.T[:, :, None]
        centred = ((boxes.low.T[:, None] < x) & (x <= boxes.high.T[:, None])) - p[:, None]
        for u in subspaces:
            found[u].append(_product(centred, p[:, None], u) @ boxes.value)
    return {u: np.concatenate(parts) for u, parts in found.items()}


def product_indices(boxes: Boxes, cdf: CDF) -> dict[Subspace, float]:
    """Return every S_u, exactly: the variance of f_u is a sum over pairs of leaves."""
    low, high = cdf(boxes.low).T, cdf(boxes.high).T
    p = high - low
    subspaces = subspaces_of(len(p), len(p))
    variances = dict.fromkeys(subspaces, 0.0)
    for start in range(0, p.shape[1], BLOCK):
        part = slice(start, start + BLOCK)
        top = np.minimum(high[:, part, None], high[:, None])
        overlap = np.maximum(top - np.maximum(low[:, part, None], low[:, None]), 0)
        both = p[:, part, None] * p[:, None]
        for u in subspaces:
            variances[u] += boxes.value[part] @ _product(overlap - both, both, u) @ boxes.value
    total = sum(variances.values())
    return {u: float(variance / total) for u, variance in variances.items()}


def _edges(boxes: Boxes, variable: int) -> np.ndarray:
    """Return the bounds of the cells on one axis: all thresholds, and Gaussian quantiles to make them narrow."""
    thresholds = boxes.low[np.isfinite(boxes.low[:, variable]), variable]
    return np.concatenate([[-np.inf], np.union1d(thresholds, ndtri(np.arange(1, 400) / 400)), [np.inf]])


def _cell_values(boxes: Boxes, edges: list[np.ndarray]) -> np.ndarray:
    """Return the ensemble on all cells of the plane, by differences at the corners of the leaves."""
    steps = np.zeros([len(e) for e in edges])
    corners = [
        [np.searchsorted(e, bound[:, axis]) for bound in (boxes.low, boxes.high)] for axis, e in enumerate(edges)
    ]
    for i in (0, 1):
        for j in (0, 1):
            np.add.at(steps, (corners[0][i], corners[1][j]), (-1.0) ** (i + j) * boxes.value)
    return steps.cumsum(axis=0).cumsum(axis=1)[:-1, :-1]


def _cell_masses(edges: list[np.ndarray], rho: float) -> np.ndarray:
    """Return the bivariate normal probabilities of all cells."""
    ends = ndtr(edges[0])
    nodes, weights = np.polynomial.legendre.leggauss(3)
    masses = np.zeros([len(e) - 1 for e in edges])
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        x = ndtri(ends[:-1] + node * np.diff(ends))
        given_x = np.diff(ndtr((edges[1] - rho * x[:, None]) / np.sqrt(1 - rho**2)), axis=1)
        masses += weight * np.diff(ends)[:, None] * given_x
    return masses


def additive_part(values: np.ndarray, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return functions of the row and of the column whose sum is closest to a table of mean 0, by backfitting."""
    given_0 = masses / masses.sum(axis=1, keepdims=True)
    given_1 = (masses / masses.sum(axis=0)).T
    means_0, means_1 = (given_0 * values).sum(axis=1), (given_1 * values.T).sum(axis=1)
    f0, f1, change = means_0, np.zeros_like(means_1), np.inf
    scale = np.sqrt(np.vdot(masses, values**2))
    while change > 1e-8 * scale:
        f1 = means_1 - given_1 @ f0
        previous, f0 = f0, means_0 - given_0 @ f1
        change = np.abs(f0 - previous).max()
    return f0, f1


def gaussian_components(boxes: Boxes, rho: float, X: np.ndarray) -> Components:
    """Return f_1, f_2, f_12 of an ensemble of two standard normal inputs with correlation rho, on the rows.

    f_1 + f_2 is the projection on additive functions, found on the cells between all thresholds; these are made
    narrow because conditional means vary within them.
    """
    edges = [_edges(boxes, 0), _edges(boxes, 1)]
    values, masses = _cell_values(boxes, edges), _cell_masses(edges, rho)
    values = values - np.vdot(masses, values)
    f0, f1 = additive_part(values, masses)
    rest = values - f0[:, None] - f1
    rows = X.astype(np.float32)
    i, j = (np.searchsorted(e, rows[:, axis]) - 1 for axis, e in enumerate(edges))
    return {(0,): f0[i], (1,): f1[j], (0, 1): rest[i, j]}
