"""Larger spans for samples of few rows, chosen by the leave-one-out error.

The default sizes are small for few rows, where larger spans mostly fit noise. A black box that is rough but has little
noise, such as a forest that nearly interpolates its training data, needs more splines. One variable alone hardly
changes the error, so the sizes of all single variables, or of all pairs, are increased together. They are kept if the
leave-one-out error decreases clearly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._dictionaries.tree_columns import TreeDictionary
from fasthdmr._dictionaries.tree_output import TreeOutput
from fasthdmr._spans.basis import Basis, distinct_rows
from fasthdmr._spans.fit import Regression, effective_rows, solve_trees
from fasthdmr._spans.leave_out import r_squared
from fasthdmr._spans.span_dictionaries import TreeSpans
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats

FEW_ROWS = 1000
"""The most distinct rows for which larger spans are tried. With more rows, the default sizes are large enough."""

_MOST_VALUES = 4e6  # limit of rows times terms, which bounds the time to a second or two
_GAINS = (0.75, 0.85)
"""The largest ratio of new to old error at which larger sizes of single variables, and of pairs, are chosen.

It is stricter for single variables, because their spans take part in every projection, and their main effects become
harder to separate as they grow.
"""

_WORK = 1e9  # the most multiplications for exact leverages, which take a few tenths of a second


def finer_sizes(
    sizes: tuple[int, ...],
    basis_of: Callable[[tuple[int, ...]], Basis],
    trees: TreeDictionary,
    outputs: Sequence[TreeOutput],
    X: NDArray[Any],
    weights: Floats | None,
    n_threads: int,
) -> tuple[int, ...]:
    """Choose between the default sizes of spans and larger ones by the leave-one-out error.

    Parameters
    ----------
    sizes : tuple of int
        The default sizes for single variables and pairs.
    basis_of : callable
        Returns the basis with the given sizes.
    trees : TreeDictionary
    outputs : sequence of TreeOutput
        All of them get the same sizes.
    X : ndarray of shape (N, n)
        At most `FEW_ROWS` distinct rows.
    weights : ndarray of shape (N,) or None
    n_threads : int

    Returns
    -------
    tuple of int
        The size of single variables is doubled if that lowers the leave-one-out error by a quarter. The size of pairs
        grows by two if that lowers the error by 15 %.
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
            # The span of a variable must contain all functions of this variable in the spans of its pairs.
            first = (max(sizes[0], sizes[1] + 2), sizes[1] + 2) if position else (2 * sizes[0],)
            tried = (*first, *sizes[len(first) :])
            share = missed(tried)
            if share < gain * least:
                sizes, least = tried, share
    return sizes
