"""CatBoost's models, from the JSON that `save_model` writes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from fasthdmr import _core
from fasthdmr.loaders.exports import count, exported, refuse_unknown
from fasthdmr.loaders.trees import Trees, numbered, refuse_leaf

# Losses for which `predict` of regressors and rankers returns the raw value, the sum of the trees.
_IDENTITY = ("RMSE", "MAE", "Quantile", "Huber", "MAPE", "Expectile", "Lq", "MultiRMSE", "MultiRMSEWithMissingValues")
_RANKING = (
    "YetiRank",
    "YetiRankPairwise",
    "PairLogit",
    "PairLogitPairwise",
    "QueryRMSE",
    "StochasticRank",
    "LambdaMart",
)

# The parts of an export. Statistics of categories (ctr) and of texts matter only to splits by them, which are refused.
_PARTS = ("ctr_data", "features_info", "model_info", "oblivious_trees", "scale_and_bias", "trees")

_UNITS = {
    **dict.fromkeys(_RANKING, "score"),
    **dict.fromkeys(("Logloss", "CrossEntropy", "Focal"), "log-odds"),
    **dict.fromkeys(("MultiClassOneVsAll", "MultiLogloss", "MultiCrossEntropy"), "log-odds"),
    **dict.fromkeys(("Poisson", "Tweedie"), "log of the mean"),
    "LogLinQuantile": "log of the quantile",
    "MultiClass": "score",
    "Cox": "log of the hazard",
    "SurvivalAft": "log of the time",
}


def read_model(model: Any) -> Trees:
    """Read a CatBoost model: scale times the sum of its trees, plus a bias."""
    if not model.is_fitted():
        raise NotFittedError(f"This {type(model).__name__} is not fitted: call fit, or load_model, first.")
    try:
        export = exported(lambda path: model.save_model(path, format="json"))
    except Exception:  # JSON has only finite numbers
        _check_leaves(model)
        raise
    _, arrays, document = _core.read_document(export)
    return replace(of_document(arrays, document), is_margin=not _predicts_the_sum(model, document))


def _check_leaves(model: Any) -> None:
    values, counts = model.get_leaf_values(), model.get_tree_leaf_counts()
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        ends = np.cumsum(counts) * (len(values) // np.sum(counts))
        refuse_leaf(int(np.searchsorted(ends, wrong[0], side="right")), float(values[wrong[0]]))


def of_document(arrays: dict[str, Any], document: dict[str, Any]) -> Trees:
    """Return the trees of a model from the arrays of its nodes and the rest of its JSON."""
    refuse_unknown(document, _PARTS, "CatBoost")
    scale, bias = document["scale_and_bias"]
    offset = np.atleast_1d(np.asarray(bias, dtype=np.float64))
    if offset.size == 0:
        offset = np.zeros(1)
    arrays["value"] *= float(scale)
    names = _feature_names(document["features_info"])
    classes = document["model_info"].get("class_params", {}).get("class_names", [])
    n_outputs = offset.size
    text_levels = _text_levels(document["features_info"])
    has_classes = len(classes) == n_outputs
    return Trees(
        n_features=len(names),
        **arrays,
        tree_output=np.zeros(len(arrays["tree_offsets"]) - 1, dtype=np.int64),
        offset=offset,
        allow_nan=True,
        feature_names=None if names == numbered(len(names)) else names,
        output_names=None
        if n_outputs == 1
        else tuple(map(_label, classes))
        if has_classes
        else numbered(n_outputs, "y"),
        is_classifier=len(classes) > 0,
        absent=None if text_levels else 0.0,
        text_levels=text_levels,
        hashes_text=bool(text_levels),
        unit=_UNITS.get(_loss(document), ""),
    )


def _feature_names(features_info: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of all columns of X; a column without a name gets its position."""
    features = [feature for kind in features_info.values() if isinstance(kind, list) for feature in kind]
    named = {
        count(each, "flat_feature_index", least=0): each.get("feature_id")
        for each in features
        if "flat_feature_index" in each
    }
    return tuple(named.get(i) or str(i) for i in range(max(named, default=-1) + 1))


def _text_levels(features_info: dict[str, Any]) -> tuple[tuple[int, tuple[Any, ...]], ...]:
    """Return for each column of categories its position and the hashes that occur in splits."""
    return tuple(
        (count(each, "flat_feature_index", least=0), tuple(int(value) for value in each.get("values", ())))
        for each in features_info.get("categorical_features") or ()
    )


def _label(value: Any) -> str:
    """Return the name of a class; integer labels are read from JSON as floats."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _predicts_the_sum(model: Any, document: dict[str, Any]) -> bool:
    """Return whether `predict` returns the sum of the trees. A sum of several models does not store its loss."""
    if type(model).__name__ == "CatBoost":  # its `predict` returns raw values
        return True
    return _loss(document) in _IDENTITY + _RANKING


def _loss(document: dict[str, Any]) -> str:
    """Return the loss that the model was fitted with; "" for a sum of several models."""
    return str(document["model_info"].get("params", {}).get("loss_function", {}).get("type", ""))
