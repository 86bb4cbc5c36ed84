"""Tables as text: numbers and text in aligned columns."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.text import escaped, or_ascii, shorten, width

_LONGEST = 60  # the largest width of a column of text
_SHORTEST = 12  # its smallest width in a narrow terminal

NARROW = "The terminal is too narrow for all 95 % intervals."
"""The remark below a table that is printed without some of them."""


def four_decimals(value: float) -> str:
    """Return a number as tables show it."""
    # Adding 0 turns the -0.0 of a rounded tiny negative into 0.0.
    return f"{round(value, 4) + 0.0:.4f}"


def plus_minus() -> str:
    """Return "±", or "+-" if the encoding of standard output lacks that character."""
    return or_ascii("±", "+-")


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if is_interval(value):
        return _cell(value[0]) + (" " * 8 if value[1] is None else f"{plus_minus():>2}{_cell(value[1])}")
    return four_decimals(value) if isinstance(value, float) else escaped(str(value))


def html_cell(value: Any) -> str:
    r"""Return a cell as HTML, with the same digits as in print.

    Examples
    --------
    >>> html_cell("<b>"), html_cell(-0.25), html_cell((0.5, 0.01)), html_cell(None)
    ('&lt;b&gt;', '−0.2500', '0.5000 <small>±\xa00.0100</small>', '–')
    """
    if value is None:
        return "–"
    if is_interval(value):
        number, half_width = value
        return html_cell(number) + ("" if half_width is None else f" <small>±\xa0{html_cell(half_width)}</small>")
    return four_decimals(value).replace("-", "−") if isinstance(value, float) else escape(escaped(str(value)))


def is_interval(value: Any) -> bool:
    """Return whether a cell is a pair of a number and its half-width."""
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], float)


def cells(values: NDArray[np.float64], half_widths: NDArray[np.float64] | None = None) -> list[Any]:
    """Return cells of a printed table: numbers, or pairs of number and half-width; None for NaN."""
    if half_widths is None:
        return [None if np.isnan(value) else float(value) for value in values]
    pairs = zip(values.tolist(), half_widths.tolist(), strict=True)
    return [None if np.isnan(value) else (value, width) for value, width in pairs]


def format_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]], footer: Sequence[Sequence[Any]] = ()) -> str:
    """Align columns under their heads: text to the left, numbers to the right.

    Text wider than 60 columns is shortened in the middle. On a terminal, text is shortened until the table fits, but
    not below 12 columns.

    Parameters
    ----------
    columns : sequence of str
    rows : sequence of rows
        Floats get four decimals, a pair of them is written "0.5000 ±0.0120" (the second may be None;
        "0.5000+-0.0120" if standard output lacks the character), `None` as "-".
    footer : sequence of rows
        Written below a rule.

    Returns
    -------
    str

    Examples
    --------
    >>> print(format_rows(["Variable", "S"], [["MedInc", 0.5], ["Latitude", -0.25]]))
    Variable        S
    -----------------
    MedInc     0.5000
    Latitude  -0.2500
    """
    cells = [[_cell(value) for value in row] for row in [*rows, *footer]]
    widths = [max(map(width, column)) for column in zip(columns, *cells, strict=True)]
    is_text = [
        any(isinstance(row[k], str | tuple) and not is_interval(row[k]) for row in [*rows, *footer])
        for k in range(len(columns))
    ]

    _fit(widths, is_text)
    mark = or_ascii("…", "...")

    def padded(value: str, to: int, text: bool) -> str:
        value = shorten(value, to, mark)
        blanks = " " * (to - width(value))
        return value + blanks if text else blanks + value

    def line(row: Sequence[str]) -> str:
        return "  ".join(map(padded, row, widths, is_text)).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    body = [line(row) for row in cells[: len(rows)]]
    foot = [rule, *(line(row) for row in cells[len(rows) :])] if footer else []
    return "\n".join([line(columns), rule, *body, *foot])


def fits(text: str) -> bool:
    """Return whether no line is wider than the terminal; True if standard output is none."""
    room = _terminal_width()
    return room is None or max(map(width, text.splitlines())) <= room


def first_that_fits(texts: Iterable[str]) -> tuple[int, str]:
    """Return the first of some texts, ever narrower, that fits the terminal, and its number; the last if none does.

    Examples
    --------
    >>> first_that_fits(["wide", "narrow"])
    (0, 'wide')
    """
    tried = []
    for text in texts:
        tried.append(text)
        if fits(text):
            break
    return len(tried) - 1, tried[-1]


def _terminal_width() -> int | None:
    try:
        is_terminal = sys.stdout.isatty()
    except (AttributeError, ValueError):  # no stream, or a closed one
        return None
    return shutil.get_terminal_size().columns if is_terminal else None


def _fit(widths: list[int], is_text: Sequence[bool]) -> None:
    """Reduce the widths of columns of text, the widest first, to what a column and the terminal take."""
    texts = [k for k, text in enumerate(is_text) if text]
    for k in texts:
        widths[k] = min(widths[k], _LONGEST)
    room = _terminal_width()
    while texts and room is not None and sum(widths) + 2 * (len(widths) - 1) > room:
        widest = max(texts, key=widths.__getitem__)
        if widths[widest] <= _SHORTEST:
            return
        widths[widest] -= 1
