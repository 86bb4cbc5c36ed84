"""The least order whose components explain a given fraction of the variance."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import NDArray


def is_real(value: object) -> bool:
    """Return whether a value is a real number."""
    return isinstance(value, Real)


def order_reaching(explained: NDArray[np.float64], fraction: float) -> int:
    """Return the least order at which a cumulative sum over orders, (T,), reaches a fraction of its end.

    Raises
    ------
    ValueError
        If `fraction` is not in (0, 1].

    Examples
    --------
    >>> order_reaching(np.array([0.7, 0.95, 1.0]), 0.9)
    2
    """
    if not (is_real(fraction) and 0 < fraction <= 1):
        raise ValueError(f"The 'fraction' parameter must be a float in the range (0.0, 1.0]. Got {fraction!r} instead.")
    if explained.size == 0:
        return 0
    reached = explained >= fraction * explained[-1]
    # Negative indices may make the sum negative; then no order may reach the fraction.
    return int(np.argmax(reached)) + 1 if reached.any() else explained.size
