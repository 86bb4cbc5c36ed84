"""Table vi: importance of x1 and x2 together, by HDMR and by the rivals, at rho = -1, 0, 1."""

from __future__ import annotations

import numpy as np

from bench.paper.bilinear import (
    CENTRED,
    CLOSED,
    CONDITIONAL,
    DEPTH,
    DERIVATIVES,
    HDMR,
    N_ROWS,
    N_TREES,
    UNCENTRED,
    VARIANCE_DERIVATIVES,
    boosted,
    computed,
    sums,
)
from bench.paper.options import Options
from bench.report import machine, table
from fasthdmr.inspection import pd_sensitivity

RHOS = (-1.0, 0.0, 1.0)
REPEATS = 10  # 30 in the paper
# S at these rho. The paper's marginal row is the uncentred one.
PAPER = {
    HDMR: (1, 2 / 3, 1),
    UNCENTRED: (2, 2 / 3, 4 / 3),
    CONDITIONAL: (4, 2 / 3, 4),
    DERIVATIVES: (0.8, 0.8, 0.8),
    VARIANCE_DERIVATIVES: (0, 2 / 3, 2 / 3),
}
PAPER_GBR = (0.65, 0.65, 1.14)
TITLES = {UNCENTRED: "PD (GBR), uncentred", CENTRED: "PD (GBR), centred"}


def of_boosting(rho: float, n_trees: int, repeats: int) -> dict[str, np.ndarray]:
    """Return Sa, Sb, S of marginal partial dependence of GBRs, (repeats, 3), uncentred and centred."""
    found: dict[str, list[tuple[float, ...]]] = {UNCENTRED: [], CENTRED: []}
    for seed in range(repeats):
        model, X = boosted(rho, seed, n_trees)
        for name, values in found.items():
            Sa, Sb = sums(pd_sensitivity(model, X, centred=name == CENTRED))
            values.append((Sa, Sb, Sa + Sb))
    return {name: np.array(values) for name, values in found.items()}


def exact_rows() -> list[list[str]]:
    """Return the lines of the diagnostics of the function itself, and how far they are from the closed forms."""
    found = {rho: computed(rho) for rho in RHOS}
    rows = []
    for name, form in CLOSED.items():
        errors, cells = [], []
        for k, rho in enumerate(RHOS):
            Sa, Sb = found[rho][name]
            errors.append(np.abs(np.subtract((Sa, Sb), form(rho))).max())
            cells += [f"{Sa:.3f}", f"{Sb:.3f}", f"{Sa + Sb:.3f}", f"{PAPER[name][k]:.2f}" if name in PAPER else ""]
        rows.append([name, "", *cells, f"{max(errors):.0e}"])
    return rows


def boosting_rows(n_trees: int, repeats: int) -> list[list[str]]:
    """Return the lines of the GBRs: means, and below them standard deviations."""
    found = [of_boosting(rho, n_trees, repeats) for rho in RHOS]
    rows = []
    for name, title in TITLES.items():
        means = [[f"{v:.3f}" for v in values[name].mean(axis=0)] for values in found]
        spreads = [[f"±{v:.3f}" for v in values[name].std(axis=0)] for values in found]
        printed = [f"{S:.2f}" if name == UNCENTRED else "" for S in PAPER_GBR]
        rows.append([title, "", *(c for m, S in zip(means, printed, strict=True) for c in (*m, S)), ""])
        rows.append(["", "", *(c for s in spreads for c in (*s, "")), ""])
    return rows


def run(options: Options) -> None:
    """Print the table."""
    n_trees, repeats = options.trees or N_TREES, options.repeats or REPEATS
    header = [c for rho in RHOS for c in (f"Sa({rho:g})", f"Sb({rho:g})", f"S({rho:g})", "paper")]
    print("vi: f = 1 + x1 + x2 + x1 x2, standard Gaussians with correlation rho; sums over x1 and x2, shares of Var f")
    print(
        f"PD (GBR): mean and deviation of {repeats} fits (paper: 30), {n_trees} trees of depth {DEPTH}, {N_ROWS} rows."
    )
    print("At rho = -1, 1 its splits are ties; scikit-learn's 'recursion', the paper's method, is another quantity.")
    print(machine())
    rows = exact_rows() + boosting_rows(n_trees, repeats)
    print(table(["importance", "", *header, "off the closed form"], rows))
