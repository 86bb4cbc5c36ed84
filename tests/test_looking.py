"""Results as people see them: `repr`, HTML in notebooks, and tables as sequences."""

import pickle
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tolerance import assert_close

import fasthdmr
from fasthdmr import chisquare
from fasthdmr._results.explanation import Explanation
from fasthdmr._results.fourier import FourierSeries
from fasthdmr._support.indices import INDICES
from fasthdmr._support.table import Table

EVIL = """<script>alert("1")</script>&'"""
NAMES = [EVIL, "</td><img src=x>", "plain"]


class Reader(HTMLParser):
    """Reads HTML: checks that tags nest, and keeps tags, attributes, and the texts of the cells of each row."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes, self.rows, self.texts = [], [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)
        if self.rows and {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def read_safely(html):
    """Return what was read, having checked that nothing runs, and that colours are those around."""
    read = Reader(html)
    assert not {"script", "img"} & set(read.tags)
    assert not [name for name, _ in read.attributes if name.startswith("on") or name in ("href", "src")]
    assert "currentColor" in html and not [word for word in ("white", "black", "#fff", "#000") if f": {word}" in html]
    return read


def indices(outputs=None, count=3):
    names = NAMES + [f"x{i}" for i in range(3, count)]
    S = np.linspace(0.5, -0.1, count)
    conf = {name: np.full(count, 0.01) for name in INDICES}
    if outputs is not None:
        S = np.column_stack([S] * len(outputs))
        conf = {name: np.column_stack([width] * len(outputs)) for name, width in conf.items()}
    one = () if outputs is None else (len(outputs),)
    subspaces, certain = [(i,) for i in range(count)], SimpleNamespace(half_widths=conf)
    return fasthdmr.Sensitivity(
        subspaces, S, S, np.full(one, 0.1), np.full(one, 1.0), names, outputs, uncertainty=certain
    )


@pytest.fixture(scope="module")
def hdmr():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=NAMES)
    X[NAMES[1]] = rng.choice([EVIL, "b", "c"], 300)
    return fasthdmr.HDMR(lambda X: X[EVIL] + (X[NAMES[1]] == "b") * X["plain"]).fit(X)


def explanation(count=3, **rest):
    terms = np.linspace(2, 1, count) * (-1) ** np.arange(count)
    values = {"intercept": 1.0, "residual": 0.5, "output": 1.5 + terms.sum()} | rest
    subspaces = [(i,) for i in range(count)]
    return Explanation(subspaces, [(f"<b>{i}",) for i in range(count)], [(EVIL,)] * count, terms, **values)


def test_repr_is_a_short_table(hdmr):
    shown = [indices(), indices().level_set("P"), explanation(), explanation(residual=None, output=None)]
    X = np.random.default_rng(0).normal(size=(50, 2))
    shown += [
        fasthdmr.inspection.dgsm(lambda X: X[:, 0], X),
        fasthdmr.inspection.pd_sensitivity(lambda X: X[:, 0], X),
        chisquare.test([10, 20, 30], np.full(3, 1 / 3)),
        chisquare.simulate(np.full(3, 1 / 3), 100, 10, random_state=0),
        hdmr.component(0).fourier(2),
    ]
    for result in shown:
        text = repr(result)
        assert text == str(result) and "array(" not in text and "object at" not in text
        assert 3 <= len(text.splitlines()) < 50
        read_safely(result._repr_html_())


def test_html_of_indices_has_the_numbers_of_the_table():
    read = read_safely(indices()._repr_html_())
    assert read.rows[0] == ["Subspace", "Variables", "Sa", "Sb", "S", "", "ST", "R"]
    assert [row[1] for row in read.rows[1:4]] == NAMES
    assert read.rows[1][4] == "0.5000 ±\xa00.0100" and read.rows[3][4] == "−0.1000 ±\xa00.0100"
    assert read.rows[-2][1] == "Sum" and read.rows[-1][1] == "Residual"
    assert read.tags.count("svg") == 3


def test_bars_of_an_explanation_are_those_of_its_terms():
    html = explanation(intercept=1e6)._repr_html_()
    widths = [float(width) for width in re.findall(r'<rect [^>]* width="([0-9.]+)"', html)]
    assert len(widths) == 4  # three components and the residual, not the constant
    assert_close(np.array(widths) / widths[0], [1.0, 0.75, 0.5, 0.25], 0.01, reason="rounded to a tenth of a pixel")


def test_html_of_several_outputs_has_a_table_each():
    read = read_safely(indices(["<i>", "b"])._repr_html_())
    assert read.tags.count("table") == 2 and "i" not in read.tags and "Output <i>" in read.texts


def test_html_is_limited():
    read = read_safely(indices(count=50)._repr_html_())
    assert len(read.rows) == 1 + 20 + 2
    assert "(30 weaker subspaces not shown, included in the sums)" in read.texts
    read = read_safely(indices(count=50).level_set("P")._repr_html_())
    assert len(read.rows) == 21 and "(21 weaker not shown)" in read.texts
    assert repr(indices(count=50).level_set("P")).endswith("\n(21 weaker not shown)")
    read = read_safely(explanation(30)._repr_html_())
    assert [row[1] for row in read.rows[-3:]] == ["10 weaker", "Residual", "Output"]


@pytest.mark.parametrize("values", [[np.nan, 1.0], [np.inf, -np.inf], [0.0, 0.0], [1e308, -1e308]])
def test_odd_values_are_shown(values):
    result = fasthdmr.Sensitivity([(0,), (1,)], values, values, 0.0, 1.0, ["a", "b"])
    with np.errstate(all="ignore"):
        assert "a" in repr(result) and "nan" not in " ".join(v for _, v in read_safely(result._repr_html_()).attributes)


def test_nothing_is_shown():
    nothing = fasthdmr.Sensitivity([], [], [], 0.0, 1.0, ["a"])
    assert "Residual" in repr(nothing)
    for empty in (nothing, nothing.level_set("P"), Table(("a", "b"), ()), explanation(0)):
        repr(empty)
        read_safely(empty._repr_html_())


def test_components_show_values(hdmr):
    for variables in (0, 1, (0, 1), (2, 1)):
        component = hdmr.component(variables)
        read = read_safely(component._repr_html_())
        assert read.rows[0][:-2] == list(component.arguments) and read.rows[0][-2] == "Value"
        assert repr(component) == str(component) and repr(component).startswith("Component of ")
    levels = [row[0] for row in read_safely(hdmr.component(1)._repr_html_()).rows[1:]]
    assert sorted(levels) == sorted([EVIL, "b", "c"])
    printed = [line.split()[-1] for line in str(hdmr.component(1)).splitlines()[3:-1]]
    assert printed == [f"{value:.4f}" for value in hdmr.component(1)(levels)]


def test_components_that_cannot_be_shown_by_values():
    columns = np.random.default_rng(0).normal(size=(50, 3))
    result = fasthdmr.decompose(columns, [0, 1, (0, 1)], coef=[1, 1, 1])
    assert str(result.component((0, 1))).startswith("Component of x0 & x1\n(variance: ")
    three = fasthdmr.analytic.Product(3, 1.0, 1.0).component((0, 1, 2))
    assert str(three) == "Component of x0 & x1 & x2\n(variance: 1)"


def test_series_of_several_outputs():
    series = FourierSeries(0.0, 1.0, np.arange(10.0).reshape(5, 2))
    assert str(series).splitlines()[-1].split() == ["2", "4.0000", "8.0000", "5.0000", "9.0000"]


# --- tables as sequences, and indices by name


TABLE = Table(("name", "S", "subspace", "order"), (("a", 0.5, (0,), 1), ("b", 0.25, (1,), 1), ("c", 0.0, (0, 1), 2)))


def test_tables_are_sequences():
    assert len(TABLE) == 3 and TABLE[0] == TABLE[-3] == TABLE[np.int64(0)] == ("a", 0.5, (0,), 1)
    assert list(reversed(TABLE)) == list(TABLE)[::-1]
    assert TABLE[1] in TABLE and ("d", 1) not in TABLE and TABLE.index(TABLE[2]) == 2
    assert isinstance(TABLE[1:], Table) and TABLE[1:].rows == TABLE.rows[1:] and TABLE[::-1].columns == TABLE.columns
    assert len(TABLE[5:]) == 0
    assert pickle.loads(pickle.dumps(TABLE)) == TABLE


def test_columns_of_tables_by_name():
    assert_close(TABLE["S"], [0.5, 0.25, 0.0])
    assert TABLE["order"].dtype.kind == "i" and TABLE["name"].tolist() == ["a", "b", "c"]
    assert TABLE["subspace"].shape == (3,) and TABLE["subspace"][2] == (0, 1)
    assert TABLE[:2]["subspace"].tolist() == [(0,), (1,)]


def test_wrong_keys_of_tables():
    with pytest.raises(KeyError, match=r"no column 's'\. Columns are \['name', 'S', 'subspace', 'order'\]"):
        TABLE["s"]
    with pytest.raises(IndexError, match="no row 3: the table has 3 rows"):
        TABLE[3]
    with pytest.raises(TypeError, match=r"number of a row, a slice, or the name of a column, got 1\.0"):
        TABLE[1.0]


def test_slices_of_level_sets_keep_their_intervals():
    table = indices().level_set("P", 0.0)
    (first, second) = (line.split() for line in str(table).splitlines()[2:4])
    assert str(table[1:]).splitlines()[2].split() == second and "±0.0100" in second
    assert [line.split() for line in str(table[::-1]).splitlines()[2:4]] == [second, first]


@pytest.mark.parametrize("outputs", [None, ["a", "b"]])
def test_indices_by_name(outputs):
    result = indices(outputs)
    assert list(result) == [*INDICES, *(f"{name}_conf" for name in INDICES)] and "S" in result and "T" not in result
    for name in result:
        np.testing.assert_array_equal(result[name], getattr(result, name))
    with pytest.raises(KeyError, match=r"no index 'T'\. Indices are \['Sa', 'Sb', 'S', 'ST', 'R', 'Sa_conf'"):
        result["T"]
    assert fasthdmr.analytic.Ishigami().sensitivity()["S_conf"] is None
