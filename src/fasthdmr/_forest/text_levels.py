"""Conversion of columns of text to the codes that the model's own encoder assigns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fasthdmr._data.encoding import as_table, column_of, is_table, with_column
from fasthdmr._forest.city_hash import category_hash
from fasthdmr._support.numbers import is_number_type

Levels = tuple[tuple[int, tuple[Any, ...]], ...]
"""For each column that holds text: its position, and its levels by code."""


class HasTextLevels(Protocol):
    """The attributes of `Forest` that this module uses."""

    @property
    def text_levels(self) -> Levels: ...
    @property
    def hashes_text(self) -> bool: ...


def text_as_codes(X: Any, forests: Sequence[HasTextLevels]) -> Any:
    """Return X with codes in place of text. The models store the levels; unknown levels become NaN.

    Columns of numbers are not changed: they hold codes already. If levels are CatBoost's hashes, whole numbers are
    converted too, as text.

    Raises
    ------
    ValueError
        If models have different levels, or for real or missing numbers among CatBoost's categories.
    """
    known = {(forest.text_levels, forest.hashes_text) for forest in forests if forest.text_levels}
    if not known:
        return X
    if len(known) > 1:
        raise ValueError("The models know different levels of text columns. Decompose them one by one.")
    ((text_levels, hashed),) = known
    if hasattr(X, "to_frame") and np.ndim(X) == 1:  # a row of a frame
        X = X.to_frame().T
    if not is_table(X) or not (hashed or _holds_objects(X)):
        return X
    rows = as_table(X)
    for j, levels in text_levels:
        if j < rows.shape[1] and (hashed or not is_number_type(_dtype(rows, j))):
            column = column_of(X, j)
            rows = with_column(rows, j, _codes_of_hashes(column, levels) if hashed else _codes(column, levels))
    return rows


def _holds_objects(X: Any) -> bool:
    return hasattr(X, "columns") or not is_number_type(getattr(X, "dtype", None))


def _dtype(rows: Any, column: int) -> Any:
    return rows.dtype if isinstance(rows, np.ndarray) else list(rows.dtypes)[column]


def _codes(column: Iterable[Any], levels: Sequence[Any]) -> NDArray[np.float64]:
    code = {level: float(k) for k, level in enumerate(levels)}
    return np.array([code.get(value, np.nan) for value in column])


def _codes_of_hashes(column: NDArray[Any], hashes: Sequence[int]) -> NDArray[np.float64]:
    hash_of = {value: category_hash(_as_catboost_writes(value)) for value in set(column)}
    return _codes((hash_of[value] for value in column), hashes)


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
