"""Forests sorted by node: groups, features, and dictionaries of them."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from models import ZOO, fitted
from reference.trees import node_features, node_groups
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier, VotingRegressor
from sklearn.tree import DecisionTreeRegressor
from strategies import fitted_models, hard_rows, tied_data
from test_forest import SIZES, X, every_kind, model_named
from tolerance import assert_close

from fasthdmr._dictionaries.tree_columns import TreeDictionary
from fasthdmr.loaders import load_forest


def labels(forest):
    return [(group.output, group.subspace) for group in forest.node_groups]


def outputs_of(groups):
    return np.array([group.output for group in groups])


@every_kind
def test_node_groups_are_the_sets_of_variables_on_paths(name):
    model, forest = model_named(name), load_forest(model_named(name))
    assert labels(forest) == node_groups(model)
    assert forest.node_groups is forest.node_groups


@every_kind
def test_node_features_equal_the_walk_row_by_row(name):
    model = model_named(name)
    rows = hard_rows(model, X, np.random.default_rng(2), 40)
    columns = load_forest(model).group_features(rows, by="node")
    assert columns.flags.f_contiguous
    assert_close(columns, node_features(model, rows))


@pytest.mark.parametrize("name", ZOO)
def test_node_features_of_the_zoo(name):
    model = fitted(name)
    forest, desired = load_forest(model), node_groups(model)
    rows = hard_rows(model, X[:, :4], np.random.default_rng(3), 20, nan=forest.allow_nan)
    assert labels(forest) == desired
    assert_close(forest.group_features(rows, by="node"), node_features(model, rows))


@given(fitted_models())
@settings(max_examples=60, deadline=None)
def test_node_features_of_random_models(drawn):
    model, rows = drawn
    forest = load_forest(model)
    rows = hard_rows(model, rows, np.random.default_rng(3), 20, nan=forest.allow_nan, inf=True)
    assert labels(forest) == node_groups(model)
    columns = forest.group_features(rows, by="node")
    assert_close(columns, node_features(model, rows))
    assert_close(totals(columns, forest.node_groups), totals(forest.group_features(rows), forest.groups))


def totals(columns, groups):
    outputs = outputs_of(groups)
    return np.column_stack([columns[:, outputs == k].sum(axis=1) for k in np.unique(outputs)])


@every_kind
@pytest.mark.parametrize("n_rows", SIZES)
def test_node_groups_of_an_output_and_its_offset_sum_to_predict(name, n_rows):
    forest = load_forest(model_named(name))
    columns, predicted = forest.group_features(X[:n_rows], by="node"), forest.predict(X[:n_rows])
    assert_close(forest.offset + totals(columns, forest.node_groups), predicted.reshape(n_rows, -1))


@every_kind
def test_a_node_column_depends_only_on_its_subspace(name):
    forest, rng = load_forest(model_named(name)), np.random.default_rng(4)
    columns = forest.group_features(X[:300], by="node")
    for g, group in enumerate(forest.node_groups):
        others = rng.normal(size=(300, 6))
        others[:, group.subspace] = X[:300, group.subspace]
        assert np.array_equal(forest.group_features(others, by="node")[:, g], columns[:, g])


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_subspaces_are_no_larger_than_the_depth(depth):
    forest = load_forest(model_named(f"depth {depth}"))
    assert max(len(group.subspace) for group in forest.node_groups) == depth
    if depth > 1:  # by tree they are
        assert max(len(group.subspace) for group in forest.groups) > depth


@every_kind
def test_roots_are_a_constant_column(name):
    forest = load_forest(model_named(name))
    columns = forest.group_features(X[:50], by="node")
    roots = [g for g, group in enumerate(forest.node_groups) if not group.subspace]
    assert len(roots) == forest.n_outputs
    assert np.array_equal(columns[:, roots], np.tile(columns[:1, roots], (50, 1)))


def test_inner_nodes_have_the_mean_of_their_training_rows():
    y = np.random.default_rng(5).normal(size=200)
    weights = np.random.default_rng(6).integers(0, 4, size=200)
    model = DecisionTreeRegressor(max_depth=5, random_state=0).fit(X[:200], y, sample_weight=weights)
    columns = load_forest(model).group_features(X[:10], by="node")
    assert_close(columns[:, 0], np.full(10, np.average(y, weights=weights)))


@every_kind
def test_node_features_do_not_depend_on_block_or_threads(name):
    forest = load_forest(model_named(name))
    columns = forest.group_features(X, by="node")
    for n_jobs in (2, 3, -1):
        assert np.array_equal(forest.group_features(X, by="node", n_jobs=n_jobs), columns)
    for n_rows in SIZES:
        assert np.array_equal(forest.group_features(X[:n_rows], by="node"), columns[:n_rows])
        assert np.array_equal(forest.group_features(X[-n_rows:], by="node"), columns[-n_rows:])


@pytest.mark.parametrize("name", [name for name in ZOO if "NaN" in name])
def test_a_missing_value_changes_no_other_row(name):
    forest = load_forest(fitted(name))
    rows = tied_data(np.random.default_rng(7), 300, 4)
    before = forest.group_features(rows, by="node")
    rows[100, 0] = np.nan
    after = forest.group_features(rows, by="node")
    others = np.arange(300) != 100
    assert np.array_equal(after[others], before[others])


@every_kind
def test_pickled_forests_have_the_same_node_features(name):
    forest = load_forest(model_named(name))
    before = pickle.dumps(forest)
    columns = forest.group_features(X[:100], by="node")
    assert forest.node_groups
    assert pickle.dumps(forest) == before
    twin = pickle.loads(before)
    assert twin.node_groups == forest.node_groups
    assert np.array_equal(twin.group_features(X[:100], by="node"), columns)


def test_members_of_a_voting_regressor_keep_their_weights():
    members = [("a", DecisionTreeRegressor(max_depth=3)), ("b", DecisionTreeRegressor(max_depth=2))]
    y = X[:300, 0] + X[:300, 1]
    model = VotingRegressor(members, weights=[1, 3]).fit(X[:300], y)
    column = load_forest(model).group_features(X[:5], by="node")[:, 0]
    assert_close(column, np.full(5, y.mean()))


def test_no_other_sorting():
    with pytest.raises(ValueError, match=r"by must be 'tree' or 'node', got 'leaf'"):
        load_forest(model_named("depth 1")).group_features(X[:5], by="leaf")


@pytest.fixture(scope="module")
def collection():
    y = X[:400, 0] * X[:400, 1] + X[:400, 2]
    targets = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    models = [RandomForestClassifier(8, max_depth=d, random_state=0).fit(X[:400], targets) for d in (2, 3, None)]
    forests = [load_forest(model) for model in models]
    return SimpleNamespace(forests=forests, dictionary=TreeDictionary(forests, by="node"))


@pytest.mark.parametrize("output", [0, 1, 2])
def test_dictionaries_by_node_have_a_column_for_each_forest_and_subspace(collection, output):
    columns = collection.dictionary.columns[output]
    subspaces = [columns.subspaces[s] for s in columns.column_subspace]
    found = list(zip(subspaces, columns.column_member, strict=True))
    desired, rows = {}, X[:700]
    for member, forest in enumerate(collection.forests):
        for group, column in zip(forest.node_groups, forest.group_features(rows, by="node").T, strict=True):
            if group.output == output:
                desired[group.subspace, member] = column
    constants = [desired.pop(((), member))[0] for member in range(3)]
    assert found == sorted(desired, key=lambda key: (len(key[0]), *key))
    assert_close(columns.constants, constants)

    count = len(found)
    actual = columns.evaluate(
        rows,
        begin=np.arange(count + 1),
        column=np.arange(1, count + 1),
        weight=np.ones(count),
        n_threads=2,
    )
    assert_close(actual, np.column_stack([desired[key] for key in found]))


def test_triangles_by_node_hold_the_products_of_the_columns(collection):
    columns, rows = pickle.loads(pickle.dumps(collection.dictionary)).columns[0], X[:900]
    small = [j for j, s in enumerate(columns.column_subspace) if len(columns.subspaces[s]) <= 2]
    values = columns.evaluate(
        rows,
        begin=np.arange(len(small) + 1),
        column=1 + np.array(small),
        weight=np.ones(len(small)),
        n_threads=1,
    )
    options = {"unit": 1.0, "weight": None, "y": None, "fold": None, "n_folds": 1}
    triangle = columns.triangles(rows, **options, n_threads=1)[0]
    assert np.array_equal(columns.triangles(rows, **options, n_threads=2)[0], triangle)
    products = (triangle.T @ triangle)[1 : 1 + len(small), 1 : 1 + len(small)]
    assert_close(products, values.T @ values)


def test_boosting_does_not_use_its_stale_inner_values():
    model = GradientBoostingRegressor(n_estimators=3, loss="absolute_error", random_state=0)
    model.fit(X[:200], X[:200, 0] + X[:200, 1] ** 2)
    columns = load_forest(model).group_features(X[:5], by="node")
    assert_close(columns, node_features(model, X[:5]))
    stale = model.learning_rate * sum(tree.tree_.value[0, 0, 0] for tree in model.estimators_[:, 0])
    assert abs(columns[0, 0] - stale) > 1e-3
