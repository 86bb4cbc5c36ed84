"""Columns of text as the codes that a model's own encoder makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from fasthdmr._forest.city_hash import category_hash
from fasthdmr._support.numbers import is_number_type

Levels = tuple[tuple[int, tuple[Any, ...]], ...]
"""Of the columns that hold text, the position and the levels by code."""


class KnowsText(Protocol):
    """What is asked of a forest; its attribute is described there."""

    @property
    def text_levels(self) -> Levels: ...
    @property
    def hashes_text(self) -> bool: ...


def text_as_codes(X: Any, forests: Sequence[KnowsText]) -> Any:
    """Return rows with codes in place of text, by the levels of the models; unknown levels are missing.

    Columns of numbers stay as they are: they hold codes. Where levels are CatBoost's hashes, whole numbers are text
    too, and all that the model does not know is one more level.

    Raises
    ------
    ValueError
        If models know different levels, or for real or missing numbers among CatBoost's categories.
    """
    known = {(forest.text_levels, forest.hashes_text) for forest in forests if forest.text_levels}
    if not known:
        return X
    if len(known) > 1:
        raise ValueError("The models know different levels of text columns. Decompose them one by one.")
    ((text_levels, hashed),) = known
    rows = _as_table(X, hashed)
    for j, levels in text_levels:
        if np.ndim(rows) == 2 and j < rows.shape[1] and (hashed or not is_number_type(_dtype(rows, j))):
            column = np.asarray(_safe_indexing(rows, j, axis=1), dtype=object)
            rows = _with_column(rows, j, _codes_of_hashes(column, levels) if hashed else _codes(column, levels))
    return rows


def _as_table(X: Any, hashed: bool) -> Any:
    """Return rows as a frame or an array, which is a copy where columns are replaced in it."""
    if hasattr(X, "iloc"):
        return X.copy(deep=False) if X.ndim == 2 else X.to_frame().T
    if hasattr(X, "columns") or (not hashed and isinstance(X, np.ndarray) and is_number_type(X.dtype)):
        return X
    return np.array(X, dtype=object)


def _dtype(rows: Any, column: int) -> Any:
    return rows.dtype if isinstance(rows, np.ndarray) else list(rows.dtypes)[column]


def _codes(column: NDArray[Any], levels: Sequence[Any]) -> NDArray[np.float64]:
    code = {level: float(k) for k, level in enumerate(levels)}
    return np.array([code.get(value, np.nan) for value in column])


def _codes_of_hashes(column: NDArray[Any], hashes: Sequence[int]) -> NDArray[np.float64]:
    code = {level: float(k) for k, level in enumerate(hashes)}
    known: dict[Any, float] = {}
    for value in set(column):
        known[value] = code.get(category_hash(_as_catboost_writes(value)), float(len(hashes)))
    return np.array([known[value] for value in column])


def _as_catboost_writes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, int | np.integer | np.bool_):
        return str(int(value)).encode()
    raise ValueError(
        f"Categories of this CatBoost model must be integers or text, got {value!r}: real numbers and missing values "
        "are refused, as by CatBoost. Pass a data frame or an array of objects, with text in place of missing values."
    )


def _with_column(rows: Any, column: int, values: NDArray[np.float64]) -> Any:
    if isinstance(rows, np.ndarray):
        rows[:, column] = values
    elif hasattr(rows, "isetitem"):
        rows.isetitem(column, values)
    else:  # polars replaces columns
        old = rows[:, column]
        return rows.with_columns(type(old)(old.name, values))
    return rows
