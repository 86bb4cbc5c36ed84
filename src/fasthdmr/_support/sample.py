"""A subsample of the fitted rows that is kept with a decomposition: for plots, intervals and smoothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.cached import cached_property
from fasthdmr._support.typing import Floats

_ROWS = 5_000


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
            float(len(X)) if weights is None else float(weights.sum() ** 2 / (weights**2).sum()),
            None if values is None else values[every].copy(),
        )

    @cached_property
    def bounds(self) -> Floats:
        """The 1st and 99th percentile of every variable, (n, 2)."""
        bounds = np.zeros((self.rows.shape[1], 2))
        for j, column in enumerate(self.rows.T):
            present = column[np.isfinite(column)]
            if len(present):
                bounds[j] = np.percentile(present, [1, 99])
        return bounds
