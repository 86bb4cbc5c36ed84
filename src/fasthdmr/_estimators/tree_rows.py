"""The rows that `TreeHDMR` decomposes: the variables in numbers, and the columns that trees read if these differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._data.encoding import Encoding, is_table, with_zeros
from fasthdmr._dictionaries.pipeline_inputs import PipelineInputs, one_column_each
from fasthdmr._dictionaries.tree_inputs import TreeInputs
from fasthdmr._estimators.members import of_variables
from fasthdmr._forest.forest import Forest
from fasthdmr._forest.front import Front
from fasthdmr._forest.in_numbers import in_numbers
from fasthdmr._forest.sparse import as_dense, is_sparse
from fasthdmr._support.groups import Groups
from fasthdmr._support.validation import check_rows
from fasthdmr.loaders.in_variables import in_variables
from fasthdmr.loaders.sums import compared_alike


@dataclass(frozen=True, eq=False)
class TreeRows:
    """The conversion of X to the rows of a decomposition of trees.

    Spans read codes of levels in place of categories. Trees may read other numbers: codes of their own, or the outputs
    of the transformers of a pipeline. Then rows hold the variables, followed by the columns that the trees read. Under
    the product measure, they hold one column for each variable.

    Attributes
    ----------
    forests : sequence of Forest
        With a common front, or none.
    encoding : Encoding
    groups : Groups or None
        None under the product measure, where components of groups are sums of those of columns.
    is_product : bool
    """

    forests: Sequence[Forest]
    encoding: Encoding
    groups: Groups | None
    is_product: bool

    @property
    def front(self) -> Front | None:
        """The transformers before the trees."""
        return self.forests[0].front

    @property
    def reads_other_columns(self) -> bool:
        """Whether trees read other columns than the variables."""
        return bool(self.encoding.levels) or self.front is not None

    def variables(self, X: Any) -> Any:
        """Return X with numbers in place of levels."""
        X = as_dense(X, self.forests)
        if not self.reads_other_columns:
            return in_numbers(X, self.forests)
        return without_unused(self.encoding.encode(X), self.forests)

    def inputs(self, X: Any, codes: NDArray[Any], *, allow_nan: bool) -> NDArray[Any]:
        """Return what trees read at X, (N, p); `codes` are the variables of X in numbers, (N, n)."""
        if not self.reads_other_columns:
            return codes
        inputs: NDArray[Any] = in_numbers(X, self.forests)
        if self.front is None:
            inputs = check_rows(inputs, codes.shape[1], allow_nan=allow_nan, allow_inf=False, estimator="TreeHDMR")
        return inputs

    def rows(self, codes: NDArray[Any], inputs: NDArray[Any]) -> NDArray[Any]:
        """Return the rows of the decomposition."""
        if not self.reads_other_columns:
            return codes
        if not self.is_product:
            return np.hstack([codes, inputs])
        return inputs if self.front is None else one_column_each(self.front, codes, inputs, self.encoding.levels)

    def trees(
        self, X: Any, codes: NDArray[Any], inputs: NDArray[Any]
    ) -> tuple[list[Forest], TreeInputs | PipelineInputs | None]:
        """Return forests that read these rows, and the columns that they read as functions of the variables."""
        if not self.reads_other_columns:
            forests = list(self.forests)
            return (forests if self.groups is None else [of_variables(f, self.groups, 0) for f in forests]), None
        first = 0 if self.is_product else codes.shape[1]
        if self.front is None:
            read = TreeInputs.of(codes, inputs, self.encoding.counts, is_alone=self.is_product)
            return [of_variables(forest, self.groups, first) for forest in self.forests], read
        behind = PipelineInputs.of(X, codes, inputs, self.encoding.levels, self.front, is_alone=self.is_product)
        if not self.is_product:
            return [of_variables(forest, self.groups, first) for forest in self.forests], behind
        curves = behind.curves(codes)
        return compared_alike([in_variables(forest, behind.tables, curves) for forest in self.forests]), behind


def without_unused(X: Any, forests: Sequence[Forest]) -> Any:
    """Return X with zeros in columns of dates and other objects which no model uses behind its transformers."""
    fronts = [forest.front for forest in forests]
    if None in fronts or not hasattr(X, "shape") or not is_table(X) or is_sparse(X):
        return X
    used = {j for front in fronts if front is not None for j in front.sources}
    return with_zeros(X, sorted(set(range(X.shape[1])) - used))
