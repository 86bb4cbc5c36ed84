"""A few of the fitted rows, which stay with a decomposition: for plots and for smoothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ROWS = 5_000


@dataclass(frozen=True, eq=False)
class Sample:
    """Evenly spaced rows and their weights.

    Attributes
    ----------
    rows : ndarray of shape (S, n)
        At most about 5,000 to 10,000 rows.
    weights : ndarray of shape (S,)
    """

    rows: Floats
    weights: Floats

    @classmethod
    def of(cls, X: NDArray[Any], weights: Floats | None) -> Sample:
        """Take evenly spaced rows.

        Examples
        --------
        >>> Sample.of(np.arange(20_000.0)[:, None], None).rows.shape
        (5000, 1)
        """
        step = max(1, len(X) // _ROWS)
        rows = np.array(X[::step], dtype=np.float64)
        return cls(rows, np.ones(len(rows)) if weights is None else weights[::step].copy())

    @cached_property
    def bounds(self) -> Floats:
        """The 1st and 99th percentile of every variable, (n, 2)."""
        bounds = np.zeros((self.rows.shape[1], 2))
        for j, column in enumerate(self.rows.T):
            present = column[np.isfinite(column)]
            if len(present):
                bounds[j] = np.percentile(present, [1, 99])
        return bounds
