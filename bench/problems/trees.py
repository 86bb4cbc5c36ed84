"""California housing and the paper's three ensembles: the whole fit (`basis="trees"`), and its features."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bench.contenders import null, numpy_reference, ours, sklearn_predict
from bench.data import california, with_jitter
from bench.goals import Goal
from bench.models import boosted
from bench.report import machine, relative_error, table
from bench.runner import Arrays, Contender, Measurement, measure

ALPHA = 1e-6
# Features differ by the order of a sum; the rest by eps times the condition of B.
TOLERANCES = {"features": 1e-11, "indices": 1e-8, "components": 1e-8}
NOTES = """\
peak: resident memory above the size before the run. limit: the theoretical time, on one core, of
writing B (features) or of the 2 N b^2 operations of the R factor (fit), at the rates measured above.
error: the largest absolute difference from the reference over its scale, of all compared quantities.
The reference's BLAS is limited to one core. Every contender runs in a forked process, all in turn."""


def contenders(models: list[Any], X: np.ndarray, y: np.ndarray) -> list[Contender]:
    """Return the rows of the table."""
    rows = [
        *ours.contenders(models, X, y, ALPHA),
        *numpy_reference.contenders(models, X, y, ALPHA),
        *sklearn_predict.contenders(models, X),
        *null.contenders(["fit sum", "features"]),
    ]
    stages = list(dict.fromkeys(row.stage for row in rows))
    return sorted(rows, key=lambda row: stages.index(row.stage))


def errors(measurement: Measurement, truth: Arrays) -> dict[str, float]:
    """Return the errors of all quantities that the reference computes."""
    shared = [name for name in measurement.summary if name in truth]
    return {name: relative_error(measurement.summary[name], truth[name]) for name in shared}


def is_wrong(name: str, error: float) -> bool:
    """Return whether an error is above its tolerance."""
    return not error <= TOLERANCES[name.split()[-1]]


def _best_time(function: Callable[[], Any]) -> float:
    """Return the least of five times."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def rates() -> tuple[float, float]:
    """Measure one core: bytes a second written to memory, floating point operations a second of a product."""
    target = np.zeros(8_000_000)
    square = np.ones((1000, 1000))
    with threadpool_limits(1):
        return target.nbytes / _best_time(lambda: target.fill(1.0)), 2e9 / _best_time(lambda: square @ square)


def row(measurement: Measurement, base: float, limit: float, truth: Arrays) -> list[str]:
    """Return a measurement's line of the table."""
    contender = measurement.contender
    if measurement.failure:
        return [contender.stage, contender.name, *[""] * 5, "failed"]
    found = errors(measurement, truth) if measurement.summary is not truth else {}
    worst = max(found, key=lambda name: found[name] / TOLERANCES[name.split()[-1]], default=None)
    error = "" if worst is None else f"{found[worst]:.0e} {worst.split()[-1]}"
    if worst is not None and is_wrong(worst, found[worst]):
        error += " WRONG"
    return [
        contender.stage,
        contender.name,
        f"{1e3 * measurement.median:.2f}",
        f"{1e3 * min(measurement.seconds):.2f}-{1e3 * max(measurement.seconds):.2f}",
        f"{measurement.peak / 1e6:.1f}",
        f"{measurement.median / base:.2f}" if base > 0 else "",
        f"{measurement.median / limit:.1f}" if limit > 0 else "",
        error,
    ]


def growth(models: list[Any], X: np.ndarray) -> str:
    """Return the peak memory of a fit at N and at 10 N rows, in words."""
    tiled = with_jitter(X, 10, 1e-6)

    def fitting(rows: np.ndarray) -> Contender:
        return Contender(f"N = {len(rows)}", "memory", run=lambda _: ours.fit(models, rows, combine="sum"))

    found = measure([fitting(X), fitting(tiled)], repeats=0)
    return "peak memory of fit: " + ", ".join(
        f"{m.failure or f'{m.peak / 1e6:.1f} MB'} at {m.contender.name}" for m in found
    )


def result_table(measurements: list[Measurement], shape: tuple[int, int]) -> str:
    """Return the table: every row compared with ours of its stage, the theoretical limit and the reference."""
    n_rows, n_columns = shape
    written, operations = rates()
    limits = {"features": 8 * n_rows * n_columns / written, "fit": 2 * n_rows * n_columns**2 / operations}
    truth = next((m.summary for m in measurements if m.contender.name == "NumPy reference" and m.summary), {})
    rows = []
    for measurement in measurements:
        stage = measurement.contender.stage
        base = next(m.median for m in measurements if m.contender.stage == stage)
        rows.append(row(measurement, base, limits[stage.split()[0]], truth))
    header = ["stage", "contender", "median ms", "range", "peak MB", "x ours", "x limit", "error"]
    rate = f"one core writes {written / 1e9:.1f} GB/s and multiplies at {operations / 1e9:.0f} GFLOP/s: "
    rate += f"limits {1e3 * limits['features']:.1f} ms (features), {1e3 * limits['fit']:.1f} ms (fit)"
    failures = [f"{m.contender.stage}, {m.contender.name}: {m.failure}" for m in measurements if m.failure]
    text = f"N = {n_rows}, b = {n_columns} columns; {rate}\n\n{table(header, rows)}\n\n"
    return text + "\n".join([*failures, NOTES])


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Train or load the models, measure, print; no goal is set."""
    X, y, _ = california()
    n_trees = 500 if quick else 5000
    models = boosted(X, y, n_trees=n_trees)
    print(f"trees: California housing, gradient boosting of depth 1, 2, 3, {n_trees} trees each")
    print(machine())
    measurements = measure(contenders(models, X, y), repeats)
    n_columns = next((m.summary["features"].shape[1] for m in measurements if "features" in m.summary), 0)
    print(result_table(measurements, (len(X), n_columns)))
    print(growth(models, X))
    return []
