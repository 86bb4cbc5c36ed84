"""The benchmark of loaders in a tiny configuration."""

import pytest
from sklearn.datasets import make_friedman1

from bench.problems import loaders

pytestmark = pytest.mark.usefixtures("cache")


def test_the_table(monkeypatch, capsys):
    monkeypatch.setattr(loaders, "california", lambda: (*make_friedman1(300, 8, random_state=0), ()))
    monkeypatch.setattr(loaders, "RIVALS", False)
    loaders.run(quick=True, repeats=1)
    out = capsys.readouterr().out
    assert "200 trees of depth 3" in out
    assert "failed" not in out and "WRONG" not in out
    assert "numbers: GradientBoosting, predict / ours" in out
    assert "categories: HistGradientBoosting, predict / ours" in out
    for name in ("xgboost", "LightGBM", "CatBoost"):
        if f"{name} is not there" not in out:
            assert f"missing: {name}, ms beyond the export" in out
            assert f"TreeHDMR of {name} / of GradientBoosting" in out
