"""HistGradientBoosting: forests against its own raw predictions, which are float64 sums."""

import pickle
import warnings

import numpy as np
import pytest
from boosters import CODES, awkward_rows, category_rows, check_groups, tied_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from tolerance import assert_close

from fasthdmr import TreeHDMR, load_forest
from fasthdmr.inspection import partial_dependence
from fasthdmr.loaders.registry import read
from fasthdmr.loaders.sums import add

X, Y = make_friedman1(200, 5, random_state=0)
LABELS = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
POSITIVE = Y - Y.min() + 0.5


def thresholds(model):
    nodes = np.concatenate([p.nodes for iteration in model._predictors for p in iteration])
    found = nodes["num_threshold"][nodes["is_leaf"] == 0]
    return found if len(found) else np.zeros(1)


def check(model, rows):
    forest = load_forest(model)
    predicted = forest.predict(rows).reshape(len(rows), -1)
    finite = np.where(np.isinf(rows), np.sign(rows) * 1e300, rows)  # scikit-learn raises an error for infinities
    assert_close(predicted, model._raw_predict(finite).reshape(len(rows), -1))
    check_groups(forest, rows, predicted)
    return forest


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_random_models(data):
    classes = data.draw(st.sampled_from([0, 2, 3]))
    rows, y, rng = data.draw(tied_rows(classes=classes))
    options = {
        "max_iter": data.draw(st.integers(1, 6)),
        "max_leaf_nodes": data.draw(st.integers(2, 20)),
        "learning_rate": data.draw(st.sampled_from([0.1, 1.0])),
        "max_bins": data.draw(st.sampled_from([3, 255])),
        "min_samples_leaf": data.draw(st.sampled_from([1, 10, 1000])),
    }
    make = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    model = make(**options).fit(rows, y)
    check(model, np.vstack([rows, awkward_rows(rng, thresholds(model), rows.shape[1])]))


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "gamma", "poisson", "quantile"])
def test_losses(loss):
    options = {"quantile": 0.7} if loss == "quantile" else {}
    model = HistGradientBoostingRegressor(loss=loss, max_iter=6, **options).fit(X, POSITIVE)
    forest = check(model, X)
    if loss in ("squared_error", "absolute_error", "quantile"):
        assert_close(forest.predict(X), model.predict(X))


def test_early_stopping_and_warm_start():
    model = HistGradientBoostingRegressor(max_iter=200, learning_rate=0.9, early_stopping=True, n_iter_no_change=2)
    assert check(model.fit(X, Y), X).n_trees == model.n_iter_ < 200
    model = HistGradientBoostingClassifier(max_iter=3, warm_start=True).fit(X, LABELS)
    assert check(model.set_params(max_iter=5).fit(X, LABELS), X).n_trees == 15


def test_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcde"))
    forest = load_forest(HistGradientBoostingClassifier(max_iter=2).fit(frame, LABELS))
    assert forest.feature_names == ("a", "b", "c", "d", "e")
    assert forest.output_names == ("0", "1", "2")
    assert forest.is_classifier


@pytest.mark.parametrize("measure", ["empirical", "product"])
def test_tree_hdmr_explains_it(measure):
    rows = np.round(np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X), 1)
    model = HistGradientBoostingRegressor(max_iter=8, max_leaf_nodes=6).fit(rows, Y)
    fit = TreeHDMR(model, order=5, smooth=False, measure=measure).fit(rows)
    assert_close(fit.predict(rows) + fit.residual(rows), model.predict(rows), rtol=1e-9)


def test_partial_dependence_is_the_mean_over_the_rows():
    model = HistGradientBoostingRegressor(max_iter=10).fit(X, Y)
    grid = np.unique(thresholds(model))[:40]
    found = partial_dependence(load_forest(model), X, [0], custom_values={0: grid})
    desired = []
    for value in found["grid_values"][0]:
        rows = X.copy()
        rows[:, 0] = value
        desired.append(model.predict(rows).mean())
    assert_close(found["average"][0], desired)


def test_thresholds_that_float32_cannot_represent():
    rows = np.array([[4.0], [4.000000000000001], [4.000000000000002], [5.0]] * 10)
    y = np.array([0.0, 0.0, 1.0, 1.0] * 10)
    model = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=1).fit(rows, y)
    forest = check(model, rows)
    assert len(np.unique(forest.predict(rows))) > 1


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_splits_by_categories(data):
    rows, y, rng = data.draw(category_rows(lowest=-3))
    rows[:, 0] *= data.draw(st.sampled_from([1.0, 0.5, 1 / 3]))
    options = {"max_leaf_nodes": data.draw(st.integers(2, 12)), "early_stopping": data.draw(st.booleans())}
    model = HistGradientBoostingRegressor(max_iter=6, min_samples_leaf=2, categorical_features=[0, 2], **options)
    model.fit(rows, y)
    hard = np.vstack([rows, awkward_rows(rng, [*CODES, *rows[:, 0]], 3, n_rows=200)])
    forest = load_forest(model)
    assert_close(forest.predict(hard), model.predict(hard))
    check_groups(forest, hard, forest.predict(hard)[:, None])


WORDS = ["b", "a", "long word", "ü", "10", "9"]


def frame_of_words(n=250, *, missing=True):
    """A column of numbers, one of words, and one of categories that are numbers."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    words = rng.choice([*WORDS, None] if missing else WORDS, n)
    frame = pd.DataFrame({"number": rng.normal(size=n), "word": pd.Categorical(words, categories=WORDS)})
    frame["level"] = pd.Categorical(rng.choice([5, 3, 9], n), categories=[9, 5, 3])
    y = np.sin(5 * frame["word"].cat.codes) * (frame["level"].astype(int) - 5) + frame["number"]
    return frame, y.to_numpy()


def with_strange(frame):
    """The same rows, but with some unknown words and another order of levels."""
    strange = frame.copy()
    strange["word"] = frame["word"].cat.set_categories(["new", *WORDS[::-1]])
    strange.loc[::7, "word"] = "new"
    return strange


@pytest.mark.parametrize("missing", [False, True])
def test_categories_of_text_are_identified_by_name(missing):
    frame, y = frame_of_words(missing=missing)
    model = HistGradientBoostingRegressor(max_iter=12, min_samples_leaf=3, categorical_features="from_dtype")
    model.fit(frame, y)
    forest = load_forest(model)
    assert forest.text_levels == ((1, tuple(sorted(WORDS))),)
    for rows in (frame, with_strange(frame), frame.astype({"word": object}), frame.to_numpy(dtype=object)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an array has no names
            assert_close(forest.predict(rows), model.predict(rows))
    assert_close(forest.predict(frame.to_numpy(dtype=object).tolist()), model.predict(frame))
    codes = frame.assign(word=[sorted(WORDS).index(w) if w in WORDS else np.nan for w in frame["word"]])
    assert np.array_equal(forest.predict(codes), forest.predict(frame))
    assert np.array_equal(pickle.loads(pickle.dumps(forest)).predict(frame), forest.predict(frame))
    assert frame["word"].dtype == "category"  # the input is not changed
    assert len(np.unique(forest.predict(frame.assign(number=0.0, level=3)))) > 3


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_random_models_of_text(data):
    rows, y, rng = data.draw(category_rows())
    names = np.array([f"{k * 7 % 41}" for k in range(60)], dtype=object)
    words = np.where(np.isnan(rows[:, 0]), None, names[np.nan_to_num(rows[:, 0]).astype(int)])
    table = np.column_stack([words, rows[:, 1], rows[:, 2]]).astype(object)
    model = HistGradientBoostingRegressor(max_iter=6, min_samples_leaf=2, categorical_features=[0, 2]).fit(table, y)
    strange = table.copy()
    strange[:, 0] = rng.choice([*names, None], len(table))
    forest = load_forest(model)
    for at in (table, strange):
        assert_close(forest.predict(at), model.predict(at))
        check_groups(forest, at, forest.predict(at)[:, None])


@pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")
@pytest.mark.parametrize("measure", ["empirical", "product"])
def test_tree_hdmr_of_text(measure):
    frame, y = frame_of_words()
    model = HistGradientBoostingClassifier(max_iter=8, categorical_features="from_dtype").fit(frame, y > 0)
    fit = TreeHDMR(model, measure=measure).fit(frame)
    assert_close(fit.predict(frame) + fit.residual(frame), model.decision_function(frame), rtol=1e-9)
    for i in (0, 3):
        assert fit.explain(frame.iloc[[i]]).output == fit.explain(frame.iloc[i]).output
        assert_close(fit.explain(frame.iloc[i]).output, model.decision_function(frame.iloc[[i]])[0])


def test_partial_dependence_of_text():
    frame, y = frame_of_words()
    model = HistGradientBoostingRegressor(max_iter=8, categorical_features="from_dtype").fit(frame, y)
    words = partial_dependence(model, frame, ["word"], categorical_features=["word"])
    numbers = partial_dependence(model, frame, ["number"], custom_values={"number": [-1.0, 0.5]})
    assert_close(numbers["average"][0], [model.predict(frame.assign(number=v)).mean() for v in (-1.0, 0.5)])
    for word, average in zip(words["grid_values"][0], words["average"][0], strict=True):
        assert_close(average, model.predict(frame.assign(word=word).astype({"word": object})).mean())


def test_text_of_polars():
    polars = pytest.importorskip("polars")
    frame, y = frame_of_words(missing=False)
    words = polars.Series(frame["word"].astype(str).tolist())
    table = polars.DataFrame({"number": frame["number"].to_numpy(), "word": words.cast(polars.Categorical)})
    model = HistGradientBoostingRegressor(max_iter=8, categorical_features=["word"]).fit(table, y)
    for rows in (table, table.with_columns(words.alias("word"))):
        assert_close(load_forest(model).predict(rows), model.predict(rows))


def test_members_with_different_levels_are_refused():
    frame, y = frame_of_words(90, missing=False)
    rows = frame[["number", "word"]].to_numpy(dtype=object)
    models = [
        HistGradientBoostingRegressor(max_iter=2, categorical_features=[1]).fit(rows[part], y[part])
        for part in (rows[:, 1] != "a", rows[:, 1] != "b")
    ]
    with pytest.raises(ValueError, match="They know different levels of text columns"):
        add([read(model) for model in models])
    with pytest.raises(ValueError, match="The models know different levels of text columns"):
        TreeHDMR(models, combine="sum").fit(rows)


def test_unfitted_models_are_refused():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        load_forest(HistGradientBoostingRegressor())
