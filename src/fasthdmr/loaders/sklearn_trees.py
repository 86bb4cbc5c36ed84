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

# Field of the node records of a tree -> the public property with the same content, and its type.
_FIELDS = {
    "left_child": ("children_left", np.int64),
    "right_child": ("children_right", np.int64),
    "feature": ("feature", np.int64),
    "threshold": ("threshold", np.float64),
    "missing_go_to_left": ("missing_go_to_left", np.uint8),
    "weighted_n_node_samples": ("weighted_n_node_samples", np.float64),
}
_BATCH = 1 << 14  # nodes copied at a time: few calls for many small trees, little extra memory for large ones
_INCONSISTENT = (
    "The trees of this {} do not fit together: {}. With warm_start=True it was fitted to other targets or classes "
    "than before; fit it anew."
)

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
    """Read a GradientBoosting*: one tree for each stage and output, and a constant initial prediction."""
    check_is_fitted(model)
    _refuse_varying_init(model)
    stages, n_outputs = model.estimators_.shape
    # The initial prediction of the model. It is constant, so it may be computed for any row.
    offset = model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))[0]
    if len(offset) != n_outputs:
        raise ValueError(
            _INCONSISTENT.format(type(model).__name__, f"{n_outputs} trees a stage for {len(offset)} outputs")
        )
    return _trees(
        model,
        model.estimators_.ravel().tolist(),
        _scaled(float(model.learning_rate)),
        shape=(1, 1),
        tree_output=np.tile(np.arange(n_outputs), stages),
        offset=np.asarray(offset, dtype=np.float64),
        allow_nan=bool(get_tags(model).input_tags.allow_nan),
        output_names=_labels(model.classes_) if n_outputs > 1 else None,
        unit=_unit_of_boosting(model, n_outputs),
    )


def _unit_of_boosting(model: Any, n_outputs: int) -> str:
    if not is_classifier(model):
        return ""
    if n_outputs > 1:
        return "score"
    return "half the log-odds" if model.loss == "exponential" else "log-odds"


def _refuse_varying_init(model: Any) -> None:
    """Raise an error for an initial prediction that depends on the row or is random."""
    init = model.init_
    constant = isinstance(init, str) or type(init) is DummyRegressor
    if type(init) is DummyClassifier:
        constant = init.strategy != "stratified"  # the only strategy with random probabilities
    if not constant:
        raise ValueError(
            f"The initial prediction init={init!r} is not constant, so this {type(model).__name__} is more "
            "than its trees. Fit it with init=None, init='zero' or a constant dummy estimator; or fit init "
            "alone and the trees, with init='zero', to what it leaves over."
        )


def _averaged(model: Any, members: list[Any]) -> Trees:
    """Return the mean of trees."""
    weight = 1.0 / len(members)
    if is_classifier(model):
        classes = [model.classes_] if model.n_outputs_ == 1 else model.classes_
        n_classes = [len(labels) for labels in classes]
        leaf_values = _probabilities(n_classes, weight)
        names = _class_names(classes)
    else:
        n_classes = [1]
        leaf_values = _scaled(weight)
        names = [f"y{k}" for k in range(model.n_outputs_)]
    return _trees(
        model,
        members,
        leaf_values,
        shape=(model.n_outputs_, max(n_classes)),
        tree_output=np.zeros(len(members)),
        offset=np.zeros(len(names)),
        # The same check as in the model's predict; its result depends on splitter, criterion and version.
        allow_nan=bool(members[0]._support_missing_values(np.empty((0, 0)))),
        output_names=tuple(names) if len(names) > 1 else None,
        unit="probability" if is_classifier(model) else "",
    )


def _scaled(weight: float) -> LeafValues:
    """Return the function from values (M, targets, 1) to weighted leaf values (M, targets)."""
    return lambda value: value.reshape(len(value), -1) * weight


def _probabilities(n_classes: Sequence[int], weight: float) -> LeafValues:
    """Return the function from class counts or fractions (M, targets, classes) to weighted fractions (M, n_outputs)."""
    columns = [(target, k) for target, n in enumerate(n_classes) for k in ([1] if n == 2 else range(n))]
    targets, labels = np.transpose(columns)

    def leaf_values(value: NDArray[np.float64]) -> NDArray[np.float64]:
        fractions: NDArray[np.float64] = value / value.sum(axis=2, keepdims=True)
        return fractions[:, targets, labels] * weight

    return leaf_values


def _class_names(classes: Sequence[NDArray[Any]]) -> list[str]:
    """Return the names of the outputs of `_probabilities`."""
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
    shape: tuple[int, int],
    tree_output: NDArray[Any],
    offset: NDArray[np.float64],
    allow_nan: bool,
    output_names: tuple[str, ...] | None,
    unit: str,
) -> Trees:
    """Concatenate the nodes of the members' trees. A node has values of shape `shape`, (targets, classes)."""
    trees, tree_offsets = _core.grown_trees(members)
    _refuse_empty(model, tree_offsets)
    n_nodes = int(tree_offsets[-1])
    width = offset.size if np.prod(shape) > 1 else 1
    fields: dict[str, NDArray[Any]] = {name: np.empty(n_nodes, dtype) for name, (_, dtype) in _FIELDS.items()}
    value = np.empty((n_nodes, width))
    for start, stop in _batches(tree_offsets):
        rows = slice(int(tree_offsets[start]), int(tree_offsets[stop]))
        raw = np.empty((rows.stop - rows.start, *shape))
        try:
            _copy_nodes(trees[start:stop], {name: array[rows] for name, array in fields.items()}, raw)
        except ValueError as error:
            raise ValueError(_INCONSISTENT.format(type(model).__name__, _first_other(trees, shape))) from error
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
        is_classifier=hasattr(model, "classes_"),
        absent=0.0,
        unit=unit,
    )


def _first_other(trees: list[Any], shape: tuple[int, int]) -> str:
    """Describe the first tree whose values do not have shape `shape`, (targets, classes), for an error message."""
    shapes = [tuple(tree.value.shape[1:]) for tree in trees]
    other = next((k for k, found in enumerate(shapes) if found != shape), None)
    if other is None:
        return "their records are of another kind than those of this version of scikit-learn"
    return f"tree {other} has values of shape {shapes[other]} (targets, classes), and the model {shape}"


def _refuse_empty(model: Any, tree_offsets: NDArray[np.int64]) -> None:
    """Raise an error for trees without a root, such as those of an interrupted fit."""
    empty = np.flatnonzero(np.diff(tree_offsets) == 0)
    if empty.size:
        raise ValueError(
            f"Tree {empty[0]} of this {type(model).__name__} has no nodes (node_count=0), not even a root: its fit was "
            "not completed, or its file is damaged. Fit it anew."
        )


def _turn_nan_thresholds(fields: dict[str, NDArray[Any]]) -> None:
    """Replace splits at NaN, which scikit-learn 1.6.0 can produce, by equivalent splits at infinity.

    No number is <= NaN, so all numbers go right. Every number is <= infinity and goes left, so the children are
    exchanged, and so is the direction of missing values.
    """
    nan = np.flatnonzero(np.isnan(fields["threshold"]))
    fields["threshold"][nan] = np.inf
    fields["missing_go_to_left"][nan] ^= 1
    left, right = fields["left_child"], fields["right_child"]
    left[nan], right[nan] = right[nan], left[nan]


def _batches(tree_offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of trees whose roots lie in the same batch of `_BATCH` nodes."""
    n_trees = tree_offsets.size - 1
    starts = np.searchsorted(tree_offsets[:-1], np.arange(0, tree_offsets[-1], _BATCH))
    edges = np.unique([*starts, n_trees]).tolist()
    yield from pairwise(edges)


def _copy_nodes(trees: list[Any], fields: dict[str, NDArray[Any]], raw: NDArray[np.float64]) -> None:
    """Fill the fields with the concatenated nodes of some trees, and `raw` with their values (M, targets, classes).

    The state for pickling (`__getstate__`) returns the arrays of a tree without a copy. For versions of scikit-learn
    with another layout of nodes, the public properties are used, which are slower.
    """
    first = trees[0].__getstate__()
    known = first["nodes"].dtype.fields or {}
    is_known = all(name in known and known[name][0] == array.dtype for name, array in fields.items())
    _core.copy_states(trees, [(known[name][1], array) for name, array in fields.items() if is_known], raw)
    if not is_known:
        for name, array in fields.items():
            np.concatenate([getattr(tree, _FIELDS[name][0]) for tree in trees], out=array, casting="same_kind")
