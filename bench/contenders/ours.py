"""fasthdmr itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.runner import Arrays, Contender

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
                f"ours, {n_jobs} thread{'s'[: n_jobs - 1]}",
                "features",
                prepare=lambda: load(models),
                run=evaluating(n_jobs),
                summary=lambda blocks: {"features": np.hstack(blocks)},
            )
            for n_jobs in (2, 1)
        ),
    ]
