"""Batches cut anew: large ones divided, small ones joined."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fasthdmr._batches.batch import Batch, joined, part_of


def recut(batches: Iterator[Batch], rows: int) -> Iterator[Batch]:
    """Yield the same rows in batches of equal size; the last one may be smaller.

    Not more than one of the given batches and one of the new are held at a time.

    Parameters
    ----------
    batches : iterator of Batch
    rows : int
        The number of rows of the new batches.

    Examples
    --------
    >>> two = [Batch(0, np.zeros((4, 1))), Batch(1, np.ones((3, 1)))]
    >>> [len(batch) for batch in recut(iter(two), 3)]
    [3, 3, 1]
    """
    number, waiting, missing = 0, list[Batch](), rows
    for batch in batches:
        n, start = len(batch), 0
        while n - start >= missing:
            waiting.append(part_of(batch, slice(start, start + missing)) if missing < n else batch)
            start += missing
            whole = joined(waiting, number)
            number, waiting, missing = number + 1, [], rows
            if start == n:
                del batch  # before the next one is read
            yield whole
            del whole
        if start < n:
            # A copy of some rows, because a view would keep all of them in memory.
            waiting.append(part_of(batch, np.arange(start, n)) if start else batch)
            missing -= n - start
            del batch
    if waiting:
        yield joined(waiting, number)
