"""Progress bars for long computations."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from threading import Event
from typing import Any, TypeVar

from fasthdmr import _core
from fasthdmr._support.threads import start_thread

T = TypeVar("T")
Rows = TypeVar("Rows", bound=Sized)

DELAY = 2.0
"""Seconds before a bar appears."""

_INTERVAL = 0.2  # seconds between two queries of the progress of C++


def progress(work: Iterable[T], description: str, *, total: int, verbose: int) -> Iterable[T]:
    """Return an iterable over the same elements that shows the progress of the loop on stderr.

    There is a bar only when `verbose` is at least 1, the loop takes longer than `DELAY` and tqdm is installed.

    Parameters
    ----------
    work : iterable
    description : str
        Text in front of the bar.
    total : int
        Number of elements.
    verbose : int

    Returns
    -------
    iterable

    Examples
    --------
    >>> list(progress("abc", "letters", total=3, verbose=0))
    ['a', 'b', 'c']
    """
    bar = _bar(verbose, iterable=work, desc=description, total=total)
    shown: Iterable[T] = work if bar is None else bar
    return shown


@contextmanager
def rows_progress(n_rows: int, description: str, *, verbose: int) -> Iterator[None]:
    """Show the progress of a call into C++ over the rows on stderr, as `progress` does for loops.

    Rows that other threads pass over at the same time are counted too.

    Parameters
    ----------
    n_rows : int
    description : str
        Text in front of the bar.
    verbose : int
    """
    bar = _bar(verbose, desc=description, total=n_rows, unit=" rows", unit_scale=True)
    if bar is None:
        yield
        return
    before, over, ended = _core.rows_done(), Event(), Event()

    def look() -> None:
        bar.update(min(_core.rows_done() - before, n_rows) - bar.n)

    def watch() -> None:
        try:
            while not over.wait(_INTERVAL):
                look()
        finally:
            ended.set()

    watched = start_thread(watch)
    try:
        yield
    finally:
        over.set()
        if watched:
            ended.wait(1)  # it ends at once
        look()
        bar.close()


def batches_progress(batches: Iterable[Rows], *, total: int | None, verbose: int) -> Iterator[Rows]:
    """Yield batches of rows, and show on stderr how many rows are done, and how many in a second.

    Parameters
    ----------
    batches : iterable of sized objects
    total : int or None
        The number of all rows, if it is known.
    verbose : int

    Examples
    --------
    >>> list(batches_progress(["ab", "c"], total=3, verbose=0))
    ['ab', 'c']
    """
    bar = _bar(verbose, desc="rows of batches", total=total, unit=" rows", unit_scale=True)
    try:
        for batch in batches:
            n_rows = len(batch)
            yield batch
            del batch  # before the next one is read
            if bar is not None:
                bar.update(n_rows)
    finally:
        if bar is not None:
            bar.close()


def _bar(verbose: int, **options: Any) -> Any:
    """Return a bar that appears after `DELAY`, None if no bar is wanted."""
    if verbose < 1:
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(delay=DELAY, file=sys.stderr, **options)
