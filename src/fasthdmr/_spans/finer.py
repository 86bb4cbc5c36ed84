"""Finer spans for few rows, where leave-one-out says that these rows bear them.

The size rule is cautious: of few rows, larger spans mostly follow noise. Where the black box is rough but hardly noisy,
as forests are that nearly interpolate, its components need more splines than that. No variable alone shows it, so the
sizes of all variables are raised together, and those of pairs, and kept if left-out rows are met clearly better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._dictionaries.tree_columns import TreeDictionary
from fasthdmr._dictionaries.tree_output import TreeOutput
from fasthdmr._spans.basis import Basis, distinct_rows
from fasthdmr._spans.fit import Regression, TreeSpans, effective_rows, solve_trees
from fasthdmr._spans.leave_out import r_squared
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats

FEW_ROWS = 1000
"""Up to so many distinct rows finer spans are tried; the rule's are fine enough for more."""

_MOST_VALUES = 4e6  # of terms at rows, which keeps the time to a second or two
_GAINS = (0.75, 0.85)
"""The shares of the criterion that larger sizes of single variables, and of pairs, have to come down to.

More is asked of single variables: their spans are in every system, and finer ones are harder to tell apart.
"""

_WORK = 1e9  # multiplications for leverages, a few tenths of a second


def finer_sizes(
    sizes: tuple[int, ...],
    basis_of: Callable[[tuple[int, ...]], Basis],
    trees: TreeDictionary,
    outputs: Sequence[TreeOutput],
    X: NDArray[Any],
    weights: Floats | None,
    n_threads: int,
) -> tuple[int, ...]:
    """Choose the sizes of spans among the rule's and larger ones by leave-one-out.

    Parameters
    ----------
    sizes : tuple of int
        The rule's, of single variables and pairs.
    basis_of : callable
        Makes spans of such sizes.
    trees : TreeDictionary
    outputs : sequence of TreeOutput
        One choice for all of them.
    X : ndarray of shape (N, n)
        At most `FEW_ROWS` distinct rows.
    weights : ndarray of shape (N,) or None
    n_threads : int

    Returns
    -------
    tuple of int
        Twice as many splines of every single variable where that lowers the share of the variance that is missed at
        left-out rows by a quarter, and two more of a variable in a pair where that lowers it by 15 %; else those given.
    """
    X, weights = distinct_rows(X, weights)
    n_terms = sum(len(output.coef) for output in outputs)
    if len(X) * n_terms > _MOST_VALUES:
        return sizes
    values = np.column_stack([trees.evaluate(X, k, box.black_box(), n_threads)[:, 0] for k, box in enumerate(outputs)])
    regression = Regression(effective_rows(len(X), weights))

    def missed(tried: tuple[int, ...]) -> float:
        basis = basis_of(tried)
        solutions = solve_trees(X, weights, basis, outputs, regression, n_threads=n_threads)
        spans = TreeSpans(trees, [len(o.coef) for o in outputs], basis, regression)
        fits = [spans.evaluate(X, k, s.reduced(np.ones(len(s.subspaces), bool)), 1) for k, s in enumerate(solutions)]
        _, unused = r_squared(spans, solutions, X, weights, values, values - np.hstack(fits), work=_WORK)
        return float(np.sum(1 - unused))

    with one_blas_thread():
        least = missed(sizes)
        for position, gain in zip(range(len(sizes)), _GAINS, strict=False):
            # A pair must not say more of one of its variables than the span of that variable alone.
            tried = (max(sizes[0], sizes[1] + 2), sizes[1] + 2) if position else (2 * sizes[0], *sizes[1:])
            share = missed(tried)
            if share < gain * least:
                sizes, least = tried, share
    return sizes
