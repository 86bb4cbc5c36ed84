"""Sample weights: the measure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight

from fasthdmr._support.numbers import check_numbers
from fasthdmr._support.scale import power_of_two


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
