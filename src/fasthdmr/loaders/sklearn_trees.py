"""scikit-learn's trees, forests and gradient boosting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from fasthdmr import _core
from fasthdmr.loaders.trees import Trees

# Field of the node records inside a tree -> the public property with the same content, and its type.
_FIELDS = {
    "left_child": ("children_left", np.int64),
    "right_child": ("children_right", np.int64),
    "feature": ("feature", np.int64),
    "threshold": ("threshold", np.float64),
    "missing_go_to_left": ("missing_go_to_left", np.uint8),
    "weighted_n_node_samples": ("weighted_n_node_samples", np.float64),
}
_BATCH = 1 << 14  # nodes copied at a time: few calls for many small trees, no second copy of large ones

LeafValues = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def read_tree(model: Any) -> Trees:
    """Read a DecisionTree* or ExtraTree*."""
    check_is_fitted(model)
    return _averaged(model, [model])


def read_forest(model: Any) -> Trees:
    """Read a RandomForest* or ExtraTrees*: the mean of its trees."""
    check_is_fitted(model)
    return _averaged(model, model.estimators_)


def read_boosting(model: Any) -> Trees:
    """Read a GradientBoosting*: one tree a stage and output, and a constant initial prediction."""
    check_is_fitted(model)
    _refuse_varying_init(model)
    stages, n_outputs = model.estimators_.shape
    # The model's own first prediction; any row will do, since it is constant.
    offset = model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))[0]
    return _trees(
        model,
        model.estimators_.ravel().tolist(),
        _scaled(float(model.learning_rate)),
        tree_output=np.tile(np.arange(n_outputs), stages),
        offset=np.asarray(offset, dtype=np.float64),
        allow_nan=bool(get_tags(model).input_tags.allow_nan),
        output_names=_labels(model.classes_) if n_outputs > 1 else None,
    )


def _refuse_varying_init(model: Any) -> None:
    """Refuse an initial prediction that depends on the row, or on chance."""
    init = model.init_
    constant = isinstance(init, str) or type(init) is DummyRegressor
    if type(init) is DummyClassifier:
        constant = init.strategy != "stratified"  # the one strategy whose probabilities are drawn at random
    if not constant:
        raise ValueError(
            f"The initial prediction init={init!r} is not constant, so this {type(model).__name__} is more "
            "than its trees. Fit it with init=None, init='zero' or a constant dummy estimator; or fit init "
            "alone and the trees, with init='zero', to what it leaves over."
        )


def _averaged(model: Any, members: list[Any]) -> Trees:
    """Read trees whose mean is the model."""
    weight = 1.0 / len(members)
    if is_classifier(model):
        classes = [model.classes_] if model.n_outputs_ == 1 else model.classes_
        leaf_values = _probabilities([len(labels) for labels in classes], weight)
        names = _class_names(classes)
    else:
        leaf_values = _scaled(weight)
        names = [f"y{k}" for k in range(model.n_outputs_)]
    return _trees(
        model,
        members,
        leaf_values,
        tree_output=np.zeros(len(members)),
        offset=np.zeros(len(names)),
        # What the model itself asks before it predicts: it depends on splitter, criterion and version.
        allow_nan=bool(members[0]._support_missing_values(np.empty((0, 0)))),
        output_names=tuple(names) if len(names) > 1 else None,
    )


def _scaled(weight: float) -> LeafValues:
    """Return the map from values (M, targets, 1) to weighted leaf values (M, targets)."""
    return lambda value: value.reshape(len(value), -1) * weight


def _probabilities(n_classes: Sequence[int], weight: float) -> LeafValues:
    """Return the map from class counts or fractions (M, targets, classes) to weighted ones (M, n_outputs)."""
    columns = [(target, k) for target, n in enumerate(n_classes) for k in ([1] if n == 2 else range(n))]
    targets, labels = np.transpose(columns)

    def leaf_values(value: NDArray[np.float64]) -> NDArray[np.float64]:
        fractions: NDArray[np.float64] = value / value.sum(axis=2, keepdims=True)
        return fractions[:, targets, labels] * weight

    return leaf_values


def _class_names(classes: Sequence[NDArray[Any]]) -> list[str]:
    """Name the outputs that `_probabilities` makes."""
    kept = [_labels(labels)[1:] if len(labels) == 2 else _labels(labels) for labels in classes]
    if len(kept) == 1:
        return list(kept[0])
    return [f"y{target}={label}" for target, labels in enumerate(kept) for label in labels]


def _labels(classes: NDArray[Any]) -> tuple[str, ...]:
    return tuple(str(label) for label in classes)


def _trees(
    model: Any,
    members: list[Any],
    leaf_values: LeafValues,
    *,
    tree_output: NDArray[Any],
    offset: NDArray[np.float64],
    allow_nan: bool,
    output_names: tuple[str, ...] | None,
) -> Trees:
    """Copy the nodes of the members' trees, end to end."""
    trees, tree_offsets = _core.grown_trees(members)
    n_nodes = int(tree_offsets[-1])
    width = offset.size if trees[0].value[0].size > 1 else 1
    fields: dict[str, NDArray[Any]] = {name: np.empty(n_nodes, dtype) for name, (_, dtype) in _FIELDS.items()}
    value = np.empty((n_nodes, width))
    for start, stop in _batches(tree_offsets):
        rows = slice(tree_offsets[start], tree_offsets[stop])
        raw = _copy_nodes(trees[start:stop], {name: array[rows] for name, array in fields.items()})
        value[rows] = leaf_values(raw)
    _turn_nan_thresholds(fields)
    names = getattr(model, "feature_names_in_", None)
    return Trees(
        n_features=int(model.n_features_in_),
        tree_offsets=tree_offsets,
        left=fields["left_child"],
        right=fields["right_child"],
        feature=fields["feature"],
        threshold=fields["threshold"],
        missing_left=fields["missing_go_to_left"],
        value=value,
        tree_output=tree_output.astype(np.int64),
        offset=offset,
        weight=fields["weighted_n_node_samples"],
        impurity=lambda: np.concatenate([tree.impurity for tree in trees]),
        allow_nan=allow_nan,
        feature_names=None if names is None else tuple(map(str, names)),
        output_names=output_names,
    )


def _turn_nan_thresholds(fields: dict[str, NDArray[Any]]) -> None:
    """Turn splits at NaN, which scikit-learn 1.6.0 can grow, into equal ones at infinity.

    No number is <= NaN, so all go right; with the children exchanged, all are <= infinity and go left.
    """
    nan = np.flatnonzero(np.isnan(fields["threshold"]))
    fields["threshold"][nan] = np.inf
    fields["missing_go_to_left"][nan] ^= 1
    left, right = fields["left_child"], fields["right_child"]
    left[nan], right[nan] = right[nan], left[nan]


def _batches(tree_offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of trees that start in the same stretch of `_BATCH` nodes."""
    n_trees = tree_offsets.size - 1
    starts = np.searchsorted(tree_offsets[:-1], np.arange(0, tree_offsets[-1], _BATCH))
    edges = np.unique([*starts, n_trees]).tolist()
    yield from pairwise(edges)


def _copy_nodes(trees: list[Any], fields: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
    """Fill the fields with the nodes of some trees, end to end, and return their values (M, targets, classes).

    A tree's state for pickling shows its arrays without a copy; the public properties, one array a call, are
    for versions that lay them out differently.
    """
    first = trees[0].__getstate__()
    known = first["nodes"].dtype.fields or {}
    is_known = all(name in known and known[name][0] == array.dtype for name, array in fields.items())
    raw = np.empty((len(fields["threshold"]), *first["values"].shape[1:]))
    _core.copy_states(trees, [(known[name][1], array) for name, array in fields.items() if is_known], raw)
    if not is_known:
        for name, array in fields.items():
            np.concatenate([getattr(tree, _FIELDS[name][0]) for tree in trees], out=array, casting="same_kind")
    return raw
