"""Pictures of components of categorical variables, by the names of their levels."""

import matplotlib as mpl
import numpy as np
import pytest
from categorical_components import CITIES, HEATING, component, length, sample_rows
from matplotlib import pyplot
from tolerance import assert_close

from fasthdmr import HDMR
from fasthdmr._results.explanation import Explanation
from fasthdmr.datasets import make_apartments
from fasthdmr.plotting import ComponentDisplay, WaterfallDisplay

mpl.use("Agg")

DRAWN_NAMES = ["Oslo", "Bergen", "missing", "…the northern bank of th", "…the southern bank of th"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def drawn(*components, **options):
    return ComponentDisplay(components, **options).plot().axes_


def names_and_shares(axes):
    return [tuple(text.get_text().rsplit("  ", 1)) for text in axes.get_yticklabels()]


def bar_widths(axes):
    return [bar.get_width() for bar in axes.patches]


def test_levels_are_bars_by_name_the_most_frequent_on_top():
    (axes,) = drawn(component((0,), length))
    shares = np.bincount(sample_rows()[:, 0].astype(int)) / 400
    assert names_and_shares(axes) == [(name, f"{share:.0%}") for name, share in zip(DRAWN_NAMES, shares, strict=True)]
    assert_close(bar_widths(axes), length(CITIES))
    assert axes.yaxis_inverted()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("f(city)", "city")


def test_error_bars_are_two_standard_errors():
    (axes,) = drawn(component((0,), length), sort="effect")
    (container,) = [c for c in axes.containers if isinstance(c, mpl.container.ErrorbarContainer)]
    order = np.argsort(-length(CITIES), kind="stable")
    assert_close(container.lines[0].get_xdata(), length(CITIES)[order])
    errors = [np.ptp(segment[:, 0]) / 2 for segment in container.lines[2][0].get_segments()]
    assert_close(errors, 2 * (0.1 + 0.05 * order))


def test_levels_sorted_by_effect():
    (axes,) = drawn(component((0,), lambda city: 5 - length(city)), sort="effect")
    assert [name for name, _ in names_and_shares(axes)] == ["missing", "Oslo", "Bergen", *DRAWN_NAMES[3:]]


def test_shares_are_weighted_and_small_ones_are_not_nothing():
    rows = np.column_stack([np.repeat([0.0, 1.0, 2.0], [300, 99, 1])])
    levels = {0: ("a", "b", "c", "only outside the sample")}
    weights = np.repeat([1.0, 2.0, 2.0], [300, 99, 1])
    (axes,) = drawn(component((0,), length, rows=rows, levels=levels, weights=weights))
    assert names_and_shares(axes) == [("a", "60%"), ("b", "40%"), ("c", "<1%"), ("only outside the sample", "<1%")]


@pytest.mark.parametrize("sort", ["frequency", "effect"])
def test_many_levels_are_the_top_20_and_the_others(sort):
    effects = dict(zip((f"c{k}" for k in range(60)), np.random.default_rng(0).normal(size=60), strict=True))
    values = np.array(list(effects.values()))
    rows = np.repeat(np.arange(60.0), np.arange(60, 0, -1))[:, None]
    city = component((0,), lambda levels: [effects[level] for level in levels], rows=rows, levels={0: tuple(effects)})
    (axes,) = drawn(city, sort=sort)
    names = [name for name, _ in names_and_shares(axes)]
    top = np.arange(20) if sort == "frequency" else np.argsort(-np.abs(values))[:20]
    expected = top if sort == "frequency" else top[np.argsort(-values[top])]
    assert names == [*(f"c{k}" for k in expected), "40 others"]
    rest = np.setdiff1d(np.arange(60), top)
    weights = 60.0 - rest
    assert_close(bar_widths(axes)[-1], weights @ values[rest] / weights.sum())
    assert names_and_shares(axes)[-1][1] == f"{weights.sum() / 1830:.0%}"


def test_one_level_too_many_has_a_bar_of_its_own():
    levels = tuple(f"c{k}" for k in range(21))
    (axes,) = drawn(component((0,), length, rows=np.arange(21.0)[:, None], levels={0: levels}))
    assert [name for name, _ in names_and_shares(axes)] == list(levels)


def test_levels_without_rows_are_drawn_without_shares():
    (axes,) = drawn(component((0,), length, rows=np.empty((0, 1))))
    assert [text.get_text() for text in axes.get_yticklabels()] == DRAWN_NAMES


def test_levels_share_their_scale_with_curves():
    levels, curve = drawn(component((0,), length), component((2,), lambda area: 100 * area))
    assert levels.get_xlim() == curve.get_ylim()
    assert levels.get_xlim()[1] > 99


def test_levels_that_look_alike_have_distinct_names():
    levels = ("", " ", 1, "1", True, "x" * 60, "x" * 59, "two\nlines", "$x_$")
    rows = np.zeros((9, 1))
    (axes,) = drawn(component((0,), np.zeros_like, rows=rows, levels={0: levels}))
    names = [text.get_text().rsplit("  ", 1)[0] for text in axes.get_yticklabels()]
    assert len(set(names)) == len(levels)
    assert names[2:] == ["1 (2)", "1 (3)", "True", *names[5:7], "two\\nlines", "$x_$"] and max(map(len, names)) < 30
    axes.figure.canvas.draw()  # a formula that cannot be parsed would be an error


@pytest.mark.parametrize("subspace", [(0, 2), (2, 0)])
def test_a_curve_for_each_level(subspace):
    def values(*arguments):
        city, area = arguments if subspace[0] == 0 else arguments[::-1]
        return (1 + length(city)) * area.astype(float)

    (axes,) = drawn(component(subspace, values))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("area", "f(area, city)" if subspace[0] else "f(city, area)")
    legend = axes.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == DRAWN_NAMES
    assert legend.get_title().get_text() == "city"
    curves = {line.get_label(): line for line in axes.lines if line.get_label() in DRAWN_NAMES}
    x = np.linspace(-1, 1, 200)
    for name, level in zip(DRAWN_NAMES, CITIES, strict=True):
        y = curves[name].get_ydata()
        assert_close(y[:90], ((1 + length([level])) * x)[:90])
    assert np.isnan(curves["Bergen"].get_ydata()[120:]).all()  # it has no rows there
    assert (
        len({line.get_color() for line in curves.values()}) == len({line.get_marker() for line in curves.values()}) == 5
    )


def test_the_scale_of_curves_is_that_of_rows():
    def extrapolated(city, area):  # Bergen has no rows there
        return np.where((city == "Bergen") & (area > 0.3), 1000.0, area)

    (axes,) = drawn(component((0, 2), extrapolated))
    assert_close(axes.get_ylim(), [-1.1, 1.1])


def test_the_most_frequent_levels_have_curves():
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.repeat(np.arange(10.0), 40), np.zeros(400), rng.uniform(-1, 1, 400)])
    levels = {0: tuple(f"c{k}" for k in range(10))}
    (axes,) = drawn(component((0, 2), lambda city, area: area, rows=rows, levels=levels))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [f"c{k}" for k in range(6)]
    assert axes.get_legend().get_title().get_text() == "city (4 rarer not shown)"


def test_curves_mark_missing_numbers():
    rows = sample_rows()
    rows[::9, 2] = np.nan
    (axes,) = drawn(
        component((0, 2), lambda city, area: length(city) + np.nan_to_num(area.astype(float), nan=7.0), rows=rows)
    )
    at_missing = [line.get_ydata().item() for line in axes.lines if len(line.get_ydata()) == 1]
    assert_close(at_missing, length(CITIES) + 7)
    assert [text.get_text() for text in axes.texts] == ["missing"]


def test_two_categories_are_a_map_and_cells_without_rows_are_hatched():
    (axes,) = drawn(component((0, 1), lambda city, heating: length(city) - 10 * length(heating)))
    mesh = axes.collections[0]
    assert_close(mesh.get_array(), length(CITIES)[None, :] - 10 * length(HEATING)[:, None])
    assert [text.get_text() for text in axes.get_xticklabels()] == DRAWN_NAMES
    assert [text.get_text() for text in axes.get_yticklabels()] == list(HEATING)
    (cover,) = [c for c in axes.collections if c.get_hatch()]
    centres = {tuple(path.vertices[:4].mean(axis=0)) for path in cover.get_paths()}
    assert centres == {(k, 0.0) for k in range(1, 5)}
    assert mesh.norm.vmax == 10 * len("district")  # of cells with rows, that of missing cities with district heating


def test_maps_show_the_most_frequent_levels():
    rows = np.column_stack([np.arange(400) % 50.0, np.arange(400) % 2.0, np.zeros(400)])
    levels = {0: tuple(f"c{k}" for k in range(50)), 1: HEATING}
    pair = component((1, 0), lambda heating, city: length(city) * length(heating), rows=rows, levels=levels)
    (axes,) = drawn(pair)
    assert [text.get_text() for text in axes.get_yticklabels()] == [f"c{k}" for k in range(20)]
    assert axes.get_ylabel() == "city (30 rarer not shown)"
    assert axes.yaxis_inverted()
    assert axes.collections[0].get_array().shape == (20, 2)


def test_a_category_with_a_variable_of_few_values_is_a_map():
    rows = sample_rows()
    rows[:, 2] = np.arange(400) % 3
    (axes,) = drawn(component((2, 0), lambda area, city: area, rows=rows))
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0", "1", "2"]
    assert [text.get_text() for text in axes.get_yticklabels()] == DRAWN_NAMES


@pytest.mark.parametrize("subspace", [(0, 1), (0, 2), (2, 0)])
def test_surfaces_of_categories_are_refused(subspace):
    with pytest.raises(ValueError, match=r"kind='surface' is for numeric variables, but 'city' is categorical\."):
        ComponentDisplay([component(subspace, length)], kind="surface")


def test_a_surface_beside_levels():
    axes = drawn(component((0,), length), kind="surface")
    assert axes[0].name == "rectilinear"


def test_unknown_order_of_levels():
    with pytest.raises(ValueError, match=r"'sort' parameter must be a str among {'frequency', 'effect'}"):
        ComponentDisplay([component((0,), length)], sort="name")


def test_a_waterfall_names_levels():
    terms = np.array([1.0, -0.5, 0.25])
    values = [("Oslo",), (None,), (20.5, "x" * 60)]
    variables = [("city",), ("heating",), ("area", "furnished")]
    explanation = Explanation([(0,), (1,), (2, 3)], variables, values, terms, 1.0, 0.0, 1.75)
    (axes,) = WaterfallDisplay(explanation).plot().axes_
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert labels[:2] == ["city = Oslo", "heating = missing"]
    assert labels[2].startswith("area = 20.5") and "furnished = xxx" in labels[2] and len(labels[2]) < 60


@pytest.fixture(scope="module")
def fitted():
    X, y = make_apartments(2000, random_state=0)
    return HDMR().fit(X[["area", "city", "heating", "furnished"]], y)


def test_levels_of_a_fitted_estimator(fitted):
    (axes,) = ComponentDisplay.from_estimator(fitted, ["heating"], sort="effect").axes_
    component, levels = fitted.component("heating"), ["heat pump", "district", "electric", None, "wood"]
    assert [name for name, _ in names_and_shares(axes)] == ["missing" if level is None else level for level in levels]
    assert_close(bar_widths(axes), component(levels))
    (container,) = [c for c in axes.containers if isinstance(c, mpl.container.ErrorbarContainer)]
    errors = [np.ptp(segment[:, 0]) / 2 for segment in container.lines[2][0].get_segments()]
    assert_close(errors, 2 * component.standard_error(levels), 1e-9)


def test_curves_and_maps_of_a_fitted_estimator(fitted):
    curves, cells = ComponentDisplay.from_estimator(fitted, [("city", "area"), ("furnished", "city")]).axes_
    line = next(line for line in curves.lines if line.get_label() == "Oslo")
    x = line.get_xdata()
    oslo = fitted.component(("city", "area"))(np.column_stack([np.full(200, "Oslo", dtype=object), x.astype(object)]))
    assert np.isfinite(line.get_ydata()).all()
    assert_close(line.get_ydata(), oslo)
    assert [text.get_text() for text in cells.get_xticklabels()] == ["False", "True"]
    names = [text.get_text() for text in cells.get_yticklabels()]
    pairs = np.array([[value, name] for name in names for value in (False, True)], dtype=object)
    assert_close(cells.collections[0].get_array().ravel(), fitted.component(("furnished", "city"))(pairs))


def test_dark_styles_have_visible_marks():
    with pyplot.style.context("dark_background"):
        levels, curve = drawn(component((0,), length), component((2,), lambda area: area))
        (container,) = [c for c in levels.containers if isinstance(c, mpl.container.ErrorbarContainer)]
        assert mpl.colors.to_hex(container.lines[0].get_color()) == "#ffffff"
        assert sum(mpl.colors.to_rgb(curve.lines[-1].get_color())) > 1.5
