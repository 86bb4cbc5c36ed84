"""What pictures say: the unit, the target and the constant; which components they show; what the scale follows."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier
from sklearn.svm import SVC
from tolerance import assert_close

from fasthdmr import HDMR, KernelHDMR, TreeHDMR
from fasthdmr._results.explanation import Explanation
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._support.outputs import names_of_target
from fasthdmr._support.sample import Sample
from fasthdmr.analytic import Ishigami, Product
from fasthdmr.plotting import ComponentDisplay, SensitivityDisplay, WaterfallDisplay

pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning")

mpl.use("Agg")

X = pandas.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=["MedInc", "age", "rooms"])
PRICE = pandas.Series(X.MedInc + 0.5 * X.MedInc * X.age, name="price")
SICK = pandas.Series(np.where(PRICE > 0, "malignant", "benign"), name="diagnosis")
FEW = {"n_estimators": 10, "random_state": 0}
CLASSIFIER = GradientBoostingClassifier(**FEW).fit(X, SICK)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def ylabel(hdmr, **options):
    return ComponentDisplay.from_estimator(hdmr, ["MedInc"], **options).axes_[0].get_ylabel()


def test_labels_name_the_unit_and_the_class():
    assert ylabel(TreeHDMR(CLASSIFIER).fit(X)) == 'f(MedInc), log-odds of "malignant"'
    assert ylabel(HDMR(CLASSIFIER).fit(X)) == 'f(MedInc), score of "malignant"'
    assert ylabel(KernelHDMR(SVC(kernel="poly", degree=2).fit(X, SICK)).fit(X)) == 'f(MedInc), score of "malignant"'
    assert ylabel(HDMR(RandomForestClassifier(**FEW).fit(X, SICK)).fit(X)) == 'f(MedInc), probability of "malignant"'


def test_labels_name_the_target():
    regressor = GradientBoostingRegressor(**FEW)
    assert ylabel(TreeHDMR(regressor).fit(X, PRICE)) == "f(MedInc), price"
    assert ylabel(HDMR().fit(X, PRICE.to_numpy())) == "f(MedInc)"
    two = HDMR().fit(X, pandas.DataFrame({"price": PRICE, "twice": 2 * PRICE}))
    assert ylabel(two, output=1) == "f(MedInc), twice"


def test_labels_name_the_class_of_one_of_several_outputs():
    iris = load_iris()
    model = GradientBoostingClassifier(**FEW).fit(iris.data, iris.target_names[iris.target])
    fit = TreeHDMR(model).fit(iris.data)
    (axes,) = ComponentDisplay.from_estimator(fit, [2], output="versicolor").axes_
    assert axes.get_ylabel() == 'f(x2), score of "versicolor"'
    bars = SensitivityDisplay.from_estimator(fit, output="versicolor").axes_[0]
    assert bars.get_xlabel() == 'share of the variance of score of "versicolor"'
    waterfall = WaterfallDisplay.from_estimator(fit, iris.data[0], output="versicolor").axes_[0]
    assert waterfall.get_xlabel() == 'output of the model, score of "versicolor"'


def test_names_of_targets():
    assert names_of_target(PRICE) == ("price",)
    assert names_of_target(pandas.DataFrame({0: [1], "b": [2]})) == ("0", "b")
    assert names_of_target(pandas.Series([1.0])) == names_of_target(None) == names_of_target(np.zeros(3)) == ()


def test_the_constant_is_above_a_new_figure_and_in_the_first_label_of_given_axes():
    fit = TreeHDMR(CLASSIFIER).fit(X)
    constant = f"f₀ = {fit.intercept_:.3g}".replace("-", "−")
    display = ComponentDisplay.from_estimator(fit, ["MedInc", "age"])
    assert display.figure_.get_suptitle() == f'log-odds of "malignant": {constant}'
    _, given = pyplot.subplots(1, 2)
    first, second = ComponentDisplay.from_estimator(fit, ["MedInc", "age"], ax=given).axes_
    assert first.get_ylabel() == f'f(MedInc), log-odds of "malignant"\n{constant}'
    assert second.get_ylabel() == 'f(age), log-odds of "malignant"'
    assert first.figure.get_suptitle() == ""


def test_the_constant_of_a_closed_form():
    assert ComponentDisplay.from_estimator(Ishigami(), ["x0"]).figure_.get_suptitle() == "f₀ = 3.5"


def test_the_strongest_components_are_drawn():
    display = ComponentDisplay.from_estimator(Ishigami())
    assert [component.subspace for component in display.components] == [(1,), (0,), (0, 2), (2,)]
    fit = HDMR(order=3).fit(X, PRICE)
    S = dict(zip(fit.subspaces_, np.abs(fit.sensitivity_.S), strict=True))
    expected = sorted((u for u in S if len(u) <= 2), key=S.get, reverse=True)
    for top in (1, 3):
        display = ComponentDisplay.from_estimator(fit, top=top)
        assert [component.subspace for component in display.components] == expected[:top]
    assert len(ComponentDisplay.from_estimator(fit).components) == 6
    assert len(ComponentDisplay.from_estimator(fit, ["age"], top=3).components) == 1


def test_the_strongest_surfaces_are_of_numeric_variables():
    frame = X.assign(rooms=pandas.Categorical.from_codes((X.rooms > 0).astype(int), ["few", "many"]))
    y = 3 * X.MedInc * (X.rooms > 0) + X.age
    fit = HDMR().fit(frame, y)
    by_map = {component.subspace for component in ComponentDisplay.from_estimator(fit, top=20).components}
    by_surface = {c.subspace for c in ComponentDisplay.from_estimator(fit, top=20, kind="surface").components}
    assert by_map - by_surface == {(0, 2), (1, 2)}


def test_nothing_that_can_be_drawn_is_an_error():
    fit = TreeHDMR(GradientBoostingRegressor(**FEW).fit(X, PRICE), feature_groups={"all": list(X.columns)}).fit(X)
    with pytest.raises(ValueError, match="None of the 1 components can be drawn"):
        ComponentDisplay.from_estimator(fit)
    with pytest.raises(ValueError, match="top == 0, must be >= 1"):
        ComponentDisplay.from_estimator(Ishigami(), top=0)
    with pytest.raises(ValueError, match="more than 10\\^18 components"):
        ComponentDisplay.from_estimator(Product(10_000, 1, 0.01))


class Wide:
    """A component with a band that is wide at its ends."""

    subspace, names, bounds = (0,), ("x",), np.array([[-1.0, 1.0]])

    def __init__(self, rows):
        self._source = SimpleNamespace(sample=Sample.of(rows, None))

    def __call__(self, points):
        return np.nan_to_num(points[:, 0], nan=0.5)

    def standard_error(self, points):
        return 0.01 + 1e3 * np.nan_to_num(points[:, 0], nan=1.0) ** 8


@pytest.mark.parametrize("missing", [False, True])
def test_the_scale_follows_the_curve_and_not_its_band(missing):
    rows = np.linspace(-1, 1, 500)[:, None]
    rows[::10] = np.nan if missing else 0.0
    (axes,) = ComponentDisplay([Wide(rows)]).plot().axes_
    assert_close(axes.get_ylim(), [-1.6, 1.6])


def test_a_narrow_band_is_in_the_picture():
    narrow = Wide(np.linspace(-1, 1, 500)[:, None])
    narrow.standard_error = lambda points: np.full(len(points), 0.1)
    (axes,) = ComponentDisplay([narrow]).plot().axes_
    assert_close(axes.get_ylim(), [-1.3, 1.3])


def test_the_scale_of_bars_follows_the_bars():
    (axes,) = ComponentDisplay([Wide(np.repeat([[-1.0], [0.0], [1.0]], 50, axis=0))]).plot().axes_
    assert_close(axes.get_ylim(), [-1.6, 1.6])


def waterfall(contributions, residual, output):
    names = [(f"x{k}",) for k in range(len(contributions))]
    u = [(k,) for k in range(len(contributions))]
    values = [(1.0,)] * len(contributions)
    explanation = Explanation(u, names, values, np.array(contributions), 100.0, residual, output)
    (axes,) = WaterfallDisplay(explanation).plot().axes_
    return [label.get_text() for label in axes.get_yticklabels()], axes.get_title()


@pytest.mark.parametrize("residual", [1.4e-14, -2e-12, 0.0])
def test_a_residual_of_rounding_has_no_bar(residual):
    labels, _ = waterfall([1.0, -0.5], residual, 100.5)
    assert labels == ["x0 = 1", "x1 = 1"]


def test_a_small_residual_has_a_bar():
    assert waterfall([1.0, -0.5], 1e-5, 100.50001)[0][-1] == "residual"


def test_without_a_black_box_a_waterfall_ends_at_the_sum():
    labels, title = waterfall([1.0, -0.5], None, None)
    assert labels == ["x0 = 1", "x1 = 1"]
    assert title == "f₀ = 100  →  sum of the components = 100.5"


def test_cells_of_the_matrix_have_signs():
    S = np.array([0.5, -0.1, 0.3, 0.002, -0.001, 0.0])
    subspaces = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    indices = Sensitivity(subspaces, np.abs(S), S, 0.0, 1.0, ["a", "b", "c"])
    (axes,) = SensitivityDisplay(indices, kind="matrix").plot().axes_
    assert [text.get_text() for text in axes.texts] == ["+.50", "−", "+", "−", "+.30", "0", "+", "0", "−.10"]
