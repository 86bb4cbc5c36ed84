"""The benchmark of loaders in a tiny configuration."""

import pytest
from sklearn.datasets import make_friedman1

from bench.problems import loaders

pytestmark = pytest.mark.usefixtures("cache")


def test_the_table(monkeypatch, capsys):
    monkeypatch.setattr(loaders, "california", lambda: (*make_friedman1(300, 8, random_state=0), ()))
    loaders.run(quick=True, repeats=1)
    out = capsys.readouterr().out
    assert "200 trees of depth 3" in out
    assert "failed" not in out and "WRONG" not in out
    for name in ("HistGradientBoosting", "GradientBoosting"):
        assert f"{name}: predict / ours" in out
    for name in ("xgboost", "LightGBM", "CatBoost"):
        assert f"{name} is not there" in out or f"{name}: ms beyond the export" in out
