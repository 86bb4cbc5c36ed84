"""treehfd: a Hoeffding decomposition, of order 2, of XGBoost's models."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.exact import labelled
from bench.runner import Arrays, Contender, quietly


def contender(model: Any, X: np.ndarray, y: np.ndarray, *, stage: str, limit: float) -> Contender:
    """Return fit and components of the XGBoost model that has the hyperparameters of `model`, and is trained before."""

    def prepare() -> Any:
        from treehfd import XGBTreeHFD
        from xgboost import XGBRegressor

        given = model.get_params()
        shared = {name: given[name] for name in ("n_estimators", "max_depth", "learning_rate", "random_state")}
        own = XGBRegressor(**shared, reg_lambda=0, tree_method="exact", n_jobs=1).fit(X, y)
        return own, XGBTreeHFD(own)

    def run(prepared: Any) -> Any:
        own, explainer = prepared
        explainer.fit(X, verbose=False)
        main, pairs = explainer.predict(X, verbose=False)
        components = {(i,): column for i, column in enumerate(main.T)}
        components |= dict(zip(map(tuple, explainer.interaction_list), pairs.T, strict=True))
        return own, components

    def summary(result: Any) -> Arrays:
        own, components = result
        return {**labelled(components), "output": own.predict(X)}

    return Contender("treehfd", stage, quietly(run), quietly(prepare), summary, limit)
