"""Decomposition of tree ensembles with basis="trees": components are projected on the tree columns, as in the paper."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fasthdmr._dictionaries.tree_columns import TreeDictionary
from fasthdmr._solve.combination import Combination, Combined
from fasthdmr._solve.hierarchy import Solution, solve
from fasthdmr._solve.problem import Problem


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
    combination: Combination

    def solve(self, problem: Problem) -> tuple[TreeDictionary, list[Solution]]:
        """Return the dictionary of tree columns, and the components of every output."""
        return self.trees, [self._solve(problem, output) for output in self.combination.combine(problem, self.trees)]

    def _solve(self, problem: Problem, output: Combined) -> Solution:
        triangle = output.triangle(problem) / np.sqrt(problem.total_weight)
        solution = solve(triangle, self.trees.labels(output.number), output.beta, problem.n_threads)
        units = np.full(len(output.beta) - 1, output.unit)
        return replace(solution.rescaled(output.shift, output.scale, units), alpha=output.alpha)
