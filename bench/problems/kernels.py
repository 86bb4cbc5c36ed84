"""A polynomial SVR of 2,000 support vectors on 10 variables: its whole decomposition beside its own prediction."""

from __future__ import annotations

import time

import numpy as np
from sklearn.svm import SVR

from bench.contenders import kernel_machines as contender
from bench.goals import Goal, at_most, goals_table
from bench.models import fitted
from bench.report import machine, table
from bench.runner import measure
from bench.timings import accuracy, seconds, truth_of
from fasthdmr import KernelHDMR

N_FEATURES, DEGREE = 10, 3
HEADER = ["contender", "", "runs", "median ms", "range", "peak MB", "x ours", "error"]
NOTES = """\
whole: columns at all rows, their triangle, the machine's coefficients, the components with their indices, and the
values of all components at all rows. One thread each. error: of the sum of components, over the largest output."""


def sample(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return correlated Gaussian rows and a noisy polynomial of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_FEATURES)) + 0.7 * rng.normal(size=(n_rows, 1))
    y = X[:, 0] + X[:, 1] * X[:, 2] - X[:, 3] * X[:, 4] * X[:, 5] + X[:, 6] ** 2
    return X, y + rng.normal(size=n_rows)


def refusal() -> float:
    """Return the seconds until the error for a machine with 2.9e9 columns."""
    X = np.random.default_rng(0).normal(size=(50, 200))
    model = SVR(kernel="poly", degree=5).fit(X, X[:, 0])
    start = time.perf_counter()
    try:
        KernelHDMR(model).fit(X)
    except ValueError:
        return time.perf_counter() - start
    raise AssertionError("2.9e9 columns were not refused")


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Train or load the machine, measure, print."""
    n_vectors, n_rows = (200, 2_000) if quick else (2_000, 20_000)
    # Without a margin, every row is a support vector.
    model = fitted(SVR(kernel="poly", degree=DEGREE, coef0=1.0, epsilon=0.0, C=0.1), *sample(n_vectors, 0))
    X, _ = sample(n_rows, 1)
    hdmr = KernelHDMR(model).fit(X)
    print(
        f"kernels: SVR, {len(model.support_)} support vectors, {N_FEATURES} variables, degree {DEGREE}: "
        f"{1 + len(hdmr.coef_)} columns, {len(hdmr.subspaces_)} components, N = {n_rows}"
    )
    print(machine() + "\n--quick: the goal is not of so few rows" * quick + "\n")
    measurements = measure([*contender.ours(model, X), contender.predict(model, X)], repeats)
    truth = truth_of(measurements, ["SVR.predict"])
    base = measurements[0].median
    rows = []
    for m in measurements:
        spread = f"{1e3 * min(m.seconds):.1f}-{1e3 * max(m.seconds):.1f}"
        times = [f"{len(m.seconds)}", f"{1e3 * m.median:.1f}", spread, f"{m.peak / 1e6:.1f}", f"{m.median / base:.2f}"]
        rows.append([m.contender.name, "", *times, accuracy(m, truth)])
    print(f"{table(HEADER, rows)}\n\n{NOTES}\n")
    ratio = seconds(measurements, "ours, whole") / seconds(measurements, "SVR.predict")
    milliseconds = 1e3 * min(refusal() for _ in range(repeats))
    goals = [at_most("ours, whole / SVR.predict", ratio, 1.0), at_most("n = 200, d = 5 refused, ms", milliseconds, 1.0)]
    print(goals_table(goals))
    return goals
