"""A progress bar for loops that turn out to be long."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, TypeVar

T = TypeVar("T")

DELAY = 2.0
"""Seconds that a loop may take without a bar."""


def progress(work: Iterable[T], description: str, *, total: int, verbose: int) -> Iterable[T]:
    """Return an iterable of the same things that shows on stderr how far the loop over it has come.

    There is a bar only when `verbose` is at least 1, the loop takes longer than `DELAY` and tqdm is installed.

    Parameters
    ----------
    work : iterable
    description : str
        What is done, in front of the bar.
    total : int
        How many things there are.
    verbose : int

    Returns
    -------
    iterable

    Examples
    --------
    >>> list(progress("abc", "letters", total=3, verbose=0))
    ['a', 'b', 'c']
    """
    if verbose < 1:
        return work
    try:
        from tqdm import tqdm
    except ImportError:
        return work
    bar: Any = tqdm(work, desc=description, total=total, delay=DELAY, file=sys.stderr)
    shown: Iterable[T] = bar
    return shown
