"""Errors of estimates of known components from few noisy rows: ours, those of version 0.1.0, of treehfd and of EBM."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor

from bench.contenders import interpret_ebm, treehfd
from bench.copula import six_variables
from bench.exact import Ishigami, bilinear, labelled
from bench.goals import Goal, at_most
from bench.models import fitted
from bench.problems.stability_earlier import ERRORS
from bench.report import table
from bench.runner import Arrays, measure, quietly
from fasthdmr import HDMR, TreeHDMR

NOISE = {600: 0.5, 4000: 0.3}  # by the number of rows: its deviation over that of f
N_SEEDS = 5
RIVAL_SEEDS = 3
N_FRESH = 4000
N_TREES = 300
LIMIT = 150.0  # seconds for a fit of a contender
PROBLEMS: list[Any] = [bilinear(0.5), bilinear(0.9), Ishigami(), six_variables(0.5)]
MODEL, DATA = "from a model", "from data"
# Both orders together at the smallest number of rows, from a model and from data.
SUMS = {
    "bilinear Gaussian, rho=0.5": (0.027, 0.027),
    "bilinear Gaussian, rho=0.9": (0.027, 0.027),
    "Ishigami": (0.080, 0.080),
    "copula, rho=0.5": (0.038, 0.042),
}
HEADER = ["problem", "error of", "ours", "bar", "", "0.1.0", "ours*", "rival*", "bar*", ""]
NOTES = """\
Mean squared errors of all components of an order on {fresh} fresh rows over Var f, mean of {seeds} seeds. From a model:
TreeHDMR of {trees} trees of depth 3 fitted to noisy data, beside treehfd (XGBoost trained alike). From data:
HDMR().fit(X, y), beside EBM, purified on the rows of its fit. 0.1.0: version 0.1.0 (commit 6db5b0d) on the same seeds.
bar: the limit of an order is that of 0.1.0 and 5 % or .001. *: on seeds where the slow other package ran: {rivals}.
Ours may be no worse than treehfd, than 1.5 x EBM in a cell and than EBM in the sum of all cells."""


@dataclass(frozen=True)
class Cell:
    """Errors of orders 1 and 2, a row a seed: ours, and of the other package on the first of these seeds."""

    problem: str
    n_rows: int
    kind: str
    ours: np.ndarray
    rival: np.ndarray


def order_errors(found: Arrays, truth: Arrays, variance: float) -> list[float]:
    """Return the errors of orders 1 and 2 as shares of the variance; of components by name, centred."""
    nothing = np.zeros(1)
    squares = {name: np.mean((found.get(name, nothing) - truth.get(name, nothing)) ** 2) for name in {*found, *truth}}
    return [float(sum(e for name, e in squares.items() if len(name) == len("f_") + k)) / variance for k in (1, 2)]


def of_seed(
    problem: Any, n_rows: int, kind: str, seed: int, *, with_rival: bool
) -> tuple[list[float], list[float], str]:
    """Return our errors, and those of the other package or its failure."""
    X, f = problem.sample(n_rows, seed)
    y = f + NOISE[n_rows] * f.std() * np.random.default_rng(seed + 7).normal(size=n_rows)
    Z, g = problem.sample(N_FRESH, 10**6 + seed)
    if kind == MODEL:
        model = fitted(GradientBoostingRegressor(n_estimators=N_TREES, max_depth=3, random_state=0), X, y)
        hdmr = TreeHDMR(model).fit(X)
        rival = treehfd.contender(model, X, y, stage="", limit=LIMIT, at=Z)
    else:
        hdmr = HDMR().fit(X, y)
        rival = interpret_ebm.glass_box(X, y, at=Z, limit=LIMIT)
    truth, variance = labelled(problem.components(Z)), float(g.var())
    found = labelled(dict(zip(hdmr.subspaces_, hdmr.evaluate(Z).T, strict=True)))
    errors = order_errors(found, truth, variance)
    if not with_rival:
        return errors, [], ""
    (measured,) = measure([rival], repeats=0)
    if measured.failure:
        return errors, [], f"{rival.name}, {problem.name}, {n_rows} rows, seed {seed}: {measured.failure}"
    return errors, order_errors(measured.summary, truth, variance), ""


def cell(problem: Any, n_rows: int, kind: str, n_seeds: int, n_rival: int) -> tuple[Cell, list[str]]:
    """Return the errors of a cell, and failures of the other package, which does not run again after one."""
    ours: list[list[float]] = []
    rival: list[list[float]] = []
    failures: list[str] = []
    for seed in range(n_seeds):
        asked = seed < n_rival and not failures
        mine, theirs, failure = quietly(of_seed)(problem, n_rows, kind, seed, with_rival=asked)
        ours.append(mine)
        rival += [theirs] if theirs else []
        failures += [failure] if failure else []
    return Cell(problem.name, n_rows, kind, np.array(ours), np.array(rival).reshape(-1, 2)), failures


def number(value: float) -> str:
    """Return a number that may not be there."""
    return "" if math.isnan(value) else f"{value:.4f}"


def line(problem: str, name: str, own: list[float], rivals: list[float]) -> tuple[list[str], list[Goal]]:
    """Return a line of the table, and its goals, relative to version 0.1.0 and to the other package."""
    ours, bar, earlier = own
    same, rival, limit = rivals
    what = f"{problem}: {name}"
    goals = [at_most(what, ours, bar), at_most(f"{what}, beside the rival", same, limit)]
    first = [problem, name, number(ours), number(bar), goals[0].verdict(), number(earlier)]
    return [*first, number(same), number(rival), number(limit), goals[1].verdict()], goals


def with_sum(errors: np.ndarray) -> np.ndarray:
    """Return means over seeds of the errors of both orders and of their sum."""
    if not len(errors):
        return np.full(3, math.nan)
    return np.append(errors.mean(axis=0), errors.sum(axis=1).mean())


def lines(c: Cell) -> list[tuple[list[str], list[Goal]]]:
    """Return the lines of a cell with their goals: its orders, and their sum where that has a bar."""
    before = np.array(ERRORS.get((c.problem, c.n_rows, c.kind), ())).reshape(-1, 2)[: len(c.ours)]
    earlier, ours, rival = with_sum(before), with_sum(c.ours), with_sum(c.rival)
    same = with_sum(c.ours[: len(c.rival)])
    bars, limits = np.maximum(1.05 * earlier, earlier + 0.001), rival * (1.0 if c.kind == MODEL else 1.5)
    names = ["order 1", "order 2"]
    if c.n_rows == min(NOISE) and c.problem in SUMS:
        names.append("both orders")
        bars[2], limits[2] = SUMS[c.problem][c.kind == DATA], math.nan
    return [
        line(c.problem, f"{name}, {c.kind}, {c.n_rows} rows", [mine, bar, old], [own, other, limit])
        for name, mine, bar, old, own, other, limit in zip(
            names, ours, bars, earlier, same, rival, limits, strict=False
        )
    ]


def total(cells: list[Cell]) -> tuple[list[str], list[Goal]]:
    """Return the line of all cells of data together, with its goals."""
    known = [c for c in cells if len(c.rival)]
    same = sum(with_sum(c.ours[: len(c.rival)])[2] for c in known) if known else math.nan
    rival = sum(with_sum(c.rival)[2] for c in known) if known else math.nan
    return line("all problems", f"all cells {DATA}", [math.nan] * 3, [same, rival, rival])


def run(*, quick: bool) -> list[Goal]:
    """Print the table and return its goals."""
    n_rival = 1 if quick else RIVAL_SEEDS
    cells, failures = [], []
    for problem in PROBLEMS:
        for n_rows in NOISE:
            for kind in (MODEL, DATA):
                asked = 0 if quick and n_rows > min(NOISE) else n_rival
                found, failed = cell(problem, n_rows, kind, N_SEEDS, asked)
                cells.append(found)
                failures += failed
    judged = [row for c in cells for row in lines(c)] + [total([c for c in cells if c.kind == DATA])]
    where = f"{n_rival} seeds" if not quick else f"one seed, {min(NOISE)} rows"
    notes = NOTES.format(fresh=N_FRESH, seeds=N_SEEDS, trees=N_TREES, rivals=where)
    print("\n".join([f"\n{table(HEADER, [row for row, _ in judged])}\n", notes, *failures]))
    return [goal for _, goals in judged for goal in goals]
