"""Fits on collections of dask: sums over blocks of rows on the workers, added by a tree reduction.

The extra ``dask`` installs what is needed. The work is done by dask's own scheduler: the one of the current
`distributed.Client`, or of this process if there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from functools import reduce
from typing import Any, TypeVar

from fasthdmr._batches.batch import Batch, joined
from fasthdmr._estimators.incremental import FIRST_ROWS, Incremental, named
from fasthdmr._estimators.row_state import RowState
from fasthdmr._support.optional import is_dask, require

__all__ = ["fit"]

_FAN = 8  # states that are added in one task

Estimator = TypeVar("Estimator", bound=Incremental)


def fit(hdmr: Estimator, X: Any, y: Any = None, sample_weight: Any = None) -> Estimator:
    """Fit an estimator on a collection of dask, whose rows stay where they are.

    Every block of rows gives sums of a few megabytes. They are added in a fixed order, so the result has the same bits
    for the same blocks, whichever workers there are. Blocks of a worker that is lost are computed again by dask.

    Parameters
    ----------
    hdmr : TreeHDMR, HDMR or KernelHDMR
        With fitted models. It is fitted in place. Without its parameter `knots`, the first blocks are computed here,
        up to 50,000 rows, and the knots are chosen from them.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (N, n)
        Divided by rows only.
    y : dask.array.Array, dask.dataframe.Series or DataFrame of shape (N,) or (N, K), optional
        As for the `fit` of the estimator, in as many blocks of as many rows as X.
    sample_weight : dask.array.Array or dask.dataframe.Series of shape (N,), optional
        Non-negative weights of the rows.

    Returns
    -------
    TreeHDMR, HDMR or KernelHDMR
        The estimator itself, fitted.

    Raises
    ------
    TypeError
        If X is not a collection of dask.
    ValueError
        If columns of X are divided, the blocks do not correspond, a block does not belong to the others (see
        `TreeHDMR.partial_fit`), or models are not fitted.
    ImportError
        If dask is not installed.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> import fasthdmr
    >>> X, y = fasthdmr.datasets.make_ishigami(4000, random_state=0)
    >>> hdmr = fasthdmr.dask.fit(fasthdmr.HDMR(), da.from_array(X, (1000, 3)), da.from_array(y, 1000))
    >>> bool(np.corrcoef(hdmr.predict(X), y)[0, 1] > 0.99)
    True
    """
    dask = require("dask", extra="dask")
    if not is_dask(X):
        raise TypeError(f"X must be an array or data frame of dask, got {type(X).__name__}. Use the method fit.")
    blocks = [_blocks(each, what) for each, what in ((X, "X"), (y, "y"), (sample_weight, "sample_weight"))]
    for found, what in zip(blocks[1:], ("y", "sample_weight"), strict=True):
        if found is not None and len(found) != len(blocks[0] or []):
            raise ValueError(f"X has {len(blocks[0] or [])} blocks, but {what} has {len(found)}. Divide both alike.")
    with hdmr._restored_on_error():
        hdmr._begin_parts([_first_rows(dask, blocks)] if hdmr.knots is None else None)
        start = dask.delayed(_without_state(hdmr))
        states = [dask.delayed(_sums)(start, number, *block) for number, block in enumerate(_rows_of(blocks))]
        while len(states) > 1:
            states = [dask.delayed(_added)(states[k : k + _FAN]) for k in range(0, len(states), _FAN)]
        hdmr._finish_with(states[0].compute())
    return hdmr


def _blocks(collection: Any, what: str) -> list[Any] | None:
    """Return the blocks of rows of a collection, as delayed objects."""
    if collection is None:
        return None
    if not hasattr(collection, "to_delayed"):
        raise TypeError(f"{what} must be a collection of dask, as X is, got {type(collection).__name__}.")
    blocks = collection.to_delayed()
    if getattr(collection, "ndim", 1) == 2 and hasattr(blocks, "ndim") and blocks.ndim == 2:
        if blocks.shape[1] != 1:
            raise ValueError(
                f"The columns of {what} are divided into {blocks.shape[1]} blocks. Use {what}.rechunk({{1: -1}})."
            )
        blocks = blocks[:, 0]
    return list(blocks)


def _rows_of(blocks: Sequence[list[Any] | None]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the delayed X, y and weights of each block; None where there are none."""
    X, y, weights = blocks
    for k, rows in enumerate(X or []):
        yield rows, None if y is None else y[k], None if weights is None else weights[k]


def _first_rows(dask: Any, blocks: Sequence[list[Any] | None]) -> Batch:
    """Compute the first blocks, up to FIRST_ROWS rows."""
    first, n_rows = list[Batch](), 0
    for number, block in enumerate(_rows_of(blocks)):
        first.append(Batch(number, *dask.compute(*block)))
        n_rows += len(first[-1])
        if n_rows >= FIRST_ROWS:
            break
    there = [batch for batch in first if len(batch)]
    if not there:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required: no block has rows.")
    return joined(there, 0)


def _without_state(hdmr: Estimator) -> Estimator:
    one = copy(hdmr)
    one._state = None
    return one


def _sums(hdmr: Incremental, number: int, X: Any, y: Any, sample_weight: Any) -> RowState | None:
    """Return the sums over a block of rows; None if it has no rows, or none with weight."""
    with named(f"Block {number}: "):
        return hdmr._state_of(X, y, sample_weight) if len(X) else None


def _added(states: Sequence[RowState | None]) -> RowState | None:
    """Return the sums over the rows of several blocks, added in their order."""
    there = [state for state in states if state is not None]
    return reduce(RowState.merged, there) if there else None
