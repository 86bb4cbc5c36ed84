"""Whether 95 % intervals of indices and curves hold the value of all rows there are, by simulation."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge

from bench import exact
from bench.goals import Goal, at_most
from bench.report import machine, table
from fasthdmr import HDMR, KernelHDMR, TreeHDMR
from fasthdmr._uncertainty.uncertainty import NORMAL_95

N_ROWS = 2_000
MANY_ROWS = 200_000
N_WHOLE = 5  # samples of that many rows: of one, chance is a tenth of that of 2,000 rows
LEVELS = (0.1, 0.5, 0.9)  # quantiles of x1 at which its component is evaluated
RATIOS, IN_RATIOS = (0.7, 1.6), 0.9
COVERAGE, LEAST_COVERAGE = (0.90, 0.98), 0.82
LARGE = 0.02
KINDS = ("Sa", "Sb", "S", "ST", "R")
HEADER = ["problem", "", "all rows", "mean", "se", "sd", "se/sd", "coverage", "+-", ""]
SUMMARY = ["index", "number", "mean coverage", "least", "se/sd in range", ""]
NOTES = """\
all rows: the mean over {whole} samples of {many:,} rows, with default options. mean, sd: over samples of {rows:,} rows.
se: the mean of conf/1.96 or of standard_error. coverage: the share of samples whose interval contains the value of all
rows; +-: its Monte Carlo error. small: an index below {large}, whose errors are not symmetric: Sa is biased upwards.
For the others of a kind, mean coverage must be {low} to {high}, the least coverage {least}, and se/sd {from_} to {to}
for {share:.0%}. f_1(q): the component of x1 at a quantile of x1."""

Fit = Callable[[np.ndarray, np.ndarray, int], Any]


@dataclass(frozen=True)
class Problem:
    """A law of rows with a function's values there, and a decomposition of a fixed black box (or of the values)."""

    name: str
    sample: Callable[[int, int], tuple[np.ndarray, np.ndarray]]
    fit: Fit


def function_problem(name: str, problem: Any, function: Callable[[np.ndarray], np.ndarray], order: int = 2) -> Problem:
    """Return HDMR of a function."""
    return Problem(name, problem.sample, lambda X, y, seed: HDMR(function, order=order).fit(X))


def data_problem(name: str, problem: Any, noise: float) -> Problem:
    """Return HDMR of noisy data."""

    def fit(X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        return HDMR().fit(X, y + noise * np.random.default_rng(seed).normal(size=len(y)))

    return Problem(name, problem.sample, fit)


def tree_problem(name: str, problem: Any, *, smooth: bool, depth: int = 3) -> Problem:
    """Return TreeHDMR of one gradient boosting model."""
    X, y = problem.sample(N_ROWS, 10_000_000)
    noisy = y + 0.3 * y.std() * np.random.default_rng(0).normal(size=len(y))
    model = GradientBoostingRegressor(n_estimators=100, max_depth=depth, random_state=0).fit(X, noisy)
    return Problem(name, problem.sample, lambda X, y, seed: TreeHDMR(model, smooth=smooth).fit(X))


@dataclass(frozen=True)
class HeavyTailed:
    """Correlated variables whose logarithms, or cubes' roots, are Gaussian: few rows carry much of the variance."""

    n: int = 4

    def sample(self, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and values."""
        rng = np.random.default_rng(seed)
        Z = np.sqrt(0.5) * (rng.normal(size=(n_rows, self.n)) + rng.normal(size=(n_rows, 1)))
        X = np.column_stack([np.exp(Z[:, 0]), Z[:, 1] ** 3, *Z[:, 2:].T])
        return X, self(X)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the function: it grows with the heavy-tailed variables themselves."""
        values: np.ndarray = X[:, 0] + 0.5 * X[:, 1] + X[:, 2] + X[:, 2] * X[:, 3]
        return values


def kernel_problem(name: str, problem: Any) -> Problem:
    """Return KernelHDMR of one polynomial machine."""
    X, y = problem.sample(300, 10_000_000)
    machine = KernelRidge(kernel="poly", degree=3, gamma=0.5, coef0=1.0).fit(X, y)
    return Problem(name, problem.sample, lambda X, y, seed: KernelHDMR(machine).fit(X))


def problems() -> list[Problem]:
    """Return all problems."""
    ishigami, four = exact.Ishigami(), exact.four_variables(0.5)

    def ishigami_at(X: np.ndarray) -> np.ndarray:
        return np.sin(X[:, 0]) + 7 * np.sin(X[:, 1]) ** 2 + 0.1 * X[:, 2] ** 4 * np.sin(X[:, 0])

    def triple(X: np.ndarray) -> np.ndarray:
        return X[:, 0] + X[:, 1] * X[:, 2] + X[:, 0] * X[:, 1] * X[:, 2]

    three = exact.GaussianQuadratic("", np.zeros(3), exact.equicorrelated(3, 0.5), 0.0, np.zeros(3), np.zeros((3, 3)))
    bilinear = {rho: exact.bilinear(rho) for rho in (0.0, 0.5, 0.9)}
    return [
        function_problem("Ishigami", ishigami, ishigami_at),
        *(function_problem(f"bilinear, rho={rho:g}", problem, problem) for rho, problem in bilinear.items()),
        function_problem("quadratic of 4, rho=0.5", four, four),
        function_problem("triple, order 2, rho=0.5", three, triple),
        function_problem("triple, order 3, rho=0.5", three, triple, order=3),
        data_problem("bilinear + noise, rho=0.5", bilinear[0.5], 1.5),
        tree_problem("trees, smooth, rho=0.5", bilinear[0.5], smooth=True),
        tree_problem("trees, faithful, rho=0.5", bilinear[0.5], smooth=False),
        tree_problem("trees, Ishigami", ishigami, smooth=True),
        tree_problem("trees of depth 6, rho=0.5", four, smooth=True, depth=6),
        tree_problem("trees, heavy tails", HeavyTailed(), smooth=True),
        function_problem("heavy tails", HeavyTailed(), HeavyTailed()),
        kernel_problem("kernel, rho=0.5", four),
    ]


def values_of(hdmr: Any, subspaces: list[tuple[int, ...]], points: np.ndarray) -> dict[str, float]:
    """Return the indices of subspaces and variables, and the curve of the first variable."""
    indices = hdmr.sensitivity_
    return _named(indices, "", subspaces, 1.0) | _curve(hdmr.component(0)(points))


def errors_of(hdmr: Any, subspaces: list[tuple[int, ...]], points: np.ndarray) -> dict[str, float]:
    """Return the standard errors of the same."""
    return _named(hdmr.sensitivity_, "_conf", subspaces, 1 / NORMAL_95) | _curve(
        hdmr.component(0).standard_error(points)
    )


def _named(indices: Any, suffix: str, subspaces: list[tuple[int, ...]], factor: float) -> dict[str, float]:
    row = {u: c for c, u in enumerate(indices.subspaces)}
    found = {}
    for name in ("Sa", "Sb", "S"):
        column = getattr(indices, name + suffix)
        for u in subspaces:
            found[f"{name} {exact.label(u)[2:]}"] = factor * column[row[u]] if u in row else 0.0
    for name in ("ST", "R"):
        for j, value in enumerate(getattr(indices, name + suffix)):
            found[f"{name} {j + 1}"] = factor * value
    return found


def _curve(values: np.ndarray) -> dict[str, float]:
    return {f"f_1({level})": float(value) for level, value in zip(LEVELS, values, strict=True)}


def simulate(problem: Problem, n_samples: int, many: int) -> tuple[list[list[str]], str]:
    """Return the lines of the table, and one with the time of an interval."""
    wholes = []
    for seed in range(20_000_000, 20_000_000 + N_WHOLE):
        X, y = problem.sample(many, seed)
        wholes.append(problem.fit(X, y, seed))
    subspaces, points = wholes[0].subspaces_, np.quantile(X[:, 0], LEVELS)
    found = [values_of(whole, subspaces, points) for whole in wholes]
    truth = {name: float(np.mean([values[name] for values in found])) for name in found[0]}
    values, errors = [], []
    fitting = asking = 0.0
    for seed in range(n_samples):
        X, y = problem.sample(N_ROWS, seed)
        started = time.perf_counter()
        hdmr = problem.fit(X, y, seed)
        fitted = time.perf_counter()
        of_sample = errors_of(hdmr, subspaces, points)
        fitting, asking = fitting + fitted - started, asking + time.perf_counter() - fitted
        values.append(list(values_of(hdmr, subspaces, points).values()))
        errors.append(list(of_sample.values()))
    lines = [
        line(problem.name, name, true, value, error)
        for (name, true), value, error in zip(truth.items(), np.array(values).T, np.array(errors).T, strict=True)
    ]
    timing = (
        f"{problem.name}: fit {1e3 * fitting / n_samples:.0f} ms, intervals and curve {1e3 * asking / n_samples:.0f} ms"
    )
    return lines, timing


def line(problem: str, name: str, true: float, values: np.ndarray, errors: np.ndarray) -> list[str]:
    """Return a line of the table."""
    sd, se = values.std(ddof=1), errors.mean()
    ratio = se / sd if sd > 0 else float("nan")
    covered = float(np.mean(np.abs(values - true) <= NORMAL_95 * errors))
    error = np.sqrt(covered * (1 - covered) / len(values))
    verdict = "small" if not name.startswith("f_") and abs(true) <= LARGE else ""
    if not verdict and (covered < LEAST_COVERAGE or not RATIOS[0] <= ratio <= RATIOS[1]):
        verdict = "outside"
    numbers = [f"{true:.4f}", f"{values.mean():.4f}", f"{se:.5f}", f"{sd:.5f}", f"{ratio:.2f}", f"{covered:.3f}"]
    return [problem, name, *numbers, f"{error:.3f}", verdict]


def summary(lines: list[list[str]]) -> tuple[list[list[str]], list[Goal]]:
    """Return a line for each kind of index, for indices above `LARGE`, and the goals."""
    found, goals = [], []
    for kind in KINDS:
        large = [row for row in lines if row[1].split()[0] == kind and row[-1] != "small"]
        if not large:
            continue
        ratios, covered = (np.array([float(row[c]) for row in large]) for c in (6, 7))
        inside = np.mean((ratios >= RATIOS[0]) & (ratios <= RATIOS[1]))
        asked = [
            Goal(f"{kind}: mean coverage", covered.mean(), COVERAGE[0]),
            at_most(f"{kind}: mean coverage", covered.mean(), COVERAGE[1]),
            Goal(f"{kind}: least coverage", covered.min(), LEAST_COVERAGE),
            Goal(f"{kind}: share of se/sd in range", inside, IN_RATIOS),
        ]
        numbers = [f"{len(large)}", f"{covered.mean():.3f}", f"{covered.min():.3f}", f"{inside:.2f}"]
        found.append([kind, *numbers, "MISSED" if any(goal.missed for goal in asked) else "OK"])
        goals += asked
    return found, goals


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Simulate and print; `repeats` is ignored."""
    n_samples, many = (20, 20_000) if quick else (200, MANY_ROWS)
    chosen = problems()[:2] if quick else problems()
    lines, timings = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for problem in chosen:
            found, timing = simulate(problem, n_samples, many)
            lines += found
            timings.append(timing)
    print(f"coverage: {n_samples} samples of {N_ROWS:,} rows a problem")
    print(machine())
    notes = NOTES.format(
        whole=N_WHOLE,
        many=many,
        rows=N_ROWS,
        large=LARGE,
        low=COVERAGE[0],
        high=COVERAGE[1],
        least=LEAST_COVERAGE,
        from_=RATIOS[0],
        to=RATIOS[1],
        share=IN_RATIOS,
    )
    kinds, goals = summary(lines)
    print(f"\n{table(HEADER, lines)}\n\n{notes}\n\n{table(SUMMARY, kinds)}\n\n" + "\n".join(timings))
    return goals
