"""The registry of readers: found by the name of the model's class, imported when needed."""

from __future__ import annotations

import importlib
from typing import Any

from fasthdmr.loaders.trees import Trees

_TREES = "fasthdmr.loaders.sklearn_trees"
_WRAPPERS = "fasthdmr.loaders.sklearn_wrappers"
_HISTOGRAM = "fasthdmr.loaders.sklearn_histogram"
_XGBOOST = "fasthdmr.loaders.xgboost_models"
_LIGHTGBM = "fasthdmr.loaders.lightgbm_models"
_CATBOOST = "fasthdmr.loaders.catboost_models"

# Public name of a class -> module and function of its reader. Subclasses are found through their MRO.
_READERS = {
    "sklearn.tree.DecisionTreeRegressor": (_TREES, "read_tree"),
    "sklearn.tree.DecisionTreeClassifier": (_TREES, "read_tree"),
    "sklearn.ensemble.RandomForestRegressor": (_TREES, "read_forest"),
    "sklearn.ensemble.RandomForestClassifier": (_TREES, "read_forest"),
    "sklearn.ensemble.ExtraTreesRegressor": (_TREES, "read_forest"),
    "sklearn.ensemble.ExtraTreesClassifier": (_TREES, "read_forest"),
    "sklearn.ensemble.GradientBoostingRegressor": (_TREES, "read_boosting"),
    "sklearn.ensemble.GradientBoostingClassifier": (_TREES, "read_boosting"),
    "sklearn.ensemble.VotingRegressor": (_WRAPPERS, "read_voting"),
    "sklearn.ensemble.VotingClassifier": (_WRAPPERS, "read_voting"),
    "sklearn.ensemble.BaggingRegressor": (_WRAPPERS, "read_bagging"),
    "sklearn.ensemble.BaggingClassifier": (_WRAPPERS, "read_bagging"),
    "sklearn.multioutput.MultiOutputRegressor": (_WRAPPERS, "read_multi_output"),
    "sklearn.multioutput.MultiOutputClassifier": (_WRAPPERS, "read_multi_output"),
    "sklearn.multiclass.OneVsRestClassifier": (_WRAPPERS, "read_one_vs_rest"),
    "sklearn.compose.TransformedTargetRegressor": (_WRAPPERS, "read_transformed_target"),
    "sklearn.frozen.FrozenEstimator": (_WRAPPERS, "read_frozen"),
    "sklearn.model_selection.BaseSearchCV": (_WRAPPERS, "read_search"),
    "sklearn.pipeline.Pipeline": (_WRAPPERS, "read_pipeline"),
    "sklearn.ensemble.gradient_boosting.HistGradientBoostingRegressor": (_HISTOGRAM, "read_histogram_boosting"),
    "sklearn.ensemble.gradient_boosting.HistGradientBoostingClassifier": (_HISTOGRAM, "read_histogram_boosting"),
    "xgboost.core.Booster": (_XGBOOST, "read_booster"),
    "xgboost.sklearn.XGBModel": (_XGBOOST, "read_wrapper"),
    "lightgbm.basic.Booster": (_LIGHTGBM, "read_booster"),
    "lightgbm.sklearn.LGBMModel": (_LIGHTGBM, "read_wrapper"),
    "catboost.core.CatBoost": (_CATBOOST, "read_model"),
}

_SUPPORTED = (
    "scikit-learn's GradientBoosting*, HistGradientBoosting*, RandomForest*, ExtraTrees*, DecisionTree* and "
    "ExtraTree*, xgboost's, LightGBM's and CatBoost's regressors, classifiers and rankers, all fitted; a search "
    "(GridSearchCV, ...) or Pipeline of one; a Bagging*, Voting*, MultiOutput*, OneVsRestClassifier or "
    "TransformedTargetRegressor of them that is a sum of trees"
)


def public_name(cls: type) -> str:
    """Return the qualified name of a class without private modules.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> DecisionTreeRegressor.__module__, public_name(DecisionTreeRegressor)
    ('sklearn.tree._classes', 'sklearn.tree.DecisionTreeRegressor')
    """
    packages = [part for part in cls.__module__.split(".") if not part.startswith("_")]
    return ".".join([*packages, cls.__qualname__])


def read(model: Any) -> Trees:
    """Read a fitted model with the reader of its class or of the nearest base class that has one.

    Raises
    ------
    TypeError
        If there is no reader for the model.
    """
    for cls in type(model).__mro__:
        if name := _READERS.get(public_name(cls)):
            module, function = name
            trees: Trees = getattr(importlib.import_module(module), function)(model)
            return trees
    raise TypeError(
        f"{public_name(type(model))} is not supported. Supported are {_SUPPORTED}. fasthdmr.HDMR(model) decomposes any "
        "fitted model."
    )
