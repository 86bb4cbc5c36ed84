"""Checks of arguments, especially of the rows X."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, assert_all_finite, check_array

from fasthdmr._support.numbers import as_floats, check_numbers, check_rows_are_there

P = ParamSpec("P")

_SHOWN = 5  # names listed in an error, as in scikit-learn
_UNNAMED = re.compile(r"x\d+")  # default names of variables


def check_kind(kind: object, kinds: Sequence[str], *, name: str = "kind") -> None:
    """Raise an error unless a parameter is one of the allowed strings, in scikit-learn's wording.

    Raises
    ------
    ValueError
        If it is none of them.

    Examples
    --------
    >>> check_kind("map", ["map", "surface"])
    """
    if not isinstance(kind, str) or kind not in kinds:
        among = "{" + ", ".join(map(repr, kinds)) + "}"
        raise ValueError(f"The {name!r} parameter must be a str among {among}. Got {kind!r} instead.")


def suggests_parameters(init: Callable[P, None]) -> Callable[P, None]:
    """Decorate a constructor: the error for an unknown keyword names the most similar parameter.

    Examples
    --------
    >>> @suggests_parameters
    ... def init(self, normalise="output"): ...
    >>> init(None, normalize="data")
    Traceback (most recent call last):
    ...
    TypeError: init() got an unexpected keyword argument 'normalize'. Did you mean 'normalise'?
    """
    known = list(signature(init).parameters)[1:]

    @wraps(init)
    def checked(*args: P.args, **keywords: P.kwargs) -> None:
        if unknown := [name for name in keywords if name not in known]:
            close = get_close_matches(unknown[0], known, 1)
            hint = f"Did you mean {close[0]!r}?" if close else f"Parameters are {', '.join(known)}."
            raise TypeError(f"{init.__qualname__}() got an unexpected keyword argument {unknown[0]!r}. {hint}")
        init(*args, **keywords)

    return checked


def check_rows(
    X: Any,
    n_features: int,
    *,
    feature_names: tuple[str, ...] | None = None,
    allow_nan: bool,
    allow_inf: bool,
    estimator: str = "Forest",
) -> NDArray[Any]:
    """Return X as a two-dimensional float32 or float64 array, copied only where it must be.

    Parameters
    ----------
    X : array-like or data frame of shape (N, n_features)
        NumPy, pandas, polars, or anything that NumPy understands.
    n_features : int
        The number of columns that is expected.
    feature_names : tuple of str or None
        The column names that a data frame must have, in this order. Unnamed columns are taken by position.
    allow_nan, allow_inf : bool
        Whether missing and infinite values are accepted.
    estimator : str
        The name of the estimator in errors.

    Returns
    -------
    ndarray of shape (N, n_features), float32 or float64
        In any memory order; other dtypes become float64.

    Raises
    ------
    ValueError
        If X is not numeric, not two-dimensional, empty, has other columns, or values that are not accepted.
    TypeError
        If X is sparse, holds objects that are not numbers, or is a query that has not been run.

    Examples
    --------
    >>> check_rows([[1, 2], [3, 4]], 2, allow_nan=False, allow_inf=False)
    array([[1., 2.],
           [3., 4.]])
    """
    rows: NDArray[Any] = X
    if not is_plain(X):
        check_numbers(X, "X")
        check_names(X, feature_names)
        rows = check_array(
            X, dtype=[np.float64, np.float32], ensure_all_finite=False, estimator=estimator, input_name="X"
        )
    if rows.shape[1] != n_features:
        raise ValueError(
            f"X has {rows.shape[1]} features, but {estimator} is expecting {n_features} features as input."
        )
    _check_finite(rows, allow_nan=allow_nan, allow_inf=allow_inf, estimator=estimator)
    return rows if rows.flags.aligned else np.require(rows, requirements="A")


def is_plain(X: Any) -> bool:
    """Return whether scikit-learn's check, which takes longer than evaluating 1,000 trees, would return X as it is.

    Examples
    --------
    >>> is_plain(np.zeros((2, 3))), is_plain([[0.0]]), is_plain(np.zeros(3))
    (True, False, False)
    """
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype in (np.float64, np.float32)


def _check_finite(rows: NDArray[Any], *, allow_nan: bool, allow_inf: bool, estimator: str) -> None:
    """Raise an error for missing or infinite values that are not allowed, in scikit-learn's wording."""
    if allow_nan and allow_inf:
        return
    if allow_inf:  # scikit-learn has no such option, so check for NaN here and let it raise the error
        lowest = rows.min()
        if lowest != lowest:  # NaN, in a tenth of the time of np.isnan(np.min(rows)) for one row
            assert_all_finite(np.array([np.nan]), estimator_name=estimator, input_name="X")
        return
    assert_all_finite(rows, allow_nan=allow_nan, estimator_name=estimator, input_name="X")


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame; None for arrays, and if all names are numbers.

    Raises
    ------
    TypeError
        If some names are text and others are not, as in scikit-learn.

    Examples
    --------
    >>> column_names([[1.0]]) is None
    True
    """
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = tuple(columns)
    is_text = [isinstance(name, str) for name in names]
    if any(is_text) and not all(is_text):
        kinds = sorted({type(name).__name__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. Convert them with X.columns = X.columns.astype(str)."
        )
    return names if names and all(is_text) else None


def check_names(X: Any, expected: tuple[str, ...] | None, *, during: str = "fit", may_be_unnamed: bool = False) -> None:
    """Raise an error unless a data frame has the expected columns in order, in scikit-learn's wording.

    Parameters
    ----------
    X : array-like or data frame
        Without column names, columns are matched by position.
    expected : tuple of str or None
        None: there are no names to compare with.
    during : str
        When these names were given.
    may_be_unnamed : bool
        Whether x0, x1 and so on are default names, so that frames with other names are matched by position.

    Raises
    ------
    ValueError
        If they differ.
    """
    names = column_names(X)
    if expected is None or names is None or names == expected:
        return
    if may_be_unnamed and goes_by_position(names, expected):
        return
    raise ValueError(
        f"The feature names should match those that were passed during {during}.\n"
        + (
            _differing(names, expected, "unseen at fit time", "seen at fit time, yet now missing")
            or f"Feature names must be in the same order as they were in {during}.\n"
        )
    )


def check_model_names(names: Sequence[str] | None, expected: Sequence[str] | None) -> None:
    """Raise an error if rows have other names than a model was fitted with; None if there are none.

    Raises
    ------
    ValueError
        If they differ.
    """
    if names is not None and expected is not None and list(names) != list(expected):
        raise ValueError(
            "The feature names should match those that were passed during fit of the model: "
            f"expected {list(expected)}, got {list(names)}."
        )


def goes_by_position(names: Sequence[str], expected: Sequence[str]) -> bool:
    """Return whether all variables have default names, and a frame has none of these."""
    return all(map(_UNNAMED.fullmatch, expected)) and not any(map(_UNNAMED.fullmatch, names))


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame, of pandas or polars.

    Examples
    --------
    >>> is_frame([[1.0]])
    False
    """
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def copy_of(X: Any) -> Any:
    """Return a copy of an array, in the same memory order, or of a data frame.

    Examples
    --------
    >>> copy_of(np.zeros((2, 3)).T).flags.f_contiguous
    True
    """
    if isinstance(X, np.ndarray):
        return X.copy(order="K")
    return X.clone() if hasattr(X, "clone") else X.copy()


def dtypes_of(X: Any) -> Any:
    """Return the dtypes of the columns of a data frame of pandas; None for anything else.

    Examples
    --------
    >>> dtypes_of([[1.0]]) is None
    True
    """
    return X.dtypes if hasattr(X, "isetitem") else None


def category_columns(X: Any) -> list[int]:
    """Return the places of the columns of dtype category of a data frame of pandas; none of anything else.

    Examples
    --------
    >>> category_columns([[1.0]])
    []
    """
    dtypes = X.dtypes if hasattr(X, "isetitem") else ()
    return [j for j, dtype in enumerate(dtypes) if getattr(dtype, "name", None) == "category"]


def take_columns(values: Any, names: Sequence[str], owner: str) -> NDArray[np.float64]:
    """Return values of some variables as float64, the columns of a data frame by name; it may have further ones.

    Parameters
    ----------
    values : array-like, data frame or Series
        Matched by position without column names, and if the variables have the default names x0, x1 and so on.
    names : sequence of str
        Names of the variables; a frame must have these, in any order.
    owner : str
        The function, as it is called in the error.

    Raises
    ------
    ValueError, TypeError
        If a frame lacks one of them, or they do not hold numbers but categories or other things.
    """
    check_rows_are_there(values, "values")
    given = column_names(values)
    if given is not None and given != tuple(names):
        _check_has(given, names, owner)
        if not goes_by_position(given, names):
            values = _safe_indexing(values, [given.index(name) for name in names], axis=1)
    if category_columns(values) or getattr(getattr(values, "dtype", None), "name", None) == "category":
        raise ValueError("Values are of dtype category. Pass the numbers that the model takes: values or codes.")
    columns = as_floats(values, "values")
    if columns.ndim == 1 and isinstance(name := getattr(values, "name", None), str) and name:
        _check_has((name,), names, owner)  # a Series
    return columns


def _check_has(given: Sequence[str], names: Sequence[str], owner: str) -> None:
    """Raise an error unless each name is exactly one of those given, or all go by position."""
    if goes_by_position(given, names) or all(given.count(name) == 1 == list(names).count(name) for name in names):
        return
    raise ValueError(
        f"The feature names should match those of {owner}.\n"
        + _differing(given, names, f"that {owner} does not have", f"of {owner} that are missing")
        + f"Pass the columns {list(names)}."
    )


def _differing(names: Sequence[str], expected: Sequence[str], unexpected: str, lacking: str) -> str:
    """Return the unexpected and the missing names as text; "" if there are none."""
    unseen, missing = sorted(set(names) - set(expected)), sorted(set(expected) - set(names))
    message = f"Feature names {unexpected}:\n{_listed(unseen)}" if unseen else ""
    return message + (f"Feature names {lacking}:\n{_listed(missing)}" if missing else "")


def _listed(names: list[str]) -> str:
    lines = [f"- {name}\n" for name in names[:_SHOWN]]
    return "".join([*lines, "- ...\n"] if len(names) > _SHOWN else lines)
