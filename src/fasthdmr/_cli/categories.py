"""The columns of a CSV file that a model of xgboost or LightGBM knows as categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fasthdmr._support.optional import require


def with_categories(frame: Any, text: Any, levels: Sequence[tuple[Any, ...]]) -> Any:
    """Return a frame in which the columns that a model knows as categories have dtype category.

    The model stores levels in the order of these columns, without their names. Columns are told by their values. If all
    hold numbers that are no levels, they are the codes that the model was trained with.

    Parameters
    ----------
    frame : DataFrame
        Columns as pandas reads them.
    text : DataFrame of str
        The same columns as text.
    levels : sequence of tuple
        The levels of each column of categories, in the order of columns.

    Raises
    ------
    ValueError
        If there are no such columns, or more than one choice of them.
    """
    fits = np.array([[_fits(text[name], own) for name in text] for own in levels], dtype=bool)
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
        frame.isetitem(k, _values(text.iloc[:, k], own).astype("category"))
    return frame


def _fits(column: Any, levels: tuple[Any, ...]) -> bool:
    """Return whether a column of text may be of these levels."""
    present = column.dropna()
    if _is_text(levels):
        # Levels of text may look like numbers. Among other text there may be unseen levels.
        found = present.isin(levels)
        return bool(found.all() if _values(present, (0,)).notna().all() else found.any())
    values = _values(present, levels)
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
