"""How far indices and components would move with another sample of rows: influence functions.

They are of decompositions whose spans are the columns of the black box itself: trees, kernels. Those in splines or bins
have a ridge, and are moved block by block (`span_influence`).

The black box is given; what is uncertain is the measure. Moving a little of it to a row x changes means and variances,
and the components themselves, since they are orthogonal under the measure: what f_w hands down to the subsets of w
changes by f_w(x) times the functions in their spans at x, over the products of these spans. So an index of u moves by
f_w(x) h(x), and h comes from one small linear solve (`Spans.representer`); what goes to subspaces between u and w, they
hand on. The residual counts as the component of a subspace above all.

An index moves by the mean of its influence function over the rows of a sample, so its standard error is the standard
deviation of that function over the square root of the number of rows: a delete-one jackknife without a refit.

Single variables have the columns that their components are made of, so a curve is as uncertain as the fit that drew it.
Several have products of few splines: a projection of many rows does not depend on which rich spans it is made with.
What is left out: that knots and sizes of spans, the choice of pairs and the model itself depend on the rows; bias, such
as the p/N by which small `Sa` come out too large; where all spans have too many columns for one solve, what the
residual hands down through interactions; with `basis="trees"` at order 3, that pairs have other spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fasthdmr._solve.decomposed import Decomposed
from fasthdmr._spans.basis import Profile, axis_columns, closure, default_size, informative_rows
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats

NORMAL_95 = 1.959963984540054
"""The 97.5th percentile of the standard Gaussian law."""

_PAIRS = (6, 5, 4, 3)  # splines of a variable in spans of order 2, the first with which all can be solved together
_HIGHER = (3, 2)  # in spans of order 3, and of more
_DEGREE = 3
_RANK_TOLERANCE = 1e-10  # as of the spans of a fit: `span_fit.SPAN_RANK_TOLERANCE`
_MAX_JOINT = 600  # columns that are solved together: 0.1 s, and 24 MB at 5,000 rows


@dataclass(frozen=True, eq=False)
class Curve:
    """How a component of one variable moves: by the columns that it is made of, and by its own mean.

    Attributes
    ----------
    means : ndarray of shape (m,)
        Of the columns.
    covariance : ndarray of shape (K, m + 1, m + 1)
        Of the influence functions of the coefficients of the centred columns, and of the mean.
    """

    means: Floats
    covariance: Floats

    def deviation(self, columns: Floats) -> Floats:
        """Return the standard deviation of the influence function of every point, (N, K); columns: (N, m)."""
        functions = np.column_stack([columns - self.means, np.ones(len(columns))])
        variance = np.einsum("sa,kab,sb->sk", functions, self.covariance, functions)
        deviation: Floats = np.sqrt(np.maximum(variance, 0))
        return deviation


class Spans:
    """Columns of subspaces at the rows of a sample, and what is to be solved with them.

    Parameters
    ----------
    rows : ndarray of shape (S, n)
    mass : ndarray of shape (S,)
        Weights of sum 1.
    singles : list of ndarray of shape (S, m), length n
        The columns of single variables; those of several are products of few splines.
    sizes : sequence of int
        Splines of a variable in spans of order 2, 3, …
    """

    def __init__(self, rows: Floats, mass: Floats, singles: list[Floats], sizes: Sequence[int]) -> None:
        self.mass = mass
        self._axes = [[own, *_splines(x, mass, sizes)] for own, x in zip(singles, rows.T, strict=True)]
        self.means = [self.mean(columns) for columns in singles]
        self._inverses: dict[tuple[Subspace, ...], Floats] = {}
        self._kept: dict[Subspace, Floats] = {}
        self._kept_stack: tuple[Sequence[Subspace], Floats] | None = None

    def keep(self, subspaces: Sequence[Subspace]) -> None:
        """Keep the columns of subspaces, which are made anew for every use otherwise."""
        X = self._stack(subspaces)
        ends = np.cumsum([self.size(u) for u in subspaces])
        self._kept = {u: X[:, end - self.size(u) : end] for u, end in zip(subspaces, ends, strict=True)}
        self._kept_stack = subspaces, X

    def mean(self, values: Floats) -> Floats:
        """Return the mean over rows."""
        mean: Floats = np.tensordot(self.mass, values, 1)
        return mean

    def columns(self, subspace: Subspace) -> Floats:
        """Return the centred columns of a subspace, (S, m): none where a variable is constant."""
        if subspace in self._kept:
            return self._kept[subspace]
        product = np.ones((len(self.mass), 1))
        for j in subspace:
            axis = self._axes[j][len(subspace) - 1]
            product = (product[:, :, None] * axis[:, None, :]).reshape(len(product), -1)
        centred: Floats = product - self.mean(product)
        return centred

    def products(self, subspace: Subspace, values: Floats) -> Floats:
        """Return the inner products of the columns of a subspace with values, (S, t): (m, t)."""
        products: Floats = self.columns(subspace).T @ (self.mass[:, None] * values)
        return products

    def project(self, subspaces: Sequence[Subspace], values: Floats) -> Floats:
        """Return the projection of values, (S, t), on the spans of subspaces."""
        X = self._stack(subspaces)
        projection: Floats = X @ (self._inverse(subspaces, X) @ (X.T @ (self.mass[:, None] * values)))
        return projection

    def representer(self, subspaces: Sequence[Subspace], functionals: Mapping[Subspace, Floats]) -> Floats:
        """Return the functions in the spans of subspaces whose inner products with the columns are given, (S, t).

        Functionals are these products, (m, t), by subspace: 0 where a subspace has none.
        """
        X = self._stack(subspaces)
        t = next(iter(functionals.values())).shape[1]
        given = [functionals[v] if v in functionals else np.zeros((self.size(v), t)) for v in subspaces]
        functions: Floats = X @ (self._inverse(subspaces, X) @ np.vstack(given))
        return functions

    def size(self, subspace: Subspace) -> int:
        """Return the number of columns of a subspace."""
        return int(np.prod([self._axes[j][len(subspace) - 1].shape[1] for j in subspace]))

    def _stack(self, subspaces: Sequence[Subspace]) -> Floats:
        if self._kept_stack is not None and subspaces is self._kept_stack[0]:
            return self._kept_stack[1]
        return np.hstack([np.zeros((len(self.mass), 0)), *map(self.columns, subspaces)])

    def _inverse(self, subspaces: Sequence[Subspace], X: Floats) -> Floats:
        """Return the inverse of the products of columns, of least norm where they depend on each other."""
        key = tuple(subspaces)
        if key not in self._inverses:
            products = X.T @ (self.mass[:, None] * X)
            norms = np.sqrt(products.diagonal())
            scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
            scaled = products * scale * scale[:, None]
            inverse = np.asarray(np.linalg.pinv(scaled, _RANK_TOLERANCE, hermitian=True), dtype=np.float64)
            self._inverses[key] = inverse * scale * scale[:, None]
        return self._inverses[key]


def _splines(x: Floats, mass: Floats, sizes: Sequence[int]) -> list[Floats]:
    """Return splines of a variable, (S, m), for each of falling sizes; none where it is constant."""
    profile = Profile.of(x, mass)
    if profile.is_constant:
        return [np.zeros((len(x), 0)) for _ in sizes]
    return [axis_columns(axis, x) for axis in profile.axes(0, sizes, _DEGREE)]


class Influence:
    """The influence functions of one decomposition at the rows of its sample.

    Parameters
    ----------
    rows : ndarray of shape (S, n)
    weights : ndarray of shape (S,)
        Positive.
    subspaces : list of tuple of int, length C
    singles : list of ndarray of shape (S, m), length n
        Columns of single variables.
    components : ndarray of shape (S, C, K)
    black_box : ndarray of shape (S, K)
    """

    MAX_VALUES = 500_000  # of components at rows, which keeps the time to a few seconds
    quantile = NORMAL_95

    @classmethod
    def of(cls, decomposition: Decomposed, rows: Floats, weights: Floats, values: Floats | None) -> Influence:
        """Take the components of a decomposition at some of its rows, in units of the scales of the outputs."""
        F, f = decomposition.evaluate(rows), decomposition.black_box(rows)
        if decomposition.output_names is None:
            F, f = F[:, :, None], f[:, None]
        scale = np.array([s.scale for s in decomposition.solutions])
        singles = [decomposition.columns_of(j, column) for j, column in enumerate(rows.T)]
        return cls(rows, weights, singles, decomposition.subspaces, F / scale, f / scale)

    def __init__(
        self,
        rows: Floats,
        weights: Floats,
        singles: list[Floats],
        subspaces: list[Subspace],
        components: Floats,
        black_box: Floats,
    ) -> None:
        self._closure = closure(subspaces, max(map(len, subspaces), default=1))
        self._singles: Sequence[Subspace] = [u for u in self._closure if len(u) == 1]
        sizes = _choose_sizes(self._closure, singles, informative_rows(rows, weights))
        self._squares = weights**2 / (weights**2).sum()
        self.spans = Spans(rows, weights / weights.sum(), singles, sizes)
        self.f = black_box - self.spans.mean(black_box)
        centred = components - self.spans.mean(components)
        self.components = {u: centred[:, c] for c, u in enumerate(subspaces)}
        self.residual = self.f - centred.sum(axis=1)
        self.is_joint = sum(map(self.spans.size, self._closure)) <= _MAX_JOINT
        if self.is_joint:
            self.spans.keep(self._closure)
        # What is pushed down to a subspace it passes on: needed below others, and below the residual.
        inner = {v for w in subspaces for v in _proper_subsets(w)}
        self._passing = set(self._closure) if self.is_joint else inner

    def deviation(self, influence: Floats) -> Floats:
        """Return standard deviations of influence functions, (S, ..., K): (..., K).

        Over the square root of the effective number of rows, they are standard errors.
        """
        deviation: Floats = np.sqrt(np.tensordot(self._squares, (influence - self.spans.mean(influence)) ** 2, 1))
        return deviation

    def curve(self, subspace: Subspace) -> Curve:
        """Return how a component of one variable moves with the rows."""
        moves = self._moves(subspace, np.eye(self.spans.size(subspace))[:, :, None])
        both = np.concatenate([moves, -self.components[subspace][:, None]], axis=1)
        both -= self.spans.mean(both)
        covariance = np.einsum("s,sak,sbk->kab", self._squares, both, both, optimize=True)
        return Curve(self.spans.means[subspace[0]], covariance)

    def variance(self) -> tuple[Floats, Floats]:
        """Return Var(f), (K,), and its influence function, (S, K), up to a constant."""
        return self.spans.mean(self.f**2), self.f**2

    def inner_products(self, subspace: Subspace) -> tuple[Floats, Floats, Floats, Floats]:
        """Return Cov(f_u, f) and Var(f_u), each (K,), and their influence functions up to a constant, each (S, K)."""
        own = self.components[subspace]
        target = np.stack([self.f, 2 * own], axis=1)  # what a change of f_u is multiplied with
        flat = target.reshape(len(own), -1)
        below = self.spans.project(_proper_subsets(subspace), flat)
        functionals = self.spans.products(subspace, flat - below)
        moves = self._moves(subspace, functionals.reshape(-1, *target.shape[1:]))
        moves -= own[:, None] * below.reshape(target.shape)
        covariance, variance = self.spans.mean(own * self.f), self.spans.mean(own**2)
        return covariance, variance, own * self.f + moves[:, 0], own**2 + moves[:, 1]

    def _moves(self, subspace: Subspace, functionals: Floats) -> Floats:
        """Return by how much functionals of what is pushed down to f_u change with each row, (S, t, K).

        They are given by their values at the columns of u, (m, t, K), or (m, t, 1) where all outputs share them.
        """
        m, t, K = functionals.shape
        total = np.zeros((len(self.f), t, self.f.shape[1]))
        for source, h in self._sources(subspace, functionals.reshape(m, t * K)):
            total += source[:, None] * h.reshape(-1, t, K)
        return total

    def _sources(self, subspace: Subspace, functionals: Floats) -> Iterator[tuple[Floats, Floats]]:
        """Yield what may push something down to u, (S, K), each with its representer, (S, t)."""
        reached = {subspace: functionals}
        for w in self._closure:
            if not set(subspace) < set(w):
                continue
            h = self.spans.representer(_proper_subsets(w), reached)
            if w in self.components:
                yield self.components[w], h
            if w in self._passing:
                reached[w] = self.spans.products(w, h)
        # The residual is what a joint projection left: as if of a subspace above all.
        below = self._below_residual(subspace)
        yield self.residual, self.spans.representer(below, {v: reached[v] for v in below if v in reached})

    def _below_residual(self, subspace: Subspace) -> Sequence[Subspace]:
        """Return the spans that the residual is orthogonal to: all, or where these are too many, those next to u."""
        if self.is_joint:
            return self._closure
        if len(subspace) == 1 and sum(map(self.spans.size, self._singles)) <= _MAX_JOINT:
            return self._singles
        return [*_proper_subsets(subspace), subspace]


def _choose_sizes(subspaces: Sequence[Subspace], singles: list[Floats], n_rows: int) -> list[int]:
    """Return the number of splines of a variable in spans of order 2 and more."""
    order = max(map(len, subspaces), default=1)
    for pairs in _PAIRS:
        wanted = (pairs, *_HIGHER, *_HIGHER[-1:] * order)[: order - 1]
        sizes = [min(size, default_size(n_rows, t)) for t, size in enumerate(wanted, 2)]
        columns = [singles[u[0]].shape[1] if len(u) == 1 else sizes[len(u) - 2] ** len(u) for u in subspaces]
        if sum(columns) <= _MAX_JOINT:
            break
    return sizes


def _proper_subsets(subspace: Subspace) -> list[Subspace]:
    return [v for t in range(1, len(subspace)) for v in combinations(subspace, t)]
