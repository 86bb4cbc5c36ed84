"""Dictionaries: feature columns, each labelled with its subspace, and what crosses into C++ about them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from operator import index as as_int
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from fasthdmr import _core
from fasthdmr._cached import cached_property
from fasthdmr._numbers import as_floats
from fasthdmr._scale import LARGEST
from fasthdmr._steps import steps
from fasthdmr._validation import check_names
from fasthdmr.forest import Forest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Subspace = tuple[int, ...]
Sorting = Literal["tree", "node", "hybrid"]
"""How a forest's trees are sorted into subspaces (spec 4)."""


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
    by : {"tree", "node", "hybrid"}
        Whether whole trees are sorted, or their nodes, or trees of at most two variables whole and others by node; what
        belongs to no variable is not a column.
    n_threads : int
        For laying the columns out.
    begun : sequence of _core.ForestColumns
        The first output's columns of each forest, where they are begun already; they are used up.

    Attributes
    ----------
    reach : ndarray of shape (K,)
        What the leaves of an output add up to at most, in absolute value; infinite where one is no number.
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
        self.reach = np.sum([forest.core.reach for forest in self.forests], axis=0)

    @cached_property
    def columns(self) -> list[_core.TreeColumns]:
        """The C++ columns of each output; they are not pickled but made again."""
        begun, self._begun = self._begun, []
        parts = [
            [columns for forest in self.forests for columns in forest_columns(forest, output, self.by)]
            for output in range(1 if begun else 0, self.n_outputs)
        ]
        return [_core.TreeColumns(part, self.n_threads) for part in ([begun] if begun else []) + parts]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "columns"} | {"_begun": []}

    def labels(self, output: int) -> Labels:
        """Return the labels of the columns of one output."""
        columns = self.columns[output]
        return Labels(columns.subspaces, columns.column_subspace)

    def check_reach(self, output: int, constant: float, coef: float) -> None:
        """Refuse a constant plus `coef` times the trees where they cannot be added up.

        Raises
        ------
        ValueError
            With the output and what to do.
        """
        largest = abs(constant) + coef * self.reach[output]
        if not largest <= LARGEST:
            name = (self.forests[0].output_names or tuple(f"y{k}" for k in range(self.n_outputs)))[output]
            raise ValueError(
                f"The leaves of output {name!r} add up to as much as {largest:.3g}; at most {LARGEST:g} is taken. "
                "Divide the target by a power of ten before the models are fitted."
            )

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


def forest_columns(forest: Forest, output: int, by: Sorting) -> list[_core.ForestColumns]:
    """Return the columns that a forest adds to an output: one part, or two where its trees are sorted in two ways."""
    if by == "hybrid":
        few = _core.ForestColumns(forest.core, output, "tree", "few")
        return [few, _core.ForestColumns(forest.core, output, "node", "many")]
    return [_core.ForestColumns(forest.core, output, by)]


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
    column_names : tuple of str or None
        What the columns are called; frames of them must have these names.
    """

    def __init__(self, subspaces: Sequence[Subspace], column_names: tuple[str, ...] | None = None) -> None:
        self.n_columns = len(subspaces)
        self.column_names = column_names
        self.constant = [j for j, u in enumerate(subspaces) if not u]
        self.order = sorted((j for j, u in enumerate(subspaces) if u), key=lambda j: (len(subspaces[j]), subspaces[j]))
        distinct = sorted({u for u in subspaces if u}, key=lambda u: (len(u), u))
        numbers = {u: s for s, u in enumerate(distinct)}
        column_subspace = np.array([numbers[subspaces[j]] for j in self.order], dtype=np.int64)
        self.labels = Labels(distinct, column_subspace)

    def evaluate(self, rows: Any, output: int, weights: csc_array, n_threads: int) -> Floats:
        """Return (1, columns in their order) times weights, (N, C)."""
        columns = self._columns(rows)
        result = np.empty((len(columns), weights.shape[1]))
        for part in steps(len(columns), float(weights.nnz + weights.shape[0])):
            own = columns[part][:, self.order]
            result[part] = np.column_stack([np.ones(len(own)), own]) @ weights
        return result

    def embed(self, subspace: Subspace, values: Any) -> Floats:
        """Return the values, which are columns of the dictionary already."""
        return self._columns(values)

    def _columns(self, values: Any) -> Floats:
        columns = as_floats(values, "columns")
        check_names(values, self.column_names, during="decompose")
        check_width(columns, self.n_columns, "A dictionary of columns")
        return columns


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
        If a variable does not exist, is named twice, or by a name that several have.
    TypeError
        If it is neither a number nor a name.

    Examples
    --------
    >>> as_subspace(["b", 0], ["a", "b"])
    (0, 1)
    """
    return tuple(sorted(as_variables(variables, feature_names, what=what)))


def as_variables(variables: Any, feature_names: Sequence[str], *, what: str = "subspace") -> tuple[int, ...]:
    """Return the column indices of variables given by index or by name, in the order in which they are given.

    As `as_subspace`, but for the order.

    Examples
    --------
    >>> as_variables(["b", 0], ["a", "b"])
    (1, 0)
    """
    if isinstance(variables, str) or not np.iterable(variables):
        variables = [variables]
    names = list(feature_names)
    result = tuple(_number(variable, names, what) for variable in variables)
    if len(set(result)) < len(result):
        raise ValueError(f"{what} names a variable twice: {variables!r}.")
    return result


def _number(variable: Any, names: list[str], what: str) -> int:
    """Return the index of one variable."""
    if isinstance(variable, str):
        if names.count(variable) > 1:
            raise ValueError(f"{what} names {variable!r}, which several variables are called. Give its index.")
        if variable not in names:
            raise ValueError(f"{what} names {variable!r}, which is not one of the variables {names}.")
        return names.index(variable)
    try:
        number = as_int(variable)
    except TypeError:
        raise TypeError(f"{what} gives variables by index or name, got {variable!r}.") from None
    if not 0 <= number < len(names):
        raise ValueError(f"{what} has the variable {number}, but there are {len(names)}, from 0.")
    return number
