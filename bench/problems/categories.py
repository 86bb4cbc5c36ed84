"""Categorical variables of 20, 200 and 1,000 levels, with another one or a number: time, memory, and error."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench import tables
from bench.contenders import table_anova as contender
from bench.goals import Goal, at_most, goals_table
from bench.report import machine, table
from bench.runner import Measurement, measure
from bench.tables import Case

N_ROWS, QUICK_ROWS = 20_640, 3_000
LEVELS, QUICK_LEVELS = (20, 200, 1_000), (20,)
LIMIT = 300.0  # seconds for EBM, which runs once
MOST_SECONDS = 1.0  # of ours, 1,000 levels and all rows
# Of ours, of the function: the ridge is not 0, and a spline is not a function of 50 values.
LARGEST_ERROR = {False: 1e-3, True: 2e-2}
RIVALS = True  # tests set it aside
HEADER = ["case", "contender", "runs", "median ms", "range", "peak MB", "x ours", "f_1", "f_2", "f_12"]
NOTES = """\
Text for the levels, whose frequencies go as 1/(10 + k) and depend on the second variable; the number has 50 values.
Given to ours: the data frame, and the function or y; to EBM: the frame and y; to the others: the table, whose cells
hold values of the function and numbers of rows. y has noise of half the deviation of the function. f_1, f_2, f_12: root
mean square difference from the exact component of the function, at the rows, over the deviation of the function. EBM's
prediction is decomposed exactly, so the error is that of its model. One thread."""


def cases(n_rows: int, levels: tuple[int, ...]) -> Iterator[Case]:
    """Yield the cases, of two categorical variables and of one with a number."""
    for is_numeric in (False, True):
        for n_levels in levels:
            yield tables.case(n_levels, n_rows, is_numeric=is_numeric)


def errors(case: Case, m: Measurement) -> np.ndarray:
    """Return the errors of the three components, relative to the deviation of the function."""
    if "components" not in m.summary:
        return np.full(3, np.nan)
    return np.sqrt(np.mean((m.summary["components"] - case.exact) ** 2, axis=0)) / case.f.std()


def line(case: Case, m: Measurement, base: float) -> list[str]:
    """Return a measurement's line of the table."""
    if m.failure:
        return [case.name, m.contender.name, *[""] * 7, "failed"]
    spread = f"{1e3 * min(m.seconds):.1f}-{1e3 * max(m.seconds):.1f}"
    times = [f"{len(m.seconds)}", f"{1e3 * m.median:.1f}", spread, f"{m.peak / 1e6:.1f}", f"{m.median / base:.2f}"]
    return [case.name, m.contender.name, *times, *(f"{error:.1e}" for error in errors(case, m))]


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Measure all cases and print the table and the goals."""
    n_rows = QUICK_ROWS if quick else N_ROWS
    print(f"categories: N = {n_rows}\n{machine()}" + "\n--quick: the goals are not of so few rows" * quick + "\n")
    rows: list[list[str]] = []
    goals: list[Goal] = []
    failures: list[str] = []
    for case in cases(n_rows, QUICK_LEVELS if quick else LEVELS):
        ours = [contender.ours(case, of_data=of_data) for of_data in (False, True)]
        rivals = [contender.purify(case), contender.ebm(case, LIMIT)] if RIVALS else []
        measurements = measure([*ours, contender.exact(case), *rivals], repeats)
        rows += [line(case, m, measurements[0].median) for m in measurements]
        failures += [f"{case.name}, {m.contender.name}: {m.failure}" for m in measurements if m.failure]
        goals += [at_most(f"{case.name}: {m.contender.name}, s", m.median, MOST_SECONDS) for m in measurements[:2]]
        limit = LARGEST_ERROR[case.is_numeric]
        goals.append(at_most(f"{case.name}: error of the function", errors(case, measurements[0]).max(), limit))
    print("\n".join([table(HEADER, rows), *failures]) + f"\n\n{NOTES}\n\n{goals_table(goals)}")
    return goals
