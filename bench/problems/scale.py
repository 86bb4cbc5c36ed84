"""Rows streamed from parquet files: rows a second, peak memory, and how long a hundred million rows would take."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor

import fasthdmr
from bench.data import california
from bench.goals import Goal, at_most, goals_table
from bench.models import fitted
from bench.report import machine, relative_error, table
from bench.runner import Contender, Measurement, measure, quietly

SIZES = (1_000_000, 10_000_000)
PIECE = 100_000  # rows of a row group, and of a batch
ALL = 100_000_000
KINDS: dict[str, dict[str, Any]] = {
    "splines": {},
    'basis="trees"': {"basis": "trees"},
    "product measure": {"measure": "product"},
}
LIMITS = {"splines": 600.0, 'basis="trees"': 120.0}  # seconds for ALL rows on two cores
HEADER = ["rows", "contender", "seconds", "rows a second", "peak MB", "x reading", "1e8 rows, s", "error"]
NOTES = """\
Rows of 8 variables: California housing, repeated with jitter. The model is fitted before. All contenders run once, each
in its own process, with two threads. reading: all batches are read, and nothing else is done. peak MB: resident memory
above that before the run. 1e8 rows: from the time between the two sizes. error: largest absolute difference of the
components from those of one pass in memory with the same knots, over their scale."""


def write_rows(path: Path, X: np.ndarray, n_rows: int) -> Path:
    """Write rows of X with jitter to a parquet file, one row group at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    names, random = [f"x{j}" for j in range(X.shape[1])], np.random.default_rng(0)
    with parquet.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names]), compression="none") as file:
        for first in range(0, n_rows, PIECE):
            rows = X[random.integers(0, len(X), min(PIECE, n_rows - first))]
            rows = rows + 1e-3 * random.normal(size=rows.shape)
            file.write_table(pa.table(dict(zip(names, rows.T, strict=True))))
    return path


def streamed(name: str, stage: str, path: Path, model: Any, X: np.ndarray, options: dict[str, Any]) -> Contender:
    """Return a contender that fits on the batches of a file, with knots of X."""

    def run(_: None) -> Any:
        hdmr = fasthdmr.TreeHDMR(model, knots=X, n_jobs=2, **options)
        return quietly(hdmr.fit)(fasthdmr.batches(path, batch_rows=PIECE))

    return Contender(name, stage, run, summary=lambda hdmr: {"components": hdmr.evaluate(X)}, limit=3600.0)


def in_memory(name: str, stage: str, path: Path, model: Any, X: np.ndarray, options: dict[str, Any]) -> Contender:
    """Return a contender that reads the whole file, and fits on its rows in one pass."""

    def run(_: None) -> Any:
        rows = np.concatenate([np.asarray(batch.X) for batch in fasthdmr.batches(path, batch_rows=PIECE)])
        return quietly(fasthdmr.TreeHDMR(model, knots=X, n_jobs=2, **options).fit)(rows)

    return Contender(name, stage, run, summary=lambda hdmr: {"components": hdmr.evaluate(X)}, limit=3600.0)


def reading(stage: str, path: Path) -> Contender:
    """Return a contender that reads the batches only."""

    def run(_: None) -> int:
        return sum(len(batch) for batch in fasthdmr.batches(path, batch_rows=PIECE))

    return Contender("reading", stage, run, limit=3600.0)


def contenders(paths: dict[int, Path], model: Any, X: np.ndarray) -> list[Contender]:
    """Return all contenders. The sizes are their stages."""
    rows = []
    for n_rows, path in paths.items():
        stage = f"{n_rows:.0e}"
        rows.append(reading(stage, path))
        for kind, options in KINDS.items():
            rows.append(streamed(kind, stage, path, model, X, options))
            if n_rows == min(paths):
                rows.append(in_memory(f"{kind}, in memory", stage, path, model, X, options))
    return rows


def scale_table(measurements: list[Measurement], sizes: list[int]) -> str:
    """Return the table of all contenders."""
    found = {(m.contender.stage, m.contender.name): m for m in measurements}
    rows, failures = [], []
    for m in measurements:
        stage, name = m.contender.stage, m.contender.name
        n_rows = int(float(stage))
        if m.failure:
            failures.append(f"{name}: {m.failure}")
            continue
        other = found.get((stage, f"{name}, in memory"))
        error = ""
        if other is not None and not other.failure:
            error = f"{relative_error(m.summary['components'], other.summary['components']):.0e}"
        rows.append(
            [
                stage,
                name,
                f"{m.median:.2f}",
                f"{n_rows / m.median:,.0f}",
                f"{m.peak / 1e6:.0f}",
                f"{m.median / found[stage, 'reading'].median:.3g}",
                f"{extrapolated(found, name, sizes):.0f}" if n_rows == max(sizes) else "",
                error,
            ]
        )
    return "\n".join([table(HEADER, rows), *failures])


def extrapolated(found: dict[tuple[str, str], Measurement], name: str, sizes: list[int]) -> float:
    """Return the seconds for ALL rows, from those between the smallest and the largest size."""
    low, high = (found[f"{n:.0e}", name].median for n in (min(sizes), max(sizes)))
    return high + (ALL - max(sizes)) * (high - low) / (max(sizes) - min(sizes))


def goals_of(measurements: list[Measurement], sizes: list[int]) -> list[Goal]:
    """Return the goals of time and memory."""
    found = {(m.contender.stage, m.contender.name): m for m in measurements}
    goals = []
    for kind in KINDS:
        low, high = (found[f"{n:.0e}", kind].peak for n in (min(sizes), max(sizes)))
        goals.append(at_most(f"{kind}: peak of {max(sizes):.0e} rows, MB", high / 1e6, 1000.0))
        goals.append(at_most(f"{kind}: peak of {max(sizes):.0e} rows / of {min(sizes):.0e}", high / low, 1.25))
        if kind in LIMITS:
            goals.append(at_most(f"{kind}: {ALL:.0e} rows, s", extrapolated(found, kind, sizes), LIMITS[kind]))
    return goals


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Write the files, measure, print. Contenders run once, whatever `repeats` is."""
    X, y, _ = california()
    n_trees, sizes = (50, [100_000, 400_000]) if quick else (500, list(SIZES))
    model = fitted(GradientBoostingRegressor(n_estimators=n_trees, max_depth=3, random_state=0), X, y)
    print(f"scale: gradient boosting, {n_trees} trees of depth 3, order 2, rows streamed from parquet")
    print(machine() + "\n--quick: the goals are not of so few trees and rows" * quick)
    with TemporaryDirectory() as directory:
        paths = {n: write_rows(Path(directory) / f"{n}.parquet", X, n) for n in sizes}
        measurements = measure(contenders(paths, model, X), 0)
    print(f"\n{scale_table(measurements, sizes)}\n\n{NOTES}")
    goals = [] if quick else goals_of(measurements, sizes)
    if goals:
        print(f"\n{goals_table(goals)}")
    return goals
