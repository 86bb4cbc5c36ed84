"""Shapley values and interactions of the game v(S) = sum of f_u over the subsets u of S, from the components f_u."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from fasthdmr._results.decomposition import Decomposition, is_kept
from fasthdmr._support.steps import steps
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats

RESIDUAL = "residual"

_ROUNDING = 1e-10  # a residual below this share of the largest output is a rounding error
_NUMBERS = 4e6  # the largest number of interaction values that are held in addition to the result

Pair = tuple[int, int]  # variables i <= j; (i, i) stands for a diagonal entry, or for the variable itself
Shares = Iterable[tuple[Pair, float]]


@dataclass(frozen=True, eq=False)
class ShapleyTable:
    """The Shapley values of rows, with the values of the variables.

    Attributes
    ----------
    values : ndarray of shape (N, m) or (N, m, K)
        One column for each variable. If the components do not sum to the output, there is a last column, the residual.
    base_values : ndarray of shape (N,) or (N, K)
        f_0, in all rows.
    data : ndarray of shape (N, m)
        Floats, or objects if there are categorical variables or groups of columns. NaN for the residual.
    is_numeric : list of bool, length m
        False for categorical variables, groups of columns and the residual.
    feature_names : list of str, length m
    output_names : list of str, length K, or None
    unit : str
    has_residual : bool
    """

    values: Floats
    base_values: Floats
    data: NDArray[Any]
    is_numeric: list[bool]
    feature_names: list[str]
    output_names: list[str] | None
    unit: str
    has_residual: bool


def shapley_table(
    decomposition: Decomposition,
    rows: NDArray[Any],
    data: NDArray[Any],
    is_numeric: Sequence[bool],
    black_box: Floats | None,
    n_threads: int,
) -> ShapleyTable:
    """Return the Shapley values of rows, and their residual unless it is a rounding error.

    Parameters
    ----------
    decomposition : Decomposition
    rows : ndarray of shape (N, m)
        Rows of the decomposition.
    data : ndarray of shape (N, n)
        The values of the variables.
    is_numeric : sequence of bool, length n
    black_box : ndarray of shape (N,) or (N, K), or None
        The output of the black box. None if there is none.
    n_threads : int
    """
    values, names = shapley_values(decomposition, rows, n_threads), list(decomposition.feature_names)
    base = np.tile(decomposition.intercept, (len(rows), *[1] * (values.ndim - 2)))
    residual = np.zeros(1) if black_box is None else black_box - (base + values.sum(axis=1))
    has_residual = black_box is not None and np.abs(residual).max() > _ROUNDING * np.abs(black_box).max()
    if has_residual:
        values = np.concatenate([values, residual[:, None]], axis=1)
        data = np.column_stack([data, np.full(len(data), np.nan)])
        names.append(RESIDUAL)
        is_numeric = [*is_numeric, False]
    outputs = decomposition.output_names
    output_names = None if outputs is None else list(outputs)
    return ShapleyTable(
        values, base, data, list(is_numeric), names, output_names, decomposition.unit, bool(has_residual)
    )


def shapley_values(decomposition: Decomposition, rows: NDArray[Any], n_threads: int) -> Floats:
    """Return the Shapley values of all variables: the sum of f_u / |u| over the subspaces u that contain the variable.

    Parameters
    ----------
    decomposition : Decomposition
    rows : ndarray of shape (N, m)
        Rows of the decomposition.
    n_threads : int

    Returns
    -------
    ndarray of shape (N, n) or (N, n, K)
    """
    n = len(decomposition.feature_names)
    every = [(i, i) for i in range(n)]
    values = np.empty((len(rows), n, len(decomposition.solutions)), order="F")
    for k in range(values.shape[2]):
        values[:, :, k] = _combined(decomposition, rows, k, _shares_of_variables, every, n_threads)
    return values[:, :, 0] if decomposition.output_names is None else values


def shapley_interactions(decomposition: Decomposition, rows: NDArray[Any], n_threads: int) -> Floats:
    """Return the Shapley interaction values, symmetric matrices whose rows sum to the Shapley values.

    A component of t >= 2 variables adds 1 / (2 (t - 1)) of its value to both entries of each pair of its variables,
    and 1 / t - 1 / 2 of it to each of their diagonal entries. A component of one variable adds to the diagonal.

    Parameters
    ----------
    decomposition : Decomposition
    rows : ndarray of shape (N, m)
        Rows of the decomposition.
    n_threads : int

    Returns
    -------
    ndarray of shape (N, n, n) or (N, n, n, K)
    """
    n = len(decomposition.feature_names)
    pairs = sorted({pair for u in decomposition.subspaces for pair in combinations(u, 2)})
    players = [*((i, i) for i in range(n)), *pairs]
    first, second = np.array(players).T
    values = np.zeros((len(rows), n, n, len(decomposition.solutions)))
    for part in steps(len(rows), float(len(players)), _NUMBERS):
        for k in range(values.shape[3]):
            own = _combined(decomposition, rows[part], k, _shares_of_pairs, players, n_threads)
            values[part, first, second, k] = own
            values[part, second, first, k] = own
    return values[..., 0] if decomposition.output_names is None else values


def _shares_of_variables(u: Subspace) -> Shares:
    return (((i, i), 1 / len(u)) for i in u)


def _shares_of_pairs(u: Subspace) -> Shares:
    t = len(u)
    if t == 1:
        return [((u[0], u[0]), 1.0)]
    own = [((i, i), 1 / t - 1 / 2) for i in u if t > 2]
    return [*own, *((pair, 1 / (2 * (t - 1))) for pair in combinations(u, 2))]


def _combined(
    decomposition: Decomposition,
    rows: NDArray[Any],
    output: int,
    shares: Callable[[Subspace], Shares],
    players: Sequence[Pair],
    n_threads: int,
) -> Floats:
    """Return linear combinations of the components of one output, (N, len(players)).

    They are evaluated as combinations of the columns of the dictionary, not of components, of which there may be many
    more than variables.
    """
    solution, dictionary = decomposition.solutions[output], decomposition.dictionary
    kept = np.flatnonzero(is_kept(solution, decomposition.subspaces))
    subspaces = [solution.subspaces[c] for c in kept]
    number = {player: p for p, player in enumerate(players)}
    entries = [(c, number[player], share) for c, u in enumerate(subspaces) for player, share in shares(u)]
    table = np.array(entries, dtype=np.float64).reshape(-1, 3)
    places = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    matrix = csc_array((table[:, 2], places), shape=(len(kept), len(players)))
    weights = solution.weights[:, kept]
    values = dictionary.evaluate(rows, output, csc_array(weights @ matrix), n_threads)
    by_component = matrix.tocsr()
    for c, moved, change in dictionary.changes(rows, output, weights, subspaces):
        own = slice(by_component.indptr[c], by_component.indptr[c + 1])
        values[np.ix_(moved, by_component.indices[own])] += np.outer(change, by_component.data[own])
    return values
