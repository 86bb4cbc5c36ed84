"""The triangle of the paper's 15,000 trees on California housing, and of as many columns of a given condition."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from bench.contenders import ours, triangles
from bench.data import california
from bench.goals import Goal, at_most, goals_table
from bench.models import boosted
from bench.problems.trees import rates
from bench.report import machine, table
from bench.runner import Measurement, measure

CONDITIONS = (1e4, 1e8, 1e10)
LEAST_SPEED, LARGEST_ERROR = 4.0, 64.0
EPS = np.finfo(float).eps
HEADER = ["columns", "contender", "median ms", "range", "peak MB", "x ours", "x limit", "error"]
NOTES = """\
All on one core, for columns in memory. condition: of the columns scaled to unit norm.
limit: the time of the N b^2 operations of X'X, at the measured rate of matrix products;
error: of R times the inverse of the exact R, in the 2-norm, over eps times the condition number."""


def synthetic(n_rows: int, n_columns: int, condition: float) -> np.ndarray:
    """Return pairs of columns that are nearly the same."""
    columns = np.random.default_rng(0).standard_normal((n_rows, n_columns))
    first, second = columns[:, : n_columns // 2], columns[:, n_columns - n_columns // 2 :]
    second[:] = first + 2 / condition * second
    return np.asfortranarray(columns)


def with_ones(columns: np.ndarray) -> np.ndarray:
    """Return (1, B), by columns."""
    return np.asfortranarray(np.column_stack([np.ones(len(columns)), columns]))


def condition_of(design: np.ndarray) -> float:
    """Return the condition of columns scaled to unit norm."""
    return float(np.linalg.cond(np.linalg.qr(design / np.linalg.norm(design, axis=0), mode="r")))


def over(left: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return left times the inverse of an upper triangle, in the precision of R, in place of left."""
    for j in range(len(R)):
        left[:, j] = (left[:, j] - left[:, :j] @ R[:j, j]) / R[j, j]
    return left


def exact_triangle(design: np.ndarray) -> np.ndarray:
    """Return R in higher precision: one in double precision, then one of the columns times its inverse."""
    first = np.linalg.qr(design, mode="r")
    first = (first * np.where(np.diag(first) < 0, -1.0, 1.0)[:, None]).astype(np.longdouble)
    products = np.zeros_like(first)
    for begin in range(0, len(design), 512):
        rows = over(np.asfortranarray(design[begin : begin + 512].astype(np.longdouble)), first)
        products += rows.T @ rows
    second = np.zeros_like(first)
    for k in range(len(first)):
        second[k, k:] = products[k, k:] / np.sqrt(products[k, k])
        products[k + 1 :, k + 1 :] -= np.outer(second[k, k + 1 :], second[k, k + 1 :])
    return second @ first


def error(R: np.ndarray, exact: np.ndarray, condition: float) -> float:
    """Return the error of R that components inherit, over eps times the condition."""
    return float(np.linalg.norm(over(R - exact, exact).astype(float), 2)) / (EPS * condition)


def rows(measurements: list[Measurement], errors: dict[str, float], limit: float) -> list[list[str]]:
    """Return the lines of one set of columns."""
    base, lines = measurements[0].median, []
    for m in measurements:
        cells = [m.contender.stage, m.contender.name]
        if m.failure:
            lines.append([*cells, *[""] * 5, m.failure.partition(":")[0]])
            continue
        spread = f"{1e3 * min(m.seconds):.1f}-{1e3 * max(m.seconds):.1f}"
        times = [f"{1e3 * m.median:.1f}", spread, f"{m.peak / 1e6:.1f}", f"{m.median / base:.2f}"]
        lines.append([*cells, *times, f"{m.median / limit:.1f}", f"{errors[m.contender.name]:.2g}"])
    return lines


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Measure, and print the table and the goals."""
    X, y, _ = california()
    forests = ours.load(boosted(X, y, n_trees=500 if quick else 5000))
    columns = np.asfortranarray(np.hstack(ours.features(forests, X, n_jobs=1)))
    n_rows, n_columns = columns.shape
    operations = rates()[1]
    limit = n_rows * (1 + n_columns) ** 2 / operations
    print("triangle: R of (1, B), California housing, gradient boosting of depth 1, 2, 3")
    print(f"{machine()}\nN = {n_rows}, b = {n_columns}; limit {1e3 * limit:.1f} ms at {operations / 1e9:.0f} GFLOP/s\n")
    lines, goals = [], []
    for condition in (None, *CONDITIONS[: 1 if quick else None]):
        matrix = columns if condition is None else synthetic(n_rows, n_columns, condition)
        design = with_ones(matrix)
        with threadpool_limits(1, user_api="blas"):
            found, exact = condition_of(design), exact_triangle(design)
        name = f"{'trees' if condition is None else 'pairs'}, condition {found:.2g}"
        measurements = measure(triangles.contenders(matrix, design, name), repeats)
        errors = {m.contender.name: error(m.summary["R"], exact, found) for m in measurements if m.summary}
        lines += rows(measurements, errors, limit)
        ratio = measurements[1].median / measurements[0].median
        goals.append(Goal(f"{name}: dgeqrf / ours", ratio, LEAST_SPEED if condition is None else float("nan")))
        goals.append(at_most(f"{name}: error", errors.get("ours", float("nan")), LARGEST_ERROR))
    print("\n".join([table(HEADER, lines), "", NOTES, "", goals_table(goals)]))
    return goals
