"""Strengths of pairs of variables: what each explains on a coarse grid, beyond an additive fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._spans.axes import Profile
from fasthdmr._spans.basis import informative_rows, make_basis
from fasthdmr._spans.fit import effective_rows, solve_values
from fasthdmr._spans.screening import BINS, LEVELS, between_cells
from fasthdmr._support.groups import Groups, columns_of
from fasthdmr._support.scale import Deviations
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats

_ROWS = 5000
_NEGLIGIBLE = 1e-6  # share of the variance below which the strength of a pair is rounding


def screen_pairs(
    X: NDArray[Any],
    weights: Floats | None,
    values: Floats,
    pairs: Sequence[Subspace],
    basis_degree: int,
    n_levels: Mapping[int, int] | None = None,
    groups: Groups | None = None,
) -> Floats:
    """Return how much of a function's variance each pair explains on a coarse grid, beyond single variables.

    Parameters
    ----------
    X : ndarray of shape (N, n)
    weights : ndarray of shape (N,) or None
    values : ndarray of shape (N, K)
        The function. Outputs are divided by their standard deviations.
    pairs : sequence of tuple of int
    basis_degree : int
        Degree of the splines of the additive fit that is subtracted first.
    n_levels : dict of int to int, optional
        The number of levels of each categorical column. The most frequent levels are cells of the grid.
    groups : Groups, optional
        The columns of each variable.

    Returns
    -------
    ndarray of shape (len(pairs),)
    """
    variables = sorted({j for u in pairs for j in u})
    single = [(j,) for j in variables]
    size, levels = min(8, max(2, informative_rows(X, weights) // (2 * len(variables)))), n_levels or {}
    columns = {i: columns_of(groups, (i,)) for i in variables}
    widest = max(map(len, columns.values()))
    basis = make_basis(
        X,
        weights,
        single,
        [size, *[min(size, 3)] * (widest - 1)],
        degree=min(basis_degree, size - 1),
        n_levels=levels,
        max_levels=[LEVELS] * widest,
        groups=groups,
    )
    w = np.ones(len(X)) if weights is None else weights
    values = Deviations.of(values, weights).values
    solutions, _ = solve_values(X, weights, basis, values, n_threads=1)
    rest, chance = [], 0.0
    for k, solution in enumerate(solutions):
        spans = solution.weights[2:].tocsc()
        additive = basis.core.evaluate(
            X, spans.indptr.astype(np.int64), spans.indices.astype(np.int64) + 1, spans.data, 1
        ).sum(axis=1)
        left = values[:, k] - additive
        left -= np.average(left, weights=w)
        rest.append(w * left / np.sqrt(solution.total or 1.0))
        chance += float(w @ left**2) / (solution.total or 1.0) / effective_rows(len(X), weights)
    codes, cells = {}, {}
    for i in variables:
        codes[i], cells[i] = np.zeros(len(X), dtype=np.int64), 1
        for j in columns[i]:
            count = LEVELS if j in levels else BINS + 1
            own = np.minimum(X[:, j], count - 1).astype(np.int64) if j in levels else _codes(X[:, j], weights)
            codes[i], cells[i] = codes[i] * count + own, cells[i] * count
    strengths = np.zeros(len(pairs))
    for p, (i, j) in enumerate(pairs):
        code, count = codes[i] * cells[j] + codes[j], cells[i] * cells[j]
        mass = np.bincount(code, w, count)
        for r in rest:
            strengths[p] += between_cells(code, mass, r)
        # Each cell explains the variance of one row by chance, which must not favour grids of many cells.
        strengths[p] -= chance * max(0, int(np.count_nonzero(mass)) - (BINS + 1) ** 2)
    return np.where(strengths > _NEGLIGIBLE * w.sum(), strengths, 0.0)  # rounding must not decide between pairs


def _codes(column: NDArray[Any], weights: Floats | None) -> NDArray[np.int64]:
    """Return the indices of coarse quantile bins; missing values have a separate bin."""
    (profile,) = Profile.of(column[:, None], weights, [0], n_threads=1)
    levels = np.linspace(0, 1, BINS + 1)[1:-1]
    edges = profile.quantiles(levels) if len(profile.values) else np.empty(0)
    codes = np.searchsorted(edges, column, side="left").astype(np.int64)
    codes[np.isnan(column)] = BINS
    return codes


def screened_rows(n_rows: int) -> slice:
    """Return the rows of the subsample on which pairs are compared."""
    return slice(None, None, max(1, n_rows // _ROWS))
