"""treehfd: a Hoeffding decomposition, of order 2, of XGBoost's models."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.exact import Components, labelled
from bench.runner import Arrays, Contender, quietly


def trained_alike(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """Return XGBoost's model with the hyperparameters of a gradient boosting of scikit-learn, trained here."""
    from xgboost import XGBClassifier, XGBRegressor

    given = model.get_params()
    shared = {name: given[name] for name in ("n_estimators", "max_depth", "learning_rate", "random_state")}
    kind = XGBClassifier if hasattr(model, "predict_proba") else XGBRegressor
    return kind(**shared, reg_lambda=0, tree_method="exact", n_jobs=1).fit(X, y)


def components(model: Any, rows: np.ndarray, X: np.ndarray) -> Components:
    """Return the components on X of a model of XGBoost that is decomposed on `rows`."""
    from treehfd import XGBTreeHFD

    explainer = XGBTreeHFD(model)
    explainer.fit(rows, verbose=False)
    main, pairs = explainer.predict(X, verbose=False)
    found = {(i,): column for i, column in enumerate(main.T)}
    return found | dict(zip(map(tuple, explainer.interaction_list.tolist()), pairs.T, strict=True))


def contender(
    model: Any, X: np.ndarray, y: np.ndarray, *, stage: str, limit: float, at: np.ndarray | None = None
) -> Contender:
    """Return fit on X and components on `at`, or on X, of the model that is trained like `model` before."""
    places = X if at is None else at

    def summary(result: Any) -> Arrays:
        own, found = result
        return {**labelled(found), "output": own.predict(places)}

    def prepare() -> Any:
        import treehfd  # noqa: F401  (if it is missing, XGBoost need not be trained)

        return trained_alike(model, X, y)

    def run(own: Any) -> Any:
        return own, components(own, X, places)

    return Contender("treehfd", stage, quietly(run), quietly(prepare), summary, limit)
