"""How far a decomposition in spans would move with another sample of rows: derivatives by the weights of blocks of rows.

Let the rows of a block weigh a little more. Coefficients of a ridge regression on columns phi then move by
(G + Lambda)^-1 times the mean of phi r over the block, r the residual of the regression, less what all rows move them by.
So do those of every term in its own spans (or of the joint projection of values), and in the top-down pass, where the
residual is the component itself; the pass also hands down by how much its components move. Indices follow by the chain
rule. The sum of the squares of these derivatives over blocks is the infinitesimal jackknife's estimate of a variance.

Sizes and knots of spans, the weight of the ridge and the model itself are taken as given, and so is the effective number
of rows in the ridge. Of many rows, or terms, some rows stand for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.special import stdtrit

from fasthdmr import _core
from fasthdmr.dictionary import Subspace
from fasthdmr.hierarchy import Solution
from fasthdmr.influence import Curve
from fasthdmr.joint_fit import joint_system
from fasthdmr.span_fit import SpanDictionary, kept_terms, projection_orders
from fasthdmr.spans import Basis, axis_columns, coarse_basis

Floats = NDArray[np.float64]

MANY_BLOCKS, FEW_BLOCKS = 50, 25
_MAX_MOVES = 10_000_000  # derivatives of coefficients: 80 MB
_MAX_SPENT = 0.8


@dataclass(frozen=True)
class Term:
    """A term of trees: its output, its number among the subspaces of that and among all terms, and its spans."""

    output: int
    subspace: int
    number: int
    spans: list[int]


class SpanColumns:
    """The centred columns of spans at rows that are cut into blocks of one length.

    Parameters
    ----------
    basis : Basis
    rows : ndarray of shape (B L, n)
        One block after the other.
    mass : ndarray of shape (B L,)
        Weights of sum 1; blocks are filled up by rows of weight 0.
    n_blocks : int
    """

    def __init__(self, basis: Basis, rows: Floats, mass: Floats, n_blocks: int) -> None:
        self.basis, self.mass, self.n_blocks = basis, mass, n_blocks
        self.share = mass.reshape(n_blocks, -1).sum(axis=1)
        self.number = {u: s for s, u in enumerate(basis.subspaces)}
        self.first = np.concatenate([[0], np.cumsum(basis.sizes)])
        self._axes = [axis_columns(axis, rows[:, axis[0]]) for axis in basis.axes]

    def raw(self, span: int) -> Floats:
        """Return the columns of a span as they are, (B L, p)."""
        first, *others = (self._axes[a] for a in self.basis.axes_of[span])
        for axis in others:
            first = (first[:, :, None] * axis[:, None, :]).reshape(len(first), -1)
        return first

    def centred(self, span: int) -> Floats:
        """Return the columns of a span less their means."""
        columns = self.raw(span)
        centred: Floats = columns - self.mass @ columns
        return centred

    def by_block(self, columns: Floats, values: Floats) -> Floats:
        """Return the products of columns, (B L, p), with values, (B L, q), over each block: (B, p, q)."""
        weighted = (self.mass[:, None] * values).reshape(self.n_blocks, -1, values.shape[1])
        products: Floats = columns.reshape(self.n_blocks, -1, columns.shape[1]).transpose(0, 2, 1) @ weighted
        return products

    def moves(self, products: Floats) -> Floats:
        """Return how a mean moves that is the sum of these over the blocks (first axis)."""
        share = self.share.reshape(-1, *[1] * (products.ndim - 1))
        moved: Floats = products - share * products.sum(axis=0)
        return moved

    def inside(self, subspace: Subspace, order: int) -> list[int]:
        """Return the spans of subsets of a subspace up to an order."""
        subsets = (v for t in range(1, min(order, len(subspace)) + 1) for v in combinations(subspace, t))
        return sorted(self.number[v] for v in subsets if v in self.number)

    def columns_of(self, spans: Sequence[int]) -> NDArray[np.int64]:
        """Return the numbers of the columns of spans."""
        return np.concatenate([np.arange(self.first[s], self.first[s + 1]) for s in spans])


class SpanInfluence:
    """Derivatives of the components and indices of a decomposition in spans by the weights of blocks of rows.

    Parameters
    ----------
    dictionary : SpanDictionary
    solutions : sequence of Solution
    rows : ndarray of shape (S, n)
    weights : ndarray of shape (S,)
        Positive.
    values : ndarray of shape (S, K) or None
        The black box, where it was projected by its values; in units of the scales of the outputs.
    """

    def __init__(
        self,
        dictionary: SpanDictionary,
        solutions: Sequence[Solution],
        rows: Floats,
        weights: Floats,
        values: Floats | None,
    ) -> None:
        basis, K = dictionary.basis, len(solutions)
        wanted = MANY_BLOCKS if MANY_BLOCKS * K * sum(basis.sizes) <= _MAX_MOVES else FEW_BLOCKS
        n_blocks = min(wanted, len(rows))
        order, filled = _blocks(len(rows), n_blocks)
        self.mass = np.where(filled, weights[order], 0.0) / weights.sum()
        rows = np.asfortranarray(rows[order])
        self.columns = SpanColumns(basis, rows, self.mass, n_blocks)
        self._dictionary, self._rows = dictionary, rows
        self._ridge = dictionary.regression.ridge
        self.components = self._evaluate(solutions)
        if values is None:
            f = np.column_stack(
                [dictionary.evaluate(rows, k, s.black_box, 1)[:, 0] / s.scale for k, s in enumerate(solutions)]
            )
        else:
            f = values[order]
        self.f = f - self.mass @ f
        # Blocks of rows drawn without replacement differ by less than independent ones.
        S = len(weights)
        self._factor = n_blocks / max(1, n_blocks - 1) * (S - 1) / S / np.sum(self.mass**2)
        self.quantile = float(stdtrit(max(1, n_blocks - 1), 0.975))
        pushed, gram = self._moves_of_terms(solutions) if values is None else self._moves_of_values()
        self._top_down(pushed, gram)

    def deviation(self, moves: Floats) -> Floats:
        """Return standard deviations for one row from derivatives, (B, ..., K): (..., K).

        Over the square root of the effective number of rows, they are standard errors.
        """
        deviation: Floats = np.sqrt(self._factor * np.sum(moves**2, axis=0))
        return deviation

    def curve(self, subspace: Subspace) -> Curve:
        """Return how a component of one variable moves with the rows."""
        span, own = self.columns.number[subspace], self.components[subspace]
        mean = self.columns.moves(
            (self.mass[:, None] * own).reshape(self.columns.n_blocks, -1, own.shape[1]).sum(axis=1)
        )
        both = np.concatenate([self._moves[subspace], -mean[:, None]], axis=1)
        covariance = self._factor * np.einsum("bik,bjk->kij", both, both)
        return Curve(self.mass @ self.columns.raw(span), covariance)

    def inner_products(self, subspace: Subspace) -> tuple[Floats, Floats, Floats, Floats]:
        """Return Cov(f_u, f) and Var(f_u), each (K,), and their derivatives, each (B, K)."""
        own, moves = self.components[subspace], self._moves[subspace]
        covariance, by_covariance = self._mean(own * self.f)
        variance, by_variance = self._mean(own**2)
        by_covariance = by_covariance + np.einsum("bpk,pk->bk", moves, self._with_f[subspace])
        by_variance = by_variance + 2 * np.einsum("bpk,pk->bk", moves, self._with_own[subspace])
        return covariance, variance, by_covariance, by_variance

    def variance(self) -> tuple[Floats, Floats]:
        """Return Var(f), (K,), and its derivatives, (B, K)."""
        return self._mean(self.f**2)

    def _mean(self, values: Floats) -> tuple[Floats, Floats]:
        by_block = (self.mass[:, None] * values).reshape(self.columns.n_blocks, -1, values.shape[1]).sum(axis=1)
        return by_block.sum(axis=0), self.columns.moves(by_block)

    def _evaluate(self, solutions: Sequence[Solution]) -> dict[Subspace, Floats]:
        """Return all components at the rows, centred, (B L, K): those that are not reported hand down, too."""
        found = {u: np.zeros((len(self._rows), len(solutions))) for s in solutions for u in s.subspaces}
        for k, s in enumerate(solutions):
            values = self._dictionary.evaluate(self._rows, k, s.weights, 1) / s.scale
            values -= self.mass @ values
            for c, u in enumerate(s.subspaces):
                found[u][:, k] = values[:, c]
        return found

    def _moves_of_values(self) -> tuple[Floats, _core.SpanGram]:
        """Return the derivatives of a joint projection, (columns, K, B): those of its residual's products with spans."""
        columns, regression = self.columns, self._dictionary.regression
        assert regression.factor is not None
        residual = self.f - sum(self.components.values())
        block = np.repeat(np.arange(columns.n_blocks), len(self.mass) // columns.n_blocks)
        chosen = (block[:, None] == np.arange(columns.n_blocks)) - columns.share
        values = np.asfortranarray((residual[:, :, None] * chosen[:, None, :]).reshape(len(residual), -1))
        given = self._rows, self.mass, columns.basis, values
        sums = _core.array_sums(columns.basis.core, self._rows, weight=self.mass, values=values, n_threads=1)
        gram, system = joint_system(*given, sums, regression.n_effective, 1)
        # A fit takes up as many rows as it has degrees of freedom: what it leaves is too small by that.
        _, spent = system.fit(regression.factor)
        left = 1 - min(_MAX_SPENT, spent / regression.n_effective)
        moves = system.coefficients(regression.factor) / np.sqrt(left)
        return moves.reshape(len(moves), -1, columns.n_blocks), gram

    def _moves_of_terms(self, solutions: Sequence[Solution]) -> tuple[Floats, _core.SpanGram]:
        """Return the derivatives of the projections of terms, added up, (columns, K, B), and the products of spans."""
        trees, basis, regression = self._dictionary.given, self.columns.basis, self._dictionary.regression
        boxes = [
            s.black_box.toarray()[: b + 1, 0] / s.scale
            for b, s in zip(self._dictionary.n_given, solutions, strict=True)
        ]
        outputs = [(c, box[1:].tolist(), float(box[0])) for c, box in zip(trees.columns, boxes, strict=True)]
        terms = [columns.subspaces for columns in trees.columns]
        orders, coarse_orders = projection_orders(basis, terms)
        kept = set() if regression.smooth else {t for numbers in kept_terms(basis, terms) for t in numbers if t >= 0}
        total, gram = self._project(self.columns, outputs, orders, kept)
        if any(map(any, coarse_orders)):
            coarse, refinement = coarse_basis(basis)
            columns = SpanColumns(coarse, self._rows, self.mass, self.columns.n_blocks)
            total += refinement @ self._project(columns, outputs, coarse_orders, set())[0]
        return total[1:].reshape(len(total) - 1, len(solutions), self.columns.n_blocks), gram

    def _project(
        self,
        columns: SpanColumns,
        outputs: list[tuple[_core.TreeColumns, list[float], float]],
        orders: list[list[int]],
        kept: set[int],
    ) -> tuple[Floats, _core.SpanGram]:
        rows, mass = self._rows, self.mass
        core = columns.basis.core
        sums = _core.tree_sums(
            core, rows, weight=mass, outputs=outputs, orders=orders, with_outputs=False, with_terms=False, n_threads=1
        )
        gram = _core.SpanGram(sums, rows, mass, False, 1)
        _, coefficients = sums.project(gram, rows, mass, sorted(kept), self._ridge, 1)
        total = np.zeros((core.n_columns, len(outputs) * columns.n_blocks))
        for batch in _batches(columns, outputs, orders, kept):
            right: list[Floats | None] = [None] * len(coefficients)
            residuals = self._terms(outputs, batch)
            self._move_residuals(columns, batch, residuals, coefficients, right)
            total += sums.solve(gram, rows, mass, right, columns.n_blocks, self._ridge, 1)
        return total, gram

    def _terms(self, outputs: list[tuple[_core.TreeColumns, list[float], float]], batch: list[Term]) -> Floats:
        """Return the terms of a batch at the rows, centred, (B L, T)."""
        values = []
        for k, (columns, coef, _) in enumerate(outputs):
            chosen = [term.subspace for term in batch if term.output == k]
            if not chosen:
                continue
            position = np.full(len(columns.subspaces), -1)
            position[chosen] = np.arange(len(chosen))
            at = position[columns.column_subspace]
            used = np.flatnonzero(at >= 0)
            weights = csc_array((np.array(coef)[used], (used + 1, at[used])), shape=(len(coef) + 1, len(chosen)))
            values.append(self._dictionary.given.evaluate(self._rows, k, weights, 1))
        terms = np.hstack(values)
        terms -= self.mass @ terms
        return terms

    def _move_residuals(
        self,
        columns: SpanColumns,
        batch: list[Term],
        residuals: Floats,
        coefficients: list[Floats],
        right: list[Floats | None],
    ) -> None:
        """Turn terms into the residuals of their projections, and these into right-hand sides, (columns, B) each."""
        users: dict[int, list[tuple[int, int]]] = {}  # by span, the terms with it and where its columns begin there
        for position, term in enumerate(batch):
            begin = 0
            for span in term.spans:
                users.setdefault(span, []).append((position, begin))
                begin += columns.basis.sizes[span]
            right[term.number] = np.empty((begin, columns.n_blocks), order="F")
        for span, used in users.items():
            size, positions = columns.basis.sizes[span], [position for position, _ in used]
            of_span = [coefficients[batch[position].number][begin : begin + size] for position, begin in used]
            residuals[:, positions] -= columns.centred(span) @ np.column_stack(of_span)
        for span, used in users.items():
            size, positions = columns.basis.sizes[span], [position for position, _ in used]
            moves = columns.moves(columns.by_block(columns.centred(span), residuals[:, positions]))
            for i, (position, begin) in enumerate(used):
                sides = right[batch[position].number]
                assert sides is not None
                sides[begin : begin + size] = moves[:, :, i].T

    def _top_down(self, pushed: Floats, gram: _core.SpanGram) -> None:
        """Take the derivatives of what is pushed to every span, (columns, K, B), through the top-down pass."""
        columns = self.columns
        below = {u: columns.inside(u, len(u) - 1) for u in columns.basis.subspaces}
        products = self._products(below)
        self._moves: dict[Subspace, Floats] = {}
        self._with_f: dict[Subspace, Floats] = {}
        self._with_own: dict[Subspace, Floats] = {}
        for u in reversed(columns.basis.subspaces):
            if u not in self.components:
                continue
            s, lower = columns.number[u], below[u]
            own = pushed[columns.first[s] : columns.first[s + 1]].copy()
            moves = [own]
            if lower:
                G = gram.covariance([*lower, s], 1)
                at, n = columns.columns_of(lower), len(G) - len(own)
                right = np.tensordot(G[:n, n:], own, 1)
                right += np.vstack([columns.moves(products[v, u]).transpose(1, 2, 0) for v in lower])
                ridge = np.repeat(
                    [self._ridge / columns.basis.sizes[v] for v in lower], [columns.basis.sizes[v] for v in lower]
                )
                down = _core.solve_positive(G[:n, :n] + np.diag(ridge), np.asfortranarray(right.reshape(n, -1)), 1)
                down = down.reshape(right.shape)
                pushed[at] += down
                moves.insert(0, -down)
            self._moves[u] = np.vstack(moves).transpose(2, 0, 1)
            self._with_own[u] = np.vstack([products[v, u].sum(axis=0) for v in [*lower, s]])
            self._with_f[u] = np.vstack([self._span_with_f[v] for v in [*lower, s]])

    def _products(self, below: dict[Subspace, list[int]]) -> dict[tuple[int, Subspace], Floats]:
        """Return the products of every component with its span and those below, by block, each (B, p, K)."""
        columns, products = self.columns, {}
        above: dict[int, list[Subspace]] = {s: [] for s in columns.number.values()}
        for u, lower in below.items():
            if u in self.components:
                for v in [*lower, columns.number[u]]:
                    above[v].append(u)
        self._span_with_f = {}
        for v, subspaces in above.items():
            if not subspaces:
                continue
            centred, K = columns.centred(v), self.f.shape[1]
            self._span_with_f[v] = centred.T @ (self.mass[:, None] * self.f)
            found = columns.by_block(centred, np.hstack([self.components[u] for u in subspaces]))
            for i, u in enumerate(subspaces):
                products[v, u] = found[:, :, i * K : (i + 1) * K]
        return products


def _blocks(n_rows: int, n_blocks: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the rows of blocks drawn at random, one block after the other, and which places are filled.

    At random, always the same: neither trends nor cycles of the rows make blocks more or less alike than chance does.
    """
    length = -(-n_rows // n_blocks)
    order = np.zeros(length * n_blocks, dtype=np.int64)
    order[:n_rows] = np.random.default_rng(0).permutation(n_rows)
    filled = np.arange(len(order)) < n_rows
    return order.reshape(length, n_blocks).T.ravel(), filled.reshape(length, n_blocks).T.ravel()


def _batches(
    columns: SpanColumns,
    outputs: list[tuple[_core.TreeColumns, list[float], float]],
    orders: list[list[int]],
    kept: set[int],
) -> Iterator[list[Term]]:
    """Yield the terms that are projected, as many at a time as memory is spared for."""
    batch: list[Term] = []
    room, number = _MAX_MOVES, -1
    for k, (trees, _, _) in enumerate(outputs):
        for s, (u, order) in enumerate(zip(trees.subspaces, orders[k], strict=True)):
            number += 1
            spans = columns.inside(u, order)
            if number in kept or not spans:
                continue
            batch.append(Term(k, s, number, spans))
            room -= len(columns.mass) + columns.n_blocks * sum(columns.basis.sizes[v] for v in spans)
            if room < 0:
                yield batch
                batch, room = [], _MAX_MOVES
    if batch:
        yield batch
