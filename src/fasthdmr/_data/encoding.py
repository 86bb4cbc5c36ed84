"""Encoding of categorical variables: the levels of text, categories and booleans are replaced by codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from fasthdmr._support.numbers import check_rows_are_there, holds_numbers, is_number_type
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import column_names, is_frame
from fasthdmr._support.warnings import UnknownLevelsWarning, warn
from fasthdmr._support.weights import check_weights

FROM_DTYPE = "from_dtype"
_TEXT_KINDS = "USTO"  # of NumPy: text, bytes, objects
_CATEGORICAL = (
    *("category", "dictionary", "string", "large_string", "str", "bool", "boolean"),  # pandas, pyarrow
    *("categorical", "enum", "utf8"),  # polars
)
_ENCODE = "Encode them as text or numbers."


@dataclass(frozen=True)
class Encoding:
    """The levels of the categorical variables of a data set, by column.

    Levels are numbered by decreasing weight in the fitted rows, levels of equal weight by first appearance. So codes
    depend neither on the names of levels nor on their declared order, and the first codes are the most frequent levels.

    Attributes
    ----------
    levels : dict of int to tuple
        The levels of each categorical column, by code. None stands for missing values, which are a level if they occur.
        Other columns are numeric.

    Examples
    --------
    >>> X = np.array([["a", 1.5], ["b", 2.5], ["b", None]], dtype=object)
    >>> encoding = Encoding.of(X)
    >>> encoding.levels
    {0: ('b', 'a')}
    >>> encoding.encode(X).tolist()
    [[1.0, 1.5], [0.0, 2.5], [0.0, None]]
    """

    levels: Mapping[int, tuple[Any, ...]]

    @classmethod
    def of(cls, X: Any, categorical_features: Any = FROM_DTYPE, sample_weight: Any = None) -> Encoding:
        """Find the categorical columns of X and their levels.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
        categorical_features : "from_dtype", array-like of int, str or bool, or None
            "from_dtype": columns of dtype category, object, string and boolean of data frames, and columns of arrays
            of objects or text. Columns of objects that are all numbers, or missing, are numeric. Otherwise the indices
            or names of the columns, or a mask. None: no column.
        sample_weight : array-like of shape (N,), or None
            Levels that occur only in rows of weight 0 are not counted.

        Raises
        ------
        ValueError
            If a column that is asked for does not exist.
        TypeError
            If a level is neither text nor a number nor a boolean.
        """
        check_rows_are_there(X, "X")
        if not is_table(X):  # the check of the shape raises the error
            return cls({})
        X = X if hasattr(X, "shape") else _as_array(X)
        columns = categorical_columns(X, categorical_features)
        weights = check_weights(sample_weight, X) if columns else None
        return cls({j: _levels(column_of(X, j), weights, column_name(X, j)) for j in columns})

    @property
    def counts(self) -> dict[int, int]:
        """The number of levels of each categorical column."""
        return {j: len(levels) for j, levels in self.levels.items()}

    def encode(self, X: Any) -> Any:
        """Return X with codes in place of levels. Unknown levels get a code after the last, the number of levels.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)

        Returns
        -------
        X itself if there are no categorical columns; else a data frame of the same kind, or an array.
        """
        if not self.levels or not is_table(X):
            return X
        X = X if hasattr(X, "shape") else _as_array(X)
        rows = as_table(X)
        for j, levels in self.levels.items():
            if j < rows.shape[1]:
                rows = with_column(rows, j, codes_of(column_of(X, j), levels))
        if isinstance(rows, np.ndarray) and set(self.levels) == set(range(rows.shape[1])):
            return rows.astype(np.float64)
        return rows

    def encode_arguments(self, values: Any, names: Sequence[str]) -> Any:
        """Return values of some variables with codes in place of levels.

        Parameters
        ----------
        values : array-like, data frame or Series of shape (N, m), or (N,) for one variable
        names : sequence of str, length m
            The names of the variables, of which `levels` gives the positions. Columns of frames are found by name.

        Warns
        -----
        UnknownLevelsWarning
        """
        if len(names) == 1 and not hasattr(values, "columns") and np.ndim(values) == 1:
            values = np.asarray(values, dtype=object)[:, None]
        own, given = self, column_names(values)
        if given is not None and set(names) <= set(given):
            own, names = Encoding({given.index(names[k]): levels for k, levels in self.levels.items()}), given
        rows = own.encode(values)
        own.warn_of_unknown(values, rows, names)
        return rows

    def columns(self, X: Any, codes: NDArray[Any]) -> list[NDArray[Any]]:
        """Return copies of all columns of X as arrays: numbers, and objects in categorical columns.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
        codes : ndarray of shape (N, n)
            The rows with codes in place of levels.
        """
        return [column_of(X, j).copy() if j in self.levels else codes[:, j].copy() for j in range(codes.shape[1])]

    def unknown(self, X: Any, codes: NDArray[Any], names: Sequence[str]) -> str:
        """Return a description of the levels that are not known, "" if all are; `codes` are the encoded rows."""
        found = {j: np.flatnonzero(column_of(codes, j) == len(levels)) for j, levels in self.levels.items()}
        return ", ".join(
            f"{level_of(column_of(X, j)[at[0]])!r} in {names[j]!r} ({len(at)} rows)"
            for j, at in found.items()
            if len(at)
        )

    def warn_of_unknown(self, X: Any, codes: NDArray[Any], names: Sequence[str]) -> None:
        """Warn once if rows hold levels that are not known; `codes` are the encoded rows.

        Warns
        -----
        UnknownLevelsWarning
            With the columns, the number of rows, and a level of each.
        """
        if unknown := self.unknown(X, codes, names):
            warn(
                f"X has levels that were not seen in fit, such as {unknown}. Components of these variables are 0 "
                "there, except for terms of trees, which follow the model.",
                UnknownLevelsWarning,
            )


def categorical_columns(X: Any, categorical_features: Any) -> list[int]:
    """Return the positions of the categorical columns of X, ascending (see `Encoding.of`)."""
    X = X if hasattr(X, "shape") else _as_array(X)
    n = X.shape[1]
    if categorical_features is None:
        return []
    if isinstance(categorical_features, str) and categorical_features == FROM_DTYPE:
        return _columns_of_levels(X)
    if isinstance(categorical_features, str) or not np.iterable(categorical_features):
        raise ValueError(
            "categorical_features must be an array-like of bool, int or str, 'from_dtype' or None, got "
            f"{categorical_features!r}."
        )
    given = list(categorical_features)
    if given and all(isinstance(item, bool | np.bool_) for item in given):
        if len(given) != n:
            raise ValueError(
                f"categorical_features set as a boolean mask should have shape (n_features,), got: ({len(given)},) for "
                f"{n} features."
            )
        return [j for j, is_categorical in enumerate(given) if is_categorical]
    return sorted({_position(item, n, column_names(X)) for item in given})


def _position(item: Any, n: int, names: Sequence[str] | None) -> int:
    if isinstance(item, str):
        if names is None or item not in names:
            known = "X has no column names" if names is None else f"the columns are {list(names)[:8]}"
            raise ValueError(f"categorical_features has a item value {item!r} which is not a feature name: {known}.")
        return list(names).index(item)
    if not isinstance(item, int | np.integer) or not 0 <= item < n:
        raise ValueError(f"categorical_features must hold column indices from 0 to {n - 1}, or names; got {item!r}.")
    return int(item)


def _columns_of_levels(X: Any) -> list[int]:
    """Return the columns of which the dtype, or the values in a column of objects, are those of a category."""
    if not is_frame(X):
        dtype = getattr(X, "dtype", None)
        if dtype is not None and dtype.kind not in _TEXT_KINDS:
            return []
        return [j for j in range(X.shape[1]) if _holds_levels(column_of(X, j))]
    found = []
    for j, dtype in enumerate(X.dtypes):
        name = str(getattr(dtype, "name", dtype)).lower()
        kind = re.split(r"[\[(<]", name, maxsplit=1)[0]  # without parameters, as in bool[pyarrow]
        if kind in _CATEGORICAL or (kind == "object" and _holds_levels(column_of(X, j))):
            found.append(j)
    return found


def _holds_levels(column: NDArray[Any]) -> bool:
    """Return whether a column of objects holds text or booleans."""
    return any(issubclass(cls, str | bytes | bool | np.bool_) for cls in set(map(type, column)))


def column_of(X: Any, j: int) -> NDArray[Any]:
    """Return a column of X as an array."""
    if hasattr(X, "columns"):
        return np.asarray(_safe_indexing(X, j, axis=1), dtype=object)
    return _as_array(X)[:, j]


def _as_array(X: Any) -> NDArray[Any]:
    rows = np.asarray(X)
    return rows if isinstance(X, np.ndarray) or rows.dtype.kind in "biuf" else np.array(X, dtype=object)


def is_table(X: Any) -> bool:
    """Return whether X is a data frame or has two dimensions."""
    if hasattr(X, "columns"):
        return True
    try:
        return len(X.shape if hasattr(X, "shape") else _as_array(X).shape) == 2
    except ValueError:  # rows of unequal length
        return False


def as_table(X: Any) -> Any:
    """Return X as a frame, or an array of numbers or objects, in which columns can be replaced without changing X."""
    if hasattr(X, "columns"):
        return X.copy(deep=False) if hasattr(X, "isetitem") else X
    rows = _as_array(X)
    return np.array(rows, dtype=np.result_type(rows, np.float32) if rows.dtype.kind in "biuf" else object)


def with_zeros(X: Any, columns: Iterable[int]) -> Any:
    """Return X with zeros in those of the given columns that hold anything but numbers. X is not changed.

    Examples
    --------
    >>> with_zeros(np.array([["a", 1.5, {}]], dtype=object), [1, 2])
    array([['a', 1.5, 0.0]], dtype=object)
    """
    dtypes = list(X.dtypes) if is_frame(X) else [X.dtype] * X.shape[1]
    found = [j for j in columns if not is_number_type(dtypes[j]) and not holds_numbers(column_of(X, j))]
    if found:
        X = as_table(X)
        for j in found:
            X = with_column(X, j, np.zeros(len(X)))
    return X


def column_name(X: Any, j: int) -> str:
    """Return the name of a column for messages."""
    names = column_names(X)
    return f"column {j}" if names is None else f"column {names[j]!r}"


def _levels(column: NDArray[Any], weights: Floats | None, name: str) -> tuple[Any, ...]:
    number: dict[Any, int] = {}
    rows = column if weights is None else column[weights > 0]
    try:
        numbers = [number.setdefault(value, len(number)) for value in rows.tolist()]
    except TypeError:  # lists, dicts and other objects without a hash
        raise TypeError(f"The levels of {name} must be text, numbers or booleans. {_ENCODE}") from None
    sums = np.bincount(numbers, None if weights is None else weights[weights > 0], len(number))
    total: dict[Any, float] = {}
    for value, weight in zip(number, sums.tolist(), strict=True):
        level = level_of(value)
        if not isinstance(level, str | bytes | bool | int | float | None) and type(level).__name__ != "Interval":
            raise TypeError(
                f"The levels of {name} must be text, numbers or booleans, got {value!r} of type "
                f"{type(value).__name__}. {_ENCODE}"
            )
        total[level] = total.get(level, 0.0) + weight
    return tuple(sorted(total, key=lambda level: -total[level]))  # sorting is stable


def level_of(value: Any) -> Any:
    """Return a value of a categorical column as a level: missing values become None, NumPy's scalars Python's.

    Examples
    --------
    >>> level_of(np.str_("a")), level_of(float("nan")), level_of(np.int64(3))
    ('a', None, 3)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return None if isinstance(value, float) and value != value else value


def codes_of(column: NDArray[Any], levels: Sequence[Any]) -> NDArray[np.float64]:
    """Return the code of each value, the number of levels for unknown ones.

    Examples
    --------
    >>> codes_of(np.array(["b", "c"], dtype=object), ["a", "b"])
    array([1., 2.])
    """
    code = {level: float(k) for k, level in enumerate(levels)}
    codes = np.array([code.get(value, -1.0) for value in column.tolist()], dtype=np.float64)
    other = np.flatnonzero(codes < 0)  # missing values, and unknown levels
    codes[other] = [code.get(level_of(value), float(len(levels))) for value in column[other]]
    return codes


def with_column(rows: Any, column: int, values: NDArray[Any]) -> Any:
    """Return rows with other values in a column: polars' frames are not changed, but others are."""
    if isinstance(rows, np.ndarray):
        rows[:, column] = values
    elif hasattr(rows, "isetitem"):
        rows.isetitem(column, values)
    else:
        old = rows[:, column]
        return rows.with_columns(type(old)(old.name, values))
    return rows
