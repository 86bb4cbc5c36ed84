"""Conversion of sparse rows to dense ones. The value of entries that are not stored depends on the model's library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, issparse

BLOCK_BYTES = 1 << 26


class TakesSparse(Protocol):
    """The attributes of `Forest` that this module uses."""

    @property
    def absent(self) -> float | None: ...
    @property
    def least_zeros(self) -> NDArray[np.float64] | None: ...


def is_sparse(X: Any) -> bool:
    """Return whether X is a sparse matrix or array of SciPy.

    Examples
    --------
    >>> is_sparse([[1.0]])
    False
    """
    return bool(issparse(X))


def as_dense(X: Any, forests: Sequence[TakesSparse]) -> Any:
    """Return sparse rows as an array, and all other X unchanged.

    Raises
    ------
    TypeError
        If a model does not take sparse rows, or if models read absent entries in different ways.
    ValueError
        If X has one dimension, or does not hold real numbers.
    """
    if not is_sparse(X):
        return X
    return _filled(_as_stored(X, forests), absent_in(X, forests))


def absent_in(X: Any, forests: Sequence[TakesSparse]) -> float:
    """Return the value of absent entries of sparse rows. Raises the errors of `as_dense`."""
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D sparse array instead: X must be two-dimensional.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must be numeric, but it is a sparse matrix of type {X.dtype}. Pass real numbers.")
    absent = {str(forest.absent): forest.absent for forest in forests}  # by text, because NaN != NaN
    if len(absent) == 1 and (value := next(iter(absent.values()))) is not None:
        return value
    reason = "models read absent entries in different ways" if len(absent) > 1 else "this model does not take it"
    if not absent:
        reason = "models that are not fitted get dense rows"
    raise TypeError(
        f"Sparse data was passed for X, but dense data is required: {reason}. Use '.toarray()' to convert to a dense "
        f"numpy array, of {8e-9 * X.shape[0] * X.shape[1]:.2g} GB, in which absent entries are 0."
    )


def dense_blocks(X: Any, forests: Sequence[TakesSparse]) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield blocks of sparse rows as arrays of at most 64 MB, or of one row, each with its slice of row indices.

    Raises the errors of `as_dense`.
    """
    absent, rows = absent_in(X, forests), _as_stored(X, forests)
    step = max(1, BLOCK_BYTES // (8 * max(1, rows.shape[1])))
    for start in range(0, rows.shape[0], step):
        place = slice(start, min(start + step, rows.shape[0]))
        yield place, _filled(rows[place], absent)


def in_place(n_rows: int, blocks: Iterable[tuple[slice, NDArray[np.float64]]]) -> NDArray[np.float64]:
    """Copy the rows of all blocks into one matrix in Fortran order."""
    whole = None
    for place, values in blocks:
        if whole is None:
            whole = np.empty((n_rows, values.shape[1]), order="F")
        whole[place] = values
    assert whole is not None
    return whole


def _as_stored(X: Any, forests: Sequence[TakesSparse]) -> Any:
    """Return X in CSR format, with the numbers that the model's library compares.

    LightGBM reads numbers of at most 1e-35 as 0, but not those in CSR matrices. Of these only -1e-35 matters, the
    largest number that goes left at a threshold of -1e-35. The number below it is not read as 0.
    """
    zeros, rows = forests[0].least_zeros if forests else None, X.tocsr()
    if zeros is None or len(zeros) != X.shape[1] or isinstance(X, csc_matrix):
        return rows
    is_least = rows.data == zeros[rows.indices]
    if is_least.any():
        rows = rows.astype(np.float64)  # a copy
        rows.data[is_least] = np.nextafter(rows.data[is_least], -np.inf)
    return rows


def _filled(rows: Any, absent: float) -> NDArray[Any]:
    """Return a CSR matrix as an array. Duplicate entries are summed."""
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    dtype = rows.dtype if rows.dtype in (np.float32, np.float64) else np.float64
    dense: NDArray[Any] = np.full(rows.shape, absent, dtype=dtype)
    dense[np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.indices] = rows.data
    return dense
