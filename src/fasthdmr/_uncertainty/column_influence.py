"""Infinitesimal jackknife of decompositions whose spans are the columns of the black box itself (trees, kernels).

As in `span_influence`, the weights of a block of rows are perturbed. The black box is given by its coefficients, so the
only projections are those of the top-down pass. The least-squares fit A^+ y of y on the columns A of all proper subsets
of u has the derivative A^+ (dy + W_b f_u). W_b is the derivative of the weights, and f_u is the residual of the fit.
Nearly collinear columns make the derivative large. Small singular values are cut off as in the fit, so it is finite. In
the null space, the minimum-norm solution depends on the weights through the norms that columns are scaled by.

All computations use the orthonormal columns Q of a QR decomposition of the columns at the rows, so the condition number
is not squared.

The numerical rank and the model are held fixed. Bias, such as the increase of a small `Sa` by about p/N, is not
included. Large samples are thinned first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._dictionaries.dictionary import Labels
from fasthdmr._solve.decomposed import Decomposed
from fasthdmr._solve.hierarchy import RANK_TOLERANCE, Solution
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats
from fasthdmr._uncertainty.blocks import MANY_BLOCKS, Blocks, Curve

_ROUNDING = 16 * np.finfo(float).eps  # rounding error of a centred column, relative to the norm before centring


class ColumnInfluence:
    """Derivatives of components and indices with respect to the weights of blocks of rows.

    Parameters
    ----------
    decomposition : Decomposed
    rows : ndarray of shape (S, n)
    weights : ndarray of shape (S,)
        Positive.
    """

    MAX_VALUES = 2_000_000  # limit of rows times components, which bounds the time to a few seconds
    ROWS_PER_COLUMN = 4  # the least number of rows per column after thinning; on fewer rows, columns become collinear

    @classmethod
    def of(
        cls, decomposition: Decomposed, rows: Floats, weights: Floats, values: Floats | None, n_threads: int
    ) -> ColumnInfluence:
        """Make the influence functions of a decomposition from a sample of its rows, on one thread."""
        return cls(decomposition, rows, weights)

    def __init__(self, decomposition: Decomposed, rows: Floats, weights: Floats) -> None:
        dictionary: Any = decomposition.dictionary
        self._decomposition = decomposition
        self.blocks = Blocks(weights, MANY_BLOCKS)
        rows = rows[self.blocks.order]
        self._outputs = []
        for k, solution in enumerate(decomposition.solutions):
            columns, unit = dictionary.spans(rows, k)
            self._outputs.append(_Output(columns, self.blocks, dictionary.labels(k), solution, unit))

    def variance(self) -> tuple[Floats, Floats]:
        """Return Var(f), (K,), and its derivatives, (B, K)."""
        value, moves = zip(*(output.variance() for output in self._outputs), strict=True)
        return np.array(value), np.column_stack(moves)

    def inner_products(self, subspace: Subspace) -> tuple[Floats, Floats, Floats, Floats]:
        """Return Cov(f_u, f) and Var(f_u), each (K,), and their derivatives, each (B, K)."""
        found = zip(*(output.inner_products(subspace) for output in self._outputs), strict=True)
        covariance, variance, by_covariance, by_variance = found
        return np.array(covariance), np.array(variance), np.column_stack(by_covariance), np.column_stack(by_variance)

    def curve(self, subspace: Subspace) -> Curve:
        """Return the covariance of a component of one variable, for the columns of `Decomposition.columns_of`."""
        having = [k for k, output in enumerate(self._outputs) if subspace in output.number]
        sizes = [self._outputs[k].size(subspace) for k in having]
        m = self._decomposition.columns_of(subspace[0], np.zeros(1)).shape[1]
        first = np.cumsum([0, *sizes[:-1]]) if m == sum(sizes) else np.zeros(len(sizes), dtype=int)
        means, moves = np.zeros(m), np.zeros((self.blocks.n_blocks, m + 1, len(self._outputs)))
        for k, start, size in zip(having, first, sizes, strict=True):
            own = slice(start, start + size)
            means[own], moves[:, own, k], moves[:, -1, k] = self._outputs[k].curve(subspace)
        return Curve(means, self.blocks.covariance(moves))


class _Output:
    """The derivatives of one output, from its columns at the rows of all blocks, (B L, b), divided by `unit`."""

    def __init__(self, columns: Floats, blocks: Blocks, labels: Labels, solution: Solution, unit: float) -> None:
        self.blocks = blocks
        self.subspaces = labels.subspaces
        self.number = {u: s for s, u in enumerate(labels.subspaces)}
        self._begin = np.searchsorted(labels.column_subspace, np.arange(len(labels.subspaces) + 1))
        self._root = np.sqrt(blocks.mass)[:, None]
        self._means = blocks.mass @ columns
        centred = columns - self._means
        self._take_norms(centred)
        to_units = unit / solution.scale
        self._weights = to_units * solution.weights.toarray()[1:]
        self.f = centred @ (to_units * solution.black_box.toarray()[1:, 0])
        self._components = centred @ self._weights
        Q, self._R = np.linalg.qr(self._root * centred)
        self._squares = self.blocks.moves(self.blocks.sums(centred**2))
        self._with_f = Q.T @ (self._root[:, 0] * self.f)
        self._top_down(Q)

    def variance(self) -> tuple[float, Floats]:
        """Return Var(f) and its derivatives, (B,)."""
        return self._mean(self.f**2)

    def inner_products(self, subspace: Subspace) -> tuple[float, float, Floats, Floats]:
        """Return Cov(f_u, f) and Var(f_u), and their derivatives, each (B,)."""
        if subspace not in self.number:
            none = np.zeros(self.blocks.n_blocks)
            return 0.0, 0.0, none, none
        c = self.number[subspace]
        own, moved = self._components[:, c], self._moved[c]
        covariance, by_covariance = self._mean(own * self.f)
        variance, by_variance = self._mean(own**2)
        itself = self._R @ self._weights[:, c]
        return covariance, variance, by_covariance + self._with_f @ moved, by_variance + 2 * (itself @ moved)

    def curve(self, subspace: Subspace) -> tuple[Floats, Floats, Floats]:
        """Return the means of the columns of a variable, (m,), and the derivatives of coefficients and mean of f_u."""
        c = self.number[subspace]
        own = self._own(c)
        return self._means[own], self._coefficient_moves[own].T, -self._mean(self._components[:, c])[1]

    def size(self, subspace: Subspace) -> int:
        """Return the number of columns of a subspace."""
        c = self.number[subspace]
        return int(self._begin[c + 1] - self._begin[c])

    def _own(self, c: int) -> slice:
        return slice(int(self._begin[c]), int(self._begin[c + 1]))

    def _mean(self, values: Floats) -> tuple[float, Floats]:
        mean, moves = self.blocks.mean(values[:, None])
        return float(mean[0]), moves[:, 0]

    def _take_norms(self, centred: Floats) -> None:
        """Set the scale of each column, 0 if it is constant up to rounding, and the tolerance of the rank."""
        norms = np.linalg.norm(self._root * centred, axis=0)
        varies = norms > RANK_TOLERANCE * np.abs(self._means)
        self._scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=varies)
        rounding = _ROUNDING * np.hypot(self._means, norms)[varies] / norms[varies]
        self._tolerance = max(RANK_TOLERANCE, rounding.max(initial=0.0))

    def _top_down(self, Q: Floats) -> None:
        """Compute the derivatives of the coefficients, (b, B), and of the components in terms of Q, each (q, B)."""
        b, blocks = len(self._means), self.blocks
        self._coefficient_moves = np.zeros((b, blocks.n_blocks))
        self._moved: list[Floats] = [np.zeros(0)] * len(self.subspaces)
        by_block = (self._root * Q).reshape(blocks.n_blocks, -1, Q.shape[1])
        for c, lower in self._from_above():
            component = self._components[:, c].reshape(blocks.n_blocks, -1, 1)
            residual = blocks.moves((by_block.transpose(0, 2, 1) @ component)[:, :, 0]).T
            own = self._own(c)
            moved = self._R[:, own] @ self._coefficient_moves[own]
            if len(lower):
                down = self._projection_moves(c, lower, moved + residual)
                self._coefficient_moves[lower] += down
                moved = moved - self._R[:, lower] @ down
            self._moved[c] = moved

    def _from_above(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield subspaces by decreasing order, with the columns of all their proper subsets, except constant ones."""
        member = membership(self.subspaces)
        order = member.sum(axis=1)
        for c in reversed(range(len(self.subspaces))):
            inside = (order < order[c]) & ~member[:, ~member[c]].any(axis=1)
            columns = np.repeat(inside, np.diff(self._begin))
            yield c, np.flatnonzero(columns & (self._scale > 0))

    def _projection_moves(self, c: int, lower: NDArray[np.int64], right: Floats) -> Floats:
        """Return the derivatives of the projection on the lower columns: the least-squares fit to right, (q, B)."""
        scale = self._scale[lower][:, None]
        U, s, V = np.linalg.svd(self._R[:, lower] * scale[:, 0], full_matrices=False)
        there = s > self._tolerance * s[0]
        U, s, V = U[:, there], s[there], V[there]
        down = V.T @ ((U.T @ right) / s[:, None])
        if len(s) < len(lower):
            # The coefficients of the minimum-norm solution, divided by `scale`, are orthogonal to the null space.
            norms = self._squares[:, lower].T * scale**2
            bent = norms * (self._weights[lower, c][:, None] / scale)
            down += bent - V.T @ (V @ bent)
        down *= scale
        return np.asarray(down)


def membership(subspaces: Sequence[Subspace]) -> NDArray[np.bool_]:
    """Return whether each variable belongs to each subspace, (C, n)."""
    member = np.zeros((len(subspaces), 1 + max((u[-1] for u in subspaces), default=-1)), dtype=bool)
    for c, u in enumerate(subspaces):
        member[c, list(u)] = True
    return member
