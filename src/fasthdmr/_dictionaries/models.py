"""Properties that a model declares: its kind, its feature names, and whether it accepts missing values."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from fasthdmr._forest.forest import Forest

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
    """Return whether a model accepts missing values."""
    if isinstance(model, Forest):
        return model.allow_nan
    tags = _tags(model)
    if tags is not None:
        return bool(tags.input_tags.allow_nan)
    return type(model).__module__.partition(".")[0] in _TAKE_MISSING


def _tags(model: Any) -> Any:
    """Return scikit-learn's tags, None if there are none or they raise an error, as in xgboost before 2.1.4."""
    try:
        return get_tags(model) if hasattr(model, "__sklearn_tags__") else None
    except AttributeError:
        return None


def names_of(model: Any) -> Any:
    """Return the feature names that a model was fitted with, or None."""
    return model.feature_names if isinstance(model, Forest) else getattr(model, "feature_names_in_", None)
