"""Level sets of indices: tables that print intervals, and mark indices whose interval contains 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.indices import HalfWidths
from fasthdmr._support.tables import NARROW, Table, cells, fits, format_rows, plus_minus
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
        remarks.append(f"Indices below {_SMALL:g} are biased upwards, which {sign} does not include.")
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
        conf = self.half_widths()
        if conf is None or not self.rows:
            return super().__str__()
        columns: dict[str, list[Any]] = dict(zip(self.columns, map(list, zip(*self.rows, strict=True)), strict=True))
        values = {name: np.array(column) for name, column in columns.items() if name in conf}
        widths = {name: conf[name][self.chosen] for name in values}
        marked = holds_zero(values[self.by], widths[self.by])
        marks = {"": [MARK if is_marked else "" for is_marked in marked]} if marked.any() else {}

        def table(intervals: Iterable[str]) -> str:
            shown = columns | {name: cells(values[name], widths[name]) for name in intervals} | marks
            return format_rows(tuple(shown), list(zip(*shown.values(), strict=True)))

        text, remarks = table(values), [note(values.get("Sa", values[self.by]), self.by if marks else "")]
        if not fits(text):
            text, remarks = table([self.by]), [NARROW, *remarks]
        return "\n".join([text, *(f"({remark})" for remark in remarks if remark)])
