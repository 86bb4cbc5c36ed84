"""The output at few rows: one row, or four, in each of many calls, and 100 and 10,000 rows in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bench.contenders import ours
from bench.goals import Goal, at_most
from bench.runner import Arrays, Contender, Measurement, measure
from bench.timings import seconds, timing_table, truth_of

Make = Callable[..., Contender]
CALLS = 100
SIZES = (100, 10_000)
ONE, SAME, SAME_FOUR = (f"{CALLS} calls of {what}" for what in ("one row", "the same row", "the same 4 rows"))
OURS = "ours, predict, 1 thread"
SKLEARN = "scikit-learn, 1 thread"
MOST = 20e-6  # seconds of one call of one row
NOTES = f"""\
{ONE}: of {CALLS} different rows. Of the same rows a processor learns the branches, and they stay in its caches."""


def one_by_one(make: Make, model: Any, X: np.ndarray) -> Contender:
    """Return a contender that predicts rows one after the other, with a call for each."""
    return _calls([make(model, X[i : i + 1], stage=ONE) for i in range(len(X))])


def repeated(make: Make, model: Any, X: np.ndarray, stage: str) -> Contender:
    """Return a contender that predicts the same rows in each of many calls."""
    return _calls([make(model, X, stage=stage)] * CALLS)


def _calls(calls: Sequence[Contender]) -> Contender:
    """Return a contender that runs others one after the other, with what the first prepares."""

    def run(prepared: Any) -> list[Any]:
        return [call.run(prepared) for call in calls]

    def summary(outputs: list[Any]) -> Arrays:
        return {"output": np.concatenate([np.ravel(output) for output in outputs])}

    return Contender(calls[0].name, calls[0].stage, run, calls[0].prepare, summary)


def measured(model: Any, X: np.ndarray, makers: Sequence[Make], repeats: int) -> list[list[Measurement]]:
    """Measure ours and the makers' engines for each number of rows, and print the tables."""

    def ours_alone(model: Any, X: np.ndarray, *, stage: str) -> Contender:
        return ours.output(model, X, stage=stage, n_jobs=1)

    every = [ours_alone, *makers]
    stages = [[one_by_one(make, model, X[:: max(1, len(X) // CALLS)][:CALLS]) for make in every]]
    stages += [[repeated(make, model, X[:n], stage) for make in every] for n, stage in ((1, SAME), (4, SAME_FOUR))]
    stages += [[make(model, X[:n], stage=f"{n} rows") for make in every] for n in SIZES]
    blocks = [measure(contenders, repeats) for contenders in stages]
    for block in blocks:
        print(f"\n{timing_table(block, lambda m: 0.0, truth_of(block, [SKLEARN]))}")
    return blocks


def goals_of(blocks: Sequence[Sequence[Measurement]], asked: float) -> list[Goal]:
    """Return the goals relative to the fastest engine of each block."""
    goals = []
    for block in blocks:
        times = {m.contender.name: m.median for m in block if m.contender.name != OURS and m.seconds}
        engine, time = min(times.items(), key=lambda item: item[1], default=("none", float("nan")))
        goals.append(Goal(f"{engine} / {OURS}, {block[0].contender.stage}", time / seconds(block, OURS), asked))
    return goals


def goal_of_a_call(block: Sequence[Measurement]) -> Goal:
    """Return the goal for the time of a call of one row."""
    return at_most(f"{OURS}: microseconds of a call of one row", 1e6 * seconds(block, OURS) / CALLS, 1e6 * MOST)
