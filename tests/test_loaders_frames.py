"""Frames with columns of dtype category, which become codes by the levels of the training frame."""

import importlib
import pickle

import numpy as np
import pytest
from boosters import lightgbm_of_small_data, xgboost_with_levels
from sklearn.ensemble import VotingRegressor
from tolerance import assert_close

from fasthdmr import TreeHDMR, load_forest
from fasthdmr.inspection import partial_dependence

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

RNG = np.random.default_rng(0)
LEVELS = {"text": ["d", "a", "long", "c"], "numbers": [3, 5, 9, 11]}
every_kind = pytest.mark.parametrize("kind", LEVELS)


def xgboost_model():
    return xgboost_with_levels(n_estimators=5)


def lightgbm_model():
    return lightgbm_of_small_data(n_estimators=5)


MODELS = {"xgboost": xgboost_model, "LightGBM": lightgbm_model}
every_library = pytest.mark.parametrize("name", MODELS)


def frame_of(kind, n=200):
    levels = LEVELS[kind]
    column = pd.Categorical(RNG.choice([*levels, None], n), categories=levels)
    return pd.DataFrame({"number": RNG.normal(size=n), "level": column})


def fitted(name, kind):
    frame = frame_of(kind)
    codes = frame["level"].cat.codes.to_numpy()
    return MODELS[name]().fit(frame, np.sin(4 * codes) * (1 + frame["number"])), frame


@every_library
@every_kind
def test_levels_are_known_by_name(name, kind):
    model, frame = fitted(name, kind)
    forest = load_forest(model)
    turned = frame.assign(level=frame["level"].cat.set_categories(LEVELS[kind][::-1]))
    codes = frame.assign(level=frame["level"].cat.codes.where(frame["level"].notna()))
    for rows in (frame, turned, codes):
        assert_close(forest.predict(rows), model.predict(frame), rtol=1e-5, reason="xgboost adds up in float32")
        assert np.array_equal(forest.predict(rows), forest.predict(codes))
    assert list(turned["level"].cat.categories) == LEVELS[kind][::-1]  # not changed
    twin = pickle.loads(pickle.dumps(forest))
    assert np.array_equal(twin.predict(turned), forest.predict(codes))


@every_library
def test_levels_that_were_not_seen(name):
    model, frame = fitted(name, "text")
    strange = frame.assign(level=pd.Categorical(["a", "z"] * 100))
    if name == "LightGBM":
        assert_close(load_forest(model).predict(strange), model.predict(strange))
    else:
        with pytest.raises(ValueError, match=r"'level' holds categories that the model has not seen, such as 'z'"):
            load_forest(model).predict(strange)


@every_library
@pytest.mark.parametrize("measure", ["empirical", "product"])
def test_tree_hdmr(name, measure):
    model, frame = fitted(name, "text")
    codes = frame.assign(level=frame["level"].cat.codes.where(frame["level"].notna()))
    fit = TreeHDMR(model, measure=measure).fit(frame)
    of_codes = TreeHDMR(model, measure=measure, categorical_features=["level"]).fit(codes)
    assert np.array_equal(fit.evaluate(frame), of_codes.evaluate(codes))
    explained = fit.explain(frame.iloc[[0]])
    assert_close(explained.output, load_forest(model).predict(frame)[0])
    values = fit.evaluate(frame)[:, fit.subspaces_.index((1,))]
    assert_close(fit.component("level")(frame[["level"]]), values)
    assert_close(of_codes.component("level")(codes["level"]), values)
    assert_close(fit.predict(frame) + fit.residual(frame), load_forest(model).predict(frame), rtol=1e-9)


@every_library
def test_invalid_input_is_refused(name):
    model, frame = fitted(name, "numbers")
    two = frame.assign(number=pd.Categorical([1, 2] * 100))
    with pytest.raises(ValueError, match=r"'number', column 'level', and the model knows the levels of 1 such columns"):
        load_forest(model).predict(two)
    with pytest.raises(ValueError, match=r"\['level'\] are of dtype category.*codes as numbers"):
        partial_dependence(model, frame, ["number"])


@every_library
@every_kind
def test_rows_that_are_series(name, kind):
    model, frame = fitted(name, kind)
    fit = TreeHDMR(model).fit(frame)
    for i in range(5):  # the dtypes of the columns are those of the frame
        assert fit.explain(frame.iloc[i]).output == fit.explain(frame.iloc[[i]]).output
    with pytest.raises(ValueError, match=r"a Series does not say which .* frame.iloc\[\[i\]\]"):
        load_forest(model).predict(frame.iloc[3])  # of levels that are numbers it would be numbers


@every_library
def test_a_fitted_model_is_exported_once(name, monkeypatch):
    model, frame = fitted(name, "text")
    reader = f"{name.lower()}_models"
    module = importlib.import_module(f"fasthdmr.loaders.{reader}")
    calls = []
    original = module.read_wrapper
    monkeypatch.setattr(module, "read_wrapper", lambda model: calls.append(model) or original(model))
    TreeHDMR(model).fit(frame)
    assert len(calls) == 1


def test_text_that_xgboost_cuts():
    model, frame = fitted("xgboost", "text")
    frame = frame.assign(level=frame["level"].cat.rename_categories(["é", "a", "ü", "c"]))
    model.fit(frame, frame["number"])
    with pytest.raises(ValueError, match="levels of none such columns"):
        load_forest(model).predict(frame)


def test_models_of_several_levels():
    models = [fitted("LightGBM", kind)[0] for kind in LEVELS]
    with pytest.raises(ValueError, match="different levels"):
        TreeHDMR(models, combine="sum").fit(frame_of("text"))
    frame = frame_of("text")
    voting = VotingRegressor([("a", lightgbm_model()), ("b", lightgbm_model().set_params(num_leaves=3))])
    y = np.sin(4 * frame["level"].cat.codes.to_numpy())
    assert_close(load_forest(voting.fit(frame, y)).predict(frame), voting.predict(frame))


@every_library
def test_levels_in_columns_of_text(name):
    polars = pytest.importorskip("polars")
    model, frame = fitted(name, "text")
    forest, expected = load_forest(model), load_forest(model).predict(frame)
    text = frame.astype({"level": object}).where(frame.notna(), None)
    categorical = polars.from_pandas(frame.astype({"number": float}))
    for rows in (text, text.to_numpy(dtype=object), categorical, categorical.cast({"level": polars.String})):
        assert np.array_equal(forest.predict(rows), expected)
    fit = TreeHDMR(model, smooth=False).fit(categorical)
    assert_close(fit.predict(categorical) + fit.residual(categorical), expected)
    if name == "xgboost":
        with pytest.raises(
            ValueError, match="column 'level' holds categories that the model has not seen, such as 'z'"
        ):
            forest.predict(text.assign(level="z"))
