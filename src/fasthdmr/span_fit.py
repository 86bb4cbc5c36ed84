"""Decompositions in spans of splines or bins, whose targets are trees or any function (spec 3 and 4)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from scipy.sparse import coo_array, csc_array, vstack

from fasthdmr import _core
from fasthdmr._scale import Deviations, is_constant
from fasthdmr._threads import one_blas_thread
from fasthdmr.dictionary import Dictionary, ExtendedDictionary, Subspace
from fasthdmr.hierarchy import Solution
from fasthdmr.spans import Basis, product_pairs

Floats = NDArray[np.float64]

SPAN_RANK_TOLERANCE = 1e-10
"""Spans of one variable, scaled to unit norm, count as dependent below this (an eigenvalue of their products)."""


class SpanDictionary(ExtendedDictionary):
    """The columns of a black box, and spans: what a decomposition in spans is evaluated with.

    Parameters
    ----------
    given : Dictionary
        The columns that the black box is made of.
    n_given : sequence of int
        Their number, for each output.
    basis : Basis
    """

    def __init__(self, given: Dictionary, n_given: Sequence[int], basis: Basis) -> None:
        super().__init__(given, n_given)
        self.basis = basis

    def added(self, output: int) -> _core.Spans:
        """Return the spans, which all outputs share."""
        return self.basis.core


@dataclass(frozen=True, eq=False)
class TreeOutput:
    """One output as tree columns: constant + columns times coef.

    Attributes
    ----------
    columns : _core.TreeColumns
    constant : float
    coef : ndarray of shape (b,)
    scale : float
        A power of two that the output is divided by for its moments.
    """

    columns: _core.TreeColumns
    constant: float
    coef: Floats
    scale: float = 1.0

    @property
    def subspaces(self) -> list[Subspace]:
        """The subspace of every column."""
        names = self.columns.subspaces
        return [names[s] for s in self.columns.column_subspace]

    def black_box(self) -> csc_array:
        """Return the weights of the output over (1, columns)."""
        return csc_array(np.concatenate([[self.constant], self.coef])[:, None])


def solve_trees(
    X: NDArray[Any],
    weights: Floats | None,
    basis: Basis,
    outputs: Sequence[TreeOutput],
    *,
    smooth: bool,
    n_threads: int,
) -> list[Solution]:
    """Decompose tree ensembles: terms of a kept subspace by the top-down pass, the others jointly first.

    Parameters
    ----------
    X : ndarray of shape (N, n)
    weights : ndarray of shape (N,) or None
    basis : Basis
        Its subspaces are those that are kept.
    outputs : sequence of TreeOutput
    smooth : bool
        Whether a component keeps only what its spans and those below hold of its own terms.
    n_threads : int

    Returns
    -------
    list of Solution
    """
    span_of = {u: s for s, u in enumerate(basis.subspaces)}
    n_targets = 1
    crossing, plans = [], []
    for output in outputs:
        own = [-1] * len(span_of)
        whole, rest = n_targets, -1
        n_targets += 1
        target = []
        for u in output.subspaces:
            if (s := span_of.get(u)) is None:
                if rest < 0:
                    rest, n_targets = n_targets, n_targets + 1
                target.append(rest)
                continue
            if own[s] < 0:
                own[s], n_targets = n_targets, n_targets + 1
            target.append(own[s])
        scaled = (output.coef / output.scale).tolist()
        crossing.append((output.columns, scaled, target, output.constant / output.scale, whole))
        plans.append((own, rest, whole))
    joint = any(rest >= 0 for _, rest, _ in plans)
    with one_blas_thread():
        moments = _core.tree_moments(
            basis.core,
            X,
            weight=weights,
            outputs=crossing,
            n_targets=n_targets,
            pairs=product_pairs(basis.subspaces, joint=joint),
            wanted=wanted_targets(basis.subspaces, plans),
            n_threads=n_threads,
        )
    rank = additive_rank(moments)
    solutions = []
    for output, (own, rest, whole) in zip(outputs, plans, strict=True):
        kept = [] if smooth else [(j, span_of[u]) for j, u in enumerate(output.subspaces) if u in span_of]
        black_box = output.black_box().toarray()[:, 0]
        found = _solution(moments, basis, (own, rest, whole), smooth, black_box, kept, rank, n_threads, 0, output.scale)
        solutions.append(found)
    return solutions


def wanted_targets(subspaces: Sequence[Subspace], plans: Sequence[tuple[list[int], int, int]]) -> list[list[int]]:
    """Return of each span the targets whose products with it are needed.

    Those of an output as a whole, of the terms that are projected on all spans, and of the own terms of a subspace for
    it and those inside it.

    Parameters
    ----------
    subspaces : sequence of tuple of int
    plans : sequence of (own, rest, whole)
        One an output: numbers of targets, -1 for none; `own` has one for each subspace.

    Returns
    -------
    list of list of int

    Examples
    --------
    >>> wanted_targets([(0,), (1,), (0, 1)], [([1, -1, 2], -1, 3)])
    [[0, 1, 2, 3], [0, 2, 3], [0, 2, 3]]
    """
    number = {u: s for s, u in enumerate(subspaces)}
    wanted: list[set[int]] = [{0} for _ in subspaces]
    for own, rest, whole in plans:
        for u, target in zip(subspaces, own, strict=True):
            inside = [number[v] for t in range(1, len(u) + 1) for v in combinations(u, t) if v in number]
            for s in inside if target >= 0 else []:
                wanted[s].add(target)
        for targets in wanted:
            targets.update(t for t in (rest, whole) if t >= 0)
    return [sorted(targets) for targets in wanted]


def solve_values(
    X: NDArray[Any], weights: Floats | None, basis: Basis, values: Floats, *, n_threads: int
) -> list[Solution]:
    """Decompose functions given by their values at the rows, (N, K): joint projection, then the top-down pass."""
    deviations = Deviations.of(values, weights)
    with one_blas_thread():
        moments = _core.array_moments(
            basis.core,
            X,
            weight=weights,
            values=deviations.values,
            pairs=product_pairs(basis.subspaces, joint=True),
            n_threads=n_threads,
        )
    rank = additive_rank(moments)
    own = [-1] * len(basis.subspaces)
    itself = np.array([0.0, 1.0])
    return [
        _solution(moments, basis, (own, k + 1, k + 1), True, itself, [], rank, n_threads, shift, scale)
        for k, (shift, scale) in enumerate(zip(deviations.mean.tolist(), deviations.scale.tolist(), strict=True))
    ]


def _solution(
    moments: _core.SpanMoments,
    basis: Basis,
    plan: tuple[list[int], int, int],
    smooth: bool,
    black_box: Floats,
    kept: Sequence[tuple[int, int]],
    rank: int,
    n_threads: int,
    shift: float,
    scale: float,
) -> Solution:
    """Run the top-down pass of one output; `kept` pairs the given columns that stay with their components.

    Its moments are those of (f - shift) / scale.
    """
    own, rest, whole = plan
    with one_blas_thread():
        result = moments.top_down(own, rest, whole, smooth, n_threads)
    begin, b = result["begin"], len(black_box) - 1
    # Of trees, subspaces that no term reaches have no component; nothing is known of the terms of a function.
    exist = np.flatnonzero((np.diff(begin) > 0) | (rest == whole))
    shape = (basis.core.n_columns, len(begin) - 1)
    weights = csc_array((scale * result["weight"], result["column"], begin), shape=shape)
    columns, components = np.array(kept, dtype=np.int64).reshape(-1, 2).T
    terms = coo_array((black_box[columns + 1], (columns, components)), shape=(b, len(begin) - 1))
    stacked = csc_array(vstack([weights[[0]], terms, weights[1:]], format="csc"))[:, exist]
    whole_box = csc_array(np.concatenate([black_box, np.zeros(basis.core.n_columns - 1)])[:, None])
    constant = shift + scale * result["constant"]
    return Solution(
        subspaces=[basis.subspaces[s] for s in exist],
        weights=stacked,
        constant=constant,
        variance=result["variance"][exist],
        covariance=result["covariance"][exist],
        total=result["total"],
        black_box=whole_box,
        coef=black_box[1:],
        rank=rank,
        is_constant=bool(is_constant(result["total"], scale, constant)),
        scale=scale,
    )


def additive_rank(moments: _core.SpanMoments) -> int:
    """Return the numerical rank of the spans of one variable, with one warning where variables are collinear."""
    with one_blas_thread():
        rank, expected = moments.additive_rank(SPAN_RANK_TOLERANCE)
    if rank < expected:
        warnings.warn(
            f"The spans of one variable have numerical rank {rank} of {expected} (relative tolerance "
            f"{SPAN_RANK_TOLERANCE:g}): some variables say the same as others, or there are too few rows. Components "
            "that depend on each other are not unique; those of least norm are returned, which share equally.",
            LinAlgWarning,
            stacklevel=2,
        )
    return rank
