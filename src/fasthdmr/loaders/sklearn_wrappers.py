"""scikit-learn's meta-estimators of tree models: searches, pipelines and the voting regressor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fasthdmr.loaders.registry import read
from fasthdmr.loaders.trees import Trees, add


def read_frozen(model: Any) -> Trees:
    """Read the model inside a FrozenEstimator, which stays fitted when it is cloned."""
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
    """Read the last step of a pipeline that leaves X as it is."""
    transforming = [name for name, step in model.steps[:-1] if step not in (None, "passthrough")]
    if transforming:
        raise ValueError(
            f"This Pipeline transforms X before the trees see it ({', '.join(map(repr, transforming))}), so "
            "it has no trees in the variables of X. Decompose its last step on the transformed rows: "
            "pipe[-1] on pipe[:-1].transform(X)."
        )
    return read(model.steps[-1][1])


def read_voting(model: Any) -> Trees:
    """Read a weighted mean of tree models as one ensemble."""
    check_is_fitted(model)
    names = [name for name, estimator in model.estimators if _takes_part(estimator)]
    members = [_read_member(name, member) for name, member in zip(names, model.estimators_, strict=True)]
    weights = np.ones(len(members))
    if model.weights is not None:
        pairs = zip(model.estimators, model.weights, strict=True)
        weights = np.array([w for (_, estimator), w in pairs if _takes_part(estimator)], dtype=np.float64)
    weights /= weights.sum()
    trees = add([member.scaled(weight) for member, weight in zip(members, weights, strict=True)])
    columns = getattr(model, "feature_names_in_", None)
    return replace(trees, feature_names=None if columns is None else tuple(map(str, columns)))


def _takes_part(estimator: Any) -> bool:
    return not (isinstance(estimator, str) and estimator == "drop")


def _read_member(name: str, member: Any) -> Trees:
    try:
        return read(member)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The VotingRegressor's member {name!r} is not a sum of trees in the variables of X ({error}) "
            f"Drop it before fitting, or decompose the tree members one by one: model.named_estimators_[...]."
        ) from error
