"""California housing, 500 trees of depth 3: partial dependence on all single variables and all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor

from bench.contenders import partial_dependences as contender
from bench.data import california
from bench.goals import Goal, goals_table
from bench.models import fitted
from bench.report import machine, table
from bench.runner import Contender, Measurement, measure
from bench.timings import accuracy, seconds, truth_of

RIVALS = True  # tests set it aside
RESOLUTIONS = (100, 50)
LIMIT = 900.0  # seconds; longer contenders run once
BRUTE = "scikit-learn, brute"
HEADER = ["contender", "", "points", "runs", "median ms", "peak MB", "all points, s", "x ours", "error"]
NOTES = """\
Curves of {0} points, surfaces of {1} x {1}, between percentiles 5 and 95. all points: the time times points of all
over points computed. 'brute' computes two points of every grid, with all rows; each point takes one prediction of all
rows, so the others take as long. x ours: relative to the first row. error: largest absolute difference from 'brute'
over the scale, at its points. 'recursion' averages over paths of the trees, not over rows: another quantity, not
compared. Woodelf compares in float64, while the trees round to float32 first. The other packages run once; ours read
the model in every run."""


def contenders(model: Any, X: np.ndarray) -> list[Contender]:
    rivals = [contender.recursion, contender.woodelf] if RIVALS else []
    return [
        *(contender.ours(model, X, RESOLUTIONS, n_jobs=n_jobs) for n_jobs in (1, 2)),
        *(make(model, X, RESOLUTIONS, limit=LIMIT) for make in [contender.brute, *rivals]),
    ]


def points(X: np.ndarray, name: str) -> tuple[int, int]:
    """Return how many points a contender computes, and how many there are."""
    singles, pairs = contender.singles_and_pairs(X)
    everything = len(singles) * RESOLUTIONS[0] + len(pairs) * RESOLUTIONS[1] ** 2
    return 2 * (len(singles) + len(pairs)) if name == BRUTE else everything, everything


def for_all(m: Measurement, X: np.ndarray) -> float:
    """Return the seconds that all points take."""
    computed, everything = points(X, m.contender.name)
    return m.median * everything / computed


def pdp_table(measurements: list[Measurement], X: np.ndarray) -> str:
    truth = truth_of(measurements, [BRUTE])
    base = for_all(measurements[0], X)
    rows, failures = [], []
    for m in measurements:
        name = m.contender.name
        if m.failure:
            rows.append([name, *[""] * 7, "failed"])
            failures.append(f"{name}: {m.failure}")
            continue
        numbers = [f"{points(X, name)[0]}", f"{len(m.seconds)}", f"{1e3 * m.median:.1f}", f"{m.peak / 1e6:.1f}"]
        rows.append([name, "", *numbers, f"{for_all(m, X):.3g}", f"{for_all(m, X) / base:.3g}", accuracy(m, truth)])
    return "\n".join([table(HEADER, rows), *failures])


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Train or load the model, measure, print."""
    X, y, _ = california()
    n_trees = 50 if quick else 500
    model = fitted(GradientBoostingRegressor(n_estimators=n_trees, max_depth=3, random_state=0), X, y)
    print(f"pdp: California housing, gradient boosting, {n_trees} trees of depth 3, all variables and all pairs")
    print(machine() + "\n--quick: the goals are not of so few trees" * quick)
    measurements = measure(contenders(model, X), repeats)
    print(f"\nN = {len(X)}\n\n{pdp_table(measurements, X)}\n\n{NOTES.format(*RESOLUTIONS)}\n")
    brute = next(for_all(m, X) for m in measurements if m.contender.name == BRUTE)
    one, two = (seconds(measurements, f"ours, {words}") for words in ("1 thread", "2 threads"))
    goals = [Goal(f"{BRUTE} / ours, 1 thread", brute / one, 100.0)]
    print(goals_table(goals))
    print(f"ours, 1 thread / 2 threads: {one / two:.2f}")
    return goals
