"""Dictionaries: feature columns, each labelled with its subspace, and what crosses into C++ about them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index as as_int
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from fasthdmr import _core
from fasthdmr._steps import steps
from fasthdmr.forest import Forest, Sorting

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Subspace = tuple[int, ...]


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


class TreeDictionary:
    """One or several forests, sorted into subspaces: one column a forest and subspace (spec 4).

    Parameters
    ----------
    forests : sequence of Forest
        With the same numbers of features and outputs.
    by : {"tree", "node"}
        Whether whole trees are sorted, or their nodes; what belongs to no variable is not a column.
    n_threads : int
        For laying the columns out.
    begun : sequence of _core.ForestColumns
        The first output's columns of each forest, where they are begun already; they are used up.
    """

    def __init__(
        self,
        forests: Sequence[Forest],
        by: Sorting = "tree",
        *,
        n_threads: int = 1,
        begun: Sequence[_core.ForestColumns] = (),
    ) -> None:
        self.forests = tuple(forests)
        self.by = by
        self.n_threads = n_threads
        self._begun = list(begun)
        self.n_features = self.forests[0].n_features
        self.n_outputs = self.forests[0].n_outputs

    @cached_property
    def columns(self) -> list[_core.TreeColumns]:
        """The C++ columns of each output; they are not pickled but made again."""
        begun, self._begun = self._begun, []
        parts = [
            [_core.ForestColumns(forest.core, output, self.by) for forest in self.forests]
            for output in range(1 if begun else 0, self.n_outputs)
        ]
        return [_core.TreeColumns(part, self.n_threads) for part in ([begun] if begun else []) + parts]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "columns"} | {"_begun": []}

    def labels(self, output: int) -> Labels:
        """Return the labels of the columns of one output."""
        columns = self.columns[output]
        return Labels(columns.subspaces, columns.column_subspace)

    def evaluate(self, rows: Any, output: int, weights: csc_array, n_threads: int) -> Floats:
        """Return the columns (1, B) at the rows times weights, (N, C), without forming B."""
        return self.columns[output].evaluate(
            rows,
            begin=weights.indptr.astype(np.int64),
            column=weights.indices.astype(np.int64),
            weight=weights.data,
            n_threads=n_threads,
        )

    def embed(self, subspace: Subspace, values: Floats) -> Floats:
        """Return rows with the given values; the other variables, on which nothing depends, are 0."""
        return embed(subspace, values, self.n_features)


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


class ArrayDictionary:
    """Columns that the caller computes: an (N, b) matrix in the caller's order.

    Parameters
    ----------
    subspaces : sequence of tuple of int
        One a column.
    """

    def __init__(self, subspaces: Sequence[Subspace]) -> None:
        self.n_columns = len(subspaces)
        self.constant = [j for j, u in enumerate(subspaces) if not u]
        self.order = sorted((j for j, u in enumerate(subspaces) if u), key=lambda j: (len(subspaces[j]), subspaces[j]))
        distinct = sorted({u for u in subspaces if u}, key=lambda u: (len(u), u))
        numbers = {u: s for s, u in enumerate(distinct)}
        column_subspace = np.array([numbers[subspaces[j]] for j in self.order], dtype=np.int64)
        self.labels = Labels(distinct, column_subspace)

    def evaluate(self, rows: Any, output: int, weights: csc_array, n_threads: int) -> Floats:
        """Return (1, columns in their order) times weights, (N, C)."""
        result = np.empty((len(rows), weights.shape[1]))
        for part in steps(len(rows), float(weights.nnz + weights.shape[0])):
            own = np.asarray(rows[part], dtype=np.float64)[:, self.order]
            result[part] = np.column_stack([np.ones(len(own)), own]) @ weights
        return result

    def embed(self, subspace: Subspace, values: Floats) -> Floats:
        """Return the values, which are columns of the dictionary already."""
        check_width(values, self.n_columns, "A component of a dictionary of columns")
        return values


def embed(subspace: Sequence[int], values: Floats, n_features: int) -> Floats:
    """Return rows (N, n_features) with the given values (N, |u|) of the variables of a subspace, and 0 elsewhere."""
    check_width(values, len(subspace), f"The component {subspace}")
    rows = np.zeros((len(values), n_features))
    rows[:, list(subspace)] = values
    return rows


def check_width(values: Floats, expected: int, what: str) -> None:
    """Refuse what is not an array of shape (N, expected)."""
    if values.ndim != 2 or values.shape[1] != expected:
        raise ValueError(f"{what} takes an array of shape (N, {expected}), got {values.shape}.")


def as_subspace(variables: Any, feature_names: Sequence[str], *, what: str = "subspace") -> Subspace:
    """Return the sorted column indices of variables given by index or by name.

    Parameters
    ----------
    variables : int, str, or sequence of int or str
    feature_names : sequence of str
    what : str
        What the variables are, for the error.

    Returns
    -------
    tuple of int

    Raises
    ------
    ValueError
        If a variable does not exist or is named twice.

    Examples
    --------
    >>> as_subspace(["b", 0], ["a", "b"])
    (0, 1)
    """
    if isinstance(variables, str) or not np.iterable(variables):
        variables = [variables]
    names = list(feature_names)
    result = []
    for variable in variables:
        if isinstance(variable, str):
            if variable not in names:
                raise ValueError(f"{what} names {variable!r}, which is not one of the variables {names}.")
            result.append(names.index(variable))
        else:
            number = as_int(variable)
            if not 0 <= number < len(names):
                raise ValueError(f"{what} has the variable {number}, but there are {len(names)}, from 0.")
            result.append(number)
    if len(set(result)) < len(result):
        raise ValueError(f"{what} names a variable twice: {variables!r}.")
    return tuple(sorted(result))
