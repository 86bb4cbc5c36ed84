"""Confidence intervals of indices and standard errors of components, for sampling of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from fasthdmr._dictionaries.dictionary import Dictionary
from fasthdmr._solve.decomposed import Decomposed
from fasthdmr._spans.span_dictionaries import SpanDictionary
from fasthdmr._support.cached import cached_property
from fasthdmr._support.groups import columns_of
from fasthdmr._support.indices import INDICES, OF_SUBSPACES, OF_VARIABLES, HalfWidths
from fasthdmr._support.sample import Sample
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats
from fasthdmr._uncertainty.bias import bias_of_indices
from fasthdmr._uncertainty.blocks import Curve
from fasthdmr._uncertainty.column_influence import ColumnInfluence
from fasthdmr._uncertainty.span_influence import SpanInfluence

NORMAL_95 = 1.959963984540054
"""The 97.5th percentile of the standard normal distribution."""

_MIN_ROWS = 1_000


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Confidence intervals of indices, and standard errors of components, computed at first access.

    Attributes
    ----------
    decomposition : Decomposition
    sample : Sample
    divisors : ndarray of shape (K,) or None
        The divisors of the indices, in units of the scale² of each output, if they are known constants. None: the
        variances of the outputs, which are estimated from the same rows.
    n_threads : int
    """

    decomposition: Decomposed
    sample: Sample
    divisors: Floats | None
    n_threads: int = 1

    @cached_property
    def half_widths(self) -> HalfWidths:
        """The half-widths of all indices: 1.96 times the roots of the mean squared errors, variance plus bias²."""
        one = self.decomposition.output_names is None
        factor = 1 / np.sqrt(self.sample.n_effective)
        parts = zip(INDICES, self._for_one_row(), self._bias(), strict=True)
        found = {name: np.hypot(factor * spread, NORMAL_95 * bias) for name, spread, bias in parts}
        return {name: v[:, 0] if one else v for name, v in found.items()}

    def _for_one_row(self) -> list[Floats]:
        """Return the half-widths of all indices for an effective sample size of 1, in the order of `INDICES`."""
        sensitivity = self.decomposition.sensitivity
        with one_blas_thread():
            influence = self._influence()
            n_outputs = len(self.decomposition.solutions)
            Sa, S, ST = (v.reshape(-1, n_outputs) for v in (sensitivity.Sa, sensitivity.S, sensitivity.ST))
            by_S, by_Sa = self._indices(influence)
            moves = [index.change((Sa[:, None], S[:, None]), (by_Sa, by_S)) for index in OF_SUBSPACES]
            by_ST = np.zeros((len(ST), *by_S.shape[1:]))
            for u, change in zip(self.decomposition.subspaces, by_S, strict=True):
                by_ST[list(u)] += change
            moves += [index.change((ST[:, None],), (by_ST,)) for index in OF_VARIABLES]
            return [influence.blocks.half_width(np.ascontiguousarray(v.swapaxes(0, 1))) for v in moves]

    def _bias(self) -> list[Floats]:
        """Return the bias of all indices, in the order of `INDICES`."""
        return bias_of_indices(
            self.decomposition, *self._rows(), self.sample.n_effective, self.divisors, self.n_threads
        )

    def standard_error(self, subspace: Subspace, values: Floats) -> Floats:
        """Return the pointwise standard error of a component of one variable, (N,) or (N, K), at values, (N, 1)."""
        error: Floats = self._curve_deviation(subspace[0], values) / np.sqrt(self.sample.n_effective) * self._scale
        return error[:, 0] if self.decomposition.output_names is None else error

    def _curve_deviation(self, variable: int, values: Floats) -> Floats:
        """Return the standard error of a component at values, (N, 1), for an effective sample size of 1; (N, K)."""
        columns = self.decomposition.columns_of(variable, values[:, 0])
        if columns.shape[1] == 0:  # the component is 0, because all outputs are constant
            return np.zeros((len(values), len(self.decomposition.solutions)))
        return self.curves[variable].deviation(columns)

    @property
    def _scale(self) -> Floats:
        """The divisors of the outputs, (K,), which prevent overflow of their fourth powers."""
        return np.array([s.scale for s in self.decomposition.solutions])

    @cached_property
    def curves(self) -> dict[int, Curve]:
        """The covariances of the components of one variable that is one column, by variable."""
        groups, subspaces = self.decomposition.groups, self.decomposition.subspaces
        with one_blas_thread():
            influence = self._influence()
            return {u[0]: influence.curve(u) for u in subspaces if len(u) == len(columns_of(groups, u)) == 1}

    def _rows(self) -> tuple[Floats, Floats, Floats | None]:
        """Return rows of the sample, their weights, and the values of the black box if they were projected."""
        decomposition, sample = self.decomposition, self.sample
        used = np.flatnonzero(sample.weights > 0)
        count = len(used) * len(decomposition.subspaces) * len(decomposition.solutions)
        kind = influence_on(decomposition.dictionary)
        fewest = max(_MIN_ROWS, kind.ROWS_PER_COLUMN * max(s.weights.shape[0] for s in decomposition.solutions))
        used = used[:: max(1, min(count // kind.MAX_VALUES, len(used) // fewest))]
        values = None if sample.values is None else sample.values[used].reshape(len(used), -1)
        return sample.rows[used], sample.weights[used], values

    def _influence(self) -> ColumnInfluence | SpanInfluence:
        """Return the influence functions. They take much memory, so they are not cached."""
        decomposition = self.decomposition
        return influence_on(decomposition.dictionary).of(decomposition, *self._rows(), self.n_threads)

    def _indices(self, influence: ColumnInfluence | SpanInfluence) -> tuple[Floats, Floats]:
        """Return the derivatives of S and Sa, each (C, B, K)."""
        V, by_total = self.divisors, None
        if V is None:
            V, by_total = influence.variance()
        divisor = np.where(V == 0, 1, V)
        # The indices of a constant output are 0 for any sample.
        is_constant = np.array([s.is_constant for s in self.decomposition.solutions]) | (V == 0)
        scale = np.where(is_constant, np.inf, V)
        shape = len(self.decomposition.subspaces), influence.blocks.n_blocks, len(is_constant)
        by_S, by_Sa = np.empty(shape), np.empty(shape)
        for c, u in enumerate(self.decomposition.subspaces):
            covariance, variance, by_covariance, by_variance = influence.inner_products(u)
            if by_total is not None:
                by_covariance = by_covariance - covariance / divisor * by_total
                by_variance = by_variance - variance / divisor * by_total
            by_S[c], by_Sa[c] = by_covariance / scale, by_variance / scale
        return by_S, by_Sa


@singledispatch
def influence_on(dictionary: Dictionary) -> type[ColumnInfluence] | type[SpanInfluence]:
    """Return the class of influence functions for decompositions with this dictionary."""
    return ColumnInfluence


@influence_on.register
def _(dictionary: SpanDictionary) -> type[ColumnInfluence] | type[SpanInfluence]:
    return SpanInfluence
