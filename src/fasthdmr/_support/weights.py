"""Sample weights: the measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight

from fasthdmr._support.numbers import check_numbers
from fasthdmr._support.scale import power_of_two

_LARGEST_COUNT = 2.0**53  # all larger floating-point numbers are whole


@dataclass(frozen=True)
class RowCounts:
    """The number of rows and sums of their weights, which can be added for several sets of rows.

    Attributes
    ----------
    n_rows : int
    total, squares : float
        The sums of the weights and of their squares.
    are_whole : bool
        Whether all weights are whole numbers: repetition counts.

    Examples
    --------
    >>> counts = RowCounts.of(2, np.array([0.5, 0.5])).merged(RowCounts.of(2, None))
    >>> counts.total, counts.effective, counts.kish
    (3.0, 3.6, 3.6)
    """

    n_rows: int
    total: float
    squares: float
    are_whole: bool

    @classmethod
    def of(cls, n_rows: int, weights: NDArray[np.float64] | None) -> RowCounts:
        """Count rows with weights, or (None) of weight 1."""
        if weights is None:
            return cls(n_rows, float(n_rows), float(n_rows), True)
        are_whole = bool(weights.max() < _LARGEST_COUNT and np.all(weights == np.rint(weights)))
        return cls(n_rows, float(weights.sum()), float((weights**2).sum()), are_whole)

    def merged(self, other: RowCounts) -> RowCounts:
        """Return the counts of the rows of both."""
        return RowCounts(
            self.n_rows + other.n_rows,
            self.total + other.total,
            self.squares + other.squares,
            self.are_whole and other.are_whole,
        )

    @property
    def effective(self) -> float:
        """The effective number of rows: the sum of the weights if all are whole, else that of Kish (spec 3)."""
        return self.total if self.are_whole else self.kish

    @property
    def kish(self) -> float:
        """(sum w)² / (sum w²), 0 without rows."""
        return self.total**2 / self.squares if self.squares else 0.0


def check_weights(sample_weight: Any, X: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return weights as a contiguous float64 array, or None if all are equal.

    Very large or small ones are divided by a power of two.

    Parameters
    ----------
    sample_weight : array-like of shape (N,), number or None
    X : ndarray of shape (N, n)

    Returns
    -------
    ndarray of shape (N,) or None

    Raises
    ------
    ValueError
        If weights are negative, not finite, all zero, not numbers, or not one for each row.

    Examples
    --------
    >>> check_weights([1, 2], np.zeros((2, 1)))
    array([1., 2.])
    """
    if sample_weight is None:
        return None
    check_numbers(sample_weight, "sample_weight")
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    # Only ratios of weights matter, but sums and squares of very large or small weights overflow or underflow.
    unit = power_of_two(weights.max())
    if unit != 1:  # the result is below 1, so only the given whole numbers count as repetitions
        weights = np.ldexp(weights / unit, -int(np.frexp(weights.max() / unit)[1]))
    return np.ascontiguousarray(weights)


def check_ordinary_weights(sample_weight: Any, X: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return weights like `check_weights`, for sums to which those of other rows are added.

    Raises
    ------
    ValueError
        Also if weights are so large or small that they would be divided by a power of two.
    """
    weights = check_weights(sample_weight, X)
    if weights is not None and power_of_two(largest := float(np.max(np.asarray(sample_weight)))) != 1:
        raise ValueError(
            f"Sample weights of batches must be between 1e-36 and 1e36, got {largest:.3g}. Multiply the weights of all "
            "batches by the same number."
        )
    return weights
