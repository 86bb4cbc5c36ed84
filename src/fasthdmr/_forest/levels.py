"""Conversion of columns of dtype category to the codes that xgboost and LightGBM assign."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

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
    places = category_columns(X) if takers else []
    if not places:
        return X
    levels = takers[0].levels
    if any(forest.levels != levels for forest in takers):
        raise ValueError("The models have different levels of categories. Decompose them one by one, or pass codes.")
    if levels is None or len(levels) != len(places):
        known = "none" if levels is None else len(levels)
        raise ValueError(
            f"The columns {[X.columns[j] for j in places]} are of dtype category, and the model knows the levels of "
            f"{known} such columns. Pass the codes that it was trained with as numbers, NaN in place of missing values."
        )
    X = X.copy(deep=False)
    for j, own in zip(places, levels, strict=True):
        X.isetitem(j, _codes(X.iloc[:, j], own, refuse=any(forest.refuses_unseen for forest in takers)))
    return X


def _codes(column: Any, levels: Sequence[Any], *, refuse: bool) -> Any:
    codes = column.cat.set_categories(list(levels)).cat.codes
    unseen = column[(codes < 0) & column.notna()]
    if refuse and len(unseen):
        raise ValueError(
            f"The column {column.name!r} holds categories that the model has not seen, such as {unseen.iloc[0]!r}, "
            "which it refuses. Leave such rows out, or make them missing."
        )
    return codes.astype("float64").where(codes >= 0)
