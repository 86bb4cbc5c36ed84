"""The benchmark of partial dependence in a tiny configuration."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from tolerance import assert_close

from bench.contenders import partial_dependences as contender
from bench.problems import pdp
from bench.runner import measure

pytest.importorskip("sklearn", minversion="1.7", reason="its partial dependence takes values since 1.7")

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def sample():
    X = np.random.default_rng(0).normal(size=(200, 3))
    return X, X[:, 0] + X[:, 1] * X[:, 2]


def test_contenders_compute_the_same(sample):
    model = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(*sample)
    X, sizes = sample[0], (6, 5)
    rows = [
        contender.brute(model, X, sizes, limit=60.0),
        contender.ours(model, X, sizes, n_jobs=2),
        contender.woodelf(model, X, sizes, limit=60.0),
    ]
    desired, *found = measure(rows, repeats=0)
    assert desired.summary["average"].shape == (2 * (3 + 3),)
    assert not found[0].failure
    for m in found:
        if not m.failure.startswith("ModuleNotFoundError"):
            assert_close(m.summary["average"], desired.summary["average"], 1e-9)


def test_the_table(sample, monkeypatch, capsys):
    monkeypatch.setattr(pdp, "california", lambda: (*sample, ()))
    monkeypatch.setattr(pdp, "RIVALS", False)
    pdp.run(quick=True, repeats=1)
    out = capsys.readouterr().out
    assert "failed" not in out and "WRONG" not in out and "nan" not in out
    everything, compared = 3 * 100 + 3 * 50**2, 2 * (3 + 3)
    lines = [line.split() for line in out.split("N = 200")[1].splitlines()]
    assert [line[3] for line in lines if line[:2] == ["ours,", "1"]][:1] == [str(everything)]
    assert [line[2] for line in lines if line[:2] == ["scikit-learn,", "brute"]][:1] == [str(compared)]
