"""Results at many rows, written block by block into an array of the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from fasthdmr._forest.sparse import BLOCK_BYTES, is_sparse
from fasthdmr._support.typing import Floats

_LEAST = 1024  # rows of the first block, which shows how many numbers belong to a row


def in_blocks(X: Any, out: Floats | None, evaluate: Callable[[Any], Floats]) -> Floats:
    """Return the results at the rows of X: those of `evaluate`, or `out`, into which they are written block by block.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (N, n)
        Blocks of arrays, frames and sparse matrices are converted one at a time. Anything else is one block.
    out : ndarray of shape (N, ...), float64, or None
        None: one call of `evaluate` gives the result.
    evaluate : callable
        Takes rows of X; returns an array of shape (rows, ...). The result of a row must not depend on other rows.

    Raises
    ------
    TypeError
        If `out` is not an array of float64.
    ValueError
        If `out` has another shape, cannot be written, or may share memory with X.
    """
    if out is None:
        return evaluate(X)
    _check(out, X)
    done = 0
    for rows in _blocks(X, int(np.prod(out.shape[1:], dtype=np.int64))):
        values = evaluate(rows)
        n_rows = X.shape[0] if _is_divisible(X) else len(values)
        if out.shape != (n_rows, *values.shape[1:]):
            raise ValueError(f"out must have shape {(n_rows, *values.shape[1:])}, got {out.shape}.")
        out[done : done + len(values)] = values
        done += len(values)
    return out


def _check(out: Any, X: Any) -> None:
    if not isinstance(out, np.ndarray) or out.dtype != np.float64:
        given = f"one of {out.dtype}" if isinstance(out, np.ndarray) else type(out).__name__
        raise TypeError(f"out must be an array of float64, such as numpy.empty(shape) or a numpy.memmap, got {given}.")
    if not out.flags.writeable:
        raise ValueError("out must be writeable, but it is read-only. Open a memory map with mode 'r+' or 'w+'.")
    if isinstance(X, np.ndarray) and np.may_share_memory(out, X):
        raise ValueError("out must not share memory with X, whose rows are read after others are written.")


def _is_divisible(X: Any) -> bool:
    shape: Any = getattr(X, "shape", ())
    is_known = isinstance(X, np.ndarray) or is_sparse(X) or hasattr(X, "columns")
    return is_known and len(shape) == 2 and isinstance(shape[0], int)


def _blocks(X: Any, width: int) -> Iterator[Any]:
    """Yield blocks of rows, of at most 64 MB together with their results, or of `_LEAST` rows."""
    if not _is_divisible(X) or X.shape[0] <= _LEAST:
        yield X
        return
    rows = X.tocsr() if is_sparse(X) else X
    start, stop = 0, _LEAST
    step = max(_LEAST, BLOCK_BYTES // (8 * (X.shape[1] + width)))
    while start < X.shape[0]:
        is_frame = hasattr(rows, "columns")
        yield _safe_indexing(rows, np.arange(start, min(stop, X.shape[0]))) if is_frame else rows[start:stop]
        start, stop = stop, stop + step
