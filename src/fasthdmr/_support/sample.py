"""A subsample of the fitted rows that is kept with a decomposition: for plots, intervals and smoothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.cached import cached_property
from fasthdmr._support.typing import Floats
from fasthdmr._support.weights import RowCounts

_ROWS = 5_000

_MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # of splitmix64
_BLOCK = 1 << 14  # rows hashed at a time, so that they stay in the cache


@dataclass(frozen=True, eq=False)
class Sample:
    """Evenly spaced rows and their weights.

    Attributes
    ----------
    rows : ndarray of shape (S, n)
        At most about 5,000 to 10,000 rows.
    weights : ndarray of shape (S,)
    n_effective : float
        Effective number of rows, (sum of w)² / (sum of w²) over all fitted rows; infinite where the measure is known.
    values : ndarray of shape (S, K) or None
        The black box at the rows, if it may be slow to evaluate or is known by its values only.
    """

    rows: Floats
    weights: Floats
    n_effective: float = np.inf
    values: Floats | None = None

    @classmethod
    def of(cls, X: NDArray[Any], weights: Floats | None, values: Floats | None = None) -> Sample:
        """Take evenly spaced rows.

        Examples
        --------
        >>> sample = Sample.of(np.arange(20_000.0)[:, None], None)
        >>> sample.rows.shape, sample.n_effective
        ((5000, 1), 20000.0)
        """
        every = slice(None, None, max(1, len(X) // _ROWS))
        rows = np.array(X[every], dtype=np.float64)
        return cls(
            rows,
            np.ones(len(rows)) if weights is None else weights[every].copy(),
            RowCounts.of(len(X), weights).kish,
            None if values is None else values[every].copy(),
        )

    def bounds(self, variables: Sequence[int]) -> Floats:
        """Return the 1st and 99th percentile of some variables, (m, 2); 0 for variables without finite values."""
        for j in set(variables) - set(self._bounds):
            present = self.rows[np.isfinite(self.rows[:, j]), j]
            self._bounds[j] = np.percentile(present, [1, 99]) if len(present) else np.zeros(2)
        return np.array([self._bounds[j] for j in variables])

    @cached_property
    def _bounds(self) -> dict[int, Floats]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_bounds"}


@dataclass(frozen=True, eq=False)
class DistinctSample:
    """A random sample of the distinct rows of several data sets, with the total weight of each row.

    Rows have hash values, and those with the smallest ones are kept (a bottom-k sketch). So the sample does not depend
    on how rows are divided into data sets, and every distinct row has the same probability.

    Attributes
    ----------
    keys : ndarray of shape (S,)
        Ascending hash values. Rows with equal ones are taken to be equal.
    rows : ndarray of shape (S, n)
    weights : ndarray of shape (S,)
    values : ndarray of shape (S, K) or None
        Of the black box, if they are known at the rows only. Rows with different values are distinct.

    Examples
    --------
    >>> X = np.arange(20_000.0)[:, None] % 9_000
    >>> parts = [DistinctSample.of(X[:5_000], None), DistinctSample.of(X[5_000:], None)]
    >>> sample = parts[1].merged(parts[0])
    >>> sample.rows.shape, bool(np.array_equal(sample.rows, DistinctSample.of(X, None).rows))
    ((5000, 1), True)
    """

    keys: NDArray[np.uint64]
    rows: Floats
    weights: Floats
    values: Floats | None = None

    @classmethod
    def of(cls, X: NDArray[Any], weights: Floats | None, values: Floats | None = None) -> DistinctSample:
        """Sample the rows with positive weight."""
        if weights is not None and not weights.all():
            used = weights > 0
            X, weights, values = X[used], weights[used], None if values is None else values[used]
        w = np.ones(len(X)) if weights is None else weights
        return cls._smallest(_hashes(X, values), X, w, values)

    def merged(self, other: DistinctSample) -> DistinctSample:
        """Return a sample of the rows of both."""
        values = None
        if self.values is not None and other.values is not None:
            values = np.concatenate([self.values, other.values])
        keys, weights = np.concatenate([self.keys, other.keys]), np.concatenate([self.weights, other.weights])
        return self._smallest(keys, np.concatenate([self.rows, other.rows]), weights, values)

    def sample(self, n_effective: float) -> Sample:
        """Return the rows in ascending order of their hash values, with the effective number of all rows."""
        return Sample(self.rows, self.weights, n_effective, self.values)

    @classmethod
    def _smallest(
        cls, hashes: NDArray[np.uint64], X: NDArray[Any], weights: Floats, values: Floats | None
    ) -> DistinctSample:
        keys, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        sums, kept = np.bincount(inverse, weights, len(keys)), first[:_ROWS]
        rows = np.array(X[kept], dtype=np.float64)
        return cls(keys[:_ROWS], rows, sums[:_ROWS].astype(np.float64), None if values is None else values[kept].copy())


def _hashes(X: NDArray[Any], values: Floats | None) -> NDArray[np.uint64]:
    """Return a hash value for each row of X and values. Equal numbers, and NaNs, have the same bits here."""
    hashes = np.zeros(len(X), dtype=np.uint64)
    columns = [*X.T] if values is None else [*X.T, *values.T]
    for first in range(0, len(X), _BLOCK):
        part = hashes[first : first + _BLOCK]
        for column in columns:
            numbers = column[first : first + _BLOCK].astype(np.float64) + 0.0  # turns -0.0 into 0.0
            numbers[np.isnan(numbers)] = np.nan
            part ^= numbers.view(np.uint64)
            for shift, factor in zip((30, 27), _MIXERS, strict=True):
                part ^= part >> np.uint64(shift)
                part *= factor
            part ^= part >> np.uint64(31)
    return hashes
