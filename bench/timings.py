"""One table of times for engines: each compared with ours, with the theoretical limit, and with the exact result."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bench.report import relative_error, table
from bench.runner import Arrays, Measurement

HEADER = ["stage", "contender", "runs", "median ms", "range", "peak MB", "x ours", "x limit", "error"]
# Sums of thousands of trees: in double precision they differ by their order, in single precision by its rounding.
TOLERANCES = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 2e-5}


def is_wrong(found: np.ndarray, error: float) -> bool:
    """Return whether an error exceeds the rounding of the result's type."""
    return not error <= TOLERANCES[found.dtype]


def accuracy(measurement: Measurement, truth: Arrays) -> str:
    """Return the largest error relative to the exact result, in words."""
    found = {name: value for name, value in measurement.summary.items() if name in truth}
    errors = {name: relative_error(value, truth[name]) for name, value in found.items()}
    if not errors:
        return ""
    worst = max(errors, key=lambda name: errors[name])
    return f"{errors[worst]:.0e}" + (" WRONG" if is_wrong(found[worst], errors[worst]) else "")


def timing_row(m: Measurement, base: float, limit: float, truth: Arrays) -> list[str]:
    """Return a measurement's line."""
    cells = [m.contender.stage, m.contender.name]
    if m.failure:
        return [*cells, *[""] * 6, "failed"]
    spread = f"{1e3 * min(m.seconds):.2f}-{1e3 * max(m.seconds):.2f}"
    ratios = [f"{m.median / base:.2f}" if base > 0 else "", f"{m.median / limit:.1f}" if limit > 0 else ""]
    times = [str(len(m.seconds)), f"{1e3 * m.median:.2f}", spread, f"{m.peak / 1e6:.1f}"]
    return [*cells, *times, *ratios, accuracy(m, truth)]


def timing_table(measurements: Sequence[Measurement], limit: Callable[[Measurement], float], truth: Arrays) -> str:
    """Return the table of one stage, set against its first row, and why contenders failed."""
    rows = [timing_row(m, measurements[0].median, limit(m), truth) for m in measurements]
    failures = [f"{m.contender.stage}, {m.contender.name}: {m.failure}" for m in measurements if m.failure]
    return "\n".join([table(HEADER, rows), *failures])


def seconds(measurements: Sequence[Measurement], name: str) -> float:
    """Return the median of a contender; NaN if it failed or is missing."""
    return next((m.median for m in measurements if m.contender.name == name), float("nan"))


def truth_of(measurements: Sequence[Measurement], names: Sequence[str]) -> Arrays:
    """Return the summaries of the contenders that are references, together."""
    return {key: value for m in measurements if m.contender.name in names for key, value in m.summary.items()}
