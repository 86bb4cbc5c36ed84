"""CatBoost's models against CatBoost: the float64 sum over its own leaves, which is its raw prediction."""

import json

import numpy as np
import pytest
from boosters import awkward_rows, check_groups, library, tied_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_friedman1
from tolerance import assert_close

from fasthdmr import TreeHDMR, load_forest
from fasthdmr._cli.main import main
from fasthdmr._forest.city_hash import category_hash
from fasthdmr.inspection import partial_dependence

cb = library("catboost")

X, Y = make_friedman1(200, 5, random_state=0)
Y2 = np.column_stack([Y, X[:, 0] - Y])
LABELS = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
POSITIVE = Y - Y.min() + 0.5
QUIET = {"verbose": 0, "allow_writing_files": False, "thread_count": 1, "random_seed": 0}


def thresholds(model):
    return np.concatenate([[0.0], *model.get_borders().values()])


def check(model, rows):
    forest = load_forest(model)
    predicted = forest.predict(rows).reshape(len(rows), -1)
    scale, bias = model.get_scale_and_bias()
    leaves, counts = model.calc_leaf_indexes(rows), model.get_tree_leaf_counts()
    values = np.asarray(model.get_leaf_values()).reshape(sum(counts), -1)
    desired = np.tile(np.atleast_1d(np.asarray(bias, float)), (len(rows), 1))
    for t, start in enumerate(np.cumsum([0, *counts[:-1]])):
        desired = desired + scale * values[start + leaves[:, t]]
    assert_close(predicted, desired)
    raw = cb.CatBoost.predict(model, rows, prediction_type="RawFormulaVal", thread_count=1)
    assert_close(predicted, np.reshape(raw, (len(rows), -1)))
    check_groups(forest, rows, predicted)
    return forest


ZOO = {
    "regressor": (cb.CatBoostRegressor, {}, Y),
    "depthwise": (cb.CatBoostRegressor, {"grow_policy": "Depthwise"}, Y),
    "lossguide": (cb.CatBoostRegressor, {"grow_policy": "Lossguide", "max_leaves": 9}, Y),
    "stumps": (cb.CatBoostRegressor, {"depth": 1}, Y),
    "deep": (cb.CatBoostRegressor, {"depth": 8}, Y),
    "absolute": (cb.CatBoostRegressor, {"loss_function": "MAE"}, Y),
    "quantile": (cb.CatBoostRegressor, {"loss_function": "Quantile:alpha=0.7"}, Y),
    "poisson": (cb.CatBoostRegressor, {"loss_function": "Poisson"}, np.round(POSITIVE)),
    "tweedie": (cb.CatBoostRegressor, {"loss_function": "Tweedie:variance_power=1.5"}, POSITIVE),
    "two targets": (cb.CatBoostRegressor, {"loss_function": "MultiRMSE"}, Y2),
    "uncertainty": (cb.CatBoostRegressor, {"loss_function": "RMSEWithUncertainty"}, Y),
    "binary": (cb.CatBoostClassifier, {}, LABELS > 0),
    "multiclass": (cb.CatBoostClassifier, {}, LABELS),
    "depthwise classes": (cb.CatBoostClassifier, {"grow_policy": "Depthwise"}, LABELS),
    "one against all": (cb.CatBoostClassifier, {"loss_function": "MultiClassOneVsAll"}, LABELS),
    "NaN largest": (cb.CatBoostRegressor, {"nan_mode": "Max"}, Y),
}


def fitted(name, rows=X):
    make, options, y = ZOO[name]
    return make(iterations=8, **{"depth": 3} | QUIET | options).fit(rows, y)


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("name", ZOO)
def test_predict_equals_the_sum_over_the_leaves(name, gaps):
    rng = np.random.default_rng(1)
    model = fitted(name, np.where(rng.random(X.shape) < 0.1, np.nan, X) if gaps else X)
    check(model, np.vstack([X[:50], awkward_rows(rng, thresholds(model), 5, inf=True)]))


def test_learning_to_rank():
    model = cb.CatBoostRanker(iterations=5, depth=3, **QUIET).fit(X, LABELS, group_id=np.arange(200) // 20)
    check(model, X)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_random_models(data):
    classes = data.draw(st.sampled_from([0, 2, 3]))
    rows, y, rng = data.draw(tied_rows(classes=classes))
    options = {
        "iterations": data.draw(st.integers(1, 6)),
        "depth": data.draw(st.integers(1, 5)),
        "learning_rate": data.draw(st.sampled_from([0.1, 1.0])),
        "border_count": data.draw(st.sampled_from([3, 254])),
        "nan_mode": data.draw(st.sampled_from(["Min", "Max"])),
        "grow_policy": data.draw(st.sampled_from(["SymmetricTree", "Depthwise", "Lossguide"])),
    }
    rows = rows + 1e-3 * rng.normal(size=rows.shape)  # CatBoost raises an error if all columns are constant
    make = cb.CatBoostClassifier if classes else cb.CatBoostRegressor
    model = make(**QUIET | options).fit(rows, y)
    if data.draw(st.booleans()) and not classes:
        scale, bias = model.get_scale_and_bias()
        model.set_scale_and_bias(scale * 0.7, bias + 3.0)
    check(model, np.vstack([rows, awkward_rows(rng, thresholds(model), rows.shape[1], inf=True)]))


def test_sums_and_shrunk_models():
    first, second = fitted("regressor"), cb.CatBoostRegressor(iterations=5, **QUIET).fit(X, Y)
    both = cb.sum_models([first, second], weights=[0.3, 2.0])
    check(both, X)
    fit = TreeHDMR(both, measure="product", order=None).fit(X)  # scikit-learn takes the sum for an unfitted model
    assert_close(fit.predict(X), load_forest(both).predict(X))
    first.shrink(5, ntree_start=2)
    assert check(first, X).n_trees == 3


def test_continued_training():
    model = cb.CatBoostRegressor(iterations=5, depth=3, **QUIET).fit(X, Y, init_model=fitted("regressor"))
    assert check(model, X).n_trees == 13


def test_saved_and_loaded_models(tmp_path):
    for name in ("regressor", "multiclass"):
        fitted(name).save_model(tmp_path / "model.cbm")
        check(cb.CatBoost().load_model(tmp_path / "model.cbm"), X)


def test_early_stopping():
    noise = np.random.default_rng(0).normal(size=200)
    model = cb.CatBoostRegressor(iterations=60, learning_rate=0.9, early_stopping_rounds=3, **QUIET)
    model.fit(X[:100], noise[:100], eval_set=(X[100:], noise[100:]))
    assert check(model, X).n_trees == model.tree_count_ < 60


def test_names():
    pd = pytest.importorskip("pandas")
    model = cb.CatBoostClassifier(iterations=2, **QUIET).fit(pd.DataFrame(X, columns=list("abcde")), LABELS)
    forest = load_forest(model)
    assert forest.feature_names == ("a", "b", "c", "d", "e")
    assert forest.output_names == ("0", "1", "2")
    assert load_forest(fitted("regressor")).feature_names is None


def test_tree_hdmr_explains_it():
    model = fitted("regressor")
    fit = TreeHDMR(model, order=5, smooth=False).fit(X)
    assert_close(fit.predict(X) + fit.residual(X), load_forest(model).predict(X), rtol=1e-9)


WORDS = ["b", "a", "long words of more than sixteen letters", "ü", "7"]


def frame_of_categories(n=200):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    word, level = rng.choice(WORDS, n), rng.integers(-3, 9, n)
    frame = pd.DataFrame({"level": level, "number": rng.normal(size=n), "word": word})
    return frame, (level % 3 == 0) * frame["number"] + np.array([WORDS.index(w) % 2 for w in word])


def one_hot_model(frame, y, **options):
    options = {"iterations": 12, "depth": 3, "one_hot_max_size": 255} | QUIET | options
    return cb.CatBoostRegressor(**options).fit(frame, y, cat_features=["level", "word"])


@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise", "Lossguide"])
def test_splits_by_single_categories(policy, tmp_path):
    frame, y = frame_of_categories()
    model = one_hot_model(frame, y, grow_policy=policy)
    strange = frame.assign(word=frame["word"].where(frame["number"] < 0, "new"), level=frame["level"] + 2)
    forest = load_forest(model)
    assert forest.hashes_text and [column for column, _ in forest.text_levels] == [0, 2]
    for rows in (frame, strange, frame.astype({"word": "category", "level": "category"})):
        raw = model.predict(rows)
        assert_close(forest.predict(rows), raw)
        assert_close(forest.predict(rows.to_numpy(dtype=object)), raw)
        assert_close(forest.predict(rows.to_numpy(dtype=object).tolist()), raw)
    assert len(np.unique(forest.predict(frame.assign(number=0.0)))) > 8
    for name in ("model.cbm", "model.json"):
        model.save_model(tmp_path / name, format=name[-4:].strip("."))
        assert np.array_equal(load_forest(tmp_path / name).predict(frame), forest.predict(frame))


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_random_models_of_categories(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n, levels = data.draw(st.integers(30, 100)), data.draw(st.integers(2, 12))
    names = np.array([f"{'long' * (k % 9)} {k}" for k in range(2 * levels)], dtype=object)
    code, number = rng.integers(0, levels, n), rng.integers(-5, 5, n)
    rows = np.column_stack([names[code], rng.normal(size=n).round(1), number]).astype(object)
    policy = data.draw(st.sampled_from(["SymmetricTree", "Depthwise", "Lossguide"]))
    options = {"depth": data.draw(st.integers(1, 4)), "grow_policy": policy, "one_hot_max_size": 255}
    model = cb.CatBoostRegressor(iterations=data.draw(st.integers(1, 8)), learning_rate=0.8, **options, **QUIET)
    model.fit(rows, np.sin(code) * rows[:, 1].astype(float) + number % 3, cat_features=[0, 2])
    strange = rows.copy()  # with categories that the model has not seen
    strange[:, 0], strange[:, 2] = rng.choice(names, n), rng.integers(-20, 20, n)
    forest = load_forest(model)
    for at in (rows, strange):
        assert_close(forest.predict(at), model.predict(at))
        check_groups(forest, at, forest.predict(at)[:, None])


def test_hashes_of_text_of_every_length():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abc é"), n)) for n in [*range(3, 70), 127, 128, 129, 191, 192, 193, 300]]
    model = cb.CatBoostRegressor(iterations=1500, depth=1, one_hot_max_size=255, learning_rate=1, **QUIET)
    frame = pd.DataFrame({"word": words * 2})
    model.fit(frame, np.random.default_rng(1).permutation(len(words)).tolist() * 2, cat_features=["word"])
    ((_, hashes),) = load_forest(model).text_levels
    found = {category_hash(word.encode()) for word in words}
    assert set(hashes) <= found and len(hashes) > 0.9 * len(found)
    assert_close(load_forest(model).predict(frame), model.predict(frame))


@pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning")
@pytest.mark.parametrize("measure", ["empirical", "product"])
def test_tree_hdmr_of_categories(measure):
    frame, y = frame_of_categories()
    model = one_hot_model(frame, y)
    fit = TreeHDMR(model, measure=measure).fit(frame)
    assert_close(fit.predict(frame) + fit.residual(frame), model.predict(frame), rtol=1e-9)
    for row in (frame.iloc[[3]], frame.iloc[3]):
        assert_close(fit.explain(row).output, model.predict(frame)[3])


def test_partial_dependence_of_categories():
    frame, y = frame_of_categories()
    model = one_hot_model(frame, y)
    numbers = partial_dependence(model, frame, ["number"], custom_values={"number": [-1.0, 0.5]})
    assert_close(numbers["average"][0], [model.predict(frame.assign(number=v)).mean() for v in (-1.0, 0.5)])
    for name in ("word", "level"):
        found = partial_dependence(model, frame, [name], categorical_features=[name])
        for value, average in zip(found["grid_values"][0], found["average"][0], strict=True):
            assert_close(average, model.predict(frame.assign(**{name: value})).mean())


def test_the_command_reads_categories(tmp_path, capsys):
    frame, y = frame_of_categories()
    one_hot_model(frame, y).save_model(tmp_path / "model.cbm")
    frame.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    assert main(["decompose", str(tmp_path / "model.cbm"), str(tmp_path / "rows.csv"), "--target", "y"]) == 0
    printed = capsys.readouterr().out
    assert "12 trees, 200 rows, 3 variables" in printed and "level & number" in printed


def test_what_is_no_category():
    frame, y = frame_of_categories()
    model = one_hot_model(frame, y)
    numbers = frame.assign(word=0)
    for rows in (numbers.astype(float), numbers.to_numpy(float), frame.assign(word=frame["word"].where(y > 0, None))):
        with pytest.raises(ValueError, match=r"must be integers or text, got .*Pass a data frame"):
            load_forest(model).predict(rows)
    with pytest.raises(TypeError, match="this model does not take it"):
        load_forest(model).predict(sparse.csr_array(numbers.to_numpy(float)))


def test_statistics_of_categories_are_refused():
    frame, y = frame_of_categories()
    model = one_hot_model(frame, y, one_hot_max_size=2)
    with pytest.raises(ValueError, match=r"statistics of categories.*one_hot_max_size=255.*OrdinalEncoder"):
        load_forest(model)


def test_unknown_parts_are_refused(tmp_path):
    path = tmp_path / "model.json"
    model = cb.CatBoostRegressor(iterations=2, depth=2, verbose=0, allow_writing_files=False).fit(X, Y)
    model.save_model(str(path), format="json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "tree_weights": [1.0, 0.5]}))
    with pytest.raises(ValueError, match=r"does not know: 'tree_weights'.*newer version of CatBoost"):
        load_forest(path)


def test_unfitted_models_are_refused():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        load_forest(cb.CatBoostRegressor())
