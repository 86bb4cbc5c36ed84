"""The public way to hand over data in batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fasthdmr._batches.batch import Batch, joined, part_of
from fasthdmr._batches.cutting import recut
from fasthdmr._batches.selection import Column, Selecting, Selection
from fasthdmr._batches.source import Source, Wanted
from fasthdmr._batches.sources import open_source
from fasthdmr._batches.tables import ROWS


@dataclass(eq=False, repr=False)
class Batches:
    """Rows that are read in batches, never more than one at a time. Made by `batches`.

    To iterate over it is one pass over the source, which yields objects of class `Batch`.

    Attributes
    ----------
    source : object
        What is read.
    target, weight : str, int or None
        The columns of y and of the weights. For several outputs, `target` is a list.
    columns : sequence of str or int, or None
        The columns of X.
    batch_rows : int or None
        The number of rows of each batch.

    Examples
    --------
    >>> import numpy as np
    >>> import fasthdmr
    >>> data = fasthdmr.batches([np.zeros((2, 3)), np.ones((4, 3))], target=2)
    >>> data
    Batches(a list, target=2; can be read twice)
    >>> for batch in data:
    ...     print(batch)
    Batch(number=0, X of shape (2, 2), y of shape (2,))
    Batch(number=1, X of shape (4, 2), y of shape (4,))
    """

    source: Any
    target: Column | Sequence[Column] | None = None
    weight: Column | None = None
    columns: Sequence[Column] | None = None
    batch_rows: int | None = None
    _source: Source = field(init=False)
    _selection: Selection = field(init=False)
    _n_rows: int | None = field(init=False, default=None)  # of the first complete pass
    _is_read: bool = field(init=False, default=False)  # whether the pass over a source that is read once has begun
    _first: deque[Batch] = field(init=False, default_factory=deque)  # its batches that were only looked at
    _rest: Iterator[Batch] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.batch_rows is not None:
            _check_positive(self.batch_rows, "batch_rows")
        self._selection = Selection.of(self.target, self.weight, self.columns)
        self._source = open_source(self.source, Wanted(int(self.batch_rows or ROWS), self._selection.needed))

    @property
    def can_be_read_twice(self) -> bool:
        """Whether a second pass over the source is possible: not for iterators and generators."""
        return self._source.can_be_read_twice

    def __iter__(self) -> Iterator[Batch]:
        """Begin a pass over the source.

        Raises
        ------
        ValueError
            If the source can be read only once and has been read. While it is read: if batches do not fit together.
        """
        if self.can_be_read_twice:
            return self._read()
        self._check_unread()
        self._is_read = True
        return self._read_once()

    def first(self, n_rows: int) -> Batch:
        """Return the first rows as one batch. A later pass begins with them all the same.

        If the source can be read only once, the batches that were read for it are kept until then.

        Parameters
        ----------
        n_rows : int
            How many rows; all, if there are fewer.

        Returns
        -------
        Batch

        Raises
        ------
        ValueError
            If there are no rows, or the source can be read only once and has been read.

        Examples
        --------
        >>> import numpy as np
        >>> import fasthdmr
        >>> data = fasthdmr.batches(iter([np.zeros((2, 3)), np.ones((4, 3))]))
        >>> data.first(3)
        Batch(number=0, X of shape (3, 3))
        >>> sum(len(batch) for batch in data)
        6
        """
        _check_positive(n_rows, "n_rows")
        if self.can_be_read_twice:
            found = list[Batch]()
            with closing(self._read()) as batches:
                _extend(found, batches, n_rows)
        else:
            self._check_unread()
            if self._rest is None:
                self._rest = self._read()
            _extend(self._first, self._rest, n_rows)
            found = list(self._first)
        whole = joined(found, 0)
        return part_of(whole, slice(0, n_rows)) if len(whole) > n_rows else whole

    def __repr__(self) -> str:
        names = ("target", "weight", "columns", "batch_rows")
        chosen = [f"{name}={value!r}" for name in names if (value := getattr(self, name)) is not None]
        times = "can be read twice" if self.can_be_read_twice else "can be read once"
        return f"Batches({', '.join([self._source.description, *chosen])}; {times})"

    def _read(self) -> Generator[Batch]:
        """Yield the batches of one pass."""
        batches = self._selected()
        n_rows = 0
        for batch in recut(batches, int(self.batch_rows)) if self.batch_rows else batches:
            n_rows += len(batch)
            yield batch
            del batch  # before the next one is read
        if not n_rows:
            raise ValueError(f"The source has no rows: {self._source.description}.")
        if n_rows != (self._n_rows or n_rows):
            raise ValueError(
                f"The source had {self._n_rows} rows when it was first read, and has {n_rows} now. If it is a "
                "function, it must return a new iterator at each call."
            )
        self._n_rows = n_rows

    def _selected(self) -> Iterator[Batch]:
        """Yield the pieces of the source as batches."""
        selecting = Selecting(self._selection)
        for piece in self._source.read():
            batch = selecting.batch(piece)
            del piece
            if batch is not None:
                yield batch
            del batch

    def _read_once(self) -> Iterator[Batch]:
        rest = self._rest or self._read()
        while self._first:
            yield self._first.popleft()
        yield from rest

    def _check_unread(self) -> None:
        if self._is_read:
            raise ValueError(
                f"The source, {self._source.description}, can be read only once, and has been read. Pass what can be "
                "read again: a list, a path, a dataset, or a function that returns a new iterator."
            )


def _extend(found: list[Batch] | deque[Batch], batches: Iterator[Batch], n_rows: int) -> None:
    """Append further batches until there are some rows."""
    missing = n_rows - sum(map(len, found))
    while missing > 0 and (batch := next(batches, None)) is not None:
        found.append(batch)
        missing -= len(batch)


def _check_positive(value: Any, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} must be a positive integer, got {value!r}.")


def batches(
    source: Any,
    target: Column | Sequence[Column] | None = None,
    weight: Column | None = None,
    columns: Sequence[Column] | None = None,
    batch_rows: int | None = None,
) -> Batches:
    """Return data that are read in batches, because they do not fit into memory.

    Nothing is read before it is needed, except for the names of files.

    Parameters
    ----------
    source : iterable, table, path, dataset, query or callable
        What is read:

        - an iterable of arrays, data frames of pandas or polars, Arrow tables or record batches, paths of files, or
          tuples (X, y) or (X, y, weight) of arrays. A list can be read twice, an iterator or a generator once
        - a function without arguments that returns such an iterable, or anything else from this list. It is called
          for each pass
        - one array (also a `numpy.memmap`), data frame or Arrow table, or a tuple (X, y) or (X, y, weight): cut in
          views
        - the path of a file (.parquet, .pq, .arrow, .feather, .ipc, .csv) or of a directory of such files, which are
          read in the order of their names. Directories such as year=2024 give the values of a column. A CSV file has
          commas and a header; the first 4 MiB decide which columns are numbers
        - a RecordBatchReader of pyarrow, which can be read once, or a Dataset
        - a LazyFrame of polars. The query is run for each pass, by the streaming engine
        - an array or a data frame of dask, or a tuple (X, y) or (X, y, weight) of these, divided alike. Partitions are
          computed one after the other
    target : str, int, or list of these, optional
        The column of y, or the columns if there are several outputs: names, or indices, which are required for arrays.
    weight : str or int, optional
        The column of the weights of rows.
    columns : list of str or int, optional
        The columns of X, in this order. Other columns are not read where the format allows it. By default, all columns
        besides `target` and `weight`.
    batch_rows : int, optional
        Batches are cut anew to this number of rows; the last one may be smaller. By default, pieces of the source are
        taken as they come, and tables and files are cut to 100,000 rows.

    Returns
    -------
    Batches
        An iterable of `Batch`.

    Raises
    ------
    TypeError
        If the source is nothing of these kinds, or a column is given by something else than name or index.
    ValueError
        If a file is of an unknown format, or there are no columns. When batches are read: if a batch has other columns
        than the first. The message names the number of the batch, counted from 0, and the column. Columns of data
        frames in another order are put in that of the first batch.
    FileNotFoundError
        If a file does not exist.
    ImportError
        If a package that is needed to read the source is not installed: pandas and pyarrow for Arrow's formats, or
        polars 1.34 for its LazyFrame.

    Notes
    -----
    Arrow data become data frames of pandas.

    Examples
    --------
    >>> import numpy as np
    >>> import fasthdmr
    >>> data = fasthdmr.batches(np.zeros((250_000, 4)), target=3)
    >>> [len(batch) for batch in data]
    [100000, 100000, 50000]
    >>> def simulate():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(3):
    ...         X = rng.normal(size=(10, 2))
    ...         yield X, X.sum(axis=1)
    >>> fasthdmr.batches(simulate, batch_rows=15).can_be_read_twice
    True
    """
    return Batches(source, target, weight, columns, batch_rows)
