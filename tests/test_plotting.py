import subprocess
import sys
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from tolerance import assert_close

from fasthdmr import TreeHDMR
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._support.subspaces import as_subspace
from fasthdmr.datasets import make_ishigami
from fasthdmr.plotting import ComponentDisplay, SensitivityDisplay

# Trees have steps, and more variables than components, so residuals are large.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

mpl.use("Agg")

NAMES = ("MedInc", "House age", "AveOccup")
FUNCTIONS = {
    (0,): lambda x: np.tanh(x[:, 0]),
    (1,): lambda x: 3 * x[:, 0],
    (0, 2): lambda x: x[:, 0] * x[:, 1] - 1,
    (0, 1, 2): lambda x: x.prod(axis=1),
}


class Component:
    def __init__(self, subspace, n_outputs):
        self.subspace, self.n_outputs = subspace, n_outputs
        self.names = tuple(NAMES[i] for i in subspace)
        self.bounds = np.array([[-2.0 - i, 3.0 + i] for i in subspace])

    def __call__(self, X):
        values = FUNCTIONS[self.subspace](X)
        return values if self.n_outputs == 1 else np.column_stack([values, -2 * values])

    def standard_error(self, X):
        raise ValueError("There is none.")


def fitted(n_outputs=1):
    Sa, S = np.array([0.7, 0.1, 0.3, 0.01]), np.array([0.2, 0.25, 0.3, -0.05])
    if n_outputs == 2:
        Sa, S = np.column_stack([Sa, Sa[::-1]]), np.column_stack([S, S[::-1]])
    scalar = 1.0 if n_outputs == 1 else np.ones(2)
    indices = Sensitivity(list(FUNCTIONS), Sa, S, scalar, scalar, NAMES, None if n_outputs == 1 else ["low", "high"])

    def component(subspace):
        return Component(as_subspace(subspace, NAMES), n_outputs)

    return SimpleNamespace(sensitivity_=indices, component=component)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def test_curve_is_the_component_over_its_bounds():
    display = ComponentDisplay.from_estimator(fitted(), [(0,)])
    (axes,) = display.axes_
    x, y = axes.lines[-1].get_data()
    assert_close(x, np.linspace(-2, 3, 200))
    assert_close(y, np.tanh(x))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("MedInc", "f(MedInc)")
    assert display.figure_ is axes.figure


def test_fitted_estimator_is_drawn():
    X, y = make_ishigami(200, random_state=0)
    hdmr = TreeHDMR(random_state=0).fit(X, y)
    (axes,) = ComponentDisplay.from_estimator(hdmr, ["x0"]).axes_
    x, values = axes.lines[-1].get_data()
    assert_close([x[0], x[-1]], np.percentile(X[:, 0], [1, 99]))
    assert_close(values, hdmr.component((0,))(x))
    (axes,) = SensitivityDisplay.from_estimator(hdmr).axes_
    assert len(axes.get_yticklabels()) == min(20, len(hdmr.subspaces_))


def test_curves_share_their_scale():
    display = ComponentDisplay.from_estimator(fitted(), [(0,), (1,), (0, 2)])
    assert display.axes_.shape == (3,)
    assert display.axes_[0].get_ylim() == display.axes_[1].get_ylim() != display.axes_[2].get_ylim()
    assert display.axes_[0].get_ylim()[1] > 9


def test_map_is_centred_at_zero():
    display = ComponentDisplay.from_estimator(fitted(), [(0, 2)])
    (mesh,) = display.axes_[0].collections
    values = mesh.get_array()
    x, y = np.linspace(-1.975, 2.975, 100), np.linspace(-3.955, 4.955, 100)
    assert_close(values, x[None, :] * y[:, None] - 1)
    assert mesh.norm.vmin == -mesh.norm.vmax
    assert_close(mesh.norm.vmax, 2.975 * 4.955 - 1)
    assert (display.axes_[0].get_xlabel(), display.axes_[0].get_ylabel()) == ("MedInc", "AveOccup")
    assert display.figure_.axes[-1].get_ylabel() == "f(MedInc, AveOccup)"


def test_subspaces_by_name_are_those_by_index():
    by_name = ComponentDisplay.from_estimator(fitted(), ["House age", ("MedInc", "AveOccup"), 0, np.int64(1)])
    assert [c.subspace for c in by_name.components] == [(1,), (0, 2), (0,), (1,)]


def test_constant_variable_is_drawn_around_its_value():
    component = Component((0, 2), 1)
    component.bounds = np.array([[1.0, 1.0], [0.0, 1.0]])
    display = ComponentDisplay([component]).plot()
    display.figure_.canvas.draw()
    assert_close(display.axes_[0].get_xlim(), [0.5, 1.5])


def test_component_of_zeros_is_drawn(monkeypatch):
    monkeypatch.setitem(FUNCTIONS, (0, 2), lambda x: np.zeros(len(x)))
    display = ComponentDisplay.from_estimator(fitted(), [(0, 2)])
    display.figure_.canvas.draw()
    assert display.axes_[0].collections[0].norm.vmax == 1


def test_order_three_is_refused():
    with pytest.raises(ValueError, match="MedInc & House age & AveOccup cannot be drawn, only those of one or two"):
        ComponentDisplay.from_estimator(fitted(), [(0,), (0, 1, 2)])


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="at least one subspace"):
        ComponentDisplay.from_estimator(fitted(), [])


def test_components_without_variables_are_refused():
    component = Component((0,), 1)
    component.bounds = None
    with pytest.raises(ValueError, match="has no variables for the axes"):
        ComponentDisplay([component])


def test_given_axes_are_used():
    figure, ax = pyplot.subplots(1, 2)
    display = ComponentDisplay.from_estimator(fitted(), [(0,), (1,)], ax=ax)
    assert list(display.axes_) == list(ax) and display.figure_ is figure
    assert ComponentDisplay.from_estimator(fitted(), [(0,)], ax=ax[1]).axes_[0] is ax[1]
    with pytest.raises(ValueError, match="Expected ax to have 3 axes, got 2"):
        ComponentDisplay.from_estimator(fitted(), [0, 1, (0, 2)], ax=ax)


def test_one_axes_is_divided_among_several():
    figure, ax = pyplot.subplots()
    display = ComponentDisplay.from_estimator(fitted(), [0, 1, (0, 2), 0], ax=ax)
    assert display.figure_ is figure and display.axes_.shape == (4,)
    assert not ax.axison
    frame = ax.get_position()
    assert all(frame.x0 - 1e-9 <= axes.get_position().x0 <= frame.x1 for axes in display.axes_)


@pytest.mark.parametrize(("output", "factor"), [("low", 1), (1, -2)])
def test_one_of_several_outputs(output, factor):
    display = ComponentDisplay.from_estimator(fitted(2), [(0,)], output=output)
    x, y = display.axes_[0].lines[-1].get_data()
    assert_close(y, factor * np.tanh(x))


def test_several_outputs_need_a_choice():
    with pytest.raises(ValueError, match="output must be one of"):
        ComponentDisplay.from_estimator(fitted(2), [(0,)])
    with pytest.raises(ValueError, match="output must be one of"):
        SensitivityDisplay.from_estimator(fitted(2))


def bars(axes, container):
    return [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.containers[container]]


def test_bars_are_stacked_and_negative_ones_go_to_the_left():
    display = SensitivityDisplay.from_estimator(fitted())
    (axes,) = display.axes_
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["MedInc & AveOccup", "House age", "MedInc", "MedInc & House age & AveOccup"]
    assert_close(bars(axes, 0), [(0, 0.3), (0, 0.1), (0, 0.7), (0, 0.01)])
    assert_close(bars(axes, 1), [(0, 0), (0.1, 0.25), (0, -0.5), (0, -0.06)])
    assert axes.yaxis_inverted()
    marks = next(line for line in axes.lines if line.get_marker() == "D")
    assert_close(marks.get_xdata(), [0.3, 0.25, 0.2, -0.05])


def test_bars_of_one_of_several_outputs():
    (axes,) = SensitivityDisplay.from_estimator(fitted(2), output="high").axes_
    assert axes.get_yticklabels()[0].get_text() == "House age"
    assert_close(bars(axes, 0), [(0, 0.3), (0, 0.1), (0, 0.7), (0, 0.01)])


def test_only_the_strongest_bars_are_drawn():
    values = np.linspace(1, 2, 30) / 50
    indices = Sensitivity([(i,) for i in range(30)], values, values, 0.0, 1.0, [f"x{i}" for i in range(30)])
    display = SensitivityDisplay(indices).plot()
    assert [label.get_text() for label in display.axes_[0].get_yticklabels()] == [f"x{i}" for i in range(29, 9, -1)]
    assert "10 weaker subspaces not shown" in display.axes_[0].get_xlabel()


def test_strength_is_what_does_not_cancel():
    """A large structural index is drawn even if the correlative index cancels it."""
    Sa, S = np.full(30, 0.01), np.full(30, 0.01)
    Sa[29], S[29] = 0.5, 0.0
    indices = Sensitivity([(i,) for i in range(30)], Sa, S, 0.0, 1.0, [f"x{i}" for i in range(30)])
    (axes,) = SensitivityDisplay(indices).plot().axes_
    assert axes.get_yticklabels()[-1].get_text() == "x29"


def test_total_indices_are_drawn_below_single_variables():
    (axes,) = SensitivityDisplay.from_estimator(fitted()).axes_
    totals = axes.containers[2]
    assert_close([bar.get_width() for bar in totals], [0.2, 0.45])  # the total indices of House age and MedInc
    assert_close([bar.get_y() + bar.get_height() / 2 for bar in totals], [1.36, 2.36])


def test_intervals_are_error_bars():
    X, y = make_ishigami(500, random_state=0)
    hdmr = TreeHDMR(random_state=0).fit(X, y)
    (axes,) = SensitivityDisplay.from_estimator(hdmr).axes_
    (bars,) = axes.containers[3].lines[2]
    widths = [np.ptp(segment[:, 0]) / 2 for segment in bars.get_segments()]
    strongest = np.argsort(-hdmr.sensitivity_.S, kind="stable")
    assert_close(widths, hdmr.sensitivity_.S_conf[strongest], 1e-9)
    assert "95 % interval" in axes.get_legend().get_texts()[3].get_text()


def test_matrix_of_interactions():
    (axes,) = SensitivityDisplay.from_estimator(fitted(), kind="matrix").axes_
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["MedInc", "AveOccup", "House age"]  # by total index
    texts = {(text.get_position()[1], text.get_position()[0]): text.get_text() for text in axes.texts}
    assert texts == {(0, 0): "+.20", (0, 1): "+.30", (1, 0): "+.30", (2, 2): "+.25"}
    drawn = axes.images[0].get_array()
    assert_close(drawn[0, :2], [np.sqrt(0.2 / 0.3), 1])
    assert drawn.mask.sum() == 5
    assert axes.get_xlabel() == "not shown: components of order 3 and more (1)"


def test_matrix_of_the_strongest_variables():
    values = np.append(np.arange(20.0), -30.0) / 300
    subspaces = [*((i,) for i in range(20)), (0, 19)]
    indices = Sensitivity(subspaces, np.abs(values), values, 0.0, 1.0, [f"x{i}" for i in range(20)])
    (axes,) = SensitivityDisplay(indices, kind="matrix").plot().axes_
    assert [label.get_text() for label in axes.get_xticklabels()][:2] == ["x0", "x18"]
    assert axes.get_xlabel() == "not shown: weaker variables (5)"
    assert "−.10" in [text.get_text() for text in axes.texts]


def test_unknown_kind_of_sensitivity():
    with pytest.raises(ValueError, match=r"among {'bars', 'matrix'}\. Got 'network' instead"):
        SensitivityDisplay.from_estimator(fitted(), kind="network")


def test_bars_in_given_axes():
    _, ax = pyplot.subplots()
    display = SensitivityDisplay.from_estimator(fitted(), ax=ax)
    assert display.axes_[0] is ax and display.figure_ is ax.figure


def test_matplotlib_is_imported_only_when_drawing():
    code = "import sys, fasthdmr.plotting; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"matplotlib is needed here: pip install 'fasthdmr\[plot\]'"):
        ComponentDisplay.from_estimator(fitted(), [(0,)])
