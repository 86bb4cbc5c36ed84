"""Explanations of many rows: the same as of each row by itself."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from tolerance import assert_close

import fasthdmr
from fasthdmr import HDMR, TreeHDMR
from fasthdmr._results.explanation import Explanation
from fasthdmr.results import Explanations

pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

NAMES = ["age", "income", "rooms"]
LEVELS = ["Oslo", "Bergen", "<b>"]


def data(n=200):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=NAMES, index=[f"row {i}" for i in range(n)])
    return X, X["age"] + X["age"] * X["income"] + 0.5 * X["rooms"] ** 2


@pytest.fixture(scope="module")
def hdmr():
    X, y = data()
    return TreeHDMR(GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)).fit(X)


def with_levels():
    X, y = data()
    X["city"] = np.random.default_rng(1).choice([*LEVELS, None], len(X))
    return X, y + (X["city"] == "Oslo") * X["age"]


def same(one, other):
    assert (one.subspaces, one.variables, one.names) == (other.subspaces, other.variables, other.names)
    assert one.values == other.values
    assert_close(one.contributions, other.contributions)
    assert_close([one.intercept, one.output], [other.intercept, other.output])
    assert abs(one.residual - other.residual) < 1e-12


def test_each_is_the_explanation_of_its_row(hdmr):
    X, _ = data()
    several = hdmr.explain(X[:20])
    assert isinstance(several, Explanations) and len(several) == 20
    for i, one in enumerate(several):
        same(one, hdmr.explain(X.iloc[i]))
    same(several[-1], hdmr.explain(X.iloc[[19]]))
    assert isinstance(hdmr.explain(X[:1]), Explanation)


def test_terms_are_the_components_and_add_up(hdmr):
    X, _ = data()
    several = hdmr.explain(X)
    assert several.subspaces == hdmr.subspaces_ and several.names == hdmr.sensitivity_.names
    assert_close(several.contributions, hdmr.evaluate(X))
    assert_close(several.residual, hdmr.residual(X), 1e-9)
    assert_close(several.intercept + several.contributions.sum(axis=1) + several.residual, several.output)


@pytest.mark.parametrize("form", [np.asarray, lambda X: X.to_numpy().tolist(), lambda X: pl.DataFrame(dict(X))])
def test_forms_of_rows(form):
    X, _ = data()
    hdmr = HDMR(lambda X: np.asarray(X)[:, 0] * np.asarray(X)[:, 1]).fit(form(X))
    several = hdmr.explain(form(X))
    assert several.index is None
    same(several[7], hdmr.explain(form(X)[7:8]))


def test_slices(hdmr):
    X, _ = data()
    several = hdmr.explain(X)
    part = several[10:30:5]
    assert isinstance(part, Explanations) and len(part) == 4
    same(part[1], several[15])
    assert list(part.to_frame().index) == ["row 10", "row 15", "row 20", "row 25"]
    assert len(several[:0]) == 0 and len(several[:0].to_frame()) == 0 and "0 explanations" in repr(several[:0])


def test_wrong_keys_and_rows(hdmr):
    X, _ = data()
    several = hdmr.explain(X[:5])
    with pytest.raises(IndexError, match="no row 5: 5 rows are explained"):
        several[5]
    with pytest.raises(TypeError, match="by the position of a row or a slice, got 'row 1'"):
        several["row 1"]
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        hdmr.explain(X[:0])
    with pytest.raises(ValueError, match="The feature names should match"):
        hdmr.explain(X[["age", "rooms"]])


def test_frame_has_a_row_for_each(hdmr):
    X, _ = data()
    several = hdmr.explain(X)
    frame = several.to_frame()
    assert list(frame.columns) == ["f0", *several.names, "residual", "output"]
    assert frame.index.equals(X.index)
    assert_close(frame.drop(columns="output").sum(axis=1), frame["output"], 1e-9)
    assert_close(frame["age"], several.contributions[:, 0])


def test_names_of_a_frame_are_distinct():
    X = np.random.default_rng(0).normal(size=(100, 2))
    frame = pd.DataFrame(X, columns=["f0", "output"])
    several = HDMR(lambda X: X["f0"] * X["output"]).fit(frame).explain(frame)
    assert list(several.to_frame().columns) == [
        "f0 (0)",
        "f0 (1)",
        "output (2)",
        "f0 & output",
        "residual",
        "output (5)",
    ]


def test_levels_and_missing_values():
    X, y = with_levels()
    hdmr = HDMR().fit(X, y)
    several = hdmr.explain(X)
    city = several.subspaces.index((3,))
    for i in (0, 1, 2, 3):
        one = hdmr.explain(X.iloc[[i]])
        assert several[i].values == one.values
        expected = X["city"].iloc[i]
        assert several[i].values[several[i].subspaces.index((3,))] == (expected if isinstance(expected, str) else None,)
    assert several.names[city] == "city"


def test_groups():
    X, y = data()
    hdmr = HDMR(feature_groups={"place": ["age", "rooms"]}).fit(X, y)
    several = hdmr.explain(X)
    assert several[3].values == hdmr.explain(X.iloc[3]).values
    place = several[3].subspaces.index((0,))
    assert several[3].values[place] == ((X.iloc[3]["age"], X.iloc[3]["rooms"]),)


@pytest.mark.parametrize("output", [1, "y1"])
def test_one_of_several_outputs(output):
    X, y = data()
    forest = RandomForestRegressor(5, max_depth=2, random_state=0).fit(X, np.column_stack([y, -3 * y]))
    hdmr = TreeHDMR(forest).fit(X)
    several = hdmr.explain(X, output=output)
    assert_close(several.output, forest.predict(X)[:, 1], 1e-9)
    assert_close(several.contributions, hdmr.evaluate(X)[:, :, 1])
    with pytest.raises(ValueError, match="output must be one of"):
        hdmr.explain(X)


def test_data_without_a_model_have_no_residual():
    X, y = data()
    hdmr = HDMR().fit(X, y)
    several, one = hdmr.explain(X), hdmr.explain(X.iloc[0])
    assert several.residual is several.output is one.residual is one.output is None
    assert_close(several.intercept + several.contributions.sum(axis=1), hdmr.predict(X), 1e-9)
    assert list(several.to_frame().columns) == ["f0", *several.names]
    assert one.to_frame()["names"].iloc[-1] == one.names[-1]
    lines = str(one).splitlines()
    assert "Residual" not in str(one) and lines[-1].split()[0] == "Prediction"
    assert lines[-1].split()[1] == lines[-3].split()[-1] == f"{hdmr.predict(X)[0]:.4f}"
    assert "Residual" not in repr(several) and several._repr_html_() and one._repr_html_()


def test_waterfall_without_a_residual():
    X, y = data()
    one = HDMR().fit(X, y).explain(X.iloc[0])
    (axes,) = one.plot().axes_
    assert len(axes.patches) == len(one.names) == len(axes.get_yticklabels())
    assert axes.get_title().endswith(f"sum of the components = {one.intercept + one.contributions.sum():.4g}")


def test_print_names_the_strongest_components(hdmr):
    X, _ = data()
    several = hdmr.explain(X)
    lines = str(several).splitlines()
    assert lines[0] == "200 explanations" and lines[-1].split()[0] == "Residual"
    sizes = np.abs(several.contributions).mean(axis=0)
    assert lines[3].startswith(several.names[sizes.argmax()]) and f"{sizes.max():.4f}" in lines[3]


def test_pickle_and_changes_of_X(hdmr):
    X, _ = data()
    rows = X.copy()
    several = hdmr.explain(rows)
    before = str(several[3])
    rows.iloc[:] = 7.0
    assert str(several[3]) == before == str(pickle.loads(pickle.dumps(several))[3])


def test_memory_of_many_rows():
    X = np.random.default_rng(0).normal(size=(100_000, 3))
    hdmr = HDMR(lambda X: X[:, 0] + X[:, 1] * X[:, 2]).fit(X[:2000])
    tracemalloc.start()
    several = hdmr.explain(X)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(several) == len(X)
    assert size < 4 * (several.contributions.nbytes + X.nbytes)


def test_explanations_are_exported():
    assert {"Explanations", "Table"} <= set(fasthdmr.results.__all__)
