"""California housing, a random forest of 500 deep trees: its output, ours against engines, one and two threads."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from bench import few_rows
from bench.contenders import null, onnx_engine, ours, sklearn_predict, treelite_engine, ydf_engine
from bench.data import california
from bench.goals import Goal, goals_table
from bench.models import fitted
from bench.report import machine
from bench.runner import Contender, Measurement, measure
from bench.timings import seconds, timing_table, truth_of

RIVALS = True  # tests set it aside
STAGE = "predict"
VISIT = 1 / 3e9  # seconds
NOTES = (
    """\
x ours: relative to the first row. x limit: relative to two loads, of a node and of a value, for every node visited by
a row, at two loads per cycle and 3 GHz, on one thread. error: relative to scikit-learn's predict. YDF and onnxruntime
compute in single precision. lleaves and tl2cgen compile every node to code: not tried with 2 million. The walk of
treelite takes many seconds at 10,000 rows: not tried at few rows.
"""
    + few_rows.NOTES
)


def visits(model: Any, X: np.ndarray) -> int:
    """Return how many inner nodes the rows visit, on all trees."""
    rows = np.ascontiguousarray(X, dtype=np.float32)
    return sum(tree.tree_.decision_path(rows).nnz - len(rows) for tree in model.estimators_)


def contenders(model: Any, X: np.ndarray) -> list[Contender]:
    """Return the rows."""
    makers = [ours.output, sklearn_predict.engine]
    if RIVALS:
        makers += [onnx_engine.contender, treelite_engine.walk, ydf_engine.contender]
    rows = [make(model, X, stage=STAGE, n_jobs=n_jobs) for make in makers for n_jobs in (1, 2)]
    return [*rows, *null.contenders([STAGE])]


def goals_of(measurements: list[Measurement]) -> list[Goal]:
    """Return the goals for the times."""
    asked = {"scikit-learn": 2.0, "onnxruntime": 1.0, "treelite": 1.0}
    base = seconds(measurements, "ours, predict, 2 threads")
    return [
        Goal(f"{name} / ours, 2 threads each", seconds(measurements, f"{name}, 2 threads") / base, ratio)
        for name, ratio in asked.items()
    ]


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Train or load the forest, measure, print."""
    X, y, _ = california()
    n_trees = 50 if quick else 500
    model = fitted(RandomForestRegressor(n_trees, min_samples_leaf=5, random_state=0, n_jobs=2), X, y)
    nodes, visited = sum(tree.tree_.node_count for tree in model.estimators_), visits(model, X)
    print(f"deep: California housing, random forest, {n_trees} trees of unlimited depth, {nodes:,} nodes")
    print(machine() + "\n--quick: the goals are not of so few trees" * quick)
    measurements = measure(contenders(model, X), repeats)
    print(f"\nN = {len(X)}, {visited / len(X) / n_trees:.1f} visits of a row to a tree\n")
    print(timing_table(measurements, lambda m: visited * VISIT, truth_of(measurements, ["scikit-learn, 1 thread"])))
    engines = [onnx_engine.contender, ydf_engine.contender] if RIVALS else []
    blocks = few_rows.measured(model, X, [sklearn_predict.engine, *engines], repeats)
    goals = [*goals_of(measurements), *few_rows.goals_of(blocks, 1 / 1.2)]
    print(f"\n{NOTES}\n\n{goals_table(goals)}")
    return goals
