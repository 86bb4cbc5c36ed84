"""Rows in blocks, and columns of spans at them: what derivatives by the weights of blocks are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from fasthdmr._spans.basis import Basis, axis_columns, tensor_columns
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats

MANY_BLOCKS, FEW_BLOCKS = 50, 25


class Blocks:
    """Rows that are cut into blocks of one length, at random.

    The rows of every block may weigh a little more: `moves` are derivatives by that.

    Parameters
    ----------
    weights : ndarray of shape (S,)
        Positive.
    wanted : int
        The number of blocks, B, if there are as many rows.

    Attributes
    ----------
    order : ndarray of shape (B L,)
        Numbers of rows, one block after the other; blocks are filled up by any.
    mass : ndarray of shape (B L,)
        Their weights, of sum 1; 0 for those that fill up.
    share : ndarray of shape (B,)
        The mass of every block.
    """

    def __init__(self, weights: Floats, wanted: int) -> None:
        S = len(weights)
        self.n_blocks = min(wanted, S)
        self.order, filled = random_blocks(S, self.n_blocks)
        self.mass = np.where(filled, weights[self.order], 0.0) / weights.sum()
        self.share = self.mass.reshape(self.n_blocks, -1).sum(axis=1)
        # Blocks of rows drawn without replacement differ by less than independent ones.
        self._factor = self.n_blocks / max(1, self.n_blocks - 1) * (S - 1) / S / np.sum(self.mass**2)

    def sums(self, values: Floats) -> Floats:
        """Return the weighted sums of values, (B L, q), over each block: (B, q)."""
        weighted = self.mass[:, None] * values
        sums: Floats = weighted.reshape(self.n_blocks, -1, values.shape[1]).sum(axis=1)
        return sums

    def moves(self, products: Floats) -> Floats:
        """Return how a mean moves that is the sum of these over the blocks (first axis)."""
        share = self.share.reshape(-1, *[1] * (products.ndim - 1))
        moved: Floats = products - share * products.sum(axis=0)
        return moved

    def mean(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the means of values, (B L, q), and how they move: (q,) and (B, q)."""
        by_block = self.sums(values)
        return by_block.sum(axis=0), self.moves(by_block)

    def deviation(self, moves: Floats) -> Floats:
        """Return standard deviations for one row from derivatives, (B, ..., K): (..., K).

        Over the square root of the effective number of rows, they are standard errors.
        """
        deviation: Floats = np.sqrt(self._factor * np.sum(moves**2, axis=0))
        return deviation

    def half_width(self, moves: Floats) -> Floats:
        """Return half-widths of 95 % intervals for one row from derivatives, (B, ..., K): (..., K).

        Where few blocks move much, their variance is known badly: by the degrees of freedom of Satterthwaite, those of
        a variance whose own is estimated from the kurtosis.
        """
        B = self.n_blocks
        size = np.sqrt(np.mean(moves**2, axis=0))
        kurtosis = np.mean((moves / np.where(size > 0, size, 1)) ** 4, axis=0)
        freedom = 2 * B / np.maximum(kurtosis - (B - 3) / max(1, B - 1), 1e-9)
        quantile = stdtrit(np.clip(freedom, 1, max(1, B - 1)), 0.975)
        half_width: Floats = quantile * self.deviation(moves)
        return half_width

    def covariance(self, moves: Floats) -> Floats:
        """Return covariances for one row of what moves, from (B, m, K): (K, m, m)."""
        covariance: Floats = self._factor * np.einsum("bik,bjk->kij", moves, moves)
        return covariance


@dataclass(frozen=True, eq=False)
class Curve:
    """How a component of one variable moves: by the columns that it is made of, and by its own mean.

    Attributes
    ----------
    means : ndarray of shape (m,)
        Of the columns.
    covariance : ndarray of shape (K, m + 1, m + 1)
        Of how the coefficients of the centred columns, and the mean, move.
    """

    means: Floats
    covariance: Floats

    def deviation(self, columns: Floats) -> Floats:
        """Return the standard deviation for one row at every point, (N, K); columns: (N, m)."""
        functions = np.column_stack([columns - self.means, np.ones(len(columns))])
        variance = np.einsum("sa,kab,sb->sk", functions, self.covariance, functions)
        deviation: Floats = np.sqrt(np.maximum(variance, 0))
        return deviation


class SpanColumns:
    """The centred columns of spans at rows in blocks.

    Parameters
    ----------
    basis : Basis
    rows : ndarray of shape (B L, n)
        In the order of the blocks.
    blocks : Blocks
    """

    def __init__(self, basis: Basis, rows: Floats, blocks: Blocks) -> None:
        self.basis, self.rows, self.blocks = basis, rows, blocks
        self.mass, self.n_blocks, self.share, self.moves = blocks.mass, blocks.n_blocks, blocks.share, blocks.moves
        self.number = {u: s for s, u in enumerate(basis.subspaces)}
        self.sizes = basis.sizes
        self.first = np.concatenate([[0], np.cumsum(self.sizes)])
        self._axes = [axis_columns(axis, rows[:, axis[0]]) for axis in basis.axes]

    def raw(self, span: int) -> Floats:
        """Return the columns of a span, not centred, (B L, p)."""
        return tensor_columns(self._axes, self.basis.axes_of[span])

    def centred(self, span: int) -> Floats:
        """Return the columns of a span minus their means."""
        columns = self.raw(span)
        centred: Floats = columns - self.mass @ columns
        return centred

    def by_block(self, columns: Floats, values: Floats) -> Floats:
        """Return the products of columns, (B L, p), with values, (B L, q), over each block: (B, p, q)."""
        weighted = (self.mass[:, None] * values).reshape(self.n_blocks, -1, values.shape[1])
        products: Floats = columns.reshape(self.n_blocks, -1, columns.shape[1]).transpose(0, 2, 1) @ weighted
        return products

    def inside(self, subspace: Subspace, order: int) -> list[int]:
        """Return the spans of subsets of a subspace up to an order."""
        subsets = (v for t in range(1, min(order, len(subspace)) + 1) for v in combinations(subspace, t))
        return sorted(self.number[v] for v in subsets if v in self.number)

    def columns_of(self, spans: Sequence[int]) -> NDArray[np.int64]:
        """Return the numbers of the columns of spans."""
        return np.concatenate([np.arange(self.first[s], self.first[s + 1]) for s in spans])


def random_blocks(n_rows: int, n_blocks: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the rows of blocks drawn at random, one block after the other, and which places are filled.

    At random, always the same: neither trends nor cycles of the rows make blocks more or less alike than chance does.
    """
    length = -(-n_rows // n_blocks)
    order = np.zeros(length * n_blocks, dtype=np.int64)
    order[:n_rows] = np.random.default_rng(0).permutation(n_rows)
    filled = np.arange(len(order)) < n_rows
    return order.reshape(length, n_blocks).T.ravel(), filled.reshape(length, n_blocks).T.ravel()
