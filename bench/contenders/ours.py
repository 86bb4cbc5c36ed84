"""fasthdmr itself."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import fasthdmr._estimators.tree_hdmr  # noqa: F401  (in the parent process: an import is not memory that a run takes)
from bench.exact import label, labelled
from bench.runner import Arrays, Contender, threads

CHECKED_ROWS = 2000


def fit(models: list[Any], X: np.ndarray, y: np.ndarray | None = None, *, n_jobs: int = 2, **options: Any) -> Any:
    """Fit the paper's basis on models that are fitted; reading them is included."""
    from fasthdmr import TreeHDMR

    return TreeHDMR(models, basis="trees", order=None, n_jobs=n_jobs, **options).fit(X, y)


def load(models: list[Any]) -> list[Any]:
    """Read the models."""
    from fasthdmr import load_forest

    return [load_forest(model) for model in models]


def features(forests: list[Any], X: np.ndarray, n_jobs: int) -> list[np.ndarray]:
    """Return B, an array a forest."""
    return [forest.group_features(X, n_jobs=n_jobs) for forest in forests]


def contenders(models: list[Any], X: np.ndarray, y: np.ndarray, alpha: float) -> list[Contender]:
    """Return our rows; in every stage the first is the one that the others are set against."""

    def summary(prefix: str) -> Any:
        def named(hdmr: Any) -> Arrays:
            indices = np.concatenate([hdmr.sensitivity_.Sa, hdmr.sensitivity_.S])
            return {
                f"{prefix} indices": indices,
                f"{prefix} components": np.asarray(hdmr.transform(X[:CHECKED_ROWS])),
            }

        return named

    def fitting(n_jobs: int, **options: Any) -> Any:
        return lambda _: fit(models, X, y, n_jobs=n_jobs, **options)

    def evaluating(n_jobs: int) -> Any:
        return lambda forests: features(forests, X, n_jobs)

    return [
        Contender("ours, 2 threads", "fit sum", run=fitting(2, combine="sum"), summary=summary("sum")),
        Contender("ours, 1 thread", "fit sum", run=fitting(1, combine="sum"), summary=summary("sum")),
        Contender(
            "ours, 2 threads",
            "fit ridge",
            run=fitting(2, combine="ridge", alphas=[alpha]),
            summary=summary("ridge"),
        ),
        *(
            Contender(
                f"ours, {threads(n_jobs)}",
                "features",
                prepare=lambda: load(models),
                run=evaluating(n_jobs),
                summary=lambda blocks: {"features": np.hstack(blocks)},
            )
            for n_jobs in (2, 1)
        ),
    ]


def explain(
    model: Any, X: np.ndarray, *, order: int | None, n_jobs: int = 2, by: str | None = None, **options: Any
) -> Any:
    """Fit the default, spline spans, on one model or a sum of several; `by` sorts trees against the rule."""
    from fasthdmr import FastHDMRWarning, TreeHDMR

    class Sorted(TreeHDMR):
        def _sorting(self, combination: Any) -> Any:
            return by or super()._sorting(combination)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastHDMRWarning)  # else each repetition prints those of California's variables
        return Sorted(model, order=order, combine="sum", n_jobs=n_jobs, **{"basis": "spline"} | options).fit(X)


def spans(
    model: Any,
    X: np.ndarray,
    *,
    stage: str,
    limit: float | None = None,
    name: str = "ours",
    order: int = 2,
    n_jobs: int = 2,
    **options: Any,
) -> Contender:
    """Return fit and components on the rows."""

    def run(_: Any) -> Any:
        hdmr = explain(model, X, order=order, n_jobs=n_jobs, **options)
        return hdmr, hdmr.evaluate(X)

    def summary(result: Any) -> Arrays:
        hdmr, values = result
        components = dict(zip(hdmr.subspaces_, values.T, strict=True))
        return {**labelled(components), "output": model.predict(X)}

    return Contender(name, stage, run, summary=summary, limit=limit)


def surrogate(X: np.ndarray, y: np.ndarray, *, order: int, stage: str, limit: float) -> Contender:
    """Return the indices of the data themselves, without a model."""

    def run(_: Any) -> Any:
        from fasthdmr import HDMR

        return HDMR(order=order, normalise="data", n_jobs=2).fit(X, y)

    def summary(hdmr: Any) -> Arrays:
        indices = zip(hdmr.subspaces_, hdmr.sensitivity_.S, strict=True)
        return {label(u).replace("f", "S"): np.array(S) for u, S in indices}

    return Contender("ours, HDMR()", stage, run, summary=summary, limit=limit)


def columns_name(by: str, n_jobs: int) -> str:
    """Return the name of the row of B."""
    return f"ours, B by {by}, {threads(n_jobs)}"


def engine(model: Any, X: np.ndarray, *, stage: str) -> list[Contender]:
    """Return all columns of B, of a forest that is read or of the model itself, and the output."""
    from fasthdmr import load_forest

    def read() -> Any:
        return load_forest(model)

    def columns(by: str, n_jobs: int) -> Contender:
        def run(forest: Any) -> Any:
            return forest.group_features(X, by=by, n_jobs=n_jobs)

        return Contender(columns_name(by, n_jobs), stage, run, read, lambda B: {f"B by {by}": B})

    def from_model(by: str) -> Contender:
        def run(_: Any) -> Any:
            return load_forest(model).group_features(X, by=by, n_jobs=1)

        return Contender(f"ours, model to B by {by}", stage, run, summary=lambda B: {f"B by {by}": B})

    rows = [columns(by, n_jobs) for n_jobs in (1, 2) for by in ("tree", "node")]
    return [*rows, from_model("tree"), from_model("node"), output(model, X, stage=stage, n_jobs=1)]


def output(model: Any, X: np.ndarray, *, stage: str, n_jobs: int) -> Contender:
    """Return the output of a forest that is read."""
    from fasthdmr import load_forest

    def run(forest: Any) -> Any:
        return forest.predict(X, n_jobs=n_jobs)

    name = f"ours, predict, {threads(n_jobs)}"
    return Contender(name, stage, run, lambda: load_forest(model), lambda found: {"output": found})
