"""Probabilities of categories: the power law, and what is accepted as p."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Of the sum of p from 1: what adding up a million probabilities, or reading them from a file, leaves.
SUM_TOLERANCE = 1e-8
# Of probabilities from each other: rounding of one division.
UNIFORM_TOLERANCE = 1e-14


def power_law(k: int, alpha: float) -> NDArray[np.float64]:
    """Return the power law: the probability of category c = 1, ..., k is proportional to c^-alpha.

    Parameters
    ----------
    k : int
        The number of categories.
    alpha : float
        Not negative; 0 is uniform.

    Returns
    -------
    ndarray of shape (k,)

    Examples
    --------
    >>> power_law(3, 1.0) * 11
    array([6., 3., 2.])
    """
    k = check_positive(k, "k")
    if not (np.isfinite(alpha) and alpha >= 0):
        raise ValueError(f"alpha must be a finite number that is not negative, got {alpha!r}.")
    weights = np.arange(1, k + 1, dtype=np.float64) ** -alpha
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def check_positive(value: Any, name: str) -> int:
    """Return a positive integer.

    Parameters
    ----------
    value : int
    name : str
        For the error.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        If it is no integer, or not positive.
    """
    if not isinstance(value, Integral) or value is True or value is False:
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}.")
    return int(value)


def check_probabilities(p: Any) -> NDArray[np.float64]:
    """Return p as float64 that sums to 1 up to rounding; categories of probability 0 are kept.

    Parameters
    ----------
    p : array-like of shape (k,)

    Returns
    -------
    ndarray of shape (k,)

    Raises
    ------
    ValueError
        If p is not one-dimensional, empty, has NaN, infinite or negative values, or does not sum to 1.
    """
    checked = np.asarray(p, dtype=np.float64)
    if checked.ndim != 1 or checked.size == 0:
        raise ValueError(f"p must be one-dimensional and not empty, got shape {checked.shape}.")
    if not np.isfinite(checked).all():
        raise ValueError("p has NaN or infinite values.")
    if (checked < 0).any():
        raise ValueError("p has negative values.")
    total = checked.sum()
    if abs(total - 1) > SUM_TOLERANCE:
        raise ValueError(f"p must sum to 1, but sums to {total:.10g}. Expected counts? Divide them by their sum.")
    return np.asarray(checked / total, dtype=np.float64)


def is_uniform(p: NDArray[np.float64]) -> bool:
    """Say whether all probabilities are the same up to rounding.

    Parameters
    ----------
    p : ndarray of shape (k,)

    Returns
    -------
    bool

    Examples
    --------
    >>> is_uniform(power_law(7, 0.0)), is_uniform(power_law(7, 0.5))
    (True, False)
    """
    return bool(np.ptp(p) <= UNIFORM_TOLERANCE * p.max())
