"""Tree models behind transformers: forests in the columns of the input of a pipeline."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.inspection import partial_dependence as brute
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from tolerance import assert_close

from fasthdmr import inspection, load_forest
from fasthdmr.loaders.sources import sources_of

pd = pytest.importorskip("pandas")

N = 300
CITIES = np.array(["Oslo", "Rome", "Bonn", "Lima", "Kyiv"], dtype=object)
NUMBERS, TEXTS = ["age", "size", "year"], ["city", "kind"]


def frame_of(rng, n, *, missing=0.1, unknown=0.0):
    """Rows with text, numbers and missing numbers, and levels that no encoder knows."""
    city = rng.choice(CITIES, n, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    city[rng.random(n) < unknown] = "Nowhere"
    columns = {
        "age": np.where(rng.random(n) < missing, np.nan, rng.normal(40.0, 9.0, n).round()),
        "city": city,
        "size": np.where(rng.random(n) < missing, np.nan, rng.exponential(size=n)),
        "kind": rng.choice(np.array(["a", "b", "c"], dtype=object), n),
        "year": rng.integers(1990, 2000, n).astype(float),
    }
    return pd.DataFrame(columns)


RNG = np.random.default_rng(18)
FRAME = frame_of(RNG, N)
Y = (FRAME["city"] == "Oslo") * 2.0 + np.nan_to_num(FRAME["age"]) / 40 * (FRAME["kind"] == "b") + FRAME["year"] / 1e3
Y = Y.to_numpy() + np.nan_to_num(FRAME["size"].to_numpy()) + RNG.normal(scale=0.1, size=N)
LABELS = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
NEW = frame_of(RNG, 200, missing=0.2, unknown=0.2)

FILLED = SimpleImputer(strategy="median")
OF_NUMBERS = {
    "standard": StandardScaler(),
    "min-max": MinMaxScaler(clip=True),
    "max-abs": MaxAbsScaler(),
    "robust": RobustScaler(),
    "quantiles": QuantileTransformer(n_quantiles=20),
    "power": PowerTransformer(),
    "imputer": SimpleImputer(strategy="most_frequent", add_indicator=True),
    "indicator": MissingIndicator(features="missing-only"),
    "every indicator": MissingIndicator(features="all"),
    "bins": make_pipeline(FILLED, KBinsDiscretizer(4, strategy="uniform")),
    "ordinal bins": make_pipeline(FILLED, KBinsDiscretizer(4, encode="ordinal", strategy="uniform")),
    "splines": make_pipeline(FILLED, SplineTransformer(n_knots=4, include_bias=False)),
    "binary": make_pipeline(FILLED, Binarizer(threshold=1.0)),
    "best": make_pipeline(FILLED, SelectKBest(k=2), StandardScaler()),
    "varying": make_pipeline(FILLED, VarianceThreshold(1.0)),
    "declared": FunctionTransformer(np.abs, feature_names_out="one-to-one"),
    "identity": FunctionTransformer(),
    "union": make_union("passthrough", make_pipeline(FILLED, Binarizer()), QuantileTransformer(n_quantiles=9)),
    "frozen": FrozenEstimator(StandardScaler().fit(FRAME[NUMBERS])),
    "passthrough": "passthrough",
    "drop": "drop",
}
KEEP_MISSING = (
    *("standard", "min-max", "max-abs", "robust", "quantiles", "power"),
    *("declared", "identity", "union", "frozen", "passthrough"),
)
OF_TEXT = {
    "one-hot": OneHotEncoder(handle_unknown="ignore"),
    "dense one-hot": OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32),
    "rare levels": OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=40),
    "few levels": OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=2, drop="first"),
    "ordinal": OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    "target": TargetEncoder(),
    "one-hot and target": make_union(OneHotEncoder(handle_unknown="ignore"), TargetEncoder()),
    "drop": "drop",
}


def transformer_of(numbers, texts, **options):
    parts = [("texts", OF_TEXT[texts], TEXTS), ("numbers", OF_NUMBERS[numbers], NUMBERS)]
    return ColumnTransformer(parts, **options)


def check(model, frame, desired, forest=None):
    """The forest is the model, and each group is a function of its subspace alone."""
    forest = load_forest(model) if forest is None else forest
    assert forest.n_features == frame.shape[1]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found unknown categories")  # the encoder's own
        before = frame.copy()
        assert_close(forest.predict(frame), desired)
        columns = forest.group_features(frame)
        assert_close(forest.offset[0] + columns.sum(axis=1), desired)
        assert_close(forest.offset[0] + forest.group_features(frame, by="node").sum(axis=1), desired)
        pd.testing.assert_frame_equal(frame, before)
        other = np.random.default_rng(0).permutation(len(frame))
        for group, column in list(zip(forest.groups, columns.T, strict=True))[:6]:
            mixed = frame.copy()
            for j in set(range(frame.shape[1])) - set(group.subspace):
                mixed.isetitem(j, frame.iloc[other, j].to_numpy())
            at = [g.subspace for g in forest.groups].index(group.subspace)
            assert np.array_equal(forest.group_features(mixed)[:, at], column)
    return forest


@given(st.sampled_from(list(OF_NUMBERS)), st.sampled_from(list(OF_TEXT)), st.booleans(), st.integers(0, 2))
@settings(max_examples=25, deadline=None)
def test_a_pipeline_is_a_forest_in_the_columns_of_its_input(numbers, texts, sparse, model):
    if numbers == texts == "drop":
        return
    sparse = sparse and model and numbers not in KEEP_MISSING  # forests refuse missing values in sparse rows
    front = transformer_of(numbers, texts, sparse_threshold=1.0 if sparse else 0.0)
    trees = (
        HistGradientBoostingRegressor(max_iter=15, max_depth=3, min_samples_leaf=5),
        RandomForestRegressor(8, max_depth=4, random_state=0),
        RandomForestRegressor(3, random_state=0),
    )[model]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the fit: bins without width
        pipe = make_pipeline(front, trees).fit(FRAME, Y)
        desired = pipe.predict(NEW)
    forest = check(pipe, NEW, desired)
    assert forest.feature_names == tuple(FRAME.columns)


@pytest.mark.parametrize("texts", list(OF_TEXT))
def test_sources_of_each_encoder(texts):
    pipe = make_pipeline(
        ColumnTransformer([("t", OF_TEXT[texts], TEXTS)], remainder="passthrough"),
        HistGradientBoostingRegressor(max_iter=3),
    )
    pipe.set_params(columntransformer__sparse_threshold=0.0).fit(FRAME, Y)
    names = pipe[0].get_feature_names_out()
    for name, source in zip(names, sources_of("front", pipe[0], 5, len(names)), strict=True):
        assert f"__{FRAME.columns[source]}" in name
    assert set(load_forest(pipe).sources) <= set(range(5))


def test_several_classes_of_a_target_encoder_are_one_variable():
    front = ColumnTransformer([("t", TargetEncoder(), TEXTS)])
    pipe = make_pipeline(front, GradientBoostingClassifier(n_estimators=5)).fit(FRAME, LABELS)
    forest = load_forest(pipe)
    assert sources_of("front", front, 5, 6) == [1, 1, 1, 3, 3, 3] and forest.n_outputs == 3
    assert {g.subspace for g in forest.groups} <= {(1,), (3,), (1, 3)}
    assert_close(forest.predict(NEW), pipe.decision_function(NEW))


def selected(kind):
    """Column transformers that select in all ways, with remainders."""
    numbers = {
        "names": NUMBERS,
        "places": [0, 2, 4],
        "negative": [0, -3, -1],
        "mask": [True, False, True, False, True],
        "callable": make_column_selector(dtype_include="number"),
        "slice": slice(2, 5, 2),
    }[kind]
    hot = OneHotEncoder(handle_unknown="ignore")
    return ColumnTransformer([("text", hot, TEXTS), ("n", StandardScaler(), numbers)], remainder=MaxAbsScaler())


@pytest.mark.parametrize("kind", ["names", "places", "negative", "mask", "callable", "slice"])
def test_all_ways_to_select_columns(kind):
    frame, new = FRAME.fillna(1.0), NEW.fillna(2.0)
    pipe = make_pipeline(selected(kind), GradientBoostingRegressor(n_estimators=20, random_state=0)).fit(frame, Y)
    check(pipe, new, pipe.predict(new))


def test_nested_pipelines():
    inner = Pipeline([("fill", SimpleImputer()), ("nothing", None), ("scale", StandardScaler())])
    front = ColumnTransformer(
        [
            ("deep", ColumnTransformer([("n", inner, ["size", "age"])], remainder="drop"), NUMBERS),
            ("t", OF_TEXT["one-hot"], TEXTS),
        ]
    )
    last = make_pipeline(VarianceThreshold(), "passthrough", RandomForestRegressor(5, random_state=0))
    pipe = Pipeline([("start", "passthrough"), ("front", front), ("last", last)]).fit(FRAME, Y)
    forest = check(pipe, NEW, pipe.predict(NEW))
    assert set(forest.sources) <= {0, 1, 2, 3}
    assert set(sources_of("front", front, 5, None)) == {0, 1, 2, 3}


def test_any_transformer_of_a_single_column():
    front = ColumnTransformer(
        [
            ("words", CountVectorizer(), "city"),
            ("powers", make_pipeline(SimpleImputer(), PolynomialFeatures(3), PCA(2)), ["age"]),
            ("any", FunctionTransformer(lambda X: np.hstack([X, X**2])), ["year"]),
        ]
    )
    with pytest.raises(ValueError, match="PCA"):  # after PolynomialFeatures there are several columns
        load_forest(make_pipeline(front, RandomForestRegressor(3)).fit(FRAME, Y))
    front.set_params(powers=make_pipeline(SimpleImputer(), PolynomialFeatures(3)))
    pipe = make_pipeline(front, RandomForestRegressor(5, max_depth=5, random_state=0)).fit(FRAME, Y)
    check(pipe, NEW, pipe.predict(NEW))
    assert sources_of("front", pipe[0], 5, 11) == [1] * 5 + [0] * 4 + [4] * 2


class Sums(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return np.cumsum(X, axis=1)


@pytest.mark.parametrize(
    "step",
    [
        PCA(2),
        PolynomialFeatures(2),
        FunctionTransformer(np.log1p),
        KNNImputer(),
        Normalizer(),
        Sums(),
        make_pipeline(StandardScaler(), PCA(2)),
        FeatureUnion([("all", "passthrough"), ("pca", PCA(1))]),
        ColumnTransformer([("pca", PCA(1), [0, 1])], remainder="passthrough"),
    ],
    ids=lambda step: type(step).__name__,
)
def test_steps_that_mix_columns_are_refused_by_name(step):
    X = np.abs(FRAME[NUMBERS].fillna(1.0).to_numpy())
    pipe = make_pipeline(StandardScaler().set_output(transform="default"), step, RandomForestRegressor(2))
    name = {"Pipeline": "PCA", "FeatureUnion": "PCA", "ColumnTransformer": "PCA"}.get(type(step).__name__)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipe.fit(X, Y)
    with pytest.raises(ValueError, match=rf"{name or type(step).__name__}.*several columns.*fasthdmr\.HDMR\(pipe\)"):
        load_forest(pipe)


def test_texts_instead_of_rows_are_refused():
    pipe = make_pipeline(CountVectorizer(), RandomForestRegressor(2)).fit(FRAME["city"], Y)
    with pytest.raises(ValueError, match="n_features_in_"):
        load_forest(pipe)


def fitted_pipe():
    front = transformer_of("imputer", "one-hot")
    return make_pipeline(front, GradientBoostingRegressor(n_estimators=20, random_state=0)).fit(FRAME, Y)


def test_rows_of_all_kinds():
    pl = pytest.importorskip("polars")
    pipe = fitted_pipe()
    forest, desired = load_forest(pipe), pipe.predict(NEW)
    for rows in (NEW, pl.from_pandas(NEW), NEW.to_numpy(), NEW.to_numpy().tolist()):
        assert_close(forest.predict(rows), desired)
        assert_close(forest.group_features(rows).sum(axis=1) + forest.offset[0], desired)
    front = ColumnTransformer([("t", OF_TEXT["one-hot"], [1, 3]), ("n", SimpleImputer(), [0, 2, 4])])
    array = make_pipeline(front, RandomForestRegressor(3, random_state=0))
    array.fit(FRAME.to_numpy(), Y)  # without names: frames are taken by position
    for rows in (NEW, pl.from_pandas(NEW), NEW.to_numpy()):
        assert_close(load_forest(array).predict(rows), array.predict(NEW.to_numpy()))


def test_sparse_rows():
    rows = csr_matrix(FRAME[NUMBERS].fillna(0.0).to_numpy())
    pipe = make_pipeline(StandardScaler(with_mean=False), RandomForestRegressor(5, random_state=0)).fit(rows, Y)
    assert_close(load_forest(pipe).predict(rows), pipe.predict(rows))


def test_large_outputs_are_made_dense_block_by_block(monkeypatch):
    pipe = fitted_pipe()
    forest, desired = load_forest(pipe), pipe.predict(NEW)
    monkeypatch.setattr("fasthdmr._forest.front.BLOCK_BYTES", 8 * len(forest.sources) * 7)
    widths = [len(rows) for _, rows in forest.front.blocks(NEW)]
    assert max(widths) == 7 and sum(widths) == len(NEW)
    assert_close(forest.predict(NEW), desired)
    assert forest.front.transform(NEW).shape == (len(NEW), len(forest.sources))


def test_wrong_rows_are_refused():
    forest = load_forest(fitted_pipe())
    for rows, match in [
        (NEW.iloc[:, :4], "feature names should match"),
        (NEW[NEW.columns[::-1]], "feature names should match"),
        (NEW.to_numpy()[:, :4], "X has 4 features, but Forest is expecting 5 features"),
        (NEW.iloc[0], "Expected 2D array|two-dimensional"),
        (NEW.iloc[:0], "0 sample"),
        (NEW.assign(age="old"), "old|numeric"),
    ]:
        with pytest.raises(ValueError, match=match):
            forest.predict(rows)


def test_missing_values_that_the_trees_do_not_accept():
    pipe = make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=2))
    pipe.fit(FRAME[NUMBERS].fillna(1.0), Y)
    with pytest.raises(ValueError, match="NaN"):
        load_forest(pipe).predict(FRAME[NUMBERS])


def test_a_forest_keeps_its_front():
    pipe = fitted_pipe()
    forest, desired = load_forest(pipe), pipe.predict(NEW)
    pipe[0].fit(frame_of(np.random.default_rng(3), 50), np.zeros(50))
    for same in (forest, copy.deepcopy(forest), pickle.loads(pickle.dumps(forest))):
        assert_close(same.predict(NEW), desired)
        assert same.feature_names == tuple(FRAME.columns) and same.allow_nan


def test_transformers_that_overwrite_get_a_copy():
    numbers = FRAME[NUMBERS].fillna(1.0).to_numpy()
    pipe = make_pipeline(StandardScaler(copy=False), RandomForestRegressor(3)).fit(numbers.copy(), Y)
    before, desired = numbers.copy(), pipe.predict(numbers.copy())
    assert_close(load_forest(pipe).predict(numbers), desired)
    assert np.array_equal(numbers, before)


@pytest.mark.parametrize("same", [True, False])
def test_voting_of_pipelines(same):
    other = transformer_of("splines", "ordinal")
    members = [
        (
            "a",
            make_pipeline(transformer_of("imputer", "one-hot"), RandomForestRegressor(3, max_depth=4, random_state=0)),
        ),
        ("b", make_pipeline(other, GradientBoostingRegressor(n_estimators=5, random_state=0))),
    ]
    model = VotingRegressor(members, weights=[1, 3])
    if same:
        voting = VotingRegressor([("a", RandomForestRegressor(3, random_state=0)), ("b", members[1][1][-1])])
        model = make_pipeline(transformer_of("imputer", "one-hot"), voting)
    model.fit(FRAME, Y)
    forest = check(model, NEW, model.predict(NEW))
    assert forest.feature_names == tuple(FRAME.columns)


def test_voting_of_a_pipeline_and_trees():
    numbers, new = FRAME[NUMBERS].fillna(1.0), NEW[NUMBERS].fillna(3.0)
    pipe = make_pipeline(KBinsDiscretizer(4, strategy="uniform"), RandomForestRegressor(3))
    members = [("p", pipe), ("t", RandomForestRegressor(3)), ("h", HistGradientBoostingRegressor(max_iter=3))]
    model = VotingRegressor(members).fit(numbers, Y)
    check(model, new, model.predict(new))


def test_wrappers_of_pipelines():
    pipe = make_pipeline(
        transformer_of("imputer", "rare levels"), RandomForestRegressor(3, max_depth=3, random_state=0)
    )
    grid = {"randomforestregressor__max_depth": [2, 4]}
    targets = np.column_stack([Y, -(Y**2)])
    for model, y in [
        (GridSearchCV(pipe, grid, cv=2), Y),
        (TransformedTargetRegressor(pipe, transformer=StandardScaler()), Y),
        (FrozenEstimator(copy.deepcopy(pipe).fit(FRAME, Y)), Y),
        (MultiOutputRegressor(pipe), targets),
    ]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Found unknown categories")
            model.fit(FRAME, y)
            assert_close(load_forest(model).predict(NEW), model.predict(NEW))


def test_bagging_of_pipelines():
    numbers, new = FRAME[NUMBERS], NEW[NUMBERS]
    member = make_pipeline(SimpleImputer(), SplineTransformer(3), RandomForestRegressor(2, max_depth=3))
    for columns in (2, 1.0):
        model = BaggingRegressor(member, 4, max_features=columns, random_state=0).fit(numbers, Y)
        check(model, new, model.predict(new))


def test_boosters_behind_transformers():
    xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    for trees in (
        xgboost.XGBRegressor(n_estimators=9, max_depth=3),
        lightgbm.LGBMRegressor(n_estimators=9, verbose=-1),
    ):
        for threshold in (0.0, 1.0):  # absent entries of sparse rows are missing values for xgboost
            front = transformer_of("imputer", "one-hot", sparse_threshold=threshold)
            pipe = make_pipeline(front.set_output(transform="default"), trees).fit(FRAME, Y)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "X does not have valid feature names")  # of LightGBM
                desired = pipe.predict(NEW)
            assert_close(load_forest(pipe).predict(NEW), desired, 1e-6, reason="the boosters' own sums are in float32")


def test_category_columns_pass_through_to_the_booster():
    lightgbm = pytest.importorskip("lightgbm")
    frame = FRAME.assign(city=FRAME["city"].astype("category"))[["city", *NUMBERS]]
    new = NEW.assign(city=NEW["city"].astype("category"))[["city", *NUMBERS]]
    front = ColumnTransformer(
        [("n", SimpleImputer(), NUMBERS)], remainder="passthrough", verbose_feature_names_out=False
    )
    pipe = make_pipeline(front.set_output(transform="pandas"), lightgbm.LGBMRegressor(n_estimators=9, verbose=-1))
    pipe.fit(frame, Y)
    assert_close(load_forest(pipe).predict(new), pipe.predict(new))


def test_importance_is_of_the_columns_of_the_input():
    pipe = fitted_pipe()
    importance = inspection.tree_importance(pipe, kind="splits")
    names = pipe[0].get_feature_names_out()
    behind = inspection.tree_importance(pipe[-1], kind="splits")
    assert importance.shape == (5,)
    for j, column in enumerate(FRAME.columns):
        assert_close(importance[j], sum(behind[[f"__{column}" in name or f"_{column}" in name for name in names]]))
    assert_close(importance, inspection.tree_importance(load_forest(pipe), kind="splits"))


def test_partial_dependence_of_a_pipeline():
    pipe = fitted_pipe()
    desired = brute(pipe, FRAME, ["year"], grid_resolution=5, kind="average", method="brute")
    for model in (pipe, load_forest(pipe)):
        found = inspection.partial_dependence(model, FRAME, ["year"], grid_resolution=5)
        assert_close(found.average, desired.average)
