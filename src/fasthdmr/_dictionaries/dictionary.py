"""Dictionaries: feature columns, each labelled with its subspace, and what crosses into C++ about them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
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


class Dictionary(Protocol):
    """What a decomposition needs in order to be evaluated at new rows."""

    def evaluate(self, rows: Any, output: int, weights: csc_array, n_threads: int) -> Floats:
        """Return (N, C): columns (1, B) at the rows times weights (1 + b, C)."""
        ...

    def embed(self, subspace: Subspace, values: Floats) -> Floats:
        """Return rows that have the given values of the variables of a subspace."""
        ...


class Columns(Protocol):
    """Columns in C++ that are functions of the rows."""

    def evaluate(self, x: NDArray[Any], begin: Integers, column: Integers, weight: Floats, n_threads: int) -> Floats:
        """Return sparse columns of weights over (1, columns) at the rows."""
        ...


class ExtendedDictionary(ABC):
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
