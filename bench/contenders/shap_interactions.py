"""shap: interaction values of trees. The diagonal is set against f_i, twice the rest against f_ij."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from bench.exact import labelled
from bench.runner import Arrays, Contender, quietly


def contender(model: Any, X: np.ndarray, y: np.ndarray, *, stage: str, limit: float) -> Contender:
    """Return the interaction values of the model on the rows."""

    def prepare() -> Any:
        import shap

        return shap.TreeExplainer(model)

    def summary(values: np.ndarray) -> Arrays:
        variables = range(X.shape[1])
        components = {(i,): values[:, i, i] for i in variables}
        components |= {u: 2 * values[:, u[0], u[1]] for u in combinations(variables, 2)}
        return {**labelled(components), "output": model.predict(X)}

    def run(explainer: Any) -> Any:
        return explainer.shap_interaction_values(X)

    return Contender("shap interaction values", stage, quietly(run), quietly(prepare), summary, limit)
