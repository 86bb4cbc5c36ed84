"""The paper's tables and figures in a tiny configuration: their numbers, and that they are drawn."""

import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tolerance import assert_close

pytest.importorskip("matplotlib")

import matplotlib
from matplotlib.image import imread

from bench.paper import __main__ as command
from bench.paper import anova, bilinear, boot, corr, depend, orders, vi
from bench.paper.figures import drawing
from bench.paper.options import Options

HERE = Path(__file__).parents[1] / "golden"
GOLDEN = json.loads((HERE / "analytic.json").read_text())
RIVALS = json.loads((HERE / "rivals.json").read_text())
BY_RHO = {float(Fraction(rho)): values for rho, values in RIVALS["5_table"]["values_grid"].items()}

pytestmark = pytest.mark.usefixtures("cache")


def lines_of(text, start):
    """Return the cells of the lines that start so."""
    return [line.removeprefix(start).split() for line in text.splitlines() if line.startswith(start)]


# --- other diagnostics --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", BY_RHO)
def test_the_closed_forms_are_golden(rho):
    golden = BY_RHO[rho]
    found = {name: form(rho) for name, form in bilinear.CLOSED.items()}
    assert_close(found[bilinear.HDMR], (golden["hd_a"], golden["hd_b"]))
    assert_close(found[bilinear.CENTRED], (golden["marg_a_centred"], golden["marg_b_centred"]))
    assert_close(found[bilinear.UNCENTRED], (golden["marg_a_paper"], golden["marg_b_paper"]))
    assert_close(found[bilinear.CONDITIONAL], (golden["cond_a"], golden["cond_b"]))
    assert_close(found[bilinear.VARIANCE_DERIVATIVES], (golden["dgsm_sf"], 0.0))
    assert found[bilinear.DERIVATIVES] == (0.8, 0.0)


@pytest.mark.parametrize("rho", [-1.0, -0.5, 0.9])
def test_the_package_computes_the_closed_forms(rho):
    found = bilinear.computed(rho)
    assert list(found) == list(bilinear.CLOSED)
    for name, values in found.items():
        exact = bilinear.CLOSED[name](rho)
        if name in (bilinear.HDMR, bilinear.DERIVATIVES):
            assert_close(values, exact)
        elif name == bilinear.VARIANCE_DERIVATIVES:
            assert_close(values, exact, 1e-8, reason="differences") if rho > -1 else assert_close(values, (0, 0))
        else:
            assert_close(values, exact, 5e-3, reason="16,384 points for the law, curves linear between 100 points")


def test_the_papers_table_is_copied_right():
    for name, printed in vi.PAPER.items():
        exact = [sum(bilinear.CLOSED[name](rho)) for rho in vi.RHOS]
        assert_close(printed, exact)


def test_partial_dependence_of_boosting_without_correlation():
    golden = RIVALS["5_pd_gbr"]["0.0"]
    mean, sd = (dict(zip(golden["names"], golden[key], strict=True))["brute S cen"] for key in ("mean", "sd"))
    found = vi.of_boosting(0.0, n_trees=200, repeats=3)[bilinear.CENTRED]
    assert abs(found[:, 2].mean() - mean) < 4 * sd / np.sqrt(3) + 0.02  # fewer trees than the golden 500


def test_the_table_of_importance(capsys):
    vi.run(Options(trees=5, repeats=2))
    out = capsys.readouterr().out
    assert "2 fits (paper: 30), 5 trees" in out
    hdmr = [float(cell) for cell in lines_of(out, "HDMR")[0]]
    assert hdmr[:12] == [1.5, -0.5, 1.0, 1.0, 0.667, 0.0, 0.667, 0.67, 0.5, 0.5, 1.0, 1.0]
    assert lines_of(out, "PD (GBR), uncentred")[0][3::4] == ["0.65", "0.65", "1.14"]


@pytest.mark.parametrize("rho", BY_RHO)
def test_the_indices_of_the_panels(rho):
    golden, found = BY_RHO[rho], corr.indices(rho)
    assert_close(found[:2, 0], (golden["hd_a"], golden["hd_b"]))
    assert_close(found[2].sum(), 1.0)
    assert_close(found[1, 1], 0.0) if found[1, 1] == 0 else np.testing.assert_allclose(found[1, 1], 0, atol=1e-15)


def test_effects_of_a_variable(monkeypatch):
    monkeypatch.setattr(bilinear, "QUADRATURE", 12)
    x = np.array([-2.0, 0.5, 1.0])
    for rho in depend.RHOS:
        forms = depend.closed_forms(rho, x)
        assert_close(forms["HDMR"], x + rho / (1 + rho**2) * (x**2 - 1))
        f, X = bilinear.polynomial(rho), bilinear.points(rho)
        for kind in ("marginal", "conditional"):
            found = depend.curve(f, X, kind, x)
            assert_close(found, forms[f"PD {kind}"], 0.02, reason="an estimate from 4,096 points")


# --- kernels ------------------------------------------------------------------------------------------------------


def test_effects_of_a_variable_in_a_kernel_machine(capsys, tmp_path):
    golden = json.loads((HERE / "kernels.json").read_text())["8_kernels"]["figure_rho0.5"]
    printed, _ = anova.GOLDEN[anova.EMPIRICAL]
    assert_close(printed, np.array(golden["empirical_mean"])[[2, 0, 1]])
    assert_close(anova.coefficients(anova.exact(anova.GRID))[0], np.array(golden["exact"])[[2, 0, 1]])
    anova.run(Options(repeats=5, out=tmp_path))
    out = capsys.readouterr().out
    rows = [[float(cell) for cell in cells[1:]] for cells in lines_of(out, "HDMR, the rows")]
    sd = np.array(golden["empirical_sd"])[[2, 0, 1]]
    assert (np.abs(np.array(rows[0]) - printed) < 4 * sd * np.sqrt(1 / 5 + 1 / 30)).all()
    assert lines_of(out, "HDMR, Gaussian moments")[0] == ["mean", "-0.4000", "1.0000", "0.4000"]
    assert abs(float(lines_of(out, "ANOVA kernel")[0][-1])) < 1e-8
    assert imread(tmp_path / "anova.png").std() > 0.01


# --- orders -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rho", "name"), zip(orders.RHOS, ["1/4", "1/2", "1", "2", "4"], strict=True))
def test_orders_of_a_product(rho, name):
    golden = GOLDEN["2_product"]
    assert orders.least_orders(rho) == golden["minT_S09"][name]
    shares = orders.product(orders.N, rho).order_shares()
    known = golden["p_n100"][name]
    assert_close([shares[int(k) - 1] for k in known], list(known.values()))
    assert_close(orders.product(orders.N, rho).order_moments(), orders.papers_moments(orders.N, rho))


def test_total_importance():
    for row in GOLDEN["2_product"]["stable"]:
        assert_close(orders.total(row["n"], float(Fraction(row["rho"]))), row["T"])


def test_orders_of_the_sum_of_all_products():
    for key, golden in GOLDEN["3_monomials"]["fig_n100"].items():
        rho, mu = (float(part.partition("=")[2]) for part in key.split(","))
        shares = orders.linear_model(rho, mu).order_shares()
        assert_close([shares[int(k) - 1] for k in golden["q"]], list(golden["q"].values()))


# --- boosting -----------------------------------------------------------------------------------------------------


def test_a_trial_of_boosting(monkeypatch):
    monkeypatch.setattr(boot, "N_ROWS", 2000)
    true, predicted, error = boot.trial(0.25, seed=0, n_trees=40)
    y = np.random.default_rng(0).beta(7.5, 7.5, (2000, 10)).prod(axis=1)
    train = np.setdiff1d(y, true)
    assert (len(true), len(train)) == (500, 1500)
    assert_close(error, np.mean((predicted - true) ** 2) / train.var())
    assert error < 0.9 * boot.trial(0.25, seed=0, n_trees=1)[2]
    assert error == boot.trial(0.25, seed=0, n_trees=40)[2] != boot.trial(0.25, seed=1, n_trees=40)[2]


def test_laws_have_their_coefficients_of_variation():
    for rho, (a, b) in boot.LAWS.items():
        assert_close(np.sqrt(b / a / (a + b + 1)), rho)


def test_the_table_of_boosting(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(boot, "N_ROWS", 400)
    boot.run(Options(trees=3, repeats=2, out=tmp_path))
    out = capsys.readouterr().out
    assert "2 repeats" in out and "3 trees" in out
    for rho, (mean, sd) in boot.PAPER.items():
        cells = lines_of(out, f"{rho:g} ")[0]
        assert [float(cell) for cell in cells[-2:]] == [mean, round(sd, 4)]
        ours = [float(cell) for cell in cells[-7:-2]]
        assert ours[3] <= ours[2] <= ours[4]
    assert (tmp_path / "boot_tp.png").stat().st_size > 10_000


# --- figures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["probrho", "total_si", "polyn", "polyn2", "linearprob", "corr", "corrpd", "depend"])
def test_an_item_prints_its_table_and_draws(name, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bilinear, "QUADRATURE", 8)
    monkeypatch.setattr(sys, "argv", ["paper", name, "--trees", "5", "--repeats", "2", "--out", str(tmp_path / "a")])
    before = dict(matplotlib.rcParams)
    command.main()
    assert dict(matplotlib.rcParams) == before
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"figure: {tmp_path / 'a' / f'{name}.png'}" and lines[1].startswith(f"{name}: ")
    pixels = imread(tmp_path / "a" / f"{name}.png")
    assert min(pixels.shape[:2]) > 500 and len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 50


def test_a_drawing_that_fails_leaves_no_file(tmp_path):
    with pytest.raises(ZeroDivisionError), drawing(tmp_path / "a.png"):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


def test_invalid_counts_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["paper", "boot", "--trees", "0"])
    with pytest.raises(SystemExit):
        command.main()
    assert "--trees must be at least 1" in capsys.readouterr().err
