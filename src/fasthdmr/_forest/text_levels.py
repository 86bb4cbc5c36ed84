"""Columns of text as the codes that a model's own encoder makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from fasthdmr._support.numbers import is_number_type

Levels = tuple[tuple[int, tuple[Any, ...]], ...]
"""Of the columns that hold text, the position and the levels by code."""


class KnowsText(Protocol):
    """What is asked of a forest; its attribute is described there."""

    @property
    def text_levels(self) -> Levels: ...


def text_as_codes(X: Any, forests: Sequence[KnowsText]) -> Any:
    """Return rows with codes in place of text, by the levels of the models; unknown levels are missing.

    Columns of numbers stay as they are: they hold codes.

    Raises
    ------
    ValueError
        If models know different levels.
    """
    known = {forest.text_levels for forest in forests if forest.text_levels}
    if not known:
        return X
    if len(known) > 1:
        raise ValueError("The models know different levels of text columns. Decompose them one by one.")
    rows = _as_table(X)
    for j, levels in known.pop():
        if np.ndim(rows) == 2 and j < rows.shape[1] and not is_number_type(_dtype(rows, j)):
            rows = _with_column(rows, j, _codes(_safe_indexing(rows, j, axis=1), levels))
    return rows


def _as_table(X: Any) -> Any:
    """Return rows as a frame or an array, which is a copy where columns are replaced in it."""
    if hasattr(X, "iloc"):
        return X.copy(deep=False) if X.ndim == 2 else X.to_frame().T
    if hasattr(X, "columns") or (isinstance(X, np.ndarray) and is_number_type(X.dtype)):
        return X
    return np.array(X, dtype=object)


def _dtype(rows: Any, column: int) -> Any:
    return rows.dtype if isinstance(rows, np.ndarray) else list(rows.dtypes)[column]


def _codes(column: Any, levels: Sequence[Any]) -> NDArray[np.float64]:
    code = {level: float(k) for k, level in enumerate(levels)}
    return np.array([code.get(value, np.nan) for value in np.asarray(column, dtype=object)])


def _with_column(rows: Any, column: int, values: NDArray[np.float64]) -> Any:
    if isinstance(rows, np.ndarray):
        rows[:, column] = values
    elif hasattr(rows, "isetitem"):
        rows.isetitem(column, values)
    else:  # polars replaces columns
        old = rows[:, column]
        return rows.with_columns(type(old)(old.name, values))
    return rows
