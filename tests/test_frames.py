"""Models and functions get the data frame of the user, never its numbers or codes."""

import pickle
import warnings

import numpy as np
import pytest
from boosters import library, xgboost_with_levels
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tolerance import assert_close

from fasthdmr import HDMR, UnknownLevelsWarning, load_forest

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

N = 300
RNG = np.random.default_rng(0)
COLUMNS = {
    "city": RNG.choice(["Oslo", "Rome", None], N, p=[0.5, 0.3, 0.2]),
    "size": RNG.normal(size=N),
    "rooms": RNG.integers(1, 5, N),
}
Y = np.where(COLUMNS["city"] == "Oslo", 1.0, 0.0) * COLUMNS["size"] + COLUMNS["rooms"]
KINDS = {
    "objects": lambda: pd.DataFrame(COLUMNS).astype({"city": object}),
    "text": lambda: pd.DataFrame(COLUMNS),
    "category": lambda: pd.DataFrame(COLUMNS).astype({"city": "category"}),
    "nullable": lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
    "arrow": lambda: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "polars text": lambda: pl.DataFrame(COLUMNS, schema_overrides={"city": pl.String}),
    "polars categorical": lambda: pl.DataFrame(COLUMNS, schema_overrides={"city": pl.Categorical}),
    "polars enum": lambda: pl.DataFrame(COLUMNS, schema_overrides={"city": pl.Enum(["Rome", "Paris", "Oslo"])}),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


class Recorder:
    """A function of a frame, which keeps what it was given and then overwrites it."""

    def __init__(self):
        self.given = []

    def __call__(self, X):
        self.given.append(X.clone() if isinstance(X, pl.DataFrame) else X.copy())
        values = np.asarray(X["size"], dtype=float) * [isinstance(city, str) and city == "Oslo" for city in X["city"]]
        if isinstance(X, pd.DataFrame):
            X["size"] = 0.0
        return values


@every_kind
def test_functions_get_frames_as_they_are(kind):
    X = KINDS[kind]()
    before = X.clone() if isinstance(X, pl.DataFrame) else X.copy()
    function = Recorder()
    hdmr = HDMR(function).fit(X)
    hdmr.residual(X[:7])
    assert hdmr.fidelity(X) > 0.99
    hdmr.explain(X[:1])
    assert [len(given) for given in function.given] == [N, 7, N, 1]
    for given in function.given:
        assert type(given) is type(X)
        assert given.equals(X[: len(given)])
        assert list(given.dtypes) == list(X.dtypes)
    assert X.equals(before)
    assert list(X.dtypes) == list(before.dtypes)


@every_kind
def test_every_kind_of_frame_has_the_same_components(kind):
    X, reference = KINDS[kind](), HDMR().fit(KINDS["text"](), Y)
    hdmr = HDMR().fit(X, Y)
    assert hdmr.decomposition_.levels == {0: ("Oslo", "Rome", None)}
    assert hdmr.feature_names_ == ("city", "size", "rooms")
    assert np.array_equal(hdmr.transform(X), reference.transform(KINDS["text"]()))
    twin = pickle.loads(pickle.dumps(hdmr))
    assert np.array_equal(twin.predict(X), hdmr.predict(X))
    assert clone(hdmr).categorical_features == "from_dtype"


def test_arrays_of_objects():
    X = np.column_stack([COLUMNS[name].astype(object) for name in COLUMNS])
    hdmr = HDMR().fit(X, Y)
    assert np.array_equal(hdmr.predict(X), HDMR().fit(KINDS["text"](), Y).predict(KINDS["text"]()))
    assert np.array_equal(hdmr.predict(X.tolist()), hdmr.predict(X))
    model = HDMR(lambda X: (X[:, 0] == "Oslo") * X[:, 1].astype(float)).fit(X)
    assert model.fidelity(X) > 0.99
    assert_close(model.explain(X[0].tolist()).output, (X[0, 0] == "Oslo") * X[0, 1])


@pytest.mark.parametrize("kind", ["objects", "text", "category"])
def test_pipelines(kind):
    X = KINDS[kind]()
    encoder = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
    pipe = make_pipeline(encoder, RandomForestRegressor(5, random_state=0)).fit(X, Y)
    hdmr = HDMR(pipe).fit(X)
    assert_close(hdmr.predict(X) + hdmr.residual(X), pipe.predict(X))
    for row in (X.iloc[[3]], X.iloc[3]):
        assert_close(hdmr.explain(row).output, pipe.predict(X)[3])


def test_models_of_arrays_get_arrays():
    X = pd.DataFrame(COLUMNS)[["size", "rooms"]].assign(new=pd.array(RNG.choice([True, False, None], N), "boolean"))
    model = RandomForestRegressor(5, random_state=0).fit(X.to_numpy(float, na_value=np.nan), Y)
    assert_close(
        HDMR(model).fit(X).explain(X.iloc[[0]]).output, model.predict(X[:1].to_numpy(float, na_value=np.nan))[0]
    )


@every_kind
def test_components_take_levels_by_name(kind):
    X = KINDS[kind]()
    hdmr = HDMR().fit(X, Y)
    city, pair = hdmr.component("city"), hdmr.component(("size", "city"))
    values = hdmr.evaluate(X)
    assert_close(city(X["city"]), values[:, hdmr.subspaces_.index((0,))])
    assert_close(pair(X[["city", "size"]]), values[:, hdmr.subspaces_.index((0, 1))])
    for form in (["Oslo", "Rome", None], np.array([["Oslo"], ["Rome"], [np.nan]], dtype=object)):
        assert_close(city(form), [city([level])[0] for level in ("Oslo", "Rome", None)])
        assert (city.standard_error(form) > 0).all()
    assert_close(pair([[0.5, "Rome"]]), pair(X[["size", "city"]][:1].__class__({"city": ["Rome"], "size": [0.5]})))
    with pytest.raises(ValueError, match="one numeric variable"):
        city.fourier()


def test_explanations_show_levels():
    X = KINDS["text"]()
    hdmr = HDMR(Recorder()).fit(X)
    for i, shown in ((int(np.flatnonzero(X["city"] == "Rome")[0]), "Rome"), (int(X["city"].isna().argmax()), None)):
        explanation = hdmr.explain(X.iloc[i])
        assert explanation.values[explanation.subspaces.index((0, 1))] == (shown, X["size"][i])
        assert f"  {shown or 'missing'}  " in str(explanation)


def test_unknown_levels_warn_once():
    X = KINDS["text"]().assign(street=RNG.choice(["a", "b"], N))
    hdmr = HDMR(interactions=[]).fit(X, Y)
    new = X.iloc[:3].assign(city=["Oslo", "Bern", "Bern"], street=["a", "a", "c"])
    with pytest.warns(UnknownLevelsWarning, match=r"'Bern' in 'city' \(2 rows\), 'c' in 'street' \(1 rows\)") as record:
        values = hdmr.evaluate(new)
    assert len(record) == 1 and record[0].filename == __file__
    with pytest.warns(UnknownLevelsWarning, match=r"such as 'Bern' in 'city' \(1 rows\)"):
        hdmr.component("city")(["Bern"])
    assert np.isfinite(values).all()


def test_levels_without_weight_are_not_known():
    X = KINDS["text"]()
    weights = np.where(X["city"] == "Rome", 0.0, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnknownLevelsWarning)
        hdmr = HDMR().fit(X, Y, sample_weight=weights)
    assert hdmr.decomposition_.levels == {0: ("Oslo", None)}


def test_columns_that_are_not_categorical_are_refused_by_name():
    X = KINDS["text"]()
    with pytest.raises(ValueError, match=r"column 'city' holds text.*add the column to categorical_features"):
        HDMR(categorical_features=["rooms"]).fit(X, Y)
    with pytest.raises(ValueError, match="column 'day' holds dates"):
        HDMR().fit(X.assign(day=pd.Timestamp("2020-01-01")), Y)
    with pytest.raises(TypeError, match="levels of column 'day' must be text, numbers or booleans, got Timestamp"):
        HDMR(categorical_features=["day"]).fit(X.assign(day=pd.Timestamp("2020-01-01")), Y)


@pytest.mark.parametrize("which", [[1], ["zip"], [False, True, False], np.array([1])])
def test_codes_in_columns_of_numbers(which):
    codes = RNG.choice([3.0, 17.0, np.nan], N)
    X = pd.DataFrame({"a": RNG.normal(size=N), "zip": codes, "b": RNG.normal(size=N)})
    y = np.where(codes == 3, 5.0, X["a"])
    hdmr = HDMR(categorical_features=which).fit(X if which == ["zip"] else X.to_numpy(), y)
    assert set(hdmr.decomposition_.levels[1]) == {3.0, 17.0, None}
    assert hdmr.component(1)([3.0, 17.0, np.nan]).shape == (3,)


def test_intervals_are_levels():
    X = pd.DataFrame({"size": pd.cut(COLUMNS["size"], 4), "city": COLUMNS["city"]})
    hdmr = HDMR().fit(X, Y)
    assert len(hdmr.decomposition_.levels[0]) == 4
    assert hdmr.component("size")(X["size"].iloc[:3]).shape == (3,)


def booster_of(name, columns, y):
    if name == "xgboost":
        return xgboost_with_levels(n_estimators=5).fit(columns, y)
    if name == "xgboost Booster":
        return booster_of("xgboost", columns, y).get_booster()
    if name == "LightGBM":
        return library("lightgbm").LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(columns, y)
    return booster_of("LightGBM", columns, y).booster_


def version_of(name):
    return tuple(map(int, library(name).__version__.split(".")[:2]))


BOOSTERS = ["xgboost", "xgboost Booster", "LightGBM", "LightGBM Booster"]


@pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")
@pytest.mark.parametrize("name", BOOSTERS)
def test_boosters_get_frames_and_codes(name):
    X = KINDS["category"]()[["city", "size"]]
    model = booster_of(name, X, Y)
    hdmr = HDMR(model).fit(X)
    assert hdmr.feature_names_ == ("city", "size")
    output = hdmr.predict(X) + hdmr.residual(X)
    assert_close(output, load_forest(model).predict(X), 1e-6, reason="xgboost adds up in float32")
    assert_close(hdmr.explain(X.iloc[7]).output, output[7])
    codes = X.assign(city=X["city"].cat.codes.replace(-1, np.nan)).to_numpy(float)
    for rows, categorical in ((codes, [0]), (X.to_numpy(), "from_dtype")):
        same = HDMR(model, categorical_features=categorical).fit(rows)
        assert same.feature_names_ == ("city", "size")  # of the model
        assert_close(same.predict(rows) + same.residual(rows), output)


@pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # of LightGBM before 4.7, which gives names
@pytest.mark.parametrize("name", BOOSTERS)
def test_boosters_of_arrays_get_arrays(name):
    X = KINDS["text"]()[["size", "rooms"]]
    model = booster_of(name, X.to_numpy(), Y)
    # Boosters of LightGBM take no polars before 4.7; its regressors convert it.
    others = [] if name == "LightGBM Booster" and version_of("lightgbm") < (4, 7) else [pl.from_pandas(X)]
    for rows in (X, *others, X.to_numpy()):
        hdmr = HDMR(model).fit(rows)
        assert_close(
            hdmr.predict(rows) + hdmr.residual(rows), load_forest(model).predict(X.to_numpy()), 1e-6, reason="float32"
        )
        assert hdmr.feature_names_ == (("x0", "x1") if isinstance(rows, np.ndarray) else ("size", "rooms"))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # of scikit-learn, about rows of HDMR
def test_functions_of_frames_get_frames_when_rows_are_arrays():
    for kind in ("objects", "category"):
        X = KINDS[kind]()
        hdmr = HDMR(function := Recorder()).fit(X)
        assert np.array_equal(hdmr.residual(X.to_numpy()), hdmr.residual(X))
        assert list(function.given[1].dtypes) == list(X.dtypes)


def test_a_pipeline_decides_itself_whether_it_takes_missing_values():
    frame = pd.DataFrame(COLUMNS)
    frame.loc[:9, "size"] = np.nan
    columns = make_column_transformer((OneHotEncoder(), ["city"]), (SimpleImputer(), ["size", "rooms"]))
    imputed = make_pipeline(columns, RandomForestRegressor(5, random_state=0)).fit(frame, Y)
    assert HDMR(imputed).fit(frame).fidelity(frame) > 0.5
    refusing = make_pipeline(make_column_transformer(("passthrough", ["size", "rooms"])), LinearRegression())
    refusing.fit(frame[10:], Y[10:])
    with pytest.raises(ValueError, match="contains NaN"):
        HDMR(refusing).fit(frame)
