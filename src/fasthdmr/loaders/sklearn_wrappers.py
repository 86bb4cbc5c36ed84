"""scikit-learn's meta-estimators of tree models: searches, pipelines, means, and models of several targets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fasthdmr.loaders.fronts import behind_steps
from fasthdmr.loaders.registry import read
from fasthdmr.loaders.sources import is_identity
from fasthdmr.loaders.sums import add, side_by_side
from fasthdmr.loaders.trees import Trees


def read_frozen(model: Any) -> Trees:
    """Read the model inside a FrozenEstimator."""
    return read(model.estimator)


def read_search(model: Any) -> Trees:
    """Read the best estimator of a fitted search."""
    check_is_fitted(model)
    if not hasattr(model, "best_estimator_"):
        raise ValueError(
            f"This {type(model).__name__} has no best_estimator_: it was fitted with refit={model.refit!r}. "
            "Fit it with refit=True, or pass a fitted tree model."
        )
    return read(model.best_estimator_)


def read_pipeline(model: Any) -> Trees:
    """Read the last step of a pipeline, behind the steps before it."""
    trees = read(model.steps[-1][1])
    steps = [(name, step) for name, step in model.steps[:-1] if not is_identity(step)]
    return behind_steps(steps, trees) if steps else trees


def read_voting(model: Any) -> Trees:
    """Read a weighted mean of tree models as one ensemble; for classifiers, the mean of their probabilities."""
    check_is_fitted(model)
    if getattr(model, "voting", "soft") != "soft":
        raise ValueError(
            "This VotingClassifier counts votes (voting='hard'): it is no sum of trees. Set voting='soft' and fit it."
        )
    names = [name for name, estimator in model.estimators if _takes_part(estimator)]
    members = [_read_member(model, name, member) for name, member in zip(names, model.estimators_, strict=True)]
    weights = np.ones(len(members))
    if model.weights is not None:
        pairs = zip(model.estimators, model.weights, strict=True)
        weights = np.array([w for (_, estimator), w in pairs if _takes_part(estimator)], dtype=np.float64)
    weights /= weights.sum()
    trees = add([member.scaled(weight) for member, weight in zip(members, weights, strict=True)])
    return _named(trees, model)


def read_bagging(model: Any) -> Trees:
    """Read the mean of tree models, each of which may be fitted to a subset of the columns."""
    check_is_fitted(model)
    n_features = int(model.n_features_in_)
    members = []
    for k, (member, columns) in enumerate(zip(model.estimators_, model.estimators_features_, strict=True)):
        if hasattr(model, "classes_") and len(member.classes_) != len(model.classes_):
            raise ValueError(
                f"Member {k} of this {type(model).__name__} has seen {len(member.classes_)} of {len(model.classes_)} "
                "classes, which is not read. Fit it with larger max_samples, or with a RandomForestClassifier instead."
            )
        members.append(_read_member(model, str(k), member).of_columns(np.asarray(columns), n_features))
    return _named(add([member.scaled(1.0 / len(members)) for member in members]), model)


def read_multi_output(model: Any) -> Trees:
    """Read one model for each target; their outputs are side by side."""
    check_is_fitted(model)
    members = [_read_member(model, f"y{k}", member) for k, member in enumerate(model.estimators_)]
    names = [
        f"y{k}" if member.output_names is None else f"y{k}={name}"
        for k, member in enumerate(members)
        for name in member.output_names or ("",)
    ]
    return _named(side_by_side(members, tuple(names)), model, keep_names=True)


def read_one_vs_rest(model: Any) -> Trees:
    """Read the score of each class against the others; for two classes there is one score."""
    check_is_fitted(model)
    members = []
    for k, member in enumerate(model.estimators_):
        if not hasattr(member, "decision_function"):
            raise ValueError(
                f"{type(member).__name__} has no decision_function, and the probabilities of this OneVsRestClassifier "
                "are divided by their sum, so it is no sum of trees. Decompose its members one by one: "
                "model.estimators_[...]."
            )
        members.append(_read_member(model, str(k), member))
    return _named(side_by_side(members, tuple(map(str, model.classes_))), model, keep_names=True)


_LINEAR = ("MaxAbsScaler", "MinMaxScaler", "RobustScaler", "StandardScaler")


def read_transformed_target(model: Any) -> Trees:
    """Read a regressor whose target is transformed linearly."""
    check_is_fitted(model)
    trees = _read_member(model, "regressor", model.regressor_)
    scaler, kind = model.transformer_, type(model.transformer_).__name__
    if kind == "FunctionTransformer" and scaler.func is None and scaler.inverse_func is None:
        return trees
    if kind not in _LINEAR or getattr(scaler, "clip", False):
        raise ValueError(
            f"The target of this TransformedTargetRegressor is transformed by {scaler!r}, which is not known to be "
            f"linear, so it is no sum of trees. Linear are {', '.join(_LINEAR)}. Decompose model.regressor_, which "
            "predicts the transformed target; or use fasthdmr.HDMR."
        )
    at_zero = scaler.inverse_transform(np.zeros((1, trees.offset.size)))[0]
    scale = 1.0 if scaler.scale_ is None else 1.0 / scaler.scale_ if kind == "MinMaxScaler" else scaler.scale_
    return trees.scaled(scale).shifted(at_zero)


# Classifiers whose output is a probability, so that the mean of members is a sum of trees. The mean of the margins of
# other classifiers is not the margin of their mean probability.
_PROBABILITIES = ("DecisionTreeClassifier", "ExtraTreeClassifier", "ExtraTreesClassifier", "RandomForestClassifier")


def _takes_part(estimator: Any) -> bool:
    return not (isinstance(estimator, str) and estimator == "drop")


def _read_member(model: Any, name: str, member: Any) -> Trees:
    kind = type(model).__name__
    try:
        averages = _is_one_of(model, "BaggingClassifier", "VotingClassifier")
        if averages and not _is_one_of(member, *_PROBABILITIES):
            raise ValueError(f"The probabilities of a {type(member).__name__} are no sum of trees.")
        trees = read(member)
        if trees.is_margin and _is_one_of(model, "BaggingRegressor", "VotingRegressor", "TransformedTargetRegressor"):
            raise ValueError(f"What {type(member).__name__} predicts is a function of its sum of trees.")
        return trees
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The {kind}'s member {name!r} is not a sum of trees in the variables of X ({error}) "
            f"Drop it before fitting, or decompose the tree members one by one: {_members(model)}[...]."
        ) from error


def _is_one_of(model: Any, *names: str) -> bool:
    """Return whether the class of a model, or a base class of it, has one of the names."""
    return any(cls.__name__ in names for cls in type(model).__mro__)


def _members(model: Any) -> str:
    return "model.named_estimators_" if hasattr(model, "named_estimators_") else "model.estimators_"


def _named(trees: Trees, model: Any, *, keep_names: bool = False) -> Trees:
    """Return the trees with the names of columns and classes of the outer model."""
    columns = getattr(model, "feature_names_in_", None)
    trees = replace(trees, feature_names=None if columns is None else tuple(map(str, columns)))
    if keep_names or trees.offset.size == 1 or not hasattr(model, "classes_"):
        return trees
    return replace(trees, output_names=tuple(map(str, model.classes_)))
