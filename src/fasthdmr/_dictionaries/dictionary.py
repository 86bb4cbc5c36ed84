"""Dictionaries: feature columns, each labelled with its subspace, and what crosses into C++ about them."""

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
    """The subspaces of one output's dictionary, and which of them each column belongs to.

    Attributes
    ----------
    subspaces : list of tuple of int
        Sorted by order, then lexicographically; the constant is none of them.
    column_subspace : ndarray of shape (b,), int64
        Index into `subspaces`, rising.
    """

    subspaces: list[Subspace]
    column_subspace: Integers


class Dictionary(ABC):
    """Columns (1, B): what a decomposition needs in order to be evaluated at new rows.

    Attributes
    ----------
    basis : Basis or None
        The spans of splines or bins that components are made of; None: there are none.
    takes_columns : bool
        Whether components take the columns themselves in place of values of variables.
    """

    basis: Any = None
    takes_columns: bool = False

    @abstractmethod
    def evaluate(self, rows: Any, output: int, weights: csc_array, n_threads: int) -> Floats:
        """Return (N, C): columns (1, B) at the rows times weights (1 + b, C)."""

    @abstractmethod
    def embed(self, subspace: Subspace, values: Floats) -> Floats:
        """Return rows that have the given values of the variables of a subspace."""

    def changes(
        self, rows: NDArray[Any], output: int, weights: csc_array, subspaces: Sequence[Subspace]
    ) -> Iterable[tuple[int, Integers, Floats]]:
        """Yield what has to be added to components far from the fitted rows: number, rows, (M,), and change, (M,).

        Components are given by their weights, (1 + b, C), and subspaces.
        """
        return ()

    def columns_of(self, rows: NDArray[Any], components: Sequence[tuple[int, csc_array]]) -> Floats:
        """Return the columns that components are made of, (N, m), but for those that only the black box is made of.

        Components are given by their outputs and weights, (1 + b, 1); all outputs have the same columns.
        """
        return self._own_columns(rows, components[:1])

    def _own_columns(self, rows: NDArray[Any], components: Sequence[tuple[int, csc_array]]) -> Floats:
        blocks = [np.zeros((len(rows), 0))]
        for output, weights in components:
            used = weights.indices[weights.indices >= self._first(output)]
            ones, begin = np.full(len(used), 1 / self._unit(output)), np.arange(len(used) + 1)
            unit = csc_array((ones, used, begin), shape=(weights.shape[0], len(used)))
            blocks.append(self.evaluate(rows, output, unit, 1))
        return np.hstack(blocks)

    def _first(self, output: int) -> int:
        """Return the first column that components are made of."""
        return 1

    def _unit(self, output: int) -> float:
        """Return the power of two that columns are divided by."""
        return 1.0


class OwnSpans(Dictionary):
    """Columns that are the spans of their subspaces themselves."""

    @abstractmethod
    def labels(self, output: int = 0) -> Labels:
        """Return the labels of the columns of one output."""

    def spans(self, rows: NDArray[Any], output: int) -> tuple[Floats, float]:
        """Return all columns of one output at rows, (N, b), divided by a power of two, and that."""
        every = csc_array(np.ones((1 + len(self.labels(output).column_subspace), 1)))
        return self._own_columns(rows, [(output, every)]), self._unit(output)


class Columns(Protocol):
    """Columns in C++ that are functions of the rows."""

    def evaluate(self, x: NDArray[Any], begin: Integers, column: Integers, weight: Floats, n_threads: int) -> Floats:
        """Return sparse columns of weights over (1, columns) at the rows."""
        ...


class ExtendedDictionary(Dictionary):
    """The columns that a black box is made of, and behind them others that its components are made of.

    Parameters
    ----------
    given : Dictionary
    n_given : sequence of int
        The number of given columns, for each output.
    """

    def __init__(self, given: Dictionary, n_given: Sequence[int]) -> None:
        self.given = given
        self.n_given = list(n_given)

    @abstractmethod
    def added(self, output: int) -> Columns:
        """Return the columns behind the given ones."""

    def evaluate(self, rows: Any, output: int, weights: csc_array, n_threads: int) -> Floats:
        """Return the columns (1, given, added) at the rows times weights, (N, C)."""
        b = self.n_given[output]
        rows_first = weights.tocsr()
        own, added = rows_first[: b + 1].tocsc(), rows_first[b + 1 :].tocsc()
        if added.nnz == 0 and own[1:].nnz:
            return self.given.evaluate(rows, output, own, n_threads)
        values = self.added(output).evaluate(
            rows,
            begin=added.indptr.astype(np.int64),
            column=added.indices.astype(np.int64) + 1,
            weight=added.data,
            n_threads=n_threads,
        )
        if own[1:].nnz:
            return values + self.given.evaluate(rows, output, own, n_threads)
        values += own[[0]].toarray()
        return values

    def embed(self, subspace: Subspace, values: Floats) -> Floats:
        """Return rows that have the given values of the variables of a subspace."""
        return self.given.embed(subspace, values)

    def _first(self, output: int) -> int:
        return 1 + self.n_given[output]
