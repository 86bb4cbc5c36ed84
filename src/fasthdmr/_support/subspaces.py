"""Subspaces (sets of variables) and their specification by indices or names."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_int
from typing import Any

import numpy as np

from fasthdmr._support.typing import Floats

Subspace = tuple[int, ...]


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
