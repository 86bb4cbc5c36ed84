"""TreeHDMR(measure="product"): the HDMR under the product of the marginals (spec 4)."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from models import GAPS, LABELS, Y2, X, Y
from models import fitted as zoo
from reference import trees as oracle
from reference.product import ProductMeasure
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestRegressor
from sklearn.inspection import partial_dependence
from strategies import fitted_models, hard_rows
from tolerance import assert_close

from fasthdmr import TreeHDMR, _core, load_forest
from fasthdmr.datasets import make_ishigami

# Trees have steps, and more variables than components, so residuals are large.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

BOOSTED = GradientBoostingRegressor(n_estimators=30, max_depth=3, random_state=0).fit(X, Y)


def fit(model, rows, y=None, sample_weight=None, **options):
    return TreeHDMR(model, measure="product", **options).fit(rows, y, sample_weight)


def check_against_grid(model, hdmr, X, weights=None):
    """Compare all results of hdmr with the enumeration of the grid."""
    grid = ProductMeasure(X, weights)
    outputs = oracle.raw_output(model, grid.rows).reshape(len(grid.rows), -1)
    shape = len(hdmr.subspaces_), outputs.shape[1]  # no components where no tree splits
    values = hdmr.evaluate(grid.rows).reshape(len(grid.rows), *shape)
    structural = np.reshape(hdmr.sensitivity_.Sa, shape)
    # Rounding is relative to the leaves, which may cancel or have no mass: an output may be 0 on the whole grid.
    reach = np.sum([forest.core.reach for forest in hdmr.forests_], axis=0)
    for k, f in enumerate(outputs.T):
        scale = max(np.abs(f).max(), reach[k], 1e-300)
        expected = grid.components(f)
        variances = {u: grid.expectation(f_u**2) for u, f_u in expected.items() if u}
        V = np.atleast_1d(hdmr.sensitivity_.variance)[k]
        assert abs(V - sum(variances.values())) <= 1e-12 * scale**2
        assert abs(np.atleast_1d(hdmr.intercept_)[k] - grid.expectation(expected[()])) <= 1e-12 * scale
        order = hdmr.order or len(grid.shape)
        for u, f_u in expected.items():
            if not u:
                continue
            if u in hdmr.subspaces_:
                c = hdmr.subspaces_.index(u)
                assert np.abs(values[:, c, k] - f_u.ravel()).max() <= 1e-12 * scale
                assert abs(structural[c, k] * V - variances[u]) <= 1e-12 * scale**2 or structural[c, k] == 0
            elif len(u) <= order and (hdmr.interactions is None or len(u) == 1):
                assert np.abs(f_u).max() <= 1e-12 * scale  # the model has no such component


# --- against the enumeration of the grid ----------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3, None])
@pytest.mark.parametrize(
    "name",
    ["gbr", "gbr weighted", "gbc words", "rf best first", "RandomForestRegressor 2 targets", "tree random splits"],
)
def test_components_are_those_of_the_definition(name, order):
    weights = np.random.default_rng(0).uniform(0, 2, size=len(X))
    check_against_grid(zoo(name), fit(zoo(name), X, order=order), X)
    check_against_grid(zoo(name), fit(zoo(name), X, sample_weight=weights, order=order), X, weights)


@pytest.mark.parametrize("order", [2, None])
@pytest.mark.parametrize("name", ["RandomForestRegressor NaN", "ExtraTreesRegressor NaN", "DecisionTreeRegressor NaN"])
def test_missing_values_are_a_category(name, order):
    check_against_grid(zoo(name), fit(zoo(name), GAPS, order=order), GAPS)
    check_against_grid(zoo(name), fit(zoo(name), X, order=order), X)  # none at all


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=fitted_models(), order=st.sampled_from([1, 2, 3, None]), seed=st.integers(0, 2**32 - 1), gaps=st.booleans())
@pytest.mark.filterwarnings("ignore:The output of the black box is constant")
def test_any_model_under_any_measure(case, order, seed, gaps):
    model, trained = case
    rng = np.random.default_rng(seed)
    gaps = gaps and load_forest(model).allow_nan
    rows = hard_rows(model, trained, rng, n_rows=5, nan=gaps)  # on thresholds, and between float32 and float64
    weights = rng.integers(0, 3, size=len(rows)) + (np.arange(len(rows)) == 0)
    hdmr = fit(model, rows, sample_weight=weights, order=order)
    check_against_grid(model, hdmr, rows, weights)
    if order is None:  # elsewhere too, where the measure has no mass
        new = hard_rows(model, trained, rng, nan=gaps)
        raw = oracle.raw_output(model, new)
        assert np.abs(hdmr.predict(new) - raw).max() <= 1e-12 * max(np.abs(raw).max(), 1)


def test_lists_of_boxes_equal_tables():
    """What a budget of no tables gives, and what subspaces without tables give, is the same function."""
    model = zoo("RandomForestRegressor NaN")
    forest = load_forest(model)
    marginals = _core.Marginals([forest.core], GAPS, weight=None, n_threads=1)
    trees = _core.ProductTrees([forest.core], 0, [np.ones(forest.n_trees)], marginals)
    found = []
    for table_bytes in (0, 1 << 30):
        components = _core.ProductComponents(trees, 2, None, 1, table_bytes)
        assert components.tables == (len(components.subspaces) if table_bytes else 0)
        C = len(components.subspaces)
        everything = {"begin": np.arange(C + 1), "column": np.arange(1, C + 1), "weight": np.ones(C)}
        found.append((components.evaluate(GAPS, n_threads=1, **everything), components.variances(1)))
    assert_close(found[0][0], found[1][0])
    assert_close(found[0][1], found[1][1])


# --- identities -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, None])
def test_indices_and_residual(order):
    hdmr, whole = fit(BOOSTED, X, order=order), fit(BOOSTED, X, order=None)
    assert hdmr.subspaces_ == [u for u in whole.subspaces_ if order is None or len(u) <= order]
    assert_close(hdmr.evaluate(X), whole.evaluate(X)[:, : len(hdmr.subspaces_)], 1e-12)
    indices = hdmr.sensitivity_
    assert not indices.Sb.any()
    assert_close(indices.variance, whole.sensitivity_.variance)
    assert abs(indices.S.sum() + hdmr.residual_ - 1) < 1e-12
    left_over = whole.sensitivity_.S[len(hdmr.subspaces_) :].sum()
    assert abs(hdmr.residual_ - left_over) < 1e-12
    assert (hdmr.residual_ > 1e-3) == (order is not None)
    assert np.abs(hdmr.intercept_ + hdmr.evaluate(X).sum(axis=1) - hdmr.predict(X)).max() < 1e-12
    assert_close(hdmr.predict(X) + hdmr.residual(X), BOOSTED.predict(X), 1e-12)


def test_components_are_orthogonal():
    grid, hdmr = ProductMeasure(X), fit(BOOSTED, X, order=None)
    values = hdmr.evaluate(grid.rows)
    columns = [column.reshape(grid.shape) for column in values.T]
    scale = hdmr.sensitivity_.variance
    for a, b in combinations(range(len(columns)), 2):
        assert abs(grid.expectation(columns[a] * columns[b])) < 1e-13 * scale
    assert abs(grid.expectation((columns[0] + 1e-6) * (columns[1] + 1e-6))) > 1e-13 * scale


def test_deep_trees_have_their_variance_from_pairs_of_trees():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4, size=(300, 6)).astype(float)
    y = rows.sum(axis=1) + rng.normal(size=300)
    model = RandomForestRegressor(8, random_state=0).fit(rows, y)
    grid = ProductMeasure(rows)
    f = model.predict(grid.rows).reshape(grid.shape)
    variance = grid.expectation((f - grid.expectation(f)) ** 2)
    assert_close(fit(model, rows, order=1).sensitivity_.variance, variance)
    assert_close(fit(model, rows, order=None).sensitivity_.variance, variance)


def test_main_effects_are_centred_partial_dependence():
    hdmr, grid = fit(BOOSTED, X), ProductMeasure(X)
    weights = np.ones(())
    for p in grid.probabilities:
        weights = np.multiply.outer(weights, p)
    for j in range(X.shape[1]):
        points = np.unique(X[:, j])
        curve = [
            np.average(BOOSTED.predict(np.insert(np.delete(grid.rows, j, 1), j, v, 1)), weights=weights.ravel())
            for v in points
        ]
        assert_close(hdmr.component(j)(points), curve - np.average(curve, weights=grid.probabilities[j]), 1e-11)


def test_on_a_full_grid_it_is_scikit_learns_partial_dependence():
    grid = ProductMeasure(X[:40])
    hdmr = fit(BOOSTED, grid.rows)
    for j in range(X.shape[1]):
        found = partial_dependence(BOOSTED, grid.rows, [j], method="brute", kind="average", grid_resolution=50)
        curve = found["average"][0]
        values = hdmr.component(j)(found["grid_values"][0])
        assert_close(values - values.mean(), curve - curve.mean(), 1e-11)


def test_ishigami():
    rows, y = make_ishigami(20_000, random_state=0)
    model = GradientBoostingRegressor(n_estimators=300, max_depth=4, subsample=0.5, random_state=0).fit(rows, y)
    hdmr = fit(model, rows, order=None)
    S = dict(zip(hdmr.subspaces_, hdmr.sensitivity_.S, strict=True))
    expected = {(0,): 0.31390519114781, (1,): 0.44241114479004, (2,): 0, (0, 1): 0, (0, 2): 0.24368366406215}
    for u, value in expected.items():
        assert abs(S[u] - value) < 0.01, "20,000 rows and a fitted model"


# --- equivalent ways to the same result--------------------------------------------------------------------------------


def test_weights_are_repetitions():
    weights = np.random.default_rng(0).integers(0, 3, size=len(X))
    weighted = fit(BOOSTED, X, sample_weight=weights)
    repeated = fit(BOOSTED, np.repeat(X, weights, axis=0))
    assert np.array_equal(weighted.evaluate(X), repeated.evaluate(X))
    assert np.array_equal(weighted.sensitivity_.S, repeated.sensitivity_.S)
    assert not np.allclose(weighted.sensitivity_.S, fit(BOOSTED, X).sensitivity_.S, rtol=1e-4)


def test_only_the_marginals_matter():
    rng = np.random.default_rng(0)
    shuffled = np.column_stack([rng.permutation(column) for column in X.T])
    assert np.array_equal(fit(BOOSTED, shuffled).sensitivity_.S, fit(BOOSTED, X).sensitivity_.S)


@pytest.mark.parametrize("order", [2, 3])
def test_results_do_not_depend_on_threads_or_memory_order(order):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 5))
    model = RandomForestRegressor(20, max_depth=6, random_state=0).fit(rows, rows[:, 0] * rows[:, 1] + rows[:, 2])
    weights = rng.random(3000)
    base = fit(model, rows, sample_weight=weights, order=order)
    for n_jobs, other in ((2, rows), (-1, np.asfortranarray(rows)), (3, rows[::-1][::-1])):
        again = fit(model, other, sample_weight=weights, order=order, n_jobs=n_jobs)
        assert np.array_equal(again.sensitivity_.S, base.sensitivity_.S)
        assert again.residual_ == base.residual_
        assert np.array_equal(again.evaluate(other), base.evaluate(rows))


def test_parameters_of_spans_are_ignored():
    base = fit(BOOSTED, X)
    for options in ({"basis": "trees"}, {"basis": "bins", "n_splines": 7}, {"degree": 1}, {"smooth": False}):
        assert np.array_equal(fit(BOOSTED, X, **options).evaluate(X), base.evaluate(X))


@pytest.mark.filterwarnings("ignore:.*numerical rank")
def test_ridge_scales_the_trees():
    models = [GradientBoostingRegressor(n_estimators=20, max_depth=d, random_state=0).fit(X, Y) for d in (1, 2, 3)]
    hdmr = fit(models, X, Y, order=None)
    trees = TreeHDMR(models, basis="trees", order=None).fit(X, Y)
    assert np.array_equal(hdmr.coef_, trees.coef_)
    assert hdmr.alpha_ == trees.alpha_
    assert_close(hdmr.predict(X), trees.predict(X), 1e-11)
    summed = fit(models, X, combine="sum", order=None)
    assert_close(summed.predict(X), sum(model.predict(X) for model in models))
    assert_close(summed.component(0)(X[:, 0]), sum(fit(model, X).component(0)(X[:, 0]) for model in models))


def test_interactions():
    hdmr, whole = fit(BOOSTED, X, order=3, interactions=[(0, 1), (0, 1, 2)]), fit(BOOSTED, X, order=None)
    assert hdmr.subspaces_ == [(0,), (1,), (2,), (3,), (0, 1), (0, 1, 2)]
    assert_close(hdmr.component((0, 1, 2))(X[:, :3]), whole.component((0, 1, 2))(X[:, :3]))
    assert_close(hdmr.sensitivity_.variance, whole.sensitivity_.variance)
    assert 0 < hdmr.residual_ < 1


def test_pickle_and_several_outputs():
    hdmr = fit(zoo("RandomForestRegressor 2 targets"), X)
    copied = pickle.loads(pickle.dumps(hdmr))
    assert hdmr.evaluate(X).shape == (len(X), len(hdmr.subspaces_), 2)
    assert hdmr.transform(X).shape == (len(X), 2 * len(hdmr.subspaces_))
    assert np.array_equal(copied.evaluate(X), hdmr.evaluate(X))
    assert np.array_equal(copied.residual(X), hdmr.residual(X))
    assert np.array_equal(copied.component((0, 1))(X[:, :2]), hdmr.component((0, 1))(X[:, :2]))


def test_normalise_names_and_scores():
    pd = pytest.importorskip("pandas", reason="pandas is not installed: pip install 'fasthdmr[frame]'")

    frame = pd.DataFrame(X, columns=list("abcd"))
    model = GradientBoostingRegressor(n_estimators=12, random_state=0).fit(frame, Y)
    hdmr = fit(model, frame, Y, normalise="data", interactions=[("a", "b")])
    assert_close(hdmr.sensitivity_.variance, Y.var())
    assert hdmr.sensitivity_.names == ["a", "b", "c", "d", "a & b"]
    assert_close(hdmr.component("a")(X[:, 0]), hdmr.set_output(transform="pandas").transform(frame)["a"])
    assert 0.9 < hdmr.fidelity(frame) <= 1
    assert 0.5 < hdmr.score(frame, Y) < 1
    assert hdmr.component("a").fourier(2)(X[:, 0]).shape == (len(X),)


def test_classes_of_a_forest_cancel():
    model = zoo("rfc balanced subsample")
    assert len(np.unique(LABELS)) == 3
    hdmr = fit(model, X, order=None)
    assert np.abs(hdmr.evaluate(X).sum(axis=2)).max() < 1e-13
    assert np.abs(hdmr.evaluate(X)).max() > 0.05


def test_unfitted_members_are_fitted():
    hdmr = fit(RandomForestRegressor(5, random_state=0), X, Y2)
    assert hdmr.sensitivity_.n_outputs == 2


def test_a_constant_output_warns():
    model = GradientBoostingRegressor(n_estimators=3).fit(X, np.full(len(X), 3.5))
    with pytest.warns(UserWarning, match="is constant"):
        hdmr = fit(model, X)
    assert hdmr.subspaces_ == []
    assert_close(hdmr.predict(X), np.full(len(X), 3.5))


# --- limits ---------------------------------------------------------------------------------------------------------


def test_computations_that_take_too_long_are_refused():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 40))
    model = RandomForestRegressor(20, random_state=0).fit(rows, rows.sum(axis=1))
    with pytest.raises(ValueError, match=r"subspaces of the paths to leaves.*lower order"):
        fit(model, rows, order=None)


def test_wrong_measures_are_refused():
    with pytest.raises(ValueError, match="measure must be"):
        TreeHDMR(BOOSTED, measure="gaussian").fit(X)


def test_binary_classifier():
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, LABELS > 0)
    assert_close(fit(model, X, order=None).predict(X), model.decision_function(X))
