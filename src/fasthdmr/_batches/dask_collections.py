"""Collections of dask, which are computed partition by partition."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from fasthdmr._batches.source import Source, Wanted
from fasthdmr._support.optional import is_dask, is_from, require


def open_dask(source: Any, wanted: Wanted) -> Source | None:
    """Return a dask array or data frame, or a tuple of X, y and weights of dask, as a source; None for anything else.

    Raises
    ------
    TypeError
        If it is another collection, such as a bag, or only some parts of a tuple are collections.
    ValueError
        If chunks split columns, or the parts of a tuple are not divided alike.
    """
    parts = source if isinstance(source, tuple) else (source,)
    if not any(map(is_dask, parts)):
        return None
    names = dict(zip(("X", "y", "weight"), parts, strict=False)) if parts is source else {"source": source}
    if len(names) != len(parts):
        raise ValueError(f"source must be (X, y) or (X, y, weight) if it is a tuple, got a tuple of {len(parts)}.")
    found = {name: part for name, part in names.items() if part is not None}
    lengths = {name: _lengths(part, name) for name, part in found.items()}
    (first, divided), *others = lengths.items()
    for name, others_divided in others:
        if not _is_alike(divided, others_divided):
            raise ValueError(
                f"{name} is divided into {_shown(others_divided)}, but {first} into {_shown(divided)}. Divide them "
                "alike, arrays by y.rechunk(X.chunks[0]), or take y from a column of X with target."
            )
    if parts is not source and is_from("dask.dataframe", "DataFrame", source):
        columns = wanted.of(list(source.columns))
        parts = (source if columns is None else source[columns],)
    return Source("partitions of dask", True, partial(_read, parts, len(divided)))


def _lengths(collection: Any, name: str) -> tuple[float, ...]:
    """Return the number of rows of each partition, NaN where they are not known."""
    if is_from("dask.array", "Array", collection):
        if any(n > 1 for n in collection.numblocks[1:]):
            raise ValueError(
                f"The chunks of {name} split its columns: {collection.chunks[1]}. Each chunk must have all columns: "
                f"{name}.rechunk({{1: -1}})."
            )
        return tuple(collection.chunks[0])
    if any(is_from("dask.dataframe", kind, collection) for kind in ("DataFrame", "Series")):
        return (float("nan"),) * int(collection.npartitions)
    raise TypeError(
        f"{name} must be an array or a data frame of dask, as all parts of a tuple, got {type(collection).__name__}."
    )


def _is_alike(lengths: tuple[float, ...], others: tuple[float, ...]) -> bool:
    """Return whether the lengths that are known are equal."""
    return len(lengths) == len(others) and all(a == b or a != a or b != b for a, b in zip(lengths, others, strict=True))


def _shown(lengths: tuple[float, ...]) -> str:
    return f"{len(lengths)} partitions" + ("" if any(n != n for n in lengths) else f" of {str(lengths)[:40]} rows")


def _read(parts: tuple[Any, ...], n_partitions: int) -> Iterator[Any]:
    dask = require("dask", extra="dask")
    delayed = [[None] * n_partitions if part is None else np.ravel(part.to_delayed()) for part in parts]
    for partition in zip(*delayed, strict=True):
        piece = dask.compute(*partition)
        piece = piece if len(parts) > 1 else piece[0]
        yield piece
        del piece  # before the next one is computed
