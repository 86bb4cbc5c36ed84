"""CSV files: in UTF-8, with commas and a header."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fasthdmr._cli.table_file import TableFile
from fasthdmr._support.optional import require
from fasthdmr._support.warnings import FastHDMRWarning, warn


def read_csv(source: Path | io.BytesIO, name: str, needed: Sequence[str] | None) -> TableFile:
    """Read a CSV file.

    Parameters
    ----------
    source : Path or BytesIO
        A file, which may be compressed, or its content.
    name : str
        What messages call it.
    needed : sequence of str or None
        Names that may be numbers without a doubt that there is a header.

    Returns
    -------
    TableFile

    Raises
    ------
    ValueError
        If it is no such table.
    """
    header = _header(source, name, needed)
    return TableFile(
        name,
        header,
        frame=_read(source, name),
        text=partial(_read, source, name, dtype=str, keep_default_na=False, na_values=[""]),
        check_complete=partial(_check_lengths, source, name, len(header)),
    )


def _read(source: Any, name: str, **options: Any) -> Any:
    """Read a CSV file with pandas, and raise an error if pandas would drop a part of it."""
    pandas = require("pandas", extra="cli")
    if isinstance(source, io.BytesIO):
        source.seek(0)
    try:
        with warnings.catch_warnings():
            # Without index_col, rows longer than the header would turn the first columns into an index.
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            return pandas.read_csv(source, index_col=False, **options)
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} cannot be read as CSV: it is not text in UTF-8 ({error}).") from error
    except Exception as error:  # pandas may decompress the file, which can raise any error
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise ValueError(f"{name} cannot be read as CSV: {error}") from error


def _header(source: Any, name: str, needed: Sequence[str] | None) -> list[str]:
    """Return the names of the columns as in the file; pandas would rename repeated ones."""
    pandas = require("pandas", extra="cli")
    first = _read(source, name, header=None, nrows=1, dtype=str)
    names: list[str] = first.iloc[0].fillna("").tolist()
    if len(names) == 1 and (mark := next((mark for mark in ";\t" if mark in names[0]), None)):
        raise ValueError(f"{name} has {mark!r} between its columns, where there must be commas.")
    if needed and set(needed) <= set(names):
        return names
    filled = [column for column in names if column]
    if filled and pandas.to_numeric(pandas.Series(filled), errors="coerce").notna().all():
        shown = ", ".join(names)
        if filled != [str(k) for k in range(len(filled))]:
            raise ValueError(
                f"{name} has no header: its first row is all numbers ({shown}). Put a row of names above it."
            )
        warn(f"{name}: its first row ({shown}) is taken for the names of the columns.", FastHDMRWarning)
    return names


def _check_lengths(source: Any, name: str, length: int) -> None:
    """Raise an error for rows shorter than the header, such as the last one of a truncated file; pandas pads them."""
    if isinstance(source, io.BytesIO):
        source.seek(0)
    last = length - 1
    try:
        np.loadtxt(source, "U1", comments=None, delimiter=",", quotechar='"', usecols=last, encoding="utf-8")
    except ValueError as error:
        # Other errors are those of compressed files, which only pandas reads.
        if found := re.search(r"at row (\d+) with (\d+) columns", str(error)):
            fields = f"row {int(found[1]) - 1} has {found[2]} of the {length} fields in the header"
            raise ValueError(f"{name}: {fields}. Was the file cut off?") from error
