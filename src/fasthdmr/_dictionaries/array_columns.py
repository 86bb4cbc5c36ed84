"""Feature columns that the caller computes, as for `fasthdmr.decompose`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from fasthdmr._dictionaries.dictionary import Labels, OwnSpans
from fasthdmr._dictionaries.indicator_columns import Indicators
from fasthdmr._support.numbers import as_floats, check_rows_are_there
from fasthdmr._support.steps import steps
from fasthdmr._support.subspaces import Subspace, check_width
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import check_names


class ArrayDictionary(OwnSpans):
    """Feature columns that the caller computes: an (N, b) matrix in the caller's order.

    Parameters
    ----------
    subspaces : sequence of tuple of int, length b
        The subspace of each column.
    column_names : tuple of str or None
        The names of the columns. Data frames that are passed later must have the same names.
    indicators : Indicators
        The columns that take the place of categorical ones. `order` and labels are those of all columns after that.
    """

    takes_columns = True

    def __init__(
        self, subspaces: Sequence[Subspace], column_names: tuple[str, ...] | None, indicators: Indicators
    ) -> None:
        self.n_columns, self.subspaces = len(subspaces), list(subspaces)
        self.column_names = column_names
        self.indicators = indicators
        subspaces = indicators.subspaces(subspaces)
        self.constant = [j for j, u in enumerate(subspaces) if not u]
        self.order = sorted((j for j, u in enumerate(subspaces) if u), key=lambda j: (len(subspaces[j]), subspaces[j]))
        distinct = sorted({u for u in subspaces if u}, key=lambda u: (len(u), u))
        numbers = {u: s for s, u in enumerate(distinct)}
        column_subspace = np.array([numbers[subspaces[j]] for j in self.order], dtype=np.int64)
        self._labels = Labels(distinct, column_subspace)

    def labels(self, output: int = 0) -> Labels:
        """Return the labels of the columns; they are the same for all outputs."""
        return self._labels

    def evaluate(self, rows: Any, output: int, weights: csc_array, n_threads: int) -> Floats:
        """Return the product of (1, B), B sorted by subspace, and the weights, (N, C)."""
        columns = self._columns(rows, warns=output == 0)  # once for all outputs
        result = np.empty((len(columns), weights.shape[1]))
        for part in steps(len(columns), float(weights.nnz + weights.shape[0])):
            own = columns[part][:, self.order]
            result[part] = np.column_stack([np.ones(len(own)), own]) @ weights
        return result

    def embed(self, subspace: Subspace, values: Any) -> Any:
        """Return the values: they are columns of the dictionary already."""
        return values

    def _columns(self, values: Any, *, warns: bool) -> NDArray[Any]:
        encoding = self.indicators.encoding
        check_rows_are_there(values, "columns")
        check_names(values, self.column_names, during="decompose")
        columns = as_floats(encoding.encode(values), "columns")
        check_width(columns, self.n_columns, "A dictionary of columns")
        if warns:
            encoding.warn_of_unknown(
                values, columns, self.column_names or [f"column {j}" for j in range(self.n_columns)]
            )
        return self.indicators.replace(columns)
