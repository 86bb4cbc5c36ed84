"""The variables of a partial dependence and the grid of their values, as in scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats.mstats import mquantiles
from sklearn.utils import _safe_indexing, check_array

from fasthdmr._forest.forest import Forest
from fasthdmr._forest.sparse import as_dense, is_sparse
from fasthdmr._support.numbers import as_floats, check_numbers, check_rows_are_there, holds_text
from fasthdmr._support.subspaces import as_subspace, as_variables
from fasthdmr._support.validation import check_names, column_names


@dataclass(frozen=True)
class GridOptions:
    """How the values of a variable are chosen; see `partial_dependence`."""

    names: tuple[str, ...]
    categorical: frozenset[int]
    percentiles: tuple[float, float]
    resolution: int
    custom: Mapping[int, NDArray[Any]]

    @classmethod
    def of(
        cls,
        X: Any,
        *,
        feature_names: Sequence[str] | None,
        categorical_features: Any,
        percentiles: tuple[float, float],
        grid_resolution: int,
        custom_values: Mapping[Any, Any] | None,
    ) -> GridOptions:
        """Check the options against the columns of X."""
        if not isinstance(percentiles, Iterable) or len(percentiles) != 2:
            raise ValueError("'percentiles' must be a sequence of 2 elements.")
        if not all(0 <= x <= 1 for x in percentiles):
            raise ValueError("'percentiles' values must be in [0, 1].")
        if percentiles[0] >= percentiles[1]:
            raise ValueError("percentiles[0] must be strictly less than percentiles[1].")
        if grid_resolution <= 1:
            raise ValueError("'grid_resolution' must be strictly greater than 1.")
        names = _names(X, feature_names)
        given = {}
        for key, values in (custom_values or {}).items():
            (number,) = as_variables([key], names, what="custom_values")
            given[number] = _custom(values, key)
        return cls(names, _categorical(categorical_features, names), percentiles, grid_resolution, given)

    def subspace(self, features: Any) -> tuple[int, ...]:
        """Return the columns of one set of features, in the order in which they are given."""
        features = _as_list(features)
        if len(features) == 1:
            features = _as_list(features[0])  # [(0, 1)], as scikit-learn writes a pair
        if len(features) == len(self.names) and all(isinstance(feature, bool | np.bool_) for feature in features):
            features = np.flatnonzero(features).tolist()
        if not features:
            raise ValueError("features must name at least one variable.")
        return as_variables(features, self.names, what="features")

    def values(self, X: Any, column: int, forest: Forest | None = None) -> NDArray[Any]:
        """Return the grid of one variable: distinct values, ascending, without those that count as missing."""
        own = _safe_indexing(X, column, axis=1)
        if column in self.custom:
            given = self.custom[column]
            check_numbers(given, f"custom_values of {self.names[column]!r}", labels=holds_text(own))
            return given
        values = as_numbers(own, f"The column {self.names[column]!r}", keep=column in self.categorical)
        values = values[_present(values)]
        if forest is not None and values.dtype.kind in "biuf" and column < forest.n_features:
            values = values[~forest.counts_as_missing(column, values.astype(np.float64))]
        uniques: NDArray[Any] = np.unique(values)
        if len(uniques) == 0:
            raise ValueError(f"The column {self.names[column]!r} has no values that are not missing.")
        if column in self.categorical or len(uniques) < self.resolution or values.dtype.kind == "O":
            return uniques
        low, high = mquantiles(values, prob=self.percentiles)
        return np.unique(np.linspace(low, high, num=self.resolution))


def as_table(X: Any, forest: Forest | None = None) -> Any:
    """Return rows whose columns can be set: a data frame or array as it is, lists and sparse rows as an array.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix
        The rows.
    forest : Forest or None
        The trees that read them: they determine the value of what sparse rows do not store.

    Raises
    ------
    TypeError
        If X is sparse and the forest is None or does not take it, or if X is a query that has not been run.

    Examples
    --------
    >>> as_table([[1, 2]])
    array([[1, 2]])
    """
    if is_sparse(X) and forest is None:
        raise TypeError(
            "Sparse X is supported for sums of trees only: a grid sets whole columns, and the value of what is not "
            "stored depends on the model. Pass X.toarray(), with NaN in place of what is not stored for models of "
            "xgboost, which take it for missing."
        )
    X = as_dense(X, [forest] if forest is not None else [])
    check_rows_are_there(X, "X")
    if hasattr(X, "__array__"):
        return X
    return check_array(X, dtype=None, ensure_all_finite="allow-nan", input_name="X")


def as_numbers(values: Any, what: str, *, keep: bool = False) -> NDArray[Any]:
    """Return a column as float64 if it holds numbers, as it is if it holds text; categories are kept on request.

    Examples
    --------
    >>> as_numbers([1, 2], "x")
    array([1., 2.])
    >>> as_numbers(["a", "b"], "x")
    array(['a', 'b'], dtype=object)
    """
    if not keep:
        check_numbers(values, what, labels=True)
    array = np.asarray(values)
    if keep or array.dtype.kind in "SU":
        return array if array.dtype.kind in "biuf" else array.astype(object)
    if array.dtype.kind == "O" and any(isinstance(value, str) for value in array):
        return array
    return as_floats(values, what)


def _present(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "O":
        return np.array([value is not None and bool(value == value) for value in values], dtype=bool)
    missing: NDArray[np.bool_] = np.isnan(values)
    return ~missing


def _as_list(features: Any) -> list[Any]:
    return [features] if isinstance(features, str) or not np.iterable(features) else list(features)


def _names(X: Any, feature_names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the given names, else the column names, else x0, x1 and so on."""
    n_features = X.shape[1]
    if feature_names is None:
        feature_names = getattr(X, "columns", [f"x{i}" for i in range(n_features)])
    names = tuple(map(str, feature_names))
    if len(names) != n_features:
        raise ValueError(f"feature_names has {len(names)} names, but X has {n_features} columns.")
    if len(set(names)) != len(names):
        raise ValueError("feature_names should not contain duplicates.")
    if set(names) == set(column_names(X) or ()):
        check_names(X, names, during="this call, as feature_names")
    return names


def _custom(values: Any, feature: Any) -> NDArray[Any]:
    array = as_numbers(values, f"custom_values of {feature!r}")
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"custom_values must be one-dimensional arrays that are not empty, got one of shape {array.shape}."
        )
    return array


def _categorical(features: Any, names: Sequence[str]) -> frozenset[int]:
    if features is None:
        return frozenset()
    flags = np.asarray(features)
    if flags.size == 0:
        raise ValueError(
            "Passing an empty list (`[]`) to `categorical_features` is not supported. Use `None` instead to indicate "
            "that there are no categorical features."
        )
    if flags.dtype.kind != "b":
        return frozenset(as_subspace(features, names, what="categorical_features"))
    if flags.shape != (len(names),):
        raise ValueError(
            "When `categorical_features` is a boolean array-like, the array should be of shape (n_features,). Got "
            f"{flags.size} elements while `X` contains {len(names)} features."
        )
    return frozenset(np.flatnonzero(flags).tolist())
