"""xgboost's boosters and scikit-learn wrappers, from the model that `Booster.save_raw` writes."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fasthdmr import _core
from fasthdmr.loaders.exports import count, refuse_unknown
from fasthdmr.loaders.trees import Trees, first_trees, numbered

# Objectives by their link function, which maps a prediction to the margin.
_LOGIT = ("binary:logistic", "reg:logistic")
_LOG = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft")
_IDENTITY = (
    "reg:squarederror",
    "reg:squaredlogerror",
    "reg:absoluteerror",
    "reg:pseudohubererror",
    "reg:quantileerror",
    "reg:expectileerror",
    "reg:linear",
    "binary:logitraw",
    "binary:hinge",
    "multi:softmax",
    "multi:softprob",
    "rank:pairwise",
    "rank:ndcg",
    "rank:map",
)


# The parts of the exports of all versions up to 3.4.
_LEARNER = ("attributes", "feature_names", "feature_types", "gradient_booster", "learner_model_param", "objective")
_PARAMETERS = ("base_score", "boost_from_average", "num_class", "num_feature", "num_target")
_BOOSTER = ("gbtree", "model", "name", "weight_drop")
_MODEL = ("cats", "gbtree_model_param", "iteration_indptr", "tree_info", "trees", "weight_drop")

_UNITS = {"survival:cox": "log of the hazard", "survival:aft": "log of the time", "binary:logitraw": "log-odds"}


def read_booster(booster: Any) -> Trees:
    """Read a Booster with all of its rounds, as it predicts."""
    return of_document(*_exported(booster))


def read_wrapper(model: Any) -> Trees:
    """Read an XGB* estimator with the rounds that it predicts with: after early stopping, up to the best one."""
    booster = model.get_booster()
    try:
        rounds = int(model.best_iteration) + 1
    except AttributeError:
        rounds = None
    missing = math.nan if model.missing is None else float(model.missing)
    return of_document(*_exported(booster), rounds=rounds, missing=missing, classes=getattr(model, "classes_", None))


def _exported(booster: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    _, arrays, document = _core.read_document(booster.save_raw("ubj"))
    return arrays, document


def of_document(
    arrays: dict[str, Any],
    document: dict[str, Any],
    *,
    rounds: int | None = None,
    missing: float = math.nan,
    classes: Any = None,
) -> Trees:
    """Return the trees of a model from the arrays of its nodes and the rest of its document."""
    learner = document["learner"]
    objective, parameters = learner["objective"]["name"], learner["learner_model_param"]
    gradient_booster = learner["gradient_booster"]
    _refuse_linear(gradient_booster["name"])
    model = gradient_booster.get("gbtree", gradient_booster)["model"]
    refuse_unknown(
        [*learner, *parameters, *gradient_booster, *model], [*_LEARNER, *_PARAMETERS, *_BOOSTER, *_MODEL], "xgboost"
    )
    _multiply(arrays, model.get("weight_drop", gradient_booster.get("weight_drop", ())))
    tree_output = np.asarray(model["tree_info"], dtype=np.int64)
    if rounds is not None:
        n_trees = int(model["iteration_indptr"][rounds])
        arrays, tree_output = first_trees(arrays, n_trees), tree_output[:n_trees]
    n_outputs = max(count(parameters, "num_class", least=0), count(parameters, "num_target", least=0, absent=1), 1)
    n_features = count(parameters, "num_feature")
    base = np.broadcast_to(np.float32(json.loads(parameters["base_score"])).astype(float), n_outputs)
    return Trees(
        n_features=n_features,
        **arrays,
        tree_output=tree_output,
        offset=np.array(_margin(objective, base)),  # xgboost before 3.1 has one number for all outputs
        allow_nan=True,
        feature_names=tuple(learner.get("feature_names", ())) or None,
        output_names=_output_names(n_outputs, classes, objective),
        is_classifier=objective.startswith(("binary:", "multi:")),
        is_margin=not objective.startswith(("reg:", "rank:")) or objective in _LOGIT + _LOG,
        takes_codes="category_set" in arrays or "c" in learner.get("feature_types", ()),
        levels=_levels(model),
        refuses_unseen=True,
        absent=math.nan,
        unit=_unit(objective),
        replaced=None if math.isnan(missing) else _missing(n_features, missing),
    )


def _multiply(arrays: dict[str, Any], weights: ArrayLike) -> None:
    """Multiply the leaves of each tree by its weight after dropout, if there are any weights.

    The weights belong to the model, and before xgboost 3.3 to the booster 'dart', which contained it.
    """
    factors, nodes = np.asarray(weights, dtype=np.float32).astype(float), np.diff(arrays["tree_offsets"])
    if len(factors) == 0:
        return
    if len(factors) != len(nodes):
        raise ValueError(f"The model's export is damaged: {len(factors)} weights for {len(nodes)} trees.")
    arrays["value"] = arrays["value"] * np.repeat(factors, nodes)[:, None]


def _levels(model: dict[str, Any]) -> tuple[tuple[Any, ...], ...] | None:
    """Return the levels, numbers or text, of the columns of categories. xgboost 3.1 and later write them.

    None if they are not known. xgboost counts characters but writes bytes, so only ASCII text can be read.
    """
    levels: list[tuple[Any, ...]] = []
    for column in model.get("cats", {}).get("enc", []):
        values = [int(value) for value in column["values"]]
        if "offsets" not in column:
            levels.append(tuple(map(float, column["values"])))
        elif any(not 0 <= value < 128 for value in values):
            return None
        elif values:
            text = bytes(values).decode("ascii")
            levels.append(tuple(text[a:b] for a, b in pairwise(map(int, column["offsets"]))))
    return tuple(levels) or None


def _refuse_linear(name: str) -> None:
    if name == "gblinear":
        raise ValueError(
            "This xgboost model has booster='gblinear': a linear function, and no trees. Its coefficients are its "
            "decomposition; fit booster='gbtree' for trees, or pass the model to fasthdmr.HDMR."
        )


def _unit(objective: str) -> str:
    if objective in _UNITS:
        return _UNITS[objective]
    if objective in _LOGIT:
        return "log-odds"
    if objective in _LOG:
        return "log of the mean"
    return "" if objective.startswith("reg:") else "score"


def _margin(objective: str, base: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the margin of a model without trees, from its prediction (the base score)."""
    low, high = (0.0 if objective in _LOGIT + _LOG else -math.inf), (1.0 if objective in _LOGIT else math.inf)
    if not ((low < base) & (base < high)).all():
        raise ValueError(f"The base_score {base} of this xgboost model is out of the range of {objective!r}.")
    if objective in _LOGIT:
        return np.log(base) - np.log1p(-base)
    if objective in _LOG:
        return np.log(base)
    if objective in _IDENTITY:
        return base
    raise ValueError(
        f"The objective {objective!r} of this xgboost model is not known to fasthdmr, so where its sum of trees starts "
        f"is not. Known are {', '.join(_LOGIT + _LOG + _IDENTITY)}. Use fasthdmr.HDMR for other ones."
    )


def _output_names(n_outputs: int, classes: Any, objective: str) -> tuple[str, ...] | None:
    if n_outputs == 1:
        return None
    if classes is not None and len(classes) == n_outputs:
        return tuple(str(label) for label in classes)
    return numbered(n_outputs, "" if objective.startswith("multi:") else "y")


def _missing(n_features: int, missing: float) -> NDArray[np.float64]:
    """Return the field `replaced`: float64 values that round to `missing` in float32 are replaced by NaN."""
    [[low, high]] = _core.float32_intervals(np.array([np.float32(missing)], dtype=np.float64))
    return np.tile([low, high, np.nan], (n_features, 1))
