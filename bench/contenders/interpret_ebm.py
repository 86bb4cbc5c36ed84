"""interpret's Explainable Boosting Machine: a model of its own, made of components."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.exact import labelled
from bench.runner import Arrays, Contender, quietly


def contender(model: Any, X: np.ndarray, y: np.ndarray, *, stage: str, limit: float) -> Contender:
    """Return its fit on the data and its terms on the rows; `model` has no part in it."""

    def prepare() -> Any:
        from interpret.glassbox import ExplainableBoostingRegressor

        return ExplainableBoostingRegressor(random_state=0, n_jobs=1)

    def run(ebm: Any) -> Any:
        ebm.fit(X, y)
        return ebm, ebm.eval_terms(X)

    def summary(result: Any) -> Arrays:
        ebm, terms = result
        components = dict(zip(map(tuple, ebm.term_features_), terms.T, strict=True))
        return {**labelled(components), "output": ebm.predict(X)}

    return Contender("EBM (its own model)", stage, quietly(run), quietly(prepare), summary, limit)
