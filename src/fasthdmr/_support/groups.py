"""Groups of columns that are one variable, such as latitude and longitude."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasthdmr._support.subspaces import Subspace, as_variables


@dataclass(frozen=True)
class Groups:
    """The columns of X that each variable consists of. Variables have the order of their first columns.

    Attributes
    ----------
    columns : tuple of tuple of int
        The columns of each variable, in the order in which the user lists them.
    names : tuple of str
        The names of the variables.
    column_names : tuple of str
        The names of the columns.

    Examples
    --------
    >>> groups = Groups.of({"place": ["Longitude", "Latitude"]}, ["Income", "Latitude", "Age", "Longitude"])
    >>> groups.names, groups.columns
    (('Income', 'place', 'Age'), ((0,), (3, 1), (2,)))
    """

    columns: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    column_names: tuple[str, ...]

    @classmethod
    def of(cls, feature_groups: Any, column_names: Sequence[str]) -> Groups | None:
        """Return the variables that the parameter `feature_groups` makes. None: each column is one.

        Parameters
        ----------
        feature_groups : dict of str to sequence of int or str, or None
        column_names : sequence of str

        Raises
        ------
        ValueError
            If a column does not exist or is in two groups, a group is empty or has the name of a column outside it.
        TypeError
            If it is no dict of names to columns.
        """
        if feature_groups is None:
            return None
        if not isinstance(feature_groups, Mapping) or not all(isinstance(name, str) for name in feature_groups):
            raise TypeError(
                "feature_groups must be None or a dict of the names of groups to their columns, such as "
                f"{{'place': {list(column_names[:2])!r}}}; got {feature_groups!r}."
            )
        group_of: dict[int, str] = {}
        members: dict[str, tuple[int, ...]] = {}
        for name, given in feature_groups.items():
            members[name] = as_variables(given, column_names, what=f"feature_groups[{name!r}]")
            if not members[name]:
                raise ValueError(f"feature_groups[{name!r}] is empty. List its columns, or leave the group out.")
            for j in members[name]:
                if j in group_of:
                    raise ValueError(
                        f"feature_groups has the column {column_names[j]!r} in two groups, {group_of[j]!r} and "
                        f"{name!r}."
                    )
                group_of[j] = name
        for j, name in enumerate(column_names):
            if name in members and members[name] != (j,):
                raise ValueError(f"feature_groups has a group {name!r}, but a column has that name. Rename the group.")
        first = {min(columns): name for name, columns in members.items()}
        variables = [j for j in range(len(column_names)) if j not in group_of or j in first]
        columns = tuple(members[first[j]] if j in first else (j,) for j in variables)
        names = tuple(first.get(j, column_names[j]) for j in variables)
        return None if names == tuple(column_names) else cls(columns, names, tuple(column_names))

    def of_columns(self) -> list[int]:
        """Return the variable of each column."""
        variable = np.zeros(len(self.column_names), dtype=np.int64)
        for i, columns in enumerate(self.columns):
            variable[list(columns)] = i
        return variable.tolist()


def columns_of(groups: Groups | None, subspace: Sequence[int]) -> Subspace:
    """Return the columns of the variables of a subspace, sorted.

    Examples
    --------
    >>> columns_of(Groups(((0, 2), (1,)), ("a", "b"), ("x", "b", "z")), (0, 1))
    (0, 1, 2)
    """
    if groups is None:
        return tuple(subspace)
    return tuple(sorted(j for i in subspace for j in groups.columns[i]))


def in_variables(groups: Groups | None, subspaces: Sequence[Subspace]) -> list[Subspace]:
    """Return the variables of each subspace, which is given by its columns.

    Examples
    --------
    >>> in_variables(Groups(((0, 2), (1,)), ("a", "b"), ("x", "b", "z")), [(0, 2), (1, 2)])
    [(0,), (0, 1)]
    """
    if groups is None:
        return list(subspaces)
    variable = groups.of_columns()
    return [tuple(sorted({variable[j] for j in u})) for u in subspaces]
