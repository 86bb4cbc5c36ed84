"""Tables of the levels of categorical variables, in files and in the report."""

import json

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from test_report import Reader
from tolerance import assert_close

import fasthdmr
from fasthdmr._cli.level_effects import level_effects
from fasthdmr._cli.report import render
from fasthdmr._cli.tables import index_files

mpl.use("Agg")

EVIL = "<i>line\nbreak</i>"


def rows(n=500):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"city": rng.choice(["Oslo", "Bergen", EVIL], n, p=[0.5, 0.3, 0.2]), "area": rng.normal(size=n)})
    X.loc[::9, "city"] = None
    return X.assign(**{"new & old": rng.random(n) < 0.4})


def effect_of(X):
    return X["city"].map({"Oslo": 3.0, "Bergen": 1.0, EVIL: -2.0}).fillna(0.0) + X["area"] - 1.0 * X["new & old"]


@pytest.fixture(scope="module")
def hdmr():
    return fasthdmr.HDMR(lambda X: effect_of(X).to_numpy(), order=2).fit(rows())


def render_page(hdmr, levels):
    return render(hdmr, "Levels", fidelity=[1.0, 1.0], facts={}, options={}, warnings=list, levels=levels)


def test_levels_have_effects_and_shares(hdmr):
    X = rows()
    found = level_effects(hdmr, X)
    assert list(found["variable"]) == ["city"] * 4 + ["new & old"] * 2
    city = found[found["variable"] == "city"]
    assert list(city["level"]) == ["Oslo", "Bergen", None, EVIL]
    assert list(found["level"][4:]) == [False, True]
    shares = X["city"].value_counts(normalize=True, dropna=False)
    assert_close(city["share"][:2], shares[["Oslo", "Bergen"]].to_numpy())
    assert_close(city["share"].sum(), 1.0)
    assert_close(city["effect"][city["level"] == "Oslo"], hdmr.component("city")(["Oslo"]))
    centred = np.array([3, 1, 0, -2]) - effect_of(X.assign(area=0, **{"new & old": False})).mean()
    assert_close(city["effect"], centred, 0.05, reason="a ridge, and rows in which variables are not quite independent")


def test_outputs_are_stacked():
    X = rows()
    hdmr = fasthdmr.HDMR(lambda X: np.column_stack([effect_of(X), -effect_of(X)]), order=1).fit(X)
    found = level_effects(hdmr, X)
    assert list(found.columns) == ["output", "variable", "level", "share", "effect"]
    assert list(found["output"]) == ["y0"] * 6 + ["y1"] * 6
    assert list(found["level"][6:10]) == [EVIL, None, "Bergen", "Oslo"]
    heads = Reader(render_page(hdmr, found)).of("h2")
    assert [head for head in heads if "Levels" in head] == [f"Levels of categorical variables of y{k}" for k in (0, 1)]


def test_numbers_have_no_levels():
    X = rows()[["area"]]
    hdmr = fasthdmr.HDMR().fit(X, X["area"])
    assert level_effects(hdmr, X).empty
    assert "Levels of" not in render_page(hdmr, level_effects(hdmr, X))


def test_groups_of_columns_are_left_out():
    X = rows()
    hdmr = fasthdmr.HDMR(order=1, feature_groups={"where": ["city", "area"]}).fit(X, effect_of(X))
    assert set(level_effects(hdmr, X)["variable"]) == {"new & old"}


def test_files_hold_the_levels(hdmr, tmp_path):
    levels = level_effects(hdmr, rows())
    files = index_files(hdmr, [0], levels=levels)
    (tmp_path / "levels.csv").write_bytes(files["levels.csv"])
    table = pd.read_csv(tmp_path / "levels.csv")
    assert list(table["level"].fillna("")) == ["Oslo", "Bergen", "", EVIL, "False", "True"]
    assert_close(table["effect"], levels["effect"])
    records = json.loads(files["indices.json"])["levels"]
    assert [record["level"] for record in records] == ["Oslo", "Bergen", None, EVIL, False, True]
    assert_close([record["share"] for record in records], levels["share"])


def test_the_report_names_the_levels(hdmr):
    page = Reader(render_page(hdmr, level_effects(hdmr, rows())))
    assert page.of("h3")[:2] == ["city", "new & old"]
    cells = page.of("td")
    first = cells.index("Oslo")
    assert cells[first + 3 : first + 12 : 3] == ["Bergen", "missing", "<i>line\\nbreak</i>"]
    assert cells[first + 1].startswith("+") and cells[first + 10].startswith("−")
    assert cells[first + 2] == f"{(rows()['city'] == 'Oslo').mean():.1%}"
