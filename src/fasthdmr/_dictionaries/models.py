"""Properties that a model declares: its kind, its feature names, and whether it accepts missing values."""

from __future__ import annotations

import re
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from fasthdmr._forest.forest import Forest

_UNNAMED = re.compile(r"(Column_)?\d+")  # the names that LightGBM and CatBoost give to columns of arrays
_TAKE_MISSING = ("catboost", "lightgbm", "xgboost")  # their boosters, and old versions, have no scikit-learn tags


def check_model_is_fitted(model: Any) -> None:
    """Raise an error for an estimator that is not fitted, as far as scikit-learn can tell.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If it is not.
    """
    try:
        check_is_fitted(model)
    except NotFittedError:
        if not getattr(model, "is_fitted", bool)():  # sums of CatBoost models have no attribute that scikit-learn knows
            raise
    except AttributeError:  # the tags of xgboost before 2.1.4 fail
        pass


def kind_of_model(model: Any) -> str | None:
    """Return the estimator type, such as "regressor" or "classifier"; None if the model does not declare one.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> kind_of_model(KMeans()), kind_of_model(lambda X: X[:, 0])
    ('clusterer', None)
    """
    if (tags := _tags(model)) is not None:
        kind: str | None = tags.estimator_type
        return kind
    return "classifier" if hasattr(model, "predict_proba") else getattr(model, "_estimator_type", None)


def outputs_scores(model: Any) -> bool:
    """Return whether a model's output is a score or a probability, while its target is labels.

    Examples
    --------
    >>> from sklearn.svm import SVC, SVR
    >>> outputs_scores(SVC()), outputs_scores(SVR())
    (True, False)
    """
    if isinstance(model, Forest):
        return model.is_classifier
    return kind_of_model(model) in ("classifier", "outlier_detector")


def allows_nan(model: Any) -> bool:
    """Return whether a model accepts missing values, or may do so.

    A pipeline or a search of one may: the tags of a ColumnTransformer do not say whether its steps do. It raises an
    error itself if they do not.
    """
    if isinstance(model, Forest):
        return model.allow_nan
    if hasattr(model, "steps") or hasattr(getattr(model, "best_estimator_", None), "steps"):
        return True
    tags = _tags(model)
    if tags is not None:
        return bool(tags.input_tags.allow_nan)
    return _library(model) in _TAKE_MISSING


def _tags(model: Any) -> Any:
    """Return scikit-learn's tags, None if there are none or they raise an error, as in xgboost before 2.1.4."""
    try:
        return get_tags(model) if hasattr(model, "__sklearn_tags__") else None
    except AttributeError:
        return None


def names_of(model: Any) -> Any:
    """Return the feature names that a model was fitted with, or None."""
    if isinstance(model, Forest):
        return model.feature_names
    for attribute in ("feature_names_in_", "feature_names", "feature_names_", "feature_name"):  # the last: of boosters
        if (names := getattr(model, attribute, None)) is not None:
            names = names() if callable(names) else names
            return None if all(map(_UNNAMED.fullmatch, map(str, names))) else names
    return None


def is_xgboost_booster(model: Any) -> bool:
    """Return whether a model is a `Booster` of xgboost, which predicts at a `DMatrix`."""
    return _library(model) == "xgboost" and type(model).__name__ == "Booster"


def reads_codes(model: Any) -> bool:
    """Return whether a model of xgboost or LightGBM was fitted to categories: it reads arrays as their codes."""
    if _library(model) == "xgboost":
        booster = model.get_booster() if hasattr(model, "get_booster") else model
        return "c" in (booster.feature_types or ())
    return _library(model) == "lightgbm" and bool(getattr(model, "booster_", model).pandas_categorical)


def _library(model: Any) -> str:
    return type(model).__module__.partition(".")[0]
