"""The rows of a file as the variables of a model."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fasthdmr._cli.categories import as_levels, with_categories
from fasthdmr._cli.csv_file import read_csv
from fasthdmr._cli.parquet_file import MAGIC, read_parquet
from fasthdmr._cli.table_file import TableFile
from fasthdmr._support.optional import require

STDIN = Path("-")
"""Stands for standard input."""


class Rows(NamedTuple):
    """The rows of a file.

    Attributes
    ----------
    X : pandas.DataFrame of float64
        Columns that the model knows by the names of their levels are of dtype category, or as in the file.
    y : ndarray of float64, shape (n_rows,), or None
        The target. For classifiers, a Series of class labels as they are in the file.
    weights : ndarray of float64, shape (n_rows,), or None
    """

    X: Any
    y: Any
    weights: Any


def read_rows(path: Path, forest: Any, target: str | None, weights: str | None = None) -> Rows:
    """Return the model's variables as a frame, the target and the weights.

    Parameters
    ----------
    path : Path
        A CSV file in UTF-8, with commas and a header, or a parquet file; "-" or a pipe as well.
    forest : Forest
        Its variables are matched by name. Without names, all columns but the target and the weights are taken in their
        order.
    target, weights : str or None
        Names of columns.

    Returns
    -------
    Rows

    Raises
    ------
    ValueError
        If the file is not such a table of numbers.
    OSError
        If the file cannot be read.
    """
    table = _read(path, forest.feature_names)
    names = _names_of_variables(table, forest, {"target": target, "column of weights": weights})
    X = table.frame[names]
    if forest.front is None:  # the transformers of a pipeline take the columns as they are
        X = _with_levels(X, forest, table)
        text = [names[column] for column, _ in forest.text_levels]
        X = _numbers(X, table.name, allow_nan=forest.allow_nan, text=text)
    y = None if target is None else table.frame[target]
    if y is not None and not forest.is_classifier:
        y = _column_of_numbers(table, y.name)
    if table.frame.iloc[:, -1].isna().any():
        table.check_complete()
    return Rows(X, y, None if weights is None else _column_of_numbers(table, weights))


def _read(path: Path, needed: Sequence[str] | None) -> TableFile:
    """Read a table of any format."""
    name = "standard input" if path == STDIN else str(path)
    source: Path | io.BytesIO
    if path == STDIN:
        if sys.stdin is None:
            raise ValueError("standard input is closed, so there are no rows to read from it.")
        source = io.BytesIO(sys.stdin.buffer.read())
    else:  # a pipe can be read only once
        source = path if path.is_file() else io.BytesIO(path.read_bytes())
    if isinstance(source, Path):
        with source.open("rb") as file:
            start = file.read(len(MAGIC))
    else:
        start = source.getvalue()[: len(MAGIC)]
    is_parquet = start == MAGIC or path.suffix == ".parquet"
    table = read_parquet(source, name) if is_parquet else read_csv(source, name, needed)
    if table.frame.empty:
        raise ValueError(f"{name} has a header but no rows.")
    return table


def _names_of_variables(table: TableFile, forest: Any, others: dict[str, str | None]) -> list[str]:
    """Return the columns that are the variables of a model; `others` are columns that are none, by what they are."""
    name, columns = table.name, list(table.frame.columns)
    given = [column for column in others.values() if column is not None]
    for what, column in others.items():
        if column is not None and column not in columns:
            raise ValueError(f"{name} has no column {column!r}; it has {', '.join(columns)}.")
        if column is not None and column in (forest.feature_names or ()):
            raise ValueError(f"The {what} {column!r} is a variable of the model.")
    if len(set(given)) < len(given):
        raise ValueError(f"The column {given[0]!r} cannot be both the target and the weights.")
    names = list(forest.feature_names or [column for column in columns if column not in given])
    if missing := [column for column in names if column not in columns]:
        has = ", ".join(map(repr, columns))  # quoted, to show blanks
        raise ValueError(f"{name} lacks columns that the model needs: {', '.join(missing)}. It has {has}.")
    if repeated := [column for column in dict.fromkeys([*names, *given]) if table.header.count(column) > 1]:
        raise ValueError(f"{name} has several columns of the same name: {', '.join(repeated)}. Rename all but one.")
    if len(names) != forest.n_features:
        raise ValueError(f"{name} has {len(names)} variables ({', '.join(names)}), the model {forest.n_features}.")
    return names


def _with_levels(X: Any, forest: Any, table: TableFile) -> Any:
    """Return X with text in the columns for which the model knows levels of text, or with dtype category."""
    if forest.levels is None and not forest.text_levels:
        return X
    text = table.text()[list(X)]
    if forest.levels is not None:
        try:
            return with_categories(X, text, forest.levels)
        except ValueError as error:
            raise ValueError(f"{table.name}: {error}") from None
    if not forest.hashes_text:  # CatBoost tells whole numbers from text
        for column, levels in forest.text_levels:
            if all(isinstance(level, str) for level in levels):
                X = X.assign(**{X.columns[column]: as_levels(X.iloc[:, column], text.iloc[:, column], levels)})
    return X


def _column_of_numbers(table: TableFile, column: str) -> Any:
    return _numbers(table.frame[[column]], table.name, allow_nan=False)[column].to_numpy()


def _numbers(frame: Any, name: str, *, allow_nan: bool, text: Sequence[str] = ()) -> Any:
    """Return a frame of float64; the columns that may hold text are left as they are."""
    pandas = require("pandas", extra="cli")
    columns = {}
    for key, column in frame.items():
        if key in text or column.dtype == "category":
            columns[key] = column
            continue
        try:
            numbers = pandas.to_numeric(column, errors="coerce").astype("float64")
        except OverflowError as error:  # a whole number of more than 308 digits
            raise ValueError(f"{name}: column {key!r} has a number that is too large for float64.") from error
        is_text = numbers.isna() & column.notna()
        if is_text.any():
            row = int(np.argmax(is_text))
            raise ValueError(f"{name}: column {key!r} has the text {column[row]!r} in row {row + 1}, not a number.")
        if not allow_nan and column.isna().any():
            row = int(np.argmax(column.isna()))
            raise ValueError(f"{name}: column {key!r} has no value in row {row + 1}, which the model does not accept.")
        columns[key] = numbers
    return pandas.DataFrame(columns)
