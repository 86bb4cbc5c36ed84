"""Level sets of indices: tables that print intervals, and mark indices whose interval contains 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.indices import HalfWidths
from fasthdmr._support.table import Table
from fasthdmr._support.tables import NARROW, cells, first_that_fits, format_rows, plus_minus
from fasthdmr._support.typing import Floats

MARK = "?"
"""The mark of an index whose interval contains 0."""

_SMALL = 0.02  # smaller indices may be sampling noise


def holds_zero(index: Any, half_width: Any) -> Any:
    """Return whether the interval of an index contains 0, elementwise for arrays."""
    return np.abs(index) <= half_width


def note(indices: Floats, marked: str = "", sign: str | None = None) -> str:
    """Return the remarks below a table with intervals, "" if there are none.

    Parameters
    ----------
    indices : ndarray
        The printed indices; small ones are biased upwards.
    marked : str
        The name of the index by which rows are marked, "" if no row is marked.
    sign : str, optional
        The sign for ±; by default, what standard output can show.
    """
    sign = plus_minus() if sign is None else sign
    remarks = [f"{MARK}: the interval of {marked} contains 0."] if marked else []
    if np.any(np.abs(indices) < _SMALL):
        remarks.append(f"Indices below {_SMALL:g} are biased upwards, which {sign} includes.")
    return " ".join([f"{sign}: 95 % interval, given the model.", *remarks]) if remarks else ""


@dataclass(frozen=True, eq=False, repr=False)
class LevelSet(Table):
    """A table of indices that prints half-widths of 95 % intervals beside them, if there are any.

    Attributes
    ----------
    columns, rows
        As of `Table`: without half-widths.
    by : str
        The column by which rows are chosen. A row is marked if its interval contains 0.
    chosen : ndarray of int
        The indices of the variables or subspaces of the rows.
    half_widths : callable
        Returns the half-widths of all indices, or None; called when the table is printed.
    """

    by: str
    chosen: NDArray[np.int64]
    half_widths: Callable[[], HalfWidths | None]

    def __str__(self) -> str:
        has_intervals = bool(self._half_widths())
        # On a narrow terminal, the interval of the index by which rows are chosen, then none, then no subspaces.
        choices: list[tuple[Iterable[str] | None, int]] = [
            (None, 0),
            ([self.by] if has_intervals else [], 0),
            ([], 0),
            ([], 1),
        ]
        number, text = first_that_fits(_text(self._shown_columns(names), first) for names, first in choices)
        return "\n".join([text, *([f"({NARROW})"] if has_intervals and number else []), *self._remarks()])

    def _shown_columns(self, intervals: Iterable[str] | None = None) -> dict[str, Sequence[Any]]:
        """Return the cells of each column, with the intervals of some indices; None: of all."""
        columns, conf = super()._shown_columns(), self._half_widths()
        names = [name for name in columns if name in conf]
        for name in names if intervals is None else intervals:
            columns[name] = cells(self[name], conf[name])
        return columns | ({"": [MARK if marked else "" for marked in self._marked()]} if self._marked().any() else {})

    def _remarks(self) -> list[str]:
        if not self._half_widths():
            return []
        by = self.by if self._marked().any() else ""
        remark = note(self["Sa" if "Sa" in self.columns else self.by], by)
        return [f"({remark})"] if remark else []

    def _half_widths(self) -> HalfWidths:
        """Return the half-widths of the indices of the rows, by column; none if there are no rows."""
        conf = self.half_widths() if self.rows else None
        return {} if conf is None else {name: v[self.chosen] for name, v in conf.items() if name in self.columns}

    def _marked(self) -> NDArray[np.bool_]:
        """Return, for each row, whether the interval of its index contains 0."""
        conf = self._half_widths()
        return np.asarray(holds_zero(self[self.by], conf[self.by])) if conf else np.zeros(len(self), dtype=np.bool_)

    def _taken(self, rows: slice) -> Self:
        return replace(self, rows=self.rows[rows], chosen=self.chosen[rows])

    def _hidden(self, count: int) -> str:
        return f"{count} weaker not shown"

    def _bar(self) -> str:
        return self.by


def _text(columns: dict[str, Sequence[Any]], first: int) -> str:
    """Return the columns from the one with number `first` as text."""
    return format_rows(tuple(columns)[first:], list(zip(*list(columns.values())[first:], strict=True)))
