"""The columns of a CSV file that a model knows by the names of their levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fasthdmr._support.optional import require


def with_categories(frame: Any, text: Any, levels: Sequence[tuple[Any, ...]]) -> Any:
    """Return a frame in which the columns that a model knows as categories have dtype category.

    xgboost and LightGBM store levels in the order of these columns, without their names. Columns are told by their
    values. If all hold numbers that are no levels, they are the codes that the model was trained with.

    Parameters
    ----------
    frame : DataFrame
        Columns as pandas reads them.
    text : DataFrame of str
        The same columns as text. Only empty cells are missing.
    levels : sequence of tuple
        The levels of each column of categories, in the order of columns.

    Raises
    ------
    ValueError
        If there are no such columns, or more than one choice of them.
    """
    cells = [_distinct(frame.iloc[:, k], text.iloc[:, k]) for k in range(frame.shape[1])]
    fits = np.array([[_fits(*found, own) for found in cells] for own in levels], dtype=bool)
    first = _first_in_order(fits)
    if first is None and all(dtype.kind in "biuf" for dtype in frame.dtypes):
        return frame  # of the codes in place of levels
    last = _first_in_order(fits[::-1, ::-1])
    if first is None or last is None or first != [fits.shape[1] - 1 - k for k in reversed(last)]:
        shown = "; ".join(", ".join(map(str, own[:3])) + (", …" if len(own) > 3 else "") for own in levels)
        which = "no columns" if first is None else "several columns"
        raise ValueError(f"{which} may be the categories that the model was trained with. Their levels are: {shown}.")
    frame = frame.copy(deep=False)
    for k, own in zip(first, levels, strict=True):
        column = as_levels(frame.iloc[:, k], text.iloc[:, k], own)
        frame.isetitem(k, _values(column, own).astype("category"))
    return frame


def as_levels(column: Any, text: Any, levels: Sequence[Any]) -> Any:
    """Return a column as text, without the cells that pandas reads as missing, such as NA, unless they are levels."""
    return text.where(column.notna() | text.isin(levels))


def _distinct(column: Any, text: Any) -> tuple[Any, Any]:
    """Return the distinct cells of a column as text: those that are present, and those that pandas reads as missing."""
    pandas = require("pandas", extra="cli")
    present, absent = text[column.notna()], text[column.isna()].dropna()
    return pandas.Series(present.unique(), dtype=object), pandas.Series(absent.unique(), dtype=object)


def _fits(present: Any, absent: Any, levels: tuple[Any, ...]) -> bool:
    """Return whether the distinct cells of a column may be of these levels."""
    is_text = _is_text(levels)
    if is_text and _values(present, (0,)).isna().any():  # among other text there may be unseen levels
        return bool(present.isin(levels).any() or absent.isin(levels).any())
    if len(present) > len(levels):
        return False
    values = _values(present, levels)  # levels of text may look like numbers
    return bool((values.notna() & values.isin(levels)).all())


def _values(column: Any, levels: tuple[Any, ...]) -> Any:
    """Return a column of text as what its levels are: text, booleans or numbers, missing if it is none of them."""
    if _is_text(levels):
        return column
    if levels and all(isinstance(level, bool) for level in levels):
        return column.str.lower().map({"true": True, "false": False})
    return require("pandas", extra="cli").to_numeric(column, errors="coerce")


def _is_text(levels: tuple[Any, ...]) -> bool:
    return any(isinstance(level, str) for level in levels)


def _first_in_order(fits: Any) -> list[int] | None:
    """Return the first column that fits each row and comes after that of the row before; None if there is none."""
    found: list[int] = []
    for row in fits:
        begin = found[-1] + 1 if found else 0
        places = begin + np.flatnonzero(row[begin:])
        if not len(places):
            return None
        found.append(int(places[0]))
    return found
