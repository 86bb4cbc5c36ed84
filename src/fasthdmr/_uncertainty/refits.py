"""Decompositions of the same black box, solved again on other rows or with other weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch

import numpy as np
from scipy.sparse import csc_array, eye_array

from fasthdmr import _core
from fasthdmr._dictionaries.dictionary import Dictionary, OwnSpans
from fasthdmr._solve.decomposed import Decomposed
from fasthdmr._solve.hierarchy import Solution, solve
from fasthdmr._spans.span_dictionaries import SpanDictionary
from fasthdmr._support.indices import INDICES
from fasthdmr._support.scale import power_of_two
from fasthdmr._support.typing import Floats
from fasthdmr._support.warnings import RankWarning, silenced


@singledispatch
def solve_again(
    dictionary: Dictionary,
    solutions: Sequence[Solution],
    rows: Floats,
    weights: Floats,
    values: Floats | None,
    share: float = 1.0,
    *,
    n_threads: int,
) -> list[Solution]:
    """Return the solutions on other rows or with other weights, for the same black box.

    `values` are the values of the black box at the rows, (N, K), if it is known by its values only. The penalty of a
    ridge regression becomes that of a `share` of the fitted rows.
    """
    raise TypeError(f"{type(dictionary).__name__} cannot be solved again on other rows.")


@solve_again.register
def _(
    dictionary: SpanDictionary,
    solutions: Sequence[Solution],
    rows: Floats,
    weights: Floats,
    values: Floats | None,
    share: float = 1.0,
    *,
    n_threads: int,
) -> list[Solution]:
    return dictionary.solve_again(solutions, rows, weights, values, share, n_threads)


@solve_again.register
def _(
    dictionary: OwnSpans,
    solutions: Sequence[Solution],
    rows: Floats,
    weights: Floats,
    values: Floats | None,
    share: float = 1.0,
    *,
    n_threads: int,
) -> list[Solution]:
    return [_solve_columns(dictionary, k, s, rows, weights, n_threads) for k, s in enumerate(solutions)]


def _solve_columns(
    dictionary: OwnSpans, output: int, solution: Solution, rows: Floats, weights: Floats, n_threads: int
) -> Solution:
    """Return the solution on other rows, for a dictionary whose columns span its function spaces."""
    box = solution.black_box.toarray()[:, 0] / solution.scale
    columns = dictionary.evaluate(rows, output, csc_array(eye_array(len(box), format="csc")[:, 1:]), n_threads)
    unit = power_of_two(np.abs(columns).max(initial=0.0))
    triangle = _core.array_triangle(np.asfortranarray(columns / unit), weight=weights, y=None, n_threads=n_threads)[0]
    box = np.concatenate([[0.0], unit * box[1:]])  # components do not depend on the constant
    with silenced(RankWarning):  # the fit has warned already
        found = solve(triangle / np.sqrt(weights.sum()), dictionary.labels(output), box, n_threads)
    return found.rescaled(0.0, solution.scale, np.full(len(box) - 1, unit))


def all_indices(decomposition: Decomposed, Sa: Floats, S: Floats) -> list[Floats]:
    """Return all indices in the order of `INDICES`, each (C, q) or (n, q), given Sa and S, each (C, q)."""
    unused = np.zeros(S.shape[1])
    sensitivity = replace(
        decomposition.sensitivity, Sa=Sa, S=S, residual=unused, variance=unused, output_names=None, uncertainty=None
    )
    return [getattr(sensitivity, name) for name in INDICES]
