"""Partial dependence, compared with scikit-learn's brute force, its definition, and closed forms (spec 9)."""

import models
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models import ZOO, fitted
from reference.partial_dependence import marginal
from reference.trees import tree_sum
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_regression
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.inspection import PartialDependenceDisplay
from sklearn.inspection import partial_dependence as brute_of_sklearn
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor
from strategies import fitted_models, hard_rows, near, thresholds
from tolerance import assert_close

from fasthdmr import HDMR, TreeHDMR, load_forest
from fasthdmr._spans.basis import default_size
from fasthdmr.inspection import _partial_dependence as module
from fasthdmr.inspection import partial_dependence, partial_dependences
from fasthdmr.inspection._brute import brute_average

SETS = [0, 3, (0, 1), (2, 0)]


def brute(model, X, features, **options):
    if "custom_values" in options:
        pytest.importorskip("sklearn", minversion="1.7", reason="its partial dependence takes values since 1.7")
    return brute_of_sklearn(model, X, features, method="brute", kind="average", **options)


def assert_same(ours, theirs, rtol=1e-10):
    assert ours.average.shape == theirs["average"].shape
    assert_close(ours.average, theirs["average"], rtol)
    for our, their in zip(ours.grid_values, theirs["grid_values"], strict=True):
        assert_close(our, their, 0)


@pytest.fixture
def brute_is_forbidden(monkeypatch):
    def forbidden(*_):
        raise AssertionError("brute force where the trees are known")

    monkeypatch.setattr(module, "brute_average", forbidden)


ONE_TARGET = [name for name in ZOO if not (name.endswith(("3 targets", "one class")) or name.startswith("gbc"))]


@pytest.mark.usefixtures("brute_is_forbidden")
@pytest.mark.parametrize("name", ONE_TARGET)
def test_trees_equal_brute_force(name):
    """Regressors with one and two targets, classifiers by the probabilities that the trees average."""
    model, X = fitted(name), models.X.copy()
    if "NaN" in name:
        X[::5, 1] = np.nan  # of no set's grid as sklearn makes it
    sets = [0, 3, (2, 0)] if "NaN" in name else SETS
    for weights in (None, models.WEIGHTS):
        found = partial_dependences(model, X, sets, sample_weight=weights, grid_resolution=5)
        for features, ours in zip(sets, found, strict=True):
            assert_same(ours, brute(model, X, features, sample_weight=weights, grid_resolution=5))


@pytest.mark.parametrize("name", ["gbc binary", "gbc words"])
@pytest.mark.parametrize("method", ["decision_function", "predict_proba"])
def test_boosted_classifiers_equal_brute_force_by_either_response(name, method, monkeypatch):
    used = []

    def counted(*arguments, **options):
        used.append(arguments)
        return brute_average(*arguments, **options)

    monkeypatch.setattr(module, "brute_average", counted)
    ours = partial_dependence(fitted(name), models.X, [0, 1], response_method=method, grid_resolution=5)
    assert_same(ours, brute(fitted(name), models.X, [0, 1], response_method=method, grid_resolution=5))
    assert bool(used) == (method == "predict_proba")  # no sum of trees
    auto = partial_dependence(fitted(name), models.X, [0, 1], grid_resolution=5)
    assert np.array_equal(auto.average, ours.average) == (method == "decision_function")


@given(fitted_models(), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_thresholds_in_grid_and_rows(model_and_rows, seed):
    """On thresholds, and between them and their float32 neighbours, rows go where the trees send them."""
    model, X = model_and_rows
    rng = np.random.default_rng(seed)
    forest = load_forest(model)
    rows = hard_rows(model, X, rng, n_rows=20, nan=forest.allow_nan)
    points = np.concatenate([near(t) for t in rng.permutation(thresholds(model))[:4]])
    values = {j: rng.choice(points, size=6) for j in range(X.shape[1])}  # in any order, and repeated
    weights = rng.integers(0, 3, len(rows)) + 0.5 * (rng.random(len(rows)) < 0.5) + 1e-3
    sets = [(j,) for j in values] + [(i, j) for i in values for j in values if i != j][:4]
    found = partial_dependences(forest, rows, sets, custom_values=values, sample_weight=weights, n_jobs=2)
    for u, ours in zip(sets, found, strict=True):
        desired = marginal(lambda x: tree_sum(model, x) + forest.offset, rows, weights, u, [values[j] for j in u])
        assert_close(ours.average, desired, 1e-10)
        assert all(np.array_equal(ours.grid_values[a], values[j]) for a, j in enumerate(u))


def test_results_do_not_depend_on_threads_or_company():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(17_000, 3))  # more than a block
    model = RandomForestRegressor(3, max_depth=6, random_state=0).fit(X[:1000], X[:1000, 0] * X[:1000, 1])
    sets = [0, 1, (0, 1), (1, 2), (2, 1, 0)]
    one = partial_dependences(model, X, sets, grid_resolution=6)
    two = partial_dependences(model, X, sets, grid_resolution=6, n_jobs=2)
    for features, a, b in zip(sets, one, two, strict=True):
        assert np.array_equal(a.average, b.average)
        alone = partial_dependence(model, X, features, grid_resolution=6)
        assert_close(alone.average, a.average, 1e-12)
    assert_same(one[2], brute(model, X, [0, 1], grid_resolution=6))
    assert_close(one[3].average, partial_dependence(model, X, (2, 1), grid_resolution=6).average.transpose(0, 2, 1))


@pytest.mark.parametrize("features", [(0, 1, 2, 3), (0, 1, 2, 3, 4)])
def test_many_features_at_once(features):
    X, y = make_regression(60, 5, random_state=0)
    model = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, y)
    assert_same(partial_dependence(model, X, features, grid_resolution=2), brute(model, X, features, grid_resolution=2))


def test_recursion_is_another_quantity():
    """Correlation .95, y = x0: scikit-learn's default is not the marginal partial dependence."""
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0, 0], [[1, 0.95], [0.95, 1]], size=1000)
    model = GradientBoostingRegressor(max_features=1, random_state=0).fit(X, X[:, 0])
    ours = partial_dependence(model, X, 1, grid_resolution=20)
    assert_same(ours, brute(model, X, [1], grid_resolution=20))
    recursion = brute_of_sklearn(model, X, [1], method="recursion", grid_resolution=20)["average"]
    assert np.ptp(recursion) > 1.3 * np.ptp(ours.average)


def test_centred_curves_are_components_where_inputs_are_independent():
    """All combinations of the values of three variables: the empirical measure is a product."""
    axes = np.meshgrid(np.arange(4) / 3, np.arange(5) / 4, np.arange(3) / 2, indexing="ij")
    X = np.column_stack([axis.ravel() for axis in axes])
    y = np.sin(3 * X[:, 0]) + X[:, 0] * X[:, 1] - X[:, 1] * X[:, 2] ** 2
    model = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, y)
    hdmr = TreeHDMR(model, basis="bins", smooth=False).fit(X)
    for j in range(3):
        curve = partial_dependence(model, X, j)
        values = curve.grid_values[0][:, None]
        centred = curve.average[0] - model.predict(X).mean()
        assert_close(hdmr.component(j)(values), centred, 0.02, reason="60 rows: what is handed down carries the ridge")


def test_scikit_learns_display_draws_the_result():
    plt = pytest.importorskip("matplotlib.pyplot")
    features = [(0,), (1,), (0, 1)]
    found = partial_dependences(fitted("gbr"), models.X, features)
    deciles = {j: np.percentile(models.X[:, j], np.arange(10, 100, 10)) for j in (0, 1)}
    display = PartialDependenceDisplay(
        found, features=features, feature_names=["a", "b", "c", "d"], target_idx=0, deciles=deciles
    )
    figure, axes = plt.subplots(1, 3)
    try:
        display.plot(ax=axes)
        assert_close(display.lines_[0].get_ydata(), found[0].average[0], 0)
        assert display.contours_[2] is not None
    finally:
        plt.close(figure)


# --- what X may be ---------------------------------------------------------------------------------------------


def framed(library):
    """Mixed columns, and a pipeline that needs their names and types."""
    rng = np.random.default_rng(4)
    data = {
        "size": rng.normal(size=90),
        "rooms": rng.integers(1, 5, size=90),
        "place": rng.choice(["hill", "sea", "town"], size=90),
    }
    frame = pytest.importorskip(library).DataFrame(data)
    encode = make_column_transformer((OneHotEncoder(), ["place"]), (StandardScaler(), ["size", "rooms"]))
    y = data["size"] * data["rooms"] + (data["place"] == "sea")
    return frame, make_pipeline(encode, GradientBoostingRegressor(n_estimators=10, random_state=0)).fit(frame, y)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_and_pipelines(library):
    frame, pipeline = framed(library)
    before = frame.clone() if library == "polars" else frame.copy()
    place, size = partial_dependences(
        pipeline, frame, ["place", ["size", "rooms"]], categorical_features=["place"], grid_resolution=6
    )
    assert before.equals(frame)
    assert place.grid_values[0].tolist() == ["hill", "sea", "town"]
    assert size.average.shape == (1, 6, 4)
    pandas_frame = framed("pandas")[0]
    theirs = brute(pipeline, pandas_frame, ["place"], categorical_features=["place"])
    assert_close(place.average, theirs["average"], 1e-12)
    as_floats = pandas_frame.astype({"rooms": float})
    theirs = brute(pipeline, as_floats, ["size", "rooms"], grid_resolution=6)
    assert_close(size.average, theirs["average"], 1e-12)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.usefixtures("brute_is_forbidden")
def test_frames_of_numbers_go_the_fast_way(library):
    frame = pytest.importorskip(library).DataFrame(dict(zip("abcd", models.X.T, strict=True)))
    model = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(frame, models.Y)
    ours = partial_dependence(model, frame, ["c", "a"])
    assert_close(ours.average, partial_dependence(load_forest(model), models.X, [2, 0], feature_names="abcd").average)
    with pytest.raises(ValueError, match="feature names should match"):
        partial_dependence(model, frame[["b", "a", "c", "d"]], "a")


@pytest.mark.parametrize("model", [GradientBoostingRegressor(random_state=0), LinearRegression()])
def test_integers_are_not_rounded(model):
    """scikit-learn raises an error for them, or rounds the grid."""
    X = np.random.default_rng(0).integers(0, 48, size=(200, 2))
    model.fit(X, X[:, 0] * X[:, 1])
    ours = partial_dependence(model, X, 0, grid_resolution=10)
    assert_same(ours, brute(model, X.astype(float), [0], grid_resolution=10))
    assert (ours.grid_values[0] % 1).any()


@pytest.mark.parametrize("features", [[0], [0, 1]])
def test_a_huge_leaf_leaves_no_error_where_it_is_not_reached(features):
    """Boosting that diverges makes such leaves."""
    X = np.random.default_rng(0).uniform(size=(200, 2))
    model = DecisionTreeRegressor(max_depth=5).fit(X, np.where(X[:, 0] < 0.2, 1e12, np.sin(9 * X[:, 0]) * X[:, 1]))
    rows = X[X[:, 0] > 0.2]
    ours = partial_dependence(model, rows, features, custom_values={0: [0.1, 0.3, 0.5, 0.7]}, grid_resolution=20)
    outside = np.take(ours.average, [1, 2, 3], axis=1)
    theirs = brute(model, rows, features, custom_values=dict(zip(features, ours.grid_values, strict=True)))
    assert_close(outside, np.take(theirs["average"], [1, 2, 3], axis=1), 1e-12)


def test_missing_values_are_averaged_over_but_not_on_the_grid():
    """For trees and by brute force."""
    X = models.X.copy()
    X[::4, 0] = np.nan
    boosted = HistGradientBoostingRegressor(max_iter=5).fit(X, models.Y)
    for model, sets in ((fitted("RandomForestRegressor NaN"), [[0], [1, 0]]), (boosted, [[0]])):
        for features in sets:
            ours = partial_dependence(model, X, features)
            assert not np.isnan(np.concatenate(ours.grid_values)).any()
            values = dict(zip(features, ours.grid_values, strict=True))
            assert_same(ours, brute(model, X, features, custom_values=values))
        on_request = {1: np.array([0.1, np.nan])}
        ours = partial_dependence(model, X, 1, custom_values=on_request)
        assert_close(ours.average, brute(model, X, [1], custom_values=on_request)["average"], 1e-10)


def test_missing_values_only_where_the_grid_is():
    """A model without support for them never gets them, as with brute force."""
    X = models.X.copy()
    X[::4, 0] = np.nan
    ours = partial_dependence(fitted("gbr"), X, [0])
    assert_same(ours, brute(fitted("gbr"), X, [0], custom_values={0: ours.grid_values[0]}))
    with pytest.raises(ValueError, match="NaN"):
        partial_dependence(fitted("gbr"), X, [1])


def test_near_constant_columns_give_a_short_grid():
    """scikit-learn raises the error that percentiles are too close."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    X[10:, 0] = 0.25
    X[:10, 0] = np.arange(10)
    model = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, X[:, 1])
    ours = partial_dependence(model, X, [0, 1], grid_resolution=8)
    assert ours.grid_values[0].tolist() == [0.25]
    assert_same(ours, brute(model, X, [0, 1], custom_values={0: [0.25]}, grid_resolution=8))


def test_lists_and_names_and_masks_are_equivalent():
    X, names = models.X.tolist(), ["a", "b", "c", "d"]
    desired = partial_dependence(fitted("gbr"), models.X, [1, 2]).average
    for features in ([(1, 2)], ["b", "c"], np.array([1, 2]), [False, True, True, False]):
        found = partial_dependence(fitted("gbr"), X, features, feature_names=names)
        assert np.array_equal(found.average, desired)


def test_any_function():
    X = np.random.default_rng(1).normal(size=(50, 2))
    ours = partial_dependence(lambda X: np.column_stack([X[:, 0], X[:, 0] * X[:, 1]]), X, [0], grid_resolution=7)
    values = ours.grid_values[0]
    assert_close(ours.average, np.stack([values, values * X[:, 1].mean()]), 1e-12)


# --- conditional -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [-0.7, 0.0, 0.5])
def test_gaussian(rho):
    """f = 1 + x1 + x2 + x1 x2 (spec 9); less f0 = 1 + rho these are the f of its text."""
    rng = np.random.default_rng(7)
    X = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], size=40_000)

    def f(X):
        return 1 + X[:, 0] + X[:, 1] + X[:, 0] * X[:, 1]

    sampled = "the means of 40,000 rows; splines of one variable hold the truth"
    x = np.linspace(-1.5, 1.5, 7)
    options = {"custom_values": {0: x, 1: x}}
    marginal = partial_dependence(f, X, 0, **options).average[0]
    assert_close(marginal, 1 + x, 0.02, reason=sampled)
    conditional = partial_dependence(f, X, 0, kind="conditional", **options).average[0]
    assert_close(conditional, 1 + x + rho * (x + x**2), 0.03, reason=sampled)
    near = {0: x[2:5], 1: x[2:5]}  # where there are rows
    both = partial_dependence(f, X, [0, 1], kind="conditional", custom_values=near).average[0]
    desired = (1 + x[2:5, None]) * (1 + x[2:5])
    assert_close(both, desired, 0.01, reason="the products of spans carry a ridge")


def test_conditional_is_a_projection():
    """Of several outputs, with weights equal to repetitions, and equal to the marginal one of an additive model."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(400, 3))
    model = LinearRegression().fit(X, np.column_stack([X[:, 0] + X[:, 1], X[:, 2]]))
    weights = rng.integers(0, 3, size=400)
    weighted = partial_dependence(model, X, [1, 0], kind="conditional", sample_weight=weights, grid_resolution=5)
    rows = np.repeat(X, weights, axis=0)
    values = dict(zip([1, 0], weighted.grid_values, strict=True))
    repeated = partial_dependence(model, rows, [1, 0], kind="conditional", custom_values=values, n_jobs=2)
    assert weighted.average.shape == (2, 5, 5)
    assert_close(weighted.average, repeated.average, 1e-8, reason="sums over other numbers of rows, squared condition")
    points = [[v, w] for v in values[1] for w in values[0]]
    sizes = tuple(default_size(np.count_nonzero(weights), order) for order in (1, 2))
    hdmr = HDMR(order=2, n_splines=sizes).fit(rows[:, [1, 0]], model.predict(rows))
    assert_close(repeated.average.reshape(2, -1).T, hdmr.predict(points), 1e-9)


def test_conditional_of_missing_values():
    X = np.where(np.arange(120)[:, None] % 4, np.round(models.X * 3), np.nan)
    model = RandomForestRegressor(5, random_state=0).fit(X, models.Y)
    ours = partial_dependence(model, X, 0, kind="conditional")
    predicted = model.predict(X)
    means = [predicted[X[:, 0] == value].mean() for value in ours.grid_values[0]]  # few values: one spline each
    assert_close(ours.average[0], means, 0.1, reason="the ridge draws means of few rows towards each other")


# --- invalid input ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "average"}, "kind must be 'marginal' or 'conditional'"),
        ({"features": 4}, "has the variable 4"),
        ({"features": -1}, "has the variable -1"),
        ({"features": [0, 0]}, "twice"),
        ({"features": []}, "at least one"),
        ({"features": "z"}, "not one of the variables"),
        ({"percentiles": (0.5,)}, "sequence of 2"),
        ({"percentiles": (0.5, 1.5)}, "in \\[0, 1\\]"),
        ({"percentiles": (0.5, 0.5)}, "strictly less"),
        ({"grid_resolution": 1}, "greater than 1"),
        ({"custom_values": {0: [[1.0]]}}, "one-dimensional"),
        ({"custom_values": {0: []}}, "not empty"),
        ({"categorical_features": []}, "empty list"),
        ({"categorical_features": [True]}, "boolean array-like"),
        ({"feature_names": ["a", "a", "b", "c"]}, "duplicates"),
        ({"feature_names": ["a"]}, "4 columns"),
        ({"response_method": "predict"}, "response_method must be"),
        ({"response_method": "predict_proba"}, "ignored for regressors"),
        ({"sample_weight": [1.0]}, "sample_weight"),
        ({"sample_weight": np.zeros(120)}, "non-zero"),
    ],
)
def test_invalid_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        partial_dependence(**{"model": fitted("gbr"), "X": models.X, "features": 0} | options)


def test_invalid_models_are_refused():
    with pytest.raises(ValueError, match="not fitted"):
        partial_dependence(GradientBoostingRegressor(), models.X, 0)
    with pytest.raises(ValueError, match="multioutput"):
        partial_dependence(fitted("RandomForestClassifier 3 targets"), models.X, 0)
    with pytest.raises(ValueError, match="decision_function"):
        partial_dependence(fitted("RandomForestClassifier words"), models.X, 0, response_method="decision_function")
    with pytest.raises(TypeError, match="fitted estimator or a function"):
        partial_dependence("model", models.X, 0)
    sparse = pytest.importorskip("scipy.sparse").csr_array(models.X)
    with pytest.raises(TypeError, match="Sparse X is supported for sums of trees only"):
        partial_dependence(lambda X: X[:, 0], sparse, 0)
    all_missing = np.where(np.arange(4) == 0, np.nan, models.X)
    with pytest.raises(ValueError, match="no values"):
        partial_dependence(LogisticRegression().fit(models.X, models.BINARY), all_missing, 0)
