"""Functions and data in spans of splines or bins: their values are projected on all spans jointly (spec 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fasthdmr._dictionaries.black_box import FunctionDictionary, Output
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._solve.problem import Problem
from fasthdmr._spans.basis import Basis
from fasthdmr._spans.choice import choose_basis
from fasthdmr._spans.fit import Regression, solve_value_sums, solve_values
from fasthdmr._spans.nearest_cells import Occupied, Support, occupied_cells
from fasthdmr._spans.planning import SpanOptions
from fasthdmr._spans.span_dictionaries import ValueSpans
from fasthdmr._spans.span_sums import SpanSums
from fasthdmr._support.cached import cached_property
from fasthdmr._support.progress import rows_progress
from fasthdmr._support.scale import powers_of_two
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats
from fasthdmr._support.weights import RowCounts


@dataclass(frozen=True, eq=False)
class ValueSums:
    """Sums over rows of values divided by powers of two, (K,), and the cells that have rows."""

    sums: SpanSums
    scale: Floats
    occupied: Occupied

    def merged(self, other: ValueSums) -> ValueSums:
        """Return those of the rows of both.

        Raises
        ------
        ValueError
            If the values have magnitudes so different that they need different powers of two.
        """
        if not np.array_equal(self.scale, other.scale):
            raise ValueError(
                "The magnitudes of y in different batches differ by more than a factor of 1e36, so sums of squares "
                "would overflow or underflow. Divide y by a power of ten."
            )
        return ValueSums(self.sums.merged(other.sums), self.scale, self.occupied.merged(other.occupied))


@dataclass(frozen=True, eq=False)
class ValuesInSpans:
    """A function or data, whose components are orthogonal to the spans of proper subsets of their variables.

    Attributes
    ----------
    output : Output or None
        The function. None: y itself is decomposed.
    values : ndarray of shape (N,) or (N, K)
        The values at the rows of the problem.
    options : SpanOptions
    """

    output: Output | None
    values: Floats
    options: SpanOptions

    @cached_property
    def columns(self) -> Floats:
        """The values as columns, (N, K), in Fortran order."""
        return np.asfortranarray(self.values.reshape(len(self.values), -1), dtype=np.float64)

    def solve(self, problem: Problem) -> tuple[ValueSpans, list[Solution]]:
        """Return the dictionary of the function and spans, and the components of every output."""
        X, weights = problem.X, problem.weights
        basis = self._basis(problem)
        with rows_progress(len(X), "rows of the spans", verbose=problem.verbose):
            solutions, regression = solve_values(X, weights, basis, self.columns, n_threads=problem.n_threads)
        return self._dictionary(
            problem, basis, regression, occupied_cells(X, weights, basis, problem.n_threads)
        ), solutions

    def plan(self, problem: Problem, basis: Basis | None = None) -> Basis:
        """Return spans for the rows and values of the problem, or those that are given."""
        return self._basis(problem) if basis is None else basis

    def sums(self, plan: Basis, problem: Problem) -> ValueSums:
        """Return sums over the rows of a problem."""
        X, weights, scale = problem.X, problem.weights, powers_of_two(self.columns)
        with one_blas_thread():
            sums = SpanSums.of_values(plan, X, weights, self.columns / scale, pairs="all", n_threads=problem.n_threads)
        return ValueSums(sums, scale, Occupied(occupied_cells(X, weights, plan, problem.n_threads)))

    def solve_sums(
        self, plan: Basis, sums: ValueSums, counts: RowCounts, problem: Problem
    ) -> tuple[ValueSpans, list[Solution]]:
        """Return what `solve` does, for the rows of the sums."""
        solutions, regression = solve_value_sums(sums.sums, sums.scale, counts.effective, problem.n_threads)
        return self._dictionary(problem, plan, regression, sums.occupied.cells), solutions

    def _dictionary(
        self, problem: Problem, basis: Basis, regression: Regression, occupied: Mapping[int, NDArray[np.bool_]]
    ) -> ValueSpans:
        given = FunctionDictionary(self.output, problem.X.shape[1], has_levels=bool(problem.n_levels))
        return ValueSpans(given, [1] * self.columns.shape[1], basis, regression, Support.from_cells(basis, occupied))

    def _basis(self, problem: Problem) -> Basis:
        n, chosen = problem.n_variables, problem.kept.interactions
        touched: list[Subspace] = [tuple(range(n))]
        if chosen is not None:
            touched = [*((j,) for j in range(n)), *chosen]
        order = problem.largest_order
        return choose_basis(problem, touched, order, self.options, self.columns.__getitem__, joint=True)
