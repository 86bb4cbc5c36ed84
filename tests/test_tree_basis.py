"""TreeHDMR with the tree columns as spans: the identities of spec 2 and 3, on fitted rows and on new ones."""

import warnings
from functools import cache, partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from models import fitted as zoo
from reference import hdmr as reference
from reference import trees as oracle
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeRegressor
from strategies import fitted_models
from tolerance import assert_close, relative_error

from fasthdmr import TreeHDMR, load_forest
from fasthdmr.datasets import make_ishigami

# Trees have steps, and more variables than components, so residuals are large.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

Trees = partial(TreeHDMR, basis="trees")

X, y = make_ishigami(700, random_state=0)
NEW = make_ishigami(300, random_state=1)[0]
MODELS = [GradientBoostingRegressor(n_estimators=60, max_depth=d, random_state=0).fit(X, y) for d in (1, 2, 3)]
SUM = Trees(MODELS, combine="sum", order=None).fit(X)
RIDGE = Trees(MODELS, order=None).fit(X, y)


@cache
def tree_columns():
    """Pairs of subspace and column at X, from scikit-learn's objects alone."""
    return [
        (u, column)
        for model in MODELS
        for (_, u, _), column in zip(oracle.groups(model), oracle.group_features(model, X).T, strict=True)
    ]


def spans(u):
    """The constant and the tree columns of all proper subsets of u at X."""
    return np.column_stack([np.ones(len(X)), *(column for v, column in tree_columns() if set(v) < set(u))])


def overlap(u, values):
    lower = spans(u)
    norms = np.linalg.norm(lower, axis=0) * np.linalg.norm(values)
    return np.abs(np.divide(lower.T @ values, norms, out=np.zeros(len(norms)), where=norms > 0)).max()


# --- the identities, each with a spoiled component that it must notice ----------------------------------------------


@pytest.mark.parametrize("rows", [X, NEW], ids=["fitted", "new"])
def test_components_sum_to_the_models(rows):
    values, expected = SUM.evaluate(rows), sum(model.predict(rows) for model in MODELS)
    assert_close(SUM.intercept_ + values.sum(axis=1), expected, 1e-9)
    assert_close(SUM.predict(rows), expected, 1e-9)
    values[:, 2] *= 1 + 1e-6
    assert relative_error(SUM.intercept_ + values.sum(axis=1), expected) > 1e-9


def test_components_are_orthogonal_to_the_spans_below():
    values = SUM.evaluate(X)
    for u, component in zip(SUM.subspaces_, values.T, strict=True):
        assert overlap(u, component) < 1e-11
        spoiled = component + 1e-6 * component.std() * spans(u).sum(axis=1) / np.sqrt(len(X))
        assert overlap(u, spoiled) > 1e-9


@pytest.mark.parametrize("hdmr", [SUM, RIDGE], ids=["sum", "ridge"])
def test_indices_are_those_of_the_evaluated_components(hdmr):
    values, f = hdmr.evaluate(X), hdmr.decomposition_.black_box(X)

    def expected(values):
        found = reference.indices(f, dict(zip(hdmr.subspaces_, values.T, strict=True)))
        return np.array([found[u] for u in hdmr.subspaces_]).T

    indices = np.array([hdmr.sensitivity_.Sa, hdmr.sensitivity_.S])
    assert_close(indices, expected(values), 1e-9)
    assert_close(hdmr.sensitivity_.variance, f.var(), 1e-9)
    assert_close(hdmr.sensitivity_.S.sum() + hdmr.residual_, 1.0, 1e-9)
    values[:, 0] *= 1 + 1e-5
    assert relative_error(indices, expected(values)) > 1e-7


@pytest.mark.parametrize("order", [1, 2, 3, 7])
def test_residual_by_algebra_is_the_difference_of_rows(order):
    hdmr = Trees(MODELS, combine="sum", order=order).fit(X)
    f = sum(model.predict(X) for model in MODELS)
    difference = f - hdmr.predict(X)
    dropped = [u for u in SUM.subspaces_ if len(u) > order]
    by_algebra = SUM.evaluate(X)[:, [SUM.subspaces_.index(u) for u in dropped]].sum(axis=1)
    scale = np.abs(f).max()
    assert np.abs(hdmr.residual(X) - difference).max() < 1e-9 * scale
    assert np.abs(by_algebra - difference).max() < 1e-9 * scale
    assert abs(hdmr.residual_ - np.cov(difference, f, bias=True)[0, 1] / f.var()) < 1e-10
    assert abs(hdmr.sensitivity_.S.sum() + hdmr.residual_ - 1) < 1e-10
    assert_close(hdmr.fidelity(X), 1 - np.square(difference).sum() / np.square(f - f.mean()).sum(), 1e-9)
    assert max(map(len, hdmr.subspaces_)) == min(order, 3)
    if dropped:
        assert abs(hdmr.residual_) > 1e-6


@pytest.mark.parametrize("outputs", [1, 2])
def test_weights_of_scores_are_repetitions_of_rows(outputs):
    models = MODELS if outputs == 1 else [RandomForestRegressor(5, random_state=0).fit(X, np.c_[y, X[:, 0]])]
    hdmr = Trees(models, combine="sum", order=1).fit(X)
    weights = np.random.default_rng(5).integers(0, 4, size=len(NEW))
    repeated = NEW.repeat(weights, axis=0)
    targets = np.tile(NEW[:, [1]] ** 2, outputs)
    assert_close(hdmr.fidelity(NEW, weights), hdmr.fidelity(repeated), 1e-9)
    assert_close(hdmr.score(NEW, targets, weights), hdmr.score(repeated, targets.repeat(weights, axis=0)), 1e-9)
    assert abs(hdmr.fidelity(NEW, weights) - hdmr.fidelity(NEW)) > 1e-6


def test_a_component_does_not_depend_on_other_variables():
    rng = np.random.default_rng(0)
    before = SUM.evaluate(NEW)
    for c, u in enumerate(SUM.subspaces_):
        outside = [j for j in range(3) if j not in u]
        rows = NEW.copy()
        rows[:, outside] = rng.permutation(rows)[:, outside]
        assert np.array_equal(SUM.evaluate(rows)[:, c], before[:, c])
        rows[:, u[0]] = rng.permutation(rows[:, u[0]])
        assert not np.array_equal(SUM.evaluate(rows)[:, c], before[:, c])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=fitted_models())
def test_identities_hold_for_any_model(case):
    model, rows = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)  # few rows, many columns
        warnings.filterwarnings("ignore", message="The output of the black box is constant")
        hdmr = Trees(model, order=None).fit(rows)
    raw = oracle.raw_output(model, rows)
    values = hdmr.evaluate(rows)
    assert values.shape == (len(rows), len(hdmr.subspaces_), *raw.shape[1:])
    scale = np.abs(raw).max() or 1.0
    assert np.abs(hdmr.intercept_ + values.sum(axis=1) - raw).max() <= 1e-9 * scale
    assert np.abs(values.mean(axis=0)).max(initial=0) <= 1e-9 * scale
    total = hdmr.sensitivity_.S.sum(axis=0) + hdmr.residual_
    assert np.all((np.abs(total - 1) < 1e-9) | (total == 0))
    labels = [(k, v) for k, v, _ in oracle.groups(model)]
    features = oracle.group_features(model, rows)
    for c, u in enumerate(hdmr.subspaces_):
        for k in range(raw.shape[1] if raw.ndim == 2 else 1):
            component = values[:, c, k] if raw.ndim == 2 else values[:, c]
            lower = features[:, [j == k and set(v) < set(u) for j, v in labels]]
            assert np.abs(lower.T @ component).max(initial=0) <= 1e-9 * scale**2 * len(rows)


# --- measure ------------------------------------------------------------------------------------------------------


def test_weights_are_repetitions():
    weights = np.random.default_rng(0).integers(0, 3, size=len(X))
    rows = np.repeat(X, weights, axis=0)
    for options in ({"combine": "sum"}, {"combine": "ridge", "alphas": [0.1]}):
        weighted = Trees(MODELS, order=None, **options).fit(X, y, sample_weight=weights)
        repeated = Trees(MODELS, order=None, **options).fit(rows, np.repeat(y, weights))
        assert_close(weighted.evaluate(NEW), repeated.evaluate(NEW), 1e-8, reason="case O24 asks for 1e-8")
        assert_close(weighted.sensitivity_.Sa, repeated.sensitivity_.Sa, 1e-9)
        assert_close(weighted.sensitivity_.S, repeated.sensitivity_.S, 1e-9)
        unweighted = Trees(MODELS, order=None, **options).fit(X, y)
        assert relative_error(unweighted.sensitivity_.Sa, weighted.sensitivity_.Sa) > 1e-4


def test_weights_that_are_not_weights_are_refused():
    hdmr = Trees(MODELS[0])
    with pytest.raises(ValueError, match="at least one non-zero"):
        hdmr.fit(X, sample_weight=np.zeros(len(X)))
    with pytest.raises(ValueError, match="Negative values"):
        hdmr.fit(X, sample_weight=-np.ones(len(X)))


def test_results_do_not_depend_on_threads_or_memory_order():
    big = np.random.default_rng(0).uniform(-3, 3, size=(9000, 3))
    base = Trees(MODELS, combine="sum").fit(big)
    for other in (
        Trees(MODELS, combine="sum", n_jobs=2).fit(big),
        Trees(MODELS, combine="sum", n_jobs=-1).fit(np.asfortranarray(big)),
    ):
        assert np.array_equal(base.sensitivity_.Sa, other.sensitivity_.Sa)
        assert np.array_equal(base.evaluate(big), other.evaluate(np.asfortranarray(big)))


def test_other_rows_than_the_training_rows_are_the_measure():
    shifted = NEW + 0.5
    hdmr = Trees(MODELS, combine="sum", order=None).fit(shifted)
    values = hdmr.evaluate(shifted)
    assert np.abs(values.mean(axis=0)).max() < 1e-10
    assert np.abs(SUM.evaluate(shifted).mean(axis=0)).max() > 1e-2


def test_missing_values_go_where_the_model_sends_them():
    model = zoo("RandomForestRegressor NaN")
    rows = np.where(np.random.default_rng(0).random((80, 4)) < 0.2, np.nan, 0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)  # few distinct rows
        hdmr = Trees(model, order=None).fit(rows)
    assert_close(hdmr.predict(rows), model.predict(rows), 1e-9)
    with pytest.raises(ValueError, match="contains NaN"):
        Trees(MODELS[0]).fit(np.where(np.arange(3) == 1, np.nan, X))
    with pytest.raises(ValueError, match="infinity"):
        Trees(model).fit(np.full((5, 4), np.inf))


# --- several models, several outputs --------------------------------------------------------------------------------


def test_ridge_combines_the_columns_of_all_models():
    assert RIDGE.coef_.shape == (sum(len(load_forest(model).groups) for model in MODELS),)
    assert RIDGE.score(X, y) > max(model.score(X, y) for model in MODELS)
    columns = np.column_stack([oracle.group_features(model, NEW) for model in MODELS])
    labels = [(u, m) for m, model in enumerate(MODELS) for _, u, _ in oracle.groups(model)]
    order = sorted(range(len(labels)), key=lambda j: (len(labels[j][0]), labels[j]))
    combined = RIDGE.decomposition_.solutions[0].black_box[0, 0] + columns[:, order] @ RIDGE.coef_
    assert_close(RIDGE.predict(NEW), combined, 1e-9)


def test_several_outputs_are_decomposed_each_by_itself():
    iris = load_iris()
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(iris.data, iris.target_names[iris.target])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)  # few distinct rows
        hdmr = Trees(model, order=None).fit(iris.data)
    n, C = len(iris.data), len(hdmr.subspaces_)
    assert hdmr.evaluate(iris.data).shape == (n, C, 3)
    assert hdmr.transform(iris.data).shape == (n, 3 * C)
    assert hdmr.sensitivity_.Sa.shape == (C, 3)
    assert hdmr.sensitivity_.ST.shape == (4, 3)
    assert hdmr.intercept_.shape == (3,)
    assert_close(hdmr.predict(iris.data), model.decision_function(iris.data), 1e-9)
    names = hdmr.get_feature_names_out()
    assert names[1] == hdmr.sensitivity_.names[0] + "[versicolor]"
    assert np.array_equal(hdmr.transform(iris.data)[:, 1], hdmr.evaluate(iris.data)[:, 0, 1])
    assert hdmr.components_[0](iris.data[:, :1]).shape == (n, 3)


def test_targets_of_several_outputs_are_combined_each_with_its_own_penalty():
    targets = np.column_stack([y, X[:, 0] ** 2])
    members = [RandomForestRegressor(20, max_depth=d, random_state=0).fit(X, targets) for d in (1, 2)]
    hdmr = Trees(members).fit(X, targets)
    assert hdmr.alpha_.shape == (2,)
    single = Trees(members).set_params(normalise="data").fit(X, targets).sensitivity_.variance
    assert_close(single, targets.var(axis=0))
    with pytest.raises(ValueError, match=r"y must have one column for each of the models' 2 output"):
        Trees(members).fit(X, y)


# --- results --------------------------------------------------------------------------------------------------------


def test_components_are_functions_of_their_own_variables():
    values = SUM.evaluate(NEW)
    for c, component in enumerate(SUM.components_):
        assert component.subspace == SUM.subspaces_[c]
        assert_close(component(NEW[:, list(component.subspace)]), values[:, c])
        assert_close(component.variance, SUM.evaluate(X)[:, c].var(), 1e-9)
        assert component.bounds.shape == (len(component.subspace), 2)
    assert_close(SUM.component(0)(NEW[:, 0]), values[:, 0])
    assert SUM.component(("x2", "x0")).subspace == (0, 2)
    with pytest.raises(ValueError, match="takes an array of shape"):
        SUM.component((0, 2))(np.hstack([NEW, NEW]))
    with pytest.raises(ValueError, match="not one of the variables"):
        SUM.component("x9")
    with pytest.raises(ValueError, match="There is no component"):
        Trees(MODELS[0]).fit(X).component((0, 1))


def test_interactions_chooses_what_is_kept():
    hdmr = Trees(MODELS, combine="sum", order=None, interactions=[("x0", "x2")]).fit(X)
    assert hdmr.subspaces_ == [u for u in SUM.subspaces_ if len(u) == 1 or u == (0, 2)]
    c = SUM.subspaces_.index((0, 2))
    assert_close(hdmr.evaluate(NEW)[:, -1], SUM.evaluate(NEW)[:, c])
    assert abs(hdmr.sensitivity_.S.sum() + hdmr.residual_ - 1) < 1e-10
    assert abs(hdmr.residual_) > 1e-3


def test_normalise_by_the_data():
    hdmr = Trees(MODELS, combine="sum", order=None, normalise="data").fit(X, y)
    assert_close(hdmr.sensitivity_.Sa * y.var(), SUM.sensitivity_.Sa * SUM.sensitivity_.variance)
    assert_close(hdmr.sensitivity_.S.sum() + hdmr.residual_, SUM.sensitivity_.variance / y.var())


def test_weights_are_repetitions_in_the_variance_of_the_data():
    weights = np.random.default_rng(1).integers(0, 3, size=len(X))
    estimator = Trees(MODELS, combine="sum", order=None, normalise="data")
    weighted = clone(estimator).fit(X, y, sample_weight=weights)
    repeated = clone(estimator).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_close(weighted.sensitivity_.S, repeated.sensitivity_.S, 1e-9)


@pytest.mark.parametrize("library", [pd, pl])
def test_feature_names_follow_the_data(library):
    if library is pl:
        pytest.importorskip("sklearn", minversion="1.7", reason="scikit-learn 1.6 does not read the names of polars 2")
    names = ["one", "two", "three"]
    frame = library.DataFrame(dict(zip(names, X.T, strict=True)))
    hdmr = Trees(MODELS, combine="sum").fit(frame)
    assert hdmr.sensitivity_.names[-1] == "two & three"
    assert list(hdmr.get_feature_names_out()) == hdmr.sensitivity_.names
    assert_close(hdmr.transform(frame), SUM.evaluate(X)[:, : len(hdmr.subspaces_)])
    out = hdmr.set_output(transform="pandas").transform(frame)
    assert list(out.columns) == hdmr.sensitivity_.names
    named = GradientBoostingRegressor(n_estimators=3).fit(frame, y)
    assert Trees(named).fit(X).feature_names_ == tuple(names)
    with pytest.raises(ValueError, match="feature names should match"):
        Trees(named).fit(frame[names[::-1]])


def test_constant_output_has_indices_zero_and_one_warning():
    model = DecisionTreeRegressor().fit(X, np.full(len(X), 3.0))
    with pytest.warns(UserWarning, match="output of the black box is constant") as record:
        hdmr = Trees(model).fit(X)
    assert len(record) == 1
    assert hdmr.intercept_ == 3.0
    assert hdmr.transform(X).shape == (len(X), 0)
    assert np.array_equal(hdmr.sensitivity_.ST, np.zeros(3))
    assert hdmr.residual_ == 0


def test_constant_feature_has_index_zero_and_changes_nothing():
    wide = np.column_stack([X, np.full(len(X), 2.0)])
    model = GradientBoostingRegressor(n_estimators=60, max_depth=3, random_state=0).fit(wide, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hdmr = Trees(model, order=None).fit(wide)
    assert hdmr.sensitivity_.ST[3] == 0
    labels, features = [u for _, u, _ in oracle.groups(model)], oracle.group_features(model, wide)
    _, components = reference.top_down(features, labels, np.r_[0, np.ones(len(labels))])
    expected = reference.indices(features.sum(axis=1), components)
    assert_close(hdmr.sensitivity_.S, [expected[u][1] for u in hdmr.subspaces_], 1e-9)


@pytest.mark.parametrize("n_rows", [1, 8, 50])
def test_few_rows(n_rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        warnings.filterwarnings("ignore", message="The output of the black box is constant")
        hdmr = Trees(MODELS[2], order=None).fit(X[:n_rows])
    assert_close(hdmr.predict(NEW), MODELS[2].predict(NEW), 1e-9)
    assert np.isfinite(hdmr.sensitivity_.Sa).all()


def test_deficient_rank_warns_once_with_the_rank():
    with pytest.warns(LinAlgWarning, match="numerical rank") as record:
        hdmr = Trees(MODELS, combine="sum", order=None).fit(X[:4])
    assert len(record) == 1
    assert f"rank {hdmr.rank_} " in str(record[0].message)
    assert hdmr.rank_ <= 4


def test_rank_is_that_of_columns_which_are_spans():
    hdmr = Trees(MODELS[1], order=None).fit(X)
    columns = [0 * X[:, 0] + 1, *(hdmr.transform(X).T)]
    assert hdmr.rank_ == np.linalg.matrix_rank(np.column_stack(columns)) == 1 + len(hdmr.coef_)
    assert TreeHDMR(MODELS[1], measure="product").fit(X).rank_ is None
    for basis in ("spline", "bins"):
        assert TreeHDMR(MODELS[1], basis=basis, order=1).fit(X).rank_ is None


# --- what users pass ------------------------------------------------------------------------------------------------


def test_nothing_that_users_pass_is_changed():
    frame, weights = pd.DataFrame(X, columns=["a", "b", "c"]), np.ones(len(X))
    before, members = frame.copy(), list(MODELS)
    states = [model.get_params() for model in MODELS]
    first = Trees(members, combine="sum").fit(frame, y, weights)
    second = Trees(members, combine="sum").fit(frame, y, weights)
    assert frame.equals(before)
    assert all(a is b for a, b in zip(members, MODELS, strict=True))
    assert [model.get_params() for model in MODELS] == states
    assert first.estimators_ == MODELS
    assert np.array_equal(first.sensitivity_.Sa, second.sensitivity_.Sa)


def test_unfitted_members_are_cloned_and_fitted():
    member = GradientBoostingRegressor(n_estimators=60, max_depth=2, random_state=0)
    hdmr = Trees(member).fit(X, y)
    assert not hasattr(member, "estimators_")
    assert_close(hdmr.evaluate(NEW), Trees(MODELS[1]).fit(X).evaluate(NEW))


def test_y_is_required_where_it_is_needed():
    for hdmr in (Trees(), Trees(MODELS), Trees(MODELS[0], normalise="data"), Trees(clone(MODELS[0]))):
        with pytest.raises(ValueError, match="requires y to be passed"):
            hdmr.fit(X)


def test_class_labels_are_refused_with_the_remedy():
    iris = load_iris()
    words = iris.target_names[iris.target]
    models = [GradientBoostingClassifier(n_estimators=3, max_depth=d).fit(iris.data, words) for d in (1, 2)]
    with pytest.raises(ValueError, match="fidelity"):
        Trees(models).fit(iris.data, words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        hdmr = Trees(models[1]).fit(iris.data, words)
    with pytest.raises(ValueError, match="fidelity"):
        hdmr.score(iris.data, words)
    with pytest.raises(ValueError, match="fidelity"):
        hdmr.score(iris.data, words.astype(object))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"basis": "fourier"}, "basis must be 'spline', 'bins' or 'trees'"),
        ({"combine": "mean"}, "combine must be"),
        ({"order": 0}, "order must be a positive integer or None, got 0"),
        ({"order": 1.5}, "order must be"),
        ({"normalise": "both"}, "normalise must be"),
        ({"estimators": []}, "empty list"),
        ({"alphas": [-1.0]}, "alphas must be non-negative"),
        ({"cv": 1}, "k-fold cross-validation requires"),
        ({"interactions": [(0, 9)]}, "has the variable 9"),
    ],
)
def test_wrong_parameters_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Trees(**{"estimators": MODELS} | options).fit(X, y)


def test_models_that_do_not_fit_together_are_refused():
    wide = np.column_stack([X, X])
    other = GradientBoostingRegressor(n_estimators=2).fit(wide, y)
    with pytest.raises(ValueError, match="X has 3 features, but the model is expecting 6"):
        Trees(other).fit(X)
    two = RandomForestRegressor(2).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="outputs"):
        Trees([MODELS[0], two], combine="sum").fit(X)
    with pytest.raises(TypeError, match="GradientBoosting"):
        Trees(object()).fit(X)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        Trees().transform(X)
    assert not hasattr(Trees(), "sensitivity_")


def test_progress_is_printed_on_request(capsys):
    Trees(MODELS[0], verbose=1).fit(X)
    assert "decomposed" in capsys.readouterr().out


def test_diabetes_ranks_bmi_and_s5_first():
    data = load_diabetes()
    hdmr = Trees(random_state=0).fit(data.data, data.target)
    names = np.array(data.feature_names)[np.argsort(-hdmr.sensitivity_.R)[:2]]
    assert set(names) == {"bmi", "s5"}
