"""scikit-learn's own predictions, summed: the cost of evaluating the trees without grouping them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.runner import Contender, threads


def contenders(models: list[Any], X: np.ndarray) -> list[Contender]:
    """Return the contender of the stage of features."""

    def predict(_: Any) -> Any:
        return sum(model.predict(X) for model in models)

    return [Contender("scikit-learn predict", "features", run=predict)]


def engine(model: Any, X: np.ndarray, *, stage: str, n_jobs: int = 1) -> Contender:
    """Return one model's own prediction, the reference of every output."""

    def prepare() -> Any:
        if hasattr(model, "n_jobs"):
            model.n_jobs = n_jobs
        return model

    name = f"scikit-learn, {threads(n_jobs)}"
    return Contender(name, stage, lambda model: model.predict(X), prepare, lambda output: {"output": output})
