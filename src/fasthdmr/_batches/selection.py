"""The choice of columns of each batch, and the checks that batches fit together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from fasthdmr._batches.batch import Batch
from fasthdmr._batches.tables import as_column, as_table, kind_of, n_rows_of, some_columns
from fasthdmr._support.validation import column_names

Column = str | int
"""A column, by its name or its position."""

_SHOWN = 8  # names listed in an error


@dataclass(frozen=True)
class Selection:
    """The columns that are used. Positions count from 0, or from the last column if they are negative.

    Attributes
    ----------
    target : str, int, sequence of these, or None
    weight : str, int or None
    columns : tuple of str or int, or None
        None: all others.
    """

    target: Column | tuple[Column, ...] | None
    weight: Column | None
    columns: tuple[Column, ...] | None

    @classmethod
    def of(cls, target: Any, weight: Any, columns: Any) -> Selection:
        """Check what the user chose.

        Raises
        ------
        TypeError
            If it is neither names nor positions.
        ValueError
            If there are no columns.

        Examples
        --------
        >>> Selection.of("y", None, ["b", "a"]).needed
        ('b', 'a', 'y')
        """
        several = isinstance(target, list | tuple)
        checked = None if target is None else _checked(target if several else [target], "target")
        if weight is not None:
            weight = _checked([weight], "weight")[0]
        if columns is not None:
            if isinstance(columns, str) or not np.iterable(columns):
                raise TypeError(f"columns must be a list of names or indices of columns, or None, got {columns!r}.")
            columns = _checked(columns, "columns")
        return cls(checked if several or checked is None else checked[0], weight, columns)

    @property
    def needed(self) -> tuple[str, ...] | None:
        """The names of all columns that are read; None if they are not known before the first batch."""
        if self.columns is None:
            return None
        chosen = [*self.columns, *self.targets, *([] if self.weight is None else [self.weight])]
        names = tuple(column for column in chosen if isinstance(column, str))
        return names if len(names) == len(chosen) else None

    @property
    def targets(self) -> tuple[Column, ...]:
        """The columns of the target."""
        if self.target is None:
            return ()
        return self.target if isinstance(self.target, tuple) else (self.target,)


def _checked(columns: Any, what: str) -> tuple[Column, ...]:
    found = tuple(columns)
    for column in found:
        if isinstance(column, bool | np.bool_) or not isinstance(column, str | int | np.integer):
            raise TypeError(f"{what} must be given by names or indices of columns, got {column!r}.")
    if not found:
        raise ValueError(f"{what} must have at least one column, got {columns!r}.")
    return tuple(str(column) if isinstance(column, str) else int(column) for column in found)


@dataclass(frozen=True)
class _Layout:
    """What the first batch is like: its kind, and the columns of X, y and weights by position."""

    kind: str
    names: tuple[str, ...] | None
    n_columns: int
    parts: tuple[bool, bool]  # whether there are y and weights
    X: list[int]
    y: list[int] | int | None
    weight: int | None


class Selecting:
    """The selection of one pass over a source: the first batch fixes which columns later ones must have.

    Parameters
    ----------
    selection : Selection
    """

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._layout: _Layout | None = None
        self._next = 0  # enumerate would keep each piece until the next one has been read

    def batch(self, piece: Any) -> Batch | None:
        """Return the next piece of the source as a batch; None if it has no rows.

        Parameters
        ----------
        piece : array-like, data frame or Arrow table, or a tuple of X, y and optionally weights

        Raises
        ------
        ValueError, TypeError
            If it is no table, or has not the columns of the first batch.
        """
        number, self._next = self._next, self._next + 1
        try:
            return self._batch(number, piece)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"In batch {number} of the source: {error}") from error

    def _batch(self, number: int, piece: Any) -> Batch | None:
        X, y, weight = self._parts(piece)
        table = as_table(X, self._selection.needed)
        for name, part in (("y", y), ("weight", weight)):
            if part is not None and not part.shape:
                raise ValueError(f"{name} must be an array with a value for each row, got {part.item()!r}.")
            if part is not None and n_rows_of(part) != n_rows_of(table):
                raise ValueError(f"X has {n_rows_of(table)} rows, but {name} has {n_rows_of(part)}.")
        if n_rows_of(table) == 0:
            return None
        names, parts = column_names(table), (y is not None, weight is not None)
        if self._layout is None:
            self._layout = self._first(table, names, parts)
        layout = self._layout
        _check_same(layout, table, names, parts, all_columns=self._selection.columns is None)
        if isinstance(layout.y, list):
            y = some_columns(table, self._places(layout.y, names))
        elif layout.y is not None:
            y = _safe_indexing(table, self._places([layout.y], names)[0], axis=1)
        if layout.weight is not None:
            weight = _safe_indexing(table, self._places([layout.weight], names)[0], axis=1)
        X = some_columns(table, self._places(layout.X, names))
        return Batch(number, X, y, None if weight is None else np.asarray(weight))

    def _parts(self, piece: Any) -> tuple[Any, Any, Any]:
        """Return X, y and weights; the last two are None unless the piece is a tuple."""
        if not isinstance(piece, tuple):
            return piece, None, None
        if len(piece) not in (2, 3):
            raise ValueError(
                f"a batch must be a table or a tuple (X, y) or (X, y, weight), got a tuple of {len(piece)}."
            )
        if self._selection.target is not None or self._selection.weight is not None:
            raise ValueError("a tuple (X, y) or (X, y, weight) has its own y. So target and weight must be None.")
        X, y, weight = (*piece, None)[:3]
        return X, None if y is None else as_column(y), None if weight is None else as_column(weight)

    def _first(self, table: Any, names: tuple[str, ...] | None, parts: tuple[bool, bool]) -> _Layout:
        """Return the layout of the first batch, which all others must have."""
        chosen, n = self._selection, int(table.shape[1])
        targets = [_position(column, names, n, "target") for column in chosen.targets]
        weight = None if chosen.weight is None else _position(chosen.weight, names, n, "weight")
        apart = [*targets, *([] if weight is None else [weight])]
        if chosen.columns is None:
            columns = [j for j in range(n) if j not in apart]
        else:
            columns = [_position(column, names, n, "columns") for column in chosen.columns]
        used = [*columns, *apart]
        if repeated := [j for j in used if used.count(j) > 1]:
            raise ValueError(
                f"{_shown(repeated[0], names)} is twice in columns, target and weight. Use each column only once."
            )
        if not columns:
            raise ValueError("there are no columns besides target and weight.")
        y = targets if isinstance(chosen.target, tuple) else targets[0] if targets else None
        return _Layout(kind_of(table), names, n, parts, columns, y, weight)

    def _places(self, columns: Sequence[int], names: tuple[str, ...] | None) -> list[int]:
        """Return where columns of the first batch are in another."""
        layout = self._layout
        if layout is None or layout.names is None or names is None or names == layout.names:
            return list(columns)
        wanted = [layout.names[j] for j in columns]
        if missing := [name for name in wanted if name not in names]:
            raise ValueError(f"column {missing[0]!r} is missing. Its columns are {_listed(names)}.")
        return [names.index(name) for name in wanted]


def _check_same(
    layout: _Layout, table: Any, names: tuple[str, ...] | None, parts: tuple[bool, bool], *, all_columns: bool
) -> None:
    """Raise an error unless a table is like the first."""
    if kind_of(table) != layout.kind:
        raise ValueError(f"X is {kind_of(table)}, but {layout.kind} in batches before.")
    has_names = (names is not None, layout.names is not None)
    named = zip(("y", "weight", "column names"), (*parts, has_names[0]), (*layout.parts, has_names[1]), strict=True)
    for what, is_there, was_there in named:
        if is_there != was_there:
            raise ValueError(f"{what} must be in all batches or in none: {'new' if is_there else 'missing'} here.")
    if names is None or layout.names is None:
        if table.shape[1] != layout.n_columns:
            raise ValueError(f"X has {table.shape[1]} columns, but {layout.n_columns} in batches before.")
        return
    if all_columns and (new := [name for name in names if name not in layout.names]):
        raise ValueError(f"column {new[0]!r} is not in batches before. Choose with `columns` which are used.")
    used = [*layout.X, *(layout.y if isinstance(layout.y, list) else [layout.y]), layout.weight]
    for name in [layout.names[j] for j in used if j is not None]:
        if names.count(name) > 1:
            raise ValueError(f"{names.count(name)} columns are named {name!r}. Names must be distinct.")


def _position(column: Column, names: tuple[str, ...] | None, n: int, what: str) -> int:
    if isinstance(column, int):
        if not -n <= column < n:
            raise ValueError(f"{what} has the index {column}, but there are {n} columns.")
        return column % n
    if names is None:
        raise ValueError(f"{what} has the name {column!r}, but X has no column names. Pass the index of the column.")
    if column not in names:
        raise ValueError(f"{what} has the name {column!r}, but the columns are {_listed(names)}.")
    return names.index(column)


def _shown(j: int, names: tuple[str, ...] | None) -> str:
    return f"column {j}" if names is None else f"column {names[j]!r}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join([*map(repr, names[:_SHOWN]), *(["..."] if len(names) > _SHOWN else [])])
