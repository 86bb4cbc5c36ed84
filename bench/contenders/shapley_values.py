"""Shapley values of a tree model at rows: ours from components, shap, WoodelfExplainer, shapiq.

Each contender starts from the fitted model. `rows` are those that it explains, `background` those that it averages
over: none for methods that use the weights of nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.runner import Arrays, Contender, quietly, threads


def summary(found: np.ndarray) -> Arrays:
    return {"values": np.asarray(found, dtype=np.float64)}


def ours(name: str, model: Any, rows: np.ndarray, fitted_to: np.ndarray, *, n_jobs: int, **options: Any) -> Contender:
    """Return ours: the fit, and the values."""
    from fasthdmr import TreeHDMR

    def run(_: Any) -> np.ndarray:
        return TreeHDMR(model, n_jobs=n_jobs, **options).fit(fitted_to).shapley_values(rows)

    return Contender(f"ours, {name}, {threads(n_jobs)}", "values", quietly(run), summary=summary)


def ours_fitted(
    model: Any, rows: np.ndarray, fitted_to: np.ndarray, *, pairs: bool = False, **options: Any
) -> Contender:
    """Return ours without the fit: values, or interactions of all pairs."""
    from fasthdmr import TreeHDMR

    def run(hdmr: Any) -> np.ndarray:
        return hdmr.shapley_interactions(rows) if pairs else hdmr.shapley_values(rows)

    name = f"ours, fitted, {'interactions' if pairs else 'values'}, 1 thread"
    prepare = quietly(lambda: TreeHDMR(model, **options).fit(fitted_to))
    return Contender(name, "evaluation", quietly(run), prepare)


def shap(model: Any, rows: np.ndarray, background: np.ndarray | None, *, limit: float) -> Contender:
    def prepare() -> Any:
        import shap

        return shap

    def run(package: Any) -> np.ndarray:
        masker = None if background is None else package.maskers.Independent(background, max_samples=len(background))
        return package.TreeExplainer(model, masker).shap_values(rows, check_additivity=False)

    return Contender(_name("shap", background), "values", quietly(run), quietly(prepare), summary, limit)


def woodelf(model: Any, rows: np.ndarray, background: np.ndarray | None, *, limit: float) -> Contender:
    names = [f"x{j}" for j in range(rows.shape[1])]

    def prepare() -> Any:
        import pandas as pd
        from woodelf import WoodelfExplainer

        frames = [None if X is None else pd.DataFrame(X, columns=names) for X in (background, rows)]
        return WoodelfExplainer, *frames

    def run(prepared: Any) -> np.ndarray:
        explainer, averaged, explained = prepared
        return explainer(model, averaged).shap_values(explained, verbose=False)

    return Contender(_name("woodelf", background), "values", quietly(run), quietly(prepare), summary, limit)


def shapiq(model: Any, rows: np.ndarray, *, limit: float) -> Contender:
    """Return shapiq's values, tree by tree, because it does not read scikit-learn's gradient boosting."""

    def prepare() -> Any:
        import shapiq

        return shapiq

    def run(package: Any) -> np.ndarray:
        values = np.zeros(rows.shape)
        for tree in model.estimators_.ravel():
            explainer = package.TreeExplainer(tree, max_order=1, min_order=1, index="SV")
            for r, row in enumerate(rows):
                found = explainer.explain(row)
                for (j,), position in found.interaction_lookup.items():
                    values[r, j] += model.learning_rate * found.values[position]
        return values

    return Contender(_name("shapiq", None), "values", quietly(run), quietly(prepare), summary, limit)


def _name(package: str, background: np.ndarray | None) -> str:
    return f"{package}, " + ("path dependent" if background is None else f"interventional, {len(background)} rows")
