"""The benchmarks and paper items of chi-square in a tiny configuration: they run, and flag what is wrong."""

import numpy as np
import pytest

from bench.contenders import chisquare_loops
from bench.paper import chi, est
from bench.paper.options import Options
from bench.problems import chisquare, chisquare_level
from fasthdmr.chisquare import power_law

pytestmark = pytest.mark.usefixtures("cache")


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_contenders_have_the_right_moments(alpha):
    p, n = power_law(100, alpha), 200
    for contender in chisquare.contenders("", p, n, 5000):
        found = contender.run(contender.prepare())
        if len(found[0]) >= 100:
            assert chisquare.worst_z(found, p, n) < 4.5
        if len(found[1]):
            assert not np.allclose(found[0], found[1]) or alpha == 0


def test_wrong_statistics_are_flagged():
    p = power_law(100, 0.5)
    chi2, _ = chisquare_loops.multinomial(p, 20, 5000)
    assert chisquare.worst_z((chi2, chi2), p, 20) > 10


def test_chisquare_problem(capsys, monkeypatch):
    monkeypatch.setattr(chisquare, "K", 50)
    monkeypatch.setattr(chisquare, "N", 100)
    chisquare.run(quick=True, repeats=1)
    text = capsys.readouterr().out
    assert "failed" not in text and "not measured" not in text
    assert text.count("scipy.stats.chisquare") == 2


def test_level_problem(capsys, monkeypatch):
    monkeypatch.setattr(chisquare_level, "SIZES", ((30, 20),))
    chisquare_level.run(quick=True, repeats=1)
    text = capsys.readouterr().out
    assert text.count(" OK\n") == 4 and "MISSED" not in text
    assert text.count("ripple 0.") == 2


def test_est(capsys):
    est.run(Options(quick=True))
    text = capsys.readouterr().out
    assert text.count("  OK  ") == 12 and "ABOVE" not in text
    assert "44196.315" in text and "4997.000" in text


def test_chi(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(chi, "SIZES", (50,))
    chi.run(Options(quick=True, out=tmp_path / "new"))
    assert (tmp_path / "new" / "chi.png").stat().st_size > 10_000
    hdmr, chi2 = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("50 ")]
    assert abs(float(hdmr[3]) - 0.246) < 0.03 and abs(float(chi2[5]) - 0.284) < 0.03
