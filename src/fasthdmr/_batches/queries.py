"""Lazy frames of polars, of which the query is run for each pass."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from fasthdmr._batches.source import Source, Wanted
from fasthdmr._support.optional import is_from

_VERSION = "1.34"  # of polars, the first with LazyFrame.collect_batches


def open_query(source: Any, wanted: Wanted) -> Source | None:
    """Return a lazy frame of polars as a source; None for anything else.

    Raises
    ------
    ImportError
        If polars is too old to run queries in batches.
    """
    if not is_from("polars", "LazyFrame", source):
        return None
    if not hasattr(source, "collect_batches"):
        raise ImportError(f"polars {_VERSION} is needed to read a LazyFrame: pip install 'polars>={_VERSION}'")
    return Source("a polars LazyFrame", True, partial(_read, source, wanted))


def _read(query: Any, wanted: Wanted) -> Iterator[Any]:
    columns = wanted.of(query.collect_schema().names())
    if columns is not None:
        query = query.select(columns)
    # Without `lazy`, the query would run ahead before the first batch is asked for.
    yield from query.collect_batches(chunk_size=wanted.rows, maintain_order=True, lazy=True)
