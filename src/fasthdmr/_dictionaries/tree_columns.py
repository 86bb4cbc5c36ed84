"""The feature columns of tree ensembles: one for each ensemble and subspace (spec 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from fasthdmr import _core
from fasthdmr._dictionaries.dictionary import Labels, OwnSpans
from fasthdmr._dictionaries.pipeline_inputs import PipelineInputs
from fasthdmr._dictionaries.tree_inputs import TreeInputs
from fasthdmr._forest.forest import Forest
from fasthdmr._support.cached import cached_property
from fasthdmr._support.scale import LARGEST, power_of_two
from fasthdmr._support.subspaces import Subspace, embed
from fasthdmr._support.typing import Floats

Sorting = Literal["tree", "node", "hybrid"]
"""How trees are assigned to subspaces: whole, node by node, or both by number of variables (spec 4)."""


class TreeDictionary(OwnSpans):
    """The columns of one or several tree ensembles: one for each ensemble and subspace (spec 4).

    Parameters
    ----------
    forests : sequence of Forest
        With the same numbers of features and outputs.
    by : {"tree", "node", "hybrid"}
        "tree" assigns every tree to the subspace of all its variables. "node" assigns every node to the subspace of the
        variables on its path. "hybrid" assigns trees of at most three variables whole, and the others by node, where
        terms of two variables join one of three of the same tree that contains them. Terms without variables are
        constants, not columns.
    n_threads : int
        The number of threads that prepare the columns.
    inputs : TreeInputs, PipelineInputs or None
        The columns of rows that the forests read. None: all.

    Attributes
    ----------
    reach : ndarray of shape (K,)
        A bound of the absolute value of each output: the sum over trees of the largest leaf. Infinite if a leaf is not
        finite.
    """

    def __init__(
        self,
        forests: Sequence[Forest],
        by: Sorting = "tree",
        *,
        n_threads: int = 1,
        inputs: TreeInputs | PipelineInputs | None = None,
    ) -> None:
        self.forests = tuple(forests)
        self.by = by
        self.n_threads = n_threads
        self.inputs = inputs
        self.n_features = self.forests[0].n_features
        self.n_outputs = self.forests[0].n_outputs
        self.reach = np.sum([forest.core.reach for forest in self.forests], axis=0)

    @cached_property
    def columns(self) -> list[_core.TreeColumns]:
        """The C++ columns of each output; they are not pickled but constructed again."""
        return [_core.TreeColumns(self._parts(output), self.n_threads) for output in range(self.n_outputs)]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "columns"}

    def labels(self, output: int = 0) -> Labels:
        """Return the labels of the columns of one output."""
        columns = self.columns[output]
        return Labels(columns.subspaces, columns.column_subspace)

    def check_reach(self, output: int, constant: float, coef: float) -> None:
        """Raise an error if an output, a constant plus `coef` times the trees, may overflow.

        Raises
        ------
        ValueError
            If the bound of the output exceeds the largest accepted number. The message states the remedy.
        """
        largest = abs(constant) + coef * self.reach[output]
        if not largest <= LARGEST:
            name = (self.forests[0].output_names or tuple(f"y{k}" for k in range(self.n_outputs)))[output]
            raise ValueError(
                f"The leaves of output {name!r} add up to as much as {largest:.3g}; at most {LARGEST:g} is taken. "
                "Divide the target by a power of ten before the models are fitted."
            )

    def evaluate(self, rows: Any, output: int, weights: csc_array, n_threads: int) -> Floats:
        """Return the product of the columns (1, B) at the rows and the weights, (N, C), without forming B."""
        return self.columns[output].evaluate(
            rows,
            begin=weights.indptr.astype(np.int64),
            column=weights.indices.astype(np.int64),
            weight=weights.data,
            n_threads=n_threads,
        )

    def embed(self, subspace: Subspace, values: Floats) -> Floats:
        """Return rows with the given values of the variables in `subspace`; the other variables are set to 0."""
        if self.inputs is None:
            return embed(subspace, values, self.n_features)
        return self.inputs.embed(subspace, values)

    def columns_of(self, rows: NDArray[Any], components: Sequence[tuple[int, csc_array]]) -> Floats:
        """Return the columns with non-zero weight in components, (N, m). Outputs have separate columns."""
        return self._own_columns(rows, components)

    def _parts(self, output: int) -> list[tuple[_core.Forest, int, str, str]]:
        """Return the forests, trees and assignments of the columns: one part per forest, or two for "hybrid"."""
        cores = [forest.core for forest in self.forests]
        if self.by != "hybrid":
            return [(core, output, self.by, "all") for core in cores]
        return [(core, output, by, which) for core in cores for by, which in (("tree", "few"), ("node", "many"))]

    def _unit(self, output: int) -> float:
        return power_of_two(self.reach[output])
