"""The beeswarm picture of Shapley values."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from models import LABELS, X, Y
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from tolerance import assert_close

from fasthdmr import HDMR, TreeHDMR
from fasthdmr.datasets import make_apartments
from fasthdmr.plotting import BeeswarmDisplay

mpl.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning")

FRAME = pd.DataFrame(X, columns=["a", "b", "c", "a $d$"])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def hdmr():
    return TreeHDMR(GradientBoostingRegressor(n_estimators=20, random_state=0).fit(FRAME, Y)).fit(FRAME)


def labels(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def swarm(ax, row):
    """The values, sorted, of the points in a row: the grey ones and those with colours."""
    points = [collection.get_offsets() for collection in ax.collections[2 * row : 2 * row + 2]]
    points = np.concatenate(points)
    assert np.abs(points[:, 1] - row).max() < 0.5
    return np.sort(points[:, 0])


def test_swarms_hold_the_shapley_values_and_the_residual(hdmr):
    ax = BeeswarmDisplay.from_estimator(hdmr, FRAME).axes_[0]
    values = hdmr.shapley_values(FRAME)
    order = np.argsort(-np.abs(values).mean(axis=0))
    assert labels(ax) == [*FRAME.columns[order], "residual"]
    for row, j in enumerate(order):
        assert_close(swarm(ax, row), np.sort(values[:, j]), 1e-12)
        assert len(ax.collections[2 * row].get_offsets()) == 0  # none is grey
    assert_close(swarm(ax, 4), np.sort(hdmr.residual(FRAME)), 1e-9)
    assert ax.get_xlabel() == "Shapley value"
    ax.figure.canvas.draw()  # a name with dollar signs is no formula


def test_weaker_variables_are_drawn_together(hdmr):
    display = BeeswarmDisplay.from_estimator(hdmr, FRAME, max_display=2)
    ax, values = display.axes_[0], hdmr.shapley_values(FRAME)
    order = np.argsort(-np.abs(values).mean(axis=0))
    assert labels(ax) == [*FRAME.columns[order[:2]], "2 weaker variables", "residual"]
    assert_close(swarm(ax, 2), np.sort(values[:, order[2:]].sum(axis=1)), 1e-12)
    assert labels(BeeswarmDisplay.from_estimator(hdmr, FRAME, max_display=3).axes_[0])[:4] == list(FRAME.columns[order])


def test_points_do_not_lie_on_each_other():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 2))
    hdmr = HDMR(lambda X: X[:, 0] + X[:, 1]).fit(rows)
    ax = BeeswarmDisplay.from_estimator(hdmr, rows).axes_[0]
    places = np.concatenate([collection.get_offsets() for collection in ax.collections])
    assert len(np.unique(places.round(9), axis=0)) == len(places)


def test_categories_missing_values_and_groups_are_grey():
    rows, y = make_apartments(300, random_state=0)
    numeric = [name for name, dtype in rows.dtypes.items() if dtype.kind in "if"]
    hdmr = HDMR().fit(rows, y)
    gaps = rows.copy()
    gaps[numeric[0]] = gaps[numeric[0]].astype(float)
    gaps.iloc[:40, gaps.columns.get_loc(numeric[0])] = np.nan
    glass = HDMR().fit(gaps, y)
    for estimator, X_ in ((hdmr, rows), (glass, gaps)):
        ax = BeeswarmDisplay.from_estimator(estimator, X_).axes_[0]
        assert "residual" not in labels(ax)
        for row, name in enumerate(labels(ax)):
            expected = X_[name].isna().sum() if name in numeric else len(X_)
            assert len(ax.collections[2 * row].get_offsets()) == expected
    grouped = HDMR(feature_groups={"both": numeric[:2]}).fit(rows, y)
    ax = BeeswarmDisplay.from_estimator(grouped, rows).axes_[0]
    assert len(ax.collections[2 * labels(ax).index("both")].get_offsets()) == len(rows)


def test_outputs_and_errors(hdmr):
    classes = TreeHDMR(GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, LABELS)).fit(X)
    display = BeeswarmDisplay.from_estimator(classes, X, output=2)
    assert_close(swarm(display.axes_[0], 4), np.sort(classes.residual(X)[:, 2]), 1e-9)
    with pytest.raises(ValueError, match="output must be one of"):
        BeeswarmDisplay.from_estimator(classes, X)
    for wrong in (0, 2.5, "all"):
        with pytest.raises(ValueError, match="max_display must be a positive integer"):
            BeeswarmDisplay.from_estimator(hdmr, FRAME, max_display=wrong)


def test_a_single_row_and_a_constant_output():
    constant = TreeHDMR(GradientBoostingRegressor(n_estimators=1).fit(X, np.ones(len(X)))).fit(X)
    ax = BeeswarmDisplay.from_estimator(constant, X[:1]).axes_[0]
    assert len(labels(ax)) == 4
    ax.figure.canvas.draw()


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_points_are_visible_in_all_styles(hdmr, style):
    with pyplot.style.context(style):
        ax = BeeswarmDisplay.from_estimator(hdmr, FRAME, ax=pyplot.subplots()[1]).axes_[0]
        ax.figure.canvas.draw()
        background = luminance(ax.get_facecolor())
        for collection in ax.collections:
            for colour in collection.get_facecolors():
                light, dark = sorted([luminance(colour), background], reverse=True)
                assert (light + 0.05) / (dark + 0.05) > 1.5


def luminance(colour):
    """The relative luminance of WCAG 2."""
    channels = np.asarray(colour[:3])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]
