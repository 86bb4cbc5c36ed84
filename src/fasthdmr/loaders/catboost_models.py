"""CatBoost's models, from the JSON that `save_model` writes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from fasthdmr import _core
from fasthdmr.loaders.exports import exported
from fasthdmr.loaders.trees import Trees, numbered

# Losses of regressors and rankers whose prediction is the raw one.
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


def read_model(model: Any) -> Trees:
    """Read a CatBoost model: scale times the sum of its trees, plus a bias."""
    if not model.is_fitted():
        raise NotFittedError(f"This {type(model).__name__} is not fitted: call fit, or load_model, first.")
    arrays, document = _core.read_catboost(exported(lambda path: model.save_model(path, format="json")))
    scale, bias = document["scale_and_bias"]
    offset = np.atleast_1d(np.asarray(bias, dtype=np.float64))
    if offset.size == 0:
        offset = np.zeros(1)
    arrays["value"] = arrays["value"] * float(scale)
    names = tuple(map(str, model.feature_names_))
    classes = getattr(model, "classes_", np.empty(0))
    n_outputs = offset.size
    has_classes = len(classes) == n_outputs
    return Trees(
        n_features=len(names),
        **arrays,
        tree_output=np.zeros(len(arrays["tree_offsets"]) - 1, dtype=np.int64),
        offset=offset,
        allow_nan=True,
        feature_names=None if names == numbered(len(names)) else names,
        output_names=None if n_outputs == 1 else tuple(map(str, classes)) if has_classes else numbered(n_outputs, "y"),
        is_margin=not _predicts_the_sum(model, document),
        is_classifier=len(classes) > 0,
    )


def _predicts_the_sum(model: Any, document: dict[str, Any]) -> bool:
    """Return whether `predict` is the sum of the trees: a sum of several models does not say what it was fitted to."""
    if type(model).__name__ == "CatBoost":  # its `predict` gives raw values
        return True
    loss = document["model_info"].get("params", {}).get("loss_function", {}).get("type")
    return loss in _IDENTITY + _RANKING
