"""The registry of readers, by the public name of the model's class. A module of readers is imported when first used."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from fasthdmr.loaders.checks import checked
from fasthdmr.loaders.trees import Trees

_TREES = "fasthdmr.loaders.sklearn_trees"
_WRAPPERS = "fasthdmr.loaders.sklearn_wrappers"
_HISTOGRAM = "fasthdmr.loaders.sklearn_histogram"
_XGBOOST = "fasthdmr.loaders.xgboost_models"
_LIGHTGBM = "fasthdmr.loaders.lightgbm_models"
_CATBOOST = "fasthdmr.loaders.catboost_models"

# Public name of a class -> module and function of its reader. The reader of a base class is used for subclasses.
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

# Public name of a class -> its reader, from `register_loader`.
_registered: dict[str, Callable[[Any], Trees]] = {}

_SUPPORTED = (
    "scikit-learn's GradientBoosting*, HistGradientBoosting*, RandomForest*, ExtraTrees*, DecisionTree* and "
    "ExtraTree*, xgboost's, LightGBM's and CatBoost's regressors, classifiers and rankers, all fitted; a search "
    "(GridSearchCV, ...) or Pipeline that ends in one; a Bagging*, Voting*, MultiOutput*, OneVsRestClassifier or "
    "TransformedTargetRegressor of them that is a sum of trees"
)


def register_loader(name: str, reader: Callable[[Any], Trees]) -> None:
    """Register a reader for the models of a class.

    After that, `load_forest`, `TreeHDMR`, `inspection` and plots accept these models.

    Parameters
    ----------
    name : str
        Name of the class with its module, such as "package.Model". Names of modules that begin with an underscore may
        be left out. The reader also serves subclasses that have no reader of their own. It replaces an earlier reader
        for the same name.
    reader : callable
        Takes a fitted model and returns its `fasthdmr.loaders.Trees`. It must not change the model. It should raise a
        ValueError for a model that is not a sum of trees.

    Raises
    ------
    TypeError
        If the name is not a str, or the reader is not callable.
    ValueError
        If the name is empty.

    Examples
    --------
    A reader for models that are a single step function:

    >>> import numpy as np
    >>> import fasthdmr
    >>> class Step:
    ...     def __init__(self, column, at, height):
    ...         self.column, self.at, self.height = column, at, height
    >>> def read_step(model):
    ...     return fasthdmr.loaders.Trees(
    ...         n_features=3, tree_offsets=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[model.column, 0, 0],
    ...         threshold=[model.at, 0, 0], missing_left=[0, 0, 0], value=[[0], [0], [model.height]], tree_output=[0],
    ...         offset=[0], weight=[1, 1, 1],
    ...     )
    >>> fasthdmr.register_loader(f"{Step.__module__}.Step", read_step)
    >>> fasthdmr.load_forest(Step(1, 0.5, 2.0)).predict([[0.0, 0.5, 0.0], [0.0, 0.6, 0.0]])
    array([0., 2.])
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a str such as 'package.Class', got {type(name).__name__}.")
    if not callable(reader):
        raise TypeError(f"reader must be a function from a fitted model to Trees, got {type(reader).__name__}.")
    if not (public := _without_private_parts(name)):
        raise ValueError(f"name must be that of a class with its module, such as 'package.Class', got {name!r}.")
    _registered[public] = reader


def _without_private_parts(name: str) -> str:
    *outer, cls = name.split(".")
    return ".".join([*(part for part in outer if not part.startswith("_")), cls])


def public_name(cls: type) -> str:
    """Return the qualified name of a class without private modules.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> DecisionTreeRegressor.__module__, public_name(DecisionTreeRegressor)
    ('sklearn.tree._classes', 'sklearn.tree.DecisionTreeRegressor')
    """
    return _without_private_parts(f"{cls.__module__}.{cls.__qualname__}")


def read(model: Any) -> Trees:
    """Read a fitted model with the reader of its class or of the nearest base class that has one.

    Raises
    ------
    TypeError
        If there is no reader for the model, or a registered reader does not return `Trees`.
    ValueError
        If the trees that a registered reader returns are not valid.
    """
    for cls in type(model).__mro__:
        name = public_name(cls)
        if reader := _registered.get(name):
            return _read_registered(reader, model, name)
        if own := _READERS.get(name):
            module, function = own
            trees: Trees = getattr(importlib.import_module(module), function)(model)
            return trees
    raise TypeError(
        f"{public_name(type(model))} is not supported. Supported are {_SUPPORTED}. fasthdmr.HDMR(model) decomposes any "
        "fitted model; fasthdmr.register_loader adds a reader for tree models of another class."
    )


def _read_registered(reader: Callable[[Any], Trees], model: Any, name: str) -> Trees:
    trees = reader(model)
    if not isinstance(trees, Trees):
        raise TypeError(f"The reader of {name} must return fasthdmr.loaders.Trees, got {type(trees).__name__}.")
    try:
        return checked(trees)
    except ValueError as error:
        raise ValueError(f"The reader of {name} returns no trees: {error}") from error
