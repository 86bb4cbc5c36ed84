"""Parquet files."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path
from typing import Any

from fasthdmr._cli.table_file import TableFile
from fasthdmr._support.optional import require

MAGIC = b"PAR1"
"""The first bytes of a parquet file."""

_UNNAMED_INDEX = "__index_level_"  # the column that pandas makes of an index without a name


def read_parquet(source: Path | io.BytesIO, name: str) -> TableFile:
    """Read a parquet file.

    Parameters
    ----------
    source : Path or BytesIO
    name : str
        What messages call it.

    Returns
    -------
    TableFile
        Columns that are neither numbers, booleans, text nor categories, such as dates, are text.

    Raises
    ------
    ValueError
        If the file is damaged.
    ImportError
        If pyarrow is not installed (extra ``arrow``).
    """
    parquet = require("pyarrow.parquet", extra="arrow")
    try:
        table = parquet.read_table(str(source) if isinstance(source, Path) else source)
        table = table.drop_columns([column for column in table.column_names if column.startswith(_UNNAMED_INDEX)])
        frame = table.to_pandas(ignore_metadata=True)
    except Exception as error:  # a damaged file can raise any error
        raise ValueError(f"{name} cannot be read as parquet: {error}") from error
    types = require("pyarrow", extra="arrow").types
    for k, column in enumerate(table.schema):
        if types.is_dictionary(column.type):
            frame.isetitem(k, frame.iloc[:, k].astype(frame.dtypes.iloc[k].categories.dtype))
        elif types.is_decimal(column.type):
            frame.isetitem(k, frame.iloc[:, k].astype("float64"))
        elif not any(holds(column.type) for holds in _usable(types)):
            frame.isetitem(k, _as_text(frame.iloc[:, k]))
    return TableFile(name, table.column_names, frame, partial(_all_as_text, frame), check_complete=_nothing)


def _usable(types: Any) -> list[Any]:
    """Return the tests of the types of columns that models take."""
    return [
        types.is_integer,
        types.is_floating,
        types.is_boolean,
        types.is_string,
        types.is_large_string,
        types.is_string_view,
        types.is_null,
    ]


def _all_as_text(frame: Any) -> Any:
    return require("pandas", extra="cli").concat([_as_text(frame.iloc[:, k]) for k in range(frame.shape[1])], axis=1)


def _as_text(column: Any) -> Any:
    """Return a column as text, missing values as missing."""
    return column.astype(object).where(column.notna(), None).map(str, na_action="ignore")


def _nothing() -> None:
    """Check nothing: a parquet file that is cut off cannot be read at all."""
