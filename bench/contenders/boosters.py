"""Gradient boosting of every library, and other packages that read the fitted models or predict with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor

from bench.contenders import lleaves_engine
from bench.runner import Contender, quietly

Read = Callable[[Any], Any]
CODES = [6, 7]  # the columns of categories, if rows have any
PART = 10  # treelite predicts every tenth row, once: all rows would take it a minute
LIMIT = 120.0  # seconds for that


@dataclass(frozen=True)
class Booster:
    """An unfitted model, and functions of the fitted one: its library's export, treelite, json.loads of its JSON."""

    model: Any
    export: Read | None = None
    treelite: Read | None = None
    json: Read | None = None


def _xgboost(n_trees: int, categories: bool) -> Booster:
    from xgboost import XGBRegressor

    types = ["c" if k in CODES else "q" for k in range(8)]
    options = {"enable_categorical": True, "feature_types": types} if categories else {}
    return Booster(
        XGBRegressor(n_estimators=n_trees, max_depth=3, learning_rate=0.1, n_jobs=1, random_state=0, **options),
        export=lambda fit: fit.get_booster().save_raw("ubj"),
        treelite=lambda fit: _treelite().frontend.from_xgboost(fit.get_booster()),
        json=lambda fit: json.loads(fit.get_booster().save_raw("json")),
    )


def _lightgbm(n_trees: int, categories: bool) -> Booster:
    from lightgbm import LGBMRegressor

    from fasthdmr.loaders.exports import exported

    options = {"categorical_feature": CODES} if categories else {}
    options |= {"n_jobs": 1, "random_state": 0, "verbose": -1}
    return Booster(
        LGBMRegressor(n_estimators=n_trees, max_depth=3, num_leaves=8, **options),
        export=lambda fit: exported(fit.booster_.save_model),
        treelite=lambda fit: _treelite().frontend.from_lightgbm(fit.booster_),
        json=lambda fit: fit.booster_.dump_model(),  # this calls json.loads
    )


def _catboost(n_trees: int, categories: bool) -> Booster | None:
    from catboost import CatBoostRegressor

    from fasthdmr.loaders.exports import exported

    def export(fit: Any) -> Any:
        return exported(lambda path: fit.save_model(path, format="json"))

    if categories:  # CatBoost takes integers or text as categories, and the rows here are floats
        return None
    options = {"learning_rate": 0.1, "thread_count": 1, "random_seed": 0, "verbose": 0, "allow_writing_files": False}
    return Booster(
        CatBoostRegressor(iterations=n_trees, depth=3, **options),
        export=export,
        json=lambda fit: json.loads(export(fit)[:]),
    )


def _histogram(n_trees: int, categories: bool) -> Booster:
    options = {"max_depth": 3, "max_leaf_nodes": None, "early_stopping": False, "random_state": 0}
    options |= {"categorical_features": CODES} if categories else {}
    model = HistGradientBoostingRegressor(max_iter=n_trees, **options)
    return Booster(model, treelite=lambda fit: _treelite().sklearn.import_model(fit))


def _classic(n_trees: int, categories: bool) -> Booster | None:
    if categories:
        return None
    model = GradientBoostingRegressor(n_estimators=n_trees, max_depth=3, subsample=0.2, random_state=0)
    return Booster(model, treelite=lambda fit: _treelite().sklearn.import_model(fit))


LIBRARIES: dict[str, Callable[[int, bool], Booster | None]] = {
    "xgboost": _xgboost,
    "LightGBM": _lightgbm,
    "CatBoost": _catboost,
    "HistGradientBoosting": _histogram,
    "GradientBoosting": _classic,
}


def rows_of(X: np.ndarray, kind: str) -> np.ndarray:
    """Return a copy of the rows: unchanged, with a random tenth of the values missing, or with two columns as codes."""
    X = X.copy()
    if kind == "missing":
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    if kind == "categories":
        for column, levels in zip(CODES, (12, 40), strict=True):
            edges = np.quantile(X[:, column], np.linspace(0, 1, levels + 1)[1:-1])
            X[:, column] = np.searchsorted(edges, X[:, column])
    return X


def readers(name: str, booster: Booster, fit: Any) -> list[Contender]:
    """Return the export of the library and the other readers as contenders."""
    named = {f"export of {name}": booster.export, f"treelite of {name}": booster.treelite}
    named[f"json.loads of {name}"] = booster.json
    return [Contender(label, "read", quietly(lambda _, read=read: read(fit))) for label, read in named.items() if read]


def engines(name: str, booster: Booster, fit: Any, X: np.ndarray, summary: Callable[..., Any]) -> list[Contender]:
    """Return other engines for prediction, on one thread each. The time to convert the model is not included.

    `summary` takes their results and, of every PART-th row only, `part=True`.
    """
    found = []
    if booster.treelite:
        # treelite compares in double precision, and scikit-learn's trees cast X to float32.
        rows = X[::PART].astype(np.float32).astype(np.float64) if name == "GradientBoosting" else X[::PART]
        predict = quietly(lambda engine: _treelite().gtil.predict(engine, rows, nthread=1))
        prepare = quietly(lambda: booster.treelite(fit))
        found.append(Contender(treelite_engine(name), "predict", predict, prepare, partial(summary, part=True), LIMIT))
    if name == "LightGBM":

        def write(path: Path) -> None:
            fit.booster_.save_model(path)

        def compiled() -> Any:
            return lleaves_engine.compiled(fit, write, vectorise=False)

        run = quietly(lambda engine: engine.predict(X, n_jobs=1))
        found.append(Contender(f"lleaves of {name}", "predict", run, quietly(compiled), summary))
    return found


def treelite_engine(name: str) -> str:
    """Return the name of the contender that predicts with treelite."""
    return f"treelite of {name}, 1/{PART} of the rows"


def _treelite() -> Any:
    import treelite

    return treelite
