"""Trees behind transformers as trees of one column for each variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._forest.forest import Forest
from fasthdmr.loaders.curves import Curve, GoesLeft, Intervals
from fasthdmr.loaders.trees import Trees, in_float64

_NOTHING = (1.0, 0.0, 0.0)  # replaces no value


def in_variables(
    forest: Forest, tables: Mapping[int, NDArray[np.float64]], curves: Mapping[int, Curve] | None = None
) -> Forest:
    """Return trees behind transformers as functions of one column for each variable.

    The column of a categorical variable holds the codes of its levels: each split is by the set of the codes that go
    left. The column of a numeric variable is the only one that the trees use of it. If they use several, it is the
    variable itself, and each split is by the intervals of its values that go left.

    Parameters
    ----------
    forest : Forest
        With a front.
    tables : dict of int to ndarray of shape (L + 1, m)
        For each categorical variable, the m columns that trees use of it, at each code.
    curves : dict of int to Curve, optional
        For each numeric variable of which trees use several columns, these columns.
    """
    sources, curves = np.array(forest.sources), curves or {}
    place = np.array([np.sum(sources[:j] == source) for j, source in enumerate(sources)])  # among those of its variable
    trees = Trees.of(forest)
    if curves:  # their intervals are compared in float64
        trees = in_float64(trees)
    inner = trees.left >= 0
    feature = np.where(inner, sources[np.where(inner, trees.feature, 0)], 0)
    numbers, known = np.full(len(feature), -1), dict[Intervals, int]()
    missing_left = np.array(trees.missing_left)
    sets: dict[int, Intervals] = {}
    for m in np.flatnonzero(inner).tolist():
        j = int(feature[m])
        if j in tables:
            sets[m] = _runs(_goes_left(trees, m, tables[j][:, place[trees.feature[m]]]))
        elif j not in curves and (own := _set_of(trees, m)) is not None:
            sets[m] = tuple(map(tuple, own.tolist()))
    for j, curve in curves.items():
        nodes_of: dict[tuple[float, ...], list[int]] = {}  # by split
        for m in np.flatnonzero(inner & (feature == j)).tolist():
            key = (trees.feature[m], trees.threshold[m], trees.set_of_nodes()[m], trees.missing_left[m])
            nodes_of.setdefault(key, []).append(m)
        splits = [_split(trees, nodes[0], place) for nodes in nodes_of.values()]
        for nodes, split, intervals in zip(nodes_of.values(), splits, curve.intervals(splits), strict=True):
            sets |= dict.fromkeys(nodes, intervals)
            missing_left[nodes] = split(curve.missing[None])[0]
    for m, intervals in sorted(sets.items()):
        numbers[m] = known.setdefault(intervals, len(known))
    replaced = np.tile(_NOTHING, (forest.n_features, 1))
    for column, j in enumerate(sources):
        if trees.replaced is not None and j not in tables and j not in curves:
            replaced[j] = trees.replaced[column]
    trees = replace(
        trees,
        n_features=forest.n_features,
        feature=feature,
        missing_left=missing_left,
        replaced=replaced,
        front=None,
        **_as_fields(numbers, list(known)),
    )
    return trees.forest()


def _split(trees: Trees, node: int, place: NDArray[np.int64]) -> GoesLeft:
    """Return which rows of the columns of a variable go left at a node."""
    own = int(place[trees.feature[node]])
    return lambda columns: _goes_left(trees, node, columns[:, own])


def _as_fields(numbers: NDArray[np.int64], sets: Sequence[Intervals]) -> dict[str, Any]:
    """Return category sets as fields of `Trees`."""
    if not sets:
        return {"category_set": None, "set_offsets": None, "set_intervals": None}
    return {
        "category_set": numbers,
        "set_offsets": np.cumsum([0, *map(len, sets)]),
        "set_intervals": np.array([interval for own in sets for interval in own]).reshape(-1, 2),
    }


def _goes_left(trees: Trees, node: int, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which values of the column that a node compares go left."""
    if trees.replaced is not None:
        low, high, by = trees.replaced[trees.feature[node]]
        values = np.where((low <= values) & (values <= high), by, values)
    if (intervals := _set_of(trees, node)) is not None:
        left = np.zeros(len(values), dtype=bool)
        for low, high in intervals:
            left |= (low <= values) & (values <= high)
    elif trees.float64:
        left = values <= trees.threshold[node]
    else:
        left = values.astype(np.float32) <= trees.threshold[node]
    return np.where(np.isnan(values), bool(trees.missing_left[node]), left)


def _set_of(trees: Trees, node: int) -> NDArray[np.float64] | None:
    """Return the intervals of values that go left at a node; None if it has a threshold."""
    if trees.category_set is None or (number := int(trees.category_set[node])) < 0:
        return None
    assert trees.set_offsets is not None and trees.set_intervals is not None
    return trees.set_intervals[trees.set_offsets[number] : trees.set_offsets[number + 1]]


def _runs(holds: NDArray[np.bool_]) -> Intervals:
    """Return the runs of True as closed intervals of indices.

    Examples
    --------
    >>> _runs(np.array([True, True, False, True]))
    ((0.0, 1.0), (3.0, 3.0))
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], holds, [0]]))).astype(float)
    return tuple((float(first), float(end) - 1.0) for first, end in edges.reshape(-1, 2))
