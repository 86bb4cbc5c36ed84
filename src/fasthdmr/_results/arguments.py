"""The arguments of a component: taken by position or name from points, rows of them, or rows of all variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from fasthdmr._data.encoding import Encoding
from fasthdmr._support.numbers import as_array_of, check_rows_are_there
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import column_names, goes_by_position, take_columns


@dataclass(frozen=True)
class Arguments:
    """The arguments of a component.

    Attributes
    ----------
    names : tuple of str, length m
        In the order of the component.
    columns : tuple of int, length m
        Their positions among all columns.
    column_names : tuple of str, length n
        The names of all columns.
    levels : dict of int to tuple
        The levels of categorical arguments, by position in `names`.

    Examples
    --------
    >>> arguments = Arguments(("c", "a"), (2, 0), ("a", "b", "c"), {})
    >>> arguments.take([[1.0, 2.0, 3.0]], "f")
    (array([[3., 1.]]), False)
    >>> arguments.take([3.0, 1.0], "f")
    (array([[3., 1.]]), True)
    """

    names: tuple[str, ...]
    columns: tuple[int, ...]
    column_names: tuple[str, ...]
    levels: Mapping[int, tuple[Any, ...]]

    def take(self, values: Any, owner: str) -> tuple[Floats, bool]:
        """Return the arguments as numbers, and whether they are those of a single point.

        Parameters
        ----------
        values : scalar, array-like, Series or data frame
            A number or level for one argument; values of one argument, (N,); a point, (m,), or a row, (n,), if there
            are several arguments; points, (N, m), or rows of all variables, (N, n). Frames with all arguments among
            their columns are matched by name.
        owner : str
            The function, as it is called in errors.

        Returns
        -------
        values : ndarray of float64, shape (N, m)
            Levels as codes.
        is_one : bool

        Raises
        ------
        ValueError, TypeError
            If `values` has another number of columns or other names, or its entries are not numbers.
        """
        check_rows_are_there(values, "values")
        values, is_one = self._as_points(as_array_of(values), owner)
        if self.levels:
            values = Encoding(self.levels).encode_arguments(values, self.names)
        points = take_columns(values, self.names, owner)
        if points.ndim == 1 and len(self.names) == 1:
            points = points[:, None]
        if points.ndim != 2 or points.shape[1] != len(self.names):
            raise self._wrong_shape(points.shape, owner)
        return points, is_one

    def _as_points(self, values: Any, owner: str) -> tuple[Any, bool]:
        """Return points of the arguments, and whether a single one was given without an axis of points."""
        count = len(self.names)
        if hasattr(values, "iloc") and len(values.shape) == 1 and self._is_row(values):
            return values.to_frame().T, True
        if len(values.shape) == 0 and count == 1:
            return values.reshape(1, 1), True
        is_one = len(values.shape) == 1 and count > 1
        if is_one:
            values = np.asarray(values)[None, :]
        if len(values.shape) != 2 or values.shape[1] == count or values.shape[1] != len(self.column_names):
            return values, is_one
        given = column_names(values)
        if given is None or goes_by_position(given, self.column_names):
            values = _safe_indexing(values, list(self.columns), axis=1)
        return values, is_one

    def _is_row(self, series: Any) -> bool:
        """Return whether a Series is a row of a frame, whose index holds the names of variables."""
        index = list(series.index)
        if len(self.names) > 1:
            return all(isinstance(name, str) for name in index)
        return self.names[0] in index and series.name != self.names[0]

    def _wrong_shape(self, shape: tuple[int, ...], owner: str) -> ValueError:
        m, n = len(self.names), len(self.column_names)
        rows = f", or rows of all variables, (N, {n})" if n > m else ""
        return ValueError(
            f"{owner[:1].upper()}{owner[1:]} takes an array of shape (N, {m}), got {shape}. "
            f"Pass values of {list(self.names)}{rows}."
        )
