"""Sources of pyarrow: tables, readers of record batches, and datasets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from fasthdmr._batches.source import Source, Wanted
from fasthdmr._support.optional import is_from, require


def open_arrow(source: Any, wanted: Wanted) -> Source | None:
    """Return a reader or a dataset of pyarrow as a source; None for anything else."""
    if is_from("pyarrow", "RecordBatchReader", source):
        return Source("a pyarrow RecordBatchReader", False, partial(iter, source))
    if is_from("pyarrow.dataset", "Dataset", source):
        return Source("a pyarrow Dataset", True, partial(read_dataset, source, wanted))
    return None


def read_dataset(dataset: Any, wanted: Wanted) -> Iterator[Any]:
    """Yield the record batches of a dataset, one after the other.

    Parquet is decoded by row groups, so one row group at a time is in memory.
    """
    options: dict[str, Any] = {"batch_size": wanted.rows, "columns": wanted.of(dataset.schema.names)}
    if is_from("pyarrow.dataset", "ParquetFileFormat", getattr(dataset, "format", None)):
        parquet = require("pyarrow.dataset", extra="arrow")
        options["fragment_scan_options"] = parquet.ParquetFragmentScanOptions(
            pre_buffer=False, use_buffered_stream=True
        )
    # Without threads and readahead, no more is read than is needed.
    return iter(dataset.to_batches(**options, batch_readahead=0, fragment_readahead=0, use_threads=False))
