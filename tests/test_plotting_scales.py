"""Logarithmic axes of skewed variables, and the curves, maps, rugs and supports on them."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot
from tolerance import assert_close

from fasthdmr._support.sample import Sample
from fasthdmr.plotting import ComponentDisplay
from fasthdmr.plotting._scales import Scale, scale_of

mpl.use("Agg")

NORMAL = np.random.default_rng(0).normal(size=4000)
INCOME = np.exp(NORMAL)
GAINS = np.where(NORMAL < 0, 0.0, 100 * INCOME**2)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def kind(rows):
    return scale_of(rows, np.percentile(rows, [1, 99])).name


def test_only_skewed_variables_without_negative_values_have_logarithmic_axes():
    assert kind(INCOME) == kind(1e9 * INCOME) == "log"
    assert kind(GAINS) == "symlog"
    for rows in (NORMAL, NORMAL + 10, INCOME - 5, np.exp(0.1 * NORMAL), np.linspace(0, 1, 100), -INCOME, 0 * NORMAL):
        assert kind(rows) == "linear"


@pytest.mark.parametrize("factor", [1e-305, 1e-315, 1e304])
def test_logarithmic_axes_do_not_overflow(factor):
    rows = np.append(factor * INCOME, 1.0)
    assert kind(rows) == "linear"


def test_a_narrow_range_is_linear_though_it_is_skewed():
    assert kind(30 + INCOME) == "linear"


@given(st.floats(1e-6, 1e6), st.floats(10, 1e6), st.booleans())
def test_a_logarithmic_axis_has_ticks(low, factor, from_zero):
    scale = Scale("symlog", low) if from_zero else Scale("log")
    bounds = np.array([0.0 if from_zero else low, low * factor])
    ticks = scale.ticks(bounds)
    assert 2 <= ticks.size <= 10 and (np.diff(ticks) > 0).all()
    assert bounds[0] <= ticks[0] and ticks[-1] <= bounds[1]


def test_skewness_to_the_left_is_not_that_of_a_logarithm():
    assert kind(20 - np.minimum(INCOME, 19)) == "linear"


def test_logarithms_are_less_skewed():
    rows = np.array([0.9, 1.0, 1.1])
    names = {low: scale_of(rows, np.array([low, 6.0])).name for low in (1e-2, 1e-6)}
    assert names == {1e-2: "log", 1e-6: "linear"}  # the middle is at 0.72 and 0.89 of a logarithmic axis


@given(st.sampled_from(["linear", "log", "symlog"]), st.floats(1e-3, 1e3), st.floats(1e-6, 1e6))
def test_backward_is_the_inverse_of_forward(name, threshold, value):
    scale = Scale(name, threshold)
    assert_close(scale.backward(scale.forward(np.array([value]))), [value], 1e-9)


def component(columns, function):
    rows = np.column_stack([INCOME, GAINS, NORMAL])
    rows[::7, 0] = np.nan
    sample = Sample.of(rows, None)

    class Component:
        subspace, names = columns, tuple(("income", "gains", "age")[j] for j in columns)
        bounds = sample.bounds(columns)
        _source = SimpleNamespace(sample=sample)

        def __call__(self, points):
            return function(*np.nan_to_num(points, nan=1.0).T)

        def standard_error(self, points):
            raise ValueError("There is none.")

    return Component()


def test_a_curve_is_evenly_spaced_along_a_logarithmic_axis():
    (axes,) = ComponentDisplay([component((0,), np.log)]).plot().axes_
    assert axes.get_xscale() == "log"
    x, y = axes.lines[-1].get_data()
    assert_close(np.diff(np.log(x)), np.full(199, np.log(x[-1] / x[0]) / 199), 1e-9)
    assert_close(y, np.log(x))
    low, high = axes.get_xlim()
    rug = axes.collections[0].get_segments()
    assert len(rug) > 100 and all(low <= segment[0, 0] <= x[-1] for segment in rug)
    strip = next(patch for patch in axes.patches)
    edges = strip.get_patch_transform().transform(strip.get_path().vertices)[:, 0]
    begin, end = edges.min(), edges.max()
    assert_close(np.log(begin / x[-1]) / np.log(x[-1] / x[0]), 0.035)
    assert_close(end, high)
    (mark,) = (line.get_xdata() for line in axes.lines if line.get_marker() == "D")
    assert_close(mark, [np.sqrt(begin * end)], 1e-9)


def test_a_curve_from_zero_is_evenly_spaced_along_its_axis():
    (axes,) = ComponentDisplay([component((1,), np.sqrt)]).plot().axes_
    assert axes.get_xscale() == "symlog"
    x = axes.lines[-1].get_xdata()
    assert x[0] == 0
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "300", "1,000", "3,000", "10,000"]
    places = axes.transData.transform(np.column_stack([x, x * 0]))[:, 0]
    assert_close(np.diff(places), np.full(199, (places[-1] - places[0]) / 199), 1e-9)


def test_a_map_and_its_support_agree_with_the_axes():
    display = ComponentDisplay([component((0, 2), lambda income, age: np.log(income) + age)]).plot()
    (axes,) = display.axes_
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    mesh, *hatched = axes.collections
    corners = mesh.get_coordinates()[0, :, 0]
    assert_close(np.diff(np.log(corners[:101])), np.full(100, np.log(corners[100] / corners[0]) / 100), 1e-9)
    values = mesh.get_array()
    middles = np.sqrt(corners[1:101] * corners[:100])
    assert_close(values[0, :100] - values[0, 0], np.log(middles / middles[0]), 1e-9)
    # income is a function of age: the cells with rows are on the diagonal of logarithms
    empty = ~np.ma.getmaskarray(hatched[0].get_array())[:16, :16]
    assert not np.diag(empty).any() and empty.sum() > 150


def test_a_surface_stays_linear():
    (axes,) = ComponentDisplay([component((0, 2), lambda income, age: income * age)], kind="surface").plot().axes_
    assert axes.get_xscale() == "linear"
    axes.figure.canvas.draw()
