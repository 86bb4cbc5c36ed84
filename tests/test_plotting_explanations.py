"""The heat map of many explanations."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from tolerance import assert_close

from fasthdmr.plotting import ExplanationsDisplay

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def explanations(n_rows=50, n_components=3, *, black_box=True):
    rng = np.random.default_rng(0)
    terms = rng.normal(size=(n_rows, n_components)) * np.arange(1, n_components + 1)
    residual = rng.normal(size=n_rows) if black_box else None
    output = 5.0 + terms.sum(axis=1) + residual if black_box else None
    return SimpleNamespace(
        names=[f"x{k}" for k in range(n_components)],
        contributions=terms,
        intercept=5.0,
        residual=residual,
        output=output,
        unit="log-odds",
        target='"sick"',
    )


@pytest.mark.parametrize("black_box", [True, False])
def test_rows_are_sorted_by_output_and_components_by_strength(black_box):
    e = explanations(black_box=black_box)
    above, below = ExplanationsDisplay(e).plot().axes_
    total = e.output if black_box else 5.0 + e.contributions.sum(axis=1)
    order = np.argsort(total)
    assert_close(above.lines[0].get_ydata(), total[order])
    assert [label.get_text() for label in below.get_yticklabels()] == ["x2", "x1", "x0"]
    (mesh,) = below.collections
    assert_close(mesh.get_array(), e.contributions[order][:, ::-1].T)
    assert below.get_ylim() == (2.5, -0.5) and mesh.norm.vmin == -mesh.norm.vmax
    assert above.get_title() == 'log-odds of "sick": f₀ = 5'
    assert above.figure.axes[-1].get_ylabel() == 'contribution, log-odds of "sick"'


def test_weak_components_are_one_row():
    e = explanations(n_components=30)
    _, below = ExplanationsDisplay(e).plot().axes_
    labels = [label.get_text() for label in below.get_yticklabels()]
    assert len(labels) == 21 and labels[-1] == "10 others"
    strength = np.argsort(-np.abs(e.contributions).mean(axis=0))
    rest = e.contributions[np.argsort(e.output)][:, strength[20:]].sum(axis=1)
    assert_close(below.collections[0].get_array()[-1], rest, 1e-9)


def test_many_rows_are_averaged():
    e = explanations(n_rows=1001)
    above, below = ExplanationsDisplay(e).plot().axes_
    drawn = below.collections[0].get_array()
    assert drawn.shape == (3, 400) and below.get_xlim() == (0, 1001)
    order = np.argsort(e.output)
    assert_close(drawn[0, 0], e.contributions[order[:2], 2].mean())
    assert_close(above.lines[0].get_ydata()[-1], e.output[order[-3:]].mean())


def test_one_row_and_given_axes():
    _, ax = pyplot.subplots()
    display = ExplanationsDisplay(explanations(n_rows=1)).plot(ax=ax)
    assert display.figure_ is ax.figure and not ax.axison
    display.figure_.canvas.draw()


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match=r"got contributions of shape \(0, 3\)"):
        ExplanationsDisplay(explanations(n_rows=0))
    one = explanations(n_rows=1)
    one.contributions = one.contributions[0]
    with pytest.raises(ValueError, match=r"shape \(3,\)\. WaterfallDisplay draws a single row"):
        ExplanationsDisplay(one)
