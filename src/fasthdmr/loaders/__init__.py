"""Conversion of fitted models of other libraries to a `Forest`: the only code that depends on these libraries."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Any

from fasthdmr._forest.forest import Forest
from fasthdmr.loaders.registry import read

__all__ = ["load_forest"]


def load_forest(model: Any) -> Forest:
    """Read the trees of a fitted model.

    The model is neither changed nor kept. The output of a regressor is its `predict`. That of a classifier is its
    `decision_function` if it has one, else `predict_proba`: for two classes one output, the probability of the second;
    for more classes (or one) an output each. For several targets, the outputs of each target are side by side.

    Parameters
    ----------
    model : fitted estimator or Forest
        One of scikit-learn's GradientBoosting*, RandomForest*, ExtraTrees*, DecisionTree*, ExtraTree*
        (regressors and classifiers, several targets included); a fitted search whose best estimator is one; a
        `Pipeline` whose other steps are all 'passthrough'; a `VotingRegressor` of such models. A `Forest` is
        returned as it is.

    Returns
    -------
    Forest
        Its `predict` equals the model's raw output to rounding, on thresholds and for missing values too.

    Raises
    ------
    TypeError
        If the model is of another type, or a path or bytes instead of a fitted object.
    ValueError
        If the model is not a sum of its trees: a gradient boosting with an `init` that is not constant, a
        pipeline that transforms its input, a `VotingRegressor` with members that are not tree models; or
        if it is a search without refit. If its trees have no nodes, or other targets or classes than the model.
    sklearn.exceptions.NotFittedError
        If the model is not fitted (a ValueError too).

    Notes
    -----
    scikit-learn's trees compare ``float32(x) <= threshold`` with a float64 threshold. Infinite values are
    accepted, as by the trees themselves, though scikit-learn's estimators refuse them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> model = RandomForestRegressor(5, random_state=0).fit(X, X[:, 0])
    >>> forest = load_forest(model)
    >>> bool(np.allclose(forest.predict(X), model.predict(X)))
    True
    """
    if isinstance(model, Forest):
        return model
    if isinstance(model, str | bytes | bytearray | os.PathLike):
        raise TypeError(
            f"load_forest takes a fitted model, got {type(model).__name__}. Load the file yourself and pass "
            "what you get: skops.io.load, or joblib.load if you trust the file, with the scikit-learn "
            f"version that wrote it (installed: {version('scikit-learn')})."
        )
    return read(model).forest()
