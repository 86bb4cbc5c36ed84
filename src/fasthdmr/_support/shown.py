"""Tables for people: text when printed, HTML in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from fasthdmr._support.tables import format_rows, html_cell, is_interval
from fasthdmr._support.text import escaped

_WIDTH, _HEIGHT = 120, 12  # of a bar, in pixels
# Colours are those of the text around, so that tables are readable on any background.
_STYLE = """<style>
.fasthdmr { overflow-x: auto; }
.fasthdmr table { border-collapse: collapse; font-variant-numeric: tabular-nums; color: inherit; }
.fasthdmr th, .fasthdmr td { padding: .2em .7em; border: 0; text-align: right; white-space: nowrap; }
.fasthdmr th.text, .fasthdmr td.text { text-align: left; white-space: normal; max-width: 30em; }
.fasthdmr td.text { overflow-wrap: anywhere; min-width: 5em; }
.fasthdmr thead th, .fasthdmr thead td { border-bottom: 1px solid currentColor; }
.fasthdmr tfoot tr:first-child td { border-top: 1px solid currentColor; }
.fasthdmr small { opacity: .75; }
.fasthdmr .title { font-weight: bold; }
.fasthdmr svg { vertical-align: middle; }
</style>"""


@dataclass(frozen=True)
class Shown:
    """A table with a title above and remarks below.

    Attributes
    ----------
    columns, rows, footer : sequences
        As of `format_rows`.
    title : str
    remarks : sequence of str
    bar : str
        The column with a bar beside each number, in HTML; "" for none.
    without_bar : int
        The number of first rows that have none.

    Examples
    --------
    >>> table = Shown(["Variable", "S"], [["MedInc", 0.5]], remarks=["(3 weaker not shown)"], bar="S")
    >>> print(table)
    Variable       S
    ----------------
    MedInc    0.5000
    (3 weaker not shown)
    >>> table.html().count("<svg")
    1
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    footer: Sequence[Sequence[Any]] = ()
    title: str = ""
    remarks: Sequence[str] = ()
    bar: str = ""
    without_bar: int = 0

    def __str__(self) -> str:
        table = [format_rows(self.columns, self.rows, self.footer)] if self.columns else []
        return "\n".join([*([escaped(self.title)] if self.title else []), *table, *self.remarks])

    def without_first_column(self) -> Shown:
        """Return the table without its first column."""
        rows, footer = [row[1:] for row in self.rows], [row[1:] for row in self.footer]
        return replace(self, columns=self.columns[1:], rows=rows, footer=footer)

    def html(self) -> str:
        """Return the table as HTML, without style."""
        parts = [f'<p class="title">{escape(escaped(self.title))}</p>'] if self.title else []
        if self.columns:
            parts.append(self._table())
        return "\n".join([*parts, *(f"<p>{escape(remark)}</p>" for remark in self.remarks if remark)])

    def _table(self) -> str:
        is_text = [
            any(isinstance(row[k], str | tuple) and not is_interval(row[k]) for row in [*self.rows, *self.footer])
            for k in range(len(self.columns))
        ]
        at = self.columns.index(self.bar) if self.bar else -1
        scale = _scale([row[at] for row in self.rows[self.without_bar :]]) if self.bar else (0.0, 0.0)

        def line(row: Sequence[Any], *, has_bar: bool) -> str:
            cells = []
            for k, (value, text) in enumerate(zip(row, is_text, strict=True)):
                cells.append(f"<td{_kind(text)}>{html_cell(value)}</td>")
                if k == at:
                    cells.append(f"<td{_kind(True)}>{_bar(value, *scale) if has_bar else ''}</td>")
            return f"<tr>{''.join(cells)}</tr>"

        heads = []
        for k, (head, text) in enumerate(zip(self.columns, is_text, strict=True)):
            heads.append(f'<th scope="col"{_kind(text)}>{escape(escaped(head))}</th>')
            heads += ["<td></td>"] * (k == at)
        body = "\n".join(line(row, has_bar=number >= self.without_bar) for number, row in enumerate(self.rows))
        foot = "\n".join(line(row, has_bar=False) for row in self.footer)
        foot = f"\n<tfoot>\n{foot}\n</tfoot>" if foot else ""
        return f"<table>\n<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>\n{body}\n</tbody>{foot}\n</table>"


class ShownInNotebooks:
    """Base of results whose `repr` is a table, and which notebooks show as HTML. Subclasses define `_shown`."""

    def _shown(self) -> Sequence[Shown]:
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n\n".join(map(str, self._shown()))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return as_html(self._shown())


def as_html(tables: Sequence[Shown]) -> str:
    """Return tables as one element of HTML, without a script, for light and dark backgrounds."""
    return "\n".join([f'<div class="fasthdmr">{_STYLE}', *(table.html() for table in tables), "</div>"])


def _kind(text: bool) -> str:
    return ' class="text"' if text else ""


def _scale(values: Sequence[Any]) -> tuple[float, float]:
    """Return the ends of the scale of bars, which includes 0 and intervals."""
    ends = [0.0]
    for value in values:
        number, half_width = _number(value)
        ends += [number - half_width, number + half_width]
    finite = [end for end in ends if np.isfinite(end)]
    return min(finite), max(finite)


def _number(value: Any) -> tuple[float, float]:
    """Return a number and its half-width, NaN if the value is none."""
    number, half_width = value if is_interval(value) else (value, None)
    if not isinstance(number, float):
        return np.nan, 0.0
    return number, 0.0 if half_width is None or not np.isfinite(half_width) else half_width


def _bar(value: Any, low: float, high: float) -> str:
    """Return a bar from 0 to a value, and a line for its interval, as SVG."""
    number, half_width = _number(value)
    if not np.isfinite(number) or low == high:
        return ""

    def place(x: float) -> float:
        # Halves, because the difference of large numbers may overflow.
        return 1 + (_WIDTH - 2) * ((x / 2 - low / 2) / (high / 2 - low / 2))

    left, right = sorted((place(0.0), place(number)))
    middle = _HEIGHT / 2
    parts = [
        f'<rect x="{left:.1f}" y="1" width="{right - left:.1f}" height="{_HEIGHT - 2}" fill="currentColor" '
        'fill-opacity="0.35"/>'
    ]
    if half_width:
        ends = f'x1="{place(number - half_width):.1f}" x2="{place(number + half_width):.1f}"'
        parts.append(f'<line {ends} y1="{middle:g}" y2="{middle:g}" stroke="currentColor" stroke-width="1.5"/>')
    zero = f'x1="{place(0.0):.1f}" x2="{place(0.0):.1f}" y1="0" y2="{_HEIGHT}"'
    parts.append(f'<line {zero} stroke="currentColor" stroke-opacity="0.5"/>')
    return f'<svg width="{_WIDTH}" height="{_HEIGHT}" aria-hidden="true">{"".join(parts)}</svg>'
