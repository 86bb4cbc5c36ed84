"""Table scsa_ishi: indices of the Ishigami function from I_1, I_2, I_3, by boosting or by random forests."""

from __future__ import annotations

import numpy as np

from bench.paper.ishigami import exact_indices, member, sample
from bench.paper.options import Options
from bench.report import machine, table
from fasthdmr import TreeHDMR

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


def realisation(options: Options, seed: int) -> np.ndarray:
    """Return the indices of one sample: (ensemble I_i, subspace, index); 0 where there are no trees."""
    n_trees, n_rows = (100, 1000) if options.quick else (1000, 5000)
    X, y = sample(n_rows, seed)
    members = [member(options.model, depth, n_trees, X, y) for depth in (1, 2, 3)]
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
    exact = exact_indices()
    values = [exact.get(u, 0.0), 0.0, exact.get(u, 0.0)]
    if len(u) == 1:
        total = sum(S for v, S in exact.items() if u[0] in v)
        values += [total, total / sum(len(v) * S for v, S in exact.items())]
    cells = [cell for value in values for cell in (f"{value:.3f}", "")]
    return [str(tuple(i + 1 for i in u)), "exact", *cells, *[""] * (10 - len(cells))]


def run(options: Options) -> None:
    """Print the table: mean ± standard deviation over the realisations, the paper's mean beside it."""
    found = np.stack([realisation(options, seed) for seed in range(options.realisations)])
    mean, spread = found.mean(axis=0), found.std(axis=0)
    rows = []
    for s, u in enumerate(SUBSPACES):
        rows.append(exact_row(u))
        for i in range(len(u) > 1, 3):
            published = PAPER.get((u, i + 1), ()) if options.model == "gbr" else ()
            cells = []
            for k in range(5 if len(u) == 1 else 3):
                cells += [f"{mean[i, s, k]:.3f} ± {spread[i, s, k]:.3f}"]
                cells += [f"{published[k]:.2f}" if published else ""]
            rows.append(["", f"I_{i + 1}", *cells, *[""] * (10 - len(cells))])
    header = [cell for name in INDICES for cell in (name, "paper")]
    print(f"scsa_ishi: Ishigami, {options.model}, {options.realisations} realisation(s); the paper's are GBRs")
    print(machine())
    print(table(["subspace", "ensemble", *header], rows))
