"""Progress bars for what turns out to take long."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, TypeVar

from fasthdmr import _core

T = TypeVar("T")

DELAY = 2.0
"""Seconds that work may take without a bar."""

_INTERVAL = 0.2  # seconds between looks at how far C++ has come


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
    bar = _bar(verbose, iterable=work, desc=description, total=total)
    shown: Iterable[T] = work if bar is None else bar
    return shown


@contextmanager
def rows_progress(n_rows: int, description: str, *, verbose: int) -> Iterator[None]:
    """Show on stderr how far one call into C++ has come with its pass over the rows, as `progress` does for loops.

    Passes that other threads make at the same time are counted too.

    Parameters
    ----------
    n_rows : int
    description : str
        What is done, in front of the bar.
    verbose : int
    """
    bar = _bar(verbose, desc=description, total=n_rows, unit=" rows", unit_scale=True)
    if bar is None:
        yield
        return
    before, over = _core.rows_done(), Event()

    def look() -> None:
        bar.update(min(_core.rows_done() - before, n_rows) - bar.n)

    def watch() -> None:
        while not over.wait(_INTERVAL):
            look()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        look()
        bar.close()


def _bar(verbose: int, **options: Any) -> Any:
    """Return a bar that appears after `DELAY`, or None where there is to be none."""
    if verbose < 1:
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(delay=DELAY, file=sys.stderr, **options)
