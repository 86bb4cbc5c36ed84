"""A table of results: a sequence of rows under named columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import index as as_int
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.optional import require
from fasthdmr._support.shown import Shown, ShownInNotebooks
from fasthdmr._support.subspaces import subspace_text
from fasthdmr._support.tables import format_rows

MOST_SHOWN = 20
"""The largest number of rows that `repr` and notebooks show."""


@dataclass(frozen=True, repr=False)
class Table(ShownInNotebooks, Sequence[tuple[Any, ...]]):
    """A sequence of rows under named columns, which can be taken by name.

    Attributes
    ----------
    columns : tuple of str
    rows : tuple of tuple
        One entry a column.

    Examples
    --------
    >>> table = Table(("name", "S"), (("MedInc", 0.5), ("Latitude", 0.25)))
    >>> len(table), table[0], table["S"]
    (2, ('MedInc', 0.5), array([0.5 , 0.25]))
    >>> [name for name, S in table[1:]]
    ['Latitude']
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, key: int) -> tuple[Any, ...]: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    @overload
    def __getitem__(self, key: str) -> NDArray[Any]: ...
    def __getitem__(self, key: Any) -> Any:
        """Return a row by its number, a table of some rows by a slice, or a column by its name, (rows,)."""
        if isinstance(key, slice):
            return self._taken(key)
        if not isinstance(key, str):
            try:
                number = as_int(key)
            except TypeError:
                raise TypeError(
                    f"A table is indexed by the number of a row, a slice, or the name of a column, got {key!r}. "
                    f"Columns are {list(self.columns)}."
                ) from None
            if not -len(self) <= number < len(self):
                raise IndexError(f"There is no row {number}: the table has {len(self)} rows.")
            return self.rows[number]
        if key not in self.columns:
            raise KeyError(f"There is no column {key!r}. Columns are {list(self.columns)}.")
        values = [row[self.columns.index(key)] for row in self.rows]
        if all(isinstance(value, int | float) for value in values):
            return np.array(values)
        return np.fromiter(values, dtype=object, count=len(values))

    def __str__(self) -> str:
        return format_rows(self.columns, self.rows)

    def __repr__(self) -> str:
        hidden = len(self) - MOST_SHOWN
        return f"{self[:MOST_SHOWN]}\n({self._hidden(hidden)})" if hidden > 0 else str(self)

    def to_frame(self) -> Any:
        """Return the table as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            Subspaces are text, such as "0 & 2".

        Raises
        ------
        ImportError
            If pandas is not installed (extra ``frame``).
        """
        pandas = require("pandas", extra="frame")
        rows = [[subspace_text(cell) if isinstance(cell, tuple) else cell for cell in row] for row in self.rows]
        return pandas.DataFrame(rows, columns=list(self.columns))

    def _taken(self, rows: slice) -> Self:
        """Return a table of some rows."""
        return replace(self, rows=self.rows[rows])

    def _hidden(self, count: int) -> str:
        """Return the remark about rows that are not shown."""
        return f"{count} more rows not shown"

    def _shown(self) -> list[Shown]:
        columns, remarks = self._shown_columns(), self._remarks()
        if (hidden := len(self) - MOST_SHOWN) > 0:
            remarks = [f"({self._hidden(hidden)})", *remarks]
        rows = [row[:MOST_SHOWN] for row in columns.values()]
        return [Shown(tuple(columns), list(zip(*rows, strict=True)), remarks=remarks, bar=self._bar())]

    def _shown_columns(self) -> dict[str, Sequence[Any]]:
        """Return the cells of each column, as they are shown."""
        return {name: [row[k] for row in self.rows] for k, name in enumerate(self.columns)}

    def _remarks(self) -> list[str]:
        """Return the remarks below the table."""
        return []

    def _bar(self) -> str:
        """Return the column with bars, "" for none."""
        return ""
