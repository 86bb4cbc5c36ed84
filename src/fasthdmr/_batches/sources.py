"""Sources of rows by their type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from fasthdmr._batches.arrow import open_arrow
from fasthdmr._batches.dask_collections import open_dask
from fasthdmr._batches.files import open_files
from fasthdmr._batches.queries import open_query
from fasthdmr._batches.source import Source, Wanted
from fasthdmr._batches.tables import as_column, is_in_memory, kind_of, n_rows_of, some_rows
from fasthdmr._support.steps import steps


def open_source(source: Any, wanted: Wanted) -> Source:
    """Return anything that can be read in pieces as a source.

    Parameters
    ----------
    source : object
        See `fasthdmr.batches`.
    wanted : Wanted

    Raises
    ------
    TypeError
        If it is nothing of that kind.
    """
    if (stored := _stored(source, wanted)) is not None:
        return stored
    if is_in_memory(source) or (
        isinstance(source, tuple) and not any(isinstance(part, str | PathLike) for part in source)
    ):
        return _in_memory(source, wanted.rows)
    if callable(source):
        return Source("a function", True, lambda: open_source(source(), wanted).read())
    if not np.iterable(source) or isinstance(source, bytes | Mapping | set):
        raise TypeError(
            "source must be an iterable of arrays or data frames, a table, a dataset, or a path, got "
            f"{type(source).__name__}."
        )
    is_iterator = iter(source) is source
    return Source(f"a {type(source).__name__}", not is_iterator, partial(_pieces, source, wanted))


def _stored(source: Any, wanted: Wanted) -> Source | None:
    """Return what is stored outside of memory, or not computed yet, as a source; None for anything else."""
    for opener in (open_files, open_arrow, open_query, open_dask):
        if (found := opener(source, wanted)) is not None:
            return found
    return None


def _pieces(source: Any, wanted: Wanted) -> Iterator[Any]:
    """Yield the pieces of an iterable; those that are stored elsewhere, such as files, are read in parts."""
    for piece in source:
        stored = _stored(piece, wanted)
        if stored is None:
            yield piece
        else:
            yield from stored.read()
        del piece


def _in_memory(source: Any, rows: int) -> Source:
    """Return a table, or a tuple of X, y and weights, as a source of views.

    Raises
    ------
    ValueError
        If a tuple is of another length, or its parts have different numbers of rows.
    """
    if not isinstance(source, tuple):
        return Source(f"{kind_of(source)} of shape {tuple(source.shape)}", True, partial(_views, (source,), rows))
    if len(source) not in (2, 3):
        raise ValueError(
            f"source must be (X, y) or (X, y, weight) if it is a tuple, got a tuple of {len(source)}. Pass several "
            "tables as a list."
        )
    parts = tuple(None if part is None else as_column(part) for part in source)
    check_consistent_length(*parts)
    return Source(f"a tuple of {len(source)} arrays", True, partial(_views, parts, rows))


def _views(parts: tuple[Any, ...], rows: int) -> Iterator[Any]:
    for some in steps(n_rows_of(parts[0]), 1.0, rows):
        views = tuple(None if part is None else some_rows(part, some) for part in parts)
        yield views if len(views) > 1 else views[0]
