"""Feature columns that the caller computes, as for `fasthdmr.decompose`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from fasthdmr._dictionaries.dictionary import Labels, OwnSpans
from fasthdmr._support.numbers import as_floats
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
    """

    takes_columns = True

    def __init__(self, subspaces: Sequence[Subspace], column_names: tuple[str, ...] | None = None) -> None:
        self.n_columns, self.subspaces = len(subspaces), list(subspaces)
        self.column_names = column_names
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
        columns = self._columns(rows)
        result = np.empty((len(columns), weights.shape[1]))
        for part in steps(len(columns), float(weights.nnz + weights.shape[0])):
            own = columns[part][:, self.order]
            result[part] = np.column_stack([np.ones(len(own)), own]) @ weights
        return result

    def embed(self, subspace: Subspace, values: Any) -> Floats:
        """Return the values: they are columns of the dictionary already."""
        return self._columns(values)

    def _columns(self, values: Any) -> Floats:
        columns = as_floats(values, "columns")
        check_names(values, self.column_names, during="decompose")
        check_width(columns, self.n_columns, "A dictionary of columns")
        return columns
