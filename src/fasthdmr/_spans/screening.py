"""Choice of the strongest variables and pairs, where a joint projection cannot hold all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from fasthdmr._support.scale import Deviations
from fasthdmr._support.steps import steps
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats
from fasthdmr._support.warnings import PairsWarning, VariablesWarning, warn

BINS = 4
"""The number of quantile bins per numeric variable, on which the effects of variables and pairs are estimated."""

LEVELS = 16
"""The most cells of a categorical variable: one for each of the most frequent levels, and one for all others."""

_MOST_PAIRED = 100  # pairs are sought among at most this many of the strongest variables
_EDGE_ROWS = 500  # the edges of the bins are quantiles of about this many rows
_BY_CHANCE = 0.1
_STEP = 4e6  # values at a time, which bounds memory


def variable_strengths(
    X: NDArray[Any], weights: Floats | None, values: Floats, n_levels: Mapping[int, int] | None = None
) -> Floats:
    """Return how much of a function's variance each variable explains alone, on a few bins or levels.

    Parameters
    ----------
    X : ndarray of shape (N, n)
    weights : ndarray of shape (N,) or None
    values : ndarray of shape (N, K)
        The function.
    n_levels : dict of int to int, optional
        The number of levels of each categorical column, which holds codes by decreasing frequency.

    Returns
    -------
    ndarray of shape (n,)
        Shares of the variance, summed over outputs.

    Examples
    --------
    >>> x = np.arange(40.0)
    >>> variable_strengths(np.column_stack([x // 10, x % 2]), None, x[:, None]).round(2).tolist()
    [0.94, 0.0]
    """
    w = np.ones(len(X)) if weights is None else weights
    deviations = Deviations.of(values, weights)
    total = w.sum() * np.where(deviations.variance > 0, deviations.variance, np.inf)
    weighted, levels = w[:, None] * deviations.values, n_levels or {}
    strengths = np.zeros(X.shape[1])
    for part in steps(X.shape[1], len(X), _STEP):
        for j, codes in zip(range(part.start, X.shape[1]), _codes(X[:, part]).T, strict=False):
            if j in levels:
                codes = np.minimum(X[:, j], LEVELS - 1).astype(np.int64)
            mass = np.bincount(codes, w)
            for r, whole in zip(weighted.T, total, strict=True):
                strengths[j] += between_cells(codes, mass, r) / whole
    return strengths


def between_cells(codes: NDArray[np.int64], mass: NDArray[Any], weighted: Floats) -> float:
    """Return the sum of squares that the means of cells explain.

    Parameters
    ----------
    codes : ndarray of shape (N,)
        The cell of each row.
    mass : ndarray of shape (cells,)
        The total weight of each cell.
    weighted : ndarray of shape (N,)
        Values times weights.

    Examples
    --------
    >>> between_cells(np.array([0, 0, 2]), np.array([2.0, 0.0, 1.0]), np.array([1.0, 3.0, 2.0]))
    12.0
    """
    squares = np.bincount(codes, weighted, len(mass)) ** 2
    return float(np.sum(np.divide(squares, mass, out=np.zeros_like(mass), where=mass > 0)))


def _codes(X: NDArray[Any]) -> NDArray[np.int64]:
    """Return the bin of every value, between quantiles of some rows; the last bin is for missing values."""
    some = np.sort(X[:: max(1, len(X) // _EDGE_ROWS)], axis=0)  # missing values come last
    present = np.count_nonzero(~np.isnan(some), axis=0)
    codes = np.zeros(X.shape, dtype=np.int64)
    for b in range(1, BINS):
        codes += np.take_along_axis(some, np.maximum(present * b // BINS - 1, 0)[None], axis=0) < X
    return np.where(np.isnan(X), BINS, codes)


def above_chance(strengths: Floats, freedom: NDArray[Any] | int, n_rows: float) -> NDArray[np.int64]:
    """Return the numbers of those with larger shares than expected by chance, strongest first.

    Without an effect, the number of rows times a share has about a chi-square distribution. If none has an effect, a
    tenth of one passes on average. The mean of that distribution is subtracted for the order.

    Parameters
    ----------
    strengths : ndarray of shape (m,)
        Shares of the variance.
    freedom : int or ndarray of shape (m,)
        Degrees of freedom.
    n_rows : float
        The effective number of rows.

    Returns
    -------
    ndarray of int
        At least one.

    Examples
    --------
    >>> above_chance(np.array([0.001, 0.2, 0.5]), 3, 1000).tolist()
    [2, 1]
    """
    strongest = np.argsort(freedom / n_rows - strengths, kind="stable")
    passing = strengths * n_rows > chdtri(freedom, _BY_CHANCE / len(strengths))
    return strongest[passing[strongest]] if passing.any() else strongest[:1]


@dataclass(frozen=True)
class Room:
    """What a joint projection can hold where variables or pairs are left out.

    Attributes
    ----------
    variables, pairs : int
        The most single variables, and the most pairs.
    together : int
        The most variables all of whose interactions up to the order can be held, for orders above 2.
    """

    variables: int
    pairs: int
    together: int

    @classmethod
    def of(cls, sizes: Sequence[int], run: int, touched: int, columns: int) -> Room:
        """Divide the most non-zero columns of a row, and the most columns, between main effects and interactions.

        Parameters
        ----------
        sizes : sequence of int
            The least number of splines per variable by order.
        run : int
            The number of splines of a variable that are not zero at a value.
        touched, columns : int
            The most non-zero columns per row, and the most columns.

        Examples
        --------
        >>> Room.of([4, 3], 4, 1500, 4000)
        Room(variables=187, pairs=46, together=10)
        """
        parts = 1 if len(sizes) == 1 else 2
        touched, columns = touched // parts, columns // parts

        def most(t: int) -> int:
            return int(max(1, min(touched // run**t, columns // sizes[t - 1] ** t)))

        def holds(m: int) -> bool:
            orders = range(2, len(sizes) + 1)
            nonzero, all_columns = (sum(comb(m, t) * of[t - 1] ** t for t in orders) for of in (runs, sizes))
            return bool(nonzero <= touched and all_columns <= columns)

        runs = [run] * len(sizes)
        if parts == 1:
            return cls(most(1), 0, 1)
        return cls(most(1), most(2), next(m for m in count(2) if not holds(m + 1)))


def screen(
    X: NDArray[Any],
    weights: Floats | None,
    values: Floats,
    *,
    order: int,
    chosen: frozenset[Subspace] | None,
    room: Room,
    strength: Callable[[list[Subspace]], Floats],
    n_levels: Mapping[int, int] | None = None,
) -> list[Subspace]:
    """Choose the strongest single variables, and interactions among these. A warning states how many are left out.

    Parameters
    ----------
    X : ndarray of shape (N, n)
    weights : ndarray of shape (N,) or None
    values : ndarray of shape (N, K)
        The function at these rows.
    order : int
        Largest order of a span.
    chosen : frozenset of tuple of int, or None
        Interactions that the user chose. They are all kept, and so are their variables.
    room : Room
    strength : callable
        Returns the variance that pairs explain beyond their variables, summed over the weights of the rows.
    n_levels : dict of int to int, optional
        The number of levels of each categorical column.

    Returns
    -------
    list of tuple of int
        Subsets of them are not listed.

    Warns
    -----
    VariablesWarning, PairsWarning
    """
    n, K = X.shape[1], values.shape[1]
    n_rows = float(len(X) if weights is None else weights.sum() ** 2 / (weights**2).sum())
    strengths = variable_strengths(X, weights, values, n_levels)
    freedom = np.full(n, (BINS - 1) * K)
    for j, n_own in (n_levels or {}).items():
        freedom[j] = (min(n_own, LEVELS) - 1) * K
    if n <= room.variables:
        ranked = np.argsort(freedom / n_rows - strengths, kind="stable")
    else:
        ranked = above_chance(strengths, freedom, n_rows)
    asked = sorted({j for u in chosen or () for j in u})
    others = [j for j in ranked.tolist() if j not in set(asked)]
    variables = [*asked, *others[: max(0, room.variables - len(asked))]]
    single: list[Subspace] = [(j,) for j in sorted(variables)]
    if chosen is not None or order == 1:
        _warn_of_variables(n, len(variables), room.variables, "")
        return [*single, *(chosen or ())]
    if order > 2:
        together = tuple(sorted(variables[: room.together]))
        _warn_of_variables(
            n, len(variables), room.variables, f" Interactions are kept among the strongest {len(together)} of them."
        )
        return [*single, together]
    pairs: list[Subspace] = list(combinations(sorted(variables[:_MOST_PAIRED]), 2))
    whole = len(X) if weights is None else weights.sum()
    kept: list[int] = []
    if pairs:
        found = above_chance(strength(pairs) / whole, (BINS - 1) ** 2 * K, n_rows)
        kept = found[: room.pairs].tolist()
    _warn_of_variables(n, len(variables), room.variables, f" {len(kept)} of {len(pairs):,} pairs of these are kept.")
    return [*single, *(pairs[p] for p in sorted(kept))]


def _warn_of_variables(n: int, kept: int, room: int, interactions: str) -> None:
    """Warn of variables that are left out, or else of interactions."""
    remedy = (
        f"{interactions} The residual includes what is left out. Choose pairs with `interactions`: they are kept, with "
        "their variables. For tree models, TreeHDMR has no such limit."
    )
    if kept == n:
        if interactions:
            warn(f"Not all interactions of {n:,} variables fit into memory and time.{remedy}", PairsWarning)
        return
    why = "more do not fit into memory and time" if kept >= room else "the others have no effect above chance"
    warn(
        f"{n - kept:,} of {n:,} variables are left out, and {kept:,} are kept: those with the strongest effects on a "
        f"coarse grid. At most {room:,} fit into memory and time, and {why}.{remedy}",
        VariablesWarning,
    )
