"""Functions and data in spans of splines or bins: their values are projected on all spans jointly (spec 3 and 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasthdmr._dictionaries.black_box import FunctionDictionary, Output
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._solve.problem import Problem
from fasthdmr._spans.basis import Basis
from fasthdmr._spans.fit import ValueSpans, solve_values
from fasthdmr._spans.nearest_cells import Support
from fasthdmr._spans.planning import SpanOptions, choose_basis
from fasthdmr._support.cached import cached_property
from fasthdmr._support.progress import rows_progress
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats


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
        given = FunctionDictionary(self.output, X.shape[1], has_levels=bool(problem.n_levels))
        support = Support.of(X, weights, basis)
        return ValueSpans(given, [1] * self.columns.shape[1], basis, regression, support), solutions

    def _basis(self, problem: Problem) -> Basis:
        n, chosen = problem.n_variables, problem.kept.interactions
        touched: list[Subspace] = [tuple(range(n))]
        if chosen is not None:
            touched = [*((j,) for j in range(n)), *chosen]
        order = problem.largest_order
        return choose_basis(problem, touched, order, self.options, self.columns.__getitem__, joint=True)
