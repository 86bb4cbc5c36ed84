"""Component functions together with partial dependence."""

import matplotlib as mpl
import numpy as np
import pandas
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, HistGradientBoostingRegressor
from tolerance import assert_close

import fasthdmr
from fasthdmr import HDMR, TreeHDMR
from fasthdmr.plotting import OverlayDisplay

pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning")

mpl.use("Agg")

RHO = 0.8
X = np.random.default_rng(0).multivariate_normal([0, 0], [[1, RHO], [RHO, 1]], size=4000)


def product(X):
    return 1 + X[:, 0] + X[:, 1] + X[:, 0] * X[:, 1]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def test_curves_of_correlated_gaussians_are_those_of_the_paper():
    """The marginal curve is x, the conditional one x + rho (x² + x - 1), shifted as the component is."""
    display = OverlayDisplay.from_estimator(HDMR(product).fit(X), X, [0])
    x, marginal = display.curves[0]["marginal"]
    slope = np.polyfit(x, marginal, 1)[0]
    assert_close(slope, 1, 0.05, reason="a sample of 4,000 rows")
    x, conditional = display.curves[0]["conditional"]
    inside = np.abs(x) < 1.5
    expected = x + RHO * (x**2 + x - 1)
    assert np.abs((conditional - expected)[inside]).max() < 0.15
    assert display.differences[0]["conditional"] > 3 * 0.15


def test_differences_vanish_without_correlation():
    rows = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
    hdmr = HDMR(lambda X: X[:, 0] ** 2 + X[:, 1]).fit(rows)
    display = OverlayDisplay.from_estimator(hdmr, rows)
    assert len(display.components) == 2
    assert max(max(one.values()) for one in display.differences) < 0.05  # the rows are correlated by chance


@pytest.mark.parametrize("estimators", [1, 2])
def test_curves_of_trees_are_the_partial_dependence_shifted(estimators):
    models = [GradientBoostingRegressor(n_estimators=20, random_state=k).fit(X, product(X)) for k in range(estimators)]
    hdmr = TreeHDMR(models, combine="sum").fit(X)
    display = OverlayDisplay.from_estimator(hdmr, X, ["x1"], kinds=["marginal"])
    x, values = display.curves[0]["marginal"]
    expected = sum(
        fasthdmr.inspection.partial_dependence(model, X, 1, custom_values={1: x}).average[0] for model in models
    )
    assert_close(np.ptp(values - expected) + 1, 1, 1e-9)
    assert list(display.differences[0]) == ["marginal"]


def test_the_picture_has_a_legend_with_differences_and_room_for_all_curves():
    display = OverlayDisplay.from_estimator(HDMR(product).fit(X), X, top=1)
    (axes,) = display.axes_
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts[0] == "component f"
    for kind, text in zip(("marginal", "conditional"), texts[1:], strict=True):
        assert text == f"partial dependence, {kind}: differs by {display.differences[0][kind]:.2g}"
    low, high = axes.get_ylim()
    assert all(low < values.min() and values.max() < high for _, values in display.curves[0].values())


def test_one_of_several_outputs():
    iris = load_iris()
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(iris.data, iris.target)
    hdmr = TreeHDMR(model).fit(iris.data)
    displays = [OverlayDisplay.from_estimator(hdmr, iris.data, [2], output=k) for k in (0, 2)]
    first, last = (display.curves[0]["marginal"][1] for display in displays)
    assert first[0] > first[-1] and last[0] < last[-1]


def test_variables_of_few_values_and_frames_and_missing_values():
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame({"rooms": rng.integers(1, 5, 500).astype(float), "size": rng.normal(size=500)})
    frame.loc[::5, "rooms"] = np.nan
    y = frame.rooms.fillna(7) + frame["size"]
    model = HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(frame, y)
    display = OverlayDisplay.from_estimator(TreeHDMR(model).fit(frame), frame, ["rooms", "size"])
    x, values = display.curves[0]["marginal"]
    assert x.tolist() == [0, 1, 2, 3] and np.isfinite(values).all()
    display.figure_.canvas.draw()


def test_what_has_no_such_picture_is_refused():
    hdmr = HDMR().fit(X, product(X))
    with pytest.raises(ValueError, match="got x0 & x1"):
        OverlayDisplay.from_estimator(hdmr, X, [(0, 1)])
    with pytest.raises(ValueError, match=r"'kinds' parameter must be a str among {'marginal', 'conditional'}"):
        OverlayDisplay.from_estimator(hdmr, X, kinds=["both"])
    with pytest.raises(ValueError, match="decomposes y itself"):
        OverlayDisplay.from_estimator(hdmr, X)
    display = OverlayDisplay.from_estimator(hdmr, X, [0], model=product)
    assert display.differences[0]["marginal"] > 0
