"""Every supported model, read and compared with itself; and the known ways to read trees wrongly."""

import copy
import pickle
import subprocess
import sys
import time
import tracemalloc

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from models import BINARY, GAPS, LABELS, ZOO, X, Y, fitted, gbc, gbr
from reference.trees import raw_output, tree_sum
from sklearn.datasets import load_wine
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor
from sklearn.tree._tree import Tree
from strategies import fitted_models, hard_rows, near
from tolerance import assert_close

from fasthdmr.loaders import load_forest

every_model = pytest.mark.parametrize("name", ZOO)


@every_model
def test_predict_equals_the_models_raw_output(name):
    model, rng = fitted(name), np.random.default_rng(1)
    forest = load_forest(model)
    rows = np.vstack([X, rng.normal(size=(100, 4)), hard_rows(model, X, rng, 300, nan=forest.allow_nan)])
    assert_close(forest.predict(rows), raw_output(model, rows))


@every_model
def test_rows_with_infinities_go_where_the_trees_send_them(name):
    model, rng = fitted(name), np.random.default_rng(2)
    forest = load_forest(model)
    rows = hard_rows(model, X, rng, 200, nan=forest.allow_nan, inf=True)
    predicted = forest.predict(rows).reshape(len(rows), -1)
    assert_close(predicted, forest.offset + tree_sum(model, rows))


@every_model
def test_nan_is_accepted_exactly_where_the_model_accepts_it(name):
    model, row = fitted(name), np.array([[np.nan, 0.1, 0.2, 0.3]])
    forest = load_forest(model)
    try:
        desired = raw_output(model, row)
    except ValueError as refusal:
        with pytest.raises(ValueError, match=str(refusal).splitlines()[0]):
            forest.predict(row)
        assert not forest.allow_nan
    else:
        assert_close(forest.predict(row), desired)
        assert forest.allow_nan


@every_model
def test_the_model_is_not_changed_and_two_calls_agree(name):
    model = fitted(name)
    before = joblib.hash(model)
    first, second = load_forest(model), load_forest(model)
    assert np.array_equal(first.predict(X), second.predict(X))
    assert joblib.hash(model) == before


@every_model
def test_shapes_and_names(name):
    model = fitted(name)
    forest, desired = load_forest(model), raw_output(model, X)
    assert forest.predict(X).shape == desired.shape
    assert forest.n_outputs == (1 if desired.ndim == 1 else desired.shape[1])
    assert forest.offset.shape == (forest.n_outputs,)
    assert forest.n_features == 4
    assert (forest.output_names is None) == (forest.n_outputs == 1)
    assert forest.output_names is None or len(set(forest.output_names)) == forest.n_outputs


@given(fitted_models())
@settings(max_examples=150, deadline=None)
def test_random_models_on_hard_rows(drawn):
    model, rows = drawn
    forest = load_forest(model)
    rows = hard_rows(model, rows, np.random.default_rng(3), nan=forest.allow_nan)
    assert_close(forest.predict(rows), raw_output(model, rows))


def test_output_names():
    assert load_forest(fitted("gbc words")).output_names == ("a", "b", "c")
    assert load_forest(fitted("RandomForestClassifier words")).output_names == ("a", "b", "c")
    assert load_forest(fitted("RandomForestRegressor 2 targets")).output_names == ("y0", "y1")
    names = load_forest(fitted("RandomForestClassifier 3 targets")).output_names
    assert names == ("y0=1", "y1=0", "y1=1", "y1=2", "y2=0")


@pytest.mark.parametrize("rows", [X[:, :1], X[:1]], ids=["one feature", "one row"])
@pytest.mark.parametrize("cls", [GradientBoostingRegressor, RandomForestRegressor, DecisionTreeRegressor])
def test_smallest_data(cls, rows):
    model = cls(random_state=0).fit(rows, Y[: len(rows)])
    assert_close(load_forest(model).predict(rows), model.predict(rows))


def test_wine_rows_between_float64_and_float32_thresholds():
    wine, labels = load_wine(return_X_y=True)
    model = RandomForestClassifier(n_estimators=10, random_state=0).fit(wine, labels)
    assert_close(load_forest(model).predict(wine), model.predict_proba(wine))


def test_missing_values_follow_missing_go_to_left():
    rows = np.array([np.nan] * 4 + [0, 1, 2, 3, 4, 5])[:, None]
    labels = [1] * 4 + [0] * 4 + [1] * 2
    model = RandomForestClassifier(max_depth=2, n_estimators=1, random_state=42).fit(rows, labels)
    probability = load_forest(model).predict([[np.nan], [1.2], [4.8]])
    assert (probability > 0.5).tolist() == [True, False, True]


@pytest.mark.parametrize("name", ["gbr zero", "gbc zero", "gbc binary zero"])
def test_zero_init_is_exactly_zero(name):
    assert not load_forest(fitted(name)).offset.any()


def test_initial_predictions():
    assert_close(load_forest(gbr().fit(X, Y)).offset, [Y.mean()])
    share = (BINARY).mean()
    assert_close(load_forest(gbc().fit(X, BINARY)).offset, [np.log(share / (1 - share))])
    shares = np.log(np.bincount(LABELS) / 120)
    assert_close(load_forest(gbc().fit(X, LABELS)).offset, shares - shares.mean())


@pytest.mark.parametrize("name", ["RandomForestClassifier words", "RandomForestClassifier 3 targets", "gbc words"])
def test_values_may_be_counts_or_fractions(name):
    model = copy.deepcopy(fitted(name))
    desired = raw_output(model, X)
    if name.startswith("RandomForest"):
        for member in model.estimators_:
            member.tree_.value[:] *= member.tree_.weighted_n_node_samples[:, None, None]
    assert_close(load_forest(model).predict(X), desired)


@pytest.mark.parametrize("cls", [GradientBoostingRegressor, RandomForestRegressor, DecisionTreeRegressor])
def test_single_leaves_add_a_constant(cls):
    model = cls(random_state=0).fit(X, np.full(120, 3.5))
    forest = load_forest(model)
    assert [group.subspace for group in forest.groups] == [()]
    assert_close(forest.predict(X), np.full(120, 3.5))


def chain(depth):
    """A regressor whose tree is a chain: the leaf of x is min(floor(x), depth)."""
    model = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    nodes = np.zeros(2 * depth + 1, dtype=model.tree_.__getstate__()["nodes"].dtype)
    inner, values = np.arange(0, 2 * depth, 2), np.zeros((2 * depth + 1, 1, 1))
    nodes["left_child"] = nodes["right_child"] = -1
    nodes["left_child"][inner], nodes["right_child"][inner] = inner + 1, inner + 2
    nodes["threshold"][inner] = np.arange(depth) + 0.5
    values[inner + 1, 0, 0], values[-1] = np.arange(depth), depth
    model.tree_ = Tree(1, np.array([1]), 1)
    model.tree_.__setstate__({"max_depth": depth, "node_count": len(nodes), "nodes": nodes, "values": values})
    return model


def test_very_deep_trees():
    model, rows = chain(20_000), np.array([[0.0], [1.0], [7_000.0], [20_000.0], [30_000.0]])
    forest = load_forest(model)
    assert_close(forest.predict(rows), [0.0, 1.0, 7_000.0, 20_000.0, 20_000.0])
    assert_close(forest.group_features(rows), forest.predict(rows)[:, None])


def test_deep_forest():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20_000, 3))
    model = RandomForestRegressor(n_estimators=3, random_state=0).fit(rows, rng.normal(size=20_000))
    assert_close(load_forest(model).predict(rows), model.predict(rows))


def test_a_split_of_missing_values_from_all_others():
    model = DecisionTreeRegressor().fit([[np.nan], [np.nan], [0.0], [1.0]], [1.0, 1.0, 0.0, 0.0])
    assert np.isinf(model.tree_.threshold[0])
    forest = load_forest(model)
    assert forest.predict([[np.nan], [-1e30], [0.5], [1e300], [np.inf]]).tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("missing_left", [0, 1])
def test_a_split_at_nan_sends_all_numbers_right(missing_left):
    model = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    model.tree_.threshold[0], model.tree_.missing_go_to_left[0] = np.nan, missing_left
    rows = np.array([[np.nan], [-1.0], [2.0]])
    assert np.array_equal(load_forest(model).predict(rows), model.predict(rows))
    assert load_forest(model).predict([[-np.inf], [np.inf]]).tolist() == [1.0, 1.0]


def test_between_a_threshold_and_its_float32_neighbour():
    model = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    for threshold in (
        0.3,
        0.7,
        -0.3,
        1e-40,
        16777217.0,
    ):  # float32 above, below, mirrored, subnormal, not an integer
        model.tree_.threshold[0] = threshold
        rows = near(threshold)[:, None]
        assert np.array_equal(load_forest(model).predict(rows), model.predict(rows))


class WithoutRecords:
    """A `Tree` whose state has another layout, as an older or a newer version may have."""

    def __init__(self, tree):
        self._tree = tree

    def __getattr__(self, name):
        return getattr(self._tree, name)

    def __getstate__(self):
        return self._tree.__getstate__() | {"nodes": np.zeros(self._tree.node_count)}


def test_public_properties_serve_where_the_records_do_not():
    model = copy.copy(fitted("DecisionTreeRegressor NaN"))
    desired = model.predict(GAPS)
    model.tree_ = WithoutRecords(model.tree_)
    assert np.array_equal(load_forest(model).predict(GAPS), desired)


def test_importing_loads_no_foreign_library():
    code = "import sys, fasthdmr, fasthdmr.loaders; assert 'sklearn.ensemble' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_five_thousand_trees_are_read_in_60_ms():
    model = gbr(n_estimators=5_000, max_depth=2).fit(X, Y)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        load_forest(model)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.060


def test_reading_takes_little_memory():
    rng = np.random.default_rng(0)
    model = RandomForestRegressor(40, random_state=0).fit(rng.normal(size=(3_000, 3)), rng.normal(size=3_000))
    size = sum(member.tree_.__getstate__()["nodes"].nbytes for member in model.estimators_)
    load_forest(model)
    tracemalloc.start()
    forest = load_forest(model)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert forest.n_trees == 40
    assert peak < 3 * size


def test_forest_does_not_keep_the_model():
    model = gbr().fit(X, Y)
    state = pickle.dumps(load_forest(model))
    assert b"sklearn" not in state
