"""LightGBM's models against LightGBM: the float64 sum over its own leaves, which is its raw score."""

import re

import numpy as np
import pytest
from boosters import CODES, awkward_rows, category_rows, check_groups, library, tied_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_friedman1
from sklearn.ensemble import BaggingRegressor, RandomForestRegressor, VotingRegressor
from tolerance import assert_close

from fasthdmr import TreeHDMR, load_forest

lgb = library("lightgbm")

X, Y = make_friedman1(200, 5, random_state=0)
LABELS = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
POSITIVE = Y - Y.min() + 0.5
FOREST = {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}
QUIET = {"verbose": -1, "n_jobs": 1, "min_child_samples": 5}


def thresholds(booster):
    found = []

    def walk(node):
        if "threshold" in node:
            found.append(node["threshold"])
            walk(node["left_child"])
            walk(node["right_child"])

    for tree in booster.dump_model(num_iteration=-1)["tree_info"]:
        walk(tree["tree_structure"])
    return np.array(found or [0.0], float)


def check(model, rows):
    booster = model if isinstance(model, lgb.Booster) else model.booster_
    forest = load_forest(model)
    predicted = forest.predict(rows).reshape(len(rows), -1)
    leaves = booster.predict(rows, pred_leaf=True).reshape(len(rows), -1)
    n_outputs = forest.n_outputs
    desired = np.zeros((len(rows), n_outputs))
    for t in range(leaves.shape[1]):
        values = [booster.get_leaf_output(t, k) for k in range(leaves[:, t].max() + 1)]
        desired[:, t % n_outputs] += np.array(values)[leaves[:, t]]
    if booster.params.get("boosting", booster.params.get("boosting_type")) == "rf":
        desired *= n_outputs / leaves.shape[1]
    else:
        assert_close(predicted, booster.predict(rows, raw_score=True).reshape(len(rows), -1))
    assert_close(predicted, desired)
    check_groups(forest, rows, predicted)
    return forest


ZOO = {
    "regressor": (lgb.LGBMRegressor, {}, Y),
    "stumps": (lgb.LGBMRegressor, {"num_leaves": 2}, Y),
    "deep": (lgb.LGBMRegressor, {"num_leaves": 63, "min_child_samples": 1}, Y),
    "absolute": (lgb.LGBMRegressor, {"objective": "l1"}, Y),
    "huber": (lgb.LGBMRegressor, {"objective": "huber"}, Y),
    "quantile": (lgb.LGBMRegressor, {"objective": "quantile", "alpha": 0.7}, Y),
    "poisson": (lgb.LGBMRegressor, {"objective": "poisson"}, np.round(POSITIVE)),
    "gamma": (lgb.LGBMRegressor, {"objective": "gamma"}, POSITIVE),
    "tweedie": (lgb.LGBMRegressor, {"objective": "tweedie"}, POSITIVE),
    "square roots": (lgb.LGBMRegressor, {"reg_sqrt": True}, POSITIVE),
    "binary": (lgb.LGBMClassifier, {}, LABELS > 0),
    "multiclass": (lgb.LGBMClassifier, {}, LABELS),
    "one against all": (lgb.LGBMClassifier, {"objective": "multiclassova"}, LABELS),
    "forest": (lgb.LGBMRegressor, FOREST, Y),
    "forest of classes": (lgb.LGBMClassifier, FOREST, LABELS),
    "dart": (lgb.LGBMRegressor, {"boosting_type": "dart", "drop_rate": 0.5}, Y),
    "goss": (lgb.LGBMRegressor, {"data_sample_strategy": "goss"}, Y),
    "extra trees": (lgb.LGBMRegressor, {"extra_trees": True}, Y),
    "single leaves": (lgb.LGBMRegressor, {"min_child_samples": 1000}, Y),
    "without average": (lgb.LGBMRegressor, {"boost_from_average": False}, Y),
}


def fitted(name, rows=X):
    make, options, y = ZOO[name]
    return make(n_estimators=8, random_state=0, **QUIET | options).fit(rows, y)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", ZOO)
def test_predict_equals_the_sum_over_the_leaves(name):
    model, rng = fitted(name), np.random.default_rng(1)
    rows = np.vstack([X[:50], awkward_rows(rng, thresholds(model.booster_), 5, inf=True)])
    check(model, rows)
    check(model.booster_, rows)


def test_learning_to_rank():
    check(lgb.LGBMRanker(n_estimators=5, **QUIET).fit(X, LABELS, group=[20] * 10), X)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_random_models(data):
    classes = data.draw(st.sampled_from([0, 2, 3]))
    rows, y, rng = data.draw(tied_rows(classes=classes))
    zero = data.draw(st.booleans())
    options = {
        "objective": {0: "regression", 2: "binary", 3: "multiclass"}[classes],
        "num_class": max(classes, 1) if classes > 2 else 1,
        "learning_rate": data.draw(st.sampled_from([0.1, 1.0])),
        "num_leaves": data.draw(st.integers(2, 20)),
        "max_bin": data.draw(st.sampled_from([3, 15, 255])),
        "min_data_in_leaf": 1,
        "min_data_in_bin": 1,
        "zero_as_missing": zero,
        "use_missing": data.draw(st.booleans()),
        "verbose": -1,
        "num_threads": 1,
    }
    rounds = data.draw(st.integers(1, 6))
    model = lgb.train(options, lgb.Dataset(rows, y, params=options), rounds)
    if data.draw(st.booleans()):  # continued, perhaps without missing values
        later = np.nan_to_num(rows) if data.draw(st.booleans()) else rows
        model = lgb.train(options, lgb.Dataset(later, y, params=options), rounds, init_model=model)
    check(model, np.vstack([rows, awkward_rows(rng, thresholds(model), rows.shape[1], inf=True)]))


def test_zeros_that_are_missing_in_some_trees_only_are_refused():
    rng = np.random.default_rng(0)
    rows = rng.integers(-2, 3, size=(200, 1)).astype(float)
    y = np.where(rows[:, 0] == 0, 5.0, rows[:, 0])
    gaps = np.where(rows == 2, np.nan, rows)
    first, model = {"verbose": -1, "zero_as_missing": True}, None
    for options, data in ((first, rows), ({"verbose": -1}, gaps)):
        model = lgb.train(options, lgb.Dataset(data, y, params=options), 3, init_model=model)
    with pytest.raises(ValueError, match=r"Column 0.*zero_as_missing"):
        load_forest(model)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_early_stopping():
    noise = np.random.default_rng(0).normal(size=200)
    model = lgb.LGBMRegressor(n_estimators=50, learning_rate=0.9, **QUIET)
    stop = lgb.early_stopping(3, verbose=False)
    model.fit(X[:100], noise[:100], eval_set=[(X[100:], noise[100:])], callbacks=[stop])
    assert load_forest(model).n_trees == model.best_iteration_ < 50
    check(model, X)
    check(model.booster_, X)


def test_saved_and_loaded_models(tmp_path):
    for name in ("regressor", "multiclass"):
        fitted(name).booster_.save_model(tmp_path / "model.txt")
        check(lgb.Booster(model_file=tmp_path / "model.txt"), X)


def test_names():
    pd = pytest.importorskip("pandas")
    model = lgb.LGBMClassifier(n_estimators=2, **QUIET).fit(pd.DataFrame(X, columns=list("abcde")), LABELS)
    forest = load_forest(model)
    assert forest.feature_names == ("a", "b", "c", "d", "e")
    assert forest.output_names == ("0", "1", "2")
    assert load_forest(fitted("regressor")).feature_names is None


def test_thresholds_that_float32_does_not_hold():
    rows = np.array([[4.0], [4.000000000000001], [4.000000000000002], [5.0]] * 10)
    y = np.array([0.0, 0.0, 1.0, 1.0] * 10)
    model = lgb.LGBMRegressor(n_estimators=1, min_child_samples=1, min_data_in_bin=1, verbose=-1).fit(rows, y)
    forest = check(model, rows)
    assert len(np.unique(forest.predict(rows))) > 1


@pytest.mark.parametrize("measure", ["empirical", "product"])
@pytest.mark.parametrize("zero", [False, True])
def test_tree_hdmr_explains_it(measure, zero):
    rows = np.round(np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X - 0.5), 1)
    model = lgb.LGBMRegressor(n_estimators=8, num_leaves=7, zero_as_missing=zero, **QUIET).fit(rows, Y)
    fit = TreeHDMR(model, order=5, smooth=False, measure=measure).fit(rows)
    assert_close(fit.predict(rows) + fit.residual(rows), load_forest(model).predict(rows), rtol=1e-9)


def test_together_with_models_that_compare_in_float32():
    rows = X * 3 + 0.1
    models = [
        lgb.LGBMRegressor(n_estimators=8, num_leaves=7, **QUIET).fit(rows, Y),
        RandomForestRegressor(5, max_depth=4, random_state=0).fit(rows, Y),
    ]
    rng = np.random.default_rng(0)
    hard = awkward_rows(rng, [t.tree_.threshold for t in models[1].estimators_[:1]], 5)
    hard = np.vstack([rows, np.nan_to_num(hard)])
    voting = VotingRegressor([("a", models[0]), ("b", models[1])]).fit(rows, Y)
    total = sum(load_forest(model).predict(hard) for model in voting.estimators_)
    assert_close(load_forest(voting).predict(hard), total / 2)
    for measure in ("empirical", "product"):
        fit = TreeHDMR(models, order=5, smooth=False, measure=measure).fit(rows, Y)
        assert np.isfinite(fit.predict(rows)).all()


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # of LightGBM before 4.7, which gives names
@pytest.mark.parametrize("zero", [False, True])
def test_bagging_of_models_that_see_some_columns(zero):
    rows = np.round(X - 0.5, 1)
    member = lgb.LGBMRegressor(n_estimators=3, zero_as_missing=zero, **QUIET)
    model = BaggingRegressor(member, 3, max_features=0.6, random_state=0).fit(rows, Y)
    assert_close(load_forest(model).predict(rows), model.predict(rows))


def test_boosters_take_missing_values_in_tree_hdmr():
    rows = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    booster = fitted("regressor", rows).booster_
    fit = TreeHDMR(booster, order=5, smooth=False).fit(rows)
    assert_close(fit.predict(rows) + fit.residual(rows), load_forest(booster).predict(rows), rtol=1e-9)


def test_missing_values_that_count_as_zero_at_a_threshold_of_zero():
    model = lgb.LGBMRegressor(n_estimators=2, use_missing=False, num_leaves=3, **QUIET).fit(X, Y)
    text = re.sub(r"tree_sizes=.*\n", "", model.booster_.model_to_string())  # they are those of another text
    text = re.sub(r"(?<=\nthreshold=)[^\n]*", "0 0", text)
    check(lgb.Booster(model_str=text), np.array([[np.nan] * 5, [0.0] * 5, [-1.0] * 5, [1.0] * 5]))


def test_linear_leaves_are_refused():
    options = {"linear_tree": True, "verbose": -1}
    model = lgb.train(options, lgb.Dataset(X, Y, params=options), 2)
    with pytest.raises(ValueError, match=r"linear_tree=False.*HDMR"):
        load_forest(model)


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_splits_by_categories(data):
    rows, y, rng = data.draw(category_rows())
    options = {
        "n_estimators": 6,
        "num_leaves": data.draw(st.integers(2, 12)),
        "max_cat_to_onehot": data.draw(st.sampled_from([1, 4, 64])),
        "use_missing": data.draw(st.booleans()),
        "zero_as_missing": data.draw(st.booleans()),
    }
    options |= {"min_data_per_group": 2, "cat_smooth": 0.5, "cat_l2": 0.1}
    model = lgb.LGBMRegressor(**QUIET | options).fit(rows, y, categorical_feature=[0, 2])
    check(model, np.vstack([rows, awkward_rows(rng, CODES, 3, n_rows=200)]))


def test_other_versions_of_the_text_are_refused(tmp_path):
    text = lgb.LGBMRegressor(n_estimators=2, verbose=-1).fit(X, Y).booster_.model_to_string()
    path = tmp_path / "model.txt"
    path.write_text(text.replace("version=v4", "version=v5"))
    with pytest.raises(ValueError, match=r"does not know: 'version=v5'.*newer version of LightGBM"):
        load_forest(path)


def test_unfitted_models_are_refused():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        load_forest(lgb.LGBMRegressor())
