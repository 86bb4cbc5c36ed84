"""Decompositions that are saved and loaded give the same bits, without the model."""

import io
import json
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from saved import assert_same, assert_same_results, content_of, data_of, loaded, parts_of, with_parts
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.svm import SVR
from sklearn.utils.validation import check_is_fitted

import fasthdmr
from fasthdmr import HDMR, KernelHDMR, TreeHDMR
from fasthdmr.kernels import AnovaKernel, FourierKernel, PolynomialKernel

pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4)) ** 3  # skewed, so that splines use normal scores
Y = X[:, 0] + np.sin(X[:, 1]) * X[:, 2] + 0.1 * RNG.normal(size=400)
FAR = np.vstack([X, 3 * X[::-1, [1, 0, 3, 2]]])
GAPS = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
REGRESSOR = GradientBoostingRegressor(n_estimators=20, max_depth=3, random_state=0).fit(X, Y)
THIRDS = np.digitize(Y, [-1, 1])
CLASSES = GradientBoostingClassifier(n_estimators=8, random_state=0)
HISTOGRAM = HistGradientBoostingRegressor(max_iter=10, categorical_features="from_dtype", random_state=0)
MANY = RandomForestRegressor(8, max_depth=4, random_state=0).fit(X, np.column_stack([Y, X[:, 3]]))
WEIGHTS = RNG.integers(0, 3, 400)
GROUPS = {"pair": [3, 0]}

ROUNDS = {
    "trees, smooth": lambda: TreeHDMR(REGRESSOR).fit(X),
    "trees, faithful": lambda: TreeHDMR(REGRESSOR, smooth=False).fit(X),
    "trees, bins": lambda: TreeHDMR(REGRESSOR, basis="bins").fit(X),
    "trees, faithful bins, weights": lambda: TreeHDMR(REGRESSOR, basis="bins", smooth=False).fit(X, None, WEIGHTS),
    "trees, own columns": lambda: TreeHDMR(REGRESSOR, basis="trees").fit(X),
    "trees, product": lambda: TreeHDMR(REGRESSOR, measure="product", order=None).fit(X),
    "trees, product, chosen": lambda: TreeHDMR(REGRESSOR, measure="product", interactions=[(0, 1)]).fit(X),
    "trees, ridge": lambda: TreeHDMR(random_state=0, order=3).fit(X, Y),
    "trees, ridge, faithful": lambda: TreeHDMR(random_state=0, smooth=False, normalise="data").fit(X, Y),
    "trees, ridge, own columns": lambda: TreeHDMR(random_state=0, basis="trees", order=None).fit(X, Y),
    "trees, ridge, product": lambda: TreeHDMR(random_state=0, measure="product").fit(X, Y),
    "trees, bootstrap": lambda: TreeHDMR(REGRESSOR, ci="bootstrap", order=1).fit(X),
    "trees, bootstrap, faithful": lambda: TreeHDMR(REGRESSOR, ci="bootstrap", order=1, smooth=False).fit(X),
    "trees, binary": lambda: TreeHDMR(clone(CLASSES).fit(X, Y > 0)).fit(X),
    "trees, multiclass": lambda: TreeHDMR(clone(CLASSES).fit(X, THIRDS)).fit(X),
    "trees, multiclass, faithful": lambda: TreeHDMR(clone(CLASSES).fit(X, np.digitize(Y, [-1, 1])), smooth=False).fit(
        X
    ),
    "trees, several outputs": lambda: TreeHDMR(MANY, order=1).fit(X),
    "trees, several outputs, product": lambda: TreeHDMR(MANY, measure="product").fit(X),
    "trees, groups": lambda: TreeHDMR(REGRESSOR, feature_groups=GROUPS).fit(X),
    "trees, groups, faithful": lambda: TreeHDMR(REGRESSOR, feature_groups=GROUPS, smooth=False).fit(X),
    "trees, groups, product": lambda: TreeHDMR(REGRESSOR, feature_groups=GROUPS, measure="product").fit(X),
    "function": lambda: HDMR(lambda X: X[:, 0] + X[:, 1] * X[:, 2]).fit(X),
    "functions": lambda: HDMR(lambda X: X[:, :2] * X[:, 2:], basis="bins").fit(X),
    "data": lambda: HDMR(order=3).fit(X, Y),
    "data, weights": lambda: HDMR(normalise="data").fit(X, Y, WEIGHTS),
    "data, groups": lambda: HDMR(feature_groups=GROUPS).fit(X, Y),
    "data, bootstrap": lambda: HDMR(order=1, ci="bootstrap").fit(X, np.column_stack([Y, X[:, 3]])),
    "constant": lambda: HDMR().fit(X, np.ones(len(X))),
    "kernel, polynomial": lambda: KernelHDMR(SVR(kernel=PolynomialKernel(2))).fit(X / 9, Y),
    "kernel, Gaussian measure": lambda: KernelHDMR(
        KernelRidge(kernel="poly", degree=2), measure=(np.zeros(4), np.eye(4))
    ).fit(X / 9, Y),
    "kernel, Fourier": lambda: KernelHDMR(SVR(kernel=FourierKernel(2))).fit(X / 9, Y),
    "kernel, ANOVA": lambda: KernelHDMR(SVR(kernel=AnovaKernel(2).fit(X / 9)), feature_groups=GROUPS).fit(X / 9, Y),
    "kernel, pipeline": lambda: KernelHDMR(make_pipeline(StandardScaler(), SVR(kernel="poly", degree=2))).fit(X, Y),
}


@pytest.mark.parametrize("name", ROUNDS)
def test_loaded_decompositions_give_the_same_bits(name):
    hdmr = ROUNDS[name]()
    content = content_of(hdmr)
    again = loaded(content)
    assert_same(hdmr, again, FAR)
    assert content_of(again) == content  # saved again, it is the same file
    assert json.loads(again.to_json()) == json.loads(hdmr.to_json())
    assert again.saved_class_ == type(hdmr).__name__
    np.testing.assert_equal(again.alpha_, getattr(hdmr, "alpha_", None))


KNOWN = {"trees, faithful", "trees, own columns", "trees, product", "trees, groups, product", "kernel, Fourier"}


@pytest.mark.parametrize("name", sorted(KNOWN | {"trees, smooth", "function", "data"}))
def test_black_boxes(name):
    hdmr = ROUNDS[name]()
    again = loaded(content_of(hdmr))
    explanation = again.explain(X[0])
    if name in KNOWN:
        np.testing.assert_array_equal(again.residual(FAR), hdmr.residual(FAR))
        assert again.fidelity(X) == hdmr.fidelity(X)
        assert explanation.output == hdmr.explain(X[0]).output
    else:
        for method in (again.residual, again.fidelity):
            with pytest.raises(ValueError, match="No black box was saved"):
                method(X)
        assert explanation.residual is None and explanation.output is None
        assert "Prediction" in str(explanation)
    total = explanation.intercept + explanation.contributions.sum()
    np.testing.assert_allclose(total, again.predict(X[:1])[0], rtol=1e-12)
    assert again.score(X, Y) == hdmr.score(X, Y)


def test_loaded_decompositions_are_estimators():
    hdmr = ROUNDS["trees, smooth"]()
    again = loaded(content_of(hdmr))
    check_is_fitted(again)
    assert clone(again) is again
    assert again.set_output(transform="default").set_params(n_jobs=2).n_jobs == 2
    np.testing.assert_array_equal(again.predict(FAR), hdmr.predict(FAR))
    assert_same(hdmr, pickle.loads(pickle.dumps(again)), FAR)
    n = len(hdmr.subspaces_)
    assert repr(again) == f"SavedHDMR(saved_class_='TreeHDMR', {n} components, 4 columns)"
    with pytest.raises(TypeError, match="cannot be fitted, because the model is not in the file"):
        again.fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features"):
        again.predict(X[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        again.predict(GAPS)
    assert again.options_["estimators"] == {"class": "GradientBoostingRegressor"}
    assert again.options_["order"] == 2
    assert set(again.versions_) == {"fasthdmr", "numpy", "scipy", "scikit-learn"}


def test_missing_values():
    hdmr = TreeHDMR(HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(GAPS, Y)).fit(GAPS)
    again = loaded(content_of(hdmr))
    assert_same(hdmr, again, GAPS)
    missing = np.full((1, 4), np.nan)
    np.testing.assert_array_equal(again.predict(missing), hdmr.predict(missing))


def frame():
    pandas = pytest.importorskip("pandas", reason="frames are of pandas")
    columns = {
        "colour": RNG.choice(["red", "green", "blue"], 400),
        "number": X[:, 0],
        "size": pandas.Categorical(RNG.choice([3, 1, 2], 400)),
        "is_new": RNG.random(400) < 0.5,
    }
    made = pandas.DataFrame(columns)
    made.loc[::7, "colour"] = None
    return made


@pytest.mark.parametrize("kept", ["smooth", "faithful", "product", "data"])
def test_categorical_variables(kept):
    rows = frame()
    y = X[:, 0] + (rows["colour"] == "red") * X[:, 1]
    if kept == "data":
        hdmr = HDMR().fit(rows, y)
    else:
        categories = rows.assign(colour=rows["colour"].astype("category"), is_new=rows["is_new"].astype("category"))
        rows = categories
        model = HistGradientBoostingRegressor(max_iter=10, categorical_features="from_dtype", random_state=0).fit(
            rows, y
        )
        options = {"smooth": {}, "faithful": {"smooth": False}, "product": {"measure": "product"}}[kept]
        hdmr = TreeHDMR(model, **options).fit(rows)
    again = loaded(content_of(hdmr))
    assert_same(hdmr, again, rows)
    assert again.decomposition_.levels[0] == hdmr.decomposition_.levels[0]
    np.testing.assert_array_equal(again.feature_names_in_, hdmr.feature_names_in_)
    contributions = np.sort(again.explain(rows.iloc[0]).contributions)
    np.testing.assert_array_equal(contributions, np.sort(hdmr.transform(rows.iloc[:1])[0]))
    component, original = again.component("colour"), hdmr.component("colour")
    np.testing.assert_array_equal(component(["red", "blue"]), original(["red", "blue"]))
    if kept == "data":
        unknown = rows.assign(colour="pink")
        with pytest.warns(fasthdmr.UnknownLevelsWarning):
            values = again.transform(unknown)
        assert (values[:, 0] == 0).all()
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict(rows.rename(columns={"number": "other"}))


def test_codes_of_models_are_assigned_as_before():
    rows = frame().drop(columns="colour")
    rows["is_new"] = rows["is_new"].astype("category")
    model = HISTOGRAM.fit(rows, Y)
    hdmr = TreeHDMR(model, categorical_features=None).fit(rows)
    again = loaded(content_of(hdmr))
    assert_same(hdmr, again, rows)
    np.testing.assert_array_equal(again.explain(rows.iloc[3]).contributions, hdmr.explain(rows.iloc[3]).contributions)


def test_intervals_as_levels():
    pandas = pytest.importorskip("pandas", reason="intervals are of pandas")
    rows = pandas.DataFrame({"a": pandas.cut(X[:, 0], [-np.inf, 0, np.inf]), "b": X[:, 1]})
    hdmr = HDMR().fit(rows, Y)
    assert_same(hdmr, loaded(content_of(hdmr)), rows)
    rows["a"] = pandas.cut(pandas.to_datetime(np.arange(400), unit="D"), 3)
    with pytest.raises(ValueError, match="cannot be saved"):
        content_of(HDMR().fit(rows, Y))


def test_pipelines():
    rows = np.column_stack([RNG.choice(["a", "b", "c"], 400).astype(object), X[:, 1:]])
    front = make_column_transformer((OrdinalEncoder(), [0]), (StandardScaler(), [1, 2, 3]))
    model = make_pipeline(front, GradientBoostingRegressor(n_estimators=10, random_state=0)).fit(rows, Y)
    hdmr = TreeHDMR(model).fit(rows)
    assert_same(hdmr, loaded(content_of(hdmr)), rows)
    for options in ({"smooth": False}, {"measure": "product"}, {"basis": "trees"}):
        with pytest.raises(ValueError, match=r"cannot be saved. Use TreeHDMR\(smooth=True\)"):
            TreeHDMR(model, **options).fit(rows).save(io.BytesIO())


def test_results_of_decompose(tmp_path):
    columns = np.column_stack([X, X[:, 0] * X[:, 1]])
    for of in ({"coef": [1, 2, 0, 1, 3]}, {"y": np.column_stack([Y, X[:, 3]])}):
        result = fasthdmr.decompose(columns, [0, 1, 2, 3, (0, 1)], **of)
        result.save(tmp_path / "result")
        again = fasthdmr.load_decomposition(tmp_path / "result")
        assert type(again) is type(result)
        for method in ("evaluate", "predict", "black_box"):
            np.testing.assert_array_equal(getattr(again, method)(columns), getattr(result, method)(columns))
        for attribute in ("A", "nu", "column_order"):
            np.testing.assert_array_equal(getattr(again, attribute), getattr(result, attribute))
        assert_same_results(result, again)


def test_categorical_columns_of_decompose():
    columns = np.column_stack([RNG.choice(["a", "b", None], len(X)).astype(object), X[:, 1]])
    result = fasthdmr.decompose(columns, [0, 1], y=Y)
    again = loaded(content_of(result))
    np.testing.assert_array_equal(again.evaluate(columns), result.evaluate(columns))
    with pytest.warns(fasthdmr.UnknownLevelsWarning):
        unknown = again.evaluate(np.array([["c", 0.5]], dtype=object))
    assert abs(unknown[0, 0]) < 1e-12
    document, members = parts_of(content_of(result))
    members["indicators/0.npy"] = data_of(np.zeros(5))
    with pytest.raises(ValueError, match="indicators/0"):
        loaded(with_parts(document, members))


@settings(max_examples=10, deadline=None)
@given(st.integers(20, 80), st.integers(1, 4), st.integers(1, 2), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_round_trips(n_rows, n_columns, order, degree, seed):
    rng = np.random.default_rng(seed)
    rows = rng.choice([rng.normal(size=(n_rows, n_columns)), rng.integers(0, 3, (n_rows, n_columns))])
    y = rng.normal(size=(n_rows, 2)) if rng.random() < 0.5 else rng.normal(size=n_rows)
    hdmr = HDMR(order=order, degree=degree).fit(rows, y)
    assert_same(hdmr, loaded(content_of(hdmr)), np.vstack([rows, 5 * rng.normal(size=(20, n_columns))]))


def test_plots_are_the_same():
    matplotlib = pytest.importorskip("matplotlib", reason="plots are drawn by matplotlib")
    matplotlib.use("Agg")
    hdmr = ROUNDS["trees, smooth"]()
    again = loaded(content_of(hdmr))

    def drawn(estimator, kind):
        figure = {
            "components": lambda: fasthdmr.plotting.ComponentDisplay.from_estimator(estimator, [0, (0, 1)]).figure_,
            "indices": lambda: fasthdmr.plotting.SensitivityDisplay.from_estimator(estimator).figure_,
        }[kind]()
        figure.canvas.draw()
        pixels = np.asarray(figure.canvas.buffer_rgba()).copy()
        matplotlib.pyplot.close(figure)
        return pixels

    for kind in ("components", "indices"):
        np.testing.assert_array_equal(drawn(again, kind), drawn(hdmr, kind))
    fasthdmr.plotting.WaterfallDisplay(again.explain(X[0])).plot()
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_libraries_of_models_are_not_needed(library, tmp_path):
    module = pytest.importorskip(library, reason="its models are saved")
    options = {"xgboost": {"n_estimators": 20}, "lightgbm": {"n_estimators": 20, "verbose": -1}}.get(
        library, {"n_estimators": 20, "verbose": 0, "allow_writing_files": False}
    )
    name = {"xgboost": "XGBRegressor", "lightgbm": "LGBMRegressor", "catboost": "CatBoostRegressor"}[library]
    hdmr = TreeHDMR(getattr(module, name)(**options).fit(X, Y), smooth=False).fit(X)
    hdmr.save(tmp_path / "saved")
    np.save(tmp_path / "rows.npy", FAR)
    np.save(tmp_path / "expected.npy", hdmr.transform(FAR))
    code = f"""
        import sys
        for name in ("xgboost", "lightgbm", "catboost"):
            sys.modules[name] = None
        import numpy as np
        import fasthdmr
        folder = {str(tmp_path)!r}
        hdmr = fasthdmr.load_decomposition(folder + "/saved")
        assert np.array_equal(hdmr.transform(np.load(folder + "/rows.npy")), np.load(folder + "/expected.npy"))
        assert hdmr.sensitivity_.S_conf is not None
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_files(tmp_path):
    hdmr = ROUNDS["data"]()
    path = tmp_path / "folder" / "any.suffix"
    hdmr.save(path)
    hdmr.save(str(path))  # replaces it
    assert [p.name for p in path.parent.iterdir()] == ["any.suffix"]
    with path.open("rb") as file:
        assert_same(hdmr, fasthdmr.load_decomposition(file), FAR)
    assert_same(hdmr, fasthdmr.load_decomposition(str(path)), FAR)
    with pytest.raises(OSError, match="folder"):
        hdmr.save(tmp_path / "folder")
    for wrong in (1, None):
        with pytest.raises(TypeError, match="must be a path or a binary file object"):
            hdmr.save(wrong)
        with pytest.raises(TypeError, match="must be a path or a binary file object"):
            fasthdmr.load_decomposition(wrong)
    with pytest.raises(TypeError, match="binary mode"):
        fasthdmr.load_decomposition(io.StringIO("PK"))
    with pytest.raises(NotFittedError):
        HDMR().save(path)


def test_json_is_strict():
    for hdmr in (ROUNDS["constant"](), ROUNDS["data, bootstrap"](), ROUNDS["trees, product"]()):
        for result in (hdmr, hdmr.decomposition_, hdmr.sensitivity_):

            def refuse(name):
                raise AssertionError(name)

            document = json.loads(result.to_json(), parse_constant=refuse)
            assert [tuple(entry["subspace"]) for entry in document["components"]] == hdmr.subspaces_
            np.testing.assert_array_equal([entry["S"] for entry in document["components"]], hdmr.sensitivity_.S)
            np.testing.assert_array_equal([entry["ST"] for entry in document["variables"]], hdmr.sensitivity_.ST)
            has_intervals = hdmr.sensitivity_.S_conf is not None
            assert all(("S_conf" in entry) == has_intervals for entry in document["components"])
    assert json.loads(hdmr.to_json())["f0"] == hdmr.intercept_


def test_smooth_components_come_without_trees():
    _, smooth = parts_of(content_of(ROUNDS["trees, smooth"]()))
    _, faithful = parts_of(content_of(ROUNDS["trees, faithful"]()))
    assert not any("forests" in name for name in smooth)
    assert any("forests" in name for name in faithful)
