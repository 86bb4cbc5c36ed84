import base64
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import skops.io
from browser import CHROMIUM, chromium
from sklearn import __version__ as sklearn_version
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from tolerance import assert_close

import fasthdmr
from fasthdmr._cli.main import main
from fasthdmr._cli.report import render

# Trees have steps, and more variables than components, so residuals are large.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

mpl.use("Agg")

EVIL = """<script>alert(1)</script>&"'"""
NAMES = [EVIL, "</style><img src=x onerror=alert(2)>", "$\\frac{$ ${title}", "plain"]


def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=NAMES)
    X[NAMES[1]] -= 0.7 * X[EVIL]
    return X, X[EVIL] + X[NAMES[1]] + X[EVIL] * X[NAMES[2]] + 0.3 * X["plain"]


@pytest.fixture(scope="module")
def model():
    X, y = data()
    return GradientBoostingRegressor(n_estimators=30, max_depth=2, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def report(model, tmp_path_factory):
    """A report on variables whose names are meant to break it, and on a target with such a name."""
    folder = tmp_path_factory.mktemp("report")
    X, y = data()
    pd.concat([X, y.rename("<i>price</i>")], axis=1).to_csv(folder / "d&ta.csv", index=False)
    skops.io.dump(model, folder / "model.skops")
    argv = ["decompose", folder / "model.skops", folder / "d&ta.csv", "--target", "<i>price</i>"]
    assert main([*map(str, argv), "--report", str(folder / "new" / "out.html")]) == 0
    return folder / "new" / "out.html"


class Reader(HTMLParser):
    """Reads a page: checks that its tags nest, and keeps texts by tag, attributes and scripts."""

    VOID = ("meta", "img")

    def __init__(self, page):
        super().__init__()
        self.open, self.texts, self.attributes, self.ids = [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()} closes another element"

    def handle_data(self, data):
        if self.open:
            self.texts.append((self.open[-1], data))

    def of(self, tag):
        return [text for at, text in self.texts if at == tag]

    def values(self, name):
        return [value for _, at, value in self.attributes if at == name]


@pytest.fixture(scope="module")
def read(report):
    return Reader(report.read_text(encoding="utf-8"))


def test_names_are_text(read, report):
    cells = read.of("td")
    assert all(name in cells for name in NAMES)
    assert f"{EVIL} & {NAMES[2]}" in cells
    page = report.read_text(encoding="utf-8")
    assert "<script>alert" not in page and "<img src=x" not in page
    assert page.count("<script>") == page.count("<style>") == 1
    assert any("<i>price</i>" in text for text in read.of("dt"))
    assert read.of("h1") == ["HDMR of model.skops"]


def test_nothing_is_loaded(read):
    addresses = [value for name in ("src", "action", "data", "poster", "srcset") for value in read.values(name)]
    assert addresses and all(value.startswith("data:image/svg+xml;base64,") for value in addresses)
    assert all(value.startswith("data:text/csv;charset=utf-8;base64,") for value in read.values("href"))
    assert "default-src 'none'" in read.values("content")[0]
    assert not re.search(r"url\(|@import|https?:", "".join(read.of("style") + read.of("script")))
    assert len(read.values("alt")) == len(addresses)
    assert not [name for _, name, _ in read.attributes if name.startswith("on")]


def test_pictures_are_pictures(read):
    for source in read.values("src"):
        picture = ElementTree.fromstring(base64.b64decode(source.partition("base64,")[2]))
        assert picture.tag.endswith("svg")


def by_table(Sa, S, level=0.01):
    """Return the order of subspaces on the page: by S, the weak ones after all others."""
    is_weak = np.maximum(Sa, np.abs(S)) < level
    return np.lexsort((-S, is_weak))


def test_table_holds_the_indices(read, model):
    X, _ = data()
    indices = fasthdmr.TreeHDMR(fasthdmr.load_forest(model)).fit(X).sensitivity_
    order = by_table(indices.Sa, indices.S)
    values = read.values("data-value")
    # Numbers of the file are not always read to the last bit by pandas before 3.1.
    assert_close(np.array(values[4::7], dtype=float), indices.S[order])
    assert values[0::7] == [indices.names[k] for k in order]
    assert values[5 + 7 * [len(indices.subspaces[k]) for k in order].index(2)] == ""
    assert f"± {indices.S_conf[order[0]]:.4f}" in read.of("small")
    marks = [text for text in read.of("small") if text.endswith("?")]
    assert len(marks) == np.sum(np.abs(indices.S) <= indices.S_conf) > 0
    remarks = (
        "±: 95 % interval, given the model. ?: the interval of S contains 0. Indices below 0.02 are biased upwards"
    )
    assert any(text.startswith(remarks) for text in read.of("p"))
    assert [v for t, n, v in read.attributes if (t, n) == ("th", "aria-sort")] == ["descending"] * 2


def test_facts_options_and_versions(read):
    names, values = read.of("dt"), read.of("dd")
    text = "\n".join(values)
    for fact in ("model.skops", "d&ta.csv", "GradientBoostingRegressor", "300", f"4: {', '.join(NAMES)}"):
        assert fact in values
    for name in ("--target", "order", "smooth", "measure", "numpy", "scikit-learn", "Python"):
        assert name in names
    assert fasthdmr.__version__ in text and sklearn_version in text and sys.version.split()[0] in text
    assert [line[:18] for line in read.of("li")] == ["The residual has 0"]


def test_warnings_are_listed(model):
    X, _ = data()
    hdmr = fasthdmr.TreeHDMR(model).fit(X)
    page = render(hdmr, "t", fidelity=[1.0], facts={}, options={}, warnings=lambda: ["<b>first</b>", "second"])
    assert Reader(page).of("li") == ["<b>first</b>", "second"]


def test_warnings_of_a_run_are_in_the_page(tmp_path, monkeypatch, capsys):
    """Of a model without any component, which leaves a page without pictures of some."""
    X, _ = data()
    skops.io.dump(GradientBoostingRegressor(n_estimators=2).fit(X, np.ones(len(X))), tmp_path / "model.skops")
    X.to_csv(tmp_path / "data.csv", index=False)
    monkeypatch.chdir(tmp_path)
    assert main(["decompose", "model.skops", "data.csv", "--report", "out.html"]) == 0
    read = Reader(Path("out.html").read_text(encoding="utf-8"))
    lines = [line.removeprefix("fasthdmr: warning: ") for line in capsys.readouterr().err.splitlines()]
    assert read.of("li") == lines != []


def test_drawing_may_warn(model, monkeypatch):
    """Warnings are collected after drawing."""
    X, _ = data()
    hdmr = fasthdmr.TreeHDMR(model).fit(X)
    lines = []
    monkeypatch.setattr("fasthdmr._cli.report.figures", lambda *_: lines.append("drawn") or [])
    assert Reader(render(hdmr, "t", fidelity=[1.0], facts={}, options={}, warnings=lambda: lines)).of("li") == ["drawn"]


def test_same_input_gives_the_same_page(report, model):
    folder = report.parent
    argv = ["decompose", folder.parent / "model.skops", folder.parent / "d&ta.csv", "--target", "<i>price</i>"]
    assert main([*map(str, argv), "--report", str(folder / "again.html")]) == 0
    assert (folder / "again.html").read_bytes() == report.read_bytes()


def test_several_outputs():
    X, y = data()
    forest = RandomForestRegressor(5, max_depth=2, random_state=0).fit(X, np.column_stack([y, -y]))
    hdmr = fasthdmr.TreeHDMR(forest).fit(X)
    read = Reader(render(hdmr, "two", fidelity=[1.0, 1.0], facts={}, options={}, warnings=list))
    heads = [head for head in read.of("h2") if "of" in head]
    assert heads[:4] == ["Indices of y0", "Pictures of y0", "Indices of y1", "Pictures of y1"]
    assert len(read.values("src")) >= 4
    S = [float(value) for value in read.values("data-value")[4::7]]
    Sa = hdmr.sensitivity_.Sa
    assert [hdmr.sensitivity_.S[c, k] for k in (0, 1) for c in by_table(Sa[:, k], hdmr.sensitivity_.S[:, k])] == S
    assert read.of("h3") == ["y0", "y1"]


def test_names_of_classes_and_levels_are_text(tmp_path):
    X, y = data()
    X["city"] = np.where(X["plain"] > 0, EVIL, "two\nlines")
    classes = np.array([EVIL, "</style>", "plain"])[np.digitize(y, [-1, 1])]
    encoder = make_column_transformer((OrdinalEncoder(), ["city"]), remainder="passthrough")
    model = make_pipeline(encoder, RandomForestClassifier(5, max_depth=3, random_state=0)).fit(X, classes)
    skops.io.dump(model, tmp_path / "model.skops")
    X.assign(label=classes).to_csv(tmp_path / "data.csv", index=False)
    argv = ["decompose", tmp_path / "model.skops", tmp_path / "data.csv", "--target", "label"]
    assert main([*map(str, argv), "--report", str(tmp_path / "out.html"), "--quiet"]) == 0
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    read = Reader(text)
    assert {EVIL, "</style>", "plain"} <= set(read.of("h3")) and f"Indices of {EVIL}" in read.of("h2")
    assert EVIL in read.of("td") and "two\\nlines" in read.of("td")
    assert "<script>alert" not in text and text.count("</style>") == 1


@pytest.fixture(scope="module")
def page(report, tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine (Debian: apt install chromium)")
    with chromium(tmp_path_factory.mktemp("profile")) as page:
        page.open(report.as_uri())
        yield page


def test_the_browser_reports_no_problem(page, report):
    page.evaluate("new Promise((done) => setTimeout(done, 200))")
    assert page.problems == []
    assert [address for address in page.requests if not address.startswith("data:")] == [report.as_uri()]


def test_browser_shows_the_pictures(page):
    sizes = page.evaluate("Array.from(document.images, (image) => image.complete && image.naturalWidth)")
    assert len(sizes) >= 2 and all(size > 100 for size in sizes)


def test_browser_shows_names_as_text(page):
    first = "Array.from(document.querySelectorAll('tbody td:first-child'), (cell) => cell.textContent)"
    assert set(NAMES) <= set(page.evaluate(first))
    assert page.evaluate("document.scripts.length") == 1
    assert page.evaluate("document.querySelectorAll('main i, td *:not(small)').length") == 0


def column(page, number):
    rows = "document.querySelector('table').tBodies[0].rows"
    cells = f"Array.from({rows}, (row) => row.cells[{number}].dataset.value)"
    return page.evaluate(cells)


def test_browser_sorts_by_a_click(page):
    head = "document.querySelectorAll('thead button')[{}].click()"
    for number in (2, 3, 4):  # Sa, Sb, S
        page.evaluate(head.format(number))
        values = [float(value) for value in column(page, number)]
        assert values == sorted(values, reverse=True)
        page.evaluate(head.format(number))
        assert column(page, number) == [str(value) for value in sorted(values)]
    sorts = "Array.from(document.querySelector('table').tHead.rows[0].cells, (head) => head.getAttribute('aria-sort'))"
    assert page.evaluate(sorts) == [None, None, None, None, "ascending", None, None]


def test_browser_sorts_missing_values_last(page):
    for expected in (True, False):
        page.evaluate("document.querySelectorAll('thead button')[5].click()")
        values = column(page, 5)
        present = [float(value) for value in values if value]
        assert values[len(present) :] == [""] * (len(values) - len(present)) != []
        assert present == sorted(present, reverse=expected)


def test_browser_sorts_by_the_keyboard(page):
    page.evaluate("document.querySelector('thead button').focus()")
    page.press("Enter", "\r")
    names = column(page, 0)
    assert page.evaluate("document.querySelector('thead th').getAttribute('aria-sort')") == "ascending"
    assert names.index(EVIL) < names.index("plain")
    page.press("Enter", "\r")
    assert column(page, 0) == names[::-1]


def test_the_unit_of_the_output_is_in_the_report(report, tmp_path):
    X, y = data()
    classifier = GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=0).fit(X, y > 0)
    skops.io.dump(classifier, tmp_path / "model.skops")
    X.to_csv(tmp_path / "data.csv", index=False)
    argv = ["decompose", tmp_path / "model.skops", tmp_path / "data.csv", "--report", tmp_path / "out.html"]
    assert main(list(map(str, argv))) == 0
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "<dt>Unit of the output</dt><dd>log-odds</dd>" in page
    assert "Unit of the output" not in report.read_text(encoding="utf-8")
