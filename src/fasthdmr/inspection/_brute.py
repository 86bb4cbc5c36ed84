"""Partial dependence of any model by brute force: averages over rows with some columns set to grid values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
from sklearn.utils._indexing import _safe_assign

from fasthdmr._support.progress import progress
from fasthdmr._support.typing import Floats


def brute_average(
    output: Callable[[Any], Floats],
    X: Any,
    weights: Floats | None,
    columns: Sequence[int],
    values: Sequence[Any],
    *,
    verbose: int = 0,
) -> Floats:
    """Evaluate the model at all rows for every point of the grid.

    Parameters
    ----------
    output : callable
        From rows to (N,) or (N, K).
    X : ndarray or data frame
    weights : ndarray of shape (N,) or None
    columns : sequence of int
        The columns that are set.
    values : sequence of ndarray
        The values of each column; float64 for numbers.
    verbose : int
        Whether a long run shows its progress.

    Returns
    -------
    ndarray of shape (K, *lengths of values)
    """
    rows = X.clone() if hasattr(X, "clone") else X.copy()
    for column, axis in zip(columns, values, strict=True):
        if axis.dtype.kind == "f":
            rows = _with_float_column(rows, column)
    averages = []
    n_points = prod(map(len, values))
    for point in progress(product(*values), "partial dependence", total=n_points, verbose=verbose):
        for column, value in zip(columns, point, strict=True):
            rows = _assign(rows, column, value)
        averages.append(np.average(output(rows), axis=0, weights=weights))
    return np.reshape(np.transpose(averages), (-1, *map(len, values)))


def _with_float_column(rows: Any, column: int) -> Any:
    """Convert a column of integers to float64, so that grid values are not rounded."""
    if hasattr(rows, "with_columns"):
        return rows  # polars replaces columns
    if not hasattr(rows, "isetitem"):
        return rows.astype(np.float64) if rows.dtype.kind in "biu" else rows
    if rows.dtypes.iloc[column].kind in "biu":
        rows.isetitem(column, rows.iloc[:, column].astype(np.float64))
    return rows


def _assign(rows: Any, column: int, value: Any) -> Any:
    """Set a column of our own copy of the rows to one value; polars returns new rows."""
    if not hasattr(rows, "with_columns"):
        _safe_assign(rows, value, column_indexer=column)
        return rows
    old = rows[:, column]
    dtype = None if isinstance(value, float) else old.dtype
    return rows.with_columns(type(old)(old.name, [value], dtype=dtype).new_from_index(0, len(rows)))
