"""Shapley values and interactions of HDMRs: against the definition, against shap, and their axioms."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from boosters import lightgbm_of_small_data
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from models import GAPS, LABELS, Y2, X, Y
from models import fitted as zoo
from reference import shapley as oracle
from reference.product import ProductMeasure
from reference.trees import raw_output
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from strategies import fitted_models, hard_rows
from tolerance import assert_close

from fasthdmr import HDMR, KernelHDMR, TreeHDMR
from fasthdmr.datasets import make_apartments

pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning")

BOOSTED = GradientBoostingRegressor(n_estimators=30, max_depth=3, random_state=0).fit(X, Y)


def game_of(hdmr, rows):
    """v(S): f_0 and the components of the subsets of S, (N,) or (N, K)."""
    values = hdmr.evaluate(rows)

    def game(coalition):
        inside = [c for c, u in enumerate(hdmr.subspaces_) if set(u) <= coalition]
        return hdmr.intercept_ + values[:, inside].sum(axis=1)

    return game


def check_definition(hdmr, rows):
    """Compare with the definition, and check that matrices sum to values, and values to the prediction."""
    n = len(hdmr.feature_names_)
    found, matrices, game = hdmr.shapley_values(rows), hdmr.shapley_interactions(rows), game_of(hdmr, rows)
    scale = max(np.abs(hdmr.evaluate(rows)).sum(axis=1).max(initial=0.0), np.abs(hdmr.intercept_).max(), 1e-300)

    def close(found, expected):
        assert found.shape == expected.shape and np.abs(found - expected).max() <= 1e-12 * scale

    close(np.moveaxis(found, 1, -1), oracle.values(game, n))
    close(np.moveaxis(matrices, (1, 2), (-2, -1)), oracle.interactions(game, n))
    close(matrices.sum(axis=2), found)
    close(hdmr.intercept_ + found.sum(axis=1), hdmr.predict(rows))
    assert np.array_equal(matrices, matrices.swapaxes(1, 2))
    unused = [i for i in range(n) if not any(i in u for u in hdmr.subspaces_)]
    assert not found[:, unused].any() and not matrices[:, unused].any()


# --- against the definition -----------------------------------------------------------------------------------------


def estimators():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    forest = RandomForestRegressor(10, max_depth=4, random_state=0)
    gaps = pd.DataFrame(GAPS, columns=frame.columns)
    classifier = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, LABELS)
    machine = KernelRidge(kernel="poly", degree=3, coef0=1.0).fit(X, Y)
    return {
        "spans": (TreeHDMR(BOOSTED), X),
        "third order": (TreeHDMR(BOOSTED, order=3, smooth=False), X),
        "tree columns": (TreeHDMR(BOOSTED, basis="trees", order=None), X),
        "product": (TreeHDMR(BOOSTED, measure="product", order=None), X),
        "chosen interactions": (TreeHDMR(BOOSTED, measure="product", interactions=[(0, 1)]), X),
        "missing values": (TreeHDMR(forest.fit(gaps, Y), measure="product", order=None), gaps),
        "groups": (TreeHDMR(BOOSTED, order=3, feature_groups={"place": [0, 2]}), X),
        "groups, product": (TreeHDMR(BOOSTED, measure="product", order=None, feature_groups={"place": [0, 2]}), X),
        "three classes": (TreeHDMR(classifier), X),
        "function": (HDMR(lambda X: X[:, 0] * X[:, 1] + X[:, 2]), X),
        "two outputs": (HDMR(lambda X: np.column_stack([X[:, 0] * X[:, 1], X[:, 2]])), X),
        "kernel machine": (KernelHDMR(machine), X),
        "constant": (TreeHDMR(GradientBoostingRegressor(n_estimators=1).fit(X, np.ones(len(X)))), X),
    }


@pytest.mark.parametrize("name", estimators())
def test_values_are_those_of_the_game_of_components(name):
    hdmr, rows = estimators()[name]
    check_definition(hdmr.fit(rows), rows)


def test_rows_where_components_extrapolate():
    """Components of pairs are changed at points in cells without rows."""
    rng = np.random.default_rng(0)
    line = rng.uniform(-1, 1, size=(500, 1))
    rows = line + 0.05 * rng.normal(size=(500, 3))
    hdmr = HDMR(lambda X: X[:, 0] * X[:, 1] + X[:, 2] ** 2).fit(rows)
    far = rng.uniform(-1, 1, size=(200, 3))
    decomposition = hdmr.decomposition_
    assert any(len(moved) for _, moved, _ in decomposition._changes(far, 0, np.arange(len(hdmr.subspaces_))))
    check_definition(hdmr, far)


def test_levels_and_unknown_levels():
    rows, y = make_apartments(400, random_state=0)
    hdmr = HDMR().fit(rows, y)
    check_definition(hdmr, rows)
    other = rows.copy()
    name = next(name for name, dtype in rows.dtypes.items() if dtype.name in ("category", "object", "str", "string"))
    other[name] = other[name].astype(object)
    other.iloc[:5, other.columns.get_loc(name)] = "a level that was not seen"
    check_definition(hdmr, other)


@pytest.mark.parametrize("options", [{}, {"measure": "product", "order": None}])
def test_trees_that_split_by_levels(options):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"city": pd.Categorical(rng.choice(list("abcde"), 200)), "area": rng.normal(size=200)})
    y = rows["area"] * (rows["city"] == "a") + (rows["city"] == "b")
    model = lightgbm_of_small_data(n_estimators=10).fit(rows, y)
    check_definition(TreeHDMR(model, **options).fit(rows), rows)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(fitted_models(), st.sampled_from([None, 2]), st.integers(0, 2**32 - 1))
def test_tree_models(model_and_rows, order, seed):
    model, rows = model_and_rows
    rng = np.random.default_rng(seed)
    hdmr = TreeHDMR(model, measure="product", order=order).fit(rows, np.zeros(len(rows)))
    check_definition(hdmr, hard_rows(model, rows, rng, nan=bool(np.isnan(rows).any())))


# --- the product measure: interventional SHAP -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gbr", "RandomForestRegressor NaN", "gbc words", "RandomForestRegressor 2 targets"])
def test_product_measure_is_interventional_on_the_product_of_marginals(name):
    """v(S) is the mean over the grid of the model with the variables in S set to the values of the row."""
    model = zoo(name)
    few = (GAPS if "NaN" in name else X)[:25, :]
    hdmr = TreeHDMR(model, measure="product", order=None).fit(few, np.zeros(25))
    grid = ProductMeasure(few)
    f = raw_output(model, grid.rows)
    f = f.reshape(*grid.shape, -1)
    n = len(grid.shape)

    def game(coalition):
        means = [grid.mean(f[..., k], [j for j in range(n) if j not in coalition]) for k in range(f.shape[-1])]
        return np.stack([np.broadcast_to(mean, grid.shape).ravel() for mean in means], axis=-1)

    expected = np.moveaxis(oracle.values(game, n), -1, 1)
    found = hdmr.shapley_values(grid.rows).reshape(expected.shape)
    assert_close(found, expected, 1e-12)
    matrices = np.moveaxis(oracle.interactions(game, n), (-2, -1), (1, 2))
    assert_close(hdmr.shapley_interactions(grid.rows).reshape(matrices.shape), matrices, 1e-12)


def full_factorial(n_levels=3, n_variables=4):
    axes = np.meshgrid(*[np.linspace(-1, 1, n_levels)] * n_variables, indexing="ij")
    return np.column_stack([axis.ravel() for axis in axes])


@pytest.mark.parametrize("depth", [1, 3, 4])
def test_equal_to_shap_on_a_full_factorial(depth):
    """The rows of a full factorial are the product of their marginals."""
    shap = pytest.importorskip("shap", reason="shap is not installed: pip install 'fasthdmr[shap]'")
    rows = full_factorial()
    y = 1 + rows[:, 0] + rows[:, 1] * rows[:, 2] + rows[:, 0] * rows[:, 1] * rows[:, 3]
    model = GradientBoostingRegressor(n_estimators=20, max_depth=depth, random_state=0).fit(rows, y)
    hdmr = TreeHDMR(model, measure="product", order=None).fit(rows)
    explainer = shap.TreeExplainer(model, shap.maskers.Independent(rows, max_samples=len(rows)))
    float32 = "shap adds up leaves in single precision"
    assert_close(hdmr.shapley_values(rows), explainer.shap_values(rows), 1e-5, reason=float32)
    assert_close(hdmr.intercept_, explainer.expected_value, 1e-5, reason=float32)


# --- axioms ---------------------------------------------------------------------------------------------------------


def test_an_ignored_variable_gets_zero_although_it_is_correlated():
    rng = np.random.default_rng(0)
    rows = rng.multivariate_normal(np.zeros(3), np.full((3, 3), 0.9) + 0.1 * np.eye(3), 1000)
    ignoring = GradientBoostingRegressor(max_depth=2, random_state=0).fit(rows * [1, 1, 0], rows[:, 0] * rows[:, 1])
    for measure in ("empirical", "product"):
        values = TreeHDMR(ignoring, measure=measure).fit(rows).shapley_values(rows)
        assert not values[:, 2].any() and values[:, :2].any()


def test_equal_players_get_equal_shares():
    rows = full_factorial(5, 3)
    hdmr = HDMR(lambda X: X[:, 0] * X[:, 1] + X[:, 0] + X[:, 1] + X[:, 2]).fit(rows)
    swapped = rows[:, [1, 0, 2]]
    assert_close(hdmr.shapley_values(swapped)[:, [1, 0, 2]], hdmr.shapley_values(rows), 1e-10)


@pytest.mark.parametrize("options", [{}, {"measure": "product", "order": None}])
def test_values_are_linear_in_the_output(options):
    """The outputs are f, g and f + g."""
    targets = np.column_stack([Y2, Y2.sum(axis=1)])
    model = RandomForestRegressor(10, max_depth=3, random_state=0).fit(X, targets)
    values = TreeHDMR(model, **options).fit(X).shapley_values(X)
    assert_close(values[:, :, 0] + values[:, :, 1], values[:, :, 2], 1e-10)


def test_second_order_interactions_are_components():
    hdmr = TreeHDMR(BOOSTED).fit(X)
    matrices, components = hdmr.shapley_interactions(X), hdmr.evaluate(X)
    for c, u in enumerate(hdmr.subspaces_):
        assert_close(matrices[:, u[0], u[-1]], components[:, c] / len(u), 1e-12)


# --- rows, frames, threads ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"measure": "product", "order": None}, {"order": 3, "smooth": False}])
def test_bit_identical_for_any_number_of_threads_and_blocks(options, monkeypatch):
    many = np.tile(X, (60, 1))
    one, two = (TreeHDMR(BOOSTED, n_jobs=n_jobs, **options).fit(many) for n_jobs in (1, 3))
    assert np.array_equal(one.shapley_values(many), two.shapley_values(many))
    matrices = one.shapley_interactions(many)
    assert np.array_equal(matrices, two.shapley_interactions(many))
    monkeypatch.setattr("fasthdmr._results.shapley._NUMBERS", 5000)
    assert np.array_equal(matrices, one.shapley_interactions(many))


def test_frames_and_errors():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    hdmr = TreeHDMR(GradientBoostingRegressor(n_estimators=5, random_state=0).fit(frame, Y)).fit(frame)
    before = frame.copy()
    values = hdmr.shapley_values(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert values.shape == X.shape and values.dtype == np.float64
    assert np.array_equal(values, hdmr.shapley_values(pl.DataFrame(dict(frame))))
    for method in (hdmr.shapley_values, hdmr.shapley_interactions):
        with pytest.raises(ValueError, match="feature names"):
            method(frame[["b", "a", "c", "d"]])
        with pytest.raises(ValueError, match="feature names"):
            method(frame[["a", "b", "c"]])
    with pytest.raises(NotFittedError):
        TreeHDMR(BOOSTED).shapley_values(X)
    with pytest.raises(NotFittedError):
        TreeHDMR(BOOSTED).shapley_interactions(X)
