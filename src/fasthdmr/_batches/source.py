"""What all sources of rows have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Wanted:
    """What is wanted of a source that can read some columns and rows only.

    Attributes
    ----------
    rows : int
        The largest number of rows of a piece.
    columns : tuple of str or None
        The names of the columns that are needed. None: all.
    """

    rows: int
    columns: tuple[str, ...] | None

    def of(self, names: list[str]) -> list[str] | None:
        """Return the columns to read of those that there are.

        None is for all, also if needed ones are missing or not unique. Then the error shows all names.

        Examples
        --------
        >>> Wanted(10, ("b",)).of(["a", "b"])
        ['b']
        """
        if self.columns is None or any(names.count(name) != 1 for name in self.columns):
            return None
        return list(self.columns)


@dataclass(frozen=True)
class Source:
    """Rows that are read in pieces.

    Attributes
    ----------
    description : str
        What it is, for people.
    can_be_read_twice : bool
    read : callable
        Returns an iterator of pieces: tables, or tuples of X, y and weights.
    """

    description: str
    can_be_read_twice: bool
    read: Callable[[], Iterator[Any]]
