"""TreeHDMR of tree models behind transformers: components of the columns of the input."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from tolerance import assert_close

from fasthdmr import TreeHDMR, load_forest
from fasthdmr.loaders import Trees
from fasthdmr.loaders.curves import Curve

pd = pytest.importorskip("pandas")
# Steps of trees are not in spans of splines; levels of new rows are unknown on purpose.
pytestmark = pytest.mark.filterwarnings(
    *(f"ignore::fasthdmr.{name}" for name in ("ResidualWarning", "RankWarning", "UnknownLevelsWarning"))
)

N = 500
RNG = np.random.default_rng(5)
CITIES = np.array(["Oslo", "Rome", "Bonn", "Lima", "Kyiv"], dtype=object)
FRAME = pd.DataFrame(
    {
        "size": RNG.normal(size=N),
        "city": RNG.choice(CITIES, N, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
        "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.uniform(1.0, 60.0, N).round()),
        "new": RNG.choice(np.array(["yes", "no", None], dtype=object), N),
    }
)
Y = FRAME["size"] * (FRAME["city"] == "Oslo") + (FRAME["city"] == "Lima") + FRAME["age"].fillna(9.0) / 30
Y = (Y * np.where(FRAME["new"] == "yes", 2.0, 1.0)).to_numpy()
NEW = FRAME.sample(200, random_state=0).assign(city=RNG.choice([*CITIES, "Nowhere"], 200))

OPTIONS = {
    "smooth": {},
    "bins": {"basis": "bins"},
    "detail": {"smooth": False, "order": None},
    "trees": {"basis": "trees", "order": None},
}
every_option = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


def pipeline(**options):
    fill = make_pipeline(SimpleImputer(add_indicator=True), QuantileTransformer(n_quantiles=20))
    front = ColumnTransformer(
        [("hot", OneHotEncoder(handle_unknown="ignore"), ["new", "city"]), ("fill", fill, ["age"])],
        remainder="passthrough",
    )
    return make_pipeline(front, GradientBoostingRegressor(n_estimators=25, random_state=0, **options))


@pytest.fixture(scope="module")
def pipe():
    return pipeline().fit(FRAME, Y)


@every_option
def test_components_add_up_to_the_pipeline(pipe, options):
    hdmr = TreeHDMR(pipe, **options).fit(FRAME)
    for rows in (FRAME, NEW):
        assert_close(hdmr.predict(rows) + hdmr.residual(rows), pipe.predict(rows))
        assert_close(hdmr.explain(rows.iloc[3]).output, pipe.predict(rows)[3])
    assert_close(np.sum(hdmr.sensitivity_.S) + hdmr.residual_, 1.0)
    assert hdmr.feature_names_ == tuple(FRAME.columns) and set(hdmr.decomposition_.levels) == {1, 3}
    assert any(1 in u for u in hdmr.subspaces_)
    if options.get("order", 2) is None:
        assert_close(hdmr.predict(FRAME), pipe.predict(FRAME))


@every_option
def test_components_are_functions_of_the_columns_of_the_input(pipe, options):
    hdmr = TreeHDMR(pipe, **options).fit(FRAME)
    for rows in (FRAME, NEW):
        values = hdmr.evaluate(rows)
        for c, u in enumerate(hdmr.subspaces_):
            assert_close(hdmr.component(u)(rows.iloc[:, list(u)]), values[:, c])


@every_option
def test_unknown_levels_that_are_numbers(options):
    # The largest number is a level by which trees split: an unknown one must not be read as it.
    code = {city: 10 - 2 * k for k, city in enumerate(CITIES)} | {"Nowhere": 1}
    known, new = (rows.assign(city=rows["city"].map(code).astype("category")) for rows in (FRAME, NEW))
    pipe = pipeline().fit(known, Y)
    hdmr = TreeHDMR(pipe, **options).fit(known)
    values = hdmr.evaluate(new)
    assert_close(hdmr.predict(new) + hdmr.residual(new), pipe.predict(new))
    for c, u in enumerate(hdmr.subspaces_):
        assert_close(hdmr.component(u)(new.iloc[:, list(u)]), values[:, c])


@every_option
def test_components_depend_neither_on_threads_nor_on_copies_nor_on_the_order_of_rows(pipe, options):
    hdmr = TreeHDMR(pipe, **options).fit(FRAME)
    desired = hdmr.transform(NEW)
    assert np.array_equal(TreeHDMR(pipe, n_jobs=2, **options).fit(FRAME).transform(NEW), desired)
    assert np.array_equal(pickle.loads(pickle.dumps(hdmr)).transform(NEW), desired)
    mixed = FRAME.iloc[RNG.permutation(N)]
    assert_close(TreeHDMR(pipe, **options).fit(mixed).transform(NEW), desired, 1e-9)


def by_hand(pipe, levels):
    """The same trees on codes of levels: a split by a one-hot column is a split by the set of the other levels."""
    names = pipe[0].get_feature_names_out().tolist()
    trees = Trees.of(load_forest(pipe[-1]))
    feature, sets, intervals, offsets = trees.feature.copy(), np.full(len(trees.left), -1), [], [0]
    for m in np.flatnonzero(trees.left >= 0):
        part, _, rest = names[trees.feature[m]].partition("__")
        column = rest.partition("_")[0]
        feature[m] = list(FRAME.columns).index(column)
        assert part == "hot"
        level = rest.partition("_")[2]
        own = levels[feature[m]].index(None if level in ("None", "nan") else level)
        sets[m] = len(offsets) - 1
        intervals += [[k, k] for k in range(len(levels[feature[m]]) + 1) if k != own]
        offsets.append(len(intervals))
    arrays = {name: getattr(trees, name) for name in ("tree_offsets", "left", "right", "threshold", "missing_left")}
    return Trees(
        n_features=4, feature=feature, value=trees.value, tree_output=trees.tree_output, offset=trees.offset,
        weight=trees.weight, category_set=sets, set_offsets=offsets, set_intervals=intervals, **arrays,
    ).forest()  # fmt: skip


@every_option
def test_components_equal_those_of_the_same_trees_on_codes(options):
    front = ColumnTransformer([("hot", OneHotEncoder(handle_unknown="ignore"), ["new", "city"])])
    pipe = make_pipeline(front, RandomForestRegressor(9, max_depth=5, random_state=0)).fit(FRAME, Y)
    filled = FRAME.fillna({"age": 0.0})
    hdmr = TreeHDMR(pipe, **options).fit(filled)
    levels = hdmr.decomposition_.levels
    columns = [FRAME.iloc[:, j].fillna(0.0) for j in (0, 2)]
    columns[1:1] = [[levels[1].index(value) for value in FRAME["city"]]]
    columns += [[levels[3].index(None if pd.isna(value) else value) for value in FRAME["new"]]]
    codes = np.column_stack(columns)
    twin = TreeHDMR(by_hand(pipe, levels), categorical_features=[1, 3], **options).fit(codes)
    assert_close(twin.predict(codes) + twin.residual(codes), pipe.predict(FRAME))
    assert twin.subspaces_ == hdmr.subspaces_
    assert_close(hdmr.evaluate(filled), twin.evaluate(codes), 1e-10)
    assert_close(hdmr.sensitivity_.S, twin.sensitivity_.S, 1e-10)


def test_several_models_behind_different_transformers():
    other = ColumnTransformer(
        [
            ("o", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["city"]),
            ("t", TargetEncoder(), ["new"]),
        ],
        remainder=StandardScaler(),
    )
    second = make_pipeline(other, HistGradientBoostingRegressor(max_iter=9)).fit(FRAME, Y)
    pipes = [pipeline().fit(FRAME, Y), second]
    output = sum(pipe.predict(NEW) for pipe in pipes)
    hdmr = TreeHDMR(pipes, combine="sum", smooth=False).fit(FRAME)
    assert_close(hdmr.predict(NEW) + hdmr.residual(NEW), output)
    ridge = TreeHDMR(pipes, combine="ridge").fit(FRAME, Y)
    assert 0.0 <= ridge.residual_ < 1.0


def test_pipelines_are_fitted_to_the_frame():
    hdmr = TreeHDMR(pipeline()).fit(FRAME, Y)
    assert_close(hdmr.predict(NEW) + hdmr.residual(NEW), pipeline().fit(FRAME, Y).predict(NEW))
    numbers = FRAME[["size", "age"]]
    front = ColumnTransformer([("n", SimpleImputer(), ["age"])], remainder="passthrough")
    search = GridSearchCV(
        make_pipeline(front, RandomForestRegressor(3)), {"randomforestregressor__max_depth": [2]}, cv=2
    )
    hdmr = TreeHDMR(search).fit(numbers, Y)
    assert_close(hdmr.predict(numbers) + hdmr.residual(numbers), hdmr.estimators_[0].predict(numbers))


def test_frames_of_polars_and_arrays(pipe):
    pl = pytest.importorskip("polars")
    frame, desired = pl.from_pandas(FRAME), TreeHDMR(pipe, smooth=False).fit(FRAME).evaluate(FRAME)
    # scikit-learn 1.6.0 joins no columns of polars with sparse ones.
    of_polars = pipeline().set_params(columntransformer__hot__sparse_output=False).fit(frame, Y)
    for model, rows in ((pipe, frame), (of_polars, frame), (pipe, FRAME.to_numpy())):
        hdmr = TreeHDMR(model, smooth=False).fit(rows)
        assert_close(hdmr.evaluate(rows), desired)
        assert hdmr.feature_names_ == tuple(FRAME.columns)
        values = hdmr.component("age")(FRAME["age"].to_numpy())
        assert_close(values, desired[:, hdmr.subspaces_.index((2,))])
        assert_close(hdmr.explain(rows[3]).output, pipe.predict(FRAME)[3])
    missing = FRAME.index[FRAME["new"].isna()][0]
    assert_close(TreeHDMR(pipe).fit(FRAME).explain(FRAME.iloc[missing]).output, pipe.predict(FRAME)[missing])
    assert_close(load_forest(pipe).predict(FRAME.to_numpy()[[missing]]), pipe.predict(FRAME.iloc[[missing]]))


def test_pipelines_of_numbers():
    numbers = FRAME[["size", "age"]].fillna(1.0)
    scaled = make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=9, random_state=0))
    plain = clone(scaled[-1]).fit(numbers, Y)
    for rows in (numbers, numbers.to_numpy()):
        hdmr = TreeHDMR(clone(scaled).fit(rows, Y)).fit(rows)
        assert_close(hdmr.predict(rows) + hdmr.residual(rows), scaled.fit(rows, Y).predict(rows))
        # The same splits of the rows: the components are those of the trees without a scaler.
        assert_close(hdmr.evaluate(rows), TreeHDMR(plain).fit(numbers).evaluate(numbers), 1e-9)
    several = make_pipeline(make_union("passthrough", QuantileTransformer(n_quantiles=9)), clone(scaled[-1]))
    hdmr = TreeHDMR(several.fit(numbers, Y), basis="trees").fit(numbers)
    assert_close(hdmr.predict(numbers) + hdmr.residual(numbers), several.predict(numbers))


def test_groups_of_columns(pipe):
    hdmr = TreeHDMR(pipe, feature_groups={"both": ["size", "age"]}, smooth=False).fit(FRAME)
    assert hdmr.feature_names_ == ("both", "city", "new")
    assert_close(hdmr.predict(NEW) + hdmr.residual(NEW), pipe.predict(NEW))
    assert_close(hdmr.component("both")(NEW[["size", "age"]]), hdmr.evaluate(NEW)[:, hdmr.subspaces_.index((0,))])


def product_pipeline(trees):
    front = ColumnTransformer(
        [("hot", OneHotEncoder(handle_unknown="ignore"), ["new", "city"]), ("age", SimpleImputer(), ["age"])],
        remainder=QuantileTransformer(n_quantiles=50),
    )
    return make_pipeline(front.set_params(sparse_threshold=0.0), trees)


@pytest.mark.parametrize(
    "trees",
    [
        RandomForestRegressor(9, max_depth=5, random_state=0),
        GradientBoostingRegressor(n_estimators=30, random_state=0),
        HistGradientBoostingRegressor(max_iter=15, max_depth=3),
    ],
    ids=lambda trees: type(trees).__name__,
)
def test_the_product_measure(trees):
    pipe = product_pipeline(trees).fit(FRAME, Y)
    hdmr = TreeHDMR(pipe, measure="product", order=None).fit(FRAME)
    for rows in (FRAME, NEW):
        assert_close(hdmr.predict(rows), pipe.predict(rows))
        assert_close(hdmr.predict(rows) + hdmr.residual(rows), pipe.predict(rows))
        values = hdmr.evaluate(rows)
        for c, u in enumerate(hdmr.subspaces_):
            assert_close(hdmr.component(u)(rows.iloc[:, list(u)]), values[:, c])
    # Main effects are means over all other variables: over the product of their values in the rows.
    few = FRAME.iloc[:12].reset_index(drop=True)
    hdmr = TreeHDMR(pipe, measure="product").fit(few)
    rows = [few.iloc[index.ravel(), [j]].reset_index(drop=True) for j, index in enumerate(np.indices((12,) * 4))]
    output = pipe.predict(pd.concat(rows, axis=1)).reshape((12,) * 4)
    assert_close(hdmr.intercept_, output.mean())
    for u in [u for u in hdmr.subspaces_ if len(u) == 1]:
        others = tuple(j for j in range(4) if j != u[0])
        assert_close(hdmr.component(u)(few.iloc[:, list(u)]), output.mean(axis=others) - output.mean(), 1e-11)


SEVERAL = {
    "imputer and indicator": make_pipeline(SimpleImputer(add_indicator=True), QuantileTransformer(n_quantiles=20)),
    "splines": make_pipeline(SimpleImputer(strategy="median"), SplineTransformer(5, extrapolation="linear")),
    "bins": make_pipeline(SimpleImputer(), KBinsDiscretizer(4, strategy="uniform")),
    "one-hot": OneHotEncoder(handle_unknown="ignore", max_categories=9),
    "polynomial": make_pipeline(SimpleImputer(), PolynomialFeatures(3, include_bias=False)),
}


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize(
    "trees",
    [
        GradientBoostingRegressor(n_estimators=25, max_depth=4, random_state=0),
        HistGradientBoostingRegressor(max_iter=15, max_depth=3),
    ],
    ids=lambda trees: type(trees).__name__,
)
def test_the_product_measure_of_several_columns_of_a_number(trees, name):
    """All of them are functions of one variable, whose marginal is that of its values in the rows."""
    front = ColumnTransformer(
        [("hot", OneHotEncoder(handle_unknown="ignore"), ["new", "city"]), ("age", SEVERAL[name], ["age"])],
        remainder="passthrough",
        sparse_threshold=0.0,
    )
    pipe = make_pipeline(front, trees).fit(FRAME, Y)
    few = FRAME.iloc[:12].reset_index(drop=True)
    hdmr = TreeHDMR(pipe, measure="product", order=None).fit(few)
    far = NEW.assign(age=np.random.default_rng(0).uniform(-30.0, 90.0, len(NEW)))  # not the values of any row
    assert_close(hdmr.predict(few), pipe.predict(few))
    for rows in (FRAME, far):
        known = rows[rows["city"].isin(few["city"])]
        assert_close(hdmr.predict(known), pipe.predict(known))
        values = hdmr.evaluate(known)
        for c, u in enumerate(hdmr.subspaces_):
            assert_close(hdmr.component(u)(known.iloc[:, list(u)]), values[:, c])
    rows = [few.iloc[index.ravel(), [j]].reset_index(drop=True) for j, index in enumerate(np.indices((12,) * 4))]
    output = pipe.predict(pd.concat(rows, axis=1)).reshape((12,) * 4)
    assert_close(hdmr.intercept_, output.mean(), 1e-12)
    for u in [u for u in hdmr.subspaces_ if len(u) == 1]:
        others = tuple(j for j in range(4) if j != u[0])
        effects = hdmr.component(u)(few.iloc[:, list(u)])
        assert_close(effects + hdmr.intercept_, output.mean(axis=others), 1e-12)
    again = pickle.loads(pickle.dumps(hdmr))
    assert_close(again.evaluate(few), hdmr.evaluate(few), 0)


def test_transformers_see_the_rows_of_a_fit_once():
    """Transformers may take more time than trees; a text encoder is an example."""
    calls = []

    def count(X):
        calls.append(len(X))
        return X

    front = ColumnTransformer(
        [("hot", OneHotEncoder(handle_unknown="ignore"), ["new", "city"])],
        remainder=FunctionTransformer(count, feature_names_out="one-to-one"),
    )
    pipe = make_pipeline(front, GradientBoostingRegressor(n_estimators=5)).fit(FRAME.fillna({"age": 9.0}), Y)
    for measure in ("empirical", "product"):
        calls.clear()
        TreeHDMR(pipe, measure=measure, smooth=False).fit(FRAME.fillna({"age": 9.0}))
        assert calls.count(N) == 1


def test_splits_of_a_curve_are_cut_at_the_exact_value():
    curve = Curve.of(np.array([0.0, 1.0, 3.0]), lambda x: np.column_stack([x, np.sin(x)]))
    low, high = curve.intervals([lambda columns: columns[:, 0] <= 0.3, lambda columns: columns[:, 0] <= -1.0])
    assert (low, high) == (((-np.inf, 0.3),), ((-np.inf, -1.0),))
    (never,) = curve.intervals([lambda columns: columns[:, 1] > 2.0])
    (always,) = curve.intervals([lambda columns: columns[:, 1] < 2.0])
    assert never == () and always == ((-np.inf, np.inf),)


def test_a_curve_is_cut_where_a_transformer_refuses_values():
    """An encoder takes whole numbers only."""

    def read(x):
        if (x != np.round(x)).any() or (x < 0).any() or (x > 3).any():
            raise ValueError
        return x[:, None] ** 2

    curve = Curve.of(np.array([0.0, 1.0, 3.0]), read)
    assert curve.intervals([lambda columns: columns[:, 0] <= 1.0]) == [((-np.inf, 1.0),)]
    assert np.isnan(curve.missing).all()


UNUSED = {
    "when": pd.date_range("2020-01-01", periods=N).to_numpy(),
    "took": np.arange(N) * np.timedelta64(1, "s"),
    "notes": [{"row": i} for i in range(N)],
}


@pytest.mark.parametrize("measure", ["empirical", "product"])
@pytest.mark.parametrize("name", UNUSED)
def test_columns_that_a_pipeline_drops_may_hold_anything(name, measure):
    """They are variables without effect. A column that the trees use must hold numbers or categories."""
    front = ColumnTransformer(
        [("hot", OneHotEncoder(handle_unknown="ignore"), ["new", "city"]), ("age", SimpleImputer(), ["age"])],
        sparse_threshold=0.0,
    )
    trees = GradientBoostingRegressor(n_estimators=9, random_state=0)
    expected = TreeHDMR(make_pipeline(front, trees).fit(FRAME, Y), measure=measure).fit(FRAME)
    frame = FRAME.assign(**{name: UNUSED[name]})
    pipe = make_pipeline(clone(front), clone(trees)).fit(frame, Y)
    hdmr = TreeHDMR(pipe, measure=measure).fit(frame)
    assert hdmr.feature_names_ == (*FRAME.columns, name)
    assert hdmr.subspaces_ == expected.subspaces_
    assert_close(hdmr.evaluate(frame), expected.evaluate(FRAME), 1e-12)
    assert_close(hdmr.component("city")(frame[["city"]]), expected.component("city")(FRAME[["city"]]), 1e-12)
    assert frame[name].tolist() == FRAME.assign(**{name: UNUSED[name]})[name].tolist()  # nothing is changed


def test_dates_that_trees_use_are_refused_by_name():
    days = FunctionTransformer(
        lambda X: X.apply(lambda column: (column - column.min()).dt.days), feature_names_out="one-to-one"
    )
    front = ColumnTransformer([("when", days, ["when"]), ("size", "passthrough", ["size"])])
    frame = FRAME.assign(when=UNUSED["when"])
    pipe = make_pipeline(front, GradientBoostingRegressor(n_estimators=9)).fit(frame, Y + np.arange(N))
    with pytest.raises(ValueError, match="column 'when' holds dates"):
        TreeHDMR(pipe).fit(frame)
