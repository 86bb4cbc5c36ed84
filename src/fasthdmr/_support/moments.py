"""Mean and covariance of Gaussian variables, as given by the user."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fasthdmr._support.numbers import as_array
from fasthdmr._support.typing import Floats

_ASYMMETRY = 1e-12  # rounding of a computed covariance, relative to its largest entry
_NEGATIVE = 1e-10  # rounding of its eigenvalues, likewise


def check_moments(mean: ArrayLike, cov: ArrayLike, n_features: int | None = None) -> tuple[Floats, Floats]:
    """Return mean and covariance of Gaussian variables as arrays.

    Raises
    ------
    ValueError
        If shapes disagree, with each other or with `n_features`, a number is not finite, or `cov` is not symmetric and
        positive semi-definite.
    """
    n = np.size(np.asarray(mean)) if n_features is None else n_features
    if n == 0:
        raise ValueError("mean must have at least one entry.")
    mean, cov = as_array(mean, "mean", (n,)), as_array(cov, "cov", (n, n))
    scale = np.abs(cov).max()
    if np.abs(cov - cov.T).max() > _ASYMMETRY * scale:
        raise ValueError("cov must be symmetric.")
    if np.linalg.eigvalsh(cov)[0] < -_NEGATIVE * scale:
        raise ValueError("cov must be positive semi-definite: it has a negative eigenvalue.")
    return mean, cov
