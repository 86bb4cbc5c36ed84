"""The lines of the problems engines, deep, trees and spans on one thread, for the comparison of two versions.

Only public names of fasthdmr are used: an earlier version lacks private modules that the problems import.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from bench.data import california, with_jitter
from bench.models import boosted, fitted

DEPTHS = (1, 2, 3)
TILES = 10
CALLS = 100  # of few rows each


def columns_of(fasthdmr: Any, models: list[Any], X: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Return the columns of each model's trees, of a forest that is read or from the model, and the output."""

    def from_model(model: Any, by: str) -> Any:
        return fasthdmr.load_forest(model).group_features(X, by=by)

    calls: dict[str, Callable[[], Any]] = {}
    for depth, model in zip(DEPTHS, models, strict=True):
        forest = fasthdmr.load_forest(model)
        for by in ("tree", "node"):
            calls[f"B by {by}, depth {depth}"] = partial(forest.group_features, X, by=by)
            calls[f"model to B by {by}, depth {depth}"] = partial(from_model, model, by)
        calls[f"predict, depth {depth}"] = partial(forest.predict, X)
    tiled = with_jitter(X, TILES, 1e-3)
    forest = fasthdmr.load_forest(models[1])
    for by in ("tree", "node"):
        calls[f"B by {by}, depth 2, {TILES} N"] = partial(forest.group_features, tiled, by=by)
    return calls


def output_of(forest: Any, name: str, X: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Return calls of the output at few rows."""

    def each(rows: list[np.ndarray]) -> Any:
        return [forest.predict(row) for row in rows]

    every = X[:: max(1, len(X) // CALLS)][:CALLS]
    calls: dict[str, Callable[[], Any]] = {
        f"{name}, {CALLS} calls of one row": partial(each, [every[i : i + 1] for i in range(len(every))]),
        f"{name}, {CALLS} calls of the same row": partial(each, [X[:1]] * CALLS),
        f"{name}, {CALLS} calls of the same 4 rows": partial(each, [X[:4]] * CALLS),
    }
    return calls | {f"{name}, {n} rows": partial(forest.predict, X[:n]) for n in (100, 10_000)}


def fits_of(fasthdmr: Any, models: list[Any], X: np.ndarray, y: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Return the fits of the paper's basis."""

    def fit(**options: Any) -> Any:
        return fasthdmr.TreeHDMR(models, basis="trees", order=None, **options).fit(X, y)

    return {"fit sum": partial(fit, combine="sum"), "fit ridge": partial(fit, combine="ridge", alphas=[1e-6])}


def spans_of(fasthdmr: Any, one: dict[int, Any], models: list[Any], X: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Return fits in splines: of one model by its number of trees, with its components, and of all models."""

    def components(model: Any, smooth: bool) -> Any:
        return fasthdmr.TreeHDMR(model, smooth=smooth, combine="sum").fit(X).evaluate(X)

    def fit(basis: str) -> Any:
        return fasthdmr.TreeHDMR(models, basis=basis, combine="sum").fit(X)

    calls: dict[str, Callable[[], Any]] = {}
    for n_trees, model in one.items():
        calls[f"spans, {n_trees} trees"] = partial(components, model, True)
        calls[f"spans, {n_trees} trees, faithful"] = partial(components, model, False)
    for basis in ("trees", "spline"):
        calls[f"spans, all models, {basis}"] = partial(fit, basis)
    return calls


def workloads(fasthdmr: Any, n_trees: int = 5000) -> dict[str, Callable[[], Any]]:
    """Return calls without arguments, by name. Models are made here, once."""
    X, y, _ = california()
    models = boosted(X, y, depths=DEPTHS, n_trees=n_trees)
    one = {n: boosted(X, y, depths=(3,), n_trees=n)[0] for n in (n_trees // 50, n_trees // 10)}
    deep = fitted(RandomForestRegressor(n_trees // 10, min_samples_leaf=5, random_state=0, n_jobs=2), X, y)
    deep_forest = fasthdmr.load_forest(deep)
    return {
        **columns_of(fasthdmr, models, X),
        **output_of(fasthdmr.load_forest(one[n_trees // 10]), "shallow", X),
        **output_of(deep_forest, "deep", X),
        "deep, predict": partial(deep_forest.predict, X),
        **fits_of(fasthdmr, models, X, y),
        **spans_of(fasthdmr, one, models, X),
    }
