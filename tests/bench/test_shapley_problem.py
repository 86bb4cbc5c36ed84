"""The benchmark of Shapley values in a tiny configuration."""

import numpy as np
import pytest
from reference import shapley as oracle
from tolerance import assert_close

from bench.problems import shapley

pytestmark = pytest.mark.usefixtures("cache")


def test_the_reference_is_the_definition():
    f = np.random.default_rng(0).normal(size=(2, 3, 2))

    def game(coalition):
        mean = f.mean(axis=tuple(j for j in range(3) if j not in coalition), keepdims=True)
        return np.broadcast_to(mean, f.shape).ravel()

    assert_close(shapley.defined_values(f), oracle.values(game, 3), 1e-12)


def test_the_table(monkeypatch, capsys):
    X = np.random.default_rng(0).normal(size=(200, 3))
    monkeypatch.setattr(shapley, "california", lambda: (X, X[:, 0] + X[:, 1] * X[:, 2], ()))
    monkeypatch.setattr(shapley, "RIVALS", False)
    goals = shapley.run(quick=True, repeats=1)
    out = capsys.readouterr().out
    assert "failed" not in out and "N = 200" in out
    assert goals[1].what == "error of ours on a full factorial" and not goals[1].missed
    assert sum(line.startswith("ours") and "e-1" in line for line in out.splitlines()) == 2  # all orders only


def test_other_packages_have_small_errors(monkeypatch):
    pytest.importorskip("shap", reason="shap is not installed: pip install 'fasthdmr[shap]'")
    monkeypatch.setattr(
        shapley.contender, "shapiq", lambda model, X, *, limit: shapley.contender.shap(model, X, None, limit=limit)
    )
    errors = shapley.factorial_errors(3)
    assert {"ours, product, all orders", "shap, interventional", "shap"} <= set(errors)
    assert max(errors.values()) < 1e-5
