"""scikit-learn's HistGradientBoosting*, whose trees are in private attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from fasthdmr.loaders.trees import Trees


def read_histogram_boosting(model: Any) -> Trees:
    """Read a HistGradientBoosting*: a constant, and one tree for each iteration and output. Compares in float64."""
    check_is_fitted(model)
    predictors = [predictor for iteration in model._predictors for predictor in iteration]
    offset = np.ravel(model._baseline_prediction).astype(np.float64)
    nodes_of = [predictor.nodes for predictor in predictors]
    fields = ("left", "right", "feature_idx", "num_threshold", "missing_go_to_left", "value", "count", "is_leaf")
    nodes = _joined(nodes_of)
    left, right, feature, threshold, missing_left, value, count, is_leaf = (nodes[name] for name in fields)
    names = getattr(model, "feature_names_in_", None)
    trees = Trees(
        n_features=int(model.n_features_in_),
        tree_offsets=_offsets(nodes_of),
        left=np.where(is_leaf, -1, left.astype(np.int64)),
        right=np.where(is_leaf, -1, right.astype(np.int64)),
        feature=_columns(model)[feature.astype(np.int64)],
        threshold=threshold.astype(np.float64),
        missing_left=missing_left.astype(np.uint8),
        value=value.astype(np.float64)[:, None],
        tree_output=np.arange(len(predictors), dtype=np.int64) % offset.size,
        offset=offset,
        weight=count.astype(np.float64),
        allow_nan=True,
        feature_names=None if names is None else tuple(map(str, names)),
        output_names=tuple(map(str, model.classes_)) if offset.size > 1 else None,
        is_classifier=hasattr(model, "classes_"),
        unit=_unit(model, offset.size),
        is_margin=model.loss in ("gamma", "poisson"),
        float64=True,
        text_levels=_text_levels(model),
    )
    return _by_categories(trees, model, nodes, predictors) if nodes["is_categorical"].any() else trees


def _joined(arrays: Sequence[Any]) -> NDArray[Any]:
    """Return arrays (contiguous) joined along their first axis, read-only.

    They are joined as bytes: np.concatenate copies records field by field, which takes ten times as long.
    """
    return np.frombuffer(b"".join(arrays), dtype=arrays[0].dtype).reshape(-1, *arrays[0].shape[1:])


def _offsets(arrays: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Return where each of the arrays begins and ends in the joined one."""
    return np.cumsum([0, *map(len, arrays)], dtype=np.int64)


def _unit(model: Any, n_outputs: int) -> str:
    if hasattr(model, "classes_"):
        return "log-odds" if n_outputs == 1 else "score"
    return "log of the mean" if model.loss in ("gamma", "poisson") else ""


def _columns(model: Any) -> NDArray[np.int64]:
    """Return the column of X for each feature index in splits, which number columns of categories first."""
    categorical = model.is_categorical_
    if categorical is None:
        return np.arange(model.n_features_in_)
    return np.concatenate([np.flatnonzero(categorical), np.flatnonzero(~categorical)])


def _by_categories(trees: Trees, model: Any, nodes: NDArray[Any], predictors: Sequence[Any]) -> Trees:
    """Return the trees with the category sets of their splits.

    scikit-learn sends missing and unknown values to one child. The set holds the known categories that go to the other
    child. A set always goes left here, so the children are exchanged where it goes right in scikit-learn.
    """
    levels = _levels(model)
    at = np.flatnonzero(nodes["is_categorical"] & (nodes["is_leaf"] == 0))
    bitsets = [predictor.raw_left_cat_bitsets for predictor in predictors]
    first = np.repeat(_offsets(bitsets)[:-1], np.diff(trees.tree_offsets))
    bits = _joined(bitsets)[first[at] + nodes["bitset_idx"][at]]
    columns = nodes["feature_idx"][at].astype(np.int64)
    swapped = nodes["missing_go_to_left"][at] != 0
    bits[swapped] = ~bits[swapped]  # bits beyond those of the levels are not read
    category_set = np.full(len(nodes), -1)
    points: list[NDArray[np.float64]] = []
    sizes: list[NDArray[np.int64]] = []
    for column in np.unique(columns):
        own = columns == column
        values, chosen = _numbers_of(levels[column], bits[own])
        category_set[at[own]] = sum(map(len, sizes)) + np.arange(own.sum())
        points.append(values[np.nonzero(chosen)[1]])
        sizes.append(chosen.sum(axis=1))
    left, right = trees.left.copy(), trees.right.copy()
    left[at[swapped]], right[at[swapped]] = trees.right[at[swapped]], trees.left[at[swapped]]
    return replace(
        trees,
        left=left,
        right=right,
        missing_left=np.where(category_set >= 0, 0, trees.missing_left).astype(np.uint8),
        category_set=category_set,
        set_offsets=np.cumsum([0, *np.concatenate(sizes)], dtype=np.int64),
        set_intervals=np.repeat(np.concatenate(points), 2).reshape(-1, 2),
    )


def _levels(model: Any) -> list[NDArray[Any]]:
    """Return for each column of categories the values by code, from the model's own OrdinalEncoder."""
    levels: list[NDArray[Any]] = model._preprocessor.named_transformers_["encoder"].categories_
    return levels


def _is_text(levels: NDArray[Any]) -> bool:
    return levels.dtype.kind not in "biuf"


def _text_levels(model: Any) -> tuple[tuple[int, tuple[Any, ...]], ...]:
    """Return the position and the levels of each column of categories that are not numbers.

    The encoder of scikit-learn treats None as a level like any other. NaN is last in its list; it means missing and is
    left out.
    """
    if model.is_categorical_ is None:
        return ()
    pairs = zip(np.flatnonzero(model.is_categorical_).tolist(), _levels(model), strict=True)
    return tuple((j, tuple(level for level in of.tolist() if level == level)) for j, of in pairs if _is_text(of))


def _numbers_of(levels: NDArray[Any], bits: NDArray[np.uint32]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the categories as numbers (codes for text), and for each split which of them have their bit set."""
    code = np.arange(min(len(levels), 32 * bits.shape[1]))
    values = (code if _is_text(levels) else levels[code]).astype(np.float64)
    code = code[~np.isnan(values)]
    return values[code], (bits[:, code // 32] >> (code % 32).astype(np.uint32) & 1) == 1
