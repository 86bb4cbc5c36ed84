"""Centring, and scaling by powers of two, so that second moments neither overflow nor lose digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.typing import Floats

LARGEST = 1e300
"""Largest accepted magnitude of outputs and columns: sums of a few of them do not overflow."""

CONSTANT = 1e-13
"""An output is constant up to rounding if its standard deviation is at most this fraction of its mean."""

_ORDINARY = 120  # binary exponents up to which sums of fourth powers neither overflow nor underflow
_EXTREME = 1000  # powers of two up to here have an inverse


def power_of_two(magnitude: float) -> float:
    """Return a power of two near a magnitude: one for ordinary magnitudes, and for 0.

    Dividing by it is exact, and leaves a number whose square neither overflows nor loses digits.

    Examples
    --------
    >>> power_of_two(0.0), power_of_two(1e9), power_of_two(1e160) == 2.0**532
    (1.0, 1.0, True)
    """
    exponent = int(np.frexp(magnitude)[1])
    if abs(exponent) <= _ORDINARY:
        return 1.0
    return float(2.0 ** min(max(exponent, -_EXTREME), _EXTREME))


def powers_of_two(values: NDArray[Any]) -> Floats:
    """Return a power of two for each column, near its largest magnitude; (N, K): (K,)."""
    largest = np.maximum(values.max(axis=0, initial=0.0), -values.min(axis=0, initial=0.0))
    return np.array([power_of_two(magnitude) for magnitude in largest])


def in_units(variance: Any, scale: Any) -> Any:
    """Return variances given in units of scale²; infinite or 0 where they overflow or underflow."""
    with np.errstate(over="ignore", under="ignore"):
        return variance * scale * scale


def is_constant(variance: Any, scale: Any, mean: Any) -> Any:
    """Return whether a variance, in units of scale², is due to rounding alone."""
    return np.sqrt(np.maximum(variance, 0)) * scale <= CONSTANT * np.abs(mean)


def check_size(values: NDArray[Any], what: str) -> None:
    """Raise an error if sums of the values may overflow.

    Parameters
    ----------
    values : ndarray of shape (N,) or (N, K)
        Finite.
    what : str
        The name in the error.

    Raises
    ------
    ValueError
        With the column, the largest magnitude and what to do.
    """
    columns = values.reshape(len(values), -1)
    largest = np.maximum(columns.max(axis=0, initial=0.0), -columns.min(axis=0, initial=0.0))
    for k in np.flatnonzero(largest > LARGEST):
        where = f" in column {k}" if values.ndim == 2 else ""
        raise ValueError(
            f"{what} has values up to {largest[k]:.3g}{where}, whose sums overflow; at most {LARGEST:g} is taken. "
            "Divide by a power of ten."
        )


@dataclass(frozen=True, eq=False)
class Deviations:
    """Centred values divided by powers of two, so that their squares neither overflow nor underflow.

    Attributes
    ----------
    values : ndarray of shape (N, K), in Fortran order
        (given - mean) / scale; 0 where the given values vary by no more than rounding.
    mean, scale : ndarray of shape (K,)
    variance : ndarray of shape (K,)
        Of `values`: that of the given ones in units of scale².
    is_constant : ndarray of shape (K,)
        Whether the given values vary by no more than rounding.

    Examples
    --------
    >>> far = Deviations.of(np.array([[1e9, 1e200], [1e9 + 1, 3e200]]), None)
    >>> far.values[:, 0], far.variance[0], far.is_constant
    (array([-0.5,  0.5]), np.float64(0.25), array([False, False]))
    """

    values: Floats
    mean: Floats
    scale: Floats
    variance: Floats
    is_constant: NDArray[np.bool_]

    @classmethod
    def of(cls, given: Floats, weights: Floats | None) -> Deviations:
        """Take means and scales of rows with weight; (N, K)."""
        used = given if weights is None else given[weights > 0]
        unit = powers_of_two(used)
        mean = np.average(given / unit, axis=0, weights=weights) * unit
        scale = powers_of_two(used - mean)
        values = np.asfortranarray((given - mean) / scale)
        # Rows of weight 0 may hold any value.
        squares = np.square(values if weights is None else values[weights > 0])
        variance = np.average(squares, axis=0, weights=None if weights is None else weights[weights > 0])
        constant = is_constant(variance, scale, mean)
        values[:, constant], variance[constant] = 0.0, 0.0
        return cls(values, mean, scale, variance, constant)

    def merged(self, other: Deviations, share: float) -> Deviations:
        """Return the moments of two data sets, without values. `share` is that of the other set in the total weight."""
        scale = np.maximum(self.scale, other.scale)
        with np.errstate(under="ignore"):
            own, others = self.scale / scale, other.scale / scale
            difference = other.mean / scale - self.mean / scale
            variance = (1 - share) * self.variance * own**2 + share * other.variance * others**2
            variance += share * (1 - share) * difference**2
        mean = self.mean + share * difference * scale
        constant = is_constant(variance, scale, mean)
        variance[constant] = 0.0
        return Deviations(self.values[:0], mean, scale, variance, constant)


def centre_and_scale(X: NDArray[Any], weights: Floats | None) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of variables, (n,) each; for constant ones, their value and 1.

    Examples
    --------
    >>> centre_and_scale(np.array([[1.0, 7.0], [3.0, 7.0]]), None)
    (array([2., 7.]), array([1., 1.]))
    """
    given = np.asarray(X, dtype=np.float64)
    unit = powers_of_two(given)
    deviations = Deviations.of(given / unit, weights)
    varies = np.ptp(given, axis=0) > 0
    deviation = np.sqrt(deviations.variance) * deviations.scale * unit
    return np.where(varies, deviations.mean * unit, given[0]), np.where(varies & (deviation > 0), deviation, 1.0)
