"""Ctrl-C ends whatever takes long, on any number of threads, and leaves nothing half-made."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from models import X, Y, gbr
from tolerance import assert_close

from fasthdmr import HDMR, TreeHDMR, _core
from fasthdmr._solve import ridge
from fasthdmr._solve.ridge import ridge_path
from fasthdmr._support import steps as _steps

LIMIT = 600  # seconds; without the interrupt the calls would not end
RNG = np.random.default_rng(0)
MANY = RNG.normal(size=(400_000, 4))
VALUES = MANY[:, 0] * MANY[:, 1]
needs_signals = pytest.mark.skipif(
    os.name == "nt" or signal.getsignal(signal.SIGINT) is signal.SIG_IGN,
    reason="os.kill(pid, SIGINT) is for POSIX, and a shell lets its background jobs ignore SIGINT",
)


@needs_signals
def test_endless_calls_can_be_interrupted():
    script = Path(__file__).with_name("interrupts.py")
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=LIMIT, cwd=script.parent)
    lines = run.stdout.splitlines()
    assert run.returncode == 0, run.stderr
    assert len(lines) == 31 and [line for line in lines if not line.endswith("True")] == []


ESTIMATORS = {
    "spline": lambda n_jobs: TreeHDMR(gbr(max_depth=2).fit(X, Y), n_jobs=n_jobs),
    "bins": lambda n_jobs: TreeHDMR(gbr(max_depth=2).fit(X, Y), basis="bins", n_jobs=n_jobs),
    "values": lambda n_jobs: HDMR(n_jobs=n_jobs),
}


def interrupt_the_pass():
    """Send Ctrl-C when the next pass over rows has begun."""
    before = _core.rows_done()

    def watch():
        while _core.rows_done() == before and not over.wait(0.001):
            pass
        if not over.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    over = threading.Event()
    threading.Thread(target=watch, daemon=True).start()
    return over


@needs_signals
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_interrupted_fit_keeps_the_earlier_fit(name, n_jobs):
    hdmr = ESTIMATORS[name](n_jobs).fit(MANY[:2000], VALUES[:2000])
    predicted, fitted, before = hdmr.predict(X), dict(vars(hdmr)), _core.rows_done()
    over = interrupt_the_pass()
    with pytest.raises(KeyboardInterrupt):
        hdmr.fit(MANY, VALUES)
    over.set()
    assert _core.rows_done() - before < 2 * len(MANY)  # a fit makes two passes over the rows
    assert vars(hdmr).keys() == fitted.keys() and all(vars(hdmr)[key] is fitted[key] for key in fitted)
    assert np.array_equal(hdmr.predict(X), predicted)
    assert np.array_equal(hdmr.fit(MANY[:2000], VALUES[:2000]).predict(X), predicted)


@pytest.mark.parametrize("unfit", [np.full((50, 4), "a"), MANY[:50, :1]])
def test_a_failed_fit_keeps_the_earlier_fit(unfit):
    hdmr = TreeHDMR(gbr(max_depth=2).fit(X, Y)).fit(X)
    fitted = dict(vars(hdmr))
    with pytest.raises(ValueError):
        hdmr.fit(unfit)
    assert vars(hdmr).keys() == fitted.keys() and all(vars(hdmr)[key] is fitted[key] for key in fitted)


def test_ridge_coefficients_by_qr_are_those_by_svd(monkeypatch):
    columns = RNG.normal(size=(60, 8))
    columns[:, 7] = columns[:, 0] + columns[:, 1]  # collinear: minimum-norm solution without penalty
    triangle = np.linalg.qr(np.column_stack([np.ones(60), columns, columns[:, 2] ** 2]), mode="r")
    alphas = np.array([0.0, 1e-6, 1.0, 100.0])
    expected = ridge_path(triangle, alphas)
    monkeypatch.setattr(ridge, "_LARGEST_SVD", 0)
    assert_close(ridge_path(triangle, alphas), expected)


def test_steps_give_what_one_call_gives(monkeypatch):
    A, B = RNG.normal(size=(50, 7)), RNG.normal(size=(7, 3))
    triangle = np.triu(RNG.normal(size=(7, 7)), 1) + np.eye(7)
    monkeypatch.setattr(_steps, "_WORK", 60.0)
    monkeypatch.setattr(_steps, "_COPIES", 60.0)
    assert_close(_steps.product(A, B), A @ B)
    assert_close(_steps.gram(A, A[:, :3]), A.T @ A[:, :3])
    assert_close(_steps.solve_unit_triangle(triangle, B), np.linalg.solve(triangle, B))
    assert np.array_equal(_steps.take_columns(A, [3, 0, 2]), A[:, [3, 0, 2]])
    assert _steps.take_columns(A, range(7)).flags.f_contiguous
    columns = np.asfortranarray(A)
    assert _steps.take_columns(columns, range(7)) is columns


def test_a_triangle_in_steps_is_that_of_one_call():
    """More columns than one call takes."""
    rows = RNG.normal(size=(1800, 1500))
    triangle = _core.triangle(np.asfortranarray(rows))
    assert_close(triangle.T @ triangle, rows.T @ rows)
    both = _core.merge_triangles(np.stack([triangle, triangle]))
    assert_close(both, np.sqrt(2) * triangle)
