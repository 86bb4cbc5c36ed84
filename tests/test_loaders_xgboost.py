"""xgboost's models against xgboost: the float64 sum over its own leaves, and its margin within float32 rounding."""

import json

import numpy as np
import pytest
from boosters import CODES, awkward_rows, category_rows, check_groups, library, tied_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_friedman1
from tolerance import assert_close

from fasthdmr import TreeHDMR, load_forest

xgb = library("xgboost")

X, Y = make_friedman1(200, 5, random_state=0)
Y2 = np.column_stack([Y, X[:, 0] - Y])
LABELS = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
POSITIVE = Y - Y.min() + 0.5
FLOAT32 = "xgboost adds its trees up in float32"


def document(booster):
    learner = json.loads(booster.save_raw("json"))["learner"]
    return learner, learner["gradient_booster"].get("gbtree", learner["gradient_booster"])["model"]


def thresholds(booster):
    model = document(booster)[1]
    found = [
        t["split_conditions"][m] for t in model["trees"] for m, left in enumerate(t["left_children"]) if left != -1
    ]
    return np.float32(found).astype(float) if found else np.zeros(1)


def leaf_sum(booster, leaves):
    """The float64 sum of the values of given leaves (N, T), without the constant, (N, K)."""
    learner, model = document(booster)
    # xgboost 3.3 moved the weights after dropout from the booster to the model.
    drop = model.get("weight_drop", learner["gradient_booster"].get("weight_drop", np.ones(len(model["trees"]))))
    drop = np.float32(drop).astype(float)
    parameters = learner["learner_model_param"]
    n_outputs = max(int(parameters["num_class"]), int(parameters["num_target"]), 1)
    out = np.zeros((len(leaves), n_outputs))
    for t in range(leaves.shape[1]):
        tree, at = model["trees"][t], leaves[:, t].astype(int)
        width = int(tree["tree_param"]["size_leaf_vector"])
        if width > 1:
            if "leaf_weights" in tree:
                values, at = tree["leaf_weights"], np.asarray(tree["right_children"])[at]
            else:  # xgboost before 3.0
                values = tree["base_weights"]
            out += np.float32(values).astype(float).reshape(-1, width)[at]
        else:
            out[:, model["tree_info"][t]] += np.float32(tree["split_conditions"]).astype(float)[at] * drop[t]
    return out


def check(model, rows, missing=np.nan, **options):
    is_wrapper = isinstance(model, xgb.XGBModel)
    booster = model.get_booster() if is_wrapper else model
    matrix = xgb.DMatrix(rows, missing=missing, **options)
    leaves = model.apply(rows) if is_wrapper and not options else booster.predict(matrix, pred_leaf=True)
    forest = load_forest(model)
    predicted = forest.predict(rows).reshape(len(rows), -1)
    desired = leaf_sum(booster, leaves.reshape(len(rows), -1))
    assert_close(predicted, forest.offset + desired)
    range_ = {"iteration_range": (0, model.best_iteration + 1)} if hasattr(model, "best_iteration") else {}
    margin = booster.predict(matrix, output_margin=True, **(range_ if is_wrapper else {}))
    assert_close(predicted, margin.reshape(len(rows), -1), rtol=1e-5, reason=FLOAT32)
    check_groups(forest, rows, predicted)
    return forest


ZOO = {
    "regressor": (lambda **o: xgb.XGBRegressor(**o), Y),
    "deep": (lambda **o: xgb.XGBRegressor(**o | {"max_depth": 9}), Y),
    "stumps": (lambda **o: xgb.XGBRegressor(**o | {"max_depth": 1}), Y),
    "absolute": (lambda **o: xgb.XGBRegressor(objective="reg:absoluteerror", **o), Y),
    "quantile": (lambda **o: xgb.XGBRegressor(objective="reg:quantileerror", quantile_alpha=0.7, **o), Y),
    "quantiles": (lambda **o: xgb.XGBRegressor(objective="reg:quantileerror", quantile_alpha=[0.2, 0.7], **o), Y),
    "pseudo-huber": (lambda **o: xgb.XGBRegressor(objective="reg:pseudohubererror", **o), Y),
    "poisson": (lambda **o: xgb.XGBRegressor(objective="count:poisson", **o), np.round(POSITIVE)),
    "gamma": (lambda **o: xgb.XGBRegressor(objective="reg:gamma", **o), POSITIVE),
    "tweedie": (lambda **o: xgb.XGBRegressor(objective="reg:tweedie", **o), POSITIVE),
    "cox": (lambda **o: xgb.XGBRegressor(objective="survival:cox", **o), POSITIVE),
    "binary": (lambda **o: xgb.XGBClassifier(**o), LABELS > 0),
    "binary raw": (lambda **o: xgb.XGBClassifier(objective="binary:logitraw", **o), LABELS > 0),
    "hinge": (lambda **o: xgb.XGBClassifier(objective="binary:hinge", **o), LABELS > 0),
    "multiclass": (lambda **o: xgb.XGBClassifier(**o), LABELS),
    "base score": (lambda **o: xgb.XGBClassifier(base_score=0.9, **o), LABELS > 0),
    "two targets": (lambda **o: xgb.XGBRegressor(**o), Y2),
    "vector leaves": (
        lambda **o: xgb.XGBRegressor(multi_strategy="multi_output_tree", tree_method="hist", **o),
        Y2,
    ),
    "forest": (lambda **o: xgb.XGBRFRegressor(**o), Y),
    "forest of classes": (lambda **o: xgb.XGBRFClassifier(**o), LABELS),
    "parallel": (lambda **o: xgb.XGBRegressor(num_parallel_tree=3, subsample=0.7, **o), Y),
    "parallel classes": (lambda **o: xgb.XGBClassifier(num_parallel_tree=2, subsample=0.7, **o), LABELS),
    "dart": (lambda **o: xgb.XGBRegressor(booster="dart", rate_drop=0.4, **o), Y),
    "dart classes": (lambda **o: xgb.XGBClassifier(booster="dart", rate_drop=0.4, **o), LABELS),
    "lossguide": (lambda **o: xgb.XGBRegressor(grow_policy="lossguide", max_leaves=9, **o | {"max_depth": 0}), Y),
    "exact": (lambda **o: xgb.XGBRegressor(tree_method="exact", gamma=0.2, **o), Y),
    "single leaves": (lambda **o: xgb.XGBRegressor(gamma=1e9, **o), Y),
}


def fitted(name, rows=X):
    make, y = ZOO[name]
    return make(n_estimators=8, random_state=0, n_jobs=1).fit(rows, y)


@pytest.mark.parametrize("name", ZOO)
def test_predict_equals_the_sum_over_the_leaves(name):
    model = fitted(name)
    rng = np.random.default_rng(1)
    rows = np.vstack([X[:50], awkward_rows(rng, thresholds(model.get_booster()), 5)])
    check(model, rows)
    check(model.get_booster(), rows)


def test_learning_to_rank():
    model = xgb.XGBRanker(n_estimators=5, n_jobs=1).fit(X, LABELS, qid=np.arange(200) // 20)
    check(model, X)


def test_survival_times():
    matrix = xgb.DMatrix(X)
    matrix.set_float_info("label_lower_bound", POSITIVE)
    matrix.set_float_info("label_upper_bound", np.where(LABELS > 1, np.inf, POSITIVE))
    check(xgb.train({"objective": "survival:aft", "nthread": 1}, matrix, 6), X)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_random_models(data):
    kind = data.draw(st.sampled_from(["regression", "binary", "classes", "targets"]))
    classes = {"binary": 2, "classes": 3}.get(kind, 0)
    missing = data.draw(st.sampled_from([np.nan, 0.0, -999.0, 0.1]))
    rows, y, rng = data.draw(tied_rows(classes=classes, targets=2 if kind == "targets" else 1, missing=missing))
    options = {
        "n_estimators": data.draw(st.integers(1, 6)),
        "max_depth": data.draw(st.integers(1, 6)),
        "learning_rate": data.draw(st.sampled_from([0.1, 1.0])),
        "booster": data.draw(st.sampled_from(["gbtree", "dart"])),
        "tree_method": data.draw(st.sampled_from(["hist", "exact", "approx"])),
        "missing": missing,
        "n_jobs": 1,
    }
    make = xgb.XGBClassifier if classes else xgb.XGBRegressor
    model = make(**options).fit(rows, y)
    if data.draw(st.booleans()):
        model = make(**options).fit(rows, y, xgb_model=model.get_booster())
    near = [np.nextafter(np.float32(missing), np.float32(s)) for s in (-1, 1)] if missing == missing else []
    hard = awkward_rows(rng, thresholds(model.get_booster()), rows.shape[1], extra=[missing, *near])
    check(model, np.vstack([rows, hard]), missing)


def test_early_stopping_follows_the_object_that_was_passed():
    noise = np.random.default_rng(0).normal(size=200)
    model = xgb.XGBRegressor(n_estimators=50, early_stopping_rounds=3, learning_rate=0.9, n_jobs=1)
    model.fit(X[:100], noise[:100], eval_set=[(X[100:], noise[100:])], verbose=False)
    booster = model.get_booster()
    assert load_forest(model).n_trees == model.best_iteration + 1 < load_forest(booster).n_trees
    check(model, X)
    check(booster, X)


def test_saved_and_loaded_models(tmp_path):
    for name in ("regressor", "multiclass", "dart"):
        fitted(name).save_model(tmp_path / "model.ubj")
        booster = xgb.Booster(model_file=tmp_path / "model.ubj")
        check(booster, X)
    for name in ("regressor", "multiclass", "dart"):
        fitted(name).save_model(tmp_path / "model.ubj")
        again = type(fitted(name))()
        again.load_model(tmp_path / "model.ubj")
        check(again, X)


def test_names():
    pd = pytest.importorskip("pandas")
    model = xgb.XGBClassifier(n_estimators=2).fit(pd.DataFrame(X, columns=list("abcde")), LABELS)
    forest = load_forest(model)
    assert forest.feature_names == ("a", "b", "c", "d", "e")
    assert forest.output_names == ("0", "1", "2")
    assert forest.is_classifier
    assert load_forest(fitted("regressor")).feature_names is None


def test_tree_hdmr_explains_it():
    model = fitted("regressor", np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X))
    fit = TreeHDMR(model, order=5, smooth=False).fit(X)
    assert_close(fit.predict(X) + fit.residual(X), load_forest(model).predict(X), rtol=1e-9)


def test_boosters_take_missing_values_in_tree_hdmr():
    rows = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    booster = fitted("regressor", rows).get_booster()
    fit = TreeHDMR(booster, order=5, smooth=False).fit(rows)
    assert_close(fit.predict(rows) + fit.residual(rows), load_forest(booster).predict(rows), rtol=1e-9)


@pytest.mark.parametrize("missing", [-np.inf, np.inf])
def test_infinite_numbers_may_mean_missing(missing):
    rows = np.where(np.random.default_rng(0).random(X.shape) < 0.1, missing, X)
    check(xgb.XGBRegressor(n_estimators=8, max_depth=3, missing=missing).fit(rows, Y), rows, missing)


def test_linear_boosters_are_refused():
    with pytest.raises(ValueError, match=r"gblinear.*HDMR"):
        load_forest(xgb.XGBRegressor(booster="gblinear", n_estimators=2).fit(X, Y))


def exported(booster, path, change):
    """Save a booster to a path, with changes to its document."""
    content = json.loads(booster.save_raw("json"))
    change(content["learner"])
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("where", ["learner", "learner_model_param", "gradient_booster", "model", "tree"])
def test_unknown_parts_are_refused(tmp_path, where):
    def change(learner):
        model = learner["gradient_booster"]["model"]
        parts = {**learner, "learner": learner, "model": model, "tree": model["trees"][0]}
        parts[where]["leaf_scale"] = [2.0]

    booster = xgb.XGBRegressor(n_estimators=2, max_depth=2).fit(X, Y).get_booster()
    with pytest.raises(ValueError, match=r"does not know: 'leaf_scale'.*newer version.*HDMR"):
        load_forest(exported(booster, tmp_path / "model.json", change))


@pytest.mark.parametrize("by_booster", [True, False], ids=["before 3.3", "since 3.3"])
def test_weights_after_dropout_of_both_versions(tmp_path, by_booster):
    weights = [0.5, 0.25, 1.0]

    def drop(learner):
        model = learner["gradient_booster"]["model"]
        if by_booster:
            learner["gradient_booster"] = {"name": "dart", "gbtree": {"name": "gbtree", "model": model}}
        (learner["gradient_booster"] if by_booster else model)["weight_drop"] = weights

    booster = xgb.XGBRegressor(n_estimators=3, max_depth=2).fit(X, Y).get_booster()
    forest = load_forest(exported(booster, tmp_path / "model.json", drop))
    trees = [load_forest(booster[t]) for t in range(3)]
    desired = sum(w * (tree.predict(X) - tree.offset) for w, tree in zip(weights, trees, strict=True))
    assert_close(forest.predict(X) - forest.offset, desired)


def test_weights_of_other_trees_are_refused(tmp_path):
    booster = xgb.XGBRegressor(n_estimators=2, max_depth=2).fit(X, Y).get_booster()
    path = exported(
        booster, tmp_path / "model.json", lambda learner: learner["gradient_booster"]["model"].update(weight_drop=[1.0])
    )
    with pytest.raises(ValueError, match="1 weights for 2 trees"):
        load_forest(path)


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_splits_by_categories(data):
    rows, y, rng = data.draw(category_rows())
    model = xgb.XGBRegressor(
        n_estimators=6,
        max_depth=data.draw(st.integers(1, 5)),
        max_cat_to_onehot=data.draw(st.sampled_from([1, 4, 64])),
        feature_types=["c", "q", "c"],
        enable_categorical=True,
        n_jobs=1,
    ).fit(rows, y)
    hard = np.vstack([rows, awkward_rows(rng, CODES, 3, n_rows=200)])
    check(model, hard, feature_types=["c", "q", "c"], enable_categorical=True)


def test_unfitted_models_are_refused():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        load_forest(xgb.XGBRegressor())
