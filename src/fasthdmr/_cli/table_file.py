"""What is read from a file of rows, whatever its format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TableFile:
    """The columns of a file.

    Attributes
    ----------
    name : str
        What messages call the file.
    header : list of str
        The names of the columns as in the file, where some may occur several times.
    frame : DataFrame
        The columns, with rows numbered from 0.
    text : callable
        Returns the same columns as text. Only empty cells are missing.
    check_complete : callable
        Raises a ValueError if rows are cut off.
    """

    name: str
    header: list[str]
    frame: Any
    text: Callable[[], Any]
    check_complete: Callable[[], None]
