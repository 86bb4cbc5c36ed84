"""Errors of other packages on the same data: components under correlation, and indices from samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.boxes import gaussian_components, leaf_boxes
from bench.contenders import interpret_ebm, ours, salib_hdmr, shap_interactions, treehfd
from bench.exact import Ishigami, bilinear, label, labelled, relative_l2
from bench.goals import Goal, at_most
from bench.report import table
from bench.runner import Arrays, Contender, Measurement, measure

N_ROWS, N_TREES, RHO = 5000, 500, 0.5
LIMIT = 120.0  # seconds for a contender
RIVALS = [treehfd, interpret_ebm, shap_interactions]
YARDSTICK = "exact HDMR of the model"
COMPONENTS = ["f_1", "f_2", "f_12"]
Trainer = Callable[[np.ndarray, np.ndarray, int, int], Any]


def yardstick(model: Any, X: np.ndarray) -> Contender:
    """Return the exact HDMR of the model under the density of the inputs, which packages do not have."""

    def summary(components: Any) -> Arrays:
        return {**labelled(components), "output": model.predict(X)}

    return Contender(
        YARDSTICK, "", lambda _: gaussian_components(leaf_boxes(model), RHO, X), summary=summary, limit=LIMIT
    )


def component_errors(measurement: Measurement, truth: Arrays) -> list[float]:
    """Return the relative L2 errors of f_1, f_2 and f_12, the error of Sb_12 (truth: 0), and the seconds."""
    if measurement.failure:
        return [np.nan] * 5
    found = measurement.summary
    output, nothing = found["output"], np.zeros(len(truth["f_1"]))
    pair = found.get("f_12", nothing)
    Sb = np.cov(pair, output - pair, bias=True)[0, 1] / output.var()
    errors = [relative_l2(found.get(name, nothing), truth[name]) for name in COMPONENTS]
    return [*errors, abs(Sb), measurement.seconds[0]]


def correlated(n_seeds: int, train: Trainer) -> tuple[str, list[Goal]]:
    """Return the table at rho = .5, and the goals of two comparisons."""
    problem, errors, failures, goals = bilinear(RHO), [], [], []
    for seed in range(n_seeds):
        X, y = problem.sample(N_ROWS, seed)
        model = train(X, y, N_TREES, seed)
        rivals = [rival.contender(model, X, y, stage="", limit=LIMIT) for rival in RIVALS]
        measurements = measure([ours.spans(model, X, stage="", limit=LIMIT), *rivals, yardstick(model, X)], 0)
        truth = labelled(problem.components(X))
        errors.append([component_errors(m, truth) for m in measurements])
        failures += [f"{m.contender.name}, seed {seed}: {m.failure}" for m in measurements if m.failure]
    names = [m.contender.name for m in measurements]
    means = dict(zip(names, np.mean(errors, axis=0), strict=True))
    lines = [[name, "", *(f"{value:.3f}" for value in mean)] for name, mean in means.items()]
    packages = [mean[:3] for name, mean in means.items() if name not in ("ours", YARDSTICK)]
    best = np.nanmin([*packages, [np.inf] * 3], axis=0)
    text = table(["contender", "", *(f"L2 {name}" for name in COMPONENTS), "|Sb_12|", "seconds"], lines)
    for name, limits in (("half of treehfd's", means["treehfd"][:3] / 2), ("the best package's", best)):
        marks = zip(COMPONENTS, means["ours"][:3], limits, strict=True)
        asked = [at_most(f"L2 {f} against {name}", a, b) for f, a, b in marks]
        text += f"\nours against {name}: "
        words = (f"{goal.found:.3f} limit {goal.asked:.3f} {goal.verdict()}" for goal in asked)
        text += ", ".join(f"{f} {of_f}" for f, of_f in zip(COMPONENTS, words, strict=True))
        goals += asked
    return "\n".join([text, *failures]), goals


def sampled(n_seeds: int, sizes: tuple[int, ...] = (1000, 5000)) -> tuple[str, list[Goal]]:
    """Return the table of indices from samples of Ishigami's function, order 2, and that ours is to be no worse."""
    problem, lines, failures, goals = Ishigami(), [], [], []
    truth = {label(u).replace("f", "S"): Sa for u, (Sa, _) in problem.indices().items() if len(u) < 3}
    for n_rows in sizes:
        errors: dict[str, list[tuple[float, float]]] = {}
        for seed in range(n_seeds):
            X, y = problem.sample(n_rows, seed)
            rivals = salib_hdmr.contenders(X, y, order=2, stage="", limit=LIMIT)
            for m in measure([ours.surrogate(X, y, order=2, stage="", limit=LIMIT), *rivals], 0):
                if m.failure:
                    failures.append(f"{m.contender.name}, N = {n_rows}, seed {seed}: {m.failure}")
                    continue
                error = max(abs(float(m.summary.get(u, np.zeros(()))) - S) for u, S in truth.items())
                errors.setdefault(m.contender.name, []).append((error, m.seconds[0]))
        best = min((np.mean(e, axis=0)[0] for name, e in errors.items() if "ours" not in name), default=np.inf)
        for name, found in errors.items():
            error, seconds = np.mean(found, axis=0)
            goal = at_most(f"Ishigami, N = {n_rows}: error of {name}", error, best if "ours" in name else np.nan)
            goals.append(goal)
            numbers = [f"{error:.4f}", f"{max(found)[0]:.4f}", f"{seconds:.3f}"]
            lines.append([name, f"N = {n_rows}", *numbers, goal.verdict()])
    header = ["contender", "samples", "error", "worst seed", "seconds", "no worse than SALib"]
    return "\n".join([table(header, lines), *failures]), goals


def run(*, quick: bool, train: Trainer) -> list[Goal]:
    """Print both tables; return the goals."""
    n_seeds = 1 if quick else 2
    print(f"Bilinear Gaussian, rho = {RHO:g}, {N_TREES} trees, {n_seeds} seeds: relative L2 errors, centred components")
    print(f"(treehfd: XGBoost trained alike; each contender stopped after {LIMIT:g} s)\n")
    text, goals = correlated(n_seeds, train)
    print(text)
    print(f"\nIshigami from samples, order 2, {n_seeds} seeds: largest error of S over the six subspaces, mean\n")
    text, asked = sampled(n_seeds)
    print(text)
    return goals + asked
