"""Rows in random blocks, and variances from derivatives with respect to the weights of the blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import stdtrit

from fasthdmr._spans.axes import Axis, axis_columns
from fasthdmr._spans.basis import Basis, tensor_columns
from fasthdmr._support.typing import Floats

MANY_BLOCKS, FEW_BLOCKS = 50, 25


class Blocks:
    """Rows divided at random into blocks of equal length.

    Derivatives with respect to the logarithm of the weights of a block are called moves.

    Parameters
    ----------
    weights : ndarray of shape (S,)
        Positive.
    wanted : int
        The number of blocks, B, if there are enough rows.

    Attributes
    ----------
    order : ndarray of shape (B L,)
        Indices of the rows, block by block. Short blocks are padded with arbitrary rows.
    mass : ndarray of shape (B L,)
        Their weights, which sum to 1; 0 for padding.
    share : ndarray of shape (B,)
        The total weight of each block.
    """

    def __init__(self, weights: Floats, wanted: int) -> None:
        S = len(weights)
        self.n_blocks = min(wanted, S)
        self.order, filled = random_blocks(S, self.n_blocks)
        self.mass = np.where(filled, weights[self.order], 0.0) / weights.sum()
        self.share = self.mass.reshape(self.n_blocks, -1).sum(axis=1)
        # The correction for blocks drawn without replacement, which vary less than independent ones.
        self._factor = self.n_blocks / max(1, self.n_blocks - 1) * (S - 1) / S / np.sum(self.mass**2)

    def sums(self, values: Floats) -> Floats:
        """Return the weighted sums of values, (B L, q), over each block: (B, q)."""
        weighted = self.mass[:, None] * values
        sums: Floats = weighted.reshape(self.n_blocks, -1, values.shape[1]).sum(axis=1)
        return sums

    def moves(self, products: Floats) -> Floats:
        """Return the derivatives of a mean, given its parts by block (first axis)."""
        share = self.share.reshape(-1, *[1] * (products.ndim - 1))
        moved: Floats = products - share * products.sum(axis=0)
        return moved

    def mean(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the means of values, (B L, q), and their derivatives: (q,) and (B, q)."""
        by_block = self.sums(values)
        return by_block.sum(axis=0), self.moves(by_block)

    def deviation(self, moves: Floats) -> Floats:
        """Return standard errors for an effective sample size of 1, from derivatives, (B, ..., K): (..., K).

        Divided by the square root of the effective number of rows, they are the standard errors.
        """
        deviation: Floats = np.sqrt(self._factor * np.sum(moves**2, axis=0))
        return deviation

    def half_width(self, moves: Floats) -> Floats:
        """Return half-widths of 95 % intervals for an effective sample size of 1, from derivatives, (B, ..., K).

        If few blocks dominate, the variance estimate is uncertain. Quantiles are those of Student's t distribution with
        Satterthwaite's degrees of freedom, for which the variance of the estimate follows from the kurtosis.
        """
        B = self.n_blocks
        size = np.sqrt(np.mean(moves**2, axis=0))
        kurtosis = np.mean((moves / np.where(size > 0, size, 1)) ** 4, axis=0)
        freedom = 2 * B / np.maximum(kurtosis - (B - 3) / max(1, B - 1), 1e-9)
        quantile = stdtrit(np.clip(freedom, 1, max(1, B - 1)), 0.975)
        half_width: Floats = quantile * self.deviation(moves)
        return half_width

    def covariance(self, moves: Floats) -> Floats:
        """Return covariances for an effective sample size of 1, from derivatives, (B, m, K): (K, m, m)."""
        return np.ascontiguousarray(self._factor * np.einsum("bik,bjk->kij", moves, moves))


@dataclass(frozen=True, eq=False)
class Curve:
    """The sampling distribution of a component of one variable.

    Attributes
    ----------
    means : ndarray of shape (m,)
        The means of the columns that the component is a linear combination of.
    covariance : ndarray of shape (K, m + 1, m + 1)
        The covariance of the coefficients of the centred columns and of the mean, for an effective sample size of 1.
    is_unknown : ndarray of shape (m,), or None
        The columns of levels whose standard error cannot be estimated, because they have a single row.
    """

    means: Floats
    covariance: Floats
    is_unknown: NDArray[np.bool_] | None = None

    def deviation(self, columns: Floats) -> Floats:
        """Return the standard error for an effective sample size of 1, (N, K), given the columns at points, (N, m)."""
        functions = np.column_stack([columns - self.means, np.ones(len(columns))])
        variance = np.einsum("sa,kab,sb->sk", functions, self.covariance, functions)
        deviation: Floats = np.sqrt(np.maximum(variance, 0))
        if self.is_unknown is not None:
            deviation[columns[:, self.is_unknown].any(axis=1)] = np.nan
        return deviation


@dataclass(frozen=True, eq=False)
class CentredSparse:
    """Sparse columns minus their means, (N, p): those of spans with a categorical variable."""

    columns: csr_array
    means: Floats

    def __matmul__(self, right: Floats) -> Floats:
        product: Floats = self.columns @ right - self.means @ right
        return product

    def inner(self, values: Floats, rows: slice = slice(None)) -> Floats:
        """Return the inner products with values at the given rows, (p, q)."""
        product: Floats = self.columns[rows].T @ values - np.outer(self.means, values.sum(axis=0))
        return product


class BlockColumns:
    """The columns of spans at the rows of blocks.

    Parameters
    ----------
    basis : Basis
    rows : ndarray of shape (B L, n)
        The rows in the order of the blocks.
    blocks : Blocks
    """

    def __init__(self, basis: Basis, rows: Floats, blocks: Blocks) -> None:
        self.basis, self.rows, self.blocks = basis, rows, blocks
        self.mass, self.n_blocks, self.share, self.moves = blocks.mass, blocks.n_blocks, blocks.share, blocks.moves
        self.sizes = basis.sizes
        self.first = np.concatenate([[0], np.cumsum(self.sizes)])
        self._axes: list[Any] = [
            levels_of(axis, rows) if axis.is_categorical else axis_columns(axis, rows[:, axis[0]])
            for axis in basis.axes
        ]

    def raw(self, span: int) -> Floats | csr_array:
        """Return the columns of a span, not centred, (B L, p). They are sparse if a variable is categorical."""
        axes = self.basis.axes_of[span]
        if any(self.basis.axes[a].is_categorical for a in axes):
            return sparse_columns([self.basis.axes[a].size for a in axes], [self._axes[a] for a in axes])
        return tensor_columns(self._axes, axes)

    def centred(self, span: int) -> Floats | CentredSparse:
        """Return the columns of a span minus their means."""
        columns = self.raw(span)
        if isinstance(columns, csr_array):
            return CentredSparse(columns, self.mass @ columns)
        centred: Floats = columns - self.mass @ columns
        return centred

    def weighted(self, columns: Floats | CentredSparse, values: Floats) -> Floats:
        """Return the weighted inner products of columns, (B L, p), with values, (B L, q): (p, q)."""
        values = self.mass[:, None] * values
        return columns.inner(values) if isinstance(columns, CentredSparse) else columns.T @ values

    def by_block(self, columns: Floats | CentredSparse, values: Floats) -> Floats:
        """Return the weighted inner products of columns, (B L, p), with values, (B L, q), in each block: (B, p, q)."""
        weighted = (self.mass[:, None] * values).reshape(self.n_blocks, -1, values.shape[1])
        if isinstance(columns, CentredSparse):
            length = weighted.shape[1]
            return np.stack([columns.inner(w, slice(b * length, (b + 1) * length)) for b, w in enumerate(weighted)])
        products: Floats = columns.reshape(self.n_blocks, -1, columns.shape[1]).transpose(0, 2, 1) @ weighted
        return products

    def counts(self, span: int, n_effective: float) -> Floats | None:
        """Return the effective number of rows at each level in the span of a categorical variable, (p,); else None.

        It is that of the fit, which may have more rows than the sample.
        """
        axes = self.basis.axes_of[span]
        if len(axes) > 1 or not self.basis.axes[axes[0]].is_categorical:
            return None
        levels = self.raw(span)
        shares, squares = self.mass @ levels, self.mass**2 @ levels
        counts: Floats = np.divide(shares**2, squares, out=np.zeros(len(shares)), where=squares > 0)
        return counts * max(1.0, n_effective * float(np.sum(self.mass**2)))

    def corrections(self, span: int, n_effective: float) -> Floats:
        """Return factors of the residuals at each level in the span of a categorical variable, (p,); else 1.

        The mean of a level of n rows attracts each of them with the leverage 1/n, so their residuals have (1 - 1/n)
        times the variance.
        """
        counts = self.counts(span, n_effective)
        return np.ones(1) if counts is None else np.sqrt(1 / (1 - 1 / np.maximum(counts, 2)))

    def all_corrections(self, n_effective: float) -> Floats:
        """Return these factors for the constant and all columns, (1 + columns,)."""
        factors = [np.broadcast_to(self.corrections(s, n_effective), size) for s, size in enumerate(self.sizes)]
        return np.concatenate([np.ones(1), *factors])

    def columns_of(self, spans: Sequence[int]) -> NDArray[np.int64]:
        """Return the indices of the columns of the given spans."""
        return np.concatenate([np.arange(self.first[s], self.first[s + 1]) for s in spans])


def random_blocks(n_rows: int, n_blocks: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the rows of random blocks, block by block, and a mask that is False for padding.

    Random blocks are valid for rows with trends or cycles. The seed is fixed, so that results are reproducible.
    """
    length = -(-n_rows // n_blocks)
    order = np.zeros(length * n_blocks, dtype=np.int64)
    order[:n_rows] = np.random.default_rng(0).permutation(n_rows)
    filled = np.arange(len(order)) < n_rows
    return order.reshape(length, n_blocks).T.ravel(), filled.reshape(length, n_blocks).T.ravel()


def levels_of(axis: Axis, rows: Floats) -> NDArray[np.int64]:
    """Return the column of a categorical variable that is 1 at each row, -1 at unknown levels."""
    codes = rows[:, axis.variable]
    known = (codes >= 0) & (codes < axis.n_levels)
    return np.where(known, np.minimum(np.where(known, codes, 0), axis.size - 1), -1).astype(np.int64)


def sparse_columns(sizes: Sequence[int], axes: Sequence[NDArray[Any]]) -> csr_array:
    """Return the columns of a tensor product, (N, p), of levels, (N,), and of columns of numeric variables, (N, m).

    Examples
    --------
    >>> sparse_columns([2, 2], [np.array([1, -1]), np.array([[2.0, 3.0], [4.0, 5.0]])]).toarray()
    array([[0., 0., 2., 3.],
           [0., 0., 0., 0.]])
    """
    place, value = np.zeros((len(axes[0]), 1), dtype=np.int64), np.ones((len(axes[0]), 1))
    for size, axis in zip(sizes, axes, strict=True):
        if axis.ndim == 1:
            place, value = place * size + np.maximum(axis, 0)[:, None], value * (axis >= 0)[:, None]
        else:
            place = (place[:, :, None] * size + np.arange(size)).reshape(len(place), -1)
            value = (value[:, :, None] * axis[:, None, :]).reshape(len(value), -1)
    begin = np.arange(len(place) + 1) * place.shape[1]
    return csr_array((value.ravel(), place.ravel(), begin), shape=(len(place), int(np.prod(sizes))))
