"""Transformers in front of trees, each of whose outputs is a function of one column of X."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from fasthdmr._forest.levels import recoded
from fasthdmr._forest.sparse import BLOCK_BYTES, as_dense, is_sparse
from fasthdmr._forest.text_levels import Levels, text_as_codes
from fasthdmr._support.numbers import check_rows_are_there
from fasthdmr._support.optional import find
from fasthdmr._support.validation import check_rows, column_names


@dataclass(frozen=True)
class Reading:
    """How a model reads its rows: the attributes of `Forest` of the same names."""

    allow_nan: bool = False
    takes_codes: bool = False
    levels: tuple[tuple[Any, ...], ...] | None = None
    refuses_unseen: bool = False
    absent: float | None = None
    text_levels: Levels = ()
    hashes_text: bool = False
    least_zeros: ClassVar[None] = None


@dataclass(frozen=True)
class TakenColumns:
    """A transformer that selects columns, and returns them as an array."""

    columns: tuple[int, ...]

    def transform(self, X: Any) -> Any:
        """Return the columns of X."""
        return _as_array(X)[:, list(self.columns)]


@dataclass(frozen=True, eq=False)
class Steps:
    """Fitted transformers, applied one after the other, and the reading of the trees behind them.

    Attributes
    ----------
    transformers : tuple of fitted transformers
        They may be none: then the trees read the rows themselves.
    n_outputs : int
        Number of columns that the last one returns.
    reading : Reading
    used : tuple of int
        The columns on which the trees split. Others of sparse rows are not made dense.
    """

    transformers: tuple[Any, ...]
    n_outputs: int
    reading: Reading
    used: tuple[int, ...]

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the columns that the trees use, (N, len(used)). X may be overwritten."""
        rows = _as_fitted(X, next(iter(self.transformers), None))
        for transformer in self.transformers:
            rows = transformer.transform(rows)
        used, n_outputs = list(self.used), self.n_outputs
        if is_sparse(rows) and rows.shape[1] == n_outputs:
            rows, used, n_outputs = rows.tocsc()[:, used], list(range(len(used))), len(used)
        numbers = text_as_codes(recoded(as_dense(rows, [self.reading]), [self.reading]), [self.reading])
        checked = check_rows(numbers, n_outputs, allow_nan=self.reading.allow_nan, allow_inf=True)
        return checked if len(used) == n_outputs else checked[:, used]


@dataclass(frozen=True, eq=False)
class Front:
    """The rows that trees read, as functions of single columns of X: one or several `Steps` side by side.

    Attributes
    ----------
    steps : tuple of Steps
    sources : tuple of int
        For each column that the trees read, the column of X that it is a function of.
    n_features : int
        Number of columns of X.
    """

    steps: tuple[Steps, ...]
    sources: tuple[int, ...]
    n_features: int

    def columns_of(self, variable: int) -> NDArray[np.int64]:
        """Return which of the columns that the trees read are functions of a column of X."""
        return np.flatnonzero(np.array(self.sources) == variable)

    @classmethod
    def of_rows(cls, n_features: int, reading: Reading, used: Iterable[int] | None = None) -> Front:
        """Return the front of trees that read X itself, or only some of its columns."""
        columns = tuple(range(n_features) if used is None else map(int, used))
        return cls((Steps((), n_features, reading, columns),), columns, n_features)

    def transform(self, X: Any) -> NDArray[Any]:
        """Return what the trees read at the rows of X, (N, len(sources)). X is not changed.

        Raises
        ------
        ValueError, TypeError
            If X has other columns, or a transformer refuses it.
        """
        blocks = list(self.blocks(X))
        return blocks[0][1] if len(blocks) == 1 else np.concatenate([rows for _, rows in blocks])

    def blocks(self, X: Any) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield what the trees read, as blocks of at most 64 MB or of one row, each with its slice of row indices.

        Encoders may return sparse rows of many columns, so a large X is transformed block by block.
        """
        X = self._checked(X)
        step = max(1, BLOCK_BYTES // (8 * len(self.sources)))
        for start in range(0, X.shape[0], step):
            place = slice(start, min(start + step, X.shape[0]))
            yield place, self._transformed(X, place)

    def of_columns(self, columns: Iterable[int], n_features: int) -> Front:
        """Return this front as a function of an X with more columns, which it gets as an array.

        Parameters
        ----------
        columns : iterable of int
            Positions of the present columns in the larger X.
        n_features : int
            Number of columns of the larger X.
        """
        places = tuple(int(j) for j in columns)
        return self.after((TakenColumns(places),), places, n_features)

    def after(self, transformers: Sequence[Any], sources: Sequence[int], n_features: int) -> Front:
        """Return this front as a function of the X that other transformers get.

        Parameters
        ----------
        transformers : sequence of fitted transformers
            The last one returns the X of this front.
        sources : sequence of int
            The column that each column of that X is a function of.
        n_features : int
            Number of columns that the first transformer gets.
        """
        steps = tuple(replace(of, transformers=(*transformers, *of.transformers)) for of in self.steps)
        return Front(steps, tuple(sources[j] for j in self.sources), n_features)

    def _checked(self, X: Any) -> Any:
        check_rows_are_there(X, "X")
        if not hasattr(X, "shape"):
            X = np.array(X, dtype=object)
        if len(X.shape) != 2:
            raise ValueError(f"Expected 2D array, got {len(X.shape)}D array instead: X must be two-dimensional.")
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} features, but Forest is expecting {self.n_features} features as input."
            )
        if X.shape[0] == 0:
            raise ValueError(
                f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required by Forest."
            )
        return X.tocsr() if hasattr(X, "tocsr") else X

    def _transformed(self, X: Any, place: slice) -> NDArray[Any]:
        # Every transformer gets its own copy of the rows, because some overwrite them (copy=False).
        at = np.arange(place.start, place.stop)
        parts = [of.transform(_safe_indexing(X, at, axis=0)) for of in self.steps]
        return parts[0] if len(parts) == 1 else np.hstack(parts)


def _as_array(X: Any) -> Any:
    return X if isinstance(X, np.ndarray) or is_sparse(X) else np.asarray(X)


def _as_fitted(X: Any, transformer: Any) -> Any:
    """Return rows with column names if the transformer was fitted with names, and without if not; else it warns."""
    names = getattr(transformer, "feature_names_in_", None)
    if names is None:
        return _as_array(X) if hasattr(transformer, "n_features_in_") and column_names(X) is not None else X
    if hasattr(X, "columns") or is_sparse(X) or (pandas := find("pandas")) is None:
        return X
    frame = pandas.DataFrame(X, columns=names)
    inferred = frame.infer_objects()
    for j in np.flatnonzero(frame.isna().all()):  # a column of text may have missing values only in these rows
        inferred.isetitem(j, frame.iloc[:, j])
    return inferred
