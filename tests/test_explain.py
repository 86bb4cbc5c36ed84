import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from tolerance import assert_close

from fasthdmr import HDMR, KernelHDMR, TreeHDMR
from fasthdmr._results.explanation import Explanation
from fasthdmr.plotting import WaterfallDisplay

mpl.use("Agg")

NAMES = ["age", "income", "rooms"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=NAMES)
    X["income"] += X["age"]
    return X, X["age"] + X["age"] * X["income"] + 0.5 * X["rooms"] ** 2


@pytest.fixture(scope="module")
def hdmr():
    X, y = data()
    return TreeHDMR(GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)).fit(X)


def estimators():
    X, y = data()
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    return {
        "trees": (TreeHDMR(model), model.predict),
        "any": (HDMR(lambda X: X["age"] * X["income"]), lambda X: X["age"].to_numpy() * X["income"].to_numpy()),
        "product": (TreeHDMR(model, measure="product"), model.predict),
        "kernel": (KernelHDMR(kernel := KernelRidge(kernel="poly", degree=2, coef0=1).fit(X, y)), kernel.predict),
    }


@pytest.mark.parametrize("name", ["trees", "any", "product", "kernel"])
def test_terms_add_up_to_the_black_box(name):
    X, _ = data()
    hdmr, predict = estimators()[name]
    hdmr.fit(X)
    for k in range(5):
        row = X.iloc[[k]]
        explanation = hdmr.explain(row)
        total = explanation.intercept + explanation.contributions.sum() + explanation.residual
        assert_close(explanation.output, predict(row)[0], 1e-9)
        assert_close(total, explanation.output)
        assert_close(explanation.output - explanation.residual, hdmr.predict(row)[0], 1e-9)


def test_terms_are_the_components_strongest_first(hdmr):
    X, _ = data()
    row = X.iloc[[7]]
    explanation = hdmr.explain(row)
    terms = dict(zip(hdmr.subspaces_, hdmr.evaluate(row)[0], strict=True))
    assert sorted(explanation.subspaces) == sorted(hdmr.subspaces_)
    assert_close(explanation.contributions, [terms[u] for u in explanation.subspaces])
    assert (np.diff(np.abs(explanation.contributions)) <= 0).all()
    pair = explanation.subspaces.index((0, 2))
    assert explanation.variables[pair] == ("age", "rooms") and explanation.names[pair] == "age & rooms"
    assert explanation.values[pair] == (row.iloc[0, 0], row.iloc[0, 2])
    assert explanation.intercept == hdmr.intercept_


@pytest.mark.parametrize(
    "form",
    [
        lambda X: X.iloc[3],
        lambda X: pl.DataFrame(X.iloc[[3]].to_dict("list")),
        lambda X: X.iloc[3].astype(object),
        lambda X: X.iloc[3, ::-1][::-1],
    ],
)
def test_forms_of_a_row(form, hdmr):
    X, _ = data()
    assert str(hdmr.explain(form(X))) == str(hdmr.explain(X.iloc[[3]]))


def test_arrays_are_rows():
    X, _ = data()
    hdmr = HDMR(lambda X: X[:, 0] + X[:, 1] * X[:, 2]).fit(X.to_numpy())
    expected = str(hdmr.explain(X.to_numpy()[:1]))
    assert str(hdmr.explain(X.to_numpy()[0])) == str(hdmr.explain(X.to_numpy()[0].tolist())) == expected


def test_wrong_rows(hdmr):
    X, _ = data()
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        hdmr.explain(X[:0])
    with pytest.raises(ValueError, match="The feature names should match"):
        hdmr.explain(X.iloc[0, :2])
    with pytest.raises(ValueError, match="contains NaN"):
        hdmr.explain(X.iloc[0] * np.nan)
    bare = HDMR(lambda X: X[:, 0]).fit(X.to_numpy())
    with pytest.raises(ValueError, match="X has 2 features, but HDMR is expecting 3"):
        bare.explain([1.0, 2.0])
    with pytest.raises(ValueError, match="Found array with 2 samples while exactly 1 is drawn as a waterfall"):
        WaterfallDisplay.from_estimator(hdmr, X[:2])
    with pytest.raises(ValueError, match="Expected rows of the variables, as an array, frame or Series, got float"):
        bare.explain(1.0)
    with pytest.raises(ValueError, match=r"dim 3|3 dim|3D"):
        bare.explain(np.zeros((1, 3, 1)))
    with pytest.raises(ValueError, match="output must be one of"):
        hdmr.explain(X[:1], output=1)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        TreeHDMR().explain([1.0])


@pytest.mark.parametrize("output", [1, "y1"])
def test_one_of_several_outputs(output):
    X, y = data()
    forest = RandomForestRegressor(5, max_depth=2, random_state=0).fit(X, np.column_stack([y, -3 * y]))
    hdmr = TreeHDMR(forest).fit(X)
    explanation = hdmr.explain(X.iloc[0], output=output)
    assert_close(explanation.output, forest.predict(X[:1])[0, 1], 1e-9)
    terms = dict(zip(hdmr.subspaces_, hdmr.evaluate(X[:1])[0, :, 1], strict=True))
    assert_close(explanation.contributions, [terms[u] for u in explanation.subspaces])
    with pytest.raises(ValueError, match="output must be one of"):
        hdmr.explain(X[:1])


def test_missing_values():
    X, y = data()
    X.iloc[::7, 0] = np.nan
    hdmr = TreeHDMR(RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, y)).fit(X)
    explanation = hdmr.explain(X.iloc[0])
    assert "missing" in str(explanation)
    total = explanation.intercept + explanation.contributions.sum() + explanation.residual
    assert_close(total, explanation.output)


def many(count):
    terms = np.linspace(2, 1, count) * (-1) ** np.arange(count)
    names = [(f"x{i}",) for i in range(count)]
    total = 1.0 + terms.sum() + 0.5
    return Explanation([(i,) for i in range(count)], names, [(float(i),) for i in range(count)], terms, 1.0, 0.5, total)


def test_table_is_cut_to_the_strongest():
    lines = str(many(50)).splitlines()
    assert len(lines) == 2 + 1 + 40 + 1 + 1 + 2
    weaker, residual = lines[-4].split(), lines[-3].split()
    assert weaker[:2] == ["10", "weaker"]
    assert weaker[2] == f"{many(50).contributions[40:].sum():.4f}"
    assert residual[-1] == lines[-1].split()[-2] == f"{many(50).output:.4f}"


def test_frame_holds_all_terms(hdmr):
    X, _ = data()
    explanation = hdmr.explain(X.iloc[0])
    frame = explanation.to_frame()
    assert list(frame.columns) == ["subspace", "names", "values", "contribution"]
    assert len(frame) == len(hdmr.subspaces_) + 2
    assert frame["names"].iloc[0] == "f0" and frame["names"].iloc[-1] == "residual"
    assert_close(frame["contribution"].sum(), explanation.output)
    assert "(" not in frame.to_csv()  # cells are numbers and text
    pair = next(k for k, u in enumerate(explanation.subspaces) if len(u) == 2)
    i, j = explanation.subspaces[pair]
    assert frame["subspace"][1 + pair] == f"{i} & {j}"
    assert frame["values"][1 + pair] == " & ".join(map(str, explanation.values[pair]))


def test_waterfall_goes_from_the_constant_to_the_output(hdmr):
    X, _ = data()
    explanation = hdmr.explain(X.iloc[0])
    display = explanation.plot()
    assert isinstance(display, WaterfallDisplay)
    (axes,) = display.axes_
    bars = sorted(axes.patches, key=lambda bar: bar.get_y())
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars]
    assert_close(ends[0][0], explanation.intercept)
    assert_close(ends[-1][1], explanation.output)
    assert_close([start for start, _ in ends[1:]], [end for _, end in ends[:-1]])
    assert_close([end - start for start, end in ends], [*explanation.contributions, explanation.residual], 1e-9)
    assert axes.get_yticklabels()[0].get_text().startswith(explanation.variables[0][0] + " = ")
    assert [bool(bar.get_hatch()) for bar in bars] == [end < start for start, end in ends]


def test_waterfall_of_many_terms():
    explanation = many(30)
    (axes,) = explanation.plot().axes_
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[0] == "x0 = 0" and labels[12:] == ["18 weaker components", "residual"]
    weaker, residual = sorted(axes.patches, key=lambda bar: bar.get_y())[12:]
    assert_close(weaker.get_width(), explanation.contributions[12:].sum())
    assert_close(residual.get_width(), explanation.residual)
    (axes,) = many(13).plot().axes_  # a single weak component is not summarised
    assert axes.get_yticklabels()[12].get_text() == "x12 = 12"


def test_waterfall_in_given_axes(hdmr):
    X, _ = data()
    _, ax = pyplot.subplots()
    display = WaterfallDisplay.from_estimator(hdmr, X.iloc[0], ax=ax)
    assert display.axes_[0] is ax and display.figure_ is ax.figure


def test_a_model_without_splits_has_no_terms():
    X = np.zeros((4, 1))
    model = GradientBoostingRegressor(n_estimators=1).fit(X, [1.0, 2.0, 3.0, 4.0])
    with pytest.warns(UserWarning, match="constant"):
        hdmr = TreeHDMR(model).fit(X)
    found = hdmr.explain(X[0])
    assert found.subspaces == [] and found.output == found.intercept + found.residual
