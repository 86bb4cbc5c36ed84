"""Models of other libraries for the differential tests: each with the float64 sum over its own leaves."""

import numpy as np
import pytest
from hypothesis import strategies as st
from tolerance import assert_close


def library(name):
    """The library. Skips the test if it is missing, and names the extra."""
    return pytest.importorskip(name, reason=f"{name} is not installed: pip install 'fasthdmr[{name}]'")


def xgboost_with_levels(**parameters):
    """A regressor of xgboost on columns of categories, in a version whose files hold the names of levels."""
    xgboost = library("xgboost")
    if tuple(map(int, xgboost.__version__.split(".")[:2])) < (3, 1):
        pytest.skip("xgboost before 3.1 does not write the levels of categories")
    return xgboost.XGBRegressor(max_depth=3, enable_categorical=True, n_jobs=1, **parameters)


def lightgbm_of_small_data(**parameters):
    """A regressor of LightGBM that splits few rows by categories."""
    options = {"min_data_per_group": 1, "cat_smooth": 0.1, "min_child_samples": 3, "verbose": -1, "n_jobs": 1}
    return library("lightgbm").LGBMRegressor(**options, **parameters)


def float64_neighbours(values):
    """Every value, and the float64 and float32 ones next to it."""
    values = np.asarray(values, float)
    finite = values[np.isfinite(values)]
    with np.errstate(over="ignore"):
        single = finite.astype(np.float32)
        around = [np.nextafter(floats, side) for floats in (finite, single) for side in (-np.inf, np.inf)]
    return np.unique(np.concatenate([finite, single, *around]))


TINY = [0.0, -0.0, 1e-35, -1e-35, 1.0000000180025095e-35, -1.0000000180025095e-35, 1e-40, -1e-40, 5e-324, -5e-324]


def awkward_rows(rng, thresholds, n_features, n_rows=80, *, inf=False, extra=()):
    """Rows of points on and next to thresholds, tiny and large numbers, and NaN."""
    points = float64_neighbours(np.concatenate([np.ravel(thresholds), [0.25]]))
    points = np.concatenate([points, TINY, [-1e30, 1e30], extra, [np.inf, -np.inf] if inf else []])
    rows = rng.choice(points, size=(n_rows, n_features))
    return np.where(rng.random(rows.shape) < 0.15, np.nan, rows)


def check_groups(forest, rows, predicted):
    """The groups of trees, and those of nodes, sum to the prediction (N, K)."""
    for by, groups in (("tree", forest.groups), ("node", forest.node_groups)):
        total = np.tile(forest.offset, (len(rows), 1))
        for group, column in zip(groups, forest.group_features(rows, by=by).T, strict=True):
            total[:, group.output] += column
        assert_close(total, predicted)


@st.composite
def tied_rows(draw, *, classes=0, targets=1, missing=None):
    """Few rows with ties, some missing, and a target."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(30, 120)), draw(st.integers(1, 4))
    X = rng.integers(0, draw(st.integers(2, 9)), size=(n, d)) / 10 - 0.2
    if draw(st.booleans()):
        X = X + rng.normal(size=X.shape)
    signal = X[:, 0] * X[:, -1]
    if draw(st.booleans()):
        X = np.where(rng.random(X.shape) < 0.2, np.nan if missing is None else missing, X)
    if classes:
        y = rng.integers(0, classes, size=n)
        y[:classes] = np.arange(classes)
    else:
        y = signal[:, None] + rng.normal(scale=0.3, size=(n, targets))
        y = y[:, 0] if targets == 1 else y
    return X, y, rng


@st.composite
def category_rows(draw, *, lowest=0):
    """Rows of a number and two columns of categories, some missing, and a target that they interact in."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_levels = draw(st.integers(40, 150)), draw(st.integers(2, 40))
    X = np.column_stack([rng.integers(lowest, n_levels, n), rng.normal(size=n), rng.integers(0, 3, n)]).astype(float)
    y = np.sin(5 * X[:, 0]) + X[:, 1] * (X[:, 2] == 1) + 0.1 * rng.normal(size=n)
    if draw(st.booleans()):
        X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    return X, y, rng


# Known and unknown categories, fractions of them, and numbers that are none.
CODES = [-1e10, -3.0, -1.0, -0.5, -0.0, *np.arange(0, 42, 0.5), 255.0, 256.0, 1e6, 2.0**24, 2.0**31, 1e10]
