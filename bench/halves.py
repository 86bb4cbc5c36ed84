"""Differences between the decompositions of two disjoint halves of the rows, and the R² of each on the other half."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.metrics import r2_score

from bench.exact import Components

# Of the rows to decompose on, the components on all rows, (N,) or (N, K) for K outputs.
Decompose = Callable[[np.ndarray], Components]
Figures = dict[str, float]


def halves(n_rows: int, n_splits: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return random splits of the rows into two halves."""
    rng = np.random.default_rng(0)
    orders = [rng.permutation(n_rows) for _ in range(n_splits)]
    return [(order[: (n_rows + 1) // 2], order[(n_rows + 1) // 2 :]) for order in orders]


def instability(one: Components, other: Components, f: np.ndarray) -> float:
    """Return the mean squared difference of all centred components, over 2 Var f: 1 if they are uncorrelated."""
    nothing = np.zeros_like(f)
    moved = [np.var(one.get(u, nothing) - other.get(u, nothing), axis=0).sum() for u in {*one, *other}]
    return float(sum(moved) / (2 * f.var(axis=0).sum()))


def fidelity(components: Components, f: np.ndarray, seen: np.ndarray, unseen: np.ndarray) -> float:
    """Return R² on unseen rows of f_0 plus the components, all centred on the rows seen (mean over outputs)."""
    total = sum((values - values[seen].mean(axis=0) for values in components.values()), f[seen].mean(axis=0))
    return float(r2_score(f[unseen], total[unseen]))


def largest_share(components: Components, f: np.ndarray, rows: np.ndarray) -> float:
    """Return the largest Var f_u / Var f on the rows."""
    return max(float(np.max(values[rows].var(axis=0) / f[rows].var(axis=0))) for values in components.values())


def totals(components: Components, f: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return ST of every variable and output on the rows: the sum of Cov(f_u, f) / Var f over the u that hold it."""
    centred = f[rows] - f[rows].mean(axis=0)
    found = np.zeros((1 + max(map(max, components)), *f.shape[1:]))
    for u, values in components.items():
        found[list(u)] += np.mean(values[rows] * centred, axis=0) / f.var(axis=0)
    return found


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Return the correlation of two indices; a variable that is missing in one of them has 0 there."""
    padded = np.zeros((2, max(len(one), len(other)), *one.shape[1:]))
    padded[0, : len(one)], padded[1, : len(other)] = one, other
    return float(np.corrcoef(padded.reshape(2, -1))[0, 1])


def figures(decompose: Decompose, f: np.ndarray, n_splits: int) -> Figures:
    """Return the median instability, and over splits and halves the mean fidelity, largest Sa and mean correlation."""
    moved, kept, largest, alike = [], [], [], []
    for split in halves(len(f), n_splits):
        found = [decompose(rows) for rows in split]
        moved.append(instability(*found, f))
        for components, seen, unseen in zip(found, split, split[::-1], strict=True):
            kept.append(fidelity(components, f, seen, unseen))
            largest.append(largest_share(components, f, seen))
        alike.append(correlation(*(totals(c, f, rows) for c, rows in zip(found, split, strict=True))))
    return {
        "instability": float(np.median(moved)),
        "fidelity": float(np.mean(kept)),
        "largest Sa": max(largest),
        "ST": float(np.mean(alike)),
    }
