"""Conversion of columns of categories or text to the codes that xgboost and LightGBM assign."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fasthdmr._data.encoding import (
    FROM_DTYPE,
    as_table,
    categorical_columns,
    codes_of,
    column_name,
    column_of,
    is_table,
    level_of,
    with_column,
)
from fasthdmr._support.numbers import check_rows_are_there, holds_text
from fasthdmr._support.validation import category_columns


class TakesLevels(Protocol):
    """The attributes of `Forest` that this module uses."""

    @property
    def takes_codes(self) -> bool: ...
    @property
    def levels(self) -> tuple[tuple[Any, ...], ...] | None: ...
    @property
    def refuses_unseen(self) -> bool: ...


def recoded(X: Any, forests: Sequence[TakesLevels]) -> Any:
    """Return X with codes in place of categories, if models take codes; the models store the levels.

    Levels can be numbers that differ from their codes, so the values of such columns are never used directly.

    Raises
    ------
    ValueError
        If a model does not store the levels of the columns, if models have different ones, or for unseen levels. If X
        is a Series, because it does not store the dtype of each column.
    """
    takers = [forest for forest in forests if forest.takes_codes]
    if takers and hasattr(X, "iloc") and X.ndim == 1:
        raise ValueError(
            "The model takes codes of categories, and a Series does not say which of its values are categories. Pass "
            "the row as a frame: frame.iloc[[i]]."
        )
    places = _places(X) if takers else []
    if not places:
        return X
    levels = takers[0].levels
    if any(forest.levels != levels for forest in takers):
        raise ValueError("The models have different levels of categories. Decompose them one by one, or pass codes.")
    if levels is None or len(levels) != len(places):
        known = "none" if levels is None else len(levels)
        raise ValueError(
            f"Categories or text are in {', '.join(column_name(X, j) for j in places)}, and the model knows the levels "
            f"of {known} such columns. Pass the codes that it was trained with as numbers, NaN in place of missing "
            "values."
        )
    rows, refuse = as_table(X), any(forest.refuses_unseen for forest in takers)
    for j, own in zip(places, levels, strict=True):
        rows = with_column(rows, j, _codes(column_of(X, j), own, column_name(X, j), refuse=refuse))
    return rows


def _codes(column: NDArray[Any], levels: Sequence[Any], name: str, *, refuse: bool) -> NDArray[np.float64]:
    """Return the code of each value, NaN for missing ones and for levels that are not known."""
    codes = codes_of(column, levels)
    codes[codes == len(levels)] = np.nan
    if refuse:
        unseen = [value for value in column[np.isnan(codes)] if level_of(value) is not None]
        if unseen:
            raise ValueError(
                f"The {name} holds categories that the model has not seen, such as {unseen[0]!r}, which it refuses. "
                "Leave such rows out, or make them missing."
            )
    return codes


def _places(X: Any) -> list[int]:
    """Return the positions of the columns of dtype category, and of those with text."""
    check_rows_are_there(X, "X")
    if not is_table(X):
        return []
    categories = category_columns(X)
    return [j for j in categorical_columns(X, FROM_DTYPE) if j in categories or holds_text(column_of(X, j))]
