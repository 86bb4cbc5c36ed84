"""Shapley values of all rows of California housing, 500 trees of depth 3, and their errors on a full factorial."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import factorial

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor

from bench.contenders import shapley_values as contender
from bench.data import california
from bench.goals import Goal, at_most, goals_table
from bench.models import fitted
from bench.report import machine, relative_error, table
from bench.runner import Contender, Measurement, measure
from bench.timings import seconds

RIVALS = True  # tests set it aside
BACKGROUND = 100  # rows, as shap takes by default
FEW = 10  # rows that shapiq explains
LIMIT = 900.0  # seconds; contenders of other packages run once
PRODUCT = {"measure": "product", "order": None}
HEADER = [
    "contender",
    "",
    "rows",
    "runs",
    "seconds",
    "range",
    "all rows, s",
    "peak MB",
    "x ours",
    "error",
    "rows' game",
]
NOTES = """\
From the fitted model: ours with the fit, the others with their explainers. all rows: the time times all rows over rows
explained. x ours: relative to the first row. error: largest absolute difference over the scale, of the same call on a
full factorial of 3^6 rows, from the definition in float64. There the rows are the product of their marginals, so all
games are the same, with all rows as the background. rows' game: root mean square difference from interventional
values with all rows as the background, over the root mean square. Such a difference is no error: ours with the product
measure average over the product of the marginals, a sample of the background over fewer rows, path dependent values
over the weights of nodes; order 2 leaves out the third order, and splines the roughness of the trees."""


def factorial_rows(n_levels: int = 3, n_variables: int = 6) -> np.ndarray:
    """Return all combinations of some levels, the last variable fastest."""
    axes = np.meshgrid(*[np.linspace(-1, 1, n_levels)] * n_variables, indexing="ij")
    return np.column_stack([axis.ravel() for axis in axes])


def defined_values(f: np.ndarray) -> np.ndarray:
    """Return the Shapley values of v(S) = the mean of f over the axes not in S, (number of points, n)."""
    n = f.ndim
    subsets = [set(S) for size in range(n + 1) for S in combinations(range(n), size)]
    game = {frozenset(S): f.mean(axis=tuple(set(range(n)) - S), keepdims=True) for S in subsets}
    values = []
    for i in range(n):
        found = np.zeros(f.shape)
        for S in subsets:
            if i not in S:
                share = factorial(len(S)) * factorial(n - len(S) - 1) / factorial(n)
                found += share * (game[frozenset({*S, i})] - game[frozenset(S)])
        values.append(found.ravel())
    return np.column_stack(values)


def contenders(
    model: GradientBoostingRegressor, X: np.ndarray, background: Sequence[np.ndarray], few: int
) -> list[Contender]:
    """Return the rows of the table. Rivals average over each background."""
    rows = [
        *(contender.ours("product, all orders", model, X, X, n_jobs=n_jobs, **PRODUCT) for n_jobs in (1, 2)),
        contender.ours("product, order 2", model, X, X, n_jobs=1, measure="product"),
        contender.ours("splines, order 2", model, X, X, n_jobs=1),
        contender.ours_fitted(model, X, X, **PRODUCT),
        contender.ours_fitted(model, X, X, pairs=True, **PRODUCT),
    ]
    if RIVALS:
        rows += [contender.shap(model, X, some, limit=LIMIT) for some in background if len(some) < len(X)]
        rows += [contender.woodelf(model, X, some, limit=LIMIT) for some in background]
        rows += [make(model, X, None, limit=LIMIT) for make in (contender.shap, contender.woodelf)]
        rows.append(contender.shapiq(model, X[:few], limit=LIMIT))
    return rows


def factorial_errors(n_trees: int) -> dict[str, float]:
    """Return the error of each kind of contender on the full factorial."""
    X = factorial_rows()
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] * X[:, 4] * X[:, 5] + X[:, 0] * X[:, 5] ** 2
    model = fitted(GradientBoostingRegressor(n_estimators=n_trees, max_depth=3, random_state=0), X, y)
    truth = defined_values(model.predict(X).reshape([3] * X.shape[1]))
    rows = [contender.ours("product, all orders", model, X, X, n_jobs=1, **PRODUCT)]
    if RIVALS:
        rows += [
            make(model, X, some, limit=LIMIT) for make in (contender.shap, contender.woodelf) for some in (X, None)
        ]
        rows.append(contender.shapiq(model, X[:FEW], limit=LIMIT))
    return {
        _kind(m.contender.name): relative_error(m.summary["values"], truth[: len(m.summary["values"])])
        for m in measure(rows, repeats=0)
        if not m.failure
    }


def _kind(name: str) -> str:
    """Return the name of a contender without its threads or its background."""
    return name.rpartition(", ")[0]


def shapley_table(measurements: Sequence[Measurement], errors: dict[str, float], n_rows: int) -> str:
    base = measurements[0].median
    reference = next((m.summary["values"] for m in measurements if _is_reference(m, n_rows)), None)
    rows, failures = [], []
    for m in measurements:
        if m.failure:
            rows.append([m.contender.name, *[""] * (len(HEADER) - 2), "failed"])
            failures.append(f"{m.contender.name}: {m.failure}")
            continue
        values = m.summary.get("values")
        explained = n_rows if values is None else len(values)
        error = errors.get(_kind(m.contender.name))
        rows.append(
            [
                m.contender.name,
                "",
                str(explained),
                str(len(m.seconds)),
                f"{m.median:.3g}",
                f"{min(m.seconds):.3g}-{max(m.seconds):.3g}",
                f"{m.median * n_rows / explained:.3g}",
                f"{m.peak / 1e6:.1f}",
                f"{m.median * n_rows / explained / base:.3g}",
                "" if error is None else f"{error:.0e}",
                "" if reference is None or values is None else _distance(values, reference[:explained]),
            ]
        )
    return "\n".join([table(HEADER, rows), *failures])


def _is_reference(m: Measurement, n_rows: int) -> bool:
    return not m.failure and m.contender.name == f"woodelf, interventional, {n_rows} rows"


def _distance(values: np.ndarray, reference: np.ndarray) -> str:
    share = np.sqrt(np.mean((values - reference) ** 2) / np.mean(reference**2))
    return f"{share:.3f}"


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Train or load the model, measure, print."""
    X, y, _ = california()
    n_trees = 50 if quick else 500
    model = fitted(GradientBoostingRegressor(n_estimators=n_trees, max_depth=3, random_state=0), X, y)
    print(f"shapley: California housing, gradient boosting, {n_trees} trees of depth 3")
    print(machine() + "\n--quick: the goals are not of so few trees" * quick)
    few = X[np.random.default_rng(0).choice(len(X), min(BACKGROUND, len(X) // 2), replace=False)]
    measurements = measure(contenders(model, X, [few, X], FEW), repeats)
    errors = factorial_errors(n_trees)
    print(f"\nN = {len(X)}\n\n{shapley_table(measurements, errors, len(X))}\n\n{NOTES}\n")
    ours = seconds(measurements, "ours, product, all orders, 1 thread")
    goals = [
        Goal(
            f"shap, interventional, {len(few)} rows / ours, product, all orders, 1 thread",
            seconds(measurements, f"shap, interventional, {len(few)} rows") / ours,
            300.0,
        ),
        at_most("error of ours on a full factorial", errors.get("ours, product, all orders", float("nan")), 1e-12),
    ]
    print(goals_table(goals))
    return goals
