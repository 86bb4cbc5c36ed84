"""The summary of a decomposition: what to read first."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVR
from tolerance import assert_close

import fasthdmr
from fasthdmr import HDMR, KernelHDMR, TreeHDMR, decompose
from fasthdmr._support.warnings import remembered, warn

NAMES = ["age", "income", "rooms"]


def data(n=300):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(n, 3)), columns=NAMES)
    return X, (X["age"] + X["age"] * X["income"] + 0.5 * X["rooms"] ** 2).rename("price")


def fitted():
    X, y = data()
    model = GradientBoostingRegressor(n_estimators=50, random_state=0).fit(X, y)
    return {
        "HDMR": HDMR().fit(X, y),
        "TreeHDMR": TreeHDMR(model, smooth=False).fit(X),
        "product": TreeHDMR(model, measure="product", order=3).fit(X),
        "trees": TreeHDMR(model, basis="trees", order=3).fit(X),
        "KernelHDMR": KernelHDMR(SVR(kernel="poly", degree=2).fit(X, y)).fit(X),
    }


with warnings.catch_warnings(action="ignore"):
    HDMRS = fitted()


@pytest.mark.parametrize("name", HDMRS)
def test_components_are_those_of_the_indices(name):
    hdmr = HDMRS[name]
    summary, indices = hdmr.summary(), hdmr.sensitivity_
    (table,) = summary.components
    assert sorted(table["names"]) == sorted(indices.names)
    assert (np.diff(np.abs(table["S"])) <= 0).all()
    by_name = dict(zip(indices.names, indices.S, strict=True))
    assert_close(table["S"], [by_name[each] for each in table["names"]])
    assert ("S_conf" in table.columns) == (indices.S_conf is not None) == ("±" in str(summary))
    assert summary.residual == hdmr.residual_


@pytest.mark.parametrize("name", HDMRS)
def test_fidelity(name):
    hdmr, (X, y) = HDMRS[name], data()
    summary = hdmr.summary()
    assert summary.fidelity_unused == hdmr.fidelity_unused_
    if name == "product":  # the measure is not that of the rows
        assert summary.fidelity is None
    elif name == "HDMR":
        assert_close(summary.fidelity, hdmr.score(X, y), 1e-9)
    else:
        assert_close(summary.fidelity, hdmr.fidelity(X), 1e-9)
    printed = [line for line in str(summary).splitlines() if line.startswith("Fidelity")]
    assert len(printed) == (summary.fidelity is not None)
    assert not printed or f"{summary.fidelity:.4f} on rows that were used" in printed[0]
    assert not printed or ("leave-one-out" in printed[0]) == (summary.fidelity_unused is not None)


def test_title_names_the_estimator_the_target_and_the_unit():
    X, y = data()
    assert HDMRS["HDMR"].summary().title == "HDMR of price: 3 variables, 6 components"
    assert HDMRS["TreeHDMR"].summary().title.startswith("TreeHDMR of the output: 3 variables, ")
    labels = (y > 0).rename("is_dear")
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, labels)
    with warnings.catch_warnings(action="ignore"):
        one, frame = TreeHDMR(model).fit(X, labels), HDMR().fit(X, y.to_frame())
    assert one.summary().title.startswith('TreeHDMR of log-odds of "True": ') and one.summary().unit == "log-odds"
    assert frame.summary().title.startswith("HDMR of price: ")


def test_strongest_are_printed():
    X = np.random.default_rng(0).normal(size=(400, 13))
    hdmr = HDMR(lambda X: X @ 1.3 ** np.arange(13.0), order=1).fit(X)
    summary = hdmr.summary()
    lines = str(summary).splitlines()
    assert lines[1].split() == ["Component", "Order", "S"] and lines[3].split()[:2] == ["x12", "1"]
    weaker = summary.components[0][10:]["S"].sum()
    assert [line.split()[:4] for line in lines if "weaker" in line] == [["3", "weaker", "-", f"{weaker + 0.0:.4f}"]]
    assert any(line.startswith("Residual") for line in lines) and lines[-1] == "No warnings were given."
    assert len(summary.components[0]) == 13


def test_several_outputs():
    X, y = data()
    forest = RandomForestRegressor(5, random_state=0).fit(X, np.column_stack([y, -3 * X["age"]]))
    with warnings.catch_warnings(action="ignore"):
        hdmr = TreeHDMR(forest).fit(X)
    summary = hdmr.summary()
    assert summary.title.startswith("TreeHDMR of 2 outputs: ")
    assert_close(summary.residual, hdmr.residual_)
    assert summary.fidelity.shape == summary.fidelity_unused.shape == (2,)
    assert summary.components[1]["names"][0] == "age" != summary.components[0]["names"][-1]
    assert str(summary).count("Fidelity") == 2 and "\nOutput y1\n" in str(summary)
    assert_close(summary.components[1]["S_conf"][0], hdmr.sensitivity_.S_conf[0, 1])


def test_warnings_of_fit_are_kept_whatever_the_filters_do():
    X, y = data()
    X["copy"] = X["age"]
    model = GradientBoostingRegressor(n_estimators=50, max_features=1, random_state=0).fit(X, y)
    with pytest.warns(fasthdmr.FastHDMRWarning) as record:
        hdmr = TreeHDMR(model, order=1).fit(X)
    given = tuple(dict.fromkeys(str(one.message) for one in record))
    assert hdmr.summary().warnings == given and any("Concurvity" in text for text in given)
    assert all(f"- {text}" in str(hdmr.summary()) for text in given)
    with warnings.catch_warnings(action="ignore"):
        assert hdmr.fit(X).summary().warnings == given
        assert hdmr.fit(X, sample_weight=np.ones(len(X))).decomposition_.warnings == given
    clean = HDMR(lambda X: X["age"]).fit(X[["age"]])
    assert clean.summary().warnings == ()


def test_warnings_do_not_mix():
    with remembered() as outer, warnings.catch_warnings(action="ignore"):
        with remembered() as inner:
            warn("inner", fasthdmr.RankWarning)
        warn("outer", fasthdmr.RankWarning)
        warn("outer", fasthdmr.RankWarning)
        warn("not ours", UserWarning)
    assert (inner, outer) == (["inner"], ["outer"])
    with warnings.catch_warnings(action="ignore"):
        warn("nobody listens", fasthdmr.RankWarning)


def test_decompositions_of_columns():
    x = np.random.default_rng(0).normal(size=(50, 1))
    with pytest.warns(fasthdmr.RankWarning):
        result = decompose(np.hstack([x, x]), [0, 1], coef=[1.0, 1.0])
    summary = result.summary()
    assert summary.title == "Decomposition of the output: 2 variables, 2 components"
    assert len(summary.warnings) == 1 and "numerical rank" in summary.warnings[0]
    assert summary.fidelity is summary.fidelity_unused is None
    assert repr(result) == str(summary) and result._repr_html_()
    assert decompose.__doc__.startswith("Decompose a function")


def test_no_components():
    X = np.zeros((4, 1))
    model = GradientBoostingRegressor(n_estimators=1).fit(X, [1.0, 2.0, 3.0, 4.0])
    with pytest.warns(fasthdmr.ConstantWarning):
        hdmr = TreeHDMR(model).fit(X)
    summary = hdmr.summary()
    assert "0 components" in summary.title and len(summary.warnings) == 1 and summary._repr_html_()
    with pytest.raises(NotFittedError):
        HDMR().summary()


def test_plots_of_results():
    mpl = pytest.importorskip("matplotlib", reason="pictures")
    mpl.use("Agg")
    from matplotlib import pyplot

    hdmr = HDMRS["HDMR"]
    axes = hdmr.plot(["age", ("age", "income")]).axes_
    assert [one.get_xlabel() for one in axes] == ["age", "age"]
    (one,) = hdmr.component("income").plot().axes_
    assert one.get_xlabel() == "income"
    _, ax = pyplot.subplots()
    assert hdmr.component("income").plot(ax=ax).axes_[0] is ax
    assert hdmr.sensitivity_.plot().axes_[0].get_xlabel() == "share of variance"
    assert hdmr.sensitivity_.plot("matrix").kind == "matrix"
    assert fasthdmr.analytic.Ishigami().component(1).plot().axes_.shape == (1,)
    X, y = data()
    several = HDMR().fit(X, np.column_stack([y, -y]))
    assert several.component("age").plot(output="y1").output == 1
    assert several.plot(["age"], output=1).output == 1
    with pytest.raises(ValueError, match="output must be one of"):
        several.component("age").plot()
    with pytest.raises(ValueError, match="output must be one of"):
        several.sensitivity_.plot()
    with pytest.raises(NotFittedError):
        HDMR().plot()
    pyplot.close("all")
