"""Table scsa_ishi: indices of the Ishigami function from I_1, I_2, I_3, by boosting or by random forests."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from bench.ishigami import exact_indices, sample
from bench.paper.ishigami import N_ROWS, N_TREES, member
from bench.paper.options import Options
from bench.paper.result import Result, Row, claim, fewer, near, standard_error
from bench.report import machine, table
from fasthdmr import TreeHDMR
from fasthdmr.inspection import tree_importance

Subspace = tuple[int, ...]
SUBSPACES: list[Subspace] = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
INDICES = ("Sa", "Sb", "S", "T", "R")

# The paper's means over 50 realisations of GBRs (its standard deviations are at most .01).
PAPER: dict[tuple[Subspace, int], tuple[float, ...]] = {
    ((0,), 1): (0.31, 0.00, 0.31, 0.31, 0.40),
    ((0,), 2): (0.29, 0.01, 0.30, 0.49, 0.42),
    ((0,), 3): (0.29, 0.01, 0.30, 0.51, 0.42),
    ((1,), 1): (0.46, 0.00, 0.45, 0.45, 0.58),
    ((1,), 2): (0.44, 0.00, 0.45, 0.45, 0.38),
    ((1,), 3): (0.44, 0.00, 0.45, 0.46, 0.38),
    ((2,), 1): (0.01, 0.00, 0.02, 0.02, 0.02),
    ((2,), 2): (0.03, 0.01, 0.04, 0.23, 0.20),
    ((2,), 3): (0.03, 0.01, 0.04, 0.25, 0.20),
    ((0, 1), 2): (0.00, 0.00, 0.00),
    ((0, 1), 3): (0.00, 0.00, 0.00),
    ((0, 2), 2): (0.18, 0.01, 0.19),
    ((0, 2), 3): (0.19, 0.01, 0.20),
    ((1, 2), 2): (0.00, 0.00, 0.00),
    ((1, 2), 3): (0.00, 0.00, 0.00),
    ((0, 1, 2), 2): (0.00, 0.00, 0.00),
    ((0, 1, 2), 3): (0.01, 0.00, 0.01),
}


# Its column "Tree" of the variables, I_1, I_2, I_3.
PAPER_TREE = np.array([[0.23, 0.33, 0.32], [0.57, 0.25, 0.28], [0.21, 0.42, 0.40]])
PAPER_REALISATIONS, PAPER_SPREAD = 50, 0.01
TREE_TOLERANCE, SPLINE_TOLERANCE = 0.03, 0.02


def members_of(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    """Return a sample and its ensembles of depth 1, 2, 3."""
    X, y = sample(N_ROWS, seed)
    return X, y, [member(kind, depth, N_TREES, X, y) for depth in (1, 2, 3)]


def realisation(kind: str, seed: int) -> np.ndarray:
    """Return the indices of one sample: (ensemble I_i, subspace, index); 0 if there are no trees."""
    X, y, members = members_of(kind, seed)
    found = np.zeros((3, len(SUBSPACES), len(INDICES)))
    for i in range(3):
        hdmr = TreeHDMR(members[: i + 1], basis="trees", order=None, combine="ridge", normalise="data", n_jobs=2).fit(
            X, y
        )
        indices = hdmr.sensitivity_
        for u, *values in zip(indices.subspaces, indices.Sa, indices.Sb, indices.S, strict=True):
            found[i, SUBSPACES.index(u), :3] = values
        found[i, :3, 3:] = np.column_stack([indices.ST, indices.R])
    return found


def exact_row(u: Subspace) -> list[str]:
    """Return the analytic line of a subspace."""
    cells = [cell for value in exact_values(u) for cell in (f"{value:.3f}", "")]
    return [str(tuple(i + 1 for i in u)), "exact", *cells, *[""] * (10 - len(cells))]


def exact_values(u: Subspace) -> list[float]:
    """Return the analytic Sa, Sb, S of a subspace, and T, R of a variable."""
    exact = exact_indices()
    values = [exact.get(u, 0.0), 0.0, exact.get(u, 0.0)]
    if len(u) == 1:
        total = sum(S for v, S in exact.items() if u[0] in v)
        values += [total, total / sum(len(v) * S for v, S in exact.items())]
    return values


def published_rows(mean: np.ndarray, spread: np.ndarray, realisations: int) -> list[Row]:
    """Return the verdicts on the paper's table: two digits, and four standard errors of both."""
    rows = []
    for (u, i), printed in PAPER.items():
        s, name = SUBSPACES.index(u), tuple(j + 1 for j in u)
        for k, (paper, exact) in enumerate(zip(printed, exact_values(u), strict=True)):
            ours, both = mean[i - 1, s, k], ((PAPER_SPREAD, PAPER_REALISATIONS), (spread[i - 1, s, k], realisations))
            tolerance = 0.005 + 4 * np.hypot(*(standard_error(*each) for each in both))
            because = f"ours is nearer the analytic {exact:.3f}" if abs(ours - exact) < abs(paper - exact) else ""
            rows.append(near(f"{INDICES[k]} of {name}, I_{i}", ours, paper, tolerance, because=because))
    return rows


def tree_rows(realisations: int) -> list[Row]:
    """Return the verdicts on the paper's column "Tree"."""
    each = np.array([[tree_importance(model) for model in members_of("gbr", seed)[2]] for seed in range(realisations)])
    rows = []
    for i, j in product(range(3), range(3)):
        ours, tolerance = each[:, i, j], TREE_TOLERANCE + 4 * standard_error(each[:, i, j].std(), realisations)
        rows.append(near(f"Tree of ({j + 1},), I_{i + 1}", ours.mean(), PAPER_TREE[j, i], tolerance))
    return rows


def spline_rows() -> list[Row]:
    """Return the verdicts on the default spans: near the analytic indices."""
    X, y, members = members_of("gbr", 0)
    indices = TreeHDMR(members, normalise="data", n_jobs=2).fit(X, y).sensitivity_
    found = dict(zip(indices.subspaces, indices.S, strict=True))
    of, named = "the analytic value", {u: tuple(j + 1 for j in u) for u in exact_indices()}
    return [
        near(f"S of {named[u]}, I_3, spans of splines", found.get(u, 0.0), None, SPLINE_TOLERANCE, target=S, of=of)
        for u, S in exact_indices().items()
    ]


def forest_row(mean: np.ndarray, realisations: int) -> Row:
    """Return the verdict on the paper's words, from S of I_3."""
    boosted = np.mean([realisation("gbr", seed)[2, :, 2] for seed in range(realisations)], axis=0)
    exact = np.array([exact_indices().get(u, 0.0) for u in SUBSPACES])
    off, off_boosted = (float(np.abs(S - exact).sum()) for S in (mean[2, :, 2], boosted))
    what = "“RF performs poorly … in comparison to GBR”: errors of S over all subspaces, I_3"
    return claim(what, off > off_boosted, f"above those of GBR, {off_boosted:.3f}", ours=off)


def run(options: Options, kind: str = "gbr") -> Result:
    """Print the table: mean ± standard deviation over the realisations, the paper's mean beside it."""
    found = np.stack([realisation(kind, seed) for seed in range(options.realisations)])
    mean, spread = found.mean(axis=0), found.std(axis=0)
    rows = []
    for s, u in enumerate(SUBSPACES):
        rows.append(exact_row(u))
        for i in range(len(u) > 1, 3):
            published = PAPER.get((u, i + 1), ()) if kind == "gbr" else ()
            cells = []
            for k in range(5 if len(u) == 1 else 3):
                cells += [f"{mean[i, s, k]:.3f} ± {spread[i, s, k]:.3f}"]
                cells += [f"{published[k]:.2f}" if published else ""]
            rows.append(["", f"I_{i + 1}", *cells, *[""] * (10 - len(cells))])
    header = [cell for name in INDICES for cell in (name, "paper")]
    name = "scsa_ishi" if kind == "gbr" else "scsa_ishi_rf"
    print(f"{name}: Ishigami, {kind}, {options.realisations} realisation(s); the paper's are GBRs")
    print(machine())
    print(table(["subspace", "ensemble", *header], rows))
    n, notes = options.realisations, ["The paper has no table of forests."]
    repeated = fewer(realisations=(n, PAPER_REALISATIONS))
    if kind == "rf":
        return Result([forest_row(mean, n)], repeats=repeated, notes=notes)
    return Result(published_rows(mean, spread, n) + tree_rows(n) + spline_rows(), repeats=repeated)
