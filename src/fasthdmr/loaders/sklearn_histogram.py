"""scikit-learn's HistGradientBoosting*, which keeps its trees in private attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fasthdmr.loaders.trees import Trees


def read_histogram_boosting(model: Any) -> Trees:
    """Read a HistGradientBoosting*: one tree an iteration and output, and a constant. It compares in float64."""
    check_is_fitted(model)
    predictors = [predictor for iteration in model._predictors for predictor in iteration]
    offset = np.ravel(model._baseline_prediction).astype(np.float64)
    sizes = [len(predictor.nodes) for predictor in predictors]
    fields = ("left", "right", "feature_idx", "num_threshold", "missing_go_to_left", "value", "count", "is_leaf")
    # As bytes: NumPy joins records field by field, which takes ten times as long.
    records = b"".join([predictor.nodes.tobytes() for predictor in predictors])
    nodes = np.frombuffer(records, dtype=predictors[0].nodes.dtype)
    if getattr(model, "_preprocessor", None) is not None or nodes["is_categorical"].any():
        categorical = np.flatnonzero(model.is_categorical_).tolist()
        raise ValueError(
            f"This {type(model).__name__} splits columns by categories ({categorical}). Only splits of numbers are "
            "read: encode these columns as numbers (OrdinalEncoder or OneHotEncoder) and fit the model with "
            "categorical_features=None; or use fasthdmr.HDMR."
        )
    left, right, feature, threshold, missing_left, value, count, is_leaf = (nodes[name] for name in fields)
    names = getattr(model, "feature_names_in_", None)
    return Trees(
        n_features=int(model.n_features_in_),
        tree_offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        left=np.where(is_leaf, -1, left.astype(np.int64)),
        right=np.where(is_leaf, -1, right.astype(np.int64)),
        feature=feature.astype(np.int64),
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
        is_margin=getattr(model, "loss", None) in ("gamma", "poisson"),
        float64=True,
    )
