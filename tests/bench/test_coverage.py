"""The simulation of coverage in a tiny configuration."""

import numpy as np
import pytest

from bench.problems import coverage

pytestmark = pytest.mark.usefixtures("cache")


def test_the_table(capsys, monkeypatch):
    monkeypatch.setattr(coverage, "N_ROWS", 500)
    coverage.run(quick=True, repeats=1)
    out = capsys.readouterr().out
    assert "coverage: 20 samples of 500 rows a problem" in out
    rows = [row for row in map(str.split, out.splitlines()) if row[:3] == ["Ishigami", "Sa", "2"]]
    assert len(rows) == 1 and abs(float(rows[0][3]) - 0.4424) < 0.03 and 0.4 < float(rows[0][7]) < 2
    assert "f_1(0.5)" in out and "mean coverage" in out and "Ishigami: fit" in out


def test_too_narrow_intervals_are_flagged():
    values = np.random.default_rng(0).normal(1, 0.1, size=1000)
    right, narrow, wide = (coverage.line("", "Sa 1", 1.0, values, np.full(1000, se)) for se in (0.1, 0.05, 0.2))
    assert [row[-1] for row in (right, narrow, wide)] == ["", "outside", "outside"]
    assert coverage.line("", "Sa 1", 0.01, values - 0.99, np.full(1000, 0.1))[-1] == "small"
    for lines, verdict in (([right], "OK"), ([right, narrow], "MISSED"), ([wide], "MISSED")):
        (row,), goals = coverage.summary(lines)
        assert row[-1] == verdict
        assert any(goal.missed for goal in goals) == (verdict == "MISSED")
