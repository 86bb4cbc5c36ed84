"""Conversion of rows to the numbers that forests compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from fasthdmr._forest.levels import TakesLevels, recoded
from fasthdmr._forest.sparse import TakesSparse, as_dense
from fasthdmr._forest.text_levels import HasTextLevels, text_as_codes


class TakesRows(TakesLevels, TakesSparse, HasTextLevels, Protocol):
    """The attributes of `Forest` that this module uses."""


def in_numbers(X: Any, forests: Sequence[TakesRows]) -> Any:
    """Return X with dense rows, and with codes in place of categories and text.

    Raises
    ------
    TypeError, ValueError
        As `as_dense`, `recoded` and `text_as_codes`.
    """
    return text_as_codes(recoded(as_dense(X, forests), forests), forests)
