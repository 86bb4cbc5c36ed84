"""One batch of rows, and batches cut and put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fasthdmr._batches.tables import concatenated, n_rows_of, some_rows


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Consecutive rows of a source of data.

    Attributes
    ----------
    number : int
        The number of the batch, from 0. Empty batches are left out, but counted.
    X : ndarray or data frame of shape (N, n)
        The rows.
    y : ndarray, Series or data frame of shape (N,) or (N, K), or None
        The target.
    sample_weight : ndarray of shape (N,), or None
        The weights of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> import fasthdmr
    >>> next(iter(fasthdmr.batches((np.zeros((5, 2)), np.ones(5)))))
    Batch(number=0, X of shape (5, 2), y of shape (5,))
    """

    number: int
    X: Any
    y: Any = None
    sample_weight: Any = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return n_rows_of(self.X)

    def __repr__(self) -> str:
        parts = {"X": self.X, "y": self.y, "sample_weight": self.sample_weight}
        shapes = [f"{name} of shape {tuple(part.shape)}" for name, part in parts.items() if part is not None]
        return f"Batch({', '.join([f'number={self.number}', *shapes])})"


def part_of(batch: Batch, rows: Any) -> Batch:
    """Return some rows of a batch: views for a slice, copies for an array of indices."""
    return _with_parts(batch, lambda part: some_rows(part(batch), rows))


def joined(batches: Sequence[Batch], number: int) -> Batch:
    """Return the rows of several batches as one.

    Raises
    ------
    ValueError
        If a column is of dtypes that have nothing in common.
    """
    if len(batches) == 1:
        return replace(batches[0], number=number)
    try:
        return replace(_with_parts(batches[0], lambda part: concatenated(list(map(part, batches)))), number=number)
    except (TypeError, ValueError) as error:
        numbers = f"{batches[0].number} to {batches[-1].number}"
        raise ValueError(f"Batches {numbers} of the source cannot be joined: {error}") from error


def _with_parts(like: Batch, make: Callable[[Callable[[Batch], Any]], Any]) -> Batch:
    """Return a batch of which each part that `like` has is made anew."""
    return Batch(
        like.number,
        make(lambda batch: batch.X),
        None if like.y is None else make(lambda batch: batch.y),
        None if like.sample_weight is None else make(lambda batch: np.asarray(batch.sample_weight)),
    )
