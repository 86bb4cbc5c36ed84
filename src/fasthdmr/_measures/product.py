"""Tree ensembles under the product of the marginals: exact integrals over the boxes of their leaves (spec 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from fasthdmr import _core
from fasthdmr._dictionaries.dictionary import ExtendedDictionary
from fasthdmr._dictionaries.tree_columns import TreeDictionary
from fasthdmr._dictionaries.tree_output import TreeOutput
from fasthdmr._solve.combination import AdditiveCombination, Combined, Triangles
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._solve.problem import Kept, Problem
from fasthdmr._support.cached import cached_property
from fasthdmr._support.groups import Groups, in_variables
from fasthdmr._support.scale import is_constant
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats
from fasthdmr._support.weights import RowCounts


class ProductDictionary(ExtendedDictionary):
    """The tree columns of a black box, followed by its component functions as columns.

    Parameters
    ----------
    trees : TreeDictionary
    coefs : sequence of ndarray of shape (b,)
        For each output, the coefficients of the tree columns divided by the scale of the output. Component functions
        are divided by the same scale.
    marginals : _core.Marginals
    kept : Kept
    groups : Groups or None
        Column functions are those of single columns of X. Functions of a group are sums of them.
    """

    def __init__(
        self,
        trees: TreeDictionary,
        coefs: Sequence[Floats],
        marginals: _core.Marginals,
        kept: Kept,
        groups: Groups | None = None,
    ) -> None:
        super().__init__(trees, [len(coef) for coef in coefs])
        self.trees = trees
        self.coefs = list(coefs)
        self.marginals = marginals
        self.kept = kept
        self.groups = groups

    def product_trees(self, output: int) -> _core.ProductTrees:
        """Return the trees of one output, each multiplied by the coefficient of its column."""
        columns = self.trees.columns[output]
        keys = zip(columns.column_member, (columns.subspaces[s] for s in columns.column_subspace), strict=True)
        coef_of = dict(zip(keys, self.coefs[output], strict=True))
        factors = []
        for i, forest in enumerate(self.trees.forests):
            factor = np.zeros(forest.n_trees)  # trees of one leaf are in the constant of the output
            for group in forest.groups:
                if group.output == output and group.subspace:
                    factor[group.trees] = coef_of[i, group.subspace]
            factors.append(factor)
        return _core.ProductTrees([forest.core for forest in self.trees.forests], output, factors, self.marginals)

    def make_components(self, trees: _core.ProductTrees) -> _core.ProductComponents:
        """Return the components of one output."""
        order = self.trees.n_features if self.kept.order is None else int(self.kept.order)
        chosen = None if self.kept.interactions is None else sorted(self.kept.interactions)
        if self.groups is not None:
            order, chosen = sum(sorted(map(len, self.groups.columns))[-order:]), None
        return _core.ProductComponents(trees, order, chosen, self.trees.n_threads)

    @cached_property
    def components(self) -> list[_core.ProductComponents]:
        """The components of each output. They are not pickled, but constructed again."""
        return [self.make_components(self.product_trees(k)) for k in range(len(self.coefs))]

    def added(self, output: int) -> _core.ProductComponents:
        """Return the columns of the components."""
        return self.components[output]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "components"}


@dataclass(frozen=True, eq=False)
class ProductSums:
    """What a decomposition under the product measure needs of the rows.

    Attributes
    ----------
    marginals : _core.Marginals
    triangles : Triangles or None
        R factors of the tree columns and y, if models are combined by regression.
    """

    marginals: _core.Marginals
    triangles: Triangles | None

    def merged(self, other: ProductSums) -> ProductSums:
        """Return the sums over the rows of both."""
        triangles = None
        if self.triangles is not None and other.triangles is not None:
            triangles = self.triangles.merged(other.triangles)
        return ProductSums(self.marginals.merged(other.marginals), triangles)


@dataclass(frozen=True, eq=False)
class TreesUnderProductMeasure:
    """The decomposition of tree ensembles under the product of the marginals of the rows.

    Attributes
    ----------
    trees : TreeDictionary
        Assigned to subspaces by tree.
    combination : Combination
    """

    trees: TreeDictionary
    combination: AdditiveCombination

    def solve(self, problem: Problem) -> tuple[ProductDictionary, list[Solution]]:
        """Return the dictionary of components, and one solution for each output.

        Raises
        ------
        ValueError
            If this would take too much time or memory. The message states the count and the remedy.
        """
        outputs = self.combination.combine(problem, self.trees)
        return self._solve(outputs, self._marginals(problem), problem)

    def plan(self, problem: Problem, basis: Any = None) -> None:
        """Return nothing: no spans are needed."""

    def sums(self, plan: None, problem: Problem) -> ProductSums:
        """Return the marginals, and R factors if the combination needs y."""
        triangles = self.combination.triangles(problem, self.trees) if self.combination.needs_y else None
        return ProductSums(self._marginals(problem), triangles)

    def solve_sums(
        self, plan: None, sums: ProductSums, counts: RowCounts, problem: Problem
    ) -> tuple[ProductDictionary, list[Solution]]:
        """Return what `solve` does, for the rows of the marginals."""
        outputs = self.combination.combine(problem, self.trees)
        if sums.triangles is not None:
            outputs = self.combination.from_triangles(sums.triangles, self.trees, problem.verbose)
        return self._solve(outputs, sums.marginals, problem)

    def _marginals(self, problem: Problem) -> _core.Marginals:
        forests = [forest.core for forest in self.trees.forests]
        return _core.Marginals(forests, problem.X, weight=problem.weights, n_threads=problem.n_threads)

    def _solve(
        self, combined: Iterable[Combined], marginals: _core.Marginals, problem: Problem
    ) -> tuple[ProductDictionary, list[Solution]]:
        n_threads, outputs = problem.n_threads, [each.output() for each in combined]
        coefs = [output.coef / output.scale for output in outputs]
        dictionary = ProductDictionary(self.trees, coefs, marginals, problem.kept, problem.groups)
        dictionary.components = []
        solutions = []
        for k, output in enumerate(outputs):
            product = dictionary.product_trees(k)
            components = dictionary.make_components(product)
            dictionary.components.append(components)
            variance = components.variances(n_threads)
            total = product.total_variance(components.subspaces, variance, n_threads)
            constant = output.constant + output.scale * product.mean
            variables = in_variables(problem.groups, components.subspaces)
            solutions.append(_solution(output, variables, constant, variance, total))
        return dictionary, solutions


def _solution(
    output: TreeOutput, variables: list[Subspace], constant: float, variance: Floats, total: float
) -> Solution:
    """Return the solution over component columns, of which those with the same variables are added.

    Components are orthogonal, so their variances add up, and Cov(f_u, f) = Var(f_u).
    """
    subspaces = sorted(set(variables), key=lambda u: (len(u), u))
    number = {u: c for c, u in enumerate(subspaces)}
    component = np.array([number[u] for u in variables], dtype=np.int64)
    n_columns, n_given = len(variables), 1 + len(output.coef)
    black_box = np.concatenate([[output.constant], output.coef, np.zeros(n_columns)])
    variance = np.bincount(component, variance, len(subspaces)).astype(np.float64)
    # One entry for each column, without a dense matrix: there may be a hundred thousand.
    own = np.full(n_columns, output.scale), (n_given + np.arange(n_columns), component)
    return Solution(
        subspaces=subspaces,
        weights=csc_array(own, shape=(n_given + n_columns, len(subspaces))),
        constant=constant,
        variance=variance,
        covariance=variance,
        total=total,
        black_box=csc_array(black_box[:, None]),
        coef=output.coef,
        rank=None,
        is_constant=bool(is_constant(total, output.scale, constant)),
        scale=output.scale,
        alpha=output.alpha,
    )
