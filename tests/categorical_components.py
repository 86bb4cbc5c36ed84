"""Components of categorical variables with given values, for tests of pictures."""

from types import SimpleNamespace

import numpy as np

from fasthdmr._support.sample import Sample

CITIES = (
    "Oslo",
    "Bergen",
    None,
    "a village on the northern bank of the river",
    "a village on the southern bank of the river",
)
HEATING = ("wood", "district")
NAMES = ("city", "heating", "area")


def sample_rows(n=400):
    """Return codes of cities and of heating, and areas. No city but Oslo has wood; Bergen has no area above 0."""
    rng = np.random.default_rng(0)
    city = rng.choice(5, size=n, p=[0.4, 0.3, 0.15, 0.1, 0.05]).astype(float)
    heating = np.where(city == 0, rng.integers(0, 2, n), 1.0)
    area = rng.uniform(-1, 1, n)
    return np.column_stack([city, heating, np.where(city == 1, -np.abs(area), area)])


def component(subspace, function, *, rows=None, levels=None, weights=None):
    """Return a component. The function gets one array for each variable, of levels for categorical ones."""
    rows = sample_rows() if rows is None else rows
    sample = Sample.of(rows, weights)

    class Component:
        names = tuple(NAMES[i] for i in subspace)
        bounds = np.array([[-1.0, 1.0]] * len(subspace))
        _source = SimpleNamespace(sample=sample)

        def __call__(self, points):
            return np.asarray(function(*points.T), dtype=np.float64)

        def standard_error(self, points):
            return 0.1 + 0.05 * np.arange(len(points))

    Component.subspace, Component.levels = subspace, {0: CITIES, 1: HEATING} if levels is None else levels
    return Component()


def length(levels):
    """Return the number of letters of levels, 0 for missing ones."""
    return np.array([0 if level is None else len(level) for level in levels])
