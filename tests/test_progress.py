"""Progress bars: on stderr, on request, and for long computations only."""

import sys

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from fasthdmr import HDMR, TreeHDMR
from fasthdmr._solve.ridge import cross_validate
from fasthdmr._support import progress as _progress
from fasthdmr.chisquare import power_law, simulate
from fasthdmr.inspection import partial_dependence

X = np.random.default_rng(0).normal(size=(60, 2))


def members(verbose):
    models = [GradientBoostingRegressor(n_estimators=3, max_depth=depth, random_state=0) for depth in (1, 2)]
    return TreeHDMR(models, basis="trees", alphas=[1.0, 2.0], verbose=verbose).fit(X, X[:, 0] + X[:, 1]).coef_


def folds(verbose):
    triangles = np.array([np.triu(np.random.default_rng(k).uniform(1, 2, (4, 4))) for k in range(3)])
    return cross_validate(triangles, np.array([0.1, 1.0]), verbose=verbose)


def draws(verbose, n_jobs=1):
    return simulate(power_law(300, 0.5), 5000, 1200, random_state=0, n_jobs=n_jobs, verbose=verbose).hdmr


def threaded_draws(verbose):
    return draws(verbose, n_jobs=2)


def brute(verbose):
    return partial_dependence(lambda X: X[:, 0] * X[:, 1], X, [0, 1], grid_resolution=5, verbose=verbose).average


def spans(verbose):
    return HDMR(order=1, n_splines=4, degree=1, verbose=verbose).fit(X, X[:, 0]).transform(X)


LOOPS = {
    members: ["fitting models: 100%", "cross-validation: 100%", "rows of the triangle: 100%"],
    spans: ["rows of the spans: 100%"],
    folds: ["cross-validation: 100%"],
    draws: ["simulation: 100%"],
    threaded_draws: ["simulation: 100%"],
    brute: ["partial dependence: 100%"],
}


@pytest.fixture
def no_delay(monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(_progress, "DELAY", 0)


@pytest.mark.parametrize(("loop", "bars"), LOOPS.items())
@pytest.mark.usefixtures("no_delay")
def test_a_long_loop_has_a_bar_on_request(loop, bars, capsys):
    quiet = loop(0)
    assert capsys.readouterr() == ("", "")
    np.testing.assert_array_equal(loop(1), quiet)
    out, err = capsys.readouterr()
    assert all(bar in err for bar in bars) and "%" not in out


@pytest.mark.usefixtures("no_delay", "no_further_threads")
def test_without_further_threads_the_bar_comes_at_the_end(capsys):
    with _progress.rows_progress(10, "work", verbose=1):
        pass
    assert "work" in capsys.readouterr().err


@pytest.mark.parametrize("loop", LOOPS)
def test_a_short_loop_has_no_bar(loop, capsys):
    loop(1)
    assert capsys.readouterr().err == ""


def test_the_bar_waits_for_the_delay(monkeypatch, capsys):
    tqdm = pytest.importorskip("tqdm")
    clock = iter(np.arange(0.0, 100.0, 0.75))
    monkeypatch.setattr(tqdm.tqdm, "monitor_interval", 0)
    bar = _progress.progress(range(6), "work", total=6, verbose=1)
    start = bar.start_t
    bar._time = lambda: start + next(clock)
    shown = []
    for k in bar:
        shown.append("work" in capsys.readouterr().err)
        assert k < 6
    assert not shown[0] and shown[-1]


def test_without_tqdm_there_is_no_bar(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "DELAY", 0)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert list(_progress.progress(range(3), "work", total=3, verbose=1)) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")
