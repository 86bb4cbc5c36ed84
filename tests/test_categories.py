"""Categorical variables of tree models: spans of levels, and trees that read numbers of their own."""

import pickle
import warnings

import numpy as np
import pytest
from boosters import lightgbm_of_small_data, xgboost_with_levels
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from tolerance import assert_close

from fasthdmr import HDMR, TreeHDMR, UnknownLevelsWarning, load_forest
from fasthdmr._data.encoding import Encoding

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
# Steps of trees are not in spans of splines.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

N = 400
RNG = np.random.default_rng(0)
STREETS = [f"street {k}" for k in range(8)]
X = pd.DataFrame(
    {
        "city": pd.Categorical(RNG.choice(["Oslo", "Rome", None], N, p=[0.5, 0.3, 0.2])),
        "size": RNG.normal(size=N),
        "street": pd.Categorical(RNG.choice(STREETS, N)),
        "new": RNG.choice([True, False], N),
    }
)
NUMBER = X["street"].cat.codes.to_numpy()
Y = NUMBER % 3 * (X["city"] == "Oslo") + X["size"] * X["new"]


def xgboost_model():
    return xgboost_with_levels(n_estimators=8)


def lightgbm_model():
    return lightgbm_of_small_data(n_estimators=8)


def histogram_model():
    return HistGradientBoostingRegressor(max_iter=8, min_samples_leaf=3, categorical_features="from_dtype")


MODELS = {"xgboost": xgboost_model, "LightGBM": lightgbm_model, "histogram": histogram_model}
OPTIONS = {
    "smooth": {},
    "bins": {"basis": "bins"},
    "detail": {"smooth": False, "order": None},
    "trees": {"basis": "trees"},
    "product": {"measure": "product", "order": None},
}
every_model = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(scope="module")
def fitted():
    """Return a function that returns a model fitted to X, by name."""
    known = {}

    def of(name):
        if name not in known:
            known[name] = MODELS[name]().fit(X, Y)
        return known[name]

    return of


@every_model
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_components_add_up_to_the_model(name, options, fitted):
    model = fitted(name)
    before = pickle.dumps(X)
    hdmr, output = TreeHDMR(model, **options).fit(X), load_forest(model).predict(X)
    assert_close(hdmr.predict(X) + hdmr.residual(X), output)
    assert_close(hdmr.intercept_ + hdmr.evaluate(X).sum(axis=1), hdmr.predict(X))
    assert_close(np.sum(hdmr.sensitivity_.S) + hdmr.residual_, 1.0)
    if options.get("order", 2) is None:
        assert_close(hdmr.predict(X), output)
    assert set(hdmr.decomposition_.levels[0]) == {"Oslo", "Rome", None} and set(hdmr.decomposition_.levels) == {0, 2, 3}
    assert hdmr.explain(X.iloc[3]).output == hdmr.explain(X.iloc[[3]]).output
    assert_close(hdmr.explain(X.iloc[3]).output, output[3])
    twin = pickle.loads(pickle.dumps(hdmr))
    assert np.array_equal(twin.transform(X), hdmr.transform(X))
    assert pickle.dumps(X) == before


@every_model
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_components_are_functions_of_levels(name, options, fitted):
    hdmr = TreeHDMR(fitted(name), **options).fit(X)
    values = hdmr.evaluate(X)
    for c, u in enumerate(hdmr.subspaces_[:15]):
        assert_close(hdmr.component(u)(X.iloc[:, list(u)]), values[:, c])


@every_model
def test_rows_of_levels_and_of_codes(name, fitted):
    """Neither names nor the declared order of levels matter, nor the kind of frame."""
    model = fitted(name)
    hdmr = TreeHDMR(model, smooth=False).fit(X)
    turned = X.assign(street=X["street"].cat.set_categories(STREETS[::-1]))
    if name != "histogram":  # it takes no other order of categories either
        assert np.array_equal(hdmr.transform(turned), hdmr.transform(X))
    threads = TreeHDMR(model, smooth=False, n_jobs=2).fit(X)
    assert np.array_equal(threads.transform(X), hdmr.transform(X))


def test_order_and_names_of_levels():
    results = []
    for names in (STREETS, STREETS[::-1], [f"{k}" for k in (3, 1, 4, 5, 9, 2, 6, 8)]):
        named = X.assign(street=pd.Categorical.from_codes(NUMBER, categories=names))
        named["street"] = named["street"].cat.set_categories(sorted(names))
        model = HistGradientBoostingRegressor(max_iter=8, categorical_features="from_dtype").fit(named, Y)
        hdmr = TreeHDMR(model).fit(named)
        results.append(hdmr.transform(named))
        assert_close(results[-1], results[0])


@every_model
def test_levels_that_were_not_seen(name, fitted):
    model = fitted(name)
    few = X[NUMBER < 6]
    hdmr = TreeHDMR(model, smooth=False, order=None).fit(few)
    assert len(hdmr.decomposition_.levels[2]) == 6
    output = load_forest(model).predict(X)
    with pytest.warns(UnknownLevelsWarning, match="in 'street'") as record:
        total = hdmr.predict(X)
    assert len(record) == 1
    assert_close(total[NUMBER < 6], output[NUMBER < 6])
    with pytest.warns(UnknownLevelsWarning):
        assert_close(total + hdmr.residual(X), output)


def test_members_are_fitted_to_frames():
    hdmr = TreeHDMR(histogram_model()).fit(X, Y)
    assert_close(hdmr.predict(X) + hdmr.residual(X), hdmr.estimators_[0].predict(X))
    assert hdmr.estimators_[0].feature_names_in_.tolist() == list(X.columns)
    numbers = X[["size", "new"]]
    boosted = TreeHDMR(GradientBoostingRegressor(n_estimators=3), combine="sum").fit(numbers, Y)
    assert_close(
        boosted.predict(numbers) + boosted.residual(numbers), boosted.estimators_[0].predict(numbers.to_numpy())
    )


@pytest.mark.parametrize("member", [None, RandomForestRegressor(2), HistGradientBoostingRegressor()])
def test_members_that_take_no_text_are_refused(member):
    text = X.astype({"street": str})
    with pytest.raises(ValueError, match=r"cannot be fitted to column 'street'.*Pass a Pipeline with an encoder"):
        TreeHDMR(member).fit(text[["size", "street"]], Y)


def test_codes_of_levels_in_arrays():
    codes = np.column_stack([NUMBER, X["size"]])
    model = RandomForestRegressor(10, random_state=0).fit(codes, Y)
    for options in OPTIONS.values():
        hdmr = TreeHDMR(model, categorical_features=[0], **options).fit(codes)
        assert_close(hdmr.predict(codes) + hdmr.residual(codes), model.predict(codes))
        values = hdmr.evaluate(codes)
        for c, u in enumerate(hdmr.subspaces_):
            assert_close(hdmr.component(u)(codes[:, u]), values[:, c])
        assert clone(hdmr).categorical_features == [0]
    assert np.array_equal(hdmr.transform(np.asfortranarray(codes)), hdmr.transform(codes))
    single = TreeHDMR(model, categorical_features=[True, False]).fit(codes.astype(np.float32))
    assert single.decomposition_.levels == hdmr.decomposition_.levels


def test_models_of_text_that_is_not_encoded():
    model = RandomForestRegressor(2).fit(X[["size", "new"]], Y)
    text = X[["size"]].assign(new=X["street"].astype(str))
    with pytest.raises(ValueError, match="column 'new' holds text"):
        TreeHDMR(model).fit(text)


def test_polars_frames():
    X = pl.DataFrame({"new": RNG.choice([True, False], N), "size": RNG.normal(size=N)})
    y = X["size"].to_numpy() * X["new"].to_numpy()
    model = GradientBoostingRegressor(n_estimators=8).fit(X.to_numpy(), y)
    hdmr = TreeHDMR(model, smooth=False).fit(X)
    assert hdmr.decomposition_.levels.keys() == {0}
    assert_close(hdmr.predict(X) + hdmr.residual(X), model.predict(X.to_numpy()))
    assert hdmr.set_output(transform="polars").transform(X).columns[0] == "new"


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_names_and_order_of_levels_do_not_matter(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    counts = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=2))
    n = 60
    codes = np.column_stack([rng.integers(0, count, n) for count in counts])
    number = rng.normal(size=n)
    y = number + codes[:, 0] * np.sin(3 * number) + codes.sum(axis=1)
    texts = st.text(max_size=3) | st.integers(-3, 3) | st.none()
    frames = []
    for _ in range(2):
        columns = {"number": number}
        for j, count in enumerate(counts):
            names = data.draw(st.lists(texts, min_size=count, max_size=count, unique=True))
            columns[f"c{j}"] = np.array([names[k] for k in codes[:, j]], dtype=object)
            if all(isinstance(name, str) for name in names) and data.draw(st.booleans()):
                declared = data.draw(st.permutations([*names, "not used"]))
                columns[f"c{j}"] = pd.Categorical(columns[f"c{j}"], categories=declared)
        frames.append(pd.DataFrame(columns))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = (HDMR(categorical_features=range(1, len(counts) + 1)).fit(X, y) for X in frames)
    assert_close(second.evaluate(frames[1]), first.evaluate(frames[0]))
    assert_close(second.sensitivity_.S, first.sensitivity_.S)
    assert_close(np.sum(first.sensitivity_.S) + first.residual_, 1.0)


def test_levels_are_numbered_by_decreasing_weight():
    rows = np.array([["a"], ["b"], ["b"], ["c"]], dtype=object)
    assert Encoding.of(rows).levels == {0: ("b", "a", "c")}
    assert Encoding.of(rows, sample_weight=[5.0, 1.0, 1.0, 3.0]).levels == {0: ("a", "c", "b")}


def test_levels_of_weight_zero():
    weights = np.where(NUMBER == 2, 0.0, 1.0)
    model = histogram_model().fit(X, Y)
    hdmr = TreeHDMR(model).fit(X, sample_weight=weights)
    without = TreeHDMR(model).fit(X[NUMBER != 2])
    assert hdmr.decomposition_.levels == without.decomposition_.levels
    assert_close(hdmr.sensitivity_.S, without.sensitivity_.S, 1e-9)


def test_codes_are_never_given_to_models():
    hdmr = HDMR(lambda X: X["size"]).fit(X)
    with pytest.raises(ValueError, match="Rows hold codes of levels, which the model does not take"):
        hdmr.decomposition_.black_box(np.zeros((1, 4)))


def test_set_output():
    hdmr = HDMR(interactions=[("city", "size")]).set_output(transform="pandas").fit(X.set_index(np.arange(N) + 5), Y)
    found = hdmr.transform(X.set_index(np.arange(N) + 5))
    assert found.columns.tolist() == ["city", "size", "street", "new", "city & size"] and found.index[0] == 5
