"""TreeHDMR in spans of splines and bins (spec 3 and 4)."""

import pickle
import tracemalloc
import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from models import fitted as zoo
from reference import spans as reference
from reference import trees as oracle
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from strategies import fitted_models
from tolerance import assert_close, relative_error

from fasthdmr import TreeHDMR, load_forest
from fasthdmr.datasets import make_bilinear_gaussian, make_ishigami

pytestmark = pytest.mark.filterwarnings(
    "ignore::fasthdmr.ResidualWarning",  # trees have steps, and more variables than components
    "ignore::fasthdmr.ConcurvityWarning",  # variables are collinear on purpose, or because there are few rows
)

X, y = make_ishigami(1500, random_state=0)
NEW = make_ishigami(300, random_state=1)[0]
MODEL = GradientBoostingRegressor(n_estimators=80, max_depth=3, random_state=0).fit(X, y)
SUMS = "sums of products, not of squares"
# Five variables, so that some trees split on more than three of them.
X_FIVE = np.random.default_rng(2).normal(size=(500, 5))
FIVE = GradientBoostingRegressor(n_estimators=40, max_depth=3, random_state=0).fit(
    X_FIVE, X_FIVE[:, 0] * X_FIVE[:, 1] + X_FIVE[:, 2] * X_FIVE[:, 3] + X_FIVE[:, 4]
)


def fit_quietly(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)  # few or tied rows
        warnings.filterwarnings("ignore", message=".*pairs of variables are left out")
        warnings.filterwarnings("ignore", message="The output of the black box is constant")
        return TreeHDMR(args[0], **options).fit(*args[1:])


def terms_of(model, rows, *, hybrid):
    """The model's terms {u: values}: by node, or trees of at most three variables whole and larger ones joined."""
    terms = {}

    def add(groups, features):
        for (_, u, *_), column in zip(groups, features.T, strict=True):
            if u:
                terms[u] = terms.get(u, 0) + column

    if not hybrid:
        add(oracle.node_groups(model), oracle.node_features(model, rows))
        return terms
    groups = oracle.groups(model)
    few = [g for g, (_, u, _) in enumerate(groups) if len(u) <= 3]
    add([groups[g] for g in few], oracle.group_features(model, rows)[:, few])
    many = [t for _, u, trees in groups if len(u) > 3 for t in trees]
    options = {"trees": many, "joined": True}
    add(oracle.node_groups(model, **options), oracle.node_features(model, rows, **options))
    return terms


# --- against the slow reference -------------------------------------------------------------------------------------


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("basis", ["spline", "bins"])
@pytest.mark.parametrize(("model", "X"), [(MODEL, X), (FIVE, X_FIVE)], ids=["three variables", "five variables"])
def test_components_are_those_of_the_reference(model, X, basis, order, smooth):
    weights = np.random.default_rng(0).uniform(0.5, 2, size=len(X))
    hdmr = TreeHDMR(model, basis=basis, order=order, smooth=smooth, n_splines=(6, 4, 3)).fit(X, sample_weight=weights)
    used = hdmr.decomposition_.dictionary.basis
    terms = terms_of(model, X, hybrid=smooth)
    expected = reference.top_down(used.subspaces, reference.columns(used, X), terms, weights, smooth=smooth)
    values = hdmr.evaluate(X)
    f = model.predict(X)
    for c, u in enumerate(hdmr.subspaces_):
        assert np.abs(values[:, c] - expected[u] + np.average(expected[u], weights=weights)).max() < 1e-8 * f.std()
    share = weights / weights.sum()
    centred = f - share @ f
    assert_close(hdmr.sensitivity_.Sa, share @ values**2 / (share @ centred**2), 1e-8, reason=SUMS)
    assert_close(hdmr.sensitivity_.S, (share * centred) @ values / (share @ centred**2), 1e-8, reason=SUMS)


# --- identities -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_components_and_residual_sum_to_the_model(order, smooth):
    hdmr = TreeHDMR(MODEL, order=order, smooth=smooth).fit(X)
    for rows in (X, NEW):
        whole = hdmr.intercept_ + hdmr.evaluate(rows).sum(axis=1) + hdmr.residual(rows)
        assert_close(whole, MODEL.predict(rows), 1e-9)
    difference = MODEL.predict(X) - hdmr.predict(X)
    share = np.cov(difference, MODEL.predict(X), bias=True)[0, 1] / MODEL.predict(X).var()
    assert abs(hdmr.residual_ - share) < 1e-8
    assert abs(hdmr.sensitivity_.S.sum() + hdmr.residual_ - 1) < 1e-10
    if order == 3 and not smooth:
        assert np.abs(difference).max() < 1e-9 * np.abs(y).max()
    else:
        assert hdmr.residual_ > 1e-4


@pytest.mark.parametrize("smooth", [True, False])
def test_components_are_orthogonal_to_the_spans_below_up_to_the_ridge(smooth):
    hdmr = TreeHDMR(MODEL, order=3, smooth=smooth).fit(X)
    used = hdmr.decomposition_.dictionary.basis
    designs = dict(zip(used.subspaces, reference.columns(used, X), strict=True))

    def share_below(u, component):
        below = [d for v, d in designs.items() if set(v) < set(u)]
        return np.var(reference.project(component, below, np.ones(len(X)), 1e-9)[0]) / y.var()

    for u, component in zip(hdmr.subspaces_, hdmr.evaluate(X).T, strict=True):
        assert share_below(u, component) < 2e-5
        if len(u) > 1:
            assert share_below(u, component + 0.1 * X[:, u[0]]) > 1e-4


@pytest.mark.parametrize("smooth", [True, False])
def test_components_do_not_depend_on_the_order(smooth):
    """Terms of at most three variables: those of order 2 are the same with and without triples."""
    pairs, triples = (TreeHDMR(MODEL, order=order, smooth=smooth).fit(X) for order in (2, 3))
    same = [triples.subspaces_.index(u) for u in pairs.subspaces_]
    assert_close(triples.evaluate(NEW)[:, same], pairs.evaluate(NEW), 1e-9)


@pytest.mark.parametrize(("smooth", "share"), [(True, (0.0, 0.015)), (False, (0.05, 0.09))])
def test_components_with_steps_are_orthogonal_to_the_spans_only(smooth, share):
    """As in docs/reading-an-hdmr.md: 1 % (noise of 200 bins) or 7 % of f_12 is a function of one variable."""
    rows = np.random.default_rng(0).multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], size=20_000)
    values = rows.sum(axis=1) + rows.prod(axis=1)
    model = GradientBoostingRegressor(max_depth=2, random_state=0).fit(rows[:5000], values[:5000])
    pair = TreeHDMR(model, smooth=smooth).fit(rows).component((0, 1))(rows)
    bins = np.searchsorted(np.quantile(rows[:, 0], np.arange(1, 200) / 200), rows[:, 0])
    means = np.bincount(bins, pair) / np.bincount(bins)
    low, high = share
    assert low <= np.var(means[bins]) / np.var(pair) <= high


@pytest.mark.parametrize("smooth", [True, False])
def test_a_component_does_not_depend_on_other_variables(smooth):
    hdmr = TreeHDMR(MODEL, order=2, smooth=smooth).fit(X)
    rng = np.random.default_rng(0)
    before = hdmr.evaluate(NEW)
    for c, u in enumerate(hdmr.subspaces_):
        rows = rng.permutation(NEW)
        rows[:, list(u)] = NEW[:, list(u)]
        assert np.array_equal(hdmr.evaluate(rows)[:, c], before[:, c])
        assert_close(hdmr.components_[c](NEW[:, list(u)]), before[:, c])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=fitted_models(), order=st.integers(1, 3), smooth=st.booleans(), basis=st.sampled_from(["spline", "bins"]))
def test_identities_hold_for_any_model(case, order, smooth, basis):
    model, rows = case
    hdmr = fit_quietly(model, rows, order=order, smooth=smooth, basis=basis)
    raw = oracle.raw_output(model, rows)
    scale = np.abs(raw).max() or 1.0
    values = hdmr.evaluate(rows)
    assert np.isfinite(values).all()
    whole = hdmr.intercept_ + values.sum(axis=1) + hdmr.residual(rows)
    assert np.abs(whole - raw).max() <= 1e-9 * scale
    assert np.abs(values.mean(axis=0)).max(initial=0) <= 1e-6 * scale
    total = hdmr.sensitivity_.S.sum(axis=0) + hdmr.residual_
    assert np.all((np.abs(total - 1) < 1e-9) | (total == 0))


def test_splines_separate_main_effects_where_tree_columns_do_not():
    rows, values = make_bilinear_gaussian(3000, rho=0.0, random_state=0)
    model = GradientBoostingRegressor(n_estimators=200, max_depth=2, random_state=0).fit(rows, values)
    trapped = TreeHDMR(model, basis="trees").fit(rows).sensitivity_
    cured = TreeHDMR(model).fit(rows).sensitivity_
    assert trapped.Sa[-1] > 0.8
    assert_close(cured.Sa, np.full(3, 1 / 3), 0.2, reason="3,000 rows, a fitted model")


def test_linearity():
    iris = load_iris()
    model = RandomForestClassifier(30, max_depth=4, random_state=0).fit(iris.data, iris.target)
    for order in (1, 2):
        hdmr = fit_quietly(model, iris.data, order=order)
        assert np.abs(hdmr.evaluate(iris.data).sum(axis=2)).max() < 1e-8
        assert_close(hdmr.intercept_.sum(), 1.0)
        assert np.abs(hdmr.evaluate(iris.data)).max() > 0.05


# --- measure, models, sizes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"smooth": False}, {"basis": "bins"}, {"order": 3}])
def test_weights_are_repetitions(options):
    weights = np.random.default_rng(0).integers(0, 3, size=len(X))
    weighted = TreeHDMR(MODEL, **options).fit(X, sample_weight=weights)
    repeated = TreeHDMR(MODEL, **options).fit(np.repeat(X, weights, axis=0))
    assert_close(weighted.evaluate(NEW), repeated.evaluate(NEW), 1e-8, reason="case O24 asks for 1e-8")
    assert_close(weighted.sensitivity_.S, repeated.sensitivity_.S, 1e-9)
    assert relative_error(TreeHDMR(MODEL, **options).fit(X).sensitivity_.S, weighted.sensitivity_.S) > 1e-4


def test_results_do_not_depend_on_threads_or_memory_order():
    big = np.random.default_rng(0).uniform(-3, 3, size=(6000, 3))
    for smooth in (True, False):
        base = TreeHDMR(MODEL, smooth=smooth).fit(big)
        for other in (
            TreeHDMR(MODEL, smooth=smooth, n_jobs=2).fit(big),
            TreeHDMR(MODEL, smooth=smooth, n_jobs=-1).fit(np.asfortranarray(big)),
        ):
            assert np.array_equal(base.sensitivity_.Sa, other.sensitivity_.Sa)
            assert np.array_equal(base.evaluate(big), other.evaluate(np.asfortranarray(big)))


def test_several_models_are_combined_by_ridge():
    models = [GradientBoostingRegressor(n_estimators=40, max_depth=d, random_state=0).fit(X, y) for d in (1, 2)]
    trees, splines = TreeHDMR(models, basis="trees").fit(X, y), TreeHDMR(models, smooth=False).fit(X, y)
    assert trees.alpha_ == splines.alpha_
    assert_close(splines.coef_, trees.coef_)
    smooth = TreeHDMR(models).fit(X, y)
    assert_close(smooth.predict(NEW) + smooth.residual(NEW), trees.predict(NEW) + trees.residual(NEW), 1e-9)
    assert_close(splines.predict(NEW) + splines.residual(NEW), trees.predict(NEW) + trees.residual(NEW), 1e-9)
    assert splines.score(X, y) > 0.9


def test_deep_forests_of_several_outputs_in_few_columns():
    targets = np.column_stack([y, X[:, 0] ** 2])
    model = RandomForestRegressor(20, random_state=0).fit(X, targets)
    hdmr = TreeHDMR(model).fit(X)
    assert hdmr.evaluate(NEW).shape == (300, len(hdmr.subspaces_), 2)
    assert_close(hdmr.predict(NEW) + hdmr.residual(NEW), model.predict(NEW), 1e-9)
    assert (hdmr.residual_ < 0.1).all()
    assert hdmr.sensitivity_.ST[0, 1] > 0.9


def test_missing_values_have_a_column():
    model = zoo("RandomForestRegressor NaN")
    rows = np.where(np.random.default_rng(0).random((200, 4)) < 0.2, np.nan, np.random.default_rng(1).random((200, 4)))
    hdmr = fit_quietly(model, rows)
    assert np.isfinite(hdmr.evaluate(rows)).all()
    assert_close(hdmr.predict(rows) + hdmr.residual(rows), model.predict(rows), 1e-9)
    assert hdmr.__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(ValueError, match="contains NaN"):
        TreeHDMR(MODEL).fit(np.where(np.arange(3) == 1, np.nan, X))


def test_no_pair_is_left_out_for_few_rows():
    data = load_breast_cancer()
    model = GradientBoostingClassifier(n_estimators=50, random_state=0).fit(data.data, data.target)
    hdmr = fit_quietly(model, data.data)
    paths = {group.subspace for group in load_forest(model).node_groups}
    assert set(hdmr.subspaces_) == {v for u in paths for t in (1, 2) for v in combinations(u, t)}
    assert hdmr.fidelity(data.data) > 0.9


def test_chosen_interactions():
    hdmr = TreeHDMR(MODEL, order=3, interactions=[("x0", "x2")]).fit(X)
    assert hdmr.subspaces_ == [(0,), (1,), (2,), (0, 2)]
    assert abs(hdmr.residual_) > 0


def test_memory_of_a_fit_does_not_grow_with_rows():
    peaks = []
    for repeats in (6, 16):  # beyond the rows that sizes are chosen on
        rows = np.tile(X, (repeats, 1))
        tracemalloc.start()
        TreeHDMR(MODEL).fit(rows)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # What Python holds: the sample for knots and bounds, but nothing with a column a span; bench reports all memory.
    assert peaks[1] - peaks[0] < 2 * 7 * X.nbytes


def test_additive_models_have_no_interactions():
    stumps = GradientBoostingRegressor(n_estimators=30, max_depth=1, random_state=0).fit(X, y)
    hdmr = TreeHDMR(stumps, smooth=False).fit(X)
    assert max(map(len, hdmr.subspaces_)) == 1
    assert_close(hdmr.predict(NEW), stumps.predict(NEW), 1e-9)


def test_pickle_and_forest():
    hdmr = TreeHDMR(load_forest(MODEL), smooth=False).fit(X)
    assert np.array_equal(pickle.loads(pickle.dumps(hdmr)).evaluate(NEW), hdmr.evaluate(NEW))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"degree": 5}, "degree must be"), ({"n_splines": (4,)}, "a tuple of 2"), ({"n_splines": 1}, "at least 2")],
)
def test_wrong_parameters_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TreeHDMR(MODEL, **options).fit(X)


@pytest.mark.parametrize("n_rows", [250, 1000])
@pytest.mark.parametrize("change", [np.exp, lambda z: np.exp(2 * z), lambda z: z**3], ids=["exp", "exp 2z", "cube"])
def test_indices_do_not_depend_on_units_that_make_a_variable_skewed(change, n_rows):
    rows, target = make_bilinear_gaussian(n_rows, random_state=0)
    model = GradientBoostingRegressor(n_estimators=80, random_state=0)
    indices = []
    for values in (rows, change(rows)):
        hdmr = TreeHDMR(clone(model).fit(values, target)).fit(values)
        indices.append(dict(zip(hdmr.subspaces_, hdmr.sensitivity_.S, strict=True)))
    for u in {*indices[0], *indices[1]}:
        assert abs(indices[0].get(u, 0.0) - indices[1].get(u, 0.0)) < 0.015, u


def test_repeated_rows_are_weights_where_variables_are_skewed():
    rng = np.random.default_rng(0)
    rows, weights = np.exp(2 * rng.normal(size=(300, 3))), rng.integers(1, 4, size=300)
    model = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(
        rows, np.log(rows[:, 0]) * np.log(rows[:, 1])
    )
    weighted = TreeHDMR(model).fit(rows, sample_weight=weights)
    repeated = TreeHDMR(model).fit(np.repeat(rows, weights, axis=0))
    # Both are sums of products, taken in another order.
    assert_close(weighted.transform(rows), repeated.transform(rows), 1e-7, reason="sums of products")
    assert_close(weighted.sensitivity_.S, repeated.sensitivity_.S, 1e-7, reason="sums of products")
