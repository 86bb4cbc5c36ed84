"""What users may pass, rows X above all, and what they are told if it is something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_array

_SHOWN = 5  # names listed in an error, as in scikit-learn


def check_kind(kind: object, kinds: Sequence[str]) -> None:
    """Refuse a parameter `kind` that is none of those there are, in scikit-learn's words.

    Raises
    ------
    ValueError
        If it is none of them.

    Examples
    --------
    >>> check_kind("map", ["map", "surface"])
    """
    if kind not in kinds:
        among = "{" + ", ".join(map(repr, kinds)) + "}"
        raise ValueError(f"The 'kind' parameter must be a str among {among}. Got {kind!r} instead.")


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
        Who asks, for error messages.

    Returns
    -------
    ndarray of shape (N, n_features), float32 or float64
        In any memory order; other dtypes become float64.

    Raises
    ------
    ValueError
        If X is not numeric, not two-dimensional, empty, has other columns, or values that are not accepted.
    TypeError
        If X is sparse.

    Examples
    --------
    >>> check_rows([[1, 2], [3, 4]], 2, allow_nan=False, allow_inf=False)
    array([[1., 2.],
           [3., 4.]])
    """
    _check_names(X, feature_names)
    if getattr(getattr(X, "dtype", None), "kind", "f") in "SU":
        raise ValueError("X holds text. Encode it as numbers, as for the model's training data.")
    try:
        rows: NDArray[Any] = (
            X
            if _is_plain(X)
            else check_array(
                X, dtype=[np.float64, np.float32], ensure_all_finite=False, estimator=estimator, input_name="X"
            )
        )
    except (ValueError, TypeError) as error:
        if "could not convert" not in str(error):
            raise
        raise ValueError(f"X must be numeric: {error}. Encode text and categories as numbers first.") from error
    if rows.shape[1] != n_features:
        raise ValueError(
            f"X has {rows.shape[1]} features, but {estimator} is expecting {n_features} features as input."
        )
    _check_finite(rows, allow_nan=allow_nan, allow_inf=allow_inf, estimator=estimator)
    return np.require(rows, requirements="A")


def _is_plain(X: Any) -> bool:
    """Say whether X is what scikit-learn's check, which takes longer than a thousand trees, would return as it is."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype in (np.float64, np.float32)


def _check_finite(rows: NDArray[Any], *, allow_nan: bool, allow_inf: bool, estimator: str) -> None:
    """Refuse what is not allowed, in scikit-learn's words."""
    if allow_nan and allow_inf:
        return
    if allow_inf:  # scikit-learn has no such choice: look for NaN alone, and let it word the error
        if np.isnan(np.min(rows)):
            assert_all_finite(np.array([np.nan]), estimator_name=estimator, input_name="X")
        return
    assert_all_finite(rows, allow_nan=allow_nan, estimator_name=estimator, input_name="X")


def _check_names(X: Any, expected: tuple[str, ...] | None) -> None:
    """Refuse a data frame whose columns are not the expected ones, in scikit-learn's words."""
    columns = getattr(X, "columns", None)
    if expected is None or columns is None or not all(isinstance(name, str) for name in columns):
        return
    names = tuple(columns)
    if names == expected:
        return
    message = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(names) - set(expected)), sorted(set(expected) - set(names))
    if unseen:
        message += "Feature names unseen at fit time:\n" + _listed(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _listed(missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise ValueError(message)


def _listed(names: list[str]) -> str:
    lines = [f"- {name}\n" for name in names[:_SHOWN]]
    return "".join([*lines, "- ...\n"] if len(names) > _SHOWN else lines)
