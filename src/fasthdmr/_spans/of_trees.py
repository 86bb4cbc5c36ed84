"""Tree ensembles in spans of splines or bins: terms are projected within their own subspaces (spec 3 and 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fasthdmr._dictionaries.tree_columns import Sorting, TreeDictionary
from fasthdmr._dictionaries.tree_output import TreeOutput, weighted_trees
from fasthdmr._solve.combination import Combination
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._solve.problem import Problem
from fasthdmr._spans.basis import Basis
from fasthdmr._spans.choice import choose_basis
from fasthdmr._spans.finer import finer_sizes
from fasthdmr._spans.fit import Regression, TreeSums, effective_rows, projected_subspaces, solve_trees
from fasthdmr._spans.nearest_cells import Occupied, Support, occupied_cells
from fasthdmr._spans.planning import SpanOptions
from fasthdmr._spans.span_dictionaries import TreeSpans
from fasthdmr._support.progress import rows_progress
from fasthdmr._support.typing import Floats
from fasthdmr._support.weights import RowCounts


def sorting_of_terms(*, smooth: bool) -> Sorting:
    """Return whether terms are trees or nodes: for each mode, the more accurate choice of `bench accuracy`."""
    return "hybrid" if smooth else "node"


@dataclass(frozen=True, eq=False)
class TreeSpanSums:
    """Sums over rows of trees in spans, and the cells that have rows."""

    sums: TreeSums
    occupied: Occupied

    def merged(self, other: TreeSpanSums) -> TreeSpanSums:
        """Return those of the rows of both."""
        return TreeSpanSums(self.sums.merged(other.sums), self.occupied.merged(other.occupied))


@dataclass(frozen=True, eq=False)
class TreesInSpans:
    """Tree ensembles whose components are orthogonal to the spans of proper subsets of their variables.

    Attributes
    ----------
    trees : TreeDictionary
        Terms are whole trees if these get regression coefficients. Afterwards they become those of `sorting_of_terms`.
    combination : Combination
    options : SpanOptions
    smooth : bool
        Whether all terms are projected. If not, components keep the terms of their own subspaces unprojected.
    """

    trees: TreeDictionary
    combination: Combination
    options: SpanOptions
    smooth: bool

    def solve(self, problem: Problem) -> tuple[TreeSpans, list[Solution]]:
        """Return the dictionary of trees and spans, and the components of every output."""
        trees, outputs = terms = self._terms(problem)
        basis = self._basis(problem, trees, outputs)
        X, weights = problem.X, problem.weights
        regression = Regression(effective_rows(len(X), weights), smooth=self.smooth)
        with rows_progress(len(X), "rows of the spans", verbose=problem.verbose):
            solutions = solve_trees(X, weights, basis, outputs, regression, n_threads=problem.n_threads)
        occupied = occupied_cells(X, weights, basis, problem.n_threads) if self.smooth else None
        return self._dictionary(terms, basis, regression, occupied), solutions

    def plan(self, problem: Problem, basis: Basis | None = None) -> Basis:
        """Return spans for the rows of the problem, or those that are given."""
        return self._basis(problem, *self._terms(problem)) if basis is None else basis

    def sums(self, plan: Basis, problem: Problem) -> TreeSpanSums:
        """Return sums over the rows of a problem."""
        X, weights, (_, outputs) = problem.X, problem.weights, self._terms(problem)
        sums = TreeSums.of(X, weights, plan, outputs, smooth=self.smooth, pairs="terms", n_threads=problem.n_threads)
        return TreeSpanSums(sums, Occupied(occupied_cells(X, weights, plan, problem.n_threads) if self.smooth else {}))

    def solve_sums(
        self, plan: Basis, sums: TreeSpanSums, counts: RowCounts, problem: Problem
    ) -> tuple[TreeSpans, list[Solution]]:
        """Return what `solve` does, for the rows of the sums."""
        regression, terms = Regression(counts.effective, smooth=self.smooth), self._terms(problem)
        nothing = np.empty((0, problem.X.shape[1]))  # no Gram block is missing
        solutions = sums.sums.solve(terms[1], regression, problem.n_threads, nothing, None)
        return self._dictionary(terms, plan, regression, sums.occupied.cells if self.smooth else None), solutions

    def _dictionary(
        self,
        terms: tuple[TreeDictionary, list[TreeOutput]],
        basis: Basis,
        regression: Regression,
        occupied: Mapping[int, NDArray[np.bool_]] | None,
    ) -> TreeSpans:
        support = None if occupied is None else Support.from_cells(basis, occupied)
        return TreeSpans(terms[0], [len(output.coef) for output in terms[1]], basis, regression, support)

    def _terms(self, problem: Problem) -> tuple[TreeDictionary, list[TreeOutput]]:
        """Return the trees with their final terms, and the outputs as linear combinations of these."""
        outputs = [combined.output() for combined in self.combination.combine(problem, self.trees)]
        if not self.combination.needs_y:
            return self.trees, outputs
        return weighted_trees(self.trees, outputs, sorting_of_terms(smooth=self.smooth))

    def _basis(self, problem: Problem, trees: TreeDictionary, outputs: Sequence[TreeOutput]) -> Basis:
        X, weights, n_threads = problem.X, problem.weights, problem.n_threads
        terms = {u for output in outputs for u in output.columns.subspaces}
        order = min(problem.largest_order, max(map(len, terms), default=1))
        if problem.kept.interactions is None:
            touched = projected_subspaces(terms, max(order, 2))
        else:
            touched = {(j,) for u in terms for j in u} | problem.kept.interactions

        def values(rows: slice) -> Floats:
            at = X[rows]
            boxes = enumerate(output.black_box() for output in outputs)
            return np.column_stack([trees.evaluate(at, k, box, n_threads)[:, 0] for k, box in boxes])

        def finer(sizes: tuple[int, ...], basis_of: Callable[[tuple[int, ...]], Basis]) -> tuple[int, ...]:
            return finer_sizes(sizes, basis_of, trees, outputs, X, weights, n_threads)

        return choose_basis(problem, touched, order, self.options, values, finer=finer)
