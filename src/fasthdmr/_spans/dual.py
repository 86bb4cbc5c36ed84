"""Ridge regression by the Gram matrix of the rows, for more columns than rows (spec 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._spans.axes import Axis, axis_columns, axis_kernel
from fasthdmr._spans.basis import Basis, tensor_columns
from fasthdmr._spans.ridge_systems import Ridge, factored
from fasthdmr._support.steps import product, steps
from fasthdmr._support.typing import Floats

_CACHED = 3e5  # the most products of rows in one step, for all axes, so that they stay in the cache


class Dual(Ridge):
    """Ridge regression by the Gram matrix of the rows (dual form), for more columns than rows.

    Parameters
    ----------
    X : ndarray of shape (N, n)
    weights : ndarray of shape (N,) or None
    basis : Basis
    values : ndarray of shape (N, K)
    scale : ndarray of shape (p,)
        The inverse of the penalty of each column.
    n_threads : int
    """

    def __init__(
        self, X: NDArray[Any], weights: Floats | None, basis: Basis, values: Floats, scale: Floats, n_threads: int
    ) -> None:
        share = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
        root = np.sqrt(share)[:, None]
        columns = [axis_columns(axis, np.asarray(X[:, axis.variable], dtype=np.float64)) for axis in basis.axes]
        kernel = _gram_of_rows(basis, columns, scale)
        mean = share @ kernel
        kernel -= mean - share @ mean
        kernel -= mean[:, None]
        kernel *= root
        kernel *= root.T
        self.kernel = kernel
        super().__init__(root * (values - share @ values), np.ones(len(X)))
        self.root, self.share, self.columns, self.basis, self.scale = root, share, columns, basis, scale
        self.n_threads = n_threads

    def factored(self, factor: float) -> Callable[[Floats], Floats]:
        """Return the function that solves for right-hand sides (see `Ridge`)."""
        return factored(self.kernel, factor, self.diagonal, self.n_threads)

    def mean_squares(self, factor: float, first: Floats, second: Floats) -> Floats:
        """Return the mean squared residuals (see `Ridge`)."""
        return factor**2 * second

    def coefficients(self, factor: float) -> Floats:
        """Return the coefficients, (p, K)."""
        rows = self.root * self.solution(factor)
        rows = rows - self.share[:, None] * rows.sum(axis=0)
        found = [tensor_columns(self.columns, axes).T @ rows for axes in self.basis.axes_of]
        result: Floats = self.scale[:, None] * np.vstack(found)
        return result


def _gram_of_rows(basis: Basis, columns: list[Floats], scale: Floats) -> Floats:
    """Return the sum over the spans of their scale times the products of their columns at all pairs of rows, (N, N).

    The columns of a span are products of those of its axes, so these products are, too. The sum over pairs of axes is a
    quadratic form, and has a shorter one if all pairs of some axes occur.
    """
    n_rows, n_axes = len(columns[0]), len(basis.axes)
    linear, quadratic = np.zeros(n_axes), np.zeros((n_axes, n_axes))
    others = []
    for axes, first in zip(basis.axes_of, np.cumsum([0, *basis.sizes[:-1]]), strict=True):
        if len(axes) == 1:
            linear[axes[0]] += scale[first]
        elif len(axes) == 2:
            quadratic[axes[0], axes[1]] += scale[first]
        else:
            others.append((axes, scale[first]))
    quadratic += quadratic.T
    in_pairs = np.flatnonzero(quadratic.any(axis=0))
    shares = np.array([float(columns[a].shape[1]) for a in in_pairs])
    ratios = quadratic[np.ix_(in_pairs, in_pairs)] / np.outer(shares, shares)
    if len(in_pairs) > 1 and np.allclose(ratios, ratios[0, 1] * (1 - np.eye(len(in_pairs))), rtol=1e-12, atol=0):
        gram = _of_all_pairs([basis.axes[a] for a in in_pairs], [columns[a] for a in in_pairs])
        gram *= ratios[0, 1]
        in_pairs = in_pairs[:0]
    else:
        gram = np.zeros((n_rows, n_rows))
    single = np.flatnonzero(linear)
    if len(single):
        roots = np.hstack([np.sqrt(linear[a]) * columns[a] for a in single])
        gram += product(roots, roots.T)
    quadratic = quadratic[np.ix_(in_pairs, in_pairs)] / 2
    used = sorted({*in_pairs.tolist(), *(a for axes, _ in others for a in axes)})
    for rows in steps(n_rows, float(len(used) * n_rows), _CACHED) if used else ():
        kernels = {a: axis_kernel(basis.axes[a], columns[a], rows) for a in used}
        if len(in_pairs):
            of_pairs = np.array([kernels[a].ravel() for a in in_pairs.tolist()])
            gram[rows] += np.einsum("am,am->m", of_pairs, quadratic @ of_pairs).reshape(-1, n_rows)
        for axes, scale_of in others:
            gram[rows] += scale_of * np.prod([kernels[a] for a in axes], axis=0)
    return gram


def _of_all_pairs(axes: list[Axis], columns: list[Floats]) -> Floats:
    """Return the sum over all pairs of axes of the products of their kernels, (N, N).

    The kernel of an axis of m columns is m times the products of its rows. The sum over pairs is half of the square of
    the sum, minus the sum of the squares. A square is a product of rows, too: of the products of pairs of columns.
    """
    sums, squares = [], []
    for axis, each in zip(axes, columns, strict=True):
        m = each.shape[1]
        sums.append(np.sqrt(m) * each)
        if axis.is_categorical:  # a row has at most one nonzero, a 1
            squares.append(m * each)
            continue
        i, j = np.triu_indices(m)
        squares.append(m * np.where(i == j, 1.0, np.sqrt(2)) * each[:, i] * each[:, j])
    both = [np.hstack(part) for part in (sums, squares)]
    gram = product(both[0], both[0].T)
    gram *= gram
    gram -= product(both[1], both[1].T)
    gram /= 2
    return gram
