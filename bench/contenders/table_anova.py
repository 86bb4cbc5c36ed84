"""HDMR of functions of two variables of few values: ours, and what works on the table of their values."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.runner import Arrays, Contender, quietly
from bench.tables import Case, alternating_means

SUBSPACES = [(0,), (1,), (0, 1)]
EXACT = "alternating means"


def ours(case: Case, *, of_data: bool) -> Contender:
    """Return a fit on the data frame, of the function or of the noisy data."""

    def run(_: Any) -> Any:
        from fasthdmr import HDMR

        return HDMR(n_jobs=1).fit(case.X, case.y) if of_data else HDMR(case.of_frame, n_jobs=1).fit(case.X)

    def summary(hdmr: Any) -> Arrays:
        found = dict(zip(hdmr.subspaces_, np.asarray(hdmr.transform(case.X)).T, strict=True))
        return {"components": np.column_stack([found[u] for u in SUBSPACES])}

    name = "ours, of the data" if of_data else "ours, of the function"
    return Contender(name, "", quietly(run), lambda: (case.X, case.y), summary)


def exact(case: Case) -> Contender:
    """Return the exact HDMR of the table, with NumPy."""
    return Contender(
        EXACT,
        "",
        lambda _: alternating_means(case.table, case.weight),
        lambda: case.weight,
        lambda parts: {"components": case.on_rows(parts)},
    )


def purify(case: Case) -> Contender:
    """Return interpret's purification of the table."""

    def prepare() -> Any:
        from interpret.utils import purify

        return case.weight, purify

    def run(prepared: Any) -> Any:
        weight, function = prepared
        return function(case.table, weight)

    def summary(result: Any) -> Arrays:
        cells, effects, _ = result
        found = dict(effects)
        return {"components": case.on_rows((found[0,], found[1,], cells))}

    return Contender("interpret.utils.purify", "", run, prepare, summary)


def ebm(case: Case, limit: float) -> Contender:
    """Return interpret's boosting, fitted to the data frame. Its components are the exact HDMR of what it predicts."""

    def prepare() -> Any:
        from interpret.glassbox import ExplainableBoostingRegressor

        _ = case.X, case.y  # made before the time is taken
        return ExplainableBoostingRegressor(interactions=[(0, 1)], random_state=0, n_jobs=1)

    def summary(model: Any) -> Arrays:
        total = np.zeros_like(case.table)
        np.add.at(total, (case.i, case.j), model.predict(case.X))
        means = np.divide(total, case.weight, out=total, where=case.weight > 0)
        return {"components": case.on_rows(alternating_means(means, case.weight))}

    return Contender("EBM, of the data", "", quietly(lambda model: model.fit(case.X, case.y)), prepare, summary, limit)
