"""Importance by splits, against scikit-learn's own and a slow count."""

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor
from tolerance import assert_close

from fasthdmr import load_forest
from fasthdmr.inspection import tree_importance

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * RNG.normal(size=300)
LABELS = np.digitize(Y, [-0.5, 0.5])
FORESTS = [
    RandomForestRegressor(15, random_state=0).fit(X, Y),
    RandomForestRegressor(15, criterion="absolute_error", max_depth=3, random_state=0).fit(X, Y),
    RandomForestClassifier(15, random_state=0).fit(X, LABELS),
    ExtraTreesClassifier(15, criterion="entropy", random_state=0).fit(X, LABELS),
    RandomForestRegressor(5, random_state=0).fit(X, np.column_stack([Y, X[:, 3]])),
]
OTHERS = [
    GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, Y),
    GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, LABELS),
    DecisionTreeRegressor(random_state=0).fit(X, Y, RNG.integers(0, 3, 300)),
]


def name(model):
    return type(model).__name__


@pytest.mark.parametrize("model", FORESTS, ids=name)
def test_per_tree_is_the_importance_of_forests(model):
    assert_close(tree_importance(model), model.feature_importances_)


@pytest.mark.parametrize("model", OTHERS, ids=name)
def test_impurity_is_the_importance_of_boosting_and_of_single_trees(model):
    assert_close(tree_importance(model, kind="impurity"), model.feature_importances_)


@pytest.mark.parametrize("model", FORESTS + OTHERS, ids=name)
def test_splits_and_samples_are_counts(model):
    splits, samples = np.zeros(4), np.zeros(4)
    for member in np.ravel(getattr(model, "estimators_", [model])):
        tree = member.tree_
        for m in np.flatnonzero(tree.children_left >= 0):
            splits[tree.feature[m]] += 1
            samples[tree.feature[m]] += tree.weighted_n_node_samples[m] / tree.weighted_n_node_samples[0]
    assert_close(tree_importance(model, kind="splits"), splits / splits.sum())
    assert_close(tree_importance(model, kind="samples"), samples / samples.sum())


@pytest.mark.parametrize("kind", ["per_tree", "splits", "samples", "impurity"])
@pytest.mark.parametrize("model", [FORESTS[0], FORESTS[4], OTHERS[0]], ids=name)
def test_a_loaded_forest_has_the_same_importance_for_squared_error(model, kind):
    assert_close(tree_importance(load_forest(model), kind=kind), tree_importance(model, kind=kind))


def test_wrapped_models():
    model = OTHERS[0]
    assert_close(tree_importance(make_pipeline("passthrough", model)), tree_importance(model))


@pytest.mark.parametrize("kind", ["per_tree", "splits", "samples", "impurity"])
def test_no_split_no_importance(kind):
    model = RandomForestRegressor(3).fit(X, np.ones(300))
    assert_close(tree_importance(model, kind=kind), np.zeros(4))
    assert_close(tree_importance(load_forest(model), kind=kind), np.zeros(4))


def test_other_kinds_are_refused():
    with pytest.raises(ValueError, match=r"kind must be one of .*'per_tree'.* got 'gain'"):
        tree_importance(OTHERS[0], kind="gain")
