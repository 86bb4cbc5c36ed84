"""Data sets with known decompositions, and the paper's California housing data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets
from sklearn.utils import Bunch, check_random_state

from fasthdmr._support.optional import require
from fasthdmr._support.typing import Floats

__all__ = ["fetch_california_housing", "make_apartments", "make_bilinear_gaussian", "make_ishigami"]

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

_CITIES = {  # region, share of the apartments, euros for a square metre
    "Oslo": ("East", 0.30, 24.0),
    "Bergen": ("West", 0.18, 19.0),
    "Trondheim": ("Centre", 0.14, 18.0),
    "Stavanger": ("West", 0.10, 17.0),
    "Drammen": ("East", 0.07, 16.0),
    "Fredrikstad": ("East", 0.06, 14.0),
    "Kristiansand": ("South", 0.05, 14.0),
    "Tromsø": ("North", 0.04, 18.0),
    "Ålesund": ("West", 0.03, 14.0),
    "Bodø": ("North", 0.02, 15.0),
    "Hamar": ("East", 0.008, 13.0),
    "Røros": ("Centre", 0.002, 11.0),
}
_HEATING = {"district": 60.0, "electric": 0.0, "heat pump": 90.0, "wood": -80.0, None: -30.0}  # euros
_NEW_HEATING, _OLD_HEATING = [0.35, 0.17, 0.4, 0.0, 0.08], [0.3, 0.3, 0.07, 0.25, 0.08]  # shares


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


def make_apartments(n_samples: int = 1000, *, random_state: RandomState = None) -> tuple[Any, Floats]:
    """Draw apartments, described by numbers, text and booleans with missing values, and their rents.

    Parameters
    ----------
    n_samples : int, default=1000
        The number of rows.
    random_state : int, RandomState or None, default=None
        Seed or generator of the random numbers.

    Returns
    -------
    X : pandas.DataFrame of shape (n_samples, 7)
        ``area`` in square metres, ``built`` (the year), ``floor`` (a tenth is missing), ``region`` and ``city`` (each
        city lies in one region), ``heating`` (8 % are missing) and ``furnished``, a boolean.
    y : ndarray of float64, shape (n_samples,)
        The rent in euros a month, a function of X without noise.

    Raises
    ------
    ImportError
        If pandas is not installed (extra ``frame``).
    ValueError
        If `n_samples` is negative.

    Notes
    -----
    The rent is 200 + p(city) area + h(heating) + 2 (built - 1980) + 12 (floor - 3) + s(city, furnished). A square metre
    costs from 11 (Røros) to 24 euros (Oslo), so city and area interact. h is 90 for a heat pump, 60 for district
    heating, 0 for electric heating, -30 if it is missing and -80 for wood. A missing floor counts as the third.
    Furniture costs s = 150, but 300 in Trondheim and Tromsø. The region has no effect of its own.

    Apartments in Oslo and Bergen are smaller, those with a heat pump are newer, those with wood older. Oslo has 30 % of
    the apartments, Røros 0.2 %.

    Examples
    --------
    >>> X, y = make_apartments(200, random_state=0)
    >>> X.shape, y.shape
    ((200, 7), (200,))
    >>> list(X.columns)
    ['area', 'built', 'floor', 'region', 'city', 'heating', 'furnished']
    """
    pandas = require("pandas", extra="frame")
    random = check_random_state(random_state)
    regions, shares, prices = zip(*_CITIES.values(), strict=True)
    city = random.choice(len(_CITIES), size=n_samples, p=shares)
    area = (random.gamma(9.0, 8.0, n_samples) * np.where(city < 2, 0.8, 1.0) + 15).round()
    built = random.randint(1900, 2025, n_samples)
    new, old = (random.choice(len(_HEATING), size=n_samples, p=p) for p in (_NEW_HEATING, _OLD_HEATING))
    heating = np.where(built > 1985, new, old)
    floor = 1.0 + random.poisson(2.0, n_samples)
    floor[random.random_sample(n_samples) < 0.1] = np.nan
    furnished = random.random_sample(n_samples) < 0.3
    names = list(_CITIES)
    X = pandas.DataFrame(
        {
            "area": area,
            "built": built,
            "floor": floor,
            "region": [regions[k] for k in city],
            "city": [names[k] for k in city],
            "heating": [list(_HEATING)[k] for k in heating],
            "furnished": furnished,
        }
    )
    of_furniture = np.where(np.isin(city, [names.index("Trondheim"), names.index("Tromsø")]), 300.0, 150.0)
    y = 200 + np.array(prices)[city] * area + np.array(list(_HEATING.values()))[heating] + 2.0 * (built - 1980)
    return X, y + 12 * (np.nan_to_num(floor, nan=3.0) - 3) + of_furniture * furnished


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
