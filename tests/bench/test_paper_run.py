"""The paper in one run: verdicts that can fail, a page, and going on where an earlier run was interrupted."""

import re
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("tqdm")

from matplotlib.image import imread
from test_cli_outputs import full_disk

from bench import models
from bench.paper import __main__ as command
from bench.paper import boot, cali, est, everything, housing, ishigami, scsa_ishi
from bench.paper.figures import drawing
from bench.paper.items import ITEMS, SAME, Item
from bench.paper.options import Options
from bench.paper.result import PICTURE, Result, Row, claim, fewer, near

pytestmark = pytest.mark.usefixtures("cache")


# --- verdicts -----------------------------------------------------------------------------------------------------


def test_verdicts():
    whole, cut = Result(), Result(cuts=["5 trees"])
    assert whole.verdict(near("a", 1.01, 1.0, 0.02)) == "agrees"
    assert whole.verdict(near("a", 1.03, 1.0, 0.02)) == "differs: not explained"
    assert cut.verdict(near("a", 1.03, 1.0, 0.02)) == "differs: this run is cut down"
    assert cut.verdict(near("a", 1.03, 1.0, 0.02, because="known")) == "differs: known"
    assert whole.verdict(near("a", np.nan, 1.0, 0.02)) == "differs: not explained"
    assert whole.verdict(near("a", 1.03, 1.0, 0.02, target=1.04, of="the exact")) == "agrees"
    assert near("a", 1.03, 1.0, 0.02, target=1.04, of="the exact").rule == "within 0.02 of the exact, 1.04"
    assert whole.verdict(claim("a", False, "above 0")) == "differs: not explained"
    assert whole.verdict(Row("a")) == PICTURE == "no number in the paper: picture"
    with pytest.raises(ValueError, match="neither a number of the paper nor a target"):
        near("a", 1.0, None, 0.1)


def test_less_than_the_paper():
    assert fewer(trees=(300, 5000), repeats=(50, 50)) == ["300 trees (paper: 5,000)"]


def test_a_result_is_stored_unchanged(tmp_path):
    result = Result([near("a", 1.0, 2.0, 0.1), Row("b")], [tmp_path / "figures" / "a.png"], ["c"], ["d"], ["e"])
    stored = result.to_json(tmp_path)
    assert stored["figures"] == ["figures/a.png"]
    assert Result.from_json(stored, tmp_path) == result


def test_a_wrong_simulation_does_not_agree():
    errors = (1.0, 1.0)
    assert est.judged("mean", 10.0, 11.0, truth=10.0, errors=errors).agrees
    assert not est.judged("mean", 14.5, 14.5, truth=10.0, errors=errors).agrees
    off = est.judged("mean", 10.0, 16.0, truth=10.0, errors=errors)
    assert not off.agrees and off.because == "the paper's is 6.0 of its standard errors off the exact value"


def test_a_heavy_tailed_figure_has_no_verdict():
    assert not boot.verdict(0.25, np.array([0.3, 0.3])).agrees
    assert boot.verdict(0.25, np.array([0.12, 0.13])).agrees
    assert boot.verdict(1.0, np.array([0.5, 0.6])).agrees is None


def test_why_an_index_of_california_differs():
    assert cali.verdict("Sa", 0.5, 0.51, 0.02, {}).agrees
    assert cali.verdict("Sa", 0.5, 0.6, 0.02, {"depth 2": 0.61}, 0.49).because.startswith("ours is as an independent")
    assert cali.verdict("Sa", 0.5, 0.6, 0.02, {"depth 2": 0.61}).because == "the paper's is near depth 2, 0.6100"
    assert cali.verdict("Sa", 0.5, 0.6, 0.02, {"depth 2": 0.7}, 0.3).because == ""
    assert cali.tolerance(0.7) == 0.02 and cali.tolerance(-0.0066) == 0.0022


# --- the run ------------------------------------------------------------------------------------------------------


@pytest.fixture
def items(monkeypatch):
    """Three items: one that draws, one whose text is dangerous, one that fails; and how often each was run."""
    runs = []

    def draws(options):
        runs.append("draws")
        print("draws: a table")
        path = options.out / "draws.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"a picture")
        return Result([near("mean", 1.0, 1.0, 0.1), near("variance", 2.0, 1.0, 0.1)], [path], ["5 trees"])

    def text(options):
        runs.append("text")
        warnings.warn("collinear & <rest>", UserWarning, stacklevel=1)
        return Result([Row("<script>alert(1)</script>")])

    def fails(options):
        runs.append("fails")
        raise ZeroDivisionError("nothing <to> divide")

    made_up = {"draws": Item("A picture", draws), "fails": Item("An error", fails), "text": Item("Text", text)}
    monkeypatch.setattr(everything, "ITEMS", made_up)
    return runs


def test_one_run_of_all_items(items, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["paper", "all", "--quick", "--out", str(tmp_path)])
    assert command.main() == 1
    out, err = capsys.readouterr()
    assert out == f"page: {tmp_path / 'index.html'}\n"
    assert "fails failed: ZeroDivisionError: nothing <to> divide" in err and "3/3" in err
    assert items == ["draws", "fails", "text"]
    html = (tmp_path / "index.html").read_text()
    assert "A quick run" in html and "draws: a table" in html and "not made yet" not in html
    assert ">agrees<" in html and "differs: this run is cut down" in html and PICTURE in html
    assert "ZeroDivisionError: nothing &lt;to&gt; divide" in html
    assert "Warning: collinear &amp; &lt;rest&gt;" in html and "<script>" not in html
    links = re.findall(r"src='([^']*)'", html)
    assert links == ["figures/draws.png"] and (tmp_path / links[0]).is_file()


def test_existing_results_are_not_computed_again(items, tmp_path):
    options = Options(quick=True, out=tmp_path)
    first = everything.run_all(options)
    html = (tmp_path / "index.html").read_text()
    items.clear()
    second = everything.run_all(options)
    assert items == ["fails"]
    assert [o.result for o in second] == [o.result for o in first] and second[0].printed == "draws: a table"
    assert (tmp_path / "index.html").read_text().count("<h2") == html.count("<h2") == 3


@pytest.mark.parametrize("change", ["options", "code", "figure", "store"])
def test_outdated_results_are_computed_again(change, items, tmp_path, monkeypatch):
    options = Options(quick=True, out=tmp_path)
    everything.run_all(options, ["draws"])
    if change == "options":
        options = Options(quick=False, out=tmp_path)
    elif change == "code":
        monkeypatch.setattr(everything, "code_and_options", lambda options: {"code": "other"})
    elif change == "figure":
        (tmp_path / "figures" / "draws.png").unlink()
    else:
        (tmp_path / "results" / "draws.json").unlink()
    everything.run_all(options, ["draws"])
    assert items == ["draws", "draws"]


def test_an_interruption_leaves_a_page(items, tmp_path, monkeypatch):
    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setitem(everything.ITEMS, "fails", Item("An error", interrupted))
    with pytest.raises(KeyboardInterrupt):
        everything.run_all(Options(out=tmp_path))
    assert "<b>2 of 3 items are not made yet.</b>" in (tmp_path / "index.html").read_text()
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["draws.json"]


def test_a_full_disk_leaves_the_page_and_the_figures(items, tmp_path):
    figure = tmp_path / "figures" / "line.png"
    with drawing(figure) as (_, axes):
        axes[0, 0].plot([1, 2])
    everything.run_all(Options(out=tmp_path), ["draws"])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with full_disk(500), pytest.raises(OSError, match="File too large"), drawing(figure) as (_, axes):
        axes[0, 0].plot([2, 1])
    with full_disk(500), pytest.raises(OSError, match="File too large"):
        everything.run_all(Options(quick=True, out=tmp_path), ["draws"])
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_the_output_directory_is_checked_first(items, tmp_path, monkeypatch, capsys):
    (tmp_path / "taken").write_text("")
    monkeypatch.setattr(sys, "argv", ["paper", "all", "--out", str(tmp_path / "taken")])
    with pytest.raises(SystemExit):
        command.main()
    assert "File exists" in capsys.readouterr().err and items == []


def test_the_digest_follows_the_code(tmp_path, monkeypatch):
    for name in ("bench", "fasthdmr"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
        monkeypatch.setattr(getattr(everything, name), "__file__", str(tmp_path / name / "__init__.py"))
    before = everything.code_and_options(Options())
    (tmp_path / "bench" / "notes.txt").write_text("no code")
    assert everything.code_and_options(Options()) == before == everything.code_and_options(Options(out=tmp_path))
    (tmp_path / "bench" / "est.py").write_text("1")
    assert everything.code_and_options(Options()) != before


def test_without_tqdm_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(ImportError, match=r"fasthdmr\[bench\]"):
        everything.run_all(Options(out=tmp_path))


def test_every_item_of_the_paper_is_there():
    named = "est chi probrho total_si polyn polyn2 linearprob boot boot_tp vi corr corrpd depend anova scsa_ishi"
    named += " scsa_ishi_rf ishigami12 ishigami3 ishigami12_rf ishigami3_rf rf_claim cali medinc lat long ll_hdmr pd_2d"
    assert set(ITEMS) == set(named.split())
    assert all(other in ITEMS for pair in SAME.items() for other in pair)


# --- the items that draw components -------------------------------------------------------------------------------


@pytest.fixture
def small_ishigami(monkeypatch):
    for module in (ishigami, scsa_ishi):
        monkeypatch.setattr(module, "N_ROWS", 400)
        monkeypatch.setattr(module, "N_TREES", 40)
    ishigami.decomposed.cache_clear()
    yield
    ishigami.decomposed.cache_clear()


@pytest.mark.usefixtures("small_ishigami")
@pytest.mark.parametrize("name", ["ishigami12", "ishigami3", "ishigami12_rf", "ishigami3_rf"])
def test_ishigami(name, tmp_path, capsys):
    result = ITEMS[name].run(Options(out=tmp_path))
    assert result.figures == [tmp_path / f"{name}.png"] and imread(result.figures[0]).std() > 0.05
    assert capsys.readouterr().out.splitlines()[1].startswith(f"{name}: Ishigami")
    assert all(row.rule and row.agrees is not None for row in result.rows)


@pytest.mark.usefixtures("small_ishigami")
def test_ishigami_of_forests_lose_more(capsys):
    (row,) = ITEMS["scsa_ishi_rf"].run(Options(realisations=1)).rows
    assert row.agrees and row.ours > 0.3
    assert capsys.readouterr().out.startswith("scsa_ishi_rf: ")


@pytest.fixture
def small_housing(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 8))
    X[:, 7] -= X[:, 6]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, 0] + X[:, 6] * X[:, 7] + 0.3 * X[:, 6]
    names = tuple(cali.PAPER_TOTALS)
    monkeypatch.setattr(housing, "california", lambda: (X, (y - y.mean()) / y.std(), names))
    monkeypatch.setattr(housing, "boosted", lambda X, y, n_trees: models.boosted(X, y, n_trees=40))
    housing.decomposed.cache_clear()
    yield
    housing.decomposed.cache_clear()


@pytest.mark.usefixtures("small_housing")
@pytest.mark.parametrize("name", ["medinc", "lat", "long", "ll_hdmr", "pd_2d"])
def test_housing(name, tmp_path, capsys):
    result = ITEMS[name].run(Options(quick=True, out=tmp_path))
    assert result.figures == [tmp_path / f"{name}.png"] and imread(result.figures[0]).std() > 0.05
    assert result.cuts == ["500 trees (paper: 5,000)"]
    assert capsys.readouterr().out.splitlines()[1].startswith(f"{name}: ")
    if name == "pd_2d":
        assert result.rows[0].agrees is None and result.rows[1].agrees
    if name == "medinc":
        assert result.rows[0].ours > 0.9


@pytest.mark.usefixtures("small_housing")
def test_indices_of_housing():
    result = ITEMS["cali"].run(Options(quick=True))
    assert {row.what.split()[0] for row in result.rows} == {"Sa", "Sb", "T", "R", "sum", "Tree"}
    assert len([row for row in result.rows if row.what.startswith("Tree")]) == 8
    assert not all(row.agrees for row in result.rows)  # these are not the paper's data
