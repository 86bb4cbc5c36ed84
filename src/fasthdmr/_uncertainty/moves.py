"""Derivatives of ridge projections with respect to the weights of blocks of rows.

Decompositions of trees project each term of the trees on its own spans. Other decompositions project the values of the
black box on all spans at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from scipy.sparse import csc_array

from fasthdmr import _core
from fasthdmr._dictionaries.tree_columns import TreeDictionary
from fasthdmr._dictionaries.tree_output import TreeOutput
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._spans.basis import coarse_basis
from fasthdmr._spans.fit import Regression, kept_terms, projection_orders
from fasthdmr._spans.joint_fit import joint_system
from fasthdmr._spans.ridge_systems import EXACT, random_signs
from fasthdmr._spans.span_dictionaries import SpanDictionary, TreeSpans
from fasthdmr._spans.span_sums import Pairs, SpanSums
from fasthdmr._support.typing import Floats
from fasthdmr._uncertainty.blocks import BlockColumns

_ROOM = 10_000_000  # the size of a batch of terms, in numbers: 80 MB
_MAX_LEVERAGE = 0.95  # a leverage of 1 would make the corrected residual infinite


@dataclass(frozen=True)
class Term:
    """A term of trees: its output, and its numbers among the terms of that output and among all terms."""

    output: int
    subspace: int
    number: int


@singledispatch
def moves_of_projections(
    dictionary: SpanDictionary,
    columns: BlockColumns,
    residual: Floats,
    solutions: Sequence[Solution],
    n_threads: int,
) -> tuple[Floats, _core.SpanGram]:
    """Return the derivatives of the coefficients of projections: of terms for trees, of values for other black boxes.

    Parameters
    ----------
    dictionary : SpanDictionary
    columns : BlockColumns
    residual : ndarray of shape (B L, K)
        The black box minus its components.
    solutions : sequence of Solution
    n_threads : int

    Returns
    -------
    moves : ndarray of shape (columns, K, B)
    gram : _core.SpanGram
        The Gram matrix of the spans.
    """
    return moves_of_values(columns, residual, dictionary.regression, n_threads)


@moves_of_projections.register
def _(
    dictionary: TreeSpans,
    columns: BlockColumns,
    residual: Floats,
    solutions: Sequence[Solution],
    n_threads: int,
) -> tuple[Floats, _core.SpanGram]:
    outputs = dictionary.outputs(solutions)
    return moves_of_terms(columns, dictionary.given, outputs, dictionary.regression, n_threads)


def moves_of_values(
    columns: BlockColumns, residual: Floats, regression: Regression, n_threads: int
) -> tuple[Floats, _core.SpanGram]:
    """Return the derivatives of a joint projection: for each block, the regression of the residual in that block.

    Parameters
    ----------
    columns : BlockColumns
    residual : ndarray of shape (B L, K)
    regression : Regression
    n_threads : int

    Returns
    -------
    moves : ndarray of shape (columns, K, B)
    gram : _core.SpanGram
        The Gram matrix of the spans.
    """
    # A row of leverage h attracts the fit, so its residual has variance (1 - h) sigma². The division corrects that.
    leverage = np.clip(leverages(columns, regression, n_threads), 0, _MAX_LEVERAGE)
    residual = residual / np.sqrt(1 - leverage)[:, None]
    block = np.repeat(np.arange(columns.n_blocks), len(columns.mass) // columns.n_blocks)
    chosen = (block[:, None] == np.arange(columns.n_blocks)) - columns.share
    by_block = (residual[:, :, None] * chosen[:, None, :]).reshape(len(residual), -1)
    moves, gram = _regress(columns, by_block, regression, n_threads)
    return moves.reshape(len(moves), residual.shape[1], columns.n_blocks), gram


def leverages(columns: BlockColumns, regression: Regression, n_threads: int) -> Floats:
    """Return the leverage of each row in a joint fit, (B L,), the diagonal of the hat matrix.

    For many rows it is estimated by Hutchinson's method with random signs.
    """
    S = len(columns.mass)
    probes = np.eye(S) if S <= EXACT else random_signs(S)
    coefficients, _ = _regress(columns, probes, regression, n_threads)
    fitted = sum(
        columns.centred(s) @ coefficients[columns.first[s] : columns.first[s + 1]] for s in range(len(columns.sizes))
    )
    own = columns.mass + np.sum(probes * fitted, axis=1) / (1 if S <= EXACT else probes.shape[1])
    share: Floats = own / np.sum(columns.mass**2) / regression.n_effective  # the fit used more rows than the sample has
    return share


def _regress(
    columns: BlockColumns, values: Floats, regression: Regression, n_threads: int
) -> tuple[Floats, _core.SpanGram]:
    """Return the coefficients, (columns, q), of the ridge regression of values (B L, q) on all spans, and the Gram."""
    rows, mass, basis = columns.rows, columns.mass, columns.basis
    values = np.asfortranarray(values)
    sums = _core.array_sums(basis.core, rows, weight=mass, values=values, n_threads=n_threads)
    gram, system = joint_system(rows, mass, basis, values, sums, regression.n_effective, n_threads)
    return system.coefficients(regression.factor), gram


def moves_of_terms(
    columns: BlockColumns,
    trees: TreeDictionary,
    outputs: Sequence[TreeOutput],
    regression: Regression,
    n_threads: int,
) -> tuple[Floats, _core.SpanGram]:
    """Return the sum over terms of the derivatives of their projections.

    Parameters
    ----------
    columns : BlockColumns
    trees : TreeDictionary
    outputs : sequence of TreeOutput
        The outputs of these trees.
    regression : Regression
    n_threads : int

    Returns
    -------
    moves : ndarray of shape (columns, K, B)
    gram : _core.SpanGram
        The Gram matrix of the spans.
    """
    names = [output.columns.subspaces for output in outputs]
    orders, coarse_orders = projection_orders(columns.basis, names)
    kept = (
        set() if regression.smooth else {t for numbers in kept_terms(columns.basis, names) for t in numbers if t >= 0}
    )
    total, gram = _Terms(columns, trees, outputs, orders, kept, regression, n_threads).moves("inside")
    if any(map(any, coarse_orders)):
        basis, refine = coarse_basis(columns.basis)
        coarse = BlockColumns(basis, columns.rows, columns.blocks)
        terms = _Terms(coarse, trees, outputs, coarse_orders, set(), regression, n_threads)
        total += refine(terms.moves(None)[0])
    return total[1:].reshape(len(total) - 1, len(outputs), columns.n_blocks), gram


class _Terms:
    """Terms of trees, each projected on the spans of all subsets of its subspace up to some order."""

    def __init__(
        self,
        columns: BlockColumns,
        trees: TreeDictionary,
        outputs: Sequence[TreeOutput],
        orders: list[list[int]],
        kept: set[int],
        regression: Regression,
        n_threads: int,
    ) -> None:
        self.columns, self.trees, self.outputs = columns, trees, outputs
        self.orders, self.kept = orders, kept
        self.ridge, self.n_effective, self.n_threads = regression.ridge, regression.n_effective, n_threads

    def moves(self, pairs: Pairs | None) -> tuple[Floats, _core.SpanGram]:
        """Return the derivatives, (1 + columns, K * B), and the Gram blocks of these pairs of spans."""
        columns, rows, mass = self.columns, self.columns.rows, self.columns.mass
        sums = SpanSums.of_trees(
            columns.basis,
            rows,
            mass,
            [output.scaled() for output in self.outputs],
            self.orders,
            with_outputs=False,
            with_terms=False,
            pairs=pairs,
            n_threads=self.n_threads,
        )
        total = np.zeros((columns.basis.core.n_columns, len(self.outputs) * columns.n_blocks))
        factor = columns.all_corrections(self.n_effective)
        for batch in self._batches():
            total += sums.sums.moves(
                sums.gram,
                rows,
                weight=mass,
                terms=[term.number for term in batch],
                values=self._evaluate(batch),
                n_blocks=columns.n_blocks,
                factor=factor,
                ridge=self.ridge,
                n_threads=self.n_threads,
            )
        return total, sums.gram

    def _batches(self) -> Iterator[list[Term]]:
        """Yield the projected terms in batches of limited memory."""
        batch: list[Term] = []
        room, number, columns = _ROOM, -1, self.columns
        for k, output in enumerate(self.outputs):
            for s, (u, order) in enumerate(zip(output.columns.subspaces, self.orders[k], strict=True)):
                number += 1
                spans = columns.basis.inside(u, order)
                if number in self.kept or not spans:
                    continue
                batch.append(Term(k, s, number))
                room -= len(columns.mass) + columns.n_blocks * sum(columns.sizes[v] for v in spans)
                if room < 0:
                    yield batch
                    batch, room = [], _ROOM
        if batch:
            yield batch

    def _evaluate(self, batch: list[Term]) -> Floats:
        """Return the values of terms at the rows, (B L, T)."""
        values = []
        for k, output in enumerate(self.outputs):
            chosen = [term.subspace for term in batch if term.output == k]
            if not chosen:
                continue
            position = np.full(len(output.columns.subspaces), -1)
            position[chosen] = np.arange(len(chosen))
            at = position[output.columns.column_subspace]
            used = np.flatnonzero(at >= 0)
            coef = output.coef[used] / output.scale
            weights = csc_array((coef, (used + 1, at[used])), shape=(len(output.coef) + 1, len(chosen)))
            values.append(self.trees.evaluate(self.columns.rows, k, weights, self.n_threads))
        return np.asfortranarray(np.hstack(values))
