"""A subsample of the fitted rows that is kept with a decomposition: for plots, intervals and smoothing."""

from __future__ import annotations

from collections.abc import Sequence
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
