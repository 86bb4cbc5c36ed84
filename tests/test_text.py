"""Names with line breaks, wide letters and any length, in tables, pictures and files."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot
from sklearn.linear_model import LinearRegression

from fasthdmr import HDMR, Sensitivity, TreeHDMR, decompose
from fasthdmr._support.tables import format_rows
from fasthdmr._support.text import escaped, shorten, width
from fasthdmr.plotting import SensitivityDisplay, WaterfallDisplay

pd = pytest.importorskip("pandas")

NAMES = [
    "price [€]",
    "first\nsecond",
    "tab\tand\rreturn",
    "都市 " * 30,
    "a long name " * 20,
    'say "x"',
    "right\u202eto left",
]
X = np.random.default_rng(0).uniform(-1, 1, size=(200, len(NAMES)))
ROW = pd.DataFrame(X[:1], columns=NAMES)


def function(X):
    x = np.asarray(X).T
    return x[0] * x[1] + x[2] + x[3] + x[4] + x[5] * x[6]


F = function(X)


@pytest.fixture(scope="module")
def hdmr():
    frame = pd.DataFrame(X, columns=NAMES)
    return HDMR(function, interactions=[(0, 1), (3, 4), (5, 6)]).fit(frame)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture
def terminal(monkeypatch):
    """Return a function that makes standard output a terminal of a given width."""

    def terminal(columns):
        stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        stream.isatty = lambda: True
        monkeypatch.setattr("sys.stdout", stream)
        monkeypatch.setenv("COLUMNS", str(columns))

    return terminal


@given(st.text(), st.integers(1, 30))
def test_shortened_text_has_its_width(text, longest):
    found = shorten(escaped(text), longest)
    assert width(found) <= longest
    assert found == escaped(text) or "…" in found
    assert "\n" not in found and "\t" not in found


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_columns_are_aligned(names):
    lines = format_rows(("name", "value"), [[name, 0.5] for name in names]).split("\n")
    assert len(lines) == 2 + len(names)
    assert {width(line) for line in lines} == {width(lines[0])}
    assert width(lines[0]) <= 60 + 2 + 6


def test_tables_of_any_names_are_aligned(hdmr):
    for printed in (hdmr.sensitivity_, hdmr.sensitivity_.level_set("T"), hdmr.explain(ROW)):
        head, rule, *rows = str(printed).split("\n")
        table = [row for row in rows if not row.startswith(("(±", "Fidelity"))]
        assert all(width(line) <= len(rule) for line in [head, *table])
        assert "first\\nsecond" in str(printed) and "\r" not in str(printed)


@pytest.mark.parametrize(("columns", "n_intervals"), [(120, {3, 4}), (80, {1})])
def test_tables_fit_the_terminal(hdmr, terminal, columns, n_intervals):
    terminal(columns)
    for printed in (hdmr.sensitivity_, hdmr.sensitivity_.level_set("P")):
        lines = str(printed).split("\n")
        assert all(width(line) <= columns for line in lines if not line.startswith(("(", "Fidelity")) or "  " in line)
        assert lines[2].count("±") in n_intervals
        assert any("too narrow for all 95 % intervals" in line for line in lines) == (columns == 80)
    assert all(width(line) <= columns for line in str(hdmr.explain(ROW)).split("\n"))


def test_a_terminal_is_not_too_narrow_for_a_table_that_fits(terminal):
    indices = Sensitivity([(0,)], [1.0], [1.0], 0.0, 1.0, ["age"])
    printed = str(indices)
    for columns in (200, max(map(len, printed.split("\n")))):
        terminal(columns)
        assert str(indices) == printed
    terminal(10)
    assert "Variables" in str(indices) and "Subspace" not in str(indices)  # there is nothing else to leave out


def test_labels_of_pictures_have_one_line(hdmr):
    for display in (SensitivityDisplay.from_estimator(hdmr), WaterfallDisplay.from_estimator(hdmr, ROW)):
        labels = [label.get_text() for label in display.axes_[0].get_yticklabels()]
        assert len(set(labels)) == len(labels)
        assert not any("\n" in label or "\u202e" in label for label in labels)
        assert max(map(width, labels)) <= 80


def test_long_names_stay_distinct_in_pictures():
    names = [f"rooms on the {where} side of the house, in square metres" for where in ("northern", "southern")]
    indices = Sensitivity([(0,), (1,), (0, 1)], [0.5, 0.3, 0.2], [0.5, 0.3, 0.2], 0.0, 1.0, names)
    for kind in ("bars", "matrix"):
        labels = [
            label.get_text() for label in SensitivityDisplay(indices, kind=kind).plot().axes_[0].get_yticklabels()
        ]
        assert "north" in labels[0] and "south" in labels[1]


def test_columns_of_the_same_name_are_refused_or_numbered():
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "a"])
    try:
        LinearRegression().fit(frame, F)
    except ValueError:  # scikit-learn since 1.9
        for hdmr in (HDMR(), TreeHDMR(random_state=0)):
            with pytest.raises(ValueError, match=r"(?s)unique column names.*'a' 2 times"):
                hdmr.fit(frame, F)
    else:
        assert HDMR(order=1).fit(frame, F).sensitivity_.names == ["a (0)", "b", "a (2)"]


def test_repeated_names_of_dictionaries_are_numbered():
    result = decompose(X[:, :3], [0, 1, (0, 2)], coef=[1, 1, 1], feature_names=["a", "b", "a"])
    assert {"a (0)", "b", "a (0) & a (2)"} <= set(result.sensitivity.names)
