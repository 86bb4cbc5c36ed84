"""What a browser shows of the report: at three widths, under the pointer, dark, in print, and without scripts."""

import base64
import io
import json

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from browser import CHROMIUM, chromium
from tolerance import assert_close

import fasthdmr
from fasthdmr._cli.belief import belief
from fasthdmr._cli.level_effects import level_effects
from fasthdmr._cli.pictures import strongest_components
from fasthdmr._cli.readings import readings
from fasthdmr._cli.report import render
from fasthdmr.plotting import ComponentDisplay

pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning")

mpl.use("Agg")

WIDTHS = (420, 1280, 1920)
LONG = f"a name of a variable that is {'very ' * 30}long"
FOLD = "getComputedStyle(document.querySelector('details'), '::details-content').contentVisibility"
ROUNDED = "values are rounded to five digits for the page"


def rows(n=400):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 5)), columns=["area", "<b>age</b>", "x" * 100, LONG, "noise"])
    X["city"] = rng.choice(["Oslo", "Bergen", "<script>alert(1)</script>"], n)
    y = X["area"] + X["area"] * X["<b>age</b>"] + 0.5 * X["x" * 100] ** 2 + 0.4 * X[LONG]
    return X, y + 2.0 * (X["city"] == "Oslo") * (1 + 0.5 * X["area"])


@pytest.fixture(scope="module")
def hdmr():
    return fasthdmr.HDMR().fit(*rows())


@pytest.fixture(scope="module")
def address(hdmr, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "page.html"
    X, _ = rows()
    text = render(
        hdmr,
        "HDMR",
        fidelity=[0.9],
        facts={LONG: "x" * 500},
        options={},
        warnings=lambda: ["x" * 500],
        levels=level_effects(hdmr, X),
    )
    path.write_text(text, encoding="utf-8")
    assert len(text) < 1.5e6
    return path.as_uri()


@pytest.fixture(scope="module")
def page(address, tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine (Debian: apt install chromium)")
    with chromium(tmp_path_factory.mktemp("profile")) as page:
        page.open(address)
        yield page


@pytest.fixture
def plain(page):
    """The page as at first: on a wide, light screen, with nothing unfolded."""
    look(page, 1280)
    page.evaluate("document.querySelectorAll('details').forEach((fold) => (fold.open = false))")
    return page


def look(page, width, **media):
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
    features = [{"name": "prefers-color-scheme", "value": media.get("scheme", "light")}]
    page.call("Emulation.setEmulatedMedia", media=media.get("medium", ""), features=features)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_overflows_or_is_clipped(width, plain):
    look(plain, width)
    plain.evaluate("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
    assert plain.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = plain.evaluate("Array.from(document.querySelectorAll('.scroll'), (e) => e.scrollWidth - e.clientWidth)")
    assert len(boxes) >= 3 and max(boxes) <= 0
    wide = "Array.from(document.querySelectorAll('main *'), (e) => e.getBoundingClientRect().right)"
    assert max(plain.evaluate(wide)) <= width
    assert plain.problems == []


def test_tables_that_are_too_wide_scroll_in_their_own_box(plain):
    look(plain, 420)
    plain.evaluate("document.querySelector('td.number').textContent = '1'.repeat(200)")
    assert plain.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert plain.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "auto"
    plain.call("Page.reload")
    plain.evaluate("new Promise((done) => addEventListener('load', done))")


def test_weak_subspaces_are_folded(plain, hdmr):
    indices = hdmr.sensitivity_
    is_weak = np.maximum(indices.Sa, np.abs(indices.S)) < 0.01
    count = "document.querySelectorAll('{} tbody tr').length"
    assert plain.evaluate(count.format("section > .indices")) == (~is_weak).sum()
    assert plain.evaluate(count.format("details .indices")) == is_weak.sum() > 0
    assert plain.evaluate("document.querySelector('summary').textContent").startswith(f"{is_weak.sum()} weaker")
    assert plain.evaluate(FOLD) == "hidden"
    plain.evaluate("document.querySelector('summary').click()")
    assert plain.evaluate(FOLD) == "visible"
    foot = plain.evaluate("Array.from(document.querySelector('tfoot').rows, (row) => row.innerText.split('\\t'))")
    assert [row[0] for row in foot] == [f"{is_weak.sum()} weaker", "Sum", "Residual"]
    assert float(foot[0][4].replace("−", "-")) == pytest.approx(indices.S[is_weak].sum(), abs=6e-5)


def test_belief_stands_first(plain):
    heads = plain.evaluate("Array.from(document.querySelectorAll('h2'), (head) => head.textContent)")
    assert heads[:3] == ["How far to believe this", "Indices", "Pictures"]


def test_the_table_can_be_downloaded(plain, hdmr):
    links = plain.evaluate("Array.from(document.querySelectorAll('a[download]'), (a) => [a.download, a.href])")
    assert [name for name, _ in links] == ["indices.csv", "levels.csv"]
    content = base64.b64decode(links[0][1].partition("base64,")[2])
    table = pd.read_csv(io.BytesIO(content), keep_default_na=True)
    expected = hdmr.sensitivity_.to_frame()
    assert list(table.columns) == list(expected.columns) and list(table["names"]) == list(expected["names"])
    assert_close(table["S"], expected["S"])


def test_long_names_are_shortened_and_whole_under_the_pointer(plain):
    titles = plain.evaluate("Array.from(document.querySelectorAll('td[title]'), (td) => [td.title, td.textContent])")
    assert LONG in [title for title, _ in titles]
    assert all(len(text) <= 80 and "…" in text for _, text in titles)


def number(text):
    return float(text.split()[0].replace("−", "-"))


def pointed(page, image, horizontal, vertical):
    """Return the line below a picture with the pointer at a place within it, in shares of its size."""
    box = page.evaluate(
        f"(() => {{ const image = document.querySelectorAll('img[data-readings]')[{image}];"
        " image.scrollIntoView({block: 'center'}); const box = image.getBoundingClientRect();"
        " return [box.left, box.top, box.width, box.height]; })()"
    )
    x, y = box[0] + horizontal * box[2], box[1] + vertical * box[3]
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    return page.evaluate(f"document.querySelectorAll('.reading')[{image}].textContent")


def test_values_under_the_pointer(plain, hdmr):
    """Of curves and maps, compared with the components themselves."""
    subspaces = strongest_components(hdmr.sensitivity_, 0, 0.01)
    given = [
        json.loads(text)
        for text in plain.evaluate(
            "Array.from(document.querySelectorAll('img[data-readings]'), (image) => image.dataset.readings)"
        )
    ]
    assert len(given) == len(subspaces)
    curves = maps = 0
    for k, (u, (reading, *_)) in enumerate(zip(subspaces, given, strict=True)):
        left, top, right, bottom = reading["box"]
        text = pointed(plain, k, left + 0.3 * (right - left), top + 0.4 * (bottom - top))
        component = hdmr.component(u)
        if "curves" in reading and len(u) == 1:
            at, value = (number(part) for part in text.rpartition(" = ")[2].split(": "))
            assert abs(component([at])[0] - value) < 1e-2 * np.ptp(reading["curves"][0]["values"])
            curves += 1
        elif "map" in reading:
            place, _, value = text.rpartition(": ")
            at = [number(part.rpartition(" = ")[2]) for part in place.split(", ")]
            cell = np.abs(np.diff(reading["map"]["x"])).max()
            near = component(np.array(at) + cell * np.array([[a, b] for a in (-1, 0, 1) for b in (-1, 0, 1)]))
            slack = 2e-3 * abs(1000 * reading["map"]["unit"])
            assert near.min() - slack <= number(value) <= near.max() + slack
            maps += 1
        else:
            assert ": " in text
        assert pointed(plain, k, 0.001, 0.001) == ""
    assert curves and maps


def test_readings_are_what_is_drawn(hdmr):
    display = ComponentDisplay.from_estimator(hdmr, ["area", "city", ("area", "<b>age</b>"), ("city", "area")])
    display.figure_.draw_without_rendering()
    curve, bars, cells, levels = readings(display.figure_)
    (line,) = curve["curves"]
    assert_close(hdmr.component("area")(line["at"]), line["values"], 1e-4, reason=ROUNDED)
    cities = hdmr.decomposition_.levels[5]
    names = [name.rpartition(" ")[0] for name in bars["y"]["names"]]
    assert bars["bars"]["along"] == "y" and names[:2] == list(cities[:2]) and names[2].startswith("<script>")
    assert_close(hdmr.component("city")(list(cities)), bars["bars"]["values"], 1e-4, reason=ROUNDED)
    x, y = (np.convolve(cells["map"][axis], [0.5, 0.5], "valid") for axis in "xy")
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    values = cells["map"]["unit"] * np.array(cells["map"]["cells"], dtype=float).ravel()
    found = hdmr.component(("area", "<b>age</b>"))(points)
    assert np.abs(found - values).max() < 2e-3 * np.abs(found).max()
    assert {curve["name"] for curve in levels["curves"]} == set(names)
    mpl.pyplot.close("all")


@pytest.mark.parametrize("width", WIDTHS)
def test_dark_style(width, plain):
    look(plain, width, scheme="dark")
    colour = "getComputedStyle(document.body).{}.match(/\\d+/g).slice(0, 3).map(Number)"
    paper, ink = plain.evaluate(colour.format("backgroundColor")), plain.evaluate(colour.format("color"))
    assert max(paper) < 60 and min(ink) > 200
    assert "invert(1)" in plain.evaluate("getComputedStyle(document.images[0]).filter")
    look(plain, width)
    assert min(plain.evaluate(colour.format("backgroundColor"))) == 255
    assert plain.evaluate("getComputedStyle(document.images[0]).filter") == "none"


def test_print_style(plain):
    """All is on paper, also what is folded or scrolls, black on white."""
    look(plain, 800, medium="print", scheme="dark")
    assert plain.evaluate(FOLD) == "visible"
    assert plain.evaluate("getComputedStyle(document.querySelector('.scroll')).overflow") == "visible"
    assert plain.evaluate("getComputedStyle(document.images[0]).filter") == "none"
    assert plain.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_scripts(plain):
    """Nothing is missing but what needs them."""
    plain.call("Emulation.setScriptExecutionDisabled", value=True)
    plain.reload()
    display = "getComputedStyle(document.querySelector('{}')).display"
    found = {name: plain.evaluate(display.format(name)) for name in (".script", ".reading", ".indices", "summary")}
    plain.call("Emulation.setScriptExecutionDisabled", value=False)
    plain.reload()
    assert found == {".script": "none", ".reading": "none", ".indices": "block", "summary": "list-item"}


# --- how far to believe it ----------------------------------------------------------------------------------------


def test_belief_says_the_numbers(hdmr):
    lines = belief(hdmr, 0, 0.5)
    fidelity = hdmr.sensitivity_.fidelity
    assert f"{100 * fidelity.used[0]:.1f} %" in lines[0] and f"{100 * fidelity.unused[0]:.1f} %" in lines[0]
    assert lines[1].startswith(f"{100 * hdmr.residual_:.1f} %")
    count = np.sum(np.abs(hdmr.sensitivity_.S) <= hdmr.sensitivity_.S_conf)
    assert f"Of {len(hdmr.subspaces_)} functions, {count} have" in lines[2]
    assert f"{100 * np.nanmax(hdmr.decomposition_.concurvity):.1f} %" in lines[3]


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.99, "stand for the model well"), (0.9, "the main features"), (0.2, "do not draw"), (-0.3, "−30.0 %")],
)
def test_belief_without_leave_one_out(share, words):
    """Of the product measure, where only R² on these rows is known."""
    X, y = fasthdmr.datasets.make_ishigami(200, random_state=0)
    hdmr = fasthdmr.TreeHDMR(measure="product", random_state=0).fit(X, y)
    lines = belief(hdmr, 0, share)
    assert words in lines[0] and len(lines) == 2
