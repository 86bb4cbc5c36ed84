"""Files of rows: parquet, Arrow's own format, which is feather's too, and CSV."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from fasthdmr._batches.arrow import read_dataset
from fasthdmr._batches.source import Source, Wanted
from fasthdmr._batches.tables import some_rows
from fasthdmr._support.optional import require
from fasthdmr._support.steps import steps

_BLOCK = 1 << 22  # bytes of a CSV file that are read at once
_BUFFER = 1 << 16  # bytes of a column that are read from a parquet file at once


def open_files(source: Any, wanted: Wanted) -> Source | None:
    """Return a path of a file or a directory as a source; None for anything that is no path.

    Raises
    ------
    FileNotFoundError
        If there is nothing of this name.
    ValueError
        If it is no file of a known format, or a directory without any.
    ImportError
        If pyarrow is not installed.
    """
    if not isinstance(source, str | os.PathLike):
        return None
    require("pyarrow", extra="arrow")
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(f"There is no file or directory {str(path)!r}.")
    if not path.is_dir():
        return Source(f"the file {path.name!r}", True, partial(_read, path, _reader(path), wanted))
    files = _files_in(path)
    if any("=" in part for file in files for part in file.relative_to(path).parts[:-1]):
        return Source(f"the directory {path.name!r}", True, partial(_read_partitioned, path, files, wanted))
    return Source(f"the directory {path.name!r}", True, partial(_read_all, files, wanted))


def _files_in(directory: Path) -> list[Path]:
    """Return the files of rows in a directory and below, in the order of their names."""
    found = [
        path
        for path in sorted(directory.rglob("*"))
        if path.suffix.lower() in _READERS
        and path.is_file()
        and not any(part.startswith((".", "_")) for part in path.relative_to(directory).parts)
    ]
    if not found:
        raise ValueError(f"The directory {str(directory)!r} has no files of the formats {', '.join(_READERS)}.")
    return found


def _read_all(files: list[Path], wanted: Wanted) -> Iterator[Any]:
    for path in files:
        yield from _read(path, _reader(path), wanted)


def _read_partitioned(directory: Path, files: list[Path], wanted: Wanted) -> Iterator[Any]:
    """Yield the rows of a directory of which parts such as year=2024 give the values of columns."""
    datasets = require("pyarrow.dataset", extra="arrow")
    kind = "parquet" if _reader(files[0]) is _parquet else "ipc"
    names = [str(path) for path in files]
    options = {"partitioning": "hive", "partition_base_dir": str(directory)}
    yield from read_dataset(datasets.dataset(names, format=kind, **options), wanted)


def _read(path: Path, reader: Callable[[Path, Wanted], Iterator[Any]], wanted: Wanted) -> Iterator[Any]:
    pyarrow = require("pyarrow", extra="arrow")
    try:
        yield from reader(path, wanted)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"The file {str(path)!r} cannot be read: {error}") from error


def _parquet(path: Path, wanted: Wanted) -> Iterator[Any]:
    parquet = require("pyarrow.parquet", extra="arrow")
    # With a buffer, pages are decoded when they are needed, not row groups as a whole.
    with parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False) as file:
        columns = wanted.of(file.schema_arrow.names)
        yield from file.iter_batches(wanted.rows, columns=columns, use_threads=False)


def _arrow(path: Path, wanted: Wanted) -> Iterator[Any]:
    pyarrow = require("pyarrow", extra="arrow")
    with pyarrow.memory_map(str(path)) as mapped:
        names = pyarrow.ipc.open_file(mapped).schema.names
        columns = wanted.of(names)
        places = None if columns is None else [names.index(name) for name in columns]
        file = pyarrow.ipc.open_file(mapped, options=pyarrow.ipc.IpcReadOptions(included_fields=places))
        for k in range(file.num_record_batches):
            batch = file.get_batch(k)
            for rows in steps(batch.num_rows, 1.0, wanted.rows):
                yield some_rows(batch, rows)
            del batch


def _csv(path: Path, wanted: Wanted) -> Iterator[Any]:
    csv, pyarrow = require("pyarrow.csv", extra="arrow"), require("pyarrow", extra="arrow")
    blocks = csv.ReadOptions(block_size=_BLOCK, use_threads=False)
    with csv.open_csv(path, blocks) as begin:
        schema = begin.schema  # types of the values in the first block
    is_number = {field.name: pyarrow.types.is_integer(field.type) or field.type == pyarrow.null() for field in schema}
    options = csv.ConvertOptions(
        # Whole numbers at first may be followed by others, and missing values by numbers.
        column_types={name: pyarrow.float64() for name in schema.names if is_number[name]},
        include_columns=wanted.of(schema.names),
        strings_can_be_null=True,
    )
    with csv.open_csv(path, blocks, convert_options=options) as file:
        for batch in file:
            for rows in steps(batch.num_rows, 1.0, wanted.rows):
                yield some_rows(batch, rows)
            del batch


_READERS = {
    ".parquet": _parquet,
    ".pq": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
    ".ipc": _arrow,
    ".csv": _csv,
}


def _reader(path: Path) -> Callable[[Path, Wanted], Iterator[Any]]:
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise ValueError(
            f"The file {str(path)!r} is of none of the formats {', '.join(_READERS)}. Pass an iterable of arrays or "
            "data frames instead."
        )
    return reader
