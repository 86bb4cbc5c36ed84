"""Dictionaries: sets of feature columns, each labelled with the subspace of variables that it depends on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats, Integers


@dataclass(frozen=True, eq=False)
class Labels:
    """The subspaces of one output's dictionary, and the subspace of each column.

    Attributes
    ----------
    subspaces : list of tuple of int
        Sorted by order, then lexicographically, without the empty subspace.
    column_subspace : ndarray of shape (b,), int64
        For each column, its index into `subspaces`; never decreasing.
    """

    subspaces: list[Subspace]
    column_subspace: Integers


class Dictionary(ABC):
    """The columns (1, B), which can be evaluated at new rows. Components are linear combinations of them.

    Attributes
    ----------
    basis : Basis or None
        The spline or bin spans of the components; None if components are combinations of other columns.
    takes_columns : bool
        Whether the argument of a component is the matrix of columns instead of the values of its variables.
    """

    basis: Any = None
    takes_columns: bool = False

    @abstractmethod
    def evaluate(self, rows: Any, output: int, weights: csc_array, n_threads: int) -> Floats:
        """Return the product of the columns (1, B) at the rows and the weights (1 + b, C), shape (N, C)."""

    @abstractmethod
    def embed(self, subspace: Subspace, values: Floats) -> Floats:
        """Return rows with the given values of the variables in `subspace`."""

    def changes(
        self, rows: NDArray[Any], output: int, weights: csc_array, subspaces: Sequence[Subspace]
    ) -> Iterable[tuple[int, Integers, Floats]]:
        """Yield corrections of components where they extrapolate: component number, rows (M,), correction (M,).

        A component is given by its column of `weights`, (1 + b, C), and its subspace.
        """
        return ()

    def columns_of(self, rows: NDArray[Any], components: Sequence[tuple[int, csc_array]]) -> Floats:
        """Return the columns with non-zero weight in components, (N, m), without those of the black box only.

        A component is given by its output and its weights, (1 + b, 1). All outputs have the same columns.
        """
        return self._own_columns(rows, [max(components, key=lambda of: of[1].nnz)])  # constant outputs have weight 0

    def _own_columns(self, rows: NDArray[Any], components: Sequence[tuple[int, csc_array]]) -> Floats:
        blocks = [np.zeros((len(rows), 0))]
        for output, weights in components:
            used = weights.indices[weights.indices >= self._first(output)]
            ones, begin = np.full(len(used), 1 / self._unit(output)), np.arange(len(used) + 1)
            unit = csc_array((ones, used, begin), shape=(weights.shape[0], len(used)))
            blocks.append(self.evaluate(rows, output, unit, 1))
        return np.hstack(blocks)

    def _first(self, output: int) -> int:
        """Return the number of the first column that belongs to components."""
        return 1

    def _unit(self, output: int) -> float:
        """Return the power of two by which columns are divided to avoid overflow."""
        return 1.0


class OwnSpans(Dictionary):
    """A dictionary whose columns themselves span the function spaces of their subspaces."""

    @abstractmethod
    def labels(self, output: int = 0) -> Labels:
        """Return the labels of the columns of one output."""

    def spans(self, rows: NDArray[Any], output: int) -> tuple[Floats, float]:
        """Return all columns of one output at rows, (N, b), divided by a power of two, and that."""
        every = csc_array(np.ones((1 + len(self.labels(output).column_subspace), 1)))
        return self._own_columns(rows, [(output, every)]), self._unit(output)


class Columns(Protocol):
    """Columns that are evaluated in C++."""

    def evaluate(self, x: NDArray[Any], begin: Integers, column: Integers, weight: Floats, n_threads: int) -> Floats:
        """Return the product of (1, columns) at the rows and sparse weights, given as a CSC matrix."""
        ...


class ExtendedDictionary(Dictionary):
    """The columns of a black box, followed by the columns of its components.

    Parameters
    ----------
    given : Dictionary
    n_given : sequence of int
        For each output, the number of columns of the black box.
    """

    def __init__(self, given: Dictionary, n_given: Sequence[int]) -> None:
        self.given = given
        self.n_given = list(n_given)

    @abstractmethod
    def added(self, output: int) -> Columns:
        """Return the columns of the components."""

    def evaluate(self, rows: Any, output: int, weights: csc_array, n_threads: int) -> Floats:
        """Return the product of the columns (1, given, added) at the rows and the weights, (N, C)."""
        b = self.n_given[output]
        weights = weights if weights.has_sorted_indices else weights.sorted_indices()
        own, added = weights[: b + 1], weights[b + 1 :]
        reads_given = bool(own.indices.any())
        if added.nnz == 0 and reads_given:
            return self.given.evaluate(rows, output, own, n_threads)
        values = self.added(output).evaluate(
            rows,
            begin=added.indptr.astype(np.int64),
            column=added.indices.astype(np.int64) + 1,
            weight=added.data,
            n_threads=n_threads,
        )
        if reads_given:
            return values + self.given.evaluate(rows, output, own, n_threads)
        values += own[:1].toarray()
        return values

    def embed(self, subspace: Subspace, values: Floats) -> Floats:
        """Return rows with the given values of the variables in `subspace`."""
        return self.given.embed(subspace, values)

    def _first(self, output: int) -> int:
        return 1 + self.n_given[output]
