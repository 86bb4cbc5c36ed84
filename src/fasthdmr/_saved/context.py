"""What the parts of a saved decomposition share while they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fasthdmr._saved.archive import Archive
from fasthdmr._support.groups import Groups


@dataclass(frozen=True, eq=False)
class Context:
    """The file, and what is known of the variables.

    Attributes
    ----------
    archive : Archive
    n_variables : int
    n_columns : int
        The number of columns of X.
    n_outputs : int
    levels : dict of int to tuple
    groups : Groups or None
    """

    archive: Archive
    n_variables: int
    n_columns: int
    n_outputs: int
    levels: Mapping[int, tuple[Any, ...]]
    groups: Groups | None
