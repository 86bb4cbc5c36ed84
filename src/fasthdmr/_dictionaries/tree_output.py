"""The outputs of tree ensembles, as linear combinations of tree columns."""

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
    """One output of tree ensembles: constant + columns @ coef.

    Attributes
    ----------
    columns : _core.TreeColumns
    constant : float
    coef : ndarray of shape (b,)
    scale : float
        A power of two. The output is divided by it before second moments are formed, so that they do not overflow.
    beta : ndarray or None
        The regression coefficients to report, if they are already multiplied into the leaves and `coef` is 1.
    alpha : float or None
        The penalty of the ridge regression that gave the coefficients; None if there was no regression.
    """

    columns: _core.TreeColumns
    constant: float
    coef: Floats
    scale: float = 1.0
    beta: Floats | None = None
    alpha: float | None = None

    @property
    def subspaces(self) -> list[Subspace]:
        """The subspace of each column."""
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
    """Multiply regression coefficients into the leaves, and assign the new trees to subspaces.

    A coefficient belongs to a whole tree. Once it is in the leaves, the nodes of the tree may go to different
    subspaces.

    Parameters
    ----------
    trees : TreeDictionary
        Assigned to subspaces by tree.
    outputs : sequence of TreeOutput
        The outputs of these trees.
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
    weighted = TreeDictionary(forests, by, n_threads=trees.n_threads, inputs=trees.inputs)
    result = []
    for columns, output in zip(weighted.columns, outputs, strict=True):
        ones = np.ones(len(columns.column_subspace))
        constant = output.constant + float(columns.constants.sum())
        result.append(TreeOutput(columns, constant, ones, output.scale, output.coef, output.alpha))
    return weighted, result
