"""One group of trees: its lookup tables against a walk through every tree, and the choice of the cost model."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from bench import synthetic
from bench.goals import Goal
from bench.report import machine, table
from fasthdmr import _core

# Variables that the nodes of a tree of depth 2 split on, level by level.
GROUPS = {1: (0, 0, 0), 2: (0, 1, 1), 3: (0, 1, 2)}
THRESHOLDS = (50, 1000)
HEADER = ["variables", "thresholds", "trees", "walk ns", "chosen ns", "chosen / walk", "choice", "table kB"]
NOTES = """\
ns: per row, on one thread. walk: without memory for tables. chosen: the choice of the cost model (column_layout.cpp).
The model is right if chosen / walk is about 1, up to noise, in the first lines with tables: with fewer rows tables
would be slower, with more they are faster. In lines with 'walk', both columns are the same code."""


def _seconds(runs: list[Callable[[], Any]], repeats: int) -> list[float]:
    """Return the median times of several functions, which run in turn."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(repeats + 1):
        for of_run, run in zip(times, runs, strict=True):
            start = time.perf_counter()
            run()
            of_run.append(time.perf_counter() - start)
    return [statistics.median(of_run[1:]) for of_run in times]


def measured(n_trees: list[int], n_rows: int, repeats: int) -> Iterator[list[str]]:
    """Yield the lines of the table."""
    for (n_variables, variables), n_thresholds, n in product(GROUPS.items(), THRESHOLDS, n_trees):
        X = synthetic.rows(n_rows, n_variables)
        core = synthetic.complete(np.tile(variables, (n, 1)), n_variables, n_thresholds).forest().core
        walk, chosen = _core.TreeFeatures(core, 1, 0), _core.TreeFeatures(core, 1)
        times = _seconds([partial(evaluator.evaluate, X, 1) for evaluator in (walk, chosen)], repeats)
        counts = [str(count) for count in (n_variables, n_thresholds, n)]
        nanoseconds = [f"{1e9 * seconds / n_rows:.2f}" for seconds in times]
        choice = "tables" if chosen.table_bytes else "walk"
        yield [*counts, *nanoseconds, f"{times[1] / times[0]:.2f}", choice, f"{chosen.table_bytes / 1e3:.1f}"]


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Measure, print; no goal is set."""
    n_trees = [3, 30] if quick else [1, 3, 6, 8, 10, 15, 20, 30, 100, 1000]
    n_rows = 2_000 if quick else 20_000
    print("tables: groups of trees of depth 2")
    print(machine())
    print(f"\nN = {n_rows}\n\n{table(HEADER, list(measured(n_trees, n_rows, repeats)))}\n\n{NOTES}")
    return []
