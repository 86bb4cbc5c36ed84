"""interpret's Explainable Boosting Machine: an additive model with pairs, fitted to the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.exact import Components, labelled
from bench.models import fitted
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


def trained(X: np.ndarray, y: np.ndarray) -> Any:
    """Return the machine with default options, from the cache if it was fitted before."""
    from interpret.glassbox import ExplainableBoostingRegressor

    continuous = ["continuous"] * X.shape[1]  # also for variables of two values, which are categories by default
    return fitted(ExplainableBoostingRegressor(feature_types=continuous, random_state=0, n_jobs=1), X, y)


def additive_part(table: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return functions of the row and of the column, with weighted mean 0, whose sum is nearest to a table's values.

    Where a row or a column has no weight its value is 0.
    """
    weight = weight / weight.sum()
    of_rows, of_columns = weight.sum(axis=1), weight.sum(axis=0)
    weighted = weight * (table - np.vdot(weight, table))
    gram = np.block([[np.diag(of_rows), weight], [weight.T, np.diag(of_columns)]])
    moments = np.concatenate([weighted.sum(axis=1), weighted.sum(axis=0)])
    rows, columns = np.split(np.linalg.lstsq(gram, moments)[0], [len(of_rows)])
    return (rows - of_rows @ rows) * (of_rows > 0), (columns - of_columns @ columns) * (of_columns > 0)


def purified(ebm: Any, X: np.ndarray) -> Components:
    """Return its components on X, purified: main effects are subtracted from pairs, on the rows of the fit."""
    terms = dict(zip(map(tuple, ebm.term_features_), ebm.eval_terms(X).T, strict=True))
    found: Components = dict(terms)
    for number, u in enumerate(map(tuple, ebm.term_features_)):
        if len(u) == 2:
            effects = additive_part(ebm.term_scores_[number], ebm.bin_weights_[number])
            for j, effect in zip(u, effects, strict=True):
                cuts = ebm.bins_[j][min(2, len(ebm.bins_[j])) - 1]
                values = effect[1 + np.searchsorted(cuts, X[:, j], side="right")]  # bin 0 is for missing values
                found[j,], found[u] = found.get((j,), 0.0) + values, found[u] - values
    return found


def glass_box(X: np.ndarray, y: np.ndarray, *, at: np.ndarray, limit: float) -> Contender:
    """Return its fit on the data and its purified components at other rows."""

    def run(_: Any) -> Components:
        return purified(trained(X, y), at)

    return Contender("EBM, purified", "", quietly(run), summary=labelled, limit=limit)
