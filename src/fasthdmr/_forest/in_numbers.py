"""Conversion of rows to the numbers that forests compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from fasthdmr._forest.front import Front
from fasthdmr._forest.levels import TakesLevels, recoded
from fasthdmr._forest.sparse import TakesSparse, as_dense
from fasthdmr._forest.text_levels import HasTextLevels, text_as_codes


class TakesRows(TakesLevels, TakesSparse, HasTextLevels, Protocol):
    """The attributes of `Forest` that this module uses."""

    @property
    def front(self) -> Front | None: ...


def in_numbers(X: Any, forests: Sequence[TakesRows]) -> Any:
    """Return X with dense rows, and with codes in place of categories and text; behind transformers, what trees read.

    Raises
    ------
    TypeError, ValueError
        As `as_dense`, `recoded`, `text_as_codes` and `Front.transform`.
    ValueError
        If the models are behind different transformers.
    """
    front = forests[0].front if forests else None
    if any(forest.front is not front for forest in forests):
        raise ValueError("The models are behind different transformers. Decompose them one by one.")
    if front is not None:
        return front.transform(X)
    return text_as_codes(recoded(as_dense(X, forests), forests), forests)
