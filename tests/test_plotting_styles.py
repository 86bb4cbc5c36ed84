"""Pictures are legible on light and on dark backgrounds, and names of variables stay distinct."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgb

import fasthdmr
from fasthdmr import HDMR
from fasthdmr.plotting import (
    ComponentDisplay,
    ExplanationsDisplay,
    OverlayDisplay,
    SensitivityDisplay,
    WaterfallDisplay,
)

pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning")

mpl.use("Agg")

X = np.random.default_rng(0).normal(size=(600, 3))
X[:, 2] = np.round(X[:, 2])
NAMES = [f"a name that is too long to be shown, number {k} of three" for k in range(3)]


def function(X):
    return X[:, 0] + X[:, 0] * X[:, 1] + X[:, 2]


FIT = HDMR(function).fit(X)


def explanations():
    terms = FIT.evaluate(X)
    names = FIT.sensitivity_.names
    return SimpleNamespace(
        names=names, contributions=terms, intercept=FIT.intercept_, residual=None, output=None, unit="", target=""
    )


DISPLAYS = {
    "components": lambda: ComponentDisplay.from_estimator(FIT),
    "surface": lambda: ComponentDisplay.from_estimator(FIT, [(0, 1)], kind="surface"),
    "bars": lambda: SensitivityDisplay.from_estimator(FIT),
    "matrix": lambda: SensitivityDisplay.from_estimator(FIT, kind="matrix"),
    "waterfall": lambda: WaterfallDisplay.from_estimator(FIT, X[0]),
    "overlay": lambda: OverlayDisplay.from_estimator(FIT, X, [0]),
    "explanations": lambda: ExplanationsDisplay(explanations()).plot(),
}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(one, other):
    """Return the contrast of two colours as in the Web Content Accessibility Guidelines."""
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_contrast():
    assert contrast("white", "black") == pytest.approx(21)


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("kind", DISPLAYS)
def test_text_bars_and_curves_differ_from_the_background(kind, style):
    with pyplot.style.context(style):
        figure = DISPLAYS[kind]().figure_
        figure.canvas.draw()
        background = figure.get_facecolor()
        for text in figure.findobj(mpl.text.Text):
            if text.get_text() and text.get_visible() and not (kind == "matrix" and text in figure.axes[0].texts):
                assert contrast(text.get_color(), background) >= 4.5, text.get_text()
        for axes in figure.axes:
            for bar in [bar for container in axes.containers for bar in getattr(container, "patches", [])]:
                colours = [bar.get_facecolor(), bar.get_edgecolor()]
                assert max(contrast(colour, background) for colour in colours) >= 2.5
            for line in axes.lines:
                if len(line.get_xdata()) > 2 and line.get_linestyle() != "None":
                    assert contrast(line.get_color(), background) >= 3


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_cells_of_the_matrix_are_legible(style):
    with pyplot.style.context(style):
        (axes,) = DISPLAYS["matrix"]().axes_
        (drawn,) = axes.images
        colours = drawn.to_rgba(drawn.get_array())
        assert axes.texts
        for text in axes.texts:
            column, row = text.get_position()
            assert contrast(text.get_color(), colours[row, column, :3]) >= 4.5


def test_long_names_stay_distinct():
    pandas = pytest.importorskip("pandas", reason="a frame has names")
    fit = HDMR().fit(pandas.DataFrame(X, columns=NAMES), function(X))
    display = ComponentDisplay.from_estimator(fit, NAMES)
    for labels in ([axes.get_xlabel() for axes in display.axes_], [axes.get_ylabel() for axes in display.axes_]):
        assert len(set(labels)) == 3 and max(map(len, labels)) < 40
    pairs = ComponentDisplay.from_estimator(fit, [(0, 1), (1, 0)]).figure_.axes
    labels = [axes.get_ylabel() for axes in pairs if axes.get_ylabel().startswith("f(")]
    assert len(set(labels)) == 2
    waterfall = WaterfallDisplay.from_estimator(HDMR(function).fit(X), X[0])
    waterfall.explanation.variables[:] = [tuple(NAMES[i] for i in u) for u in waterfall.explanation.subspaces]
    (axes,) = waterfall.plot().axes_
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert len(set(labels)) == len(labels)


def test_names_of_parts_are_shortened_in_heat_maps():
    e = explanations()
    e.names = [" & ".join(NAMES[i] for i in u) for u in FIT.subspaces_]
    _, below = ExplanationsDisplay(e).plot().axes_
    labels = [label.get_text() for label in below.get_yticklabels()]
    assert len(set(labels)) == len(labels) and max(map(len, labels)) <= 51


def test_every_display_has_the_same_protocol():
    for name in fasthdmr.plotting.__all__:
        display = getattr(fasthdmr.plotting, name)
        assert callable(display.from_estimator) and callable(display.plot)
