"""Reliability of components: fits on two halves of real rows, and known components of noisy samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from bench import halves
from bench.contenders import interpret_ebm, treehfd
from bench.data import california
from bench.exact import Components
from bench.goals import Goal
from bench.models import fitted
from bench.problems import stability_truth
from bench.problems.stability_earlier import FIGURES
from bench.problems.stability_truth import number
from bench.report import machine, table
from bench.runner import Contender, measure, quietly
from fasthdmr import HDMR, TreeHDMR, load_forest

N_SPLITS, QUICK_SPLITS = 10, 2  # with --quick only other packages have fewer
EBM_SPLITS = 1  # a fit takes up to minutes
LIMIT = 150.0  # seconds for a contender and data set
AT_LEAST = ("fidelity", "ST")  # of other figures less is better
Rows = tuple[np.ndarray, np.ndarray]
NOTES = """\
instability: the mean squared difference of all components of two halves, over 2 Var f (median over splits).
fidelity: R2 on the other half (of y for HDMR().fit(X, y)); largest Sa: over components, halves and splits; ST:
correlation between halves (mean over splits). 0.1.0: the same splits with version 0.1.0 (commit 6db5b0d).
treehfd: on XGBoost's boosting, trained alike, {treehfd} splits, because it reads no forests of scikit-learn. EBM: it
reads no models, so it is fitted to each half, and purified on the rows of the half; {ebm} split, because it is slow."""


def of_california() -> Rows:
    """Return 500 of its rows."""
    X, y, _ = california()
    rows = np.random.default_rng(0).permutation(len(X))[:500]
    return X[rows], y[rows]


def of_diabetes() -> Rows:
    return load_diabetes(return_X_y=True, scaled=False)


def of_breast_cancer() -> Rows:
    return load_breast_cancer(return_X_y=True)


def of_wine() -> Rows:
    return load_wine(return_X_y=True)


@dataclass(frozen=True)
class Case:
    """Rows, a model that is fitted on all of them (none: the data themselves are decomposed), and the bars."""

    name: str
    rows: Callable[[], Rows]
    model: Any
    bars: halves.Figures


BOOSTED = {"largest Sa": 0.5, "ST": 0.96}
CASES = [
    Case(
        "diabetes, boosting",
        of_diabetes,
        GradientBoostingRegressor(random_state=0),
        {"instability": 0.03, "fidelity": 0.84, **BOOSTED},
    ),
    Case(
        "diabetes, forest of depth 4",
        of_diabetes,
        RandomForestRegressor(max_depth=4, random_state=0),
        {"instability": 0.02, "fidelity": 0.92, "largest Sa": 0.5},
    ),
    Case(
        "diabetes, forest of full depth",
        of_diabetes,
        RandomForestRegressor(random_state=0),
        {"instability": 0.05, "fidelity": 0.69, "largest Sa": 0.5},
    ),
    Case(
        "breast cancer, boosting",
        of_breast_cancer,
        GradientBoostingClassifier(random_state=0),
        {"instability": 0.012, "fidelity": 0.91, **BOOSTED},
    ),
    Case(
        "500 of California, boosting",
        of_california,
        GradientBoostingRegressor(random_state=0),
        {"instability": 0.045, "fidelity": 0.82, **BOOSTED, "largest Sa": 0.9},
    ),
    Case(
        "wine, forest",
        of_wine,
        RandomForestClassifier(random_state=0),
        {"instability": 0.02, "fidelity": 0.93, "largest Sa": 0.5},
    ),
    Case("diabetes, HDMR of y", of_diabetes, None, {"instability": 0.05, "fidelity": 0.45}),
    Case("500 of California, HDMR of y", of_california, None, {"fidelity": 0.65}),
    Case("breast cancer, HDMR of y", of_breast_cancer, None, {"fidelity": 0.79}),
]


def components(hdmr: Any, X: np.ndarray) -> Components:
    """Return all components of a fitted estimator on the rows."""
    return dict(zip(hdmr.subspaces_, np.moveaxis(hdmr.evaluate(X), 1, 0), strict=True))


def ours(case: Case, n_splits: int) -> halves.Figures:
    """Return the figures of our defaults."""
    X, y = case.rows()
    if case.model is None:
        return halves.figures(lambda rows: components(HDMR().fit(X[rows], y[rows]), X), y, n_splits)
    model = fitted(case.model, X, y)
    f = load_forest(model).predict(X)
    return halves.figures(lambda rows: components(TreeHDMR(model).fit(X[rows]), X), f, n_splits)


def rival(case: Case, n_splits: int) -> Contender | None:
    """Return the other package that can do it, if there is one."""

    def of_model(_: Any) -> halves.Figures:
        X, y = case.rows()
        model = treehfd.trained_alike(case.model, X, y)
        f = model.predict(X, output_margin=True)
        return halves.figures(lambda rows: treehfd.components(model, X[rows], X), f, n_splits)

    def of_data(_: Any) -> halves.Figures:
        X, y = case.rows()

        def decompose(rows: np.ndarray) -> Components:
            return interpret_ebm.purified(interpret_ebm.trained(X[rows], y[rows]), X)

        return halves.figures(decompose, y, EBM_SPLITS)

    if isinstance(case.model, RandomForestRegressor | RandomForestClassifier):
        return None
    name, run = ("EBM", of_data) if case.model is None else ("treehfd", of_model)
    return Contender(name, case.name, quietly(run), summary=dict, limit=LIMIT)


def lines(case: Case, found: halves.Figures, other: halves.Figures) -> tuple[list[list[str]], list[Goal]]:
    """Return the lines of a case, one per figure, and the goals."""
    rows, goals = [], []
    for figure, value in found.items():
        goal = Goal(f"{case.name}: {figure}", value, case.bars.get(figure, math.nan), figure in AT_LEAST)
        goals.append(goal)
        earlier = FIGURES.get(case.name, {}).get(figure, math.nan)
        compared = [number(earlier), number(float(other.get(figure, math.nan)))]
        _, verdict, _, asked = goal.cells()
        rows.append([case.name, figure, number(value), asked, verdict, *compared])
    return rows, goals


def on_halves(n_splits: int, *, quick: bool) -> tuple[list[list[str]], list[Goal], list[str]]:
    """Return the lines of all cases, the goals, and the failures of other packages."""
    found: list[list[str]] = []
    goals: list[Goal] = []
    failures = []
    for case in CASES:
        mine = quietly(ours)(case, N_SPLITS)
        theirs: halves.Figures = {}
        contender = rival(case, n_splits)
        if contender is not None and quick and case.model is None:
            failures.append(f"EBM, {case.name}: not with --quick")
        elif contender is not None:
            (measured,) = measure([contender], repeats=0)
            theirs = measured.summary
            if measured.failure:
                failures.append(f"{contender.name}, {case.name}: {measured.failure}")
        of_case, asked = lines(case, mine, theirs)
        found += of_case
        goals += asked
    return found, goals, failures


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Print all figures beside their bars; nothing is timed here, so `repeats` has no effect."""
    print(f"stability: all defaults, {N_SPLITS} splits of the rows into halves")
    print(machine())
    n_splits = QUICK_SPLITS if quick else N_SPLITS
    found, goals, failures = on_halves(n_splits, quick=quick)
    header = ["data", "figure", "ours", "bar", "", "0.1.0", "treehfd or EBM"]
    notes = NOTES.format(treehfd=n_splits, ebm=EBM_SPLITS)
    print("\n".join([f"\n{table(header, found)}\n", notes, *failures]), flush=True)
    goals += stability_truth.run(quick=quick)
    missed = sum(goal.missed for goal in goals)
    print(f"\n{sum(bool(goal.verdict()) for goal in goals) - missed} OK, {missed} MISSED")
    return goals
