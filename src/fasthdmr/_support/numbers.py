"""Checks that X, y, weights and columns hold numbers, and the errors if they do not."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing, check_array

from fasthdmr._support.optional import is_dask
from fasthdmr._support.typing import Floats

Found = tuple[str, Any]  # kind of the entries that are not numbers, and the first of them

_NUMBERS = "biuf"
_KINDS = {"M": "dates", "m": "durations", "c": "complex numbers", "S": "text", "U": "text", "T": "text"}
_REMEDIES = {
    "dates": "Turn them into numbers first, such as days since a first date: (dates - first) / np.timedelta64(1, 'D').",
    "durations": "Turn them into numbers first: divide by a unit, such as np.timedelta64(1, 's').",
    "complex numbers": "Complex data not supported: pass the modulus, or real and imaginary part, each by itself.",
    "text": "Encode text and categories as numbers first, as for the training data of the model.",
}
_SHOWN = 40  # characters of a value in an error


def check_numbers(values: Any, what: str, *, labels: bool = False, remedy: str = "") -> None:
    """Raise an error unless all values are numbers: dates, durations, complex numbers, text and objects are not.

    NumPy would convert most of these to floating point without a warning: dates to nanoseconds, complex numbers to
    their real part, masked values to the data under the mask.

    Parameters
    ----------
    values : array-like, data frame or Series
        Of any shape. Sparse matrices pass: the caller checks for them.
    what : str
        The name in the error: "X", "y" and so on.
    labels : bool
        Whether text is accepted: class labels.
    remedy : str
        The advice in the error about text; by default, to encode it.

    Raises
    ------
    ValueError
        If it holds dates, durations, complex numbers or text, or is masked; with the column and what to do.
    TypeError
        If it holds other objects, or is a query that has not been run.

    Examples
    --------
    >>> check_numbers([[1.0, None], [True, 2]], "X")
    >>> check_numbers([[1.0, 2j]], "X")
    Traceback (most recent call last):
    ...
    ValueError: X must be numeric, but column 1 holds complex numbers, such as 2j. Complex data not supported: pass \
the modulus, or real and imaginary part, each by itself.
    """
    check_rows_are_there(values, what)
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{what} is an array with masked values. Pass {what}.astype(float).filled(np.nan), or leave such rows out."
        )
    for where, column in _doubtful(values):
        kind, example = _found(column) or ("", None)
        if kind and not (labels and kind == "text"):
            raise _error(f"{what} must be numeric, but {where} holds", kind, example, remedy)


def check_rows_are_there(values: Any, what: str) -> None:
    """Raise an error for lazy frames of polars and collections of dask: reading them would run the query.

    Raises
    ------
    TypeError
        If it is one.
    """
    if callable(getattr(values, "collect", None)) and not hasattr(values, "__array__"):
        raise TypeError(
            f"{what} is a {type(values).__name__}, a query that has not been run. Pass its rows: {what}.collect()."
        )
    if is_dask(values):
        raise TypeError(
            f"{what} is a dask collection, which may not fit into memory. Pass fasthdmr.batches({what}, target=...), "
            f"fit it with fasthdmr.dask.fit, or pass its rows: {what}.compute()."
        )


def as_array_of(values: Any) -> Any:
    """Return lists and scalars as an array, in which numbers next to text stay numbers; arrays and frames as they are.

    Examples
    --------
    >>> as_array_of([["a", 1.0]])
    array([['a', 1.0]], dtype=object)
    """
    if hasattr(values, "shape"):
        return values
    array = np.asarray(values)
    return np.array(values, dtype=object) if array.dtype.kind in "US" else array


def as_floats(values: Any, what: str) -> NDArray[np.float64]:
    """Return numbers of any shape as a float64 array; raise an error for anything else.

    Examples
    --------
    >>> as_floats([1, None], "y")
    array([ 1., nan])
    """
    check_numbers(values, what)
    if isinstance(values, np.ndarray | list | tuple) or not hasattr(values, "shape"):
        return np.asarray(values, dtype=np.float64)
    floats: NDArray[np.float64] = check_array(  # converts the missing values of data frames
        values,
        dtype=np.float64,
        ensure_2d=False,
        allow_nd=True,
        ensure_all_finite=False,
        ensure_min_samples=0,
        ensure_min_features=0,
        input_name=what,
    )
    return floats


def holds_text(values: Any) -> bool:
    """Return whether there is text among values.

    Examples
    --------
    >>> holds_text(["a", 1]), holds_text([0, 1])
    (True, False)
    """
    found = (_found(column) for _, column in _doubtful(values))
    return any(kind is not None and kind[0] == "text" for kind in found)


def holds_numbers(values: Any) -> bool:
    """Return whether all values are numbers, booleans or missing.

    Examples
    --------
    >>> holds_numbers([[1.0, None]]), holds_numbers([["a"]])
    (True, False)
    """
    return all(_found(column) is None for _, column in _doubtful(values))


def first_text_column(values: Any) -> str | None:
    """Return the name of the first column that holds text, such as "column 'city'"; None if there is none.

    Examples
    --------
    >>> first_text_column(np.array([["a", 1.0]], dtype=object))
    'column 0'
    """
    return next((where for where, column in _doubtful(values) if (_found(column) or ("",))[0] == "text"), None)


def _doubtful(values: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield place and values of every column whose dtype is not numeric."""
    if issparse(values):
        return
    if hasattr(values, "columns") and hasattr(values, "dtypes"):
        for j, (name, dtype) in enumerate(zip(values.columns, values.dtypes, strict=True)):
            if not is_number_type(dtype):
                yield f"column {name!r}", np.asarray(_safe_indexing(values, j, axis=1))
        return
    if is_number_type(getattr(values, "dtype", None)):
        return
    array = _as_array(values)
    if array.dtype.kind == "O" and array.ndim == 2:
        for j, column in enumerate(array.T):
            yield f"column {j}", column
    elif array.dtype.kind not in _NUMBERS:
        yield "it", array


def is_number_type(dtype: Any) -> bool:
    """Return whether a dtype of NumPy, pandas or polars is numeric."""
    kind = getattr(dtype, "kind", None)
    if kind is not None:
        return kind in _NUMBERS
    is_numeric = getattr(dtype, "is_numeric", None)
    return is_numeric is not None and bool(is_numeric())


def _as_array(values: Any) -> NDArray[Any]:
    try:
        array = np.asarray(values)
        if array.dtype.kind not in _NUMBERS and isinstance(values, list | tuple):
            array = np.asarray(values, dtype=object)  # otherwise numbers next to text would become text
    except ValueError:  # rows of unequal length; the check of the shape raises the error
        return np.empty(0)
    return array


def _found(column: NDArray[Any]) -> Found | None:
    """Return the kind of the entries that are not numbers, None if all are."""
    kind = column.dtype.kind
    if kind in _NUMBERS:
        return None
    if kind != "O":
        example = column.flat[0] if column.size else None
        return _KINDS.get(kind, f"records of type {column.dtype}"), example
    for cls in set(map(type, column.flat)):
        example = next(value for value in column.flat if type(value) is cls)
        kind_of_value = _kind_of(example)
        if kind_of_value is not None:
            return kind_of_value, example
    return None


def _kind_of(value: Any) -> str | None:
    """Return the kind of an object that is not a number, None for numbers and missing values."""
    if isinstance(value, str | bytes):
        return "text"
    if isinstance(value, datetime.date | datetime.time | np.datetime64):
        return "dates"
    if isinstance(value, datetime.timedelta | np.timedelta64):  # numpy.timedelta64 counts as an integer type
        return "durations"
    if value is None or isinstance(value, numbers.Real | np.bool_):
        return None
    if isinstance(value, numbers.Complex):
        return "complex numbers"
    if not isinstance(value, np.ndarray):
        try:
            float(value)
        except (TypeError, ValueError):
            pass
        else:
            return None
    return f"objects of type {type(value).__name__}"


def _error(begin: str, kind: str, example: Any, remedy: str) -> Exception:
    if kind not in _REMEDIES:
        cause = f"float() argument must be a string or a real number, not {type(example).__name__!r}"
        hint = ": X.where(X.notna(), np.nan)" if type(example).__name__ == "NAType" else ""
        return TypeError(f"{begin} {kind}: {cause}. Pass numbers, NaN where they are missing{hint}.")
    shown = str(example)[:_SHOWN]
    if kind == "text":
        return ValueError(f"{begin} text: could not convert string to float: {shown!r}. {remedy or _REMEDIES[kind]}")
    such_as = "" if example is None else f", such as {shown}"
    return ValueError(f"{begin} {kind}{such_as}. {_REMEDIES[kind]}")


def as_array(value: ArrayLike, name: str, shape: tuple[int, ...]) -> Floats:
    """Return a copy as an array of finite numbers of a given shape."""
    array = as_floats(value, name).copy()
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite.")
    return array
