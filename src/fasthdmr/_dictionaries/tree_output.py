"""The outputs of tree ensembles: a constant, and tree columns times coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csc_array

from fasthdmr import _core
from fasthdmr._dictionaries.tree_columns import Sorting, TreeDictionary
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats


@dataclass(frozen=True, eq=False)
class TreeOutput:
    """One output as tree columns: constant + columns times coef.

    Attributes
    ----------
    columns : _core.TreeColumns
    constant : float
    coef : ndarray of shape (b,)
    scale : float
        A power of two that the output is divided by for its moments.
    beta : ndarray or None
        The coefficients to report, where they are others: those of whole trees that have them in their leaves.
    alpha : float or None
        The penalty of the ridge regression that the coefficients are from; None: there was none.
    """

    columns: _core.TreeColumns
    constant: float
    coef: Floats
    scale: float = 1.0
    beta: Floats | None = None
    alpha: float | None = None

    @property
    def subspaces(self) -> list[Subspace]:
        """The subspace of every column."""
        names = self.columns.subspaces
        return [names[s] for s in self.columns.column_subspace]

    def scaled(self) -> tuple[_core.TreeColumns, list[float], float]:
        """Return columns, coefficients and constant, divided by the scale."""
        return self.columns, (self.coef / self.scale).tolist(), self.constant / self.scale

    def black_box(self) -> csc_array:
        """Return the weights of the output over (1, columns)."""
        return csc_array(np.concatenate([[self.constant], self.coef])[:, None])


def weighted_trees(
    trees: TreeDictionary, outputs: Sequence[TreeOutput], by: Sorting
) -> tuple[TreeDictionary, list[TreeOutput]]:
    """Return trees that have their coefficients in their leaves, sorted anew.

    Coefficients belong to whole trees; with them in the leaves, trees can be sorted by node.

    Parameters
    ----------
    trees : TreeDictionary
        Sorted by tree.
    outputs : sequence of TreeOutput
        Of these trees.
    by : {"tree", "node", "hybrid"}

    Returns
    -------
    trees : TreeDictionary
    outputs : list of TreeOutput
    """
    factors = [np.zeros((forest.n_trees, forest.n_outputs)) for forest in trees.forests]
    for k, output in enumerate(outputs):
        labels = zip(output.columns.column_member, output.subspaces, output.coef, strict=True)
        coef = {(int(member), u): beta for member, u, beta in labels}
        for member, forest in enumerate(trees.forests):
            for group in forest.groups:
                if group.output == k and group.subspace:
                    factors[member][group.trees, k] = coef[member, group.subspace]
    forests = [replace(f, core=f.core.scaled(factor)) for f, factor in zip(trees.forests, factors, strict=True)]
    weighted = TreeDictionary(forests, by, n_threads=trees.n_threads)
    result = []
    for columns, output in zip(weighted.columns, outputs, strict=True):
        ones = np.ones(len(columns.column_subspace))
        constant = output.constant + float(columns.constants.sum())
        result.append(TreeOutput(columns, constant, ones, output.scale, output.coef, output.alpha))
    return weighted, result
