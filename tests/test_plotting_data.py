"""What pictures of components show of the data: rug, band, levels, missing values, support."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from sklearn.ensemble import RandomForestRegressor
from sklearn.svm import SVR
from tolerance import assert_close

from fasthdmr import HDMR, KernelHDMR, TreeHDMR
from fasthdmr.plotting import ComponentDisplay, SensitivityDisplay, WaterfallDisplay

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def rows(missing=0.1):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=400), rng.integers(0, 3, 400), rng.normal(size=400)])
    y = X[:, 0] + X[:, 1] ** 2 + X[:, 0] * X[:, 1] + 0.3 * X[:, 2]
    X[rng.random(400) < missing, 0] = np.nan
    X[rng.random(400) < missing, 1] = np.nan
    return X, y


@pytest.fixture(scope="module")
def hdmr():
    X, y = rows()
    return TreeHDMR(RandomForestRegressor(20, max_depth=5, random_state=0).fit(X, y)).fit(X)


def marks(axes):
    """Return the points of the error bars, and the lengths of the bars to one side."""
    (container,) = [c for c in axes.containers if isinstance(c, mpl.container.ErrorbarContainer)]
    (bars,) = container.lines[2]
    return container.lines[0].get_data(), np.array([np.ptp(s[:, 1]) / 2 for s in bars.get_segments()])


def test_few_values_are_bars(hdmr):
    (axes,) = ComponentDisplay.from_estimator(hdmr, [1]).axes_
    component, levels = hdmr.component(1), np.array([0, 1, 2, np.nan])
    assert_close([bar.get_height() for bar in axes.patches], component(levels))
    (at, values), errors = marks(axes)
    assert_close(values, component(levels))
    assert_close(errors, 2 * component.standard_error(levels))
    assert_close(at[:3], [0, 1, 2])
    assert at[3] > 3
    column = rows()[0][:, 1]
    shares = [np.mean(column == level) for level in range(3)] + [np.isnan(column).mean()]
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names == [f"{name}\n{s:.0%}" for name, s in zip(["0", "1", "2", "missing"], shares, strict=True)]


def test_weights_count_in_shares_and_rows_without_weight_are_not_there():
    X = np.column_stack([np.tile([0.0, 1.0, 5.0, 7.0], 100), np.linspace(0, 1, 400)])
    weights = np.tile([1.0, 3.0, 4.0, 0.0], 100)
    hdmr = HDMR(lambda X: X[:, 0] + X[:, 1]).fit(X, sample_weight=weights)
    (axes,) = ComponentDisplay.from_estimator(hdmr, [0]).axes_
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0\n12%", "1\n38%", "5\n50%"]


def test_band_is_two_standard_errors(hdmr):
    (axes,) = ComponentDisplay.from_estimator(hdmr, [0]).axes_
    x, values = axes.lines[-1].get_data()
    band = axes.collections[0].get_paths()[0].vertices
    error = hdmr.component(0).standard_error(x)
    assert_close(band[1 : x.size + 1], np.column_stack([x, values - 2 * error]))


def test_rug_shows_rows_in_the_picture(hdmr):
    (axes,) = ComponentDisplay.from_estimator(hdmr, [0]).axes_
    rug = next(c for c in axes.collections if isinstance(c, mpl.collections.LineCollection))
    ticks = np.array([segment[0, 0] for segment in rug.get_segments()])
    column, (low, high) = rows()[0][:, 0], hdmr.component(0).bounds[0]
    inside = column[(low <= column) & (column <= high)]
    assert np.isin(ticks, inside).all()
    assert 150 < ticks.size <= 200 < inside.size


def test_missing_values_of_a_curve_have_a_mark(hdmr):
    (axes,) = ComponentDisplay.from_estimator(hdmr, [0]).axes_
    (at, value), error = marks(axes)
    assert_close(value, hdmr.component(0)([np.nan]))
    assert_close(error, 2 * hdmr.component(0).standard_error([np.nan]))
    assert hdmr.component(0).bounds[0, 1] < at[0] < axes.get_xlim()[1]
    assert [text.get_text() for text in axes.texts] == ["missing"]


def test_complete_variables_have_no_strip(hdmr):
    (axes,) = ComponentDisplay.from_estimator(hdmr, [2]).axes_
    assert not axes.containers and not axes.texts
    assert_close(axes.get_xlim(), hdmr.component(2).bounds[0])


def test_map_with_levels_and_missing_values(hdmr):
    (axes,) = ComponentDisplay.from_estimator(hdmr, [(0, 1)]).axes_
    values = axes.collections[0].get_array()
    low, high = hdmr.component((0, 1)).bounds[0]
    x = np.append(low + (np.arange(100) + 0.5) / 100 * (high - low), np.nan)
    y = np.array([0, 1, 2, np.nan])
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    drawn = np.delete(np.delete(values, -2, axis=0), -2, axis=1)
    assert_close(drawn, hdmr.component((0, 1))(grid).reshape(4, 101))
    assert values.mask[-2].all() and values.mask[:, -2].all() and values.mask.sum() == 5 + 102 - 1
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "1", "2", "missing"]
    assert [text.get_text() for text in axes.texts] == ["missing"]


@pytest.fixture(scope="module")
def diagonal():
    """An HDMR of variables that go together, so that two corners have no rows."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 1000)
    X = np.column_stack([x, x + rng.normal(scale=0.1, size=1000)])
    return HDMR(lambda X: X[:, 0] * X[:, 1] ** 2, basis="bins").fit(X)


def test_cells_without_rows_are_hatched(diagonal):
    (axes,) = ComponentDisplay.from_estimator(diagonal, [(0, 1)]).axes_
    (cover,) = [c for c in axes.collections if c.get_hatch()]
    centres = np.array([path.vertices[:4].mean(axis=0) for path in cover.get_paths()])
    assert (np.abs(centres[:, 0] - centres[:, 1]) > 0.15).all()
    corners = [(-0.9, 0.9), (0.9, -0.9)]
    assert all((np.abs(centres - corner).max(axis=1) < 0.2).any() for corner in corners)


def test_colours_are_those_of_cells_with_rows(diagonal, monkeypatch):
    monkeypatch.setattr(diagonal.decomposition_.dictionary, "support", None)  # extrapolated, as in faithful mode
    (axes,) = ComponentDisplay.from_estimator(diagonal, [(0, 1)]).axes_
    mesh, _, cover = axes.collections
    corners = mesh.get_coordinates()
    middles = (corners[1:, 1:] + corners[:-1, :-1]) / 2
    boxes = [path.get_extents() for path in cover.get_paths()]
    covered = np.array([[any(box.contains(*point) for box in boxes) for point in row] for row in middles])
    sizes = np.abs(mesh.get_array())
    assert_close(mesh.norm.vmax, sizes[~covered].max())
    assert mesh.norm.vmax < sizes.max()


def test_a_law_of_single_variables_hatches_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    machine = SVR(kernel="poly", degree=2, coef0=1).fit(X, X[:, 0] * X[:, 1])
    hdmr = KernelHDMR(machine, measure=(np.zeros(2), np.eye(2))).fit(X)
    (axes,) = ComponentDisplay.from_estimator(hdmr, [(0, 1)]).axes_
    assert len(axes.collections) == 1


def test_surface_is_grey_where_there_are_no_rows(diagonal):
    (axes,) = ComponentDisplay.from_estimator(diagonal, [(0, 1)], kind="surface").axes_
    axes.figure.canvas.draw()
    (surface,) = [c for c in axes.collections if isinstance(c, Poly3DCollection)]
    is_grey = np.isclose(surface.get_facecolor(), 0.8)[:, :3].all(axis=1)
    assert 0.3 < is_grey.mean() < 0.9
    assert axes.name == "3d"


def test_surface_beside_a_curve(diagonal):
    display = ComponentDisplay.from_estimator(diagonal, [0, (0, 1)], kind="surface")
    assert [axes.name for axes in display.axes_] == ["rectilinear", "3d"]


def test_surface_needs_three_dimensions(diagonal):
    _, ax = pyplot.subplots()
    with pytest.raises(ValueError, match="projection='3d'"):
        ComponentDisplay.from_estimator(diagonal, [(0, 1)], kind="surface", ax=ax)
    with pytest.raises(ValueError, match=r"among {'map', 'surface'}\. Got 'bar' instead"):
        ComponentDisplay.from_estimator(diagonal, [(0, 1)], kind="bar")


def test_names_are_not_parsed_as_formulas():
    X = pd.DataFrame(rows(missing=0)[0], columns=["$x_$", r"$\frac{", "<b>&" + 40 * "long"])
    hdmr = HDMR(lambda X: X.iloc[:, 0] * X.iloc[:, 1] + X.iloc[:, 2]).fit(X)
    displays = [
        ComponentDisplay.from_estimator(hdmr, [0, 1, 2, (0, 1)]),
        ComponentDisplay.from_estimator(hdmr, [(0, 1)], kind="surface"),
        SensitivityDisplay.from_estimator(hdmr),
        SensitivityDisplay.from_estimator(hdmr, kind="matrix"),
        WaterfallDisplay.from_estimator(hdmr, X.iloc[0]),
    ]
    for display in displays:
        display.figure_.canvas.draw()  # a formula that cannot be parsed is an error
    assert displays[0].axes_[0].get_xlabel() == "$x_$"
    assert displays[2].axes_[0].get_yticklabels()[0].get_parse_math() is False


def test_the_style_is_not_changed(hdmr):
    before = dict(mpl.rcParams)
    ComponentDisplay.from_estimator(hdmr, [0, (0, 1)])
    SensitivityDisplay.from_estimator(hdmr)
    assert dict(mpl.rcParams) == before
