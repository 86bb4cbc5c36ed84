"""Decomposition of tree ensembles with basis="trees": components are projected on the tree columns, as in the paper."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fasthdmr._dictionaries.tree_columns import TreeDictionary
from fasthdmr._solve.combination import AdditiveCombination, Combined, Triangles
from fasthdmr._solve.hierarchy import Solution, solve
from fasthdmr._solve.problem import Problem
from fasthdmr._support.typing import Floats
from fasthdmr._support.weights import RowCounts


@dataclass(frozen=True, eq=False)
class TreesInColumns:
    """Tree ensembles whose components are orthogonal to the tree columns of proper subsets of their variables.

    Attributes
    ----------
    trees : TreeDictionary
        Their columns: the sum of the trees of each model and subspace.
    combination : Combination
    """

    trees: TreeDictionary
    combination: AdditiveCombination

    def solve(self, problem: Problem) -> tuple[TreeDictionary, list[Solution]]:
        """Return the dictionary of tree columns, and the components of every output."""
        outputs, total = self.combination.combine(problem, self.trees), problem.total_weight
        return self.trees, [self._solve(output, output.triangle(problem), total, problem) for output in outputs]

    def plan(self, problem: Problem, basis: Any = None) -> None:
        """Return nothing: the columns are those of the trees."""

    def sums(self, plan: None, problem: Problem) -> Triangles:
        """Return the R factors of the columns."""
        return self.combination.triangles(problem, self.trees)

    def solve_sums(
        self, plan: None, sums: Triangles, counts: RowCounts, problem: Problem
    ) -> tuple[TreeDictionary, list[Solution]]:
        """Return what `solve` does, for the rows of the R factors."""
        outputs = self.combination.from_triangles(sums, self.trees, problem.verbose)
        return self.trees, [self._solve(output, output.triangle(problem), counts.total, problem) for output in outputs]

    def _solve(self, output: Combined, triangle: Floats, total: float, problem: Problem) -> Solution:
        labels = self.trees.labels(output.number)
        solution = solve(triangle / np.sqrt(total), labels, output.beta, problem.n_threads)
        units = np.full(len(output.beta) - 1, output.unit)
        return replace(solution.rescaled(output.shift, output.scale, units), alpha=output.alpha)
