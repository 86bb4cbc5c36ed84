"""Columns of spans at rows in blocks: what derivatives by the weights of blocks are made of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fasthdmr._spans.basis import Basis, axis_columns
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats


class SpanColumns:
    """The centred columns of spans at rows that are cut into blocks of one length.

    The rows of every block may weigh a little more: `moves` are derivatives by that.

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
        self.basis, self.rows, self.mass, self.n_blocks = basis, rows, mass, n_blocks
        self.share = mass.reshape(n_blocks, -1).sum(axis=1)
        self.number = {u: s for s, u in enumerate(basis.subspaces)}
        self.sizes = basis.sizes
        self.first = np.concatenate([[0], np.cumsum(self.sizes)])
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
