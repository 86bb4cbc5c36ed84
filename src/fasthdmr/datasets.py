"""Data sets with known decompositions, and the paper's California housing data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets
from sklearn.utils import Bunch, check_random_state

from fasthdmr._support.typing import Floats

__all__ = ["fetch_california_housing", "make_bilinear_gaussian", "make_ishigami"]

RandomState = int | np.random.RandomState | None

_CALIFORNIA_FEATURES = [
    "MedInc",
    "HouseAge",
    "AveRooms",
    "AveBedrms",
    "Population",
    "AveOccup",
    "Latitude",
    "Longitude",
]
_CALIFORNIA_TARGET = "MedHouseVal"


def make_ishigami(
    n_samples: int = 1000, *, a: float = 7.0, b: float = 0.1, random_state: RandomState = None
) -> tuple[Floats, Floats]:
    """Draw from the Ishigami function, sin x0 + a sin² x1 + b x2⁴ sin x0, on independent uniform inputs.

    Parameters
    ----------
    n_samples : int, default=1000
        The number of rows.
    a, b : float
        Coefficients of the function.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 3)
        Uniform on [-π, π].
    y : ndarray of float64, shape (n_samples,)

    Raises
    ------
    ValueError
        If `n_samples` is negative.

    Notes
    -----
    Its decomposition in closed form: specification, section 8. At the default coefficients the structural
    indices of (0,), (1,) and (0, 2) are 0.3139, 0.4424 and 0.2437, and all others are 0.

    Examples
    --------
    >>> X, y = make_ishigami(5, random_state=0)
    >>> X.shape, y.shape
    ((5, 3), (5,))
    """
    X = check_random_state(random_state).uniform(-np.pi, np.pi, size=(n_samples, 3))
    y = (1 + b * X[:, 2] ** 4) * np.sin(X[:, 0]) + a * np.sin(X[:, 1]) ** 2
    return X, y


def make_bilinear_gaussian(
    n_samples: int = 1000, *, rho: float = 0.5, random_state: RandomState = None
) -> tuple[Floats, Floats]:
    """Draw from 1 + x0 + x1 + x0 x1 on standard Gaussian inputs with correlation `rho`.

    Parameters
    ----------
    n_samples : int, default=1000
        The number of rows.
    rho : float in [-1, 1], default=0.5
        The correlation of the inputs.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 2)
    y : ndarray of float64, shape (n_samples,)

    Raises
    ------
    ValueError
        If `rho` is not in [-1, 1], or `n_samples` is negative.

    Notes
    -----
    Its decomposition in closed form: specification, sections 8 and 9. The component of x0 is
    x0 + ρ / (1 + ρ²) (x0² - 1).

    Examples
    --------
    >>> X, y = make_bilinear_gaussian(5, rho=0.9, random_state=0)
    >>> X.shape, y.shape
    ((5, 2), (5,))
    """
    if not -1 <= rho <= 1:
        raise ValueError(f"The 'rho' parameter must be a float in the range [-1.0, 1.0]. Got {rho!r} instead.")
    X = check_random_state(random_state).standard_normal((n_samples, 2))
    X[:, 1] = rho * X[:, 0] + np.sqrt(1 - rho**2) * X[:, 1]
    return X, (1 + X[:, 0]) * (1 + X[:, 1])


def fetch_california_housing() -> Any:
    """Return the California housing data: 20,640 districts, 8 variables.

    The file ``california_housing.csv`` in the directory that the environment variable ``FASTHDMR_DATA`` names
    is read if it exists; otherwise scikit-learn's loader fetches the data.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        ``data`` (20640, 8) and ``target`` (20640,), float64, in scikit-learn's order and units (the target in
        100,000 dollars); ``feature_names`` and ``target_names``, lists of str.

    Raises
    ------
    ValueError
        If the file lacks a column, has it twice, or contains anything but finite numbers.

    Examples
    --------
    Not run as a test: it needs the file, or a download.

    >>> housing = fetch_california_housing()  # doctest: +SKIP
    >>> housing.feature_names[0]  # doctest: +SKIP
    'MedInc'
    """
    directory = os.environ.get("FASTHDMR_DATA")
    path = Path(directory or ".") / "california_housing.csv"
    if not directory or not path.is_file():
        return sklearn.datasets.fetch_california_housing()
    columns, rows = _read_table(path)
    return Bunch(
        data=np.ascontiguousarray(rows[:, [columns.index(name) for name in _CALIFORNIA_FEATURES]]),
        target=rows[:, columns.index(_CALIFORNIA_TARGET)].copy(),
        feature_names=list(_CALIFORNIA_FEATURES),
        target_names=[_CALIFORNIA_TARGET],
    )


def _read_table(path: Path) -> tuple[list[str], Floats]:
    """Return the names of the columns, and the rows below them."""
    try:
        header, *lines = path.read_text(encoding="utf-8-sig").split("\n")
        columns = header.strip().split(",")
        needed = [*_CALIFORNIA_FEATURES, _CALIFORNIA_TARGET]
        if missing := [name for name in needed if name not in columns]:
            raise ValueError(f"it lacks the columns {missing}; it has {columns}.")
        if repeated := [name for name in needed if columns.count(name) > 1]:
            raise ValueError(f"it has several columns of the same name: {repeated}.")
        if not any(map(str.strip, lines)):
            raise ValueError("it has a header but no rows.")
        rows = np.loadtxt(lines, delimiter=",", ndmin=2)
        if rows.shape[1] != len(columns):
            raise ValueError(f"it has {rows.shape[1]} numbers in a row, but {len(columns)} columns.")
        if not np.isfinite(rows).all():
            raise ValueError(f"it has no finite number in row {np.argmin(np.isfinite(rows).all(axis=1)) + 1}.")
    except ValueError as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from error
    return columns, rows
