"""`Forest`: groups, features, inputs of all memory layouts, copies in other processes."""

import copy
import os
import pickle
import re
import time
from dataclasses import replace
from functools import cache

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from reference.trees import group_features, groups
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from strategies import fitted_models, hard_rows, tied_data
from tolerance import assert_close

from fasthdmr import _core
from fasthdmr.loaders import load_forest

SIZES = (1, 2, 3, 4, 16, 17, 33, 100, 1023, 1024, 1025, 5000)  # around the numbers of rows that C++ works on together
X = tied_data(np.random.default_rng(0), 5000, 6)
Y = X[:, 0] * X[:, 1] + X[:, 2] + np.random.default_rng(1).normal(scale=0.1, size=5000)
LABELS = np.digitize(Y, np.quantile(Y, [0.3, 0.6]))


@cache
def model_named(name):
    few, options = slice(400), {"random_state": 0}
    if name.startswith("depth"):
        model = GradientBoostingRegressor(n_estimators=60, max_depth=int(name[-1]), **options)
        return model.fit(X[few], Y[few])
    if name == "multiclass":
        return GradientBoostingClassifier(n_estimators=15, max_depth=2, **options).fit(X[few], LABELS[few])
    if name == "vector leaves":
        return RandomForestClassifier(15, max_depth=4, **options).fit(X[few], LABELS[few])
    return RandomForestRegressor(10, **options).fit(X[few], Y[few])


every_kind = pytest.mark.parametrize(
    "name",
    ["depth 1", "depth 2", "depth 3", "depth 4", "depth 6", "multiclass", "vector leaves", "deep forest"],
)


@every_kind
def test_groups_are_the_exact_sets_of_split_variables(name):
    forest = load_forest(model_named(name))
    found = [(g.output, g.subspace, g.trees.tolist()) for g in forest.groups]
    assert found == groups(model_named(name))
    assert forest.groups is forest.groups


@every_kind
def test_features_of_shared_variables(name):
    forest = load_forest(model_named(name))
    variables = np.array([1, 0, 1, 2, 2, 1])
    core = forest.core.of_variables(variables, first=2)
    assert core.n_features == 6
    wide = np.column_stack([np.full((900, 2), np.nan), X[:900]])
    merged = replace(forest, core=core)
    expected = {}
    for group, column in zip(forest.groups, forest.group_features(X[:900]).T, strict=True):
        u = tuple(sorted({int(variables[j]) for j in group.subspace}))
        expected[group.output, len(u), u] = expected.get((group.output, len(u), u), 0.0) + column
    assert [(g.output, len(g.subspace), g.subspace) for g in merged.groups] == sorted(expected)
    columns = _core.TreeFeatures(core, 2).evaluate(wide, 2)
    for column, key in zip(columns.T, sorted(expected), strict=True):
        assert_close(column, expected[key])
    assert np.array_equal(
        _core.Prediction(core, 1).evaluate(wide, 1)[:, 0], forest.predict(X[:900]).reshape(900, -1)[:, 0]
    )
    copied = pickle.loads(pickle.dumps(core))
    assert copied.groups()[0][:2] == core.groups()[0][:2]
    assert np.array_equal(_core.TreeFeatures(copied, 1).evaluate(wide, 1), columns)
    for refused in (lambda: _core.Marginals([core], wide, weight=None, n_threads=1), lambda: merged.predict(X)):
        with pytest.raises(ValueError, match="columns"):
            refused()


@every_kind
def test_group_features_equal_the_walk_row_by_row(name):
    model = model_named(name)
    rows = hard_rows(model, X, np.random.default_rng(2), 40)
    columns = load_forest(model).group_features(rows)
    assert columns.flags.f_contiguous
    assert_close(columns, group_features(model, rows))


@given(fitted_models())
@settings(max_examples=60, deadline=None)
def test_group_features_of_random_models(drawn):
    model, rows = drawn
    forest = load_forest(model)
    rows = hard_rows(model, rows, np.random.default_rng(3), 20, nan=forest.allow_nan)
    assert [(g.output, g.subspace, g.trees.tolist()) for g in forest.groups] == groups(model)
    assert_close(forest.group_features(rows), group_features(model, rows))


@every_kind
@pytest.mark.parametrize("n_rows", SIZES)
def test_groups_of_an_output_and_its_offset_sum_to_predict(name, n_rows):
    forest = load_forest(model_named(name))
    columns, predicted = forest.group_features(X[:n_rows]), forest.predict(X[:n_rows])
    outputs = np.array([g.output for g in forest.groups])
    total = [forest.offset[k] + columns[:, outputs == k].sum(axis=1) for k in range(forest.n_outputs)]
    assert_close(np.column_stack(total), predicted.reshape(n_rows, -1))


@every_kind
def test_rows_do_not_depend_on_their_block(name):
    forest = load_forest(model_named(name))
    predicted, columns = forest.predict(X), forest.group_features(X)
    for n_rows in SIZES:
        assert np.array_equal(forest.predict(X[:n_rows]), predicted[:n_rows])
        assert np.array_equal(forest.group_features(X[:n_rows]), columns[:n_rows])
        assert np.array_equal(forest.predict(X[-n_rows:]), predicted[-n_rows:])


@pytest.mark.parametrize("name", ["vector leaves", "deep forest"])
def test_rows_with_missing_values_do_not_depend_on_their_block(name):
    forest, rows = load_forest(model_named(name)), X[:200].copy()
    rows[np.random.default_rng(7).random(rows.shape) < 0.2] = np.nan
    predicted = forest.predict(rows)
    for n_rows in (1, 2, 3, 5):
        parts = [forest.predict(rows[i : i + n_rows]) for i in range(0, 200, n_rows)]
        assert np.array_equal(np.concatenate(parts), predicted)


def test_arrays_and_lists_are_checked_alike():
    forest, rows = load_forest(model_named("depth 2")), X[:3].copy()
    assert np.array_equal(forest.predict(rows), forest.predict(rows.tolist()))
    rows[1, 2] = np.nan
    for wrong in (rows, rows[:, :4], rows[:0]):
        with pytest.raises(ValueError) as of_array:
            forest.predict(wrong)
        with pytest.raises(ValueError, match=re.escape(str(of_array.value))):
            forest.predict(np.asarray(wrong, dtype=object))
    for n_rows in (1, len(X)):
        with pytest.raises(ValueError, match="n_jobs"):
            forest.predict(X[:n_rows], n_jobs=0)


@every_kind
def test_a_column_depends_only_on_its_subspace(name):
    forest, rng = load_forest(model_named(name)), np.random.default_rng(4)
    columns = forest.group_features(X[:300])
    for g, group in enumerate(forest.groups):
        others = rng.normal(size=(300, 6))
        others[:, group.subspace] = X[:300, group.subspace]
        assert np.array_equal(forest.group_features(others)[:, g], columns[:, g])


@every_kind
def test_results_do_not_depend_on_the_number_of_threads(name):
    forest = load_forest(model_named(name))
    one = forest.predict(X, n_jobs=1), forest.group_features(X, n_jobs=1)
    for n_jobs in (2, 3, -1):
        assert np.array_equal(forest.predict(X, n_jobs=n_jobs), one[0])
        assert np.array_equal(forest.group_features(X, n_jobs=n_jobs), one[1])


@every_kind
def test_results_do_not_depend_on_the_layout_of_the_rows(name):
    forest = load_forest(model_named(name))
    wide = np.zeros((2 * len(X), 12))
    wide[::2, ::2] = X
    misaligned = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    layouts = [
        np.asfortranarray(X),
        wide[::2, ::2],
        X[::-1, ::-1].copy()[::-1, ::-1],
        X.astype(">f8"),
        misaligned,
    ]
    layouts += [X.tolist(), X.astype(np.float32), np.asfortranarray(X, dtype=np.float32)]
    assert not misaligned.flags.aligned
    predicted, columns = forest.predict(X), forest.group_features(X)
    for rows in layouts:
        assert np.array_equal(forest.predict(rows), predicted)
        assert np.array_equal(forest.group_features(rows), columns)


def test_float32_and_float64_of_it_agree_between_the_data():
    forest = load_forest(model_named("depth 3"))
    rows = np.random.default_rng(5).normal(scale=0.5, size=(500, 6)).astype(np.float32)
    assert np.array_equal(forest.predict(rows), forest.predict(rows.astype(np.float64)))


def test_float64_values_beyond_float32_count_as_infinite():
    forest = load_forest(model_named("deep forest"))
    finite, infinite = np.full((1, 6), 1e300), np.full((1, 6), np.inf)
    for sign in (1, -1):
        assert np.array_equal(forest.predict(sign * finite), forest.predict(sign * infinite))


def test_rows_are_not_changed():
    forest, rows = load_forest(model_named("depth 2")), X[:50].copy()
    rows.setflags(write=False)
    forest.predict(rows)
    assert np.array_equal(rows, X[:50])


def test_forest_cannot_be_changed():
    forest = load_forest(model_named("depth 2"))
    with pytest.raises(AttributeError):
        forest.allow_nan = True
    forest.offset[0] = 1e9
    assert abs(forest.offset[0]) < 10
    assert repr(forest) == "Forest(n_trees=60, n_features=6, n_outputs=1)"


@every_kind
def test_copies_predict_bit_by_bit_the_same(name):
    forest = load_forest(model_named(name))
    columns = forest.group_features(X[:100])
    copies = [copy.copy(forest), copy.deepcopy(forest)]
    copies += [pickle.loads(pickle.dumps(forest, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for twin in copies:
        assert np.array_equal(twin.predict(X), forest.predict(X))
        assert np.array_equal(twin.group_features(X[:100]), columns)
        assert (twin.allow_nan, twin.feature_names, twin.output_names) == (
            forest.allow_nan,
            forest.feature_names,
            forest.output_names,
        )
        assert pickle.dumps(twin) == pickle.dumps(pickle.loads(pickle.dumps(twin)))


def test_a_pickle_does_not_contain_cached_values():
    forest = load_forest(model_named("depth 2"))
    before = pickle.dumps(forest)
    assert forest.groups
    forest.predict(X)
    assert pickle.dumps(forest) == before


def test_loky_workers():
    model = RandomForestRegressor(500, max_depth=6, random_state=0).fit(X[:300], Y[:300])
    forest = load_forest(model)
    calls = (joblib.delayed(forest.predict)(X, n_jobs) for n_jobs in (1, 2))
    for predicted in joblib.Parallel(n_jobs=2, backend="loky")(calls):
        assert np.array_equal(predicted, forest.predict(X))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_predicts():
    forest = load_forest(model_named("depth 3"))
    desired = forest.predict(X, n_jobs=2)  # threads have run before the fork
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(forest.predict(X, n_jobs=2), desired) else 1)
    deadline = time.monotonic() + 20
    while (status := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    if status == (0, 0):
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert status == (child, 0), "the child failed or hung"
