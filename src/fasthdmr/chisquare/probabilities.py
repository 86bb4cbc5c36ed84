"""Probabilities of categories: the power law, and checks of p."""

from __future__ import annotations

from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_DRAWS = 1 << 63
"""The largest sample size: above it, float64 does not resolve the deviation of a count from n p."""
# Relative difference of equal probabilities: rounding of one division.
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
    check_numbers(alpha, "alpha must be a number")
    if not 0 <= alpha < np.inf:
        raise ValueError(f"alpha must be a finite number that is not negative, got {alpha!r}.")
    weights = np.arange(1, k + 1, dtype=np.float64) ** -float(alpha)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def check_positive(value: Any, name: str, most: int | None = None) -> int:
    """Return a positive integer.

    Parameters
    ----------
    value : int
    name : str
        The name in the error.
    most : int or None
        The largest accepted value.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        If it is not an integer, not positive, or above the largest.
    """
    if not isinstance(value, Integral) or value is True or value is False:
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    number = int(value)
    if number < 1:
        raise ValueError(f"{name} must be at least 1, got {value}.")
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most {most}, got {value}.")
    return number


def check_numbers(values: Any, rule: str) -> NDArray[Any]:
    """Return real numbers as an array of their own dtype.

    Parameters
    ----------
    values : array-like
    rule : str
        The rule in the error, such as "p must be numbers".

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If some are masked, or not real numbers: text, dates, complex numbers.
    """
    if np.ma.is_masked(values):
        raise ValueError(f"{rule}, but some are masked. Fill them, or leave them out.")
    array = np.asarray(values)
    if array.dtype.kind == "O":
        strange = [value for value in array.flat if not isinstance(value, Real | Decimal | np.bool_)]
        if strange:
            raise ValueError(f"{rule}, got {strange[0]!r}.")
    elif array.dtype.kind not in "biuf":
        raise ValueError(f"{rule}, got values of type {array.dtype}.")
    return array


def sum_tolerance(p: NDArray[Any]) -> float:
    """Return the tolerance of the sum of p: the square root of its machine epsilon, as for NumPy's `choice`.

    Parameters
    ----------
    p : ndarray

    Returns
    -------
    float

    Examples
    --------
    >>> f"{sum_tolerance(np.ones(1)):.1e} {sum_tolerance(np.ones(1, np.float32)):.1e}"
    '1.5e-08 3.5e-04'
    """
    narrow = p.dtype if p.dtype in (np.float16, np.float32) else np.float64
    return float(np.sqrt(np.finfo(narrow).eps, dtype=np.float64))


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
        If p is not one-dimensional, empty, has masked, NaN, infinite or negative values, or does not sum to 1.
    """
    given = check_numbers(p, "p must be numbers")
    with np.errstate(over="ignore"):  # overflow gives infinity
        checked = given.astype(np.float64)
        total = checked.sum()
    if checked.ndim != 1 or checked.size == 0:
        raise ValueError(f"p must be one-dimensional and not empty, got shape {checked.shape}.")
    if not np.isfinite(checked).all():
        raise ValueError("p has NaN or infinite values.")
    if (checked < 0).any():
        raise ValueError("p has negative values.")
    if abs(total - 1) > sum_tolerance(given):
        raise ValueError(f"p must sum to 1, but sums to {total:.10g}. Divide expected counts by their sum.")
    return np.asarray(checked / total, dtype=np.float64)


def is_uniform(p: NDArray[np.float64]) -> bool:
    """Return whether all probabilities are equal up to rounding.

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
