"""The rows of a CSV file as the variables of a model."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fasthdmr._cli.categories import as_levels, with_categories
from fasthdmr._support.optional import require
from fasthdmr._support.warnings import FastHDMRWarning, warn


def read_rows(path: Path, forest: Any, target: str | None) -> tuple[Any, Any]:
    """Return the model's variables as a frame, and the target.

    Parameters
    ----------
    path : Path
        A CSV file, or a pipe, in UTF-8, with commas and a header.
    forest : Forest
        Its variables are matched by name. Without names, all columns but the target are taken in their order.
    target : str or None

    Returns
    -------
    X : pandas.DataFrame of float64
        Columns that the model knows by the names of their levels are of dtype category, or as in the file.
    y : ndarray of float64, shape (n_rows,), or None
        For classifiers, a Series of class labels as they are in the file.

    Raises
    ------
    ValueError
        If the file is not such a table of numbers.
    OSError
        If the file cannot be read.
    """
    # A pipe can be read only once.
    source = path if path.is_file() else io.BytesIO(path.read_bytes())
    header = _header(source, path, forest.feature_names)
    frame = _read_csv(source, path)
    if frame.empty:
        raise ValueError(f"{path} has a header but no rows.")
    if target is not None and target not in frame:
        raise ValueError(f"{path} has no column {target!r}; it has {', '.join(frame.columns)}.")
    names = forest.feature_names or [name for name in frame.columns if name != target]
    if target in names:
        raise ValueError(f"The target {target!r} is a variable of the model.")
    missing = [name for name in names if name not in frame]
    if missing:
        has = ", ".join(map(repr, frame.columns))  # quoted, to show blanks
        raise ValueError(f"{path} lacks columns that the model needs: {', '.join(missing)}. It has {has}.")
    if repeated := [name for name in dict.fromkeys([*names, target]) if header.count(name) > 1]:
        raise ValueError(f"{path} has several columns of the same name: {', '.join(repeated)}. Rename all but one.")
    if len(names) != forest.n_features:
        raise ValueError(f"{path} has {len(names)} variables ({', '.join(names)}), the model {forest.n_features}.")
    X = frame[list(names)]
    if forest.front is None:  # the transformers of a pipeline take the columns as they are
        X = _with_levels(X, forest, source, path)
        X = _numbers(X, path, allow_nan=forest.allow_nan, text=[names[column] for column, _ in forest.text_levels])
    y = None if target is None else frame[target]
    if y is not None and not forest.is_classifier:
        y = _numbers(frame[[target]], path, allow_nan=False)[target].to_numpy()
    if frame.iloc[:, -1].isna().any():
        _check_lengths(source, path, len(header))
    return X, y


def _read_csv(source: Any, path: Path, **options: Any) -> Any:
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
        raise ValueError(f"{path} cannot be read as CSV: it is not text in UTF-8 ({error}).") from error
    except Exception as error:  # pandas may decompress the file, which can raise any error
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise ValueError(f"{path} cannot be read as CSV: {error}") from error


def _with_levels(X: Any, forest: Any, source: Any, path: Path) -> Any:
    """Return X with text in the columns for which the model knows levels of text, or with dtype category."""
    if forest.levels is None and not forest.text_levels:
        return X
    text = _read_csv(source, path, dtype=str, keep_default_na=False, na_values=[""])[list(X)]
    if forest.levels is not None:
        try:
            return with_categories(X, text, forest.levels)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    if not forest.hashes_text:  # CatBoost tells whole numbers from text
        for column, levels in forest.text_levels:
            if all(isinstance(level, str) for level in levels):
                X = X.assign(**{X.columns[column]: as_levels(X.iloc[:, column], text.iloc[:, column], levels)})
    return X


def _header(source: Any, path: Path, needed: Sequence[str] | None) -> list[str]:
    """Return the names of the columns as in the file; pandas would rename repeated ones."""
    pandas = require("pandas", extra="cli")
    first = _read_csv(source, path, header=None, nrows=1, dtype=str)
    names: list[str] = first.iloc[0].fillna("").tolist()
    if len(names) == 1 and (mark := next((mark for mark in ";\t" if mark in names[0]), None)):
        raise ValueError(f"{path} has {mark!r} between its columns, where there must be commas.")
    if needed and set(needed) <= set(names):
        return names
    filled = [name for name in names if name]
    if filled and pandas.to_numeric(pandas.Series(filled), errors="coerce").notna().all():
        shown = ", ".join(names)
        if filled != [str(k) for k in range(len(filled))]:
            raise ValueError(
                f"{path} has no header: its first row is all numbers ({shown}). Put a row of names above it."
            )
        warn(f"{path}: its first row ({shown}) is taken for the names of the columns.", FastHDMRWarning)
    return names


def _check_lengths(source: Any, path: Path, length: int) -> None:
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
            raise ValueError(f"{path}: {fields}. Was the file cut off?") from error


def _numbers(frame: Any, path: Path, *, allow_nan: bool, text: Sequence[str] = ()) -> Any:
    """Return a frame of float64; the columns that may hold text are left as they are."""
    pandas = require("pandas", extra="cli")
    columns = {}
    for name, column in frame.items():
        if name in text or column.dtype == "category":
            columns[name] = column
            continue
        try:
            numbers = pandas.to_numeric(column, errors="coerce").astype("float64")
        except OverflowError as error:  # a whole number of more than 308 digits
            raise ValueError(f"{path}: column {name!r} has a number that is too large for float64.") from error
        is_text = numbers.isna() & column.notna()
        if is_text.any():
            row = int(np.argmax(is_text))
            raise ValueError(f"{path}: column {name!r} has the text {column[row]!r} in row {row + 1}, not a number.")
        if not allow_nan and column.isna().any():
            row = int(np.argmax(column.isna()))
            raise ValueError(f"{path}: column {name!r} has no value in row {row + 1}, which the model does not accept.")
        columns[name] = numbers
    return pandas.DataFrame(columns)
