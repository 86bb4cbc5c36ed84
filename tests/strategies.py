"""Hypothesis strategies: tree models of all kinds on small data with ties, and rows easily misread."""

import numpy as np
from hypothesis import strategies as st
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

REGRESSORS = (
    GradientBoostingRegressor,
    RandomForestRegressor,
    ExtraTreesRegressor,
    DecisionTreeRegressor,
    ExtraTreeRegressor,
)
CLASSIFIERS = (
    GradientBoostingClassifier,
    RandomForestClassifier,
    ExtraTreesClassifier,
    DecisionTreeClassifier,
    ExtraTreeClassifier,
)
BOOSTING = (GradientBoostingRegressor, GradientBoostingClassifier)
SINGLE = (DecisionTreeRegressor, ExtraTreeRegressor, DecisionTreeClassifier, ExtraTreeClassifier)


def tied_data(rng, n_samples, n_features):
    """Few-valued columns: multiples of 0.1, which no float holds exactly, so splits lie between floats."""
    return rng.integers(0, rng.integers(2, 9), size=(n_samples, n_features)) / 10


@st.composite
def fitted_models(draw):
    """A fitted model of any supported class, and its training rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = tied_data(rng, draw(st.integers(4, 40)), draw(st.integers(1, 5)))
    cls = draw(st.sampled_from(REGRESSORS + CLASSIFIERS))
    n_targets = 1 if cls in BOOSTING else draw(st.integers(1, 3))
    if cls in CLASSIFIERS:
        n_classes = draw(st.integers(2, 4))
        y = rng.integers(0, n_classes, size=(len(X), n_targets))
        y[:2] = [[0], [1]]  # gradient boosting requires two classes
    else:
        y = rng.normal(size=(len(X), n_targets)) + X[:, :1]
    options = {"max_depth": draw(st.sampled_from([1, 2, 3, None])), "random_state": 0}
    if cls not in SINGLE:
        options["n_estimators"] = draw(st.integers(1, 8))
    if cls in BOOSTING:
        options["learning_rate"] = draw(st.sampled_from([0.03, 0.1, 1.0]))
        options["init"] = draw(st.sampled_from([None, "zero"]))
    elif draw(st.booleans()):
        X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    return cls(**options).fit(X, y[:, 0] if n_targets == 1 else y), X


def thresholds(model):
    """All finite thresholds of a scikit-learn model; infinite ones part missing values from all others."""
    parts = [model] if hasattr(model, "tree_") else np.ravel(model.estimators_)
    found = [p.tree_.threshold[p.tree_.children_left != -1] for p in parts]
    values = np.unique(np.concatenate([*found, [0.25]]))
    return values[np.isfinite(values)]


def near(threshold):
    """The threshold, its float32 neighbours, points between them, and far away: float64 values."""
    single = np.float32(threshold)
    below, above = np.nextafter(single, np.float32(-np.inf)), np.nextafter(single, np.float32(np.inf))
    points = [threshold, float(single), float(below), float(above)]
    points += [(threshold + p) / 2 for p in points[1:]]
    points += [np.nextafter(threshold, -np.inf), np.nextafter(threshold, np.inf), -1e30, 1e30]
    return np.array(points)


def hard_rows(model, X, rng, n_rows=60, *, nan=False, inf=False):
    """Rows of X with most values replaced by points near thresholds, and by NaN or infinities on request."""
    points = np.concatenate([near(t) for t in rng.permutation(thresholds(model))[:50]])
    if inf:
        points = np.concatenate([points, np.full(max(1, len(points) // 8), np.inf)])
        points = np.concatenate([points, -points[-1:], [1e300, -1e300]])
    rows = np.nan_to_num(X[rng.integers(len(X), size=n_rows)])
    rows = np.where(rng.random(rows.shape) < 0.8, rng.choice(points, size=rows.shape), rows)
    return np.where(rng.random(rows.shape) < 0.15, np.nan, rows) if nan else rows
