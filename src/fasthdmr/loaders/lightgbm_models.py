"""LightGBM's boosters and scikit-learn wrappers, from the text that `Booster.save_model` writes."""

from __future__ import annotations

import json
from mmap import mmap
from typing import Any

import numpy as np

from fasthdmr import _core
from fasthdmr.loaders.exports import count, exported, refuse_unknown
from fasthdmr.loaders.trees import Trees, numbered

# Objectives whose prediction is the raw score.
_IDENTITY = ("regression", "huber", "fair", "quantile", "mape", "lambdarank", "rank_xendcg", "none", "custom")
_VERSIONS = ("version=v2", "version=v3", "version=v4")  # of the text
_ZERO = 1.0000000180025095e-35  # LightGBM treats values of at most this magnitude as 0


def read_wrapper(model: Any) -> Trees:
    """Read an LGBM* estimator."""
    return of_text(exported(model.booster_.save_model), getattr(model, "classes_", None))


def read_booster(booster: Any) -> Trees:
    """Read a Booster with the rounds that it predicts with: after early stopping, up to the best one."""
    return of_text(exported(booster.save_model))


def of_text(text: bytes | mmap, classes: Any = None) -> Trees:
    """Read the text of a model."""
    arrays, header, zero_is_missing = _core.read_lightgbm(text)
    refuse_unknown([f"version={header['version']}"] if "version" in header else [], _VERSIONS, "LightGBM")
    n_outputs, n_trees = count(header, "num_tree_per_iteration"), len(arrays["tree_offsets"]) - 1
    if n_trees % n_outputs:
        raise ValueError(f"The model's text is damaged: {n_trees} trees for {n_outputs} outputs.")
    if "average_output" in header and n_trees:  # random forests
        arrays["value"] = arrays["value"] * (n_outputs / n_trees)
    n_features = count(header, "max_feature_idx", more=1)
    replaced = np.tile([-_ZERO, _ZERO, 0.0], (n_features, 1))
    replaced[zero_is_missing, 2] = np.nan
    names = tuple(header["feature_names"].split(" "))
    levels = _levels(text)
    objective = header.get("objective", "")
    has_classes = classes is not None and len(classes) == n_outputs
    return Trees(
        n_features=n_features,
        **arrays,
        tree_output=np.arange(n_trees, dtype=np.int64) % n_outputs,
        offset=np.zeros(n_outputs),
        allow_nan=True,
        feature_names=None if names == numbered(n_features, "Column_") else names,
        output_names=None if n_outputs == 1 else tuple(map(str, classes)) if has_classes else numbered(n_outputs),
        is_classifier=objective.startswith(("binary", "multiclass")),
        is_margin=not objective.startswith(_IDENTITY) or "sqrt" in objective,
        float64=True,
        absent=0.0,
        unit=_unit(objective),
        takes_codes="category_set" in arrays or levels is not None,
        levels=levels,
        replaced=replaced,
    )


def _unit(objective: str) -> str:
    """Return the unit of the raw score, from an objective such as "binary sigmoid:1"."""
    kind, *options = objective.split(" ")
    if kind in ("binary", "multiclassova", "cross_entropy"):
        slope = next((option[8:] for option in options if option.startswith("sigmoid:")), "1")
        return "log-odds" if float(slope) == 1 else f"log-odds / {slope}"
    if kind in ("poisson", "gamma", "tweedie"):
        return "log of the mean"
    if kind in ("multiclass", "cross_entropy_lambda", "lambdarank", "rank_xendcg"):
        return "score"
    return "square root" if "sqrt" in options else ""


def _levels(text: bytes | mmap) -> tuple[tuple[Any, ...], ...] | None:
    """Return the category levels of the training frame, from the last line of the text; None if it has none."""
    name = b"\npandas_categorical:"
    place = text.rfind(name)
    if place < 0:
        return None
    levels = json.loads(text[place + len(name) :])
    return tuple(map(tuple, levels)) if levels else None
