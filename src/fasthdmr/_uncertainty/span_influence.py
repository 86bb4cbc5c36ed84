"""Infinitesimal jackknife of decompositions in spans, by blocks of rows.

Increase the weights of the rows of a block by a small factor. The derivative of the coefficients of a ridge regression
on columns phi is (G + Lambda)^-1 times the sum of w phi r over the block, minus the block's share of the sum over all
rows. G is the Gram matrix, Lambda the penalty and r the residual. This holds for the projections of terms (or the joint
projection of values) and for the projections of the top-down pass, whose residuals are the components. In the top-down
pass, derivatives of the projected function are propagated to the lower spans. The derivatives of the indices follow by
the chain rule. Their squares, summed over B blocks, estimate a variance with B - 1 degrees of freedom, or with fewer if
a few blocks dominate the sum.

Sizes and knots of spans, the choice of pairs, the ridge parameter, the number of rows in it and the model are held
fixed. Bias is estimated elsewhere. Large samples are thinned first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fasthdmr import _core
from fasthdmr._solve.decomposed import Decomposed
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._spans.span_dictionaries import SpanDictionary
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats
from fasthdmr._uncertainty.blocks import FEW_BLOCKS, MANY_BLOCKS, BlockColumns, Blocks, Curve
from fasthdmr._uncertainty.moves import moves_of_projections

_FEWEST_ROWS = 1.5  # at a level, for a standard error there: a single row does not show how much rows vary
_MAX_MOVES = 10_000_000  # the most derivatives of coefficients, which take 80 MB


class SpanInfluence:
    """Derivatives of components and indices with respect to the weights of blocks of rows.

    Parameters
    ----------
    dictionary : SpanDictionary
    solutions : sequence of Solution
    rows : ndarray of shape (S, n)
    weights : ndarray of shape (S,)
        Positive.
    values : ndarray of shape (S, K) or None
        The values of the black box in units of the scales of the outputs, if the projection was one of values.
    n_threads : int
    """

    MAX_VALUES = 2_000_000  # limit of rows times components, which bounds the time to a few seconds
    ROWS_PER_COLUMN = 0  # no lower limit, because of the ridge

    @classmethod
    def of(
        cls, decomposition: Decomposed, rows: Floats, weights: Floats, values: Floats | None, n_threads: int
    ) -> SpanInfluence:
        """Make the influence functions from a sample of rows, and the values of the black box there, (S, K)."""
        dictionary: Any = decomposition.dictionary
        scale = np.array([s.scale for s in decomposition.solutions])
        given = None if values is None else values / scale
        return cls(dictionary, decomposition.solutions, rows, weights, given, n_threads)

    def __init__(
        self,
        dictionary: SpanDictionary,
        solutions: Sequence[Solution],
        rows: Floats,
        weights: Floats,
        values: Floats | None,
        n_threads: int,
    ) -> None:
        basis, K = dictionary.basis, len(solutions)
        wanted = MANY_BLOCKS if MANY_BLOCKS * K * sum(basis.sizes) <= _MAX_MOVES else FEW_BLOCKS
        self.blocks = Blocks(weights, wanted)
        self.mass, order = self.blocks.mass, self.blocks.order
        self.columns = BlockColumns(basis, np.asfortranarray(rows[order]), self.blocks)
        self._dictionary, self._n_threads = dictionary, n_threads
        self.components = self._evaluate(solutions)
        if values is None:
            f = np.column_stack(
                [
                    dictionary.evaluate(self.columns.rows, k, s.black_box, n_threads)[:, 0] / s.scale
                    for k, s in enumerate(solutions)
                ]
            )
        else:
            f = values[order]
        self.f = f - self.mass @ f
        residual = self.f - sum(self.components.values())
        self._top_down(*moves_of_projections(dictionary, self.columns, residual, solutions, n_threads))

    def curve(self, subspace: Subspace) -> Curve:
        """Return the covariance of a component of one variable, for the columns of its span."""
        span, own = self.columns.basis.number[subspace], self.components[subspace]
        _, mean = self.blocks.mean(own)
        both = np.concatenate([self._moves[subspace], -mean[:, None]], axis=1)
        counts = self.columns.counts(span, self._dictionary.regression.n_effective)
        is_unknown = None if counts is None else counts < _FEWEST_ROWS
        return Curve(self.mass @ self.columns.raw(span), self.blocks.covariance(both), is_unknown)

    def inner_products(self, subspace: Subspace) -> tuple[Floats, Floats, Floats, Floats]:
        """Return Cov(f_u, f) and Var(f_u), each (K,), and their derivatives, each (B, K)."""
        own, moves = self.components[subspace], self._moves[subspace]
        covariance, by_covariance = self.blocks.mean(own * self.f)
        variance, by_variance = self.blocks.mean(own**2)
        by_covariance = by_covariance + np.einsum("bpk,pk->bk", moves, self._with_f[subspace])
        by_variance = by_variance + 2 * np.einsum("bpk,pk->bk", moves, self._with_own[subspace])
        return covariance, variance, by_covariance, by_variance

    def variance(self) -> tuple[Floats, Floats]:
        """Return Var(f), (K,), and its derivatives, (B, K)."""
        return self.blocks.mean(self.f**2)

    def _evaluate(self, solutions: Sequence[Solution]) -> dict[Subspace, Floats]:
        """Return all components at the rows, centred, (B L, K), including those that are not reported."""
        found = {u: np.zeros((len(self.columns.rows), len(solutions))) for s in solutions for u in s.subspaces}
        for k, s in enumerate(solutions):
            values = self._dictionary.evaluate(self.columns.rows, k, s.weights, self._n_threads) / s.scale
            values -= self.mass @ values
            for c, u in enumerate(s.subspaces):
                found[u][:, k] = values[:, c]
        return found

    def _top_down(self, coefficient_moves: Floats, gram: _core.SpanGram) -> None:
        """Propagate the derivatives of the coefficients of every span, (columns, K, B), through the top-down pass."""
        columns = self.columns
        below = {u: columns.basis.inside(u, len(u) - 1) for u in columns.basis.subspaces}
        products = self._products(below)
        self._moves: dict[Subspace, Floats] = {}
        self._with_f: dict[Subspace, Floats] = {}
        self._with_own: dict[Subspace, Floats] = {}
        for u in reversed(columns.basis.subspaces):
            if u not in self.components:
                continue
            s, lower = columns.basis.number[u], below[u]
            own = coefficient_moves[columns.first[s] : columns.first[s + 1]].copy()
            moves = [own]
            if lower:
                down = self._projection_moves(gram, s, lower, own, [products[v, u] for v in lower])
                coefficient_moves[columns.columns_of(lower)] += down
                moves.insert(0, -down)
            self._moves[u] = np.vstack(moves).transpose(2, 0, 1)
            self._with_own[u] = np.vstack([products[v, u].sum(axis=0) for v in [*lower, s]])
            self._with_f[u] = np.vstack([self._span_with_f[v] for v in [*lower, s]])

    def _projection_moves(
        self, gram: _core.SpanGram, span: int, lower: list[int], own: Floats, products: list[Floats]
    ) -> Floats:
        """Return the derivatives of a component's projection on the lower spans, (columns of these, K, B).

        `own` are the derivatives of the component's own coefficients, (p, K, B). `products` are its inner products with
        the columns of each lower span, by block.
        """
        G, sizes = gram.covariance([*lower, span], self._n_threads), [self.columns.sizes[v] for v in lower]
        n = sum(sizes)
        right = np.tensordot(G[:n, n:], own, 1)
        n_effective = self._dictionary.regression.n_effective
        for v, part, of_span in zip(lower, np.split(right, np.cumsum(sizes)[:-1]), products, strict=True):
            own_residual = self.columns.corrections(v, n_effective)
            part += own_residual[:, None, None] * self.columns.moves(of_span).transpose(1, 2, 0)
        ridge = self._dictionary.regression.ridge / np.repeat(sizes, sizes)
        down = _core.solve_positive(
            G[:n, :n] + np.diag(ridge), np.asfortranarray(right.reshape(n, -1)), self._n_threads
        )
        return down.reshape(right.shape)

    def _products(self, below: dict[Subspace, list[int]]) -> dict[tuple[int, Subspace], Floats]:
        """Return the inner products of every component with its own span and all lower spans, by block, (B, p, K)."""
        columns, products = self.columns, {}
        above: dict[int, list[Subspace]] = {s: [] for s in columns.basis.number.values()}
        for u, lower in below.items():
            if u in self.components:
                for v in [*lower, columns.basis.number[u]]:
                    above[v].append(u)
        self._span_with_f = {}
        for v, subspaces in above.items():
            if not subspaces:
                continue
            centred, K = columns.centred(v), self.f.shape[1]
            self._span_with_f[v] = columns.weighted(centred, self.f)
            found = columns.by_block(centred, np.hstack([self.components[u] for u in subspaces]))
            for i, u in enumerate(subspaces):
                products[v, u] = found[:, :, i * K : (i + 1) * K]
        return products
