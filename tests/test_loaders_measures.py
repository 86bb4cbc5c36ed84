"""Models of other libraries under all measures, compared with enumerations of their forests' predictions."""

import pickle

import numpy as np
import pytest
from boosters import awkward_rows, float64_neighbours, library, tied_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.product import ProductMeasure
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from tolerance import assert_close

from fasthdmr import TreeHDMR, _core, load_forest
from fasthdmr.inspection import partial_dependence, tree_importance
from fasthdmr.loaders import Trees
from fasthdmr.loaders.sums import compared_alike

pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning", "ignore::fasthdmr.ConstantWarning")


def xgboost_model(missing=np.nan):
    return library("xgboost").XGBRegressor(n_estimators=4, max_depth=3, n_jobs=1, missing=missing)


def lightgbm_model(**options):
    options = {"min_child_samples": 1, "min_data_in_bin": 1, "n_jobs": 1, "verbose": -1} | options
    return library("lightgbm").LGBMRegressor(n_estimators=4, num_leaves=6, **options)


def catboost_model():
    options = {"allow_writing_files": False, "thread_count": 1, "verbose": 0}
    return library("catboost").CatBoostRegressor(iterations=4, depth=3, **options)


MODELS = {
    "HistGradientBoosting": lambda: HistGradientBoostingRegressor(max_iter=4, max_leaf_nodes=6, min_samples_leaf=2),
    "xgboost": xgboost_model,
    "xgboost without 0.1": lambda: xgboost_model(missing=0.1),
    "LightGBM": lightgbm_model,
    "LightGBM without 0": lambda: lightgbm_model(zero_as_missing=True),
    "CatBoost": catboost_model,
}


def of_categories(name, rows, y):
    """The model, whose last column holds categories."""
    d = rows.shape[1]
    if name == "LightGBM":
        options = {"min_data_per_group": 1, "cat_smooth": 0.1, "cat_l2": 0.1, "max_cat_to_onehot": 2}
        return lightgbm_model(**options).fit(rows, y, categorical_feature=[d - 1])
    if name == "xgboost":
        return xgboost_model().set_params(enable_categorical=True, feature_types=["q"] * (d - 1) + ["c"]).fit(rows, y)
    return MODELS[name]().set_params(categorical_features=[d - 1]).fit(rows, y)


OF_CATEGORIES = [f"{name} of categories" for name in ("HistGradientBoosting", "LightGBM", "xgboost")]
every_library = pytest.mark.parametrize("name", [*MODELS, *OF_CATEGORIES])


def fitted(name, data):
    rows, y, rng = data.draw(tied_rows())
    rows = np.round(rows, 1)[:40, :3]  # so few values that a grid of all of them can be enumerated
    rows[:, 0] += 1e-3 * np.arange(len(rows))  # CatBoost raises an error for constant data
    if name in OF_CATEGORIES:
        rows[:, -1] = np.where(rng.random(len(rows)) < 0.1, np.nan, rng.integers(0, rng.integers(2, 12), len(rows)))
        y[: len(rows)] += np.sin(5 * np.nan_to_num(rows[:, -1]))
        return of_categories(name.removesuffix(" of categories"), rows, y[:40]), rows, rng
    return MODELS[name]().fit(rows, y[:40]), rows, rng


@every_library
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_product_measure(name, data):
    model, rows, _ = fitted(name, data)
    fit, grid = TreeHDMR(model, measure="product", order=None).fit(rows), ProductMeasure(rows)
    f = load_forest(model).predict(grid.rows)
    expected, values = grid.components(f), fit.evaluate(grid.rows)
    scale = max(np.abs(f).max(), 1e-300)
    assert abs(fit.intercept_ - grid.expectation(expected[()])) <= 1e-12 * scale
    for u, f_u in expected.items():
        if u in fit.subspaces_:
            assert np.abs(values[:, fit.subspaces_.index(u)] - f_u.ravel()).max() <= 1e-12 * scale
        elif u:
            assert np.abs(f_u).max() <= 1e-12 * scale


def points_of(forest, column):
    """Some thresholds on a column, and their neighbours, without values that the model treats as missing."""
    _, _, _, _, left, _, feature, threshold, *_ = forest.core.__getstate__()
    points = threshold[(left != -1) & (feature == column)][:10]
    _, _, replaced, features, cuts, _, _ = forest.core.comparison
    points = np.concatenate([points, *(of for v, of in zip(features, cuts, strict=True) if v == column)])
    points = np.append(float64_neighbours(points), 0.3)
    low, high, by = replaced[column] if len(replaced) else (1.0, 0.0, 0.0)
    return points[np.isfinite(points) & ~(np.isnan(by) & (low <= points) & (points <= high))]


@every_library
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_partial_dependence(name, data):
    model, rows, _ = fitted(name, data)
    forest = load_forest(model)
    for column in {0, rows.shape[1] - 1}:
        points = points_of(forest, column)
        desired = []
        for value in points:
            changed = rows.copy()
            changed[:, column] = value
            desired.append(forest.predict(changed).mean())
        for source in (forest, model):
            found = partial_dependence(source, rows, [column], custom_values={column: points})
            assert_close(found["average"][0], desired)


@every_library
@given(data=st.data())
@settings(max_examples=5, deadline=None)
def test_copies_threads_and_importances(name, data):
    model, rows, rng = fitted(name, data)
    forest = load_forest(model)
    hard = np.vstack([rows, awkward_rows(rng, points_of(forest, 0), rows.shape[1], n_rows=2000)])
    twin = pickle.loads(pickle.dumps(forest))
    assert np.array_equal(forest.predict(hard), twin.predict(hard))
    assert np.array_equal(forest.predict(hard), forest.predict(np.asfortranarray(hard), n_jobs=2))
    for kind in ("per_tree", "splits", "samples", "impurity"):
        assert_close(tree_importance(model, kind=kind), tree_importance(forest, kind=kind), rtol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_weights_of_nodes_are_numbers_of_rows(name):
    rows = np.random.default_rng(0).normal(size=(60, 2))
    trees = Trees.of(load_forest(MODELS[name]().fit(rows, rows.sum(axis=1))))
    inner, root = np.flatnonzero(trees.left >= 0), trees.tree_offsets[:-1]
    assert np.array_equal(trees.weight[root], np.full(len(root), 60.0))
    first = root[np.searchsorted(root, inner, side="right") - 1]
    left, right = (trees.weight[first + child[inner]] for child in (trees.left, trees.right))
    assert np.array_equal(left + right, trees.weight[inner])


def test_values_that_the_model_treats_as_missing_are_not_on_the_grid():
    rows = np.random.default_rng(0).integers(-2, 3, size=(60, 2)).astype(float)
    forest = load_forest(lightgbm_model(zero_as_missing=True).fit(rows, rows.sum(axis=1)))
    with pytest.raises(ValueError, match=r"grid along variable 0 is a missing value to the model"):
        partial_dependence(forest, rows, [0], custom_values={0: np.array([-1.0, 0.0, 1.0])})


@pytest.mark.parametrize("categorical", [None, [0]])
def test_grids_leave_out_what_is_missing_to_the_model(categorical):
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((200, 2)) < 0.7, 0.0, rng.integers(-9, 9, size=(200, 2)))
    model = lightgbm_model(zero_as_missing=True).fit(rows, rows.sum(axis=1))
    assert load_forest(model).counts_as_missing(0, np.array([0.0, 1.0, np.nan])).tolist() == [True, False, True]
    found = partial_dependence(model, rows, [0], categorical_features=categorical)
    assert np.array_equal(found["grid_values"][0], np.setdiff1d(rows[:, 0], [0.0]))
    found = partial_dependence(model, rows, [0], grid_resolution=5)  # most of the rows are missing
    assert len(found["grid_values"][0]) == 5


@pytest.mark.parametrize("measure", ["empirical", "product"])
@pytest.mark.parametrize("name", ["HistGradientBoosting", "LightGBM", "xgboost", *OF_CATEGORIES])
def test_models_that_compare_differently_together(name, measure):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 3))
    y = rows[:, 0] * rows[:, 1]
    if name in OF_CATEGORIES:
        rows[:, 2] = rng.integers(0, 5, size=80)
        y += rows[:, 2] % 2
        model = of_categories(name.removesuffix(" of categories"), rows, y)
    else:
        model = MODELS[name]().fit(rows, y)
    models = [model, RandomForestRegressor(3, max_depth=3, random_state=0).fit(rows, y)]
    fit = TreeHDMR(models, combine="sum", order=None, smooth=False, measure=measure).fit(rows)
    total = sum(load_forest(model).predict(rows) for model in models)
    assert_close(fit.predict(rows) + fit.residual(rows), total, rtol=1e-9)
    twin = pickle.loads(pickle.dumps(fit))
    assert np.array_equal(twin.predict(rows), fit.predict(rows))


def test_models_that_take_other_values_for_missing_ones_are_not_joined():
    rows = np.random.default_rng(0).integers(-2, 3, size=(60, 2)).astype(float)
    y = rows.sum(axis=1)
    models = [lightgbm_model(zero_as_missing=True).fit(rows, y), RandomForestRegressor(2, random_state=0).fit(rows, y)]
    with pytest.raises(ValueError, match="treat different values as missing"):
        TreeHDMR(models).fit(rows, y)
    with pytest.raises(ValueError, match="compare values in different ways"):
        _core.Marginals([load_forest(model).core for model in models], rows, weight=None, n_threads=1)


def test_forests_that_compare_alike_are_left_as_they_are():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    forests = [load_forest(RandomForestRegressor(2, random_state=k).fit(rows, rows[:, 0])) for k in range(2)]
    assert all(a is b for a, b in zip(compared_alike(forests), forests, strict=True))
