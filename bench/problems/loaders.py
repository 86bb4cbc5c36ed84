"""Gradient boosting of every library, 5,000 trees of depth 3: reading the fitted model, prediction, decomposition."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from bench.contenders.boosters import LIBRARIES, PART, Booster, engines, readers, rows_of, treelite_engine
from bench.data import california
from bench.goals import Goal, at_most, goals_table
from bench.models import fitted
from bench.report import machine
from bench.runner import Arrays, Contender, Measurement, measure, quietly
from bench.timings import seconds, timing_table, truth_of

FITTED_ROWS = 3000  # rows for training; boosting on all rows takes minutes, and its trees have similar shapes
MARGIN = 0.010  # goal: seconds for reading in addition to the library's own export
OF_CLASSIC = 1.3  # goal: largest ratio to the decomposition of as many trees of scikit-learn's GradientBoosting
CLASSIC = "GradientBoosting"
KINDS = ("numbers", "missing", "categories")
RIVALS = True  # whether other packages are measured; tests set it to False
BUDGET = 2.0  # seconds of timed runs of a contender: there are about a hundred, and slow ones are far from the goals
NOTES = f"""\
read: load_forest, compared with the library's own export of the model (scikit-learn has none: its nodes are read in
place). Both run after a load_forest: CatBoost gives memory back that it has not used for 10 ms, so an export right
after another one takes less time. predict: one thread each. error: difference from the library's own prediction;
xgboost and treelite sum in single precision. missing: a random tenth of the values. categories: the codes of two
columns of 12 and 40 levels. A contender that cannot read a model, or predict with it, fails. One whose timed runs have
taken {BUDGET:g} s has no more of them. treelite predicts 1/{PART} of the rows, once; its goal compares times per row.
TreeHDMR: a fit on all rows, one thread."""


def _prediction(name: str, values: Any, *, part: bool = False) -> Arrays:
    """Return the outputs at all rows and at every PART-th, or only the latter."""
    outputs = np.ravel(values).astype(np.float32 if name == "xgboost" else np.float64)
    if part:
        return {f"{name} output, a part": outputs}
    return {f"{name} output": outputs, f"{name} output, a part": outputs[::PART]}


def _one_thread() -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _load(model: Any) -> Any:
    from fasthdmr import load_forest

    return load_forest(model)


def _laid_out(model: Any, X: np.ndarray) -> Any:
    forest = _load(model)
    forest.predict(X[:2], n_jobs=1)
    return forest


def contenders(name: str, booster: Booster, model: Any, X: np.ndarray) -> list[Contender]:
    """Return the contenders for one library; in both stages ours are first."""
    output = partial(_prediction, name)
    read = Contender(f"ours of {name}", "read", lambda _: _load(model))
    prepare = partial(_laid_out, model, X)
    own = Contender(f"{name}, predict", "predict", quietly(lambda _: model.predict(X)), _one_thread, output)
    others = readers(name, booster, model)
    return [
        read,
        *(replace(row, before=read.run) for row in others if row.name.startswith("export")),
        *(row for row in others if RIVALS and not row.name.startswith("export")),
        Contender(f"ours of {name}, predict", "predict", lambda f: f.predict(X, n_jobs=1), prepare, output),
        own,
        *(engines(name, booster, model, X, output) if RIVALS else []),
    ]


def decomposition(name: str, model: Any, X: np.ndarray) -> Contender:
    """Return the contender that fits TreeHDMR."""

    def fit(_: Any) -> Any:
        from fasthdmr import TreeHDMR

        return TreeHDMR(model, n_jobs=1).fit(X)

    return Contender(f"TreeHDMR of {name}", "decompose", quietly(fit), _one_thread)


def goals(name: str, kind: str, measurements: list[Measurement]) -> Iterator[Goal]:
    """Yield the goals for the times of one library."""
    read = seconds(measurements, f"ours of {name}")
    of_reading = [m for m in measurements if m.contender.stage == "read"]
    for rival in (f"treelite of {name}", f"json.loads of {name}"):
        if not np.isnan(time := seconds(of_reading, rival)):
            yield Goal(f"{kind}: reading by {rival} / ours", time / read, 1.0)
    ours = seconds(measurements, f"ours of {name}, predict")
    for rival, part in ((f"{name}, predict", 1), (treelite_engine(name), PART), (f"lleaves of {name}", 1)):
        if not np.isnan(time := seconds(measurements, rival)):
            yield Goal(f"{kind}: {rival} / ours" + ", per row" * (part > 1), part * time / ours, 1.0)
    export = seconds(measurements, f"export of {name}")
    if not np.isnan(export):
        yield at_most(f"{kind}: {name}, ms beyond the export", 1e3 * (read - export), 1e3 * MARGIN)


def _of_library(name: str, n_trees: int, X: np.ndarray, y: np.ndarray, repeats: int) -> Iterator[Goal]:
    """Measure one library on all kinds of rows and print the tables; yield the goals."""
    for kind in KINDS:
        booster = LIBRARIES[name](n_trees, kind == "categories")
        if booster is None or (name == CLASSIC and kind == "missing"):
            continue
        rows = rows_of(X, kind)
        model = quietly(fitted)(booster.model, rows[:FITTED_ROWS], y[:FITTED_ROWS])
        measurements = measure(contenders(name, booster, model, rows), repeats, BUDGET)
        for stage in ("read", "predict"):
            of_stage = [m for m in measurements if m.contender.stage == stage]
            print(f"\n{kind}\n" + timing_table(of_stage, lambda m: 0.0, truth_of(of_stage, [f"{name}, predict"])))
        yield from goals(name, kind, measurements)


def _decompositions(models: dict[str, Any], X: np.ndarray, repeats: int) -> Iterator[Goal]:
    """Measure the decompositions of the models of all libraries and print the table; yield the goals."""
    rows = [decomposition(name, model, X) for name, model in models.items()]
    measurements = measure(rows[::-1], repeats)  # reversed, so that scikit-learn's is first
    print("\n" + timing_table(measurements, lambda m: 0.0, {}))
    classic = seconds(measurements, f"TreeHDMR of {CLASSIC}")
    for name in models:
        if name != CLASSIC:
            ratio = seconds(measurements, f"TreeHDMR of {name}") / classic
            yield at_most(f"TreeHDMR of {name} / of {CLASSIC}", ratio, OF_CLASSIC)


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Train or load a model of every installed library, measure, and print the tables and the goals."""
    # A process that is forked after OpenMP has started threads waits for them for ever: one thread starts no others.
    with patch.dict(os.environ, OMP_NUM_THREADS="1"):
        return _of_all(quick=quick, repeats=repeats)


def _of_all(*, quick: bool, repeats: int) -> list[Goal]:
    X, y, _ = california()
    n_trees = 200 if quick else 5000
    print(f"loaders: California housing, N = {len(X)}, {n_trees} trees of depth 3")
    print(machine() + "\n--quick: the goals do not apply to so few trees" * quick)
    found: list[Goal] = []
    models = {}
    for name, make in LIBRARIES.items():
        try:
            booster = make(n_trees, False)
        except ImportError as error:
            print(f"\n{name} is not installed: {error}")
            continue
        found += _of_library(name, n_trees, X, y, repeats)
        assert booster is not None
        models[name] = quietly(fitted)(booster.model, X[:FITTED_ROWS], y[:FITTED_ROWS])
    found += _decompositions(models, X, repeats)
    print(f"\n{NOTES}\n\n{goals_table(found)}")
    return found
