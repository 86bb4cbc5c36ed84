"""Rows with names: frames are matched by name, and components take variables in the order of the call."""

import pickle

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from tolerance import assert_close

from fasthdmr import HDMR, KernelHDMR, TreeHDMR, analytic, decompose, inspection, load_forest, salib

pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = X[["age", "bmi", "bp", "s5"]]
MODEL = GradientBoostingRegressor(n_estimators=40, max_depth=2, random_state=0).fit(X, y)
TREES = TreeHDMR(MODEL, smooth=False).fit(X)
BOOSTED = {"trees": TREES, "product": TreeHDMR(MODEL, measure="product").fit(X), "HDMR": HDMR(MODEL).fit(X)}
KERNEL = KernelHDMR(make_pipeline(StandardScaler(), SVR(kernel="poly", degree=2, coef0=1)).fit(X, y)).fit(X)
HDMRS = BOOSTED | {"kernel": KERNEL}
TURNED = X[["s5", "bp", "bmi", "age"]]


def as_polars(frame):
    return pl.DataFrame({name: frame[name].to_numpy() for name in frame})


@pytest.mark.parametrize("frame_of", [lambda frame: frame, as_polars], ids=["pandas", "polars"])
@pytest.mark.parametrize("name", HDMRS)
def test_a_component_takes_the_columns_of_frames_by_name(name, frame_of):
    hdmr = HDMRS[name]
    values = hdmr.evaluate(X)[:, hdmr.subspaces_.index((1, 3))]
    for asked in (("bmi", "s5"), ("s5", "bmi"), (3, 1), (1, "s5")):
        component = hdmr.component(asked)
        assert_close(component(frame_of(X[["bmi", "s5"]])), values)
        assert_close(component(frame_of(X[["s5", "bmi"]])), values)


@pytest.mark.parametrize("name", HDMRS)
def test_a_component_takes_variables_in_the_order_of_the_call(name):
    hdmr = HDMRS[name]
    values = hdmr.evaluate(X)[:, hdmr.subspaces_.index((1, 3))]
    forth, back = hdmr.component(("bmi", "s5")), hdmr.component(("s5", "bmi"))
    assert_close(forth(X[["bmi", "s5"]].to_numpy()), values)
    assert_close(back(X[["s5", "bmi"]].to_numpy()), values)
    assert forth.subspace == back.subspace == (1, 3)
    assert forth.names == back.names == ("bmi", "s5")
    assert (forth.arguments, back.arguments) == (("bmi", "s5"), ("s5", "bmi"))
    assert repr(back).startswith("Component of s5 & bmi\n")
    assert np.array_equal(forth.bounds, back.bounds) and forth.variance == back.variance
    assert pickle.loads(pickle.dumps(back)).arguments == ("s5", "bmi")


def test_three_variables_in_any_order():
    model = GradientBoostingRegressor(n_estimators=20, max_depth=3, random_state=0).fit(X, y)
    hdmr = TreeHDMR(model, order=3, measure="product").fit(X)
    values = hdmr.component((0, 1, 3))(X[["age", "bmi", "s5"]].to_numpy())
    assert np.ptp(values) > 0
    for asked in (["s5", "age", "bmi"], ["bmi", "s5", "age"]):
        assert_close(hdmr.component(asked)(X[asked].to_numpy()), values)
        assert_close(hdmr.component(asked)(X[["age", "s5", "bmi"]]), values)


@pytest.mark.parametrize("name", HDMRS)
def test_other_names_are_refused(name):
    component, pair = HDMRS[name].component("bmi"), HDMRS[name].component(("s5", "bmi"))
    calls = [component, component.fourier()]
    if name != "product":
        calls.append(component.standard_error)
    for call in calls:
        for wrong in (X[["bp"]], as_polars(X[["bp"]]), X["bp"], pl.Series("bp", X["bp"].to_numpy())):
            with pytest.raises(ValueError, match=r"(?s)names should match.*does not have:\n- bp\n.*missing:\n- bmi\n"):
                call(wrong)
        assert_close(call(X[["bmi"]]), call(X["bmi"].to_numpy()))
        assert_close(call(X["bmi"]), call(X["bmi"].to_numpy()))
        assert_close(call(X["bmi"].rename(None)), call(X["bmi"].to_numpy()))
    assert_close(pair(X), pair(X[["s5", "bmi"]]))
    with pytest.raises(ValueError, match=r"(?s)have:\n- age\n- bp\n.*missing:\n- s5\nPass the columns \['s5', 'bmi'\]"):
        pair(X.drop(columns="s5"))
    with pytest.raises(ValueError, match=r"(?s)missing:\n- s5\n"):
        pair(X[["bmi"]])
    with pytest.raises(ValueError, match=r"shape \(N, 2\), got \(442, 3\)"):
        pair(X[["bmi", "s5", "s5"]].to_numpy())


def test_a_component_of_variables_without_names():
    hdmr = HDMR(LinearRegression().fit(X.to_numpy(), y)).fit(X.to_numpy())
    component = hdmr.component(1)
    values = component(X[["bmi"]].to_numpy())
    assert_close(component(X[["bmi"]]), values)  # there is no name to compare with
    assert_close(component(pd.DataFrame({"x1": X["bmi"]})), values)
    with pytest.raises(ValueError, match="names should match"):
        component(pd.DataFrame({"x2": X["bmi"]}))
    with pytest.raises(ValueError, match="same order"):
        hdmr.predict(pd.DataFrame(X.to_numpy(), columns=["x1", "x0", "x2", "x3"]))


def test_names_that_several_variables_have():
    for u in ("a", ("b", "a")):
        with pytest.raises(ValueError, match=r"'a', which several variables are called. Give its index"):
            decompose(X, [u, 1, 2, 2], coef=[1, 1, 1, 1], feature_names=["a", "a", "b"])


def test_the_names_of_a_model_are_those_of_the_rows():
    for hdmr in (HDMR(MODEL), HDMR(load_forest(MODEL)), TreeHDMR(MODEL), KernelHDMR(SVR(kernel="linear").fit(X, y))):
        with pytest.raises(ValueError, match=r"names should match.*expected \['age'.*got \['s5'"):
            hdmr.fit(TURNED)
        hdmr.fit(X.to_numpy())  # without names, which then are those of the model
        assert hdmr.feature_names_ == tuple(X.columns)
        for call in (hdmr.predict, hdmr.transform, hdmr.residual):
            with pytest.raises(ValueError, match="same order"):
                call(TURNED)
        with pytest.raises(ValueError, match="same order"):
            hdmr.explain(TURNED[:1])


def test_models_get_the_names_that_they_were_fitted_with():
    pipe = make_pipeline(make_column_transformer((StandardScaler(), ["bmi", "s5"])), LinearRegression()).fit(X, y)
    hdmr = HDMR(pipe, order=1).fit(X)
    assert_close(hdmr.fidelity(X), 1.0, 1e-4, reason="the products of spans carry a ridge")
    assert_close(HDMR(pipe, order=1).fit(X.to_numpy()).predict(X.to_numpy()), hdmr.predict(X))


@pytest.mark.parametrize("wrong", [TURNED, as_polars(TURNED)], ids=["pandas", "polars"])
def test_a_forest_knows_its_names(wrong):
    forest = load_forest(MODEL)
    for call in (forest.predict, forest.group_features, lambda X: inspection.partial_dependence(forest, X, "bmi")):
        with pytest.raises(ValueError, match="same order"):
            call(wrong)
    mixed = X.rename(columns={"bmi": 1})
    with pytest.raises(TypeError, match=r"only supported if all input features have string names.*\['int', 'str'\]"):
        forest.predict(mixed)


def test_rows_of_closed_forms():
    f = analytic.Ishigami()
    rows = f.sample(5, 0)
    named = pd.DataFrame(rows, columns=["x1", "x0", "x2"])
    for call in (f, lambda X: f.derivative(0, X), lambda X: inspection.dgsm(f, X).values):
        with pytest.raises(ValueError, match="same order"):
            call(named)
        assert_close(call(pd.DataFrame(rows, columns=["a", "b", "c"])), call(rows))
    component = f.component(("x2", "x0"))
    assert component.subspace == (0, 2)
    assert_close(component(rows[:, [2, 0]]), f.component((0, 2))(rows[:, [0, 2]]))


def test_columns_of_dictionaries():
    result = decompose(X, [0, 1, 2, 3], coef=[1, 1, 1, 1])
    for call in (result.evaluate, result.component((0,))):
        with pytest.raises(ValueError, match="same order"):
            call(TURNED)
        assert_close(call(X), call(X.to_numpy()))
    with pytest.raises(ValueError, match=r"shape \(N, 4\), got \(442, 5\)"):
        result.evaluate(np.column_stack([X, y]))


def test_the_names_of_a_problem_are_those_of_the_rows():
    with pytest.raises(ValueError, match="same order as they were in the problem"):
        salib.analyze({"names": list(X.columns)}, TURNED, y, K=1)


def test_names_given_beside_a_frame_are_in_its_order():
    with pytest.raises(ValueError, match="same order as they were in this call, as feature_names"):
        inspection.partial_dependence(MODEL, X, "bmi", feature_names=list(TURNED.columns))
    given = inspection.partial_dependence(MODEL, X, "body", feature_names=["years", "body", "pressure", "fat"])
    assert_close(given.average, inspection.partial_dependence(MODEL, X, "bmi").average)


def test_invalid_rows_cannot_be_explained():
    with pytest.raises(ValueError, match=r"Expected rows of the variables.*got float"):
        TREES.explain(3.0)
    with pytest.raises(ValueError, match=r"Expected rows of the variables.*got dict"):
        TREES.explain({"bmi": 30.0})
    with pytest.raises(ValueError, match="same order"):
        TREES.explain(TURNED.iloc[0])


def test_pictures_of_pairs_are_drawn_in_the_order_of_the_call():
    plotting = pytest.importorskip("fasthdmr.plotting")
    pytest.importorskip("matplotlib")
    display = plotting.ComponentDisplay.from_estimator(TREES, [("bmi", "s5"), ("s5", "bmi")])
    forth, back = display.axes_
    assert (back.get_xlabel(), back.get_ylabel()) == ("s5", "bmi") == (forth.get_ylabel(), forth.get_xlabel())
    values = [axes.collections[0].get_array().reshape(100, 100) for axes in (forth, back)]
    assert_close(values[0], values[1].T)
    assert back.get_xlim() == forth.get_ylim()
