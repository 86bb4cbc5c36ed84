"""What a component takes: points of its arguments, rows of all variables, frames, and single points."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression
from tolerance import assert_close

import fasthdmr
from fasthdmr import HDMR

pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

NAMES = ["age", "income", "city", "rooms"]


def data(n=200):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=NAMES)
    X["city"] = rng.choice(["Oslo", "Bergen", None], n)
    return X, X["age"] + X["age"] * X["rooms"] + (X["city"] == "Oslo") * X["income"]


@pytest.fixture(scope="module")
def hdmr():
    return HDMR().fit(*data())


def polars(X):
    return pl.DataFrame(X.astype(object).where(X.notna(), None).to_dict("list"))


def objects(X):
    return X.to_numpy(dtype=object)


FORMS = {"frame": lambda X: X, "polars": polars, "array": objects, "lists": lambda X: objects(X).tolist()}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("u", [(0,), (2,), (3, 0), (2, 1), (1, 2)])
def test_rows_of_all_variables(hdmr, u, form):
    X, _ = data()
    component, rows = hdmr.component(u), FORMS[form](X)
    own = X.iloc[:, list(u)]
    assert_close(component(rows), component(own.to_numpy()))
    assert_close(component(rows), hdmr.evaluate(X)[:, hdmr.subspaces_.index(tuple(sorted(u)))])
    assert_close(component(FORMS[form](own)), component(rows))


@pytest.mark.parametrize("u", [(0,), (2,), (3, 0), (2, 1)])
def test_one_point_gives_a_number(hdmr, u):
    X, _ = data()
    component, values = hdmr.component(u), hdmr.component(u)(X)
    for i in range(3):
        row = X.iloc[i]
        point = row.iloc[list(u)].tolist()
        found = [component(row), component(point[0] if len(u) == 1 else point)]
        found += [component(objects(X)[i])] if len(u) > 1 else []
        for value in found:
            assert isinstance(value, np.float64)
            assert_close(value, values[i])


def test_frames_may_have_other_columns_of_any_kind(hdmr):
    X, _ = data()
    more = X.assign(day=pd.Timestamp("2020-01-01"), text="a")[["text", "rooms", "day", "age"]]
    assert_close(hdmr.component(("age", "rooms"))(more), hdmr.component((0, 3))(X))
    assert_close(hdmr.component("age").fourier()(more), hdmr.component("age").fourier()(X["age"]))
    assert_close(hdmr.component("age").standard_error(more), hdmr.component("age").standard_error(X["age"]))
    with pytest.raises(ValueError, match="names should match"):
        hdmr.component("income")(more)
    with pytest.raises(ValueError, match="names should match"):
        hdmr.component("age")(pd.concat([X, X], axis=1))


def test_standard_errors_of_points_and_rows(hdmr):
    X, _ = data()
    component = hdmr.component(0)
    errors = component.standard_error(X["age"])
    assert_close(component.standard_error(objects(X)), errors)
    assert_close(component.standard_error(X["age"].iloc[3]), errors[3])
    assert isinstance(component.standard_error(X.iloc[3]), np.float64)


def test_arrays_of_as_many_columns_as_arguments_are_these():
    X = np.random.default_rng(0).normal(size=(100, 2))
    hdmr = HDMR(lambda X: X[:, 0] * X[:, 1] + X[:, 0]).fit(X)
    assert_close(hdmr.component((1, 0))(X[:, ::-1]), hdmr.component((0, 1))(X))


def test_a_series_of_values_is_not_a_row(hdmr):
    values = pd.Series([0.0, 1.0], index=["age", "b"], name="age")
    assert hdmr.component("age")(values).shape == (2,)
    assert hdmr.component("age")(values.rename(None).set_axis(["a", "b"])).shape == (2,)


def test_variables_without_names_go_by_position():
    X = np.random.default_rng(0).normal(size=(100, 3))
    hdmr = HDMR(LinearRegression().fit(X, X[:, 0] - X[:, 2])).fit(X)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for given in (frame, frame.set_axis([0, 1, 2], axis=1), frame.set_axis(["x0", "x1", "x2"], axis=1)):
        assert_close(hdmr.component(2)(given), hdmr.component(2)(X[:, 2]))
        assert_close(hdmr.component((2, 1))(given), hdmr.component((2, 1))(X[:, [2, 1]]))


def test_several_outputs():
    X = np.random.default_rng(0).normal(size=(100, 3))
    hdmr = HDMR(lambda X: np.column_stack([X[:, 0], X[:, 1] * X[:, 0]])).fit(X)
    assert hdmr.component(0)(0.5).shape == (2,) and hdmr.component((0, 1))([0.5, 0.5]).shape == (2,)
    assert hdmr.component(0)(X).shape == (100, 2)


def test_groups():
    X, y = data()
    hdmr = HDMR(feature_groups={"place": ["rooms", "city"]}).fit(X, y)
    component = hdmr.component(("place", "age"))
    assert component.arguments == ("rooms", "city", "age")
    expected = hdmr.evaluate(X)[:, hdmr.subspaces_.index((0, 2))]
    for rows in (X, objects(X), polars(X), X[["age", "city", "rooms"]], objects(X[["rooms", "city", "age"]])):
        assert_close(component(rows), expected)
    assert_close(component(X.iloc[5]), expected[5])


def test_closed_forms():
    f = fasthdmr.analytic.Ishigami()
    X = f.sample(10, random_state=0)
    assert_close(f.component((0, 2))(X), f.component((2, 0))(X[:, [2, 0]]))
    assert_close(f.component(1)(0.0), -3.5)


def test_wrong_arguments_are_named(hdmr):
    pair, X = hdmr.component((3, 0)), data()[0]
    expected = (
        r"The component of rooms & age takes an array of shape \(N, 2\), got {}\. Pass values of \['rooms', 'age'\]"
    )
    for bad, shape in ((np.zeros((5, 3)), r"\(5, 3\)"), (np.zeros(3), r"\(1, 3\)"), (0.5, r"\(\)")):
        with pytest.raises(ValueError, match=expected.format(shape) + r", or rows of all variables, \(N, 4\)"):
            pair(bad)
    with pytest.raises(ValueError, match=r"takes an array of shape \(N, 1\), got \(2, 2, 2\)"):
        hdmr.component(0)(np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="names should match"):
        pair(X.iloc[0, :3])
    with pytest.raises(ValueError, match="could not convert string to float: 'Oslo'"):
        hdmr.component(0)("Oslo")
    with pytest.raises(TypeError, match="objects of type dict"):
        hdmr.component(0)({"age": 1.0})
    with pytest.raises(TypeError, match=r"values\.collect\(\)"):
        pair(polars(X).lazy())


def test_levels_as_single_points(hdmr):
    component = hdmr.component("city")
    assert_close([component(level) for level in ("Oslo", "Bergen", None)], component(["Oslo", "Bergen", None]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fasthdmr._support.warnings.UnknownLevelsWarning)
        assert component("Paris") == 0.0
