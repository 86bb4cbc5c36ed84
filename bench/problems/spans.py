"""The time to fit orthogonal components of order 2, and to evaluate saved ones.

Gradient boosting of depth 3, on California housing and on 100 variables.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor

import fasthdmr
from bench.contenders import null, ours, shap_interactions, treehfd
from bench.data import california
from bench.exact import Subspace
from bench.goals import Goal, at_most, goals_table
from bench.models import boosted, fitted
from bench.problems.trees import rates
from bench.report import machine, table
from bench.runner import Contender, Measurement, measure
from fasthdmr import _core

LIMIT = 120.0  # seconds, after which another package is stopped
QUICK_ROWS = 2000
MANY_VARIABLES, MANY_ROWS = 100, 20_000
TREEHFD_RATIO, BASIS_RATIO = 30.0, 6.0
PRODUCT_SHARE = 0.4  # of the rate of matrix products
PRODUCTION_ROWS, PRODUCTION_RATE = 1_000_000, 1e6  # rows a second on one core
HEADER = ["stage", "contender", "median s", "range", "peak MB", "x ours"]
NOTES = f"""\
one model: fit and components at all rows, for a fitted model. x ours: ratio to the first row of the block.
Other packages run once on one core, after training their own model, and are stopped after {LIMIT:g} s.
GFLOP: theoretical number of operations, see `operations`. The percentage is relative to the rate of matrix products on
one core. These fuse multiplication and addition; ours do not, because bits must not depend on the instruction set. So
50 % is the limit, unless the processor adds in units of their own."""


def one_model(model: Any, X: np.ndarray, y: np.ndarray, *, stage: str, rivals: list[Any]) -> list[Contender]:
    """Return the contenders for one model; ours are first."""
    return [
        ours.spans(model, X, name="ours, 2 threads", stage=stage),
        ours.spans(model, X, name="ours, 1 thread", stage=stage, n_jobs=1),
        ours.spans(model, X, name="ours, faithful", stage=stage, smooth=False),
        *(rival.contender(model, X, y, stage=stage, limit=LIMIT) for rival in rivals),
        *null.contenders([stage]),
    ]


def collection(models: list[Any], X: np.ndarray) -> list[Contender]:
    """Return the contenders for the paper's collection; the tree basis is first."""
    stage = f"{sum(len(model.estimators_) for model in models):,} trees, fit"

    def row(name: str, order: int | None, basis: str) -> Contender:
        return Contender(name, stage, lambda _: ours.explain(models, X, order=order, basis=basis))

    return [
        row('basis="trees", order 2', 2, "trees"),
        row('basis="trees", order None', None, "trees"),
        row('basis="spline", order 2', 2, "spline"),
    ]


def many_variables(n_rows: int) -> list[Contender]:
    """Return the contenders for independent variables; with max_features below 1 there are thousands of terms."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, MANY_VARIABLES))
    y = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + X[:, 10] * X[:, 11] + X[:, 4:10].sum(axis=1) / 2
    y += 0.3 * random.normal(size=n_rows)

    def row(n_trees: int, max_features: float | None) -> Contender:
        trees = GradientBoostingRegressor(n_estimators=n_trees, max_depth=3, max_features=max_features, random_state=0)
        model = fitted(trees, X, y)
        name = f"max_features={max_features}, 1 thread"
        return Contender(name, f"{n_trees} trees, fit", lambda _: ours.explain(model, X, order=2, n_jobs=1))

    return [row(100, None), row(500, 0.3)]


def production(model: Any, X: np.ndarray, n_rows: int) -> list[Contender]:
    """Return the evaluation of saved components, 8 of one variable and 28 of two, at rows drawn with replacement."""
    rows = X[np.random.default_rng(0).integers(0, len(X), n_rows)]

    def saved() -> Any:
        file = io.BytesIO()
        ours.explain(model, X, order=2, n_jobs=1).save(file)
        return fasthdmr.load_decomposition(io.BytesIO(file.getvalue()))

    def row(method: str) -> Contender:
        return Contender(f"{method}, 1 thread", "saved", lambda hdmr: getattr(hdmr, method)(rows), saved)

    return [row("predict"), row("transform")]


def operations(terms: Iterable[Subspace], n_rows: int, degree: int = 3) -> float:
    """Return the theoretical number of floating-point operations for the Gram matrices in a fit of order 2.

    Between knots the splines of a variable are d+1 polynomials, and their products are 2d+1 polynomials. So the Gram
    matrix of the span of a subspace of order k takes sums over rows of (2d+1)^k products. A term of three variables
    also needs those of two pairs: products with at most one factor of a degree above d, except those of two variables.
    Each distinct product is counted once, with a multiplication and an addition. Finer knots of main effects, which
    need more products, are not counted, nor are operations whose number does not depend on the rows.

    Parameters
    ----------
    terms : iterable of tuple of int
        Subspaces of at most three variables.
    n_rows : int
    degree : int
        The degree d of the splines.
    """
    run, polynomials = degree + 1, 2 * degree + 1
    terms = set(terms)
    inside = {v for u in terms for t in (1, 2) for v in combinations(u, t)}
    pairs = sum(polynomials ** len(v) for v in inside)
    triples = sum(run**3 + 3 * run**2 * (polynomials - run) for u in terms if len(u) == 3)
    return float(2 * n_rows * (pairs + triples))


def result_table(measurements: list[Measurement]) -> str:
    """Return a table with times relative to its first row, and the reasons of failures."""
    base, lines = measurements[0].median, []
    for m in measurements:
        cells = [m.contender.stage, m.contender.name]
        if m.failure:
            lines.append([*cells, *[""] * 3, "failed"])
            continue
        spread = f"{min(m.seconds):.3f}-{max(m.seconds):.3f}"
        lines.append([*cells, f"{m.median:.3f}", spread, f"{m.peak / 1e6:.0f}", f"{m.median / base:.2f}"])
    failures = [f"{m.contender.name}: {m.failure}" for m in measurements if m.failure]
    return "\n".join([table(HEADER, lines), *failures])


def by_name(measurements: list[Measurement], name: str) -> float:
    """Return the median time of the contender whose name begins with `name`; NaN if it failed or is missing."""
    return next((m.median for m in measurements if m.contender.name.startswith(name)), float("nan"))


def gram_seconds(model: Any, X: np.ndarray, repeats: int) -> float:
    """Return the median time of the Gram matrices of all terms, on one thread."""
    sums = fasthdmr.TreeHDMR(model, order=2, n_jobs=1).partial_fit(X)._state.sums.sums.fine.sums
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        _core.SpanGram(sums, X, None, "terms", 1)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def work(model: Any, X: np.ndarray, repeats: int) -> Goal:
    """Print the operations for the Gram matrices; return their rate, relative to that of matrix products."""
    (forest,) = ours.load([model])
    count = operations([group.subspace for group in forest.node_groups], len(X))
    seconds = gram_seconds(model, X, repeats)
    _, rate = rates()
    share = count / seconds / rate
    print(
        f"Gram matrices: {count / 1e9:.2f} GFLOP in {seconds:.3f} s, {share:.1%} of {rate / 1e9:.0f} GFLOP/s (one core)"
    )
    return Goal("products / matrix products, rate", share, PRODUCT_SHARE)


def production_goals(measurements: list[Measurement], n_rows: int) -> list[Goal]:
    """Return the goals for rows a second and core."""
    return [
        Goal(f"rows a second and core, {m.contender.name}", n_rows / m.median, PRODUCTION_RATE) for m in measurements
    ]


def goals_of(tables: dict[int, list[Measurement]], bases: list[Measurement]) -> list[Goal]:
    """Return the goals for the times."""
    first, many = tables[100], tables[500]
    ours_first, ours_many = first[0].median, many[0].median
    ratio = by_name(first, "treehfd") / ours_first
    cost = by_name(bases, 'basis="spline"') / bases[0].median
    return [
        Goal("treehfd / ours, 100 trees", ratio, TREEHFD_RATIO),
        Goal("500 trees / 100 trees, ours", ours_many / ours_first, float("nan")),
        at_most("spline / trees, fit", cost, BASIS_RATIO),
    ]


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Measure, print the tables, and return the goals."""
    X, y, _ = california()
    models = {n: boosted(X, y, depths=(3,), n_trees=n)[0] for n in (100, 500)}
    print("spans: California housing, order 2")
    print(machine())
    tables, shares = {}, []
    rows = np.random.default_rng(0).permutation(len(X))[: QUICK_ROWS if quick else len(X)]
    for n, model in models.items():
        # treehfd takes minutes for 500 trees.
        rivals = [treehfd, shap_interactions] if n == 100 else [shap_interactions]
        tables[n] = measure(one_model(model, X[rows], y[rows], stage=f"{n} trees", rivals=rivals), repeats)
        print(f"\nN = {len(rows)}{' (a part of the rows: --quick)' if quick else ''}\n")
        print(result_table(tables[n]))
        shares.append(work(model, X[rows], repeats))
    n_trees = 500 if quick else 5000
    bases = measure(collection(boosted(X, y, n_trees=n_trees), X), repeats)
    print(f"\nN = {len(X)}, depth 1, 2, 3, {n_trees} trees each\n\n{result_table(bases)}\n\n{NOTES}")
    n_rows = QUICK_ROWS if quick else MANY_ROWS
    many = measure(many_variables(n_rows), repeats)
    print(f"\nN = {n_rows}, n = {MANY_VARIABLES}\n\n{result_table(many)}")
    n_rows = PRODUCTION_ROWS // 10 if quick else PRODUCTION_ROWS
    evaluated = measure(production(models[100], X, n_rows), repeats)
    print(f"\nN = {n_rows:,}, saved components\n\n{result_table(evaluated)}")
    goals = [*goals_of(tables, bases), shares[-1], *production_goals(evaluated, n_rows)]
    print(f"\n{goals_table(goals)}")
    return goals
