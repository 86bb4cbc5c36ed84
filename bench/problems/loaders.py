"""Boosting of every library, 5,000 trees of depth 3: reading a fitted model, and its prediction on one thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor

from bench.data import california
from bench.goals import Goal, at_most, goals_table
from bench.models import fitted
from bench.report import machine
from bench.runner import Contender, Measurement, measure, quietly
from bench.timings import seconds, timing_table, truth_of

FITTED_ROWS = 3000  # boosting on all of them takes minutes, and grows the same shapes
MARGIN = 0.010  # seconds for reading beyond the library's own export
NOTES = """\
read: load_forest, against the library's own export of the model (scikit-learn has none: its nodes are read in place);
predict: one thread each; error: from the library's own prediction, which xgboost sums up in single precision."""


def _xgboost(n_trees: int) -> tuple[Any, Callable[[Any], Any]]:
    from xgboost import XGBRegressor

    model = XGBRegressor(n_estimators=n_trees, max_depth=3, learning_rate=0.1, n_jobs=1, random_state=0)
    return model, lambda fit: fit.get_booster().save_raw("ubj")


def _lightgbm(n_trees: int) -> tuple[Any, Callable[[Any], Any]]:
    from lightgbm import LGBMRegressor

    from fasthdmr.loaders.exports import exported

    model = LGBMRegressor(n_estimators=n_trees, max_depth=3, num_leaves=8, n_jobs=1, random_state=0, verbose=-1)
    return model, lambda fit: exported(fit.booster_.save_model)


def _catboost(n_trees: int) -> tuple[Any, Callable[[Any], Any]]:
    from catboost import CatBoostRegressor

    from fasthdmr.loaders.exports import exported

    options = {"learning_rate": 0.1, "thread_count": 1, "random_seed": 0, "verbose": 0, "allow_writing_files": False}
    model = CatBoostRegressor(iterations=n_trees, depth=3, **options)
    return model, lambda fit: exported(lambda path: fit.save_model(path, format="json"))


def _histogram(n_trees: int) -> tuple[Any, None]:
    options = {"max_depth": 3, "max_leaf_nodes": None, "early_stopping": False, "random_state": 0}
    return HistGradientBoostingRegressor(max_iter=n_trees, **options), None


def _classic(n_trees: int) -> tuple[Any, None]:
    return GradientBoostingRegressor(n_estimators=n_trees, max_depth=3, subsample=0.2, random_state=0), None


LIBRARIES = {
    "xgboost": _xgboost,
    "LightGBM": _lightgbm,
    "CatBoost": _catboost,
    "HistGradientBoosting": _histogram,
    "GradientBoosting": _classic,
}


def contenders(name: str, model: Any, export: Callable[[Any], Any] | None, X: np.ndarray) -> list[Contender]:
    """Return the rows of one library, ours first in both stages."""

    def load(_: Any) -> Any:
        from fasthdmr import load_forest

        return load_forest(model)

    def prepared() -> Any:
        forest = load(None)
        forest.predict(X[:2], n_jobs=1)
        return forest

    def output(values: Any) -> dict[str, np.ndarray]:
        return {f"{name} output": np.ravel(values).astype(np.float32 if name == "xgboost" else np.float64)}

    def predict(_: Any) -> Any:
        return model.predict(X)

    def one_thread() -> None:
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)

    rows = [Contender(f"ours of {name}", "read", load)]
    if export:
        rows.append(Contender(f"export of {name}", "read", lambda _: export(model)))
    rows.append(Contender(f"ours of {name}, predict", "predict", lambda f: f.predict(X, n_jobs=1), prepared, output))
    rows.append(Contender(f"{name}, predict", "predict", quietly(predict), one_thread, output))
    return rows


def goals(name: str, measurements: list[Measurement], *, has_export: bool) -> list[Goal]:
    """Return the goals for the times of one library."""
    ratio = seconds(measurements, f"{name}, predict") / seconds(measurements, f"ours of {name}, predict")
    found = [Goal(f"{name}: predict / ours", ratio, 1.0)]
    if has_export:
        beyond = seconds(measurements, f"ours of {name}") - seconds(measurements, f"export of {name}")
        found.append(at_most(f"{name}: ms beyond the export", 1e3 * beyond, 1e3 * MARGIN))
    return found


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Train or load a model of every library that is there, measure, print."""
    X, y, _ = california()
    n_trees = 200 if quick else 5000
    print(f"loaders: California housing, N = {len(X)}, {n_trees} trees of depth 3")
    print(machine() + "\n--quick: the goals are not of so few trees" * quick)
    asked: list[Goal] = []
    for name, make in LIBRARIES.items():
        try:
            unfitted, export = make(n_trees)
        except ImportError as error:
            print(f"\n{name} is not there: {error}")
            continue
        model = fitted(unfitted, X[:FITTED_ROWS], y[:FITTED_ROWS])
        measurements = measure(contenders(name, model, export, X), repeats)
        for stage in ("read", "predict"):
            of_stage = [m for m in measurements if m.contender.stage == stage]
            print("\n" + timing_table(of_stage, lambda m: 0.0, truth_of(of_stage, [f"{name}, predict"])))
        asked += goals(name, measurements, has_export=export is not None)
    print(f"\n{NOTES}\n\n{goals_table(asked)}")
    return asked
