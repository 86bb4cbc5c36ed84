"""Conversion of fitted models of other libraries to a `Forest`: the only code that depends on these libraries."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fasthdmr._forest.forest import Forest
from fasthdmr.loaders.model_file import load_model
from fasthdmr.loaders.registry import read, register_loader
from fasthdmr.loaders.trees import Trees

__all__ = ["Trees", "load_forest", "register_loader"]


def load_forest(model: Any) -> Forest:
    """Read the trees of a fitted model.

    The model is neither changed nor kept. The output is the sum of the trees. For scikit-learn's regressors that is
    `predict`; for its classifiers `decision_function` if they have one, else `predict_proba`: for two classes one
    output, the probability of the second; for more classes (or one) an output each. For several targets, the outputs
    of each target are side by side.

    For boosting of all libraries the output is the margin, also called raw score. With squared, absolute or quantile
    loss that is the prediction, in the units of the target. With a logistic loss it is the log-odds of the second
    class, with several classes a score of each, and with Poisson, gamma or Tweedie loss the logarithm of the mean.
    The `unit` of the forest names it. f0, components and standard deviations are in this unit.

    Parameters
    ----------
    model : fitted estimator, Forest, str or os.PathLike
        One of scikit-learn's GradientBoosting*, RandomForest*, ExtraTrees*, DecisionTree*, ExtraTree*
        (regressors and classifiers, several targets included) and HistGradientBoosting*; xgboost's `Booster` and XGB*
        estimators, LightGBM's `Booster` and LGBM* estimators, CatBoost's models without statistics of categories; a
        fitted search whose best estimator is one; a `Pipeline` that ends in one (see Notes); a Bagging*, Voting*,
        MultiOutput*, OneVsRestClassifier or TransformedTargetRegressor of them that is a sum of trees; a model of a
        class that was passed to `register_loader`. A `Forest` is returned as it is.

        Or the path of a file that holds one: written by `save_model` of xgboost (.ubj, .json), LightGBM (.txt) or
        CatBoost (.cbm, .json), or by ``skops.io.dump``. The kind of file is found from its content. Reading these
        files runs no code. Only CatBoost's .cbm needs its library. The forest predicts as a `Booster` that has loaded
        the file does: in xgboost with all rounds.

    Returns
    -------
    Forest
        Its `predict` equals the model's raw output to rounding, on thresholds and for missing values too.

    Raises
    ------
    TypeError
        If the model is of another type.
    OSError
        If a file cannot be read.
    ImportError
        If a file is CatBoost's .cbm or of skops, and the package is not installed.
    ValueError
        If a file is damaged or of another kind. Pickles are refused because loading them can run code.
        If the model is not a sum of trees in the columns of X: a gradient boosting with an `init` that is not constant,
        a pipeline with a step that mixes columns, a `VotingRegressor` with members that are not tree models.
        If it is a search without refit, if its trees have linear models in their leaves, or if CatBoost splits by
        statistics of categories. If its trees have no nodes, or other targets or classes than the model. If a leaf is
        infinite or NaN, because the training diverged.
    sklearn.exceptions.NotFittedError
        If the model is not fitted (a ValueError too).

    Notes
    -----
    A forest compares as its library does: scikit-learn's trees, xgboost and CatBoost compare ``float32(x)``, LightGBM
    and HistGradientBoosting compare in float64. Missing values go to the same child as in the library. So do the
    values that it treats as missing (`missing=` of xgboost's estimators, zeros with LightGBM's `zero_as_missing`).
    Infinite values are accepted, also where the estimator refuses them.

    Trees may split by categories, which are numbers in X: codes for xgboost and LightGBM, the values themselves for
    HistGradientBoosting, which takes text too. CatBoost's one-hot splits compare hashes of whole numbers and of text.

    The forest of a `Pipeline` is a function of the columns of the pipeline's input. Each output of the steps before the
    trees must be a function of one column, as for scikit-learn's scalers, encoders, SimpleImputer, KBinsDiscretizer,
    SplineTransformer, selectors and any transformer of a single column, also inside a ColumnTransformer, FeatureUnion
    or Pipeline. All columns that an encoder makes of "city" then belong to the variable "city". A FunctionTransformer
    must be declared with ``feature_names_out="one-to-one"``. The forest holds copies of the transformers, and rows go
    through them, so X is the frame that the pipeline takes.

    After early stopping the trees are those that the object predicts with: up to the best round of xgboost's
    estimators and of LightGBM's models, all rounds of xgboost's `Booster`. An initial score that was passed to `fit`
    (`base_margin`, `init_score`, `baseline`) is not stored in the model, so it is not in the forest either.

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
    if isinstance(model, str | os.PathLike):
        return load_forest(load_model(Path(os.fsdecode(model))))
    if isinstance(model, bytes | bytearray):
        raise TypeError(f"load_forest takes a fitted model or the path of a file, got {type(model).__name__}.")
    return read(model).forest()
