"""Bootstrap of decompositions: they are solved again on rows drawn with replacement, for the given model or y.

A row that is drawn twice gets twice its weight. As in the jackknife, these are held fixed: sizes and knots of spans,
the choice of pairs, the ridge parameter and the number of rows in it. Unlike the jackknife, the bootstrap does not
linearise. Half-widths are 1.96 standard deviations over the solutions, plus bias as in the jackknife. Large samples are
thinned first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, hstack

from fasthdmr._solve.hierarchy import Solution, indices_of
from fasthdmr._support.cached import cached_property
from fasthdmr._support.choices import IntervalMethod
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats
from fasthdmr._uncertainty.refits import all_indices, solve_again
from fasthdmr._uncertainty.uncertainty import NORMAL_95, Uncertainty

N_RESAMPLES = 200
"""The number of resamples. The relative error of a standard deviation is then about 5 %."""


@dataclass(frozen=True, eq=False)
class Spread:
    """The spread of solutions over resamples.

    Attributes
    ----------
    indices : list of ndarray
        Standard deviations in the order of `INDICES`, each (C, K) or (n, K).
    curves : dict of int to list of csc_array
        For each variable, one matrix for each output, with one column for each resample: the weights of the component
        over (1, columns), minus their mean over resamples, in units of the output's scale.
    """

    indices: list[Floats]
    curves: dict[int, list[csc_array]]


class Bootstrap(Uncertainty):
    """Confidence intervals and standard errors by the bootstrap; the attributes are those of `Uncertainty`."""

    @cached_property
    def spread(self) -> Spread:
        """The spread of the solutions over resamples."""
        decomposition = self.decomposition
        subspaces = decomposition.subspaces
        single = [u for u in subspaces if len(u) == 1]
        indices, curves = [], []
        for solutions in self._resampled():
            indices.append(indices_of(solutions, subspaces, self._divisors_of(solutions)))
            curves.append([_weights(s, single) for s in solutions])
        K = len(decomposition.solutions)
        Sa, S = (np.concatenate(values, axis=1) for values in zip(*indices, strict=True))
        found = all_indices(decomposition, Sa, S)  # resamples side by side, as if they were outputs
        by_output = [csc_array(hstack(weights, format="csc")) for weights in zip(*curves, strict=True)]
        scaled = list(zip(by_output, self._scale, strict=True))
        return Spread(
            [np.std(values.reshape(len(values), N_RESAMPLES, K), axis=1, ddof=1) for values in found],
            {u[0]: [_less_means(w[:, v :: len(single)], scale) for w, scale in scaled] for v, u in enumerate(single)},
        )

    def _for_one_row(self) -> list[Floats]:
        return [NORMAL_95 * self._worth * deviation for deviation in self.spread.indices]

    def _curve_deviation(self, variable: int, values: Floats) -> Floats:
        dictionary = self.decomposition.dictionary
        rows = self.decomposition.embed(variable, values)
        curves = [dictionary.evaluate(rows, k, w, 1) for k, w in enumerate(self.spread.curves[variable])]
        variances = [np.sum(curve**2, axis=1) / (curve.shape[1] - 1) for curve in curves]
        deviation: Floats = self._worth * np.sqrt(np.column_stack(variances))
        return deviation

    @property
    def _worth(self) -> float:
        """The factor from a standard deviation over resamples to that for one row, root of the effective size."""
        _, weights, _ = self._rows()
        return float(weights.sum() / np.sqrt(weights @ weights))

    def _resampled(self) -> Iterator[list[Solution]]:
        """Yield the solutions on rows drawn with replacement. The seed is fixed."""
        dictionary, first = self.decomposition.dictionary, self.decomposition.solutions
        rows, weights, values = self._rows()
        rng = np.random.default_rng(0)
        for _ in range(N_RESAMPLES):
            counts = np.bincount(rng.integers(len(rows), size=len(rows)), minlength=len(rows))
            drawn = np.flatnonzero(counts)
            given = None if values is None else values[drawn]
            again = weights[drawn] * counts[drawn]
            with one_blas_thread():
                solutions = solve_again(dictionary, first, rows[drawn], again, given, n_threads=self.n_threads)
            yield solutions

    def _divisors_of(self, solutions: Sequence[Solution]) -> list[float]:
        """Return the divisors of the indices of a resample, in units of the scales² of its solutions."""
        divisors = []
        for k, (s, first) in enumerate(zip(solutions, self.decomposition.solutions, strict=True)):
            known = s.total if self.divisors is None else self.divisors[k] * (first.scale / s.scale) ** 2
            divisors.append(0.0 if s.is_constant or first.is_constant else float(known))
        return divisors


def _weights(solution: Solution, subspaces: Sequence[tuple[int, ...]]) -> csc_array:
    """Return the weights of components, one column for each subspace; a missing component has weights 0."""
    number = {u: c for c, u in enumerate(solution.subspaces)}
    with_none = hstack([solution.weights, csc_array((solution.weights.shape[0], 1))], format="csc")
    return csc_array(with_none[:, np.array([number.get(u, -1) for u in subspaces], dtype=np.int64)])


def _less_means(weights: csc_array, scale: float) -> csc_array:
    """Return columns of weights minus their mean, divided by a scale."""
    used = np.unique(weights.indices)
    moved = weights.tocsr()[used].toarray() / scale
    moved -= moved[:, [0]]  # exactly 0 where all columns are equal, as for unprojected terms
    moved -= moved.mean(axis=1, keepdims=True)
    row, column = np.nonzero(moved)
    return csc_array((moved[row, column], (used[row], column)), shape=weights.shape)


KINDS: dict[IntervalMethod, type[Uncertainty]] = {"bootstrap": Bootstrap, "jackknife": Uncertainty}
"""The classes for the values of the parameter `ci` of estimators."""
