"""Subspaces (sets of variables) and their specification by indices or names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import index as as_int
from typing import Any

import numpy as np

from fasthdmr._support.typing import Floats

Subspace = tuple[int, ...]

_AND = " & "


def embed(subspace: Sequence[int], values: Floats, n_features: int) -> Floats:
    """Return rows (N, n_features) with the given values (N, |u|) of the variables of a subspace, and 0 elsewhere."""
    check_width(values, len(subspace), f"The component {subspace}")
    rows = np.zeros((len(values), n_features))
    rows[:, list(subspace)] = values
    return rows


def check_width(values: Floats, expected: int, what: str) -> None:
    """Raise an error unless the array has shape (N, expected)."""
    if values.ndim != 2 or values.shape[1] != expected:
        raise ValueError(f"{what} takes an array of shape (N, {expected}), got {values.shape}.")


def as_subspace(variables: Any, feature_names: Sequence[str], *, what: str = "subspace") -> Subspace:
    """Return the sorted column indices of variables given by index or by name.

    Parameters
    ----------
    variables : int, str, or sequence of int or str
    feature_names : sequence of str
    what : str
        The name of the argument in the error.

    Returns
    -------
    tuple of int

    Raises
    ------
    ValueError
        If a variable does not exist, is named twice, or by a name that several variables have.
    TypeError
        If it is neither an index nor a name.

    Examples
    --------
    >>> as_subspace(["b", 0], ["a", "b"])
    (0, 1)
    """
    return tuple(sorted(as_variables(variables, feature_names, what=what)))


def as_variables(variables: Any, feature_names: Sequence[str], *, what: str = "subspace") -> tuple[int, ...]:
    """Return the column indices of variables given by index or by name, in the order in which they are given.

    As `as_subspace`, but not sorted.

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


def subspace_names(subspaces: Sequence[Sequence[int]], feature_names: Sequence[str] | Mapping[int, str]) -> list[str]:
    """Return the names of subspaces: those of their variables, joined by " & ". They are distinct.

    A single variable is named as in the data. If the name of any variable contains the separator, the variables of
    interactions are in double quotes (doubled within a name), so that the interaction of "a" and "b" is not called like
    a variable "a & b"; a single variable whose name begins with a double quote is in quotes then as well. Variables of
    the same name get their indices.

    Parameters
    ----------
    subspaces : sequence of sequences of int
        The variables of each, in the order in which they are named.
    feature_names : sequence or mapping of int to str
        The names of all variables, or of those that occur, by index.

    Returns
    -------
    list of str

    Examples
    --------
    >>> subspace_names([(0,), (0, 1)], ["age", "income"])
    ['age', 'age & income']
    >>> subspace_names([(2,), (0, 1), (0, 2)], ["a", "b", "a & b"])
    ['a & b', '"a" & "b"', '"a" & "a & b"']
    >>> subspace_names([(0,), (1,)], ["age", "age"])
    ['age (0)', 'age (1)']
    """
    by_index = feature_names if isinstance(feature_names, Mapping) else dict(enumerate(feature_names))
    names = dict(zip(by_index, distinct(list(by_index.values()), list(by_index)), strict=True))
    # With blanks around, so that it is also found in "& a" and "a &", next to which a separator is ambiguous.
    is_quoted = any(_AND in f" {name} " for name in names.values())

    def name_of(subspace: Sequence[int]) -> str:
        parts = [names[i] for i in subspace]
        if is_quoted and (len(parts) > 1 or parts[0].startswith('"')):
            parts = [quoted(part) for part in parts]
        return _AND.join(parts)

    return [name_of(u) for u in subspaces]


def subspace_text(subspace: Sequence[int]) -> str:
    """Return the indices of a subspace as text for data frames, whose cells are numbers and text only.

    Examples
    --------
    >>> subspace_text((0, 12)), subspace_text((3,))
    ('0 & 12', '3')
    """
    return _AND.join(map(str, subspace))


def names_with_outputs(names: Sequence[str], outputs: Sequence[str]) -> list[str]:
    """Return a name for each output of each subspace: that of the output in brackets. They are distinct.

    Examples
    --------
    >>> names_with_outputs(["age", "age & income"], ["low", "high"])
    ['age[low]', 'age[high]', 'age & income[low]', 'age & income[high]']
    """
    # In quotes where its own brackets would make the place of the outer ones ambiguous.
    shown = [quoted(output) if "[" in output or '"' in output else output for output in distinct(outputs)]
    return [f"{name}[{output}]" for name in names for output in shown]


def quoted(name: str) -> str:
    """Return a name in double quotes, those within it doubled, as in CSV.

    Examples
    --------
    >>> print(quoted('5" pipe'))
    "5"" pipe"
    """
    return '"' + name.replace('"', '""') + '"'


def distinct(names: Sequence[str], numbers: Sequence[int] | None = None) -> list[str]:
    """Return names of which those that occur several times are followed by their numbers; default: their places.

    Examples
    --------
    >>> distinct(["age", "income", "age"])
    ['age (0)', 'income', 'age (2)']
    """
    result, numbers = list(names), range(len(names)) if numbers is None else numbers
    # A name with a number may be the name of another variable, which then gets a number as well.
    while len(count := Counter(result)) < len(result):
        result = [f"{name} ({k})" if count[name] > 1 else name for k, name in zip(numbers, result, strict=True)]
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
