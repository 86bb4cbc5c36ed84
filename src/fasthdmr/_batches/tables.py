"""The tables that batches are made of: arrays, and data frames of pandas and polars. Arrow's become pandas' frames."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from fasthdmr._support.numbers import as_array_of
from fasthdmr._support.optional import is_dask, is_from, require
from fasthdmr._support.validation import is_frame

ROWS = 100_000
"""Rows of a batch of tables and files, if nothing else is asked for: some MB, and enough to be fast."""

_UNNAMED_INDEX = "__index_level_"  # columns that pandas makes of indices without a name
_TEXT = "USTO"  # kinds of dtypes of NumPy


def is_arrow(values: Any) -> bool:
    """Return whether values are a table or a record batch of pyarrow."""
    return is_from("pyarrow", "Table", values) or is_from("pyarrow", "RecordBatch", values)


def is_query(values: Any) -> bool:
    """Return whether rows are still to be computed: a lazy frame of polars, or a collection of dask."""
    return is_from("polars", "LazyFrame", values) or is_dask(values)


def is_in_memory(values: Any) -> bool:
    """Return whether values are an array, a data frame or an Arrow table."""
    return not is_query(values) and (isinstance(values, np.ndarray) or is_frame(values) or is_arrow(values))


def as_table(values: Any, needed: Collection[str] | None = None) -> Any:
    """Return values as an array or a data frame of two dimensions.

    Parameters
    ----------
    values : array-like, data frame, or Table or RecordBatch of pyarrow
    needed : collection of str, optional
        Other columns of Arrow tables are dropped before they are converted.

    Raises
    ------
    TypeError
        If it is sparse, or a query that has not been run.
    ValueError
        If it is not two-dimensional.

    Examples
    --------
    >>> as_table([[1, 2]])
    array([[1, 2]])
    """
    if is_arrow(values):
        return _as_pandas(values, needed)
    if is_frame(values) and not is_query(values):
        return values
    table = as_column(values)
    if table.ndim != 2:
        raise ValueError(
            f"a batch must be a table of shape (N, n), got {type(values).__name__} of shape {table.shape}. Pass a list "
            "of tables, or one table as an array or a data frame."
        )
    return table


def as_column(values: Any) -> Any:
    """Return values of any dimension as an array; Series and data frames as they are.

    Raises
    ------
    TypeError
        If they are sparse, or a query that has not been run.

    Examples
    --------
    >>> as_column([1, 2])
    array([1, 2])
    """
    if is_query(values):
        raise TypeError(
            f"this {type(values).__name__} is a query that has not been run. Compute it before, or pass it to batches "
            "without others."
        )
    if issparse(values):
        raise TypeError("Sparse data was passed, but dense data is required. Use .toarray() to convert it.")
    if is_arrow(values):
        return as_table(values)
    return as_array_of(values)


def n_rows_of(table: Any) -> int:
    """Return the number of rows of an array or a data frame.

    Examples
    --------
    >>> n_rows_of(np.zeros((3, 2)))
    3
    """
    return int(table.shape[0])


def some_rows(values: Any, rows: slice | NDArray[np.intp]) -> Any:
    """Return some rows of an array, a Series or a data frame: a view for a slice.

    Examples
    --------
    >>> some_rows(np.arange(5), slice(3, 5))
    array([3, 4])
    """
    if is_arrow(values) and isinstance(rows, slice):
        return values.slice(rows.start, rows.stop - rows.start)
    return _safe_indexing(values, rows, axis=0)


def some_columns(table: Any, columns: Sequence[int]) -> Any:
    """Return some columns of a table: the table itself or a view, if they are consecutive.

    Examples
    --------
    >>> some_columns(np.array([[1, 2, 3]]), [2, 0])
    array([[3, 1]])
    """
    first = columns[0] if columns else 0
    if list(columns) == list(range(first, first + len(columns))):
        if len(columns) == table.shape[1]:
            return table
        if isinstance(table, np.ndarray):
            return table[:, first : first + len(columns)]
    return _safe_indexing(table, list(columns), axis=1)


def kind_of(table: Any) -> str:
    """Return what kind of table it is, for messages.

    Examples
    --------
    >>> kind_of(np.zeros((3, 2)))
    'an array'
    """
    if is_arrow(table):
        return f"a pyarrow {type(table).__name__}"
    return f"a {type(table).__module__.partition('.')[0]} data frame" if is_frame(table) else "an array"


def concatenated(parts: Sequence[Any]) -> Any:
    """Return the rows of several tables, arrays or Series of one kind as one.

    Raises
    ------
    TypeError, ValueError
        If a column is of dtypes that have nothing in common.

    Examples
    --------
    >>> concatenated([np.array([[1]]), np.array([["a"]])])
    array([[1],
           ['a']], dtype=object)
    """
    if all(hasattr(part, "iloc") for part in parts):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of pandas 2: other dtypes next to columns without values
            return require("pandas", extra="frame").concat(_with_common_categories(parts), ignore_index=True)
    if all(is_from("polars", "Series", part) for part in parts):
        return concatenated([part.to_frame(parts[0].name) for part in parts]).to_series()
    if all(is_from("polars", "DataFrame", part) for part in parts):
        return _of_polars(parts)
    arrays = [np.asarray(part) for part in parts]
    if len({array.dtype.kind in _TEXT for array in arrays}) == 2:
        arrays = [array.astype(object) for array in arrays]  # otherwise numbers next to text would become text
    return np.concatenate(arrays)


def _of_polars(parts: Sequence[Any]) -> Any:
    """Return the rows of data frames of polars, which would turn numbers next to text into text."""
    polars = require("polars", extra="test")
    for columns in zip(*(part.schema.items() for part in parts), strict=True):
        dtypes = {dtype for _, dtype in columns if dtype != polars.Null}
        if len({dtype in (polars.String, polars.Categorical, polars.Enum) for dtype in dtypes}) == 2:
            raise ValueError(f"column {columns[0][0]!r} has the dtypes {', '.join(sorted(map(str, dtypes)))}.")
    try:
        return polars.concat(parts, how="vertical_relaxed")
    except polars.exceptions.PolarsError as error:
        raise ValueError(str(error)) from error


def _with_common_categories(parts: Sequence[Any]) -> list[Any]:
    """Return parts of pandas in which columns of dtype category have the same categories, as concat needs them."""
    types = require("pandas.api.types", extra="frame")
    if not hasattr(parts[0], "columns"):
        return _of_common_categories(parts, types)
    tables = [part.copy(deep=False) for part in parts]
    for j in range(tables[0].shape[1]):
        columns = [table.iloc[:, j] for table in tables]
        for table, column, same in zip(tables, columns, _of_common_categories(columns, types), strict=True):
            if same is not column:
                table.isetitem(j, same)
    return tables


def _of_common_categories(columns: Sequence[Any], types: Any) -> list[Any]:
    dtypes = [column.dtype for column in columns]
    if any(dtype.name != "category" for dtype in dtypes) or all(dtype == dtypes[0] for dtype in dtypes):
        return list(columns)
    if len({dtype.categories.dtype for dtype in dtypes}) > 1:
        return [column.astype(object) for column in columns]
    union = types.union_categoricals([column.array for column in columns], ignore_order=True).categories
    return [column.cat.set_categories(union, ordered=False) for column in columns]


def _as_pandas(table: Any, needed: Collection[str] | None) -> Any:
    """Return an Arrow table as a data frame of pandas, without its other columns."""
    pyarrow = require("pyarrow", extra="arrow")
    require("pandas", extra="arrow")
    if is_from("pyarrow", "RecordBatch", table):
        table = pyarrow.Table.from_batches([table])
    names = table.column_names
    if needed is not None and all(names.count(name) == 1 for name in needed):
        table = table.select(list(needed))
    else:
        table = table.select([k for k, name in enumerate(names) if not name.startswith(_UNNAMED_INDEX)])
    for k, field in enumerate(table.schema):
        if pyarrow.types.is_decimal(field.type):  # would become Python's decimals
            table = table.set_column(k, field.name, table.column(k).cast(pyarrow.float64()))
    return table.to_pandas(ignore_metadata=True)
