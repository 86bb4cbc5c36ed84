"""Trees behind transformers as trees of one column for each variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._forest.forest import Forest
from fasthdmr.loaders.trees import Trees

Intervals = tuple[tuple[float, float], ...]
_NOTHING = (1.0, 0.0, 0.0)  # replaces no value


def in_variables(forest: Forest, tables: Mapping[int, NDArray[np.float64]]) -> Forest:
    """Return trees behind transformers as functions of one column for each variable.

    The column of a numeric variable is the only one that the trees use of it. The column of a categorical variable
    holds the codes of its levels: each split is by the set of the codes that go left.

    Parameters
    ----------
    forest : Forest
        With a front.
    tables : dict of int to ndarray of shape (L + 1, m)
        For each categorical variable, the m columns that trees use of it, at each code.

    Raises
    ------
    ValueError
        If trees use several columns of a numeric variable.
    """
    sources = np.array(forest.sources)
    place = np.array([np.sum(sources[:j] == source) for j, source in enumerate(sources)])  # among those of its variable
    for j in sorted(set(sources[place > 0].tolist()) - set(tables)):
        raise ValueError(
            f"The trees use {np.sum(sources == j)} columns that transformers make of the numeric variable "
            f"{forest.feature_names[j] if forest.feature_names else f'x{j}'!r}, and measure='product' takes one. Pass "
            "measure='empirical'."
        )
    trees = Trees.of(forest)
    inner = trees.left >= 0
    feature = np.where(inner, sources[np.where(inner, trees.feature, 0)], 0)
    numbers, known = np.full(len(feature), -1), dict[Intervals, int]()
    for m in np.flatnonzero(inner).tolist():
        if (table := tables.get(int(feature[m]))) is not None:
            intervals = _runs(_goes_left(trees, m, table[:, place[trees.feature[m]]]))
        elif (own := _set_of(trees, m)) is not None:
            intervals = tuple(map(tuple, own.tolist()))
        else:
            continue
        numbers[m] = known.setdefault(intervals, len(known))
    replaced = np.tile(_NOTHING, (forest.n_features, 1))
    for column, j in enumerate(sources):
        if trees.replaced is not None and j not in tables:
            replaced[j] = trees.replaced[column]
    trees = replace(trees, n_features=forest.n_features, feature=feature, replaced=replaced, front=None)
    return replace(trees, **_as_fields(numbers, list(known))).forest()


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
