"""Fits on collections of dask, on a cluster of processes."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from tolerance import assert_close

import fasthdmr
import fasthdmr.dask
from fasthdmr import HDMR, TreeHDMR

array = pytest.importorskip("dask.array", reason="needs dask, of the extra dask")
distributed = pytest.importorskip("distributed", reason="needs distributed, of the extra dask")
pytestmark = [
    pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of dask and its dependencies
]

RNG = np.random.default_rng(0)
N = 3000
X = RNG.normal(size=(N, 3))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * RNG.normal(size=N)
MODEL = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, Y)
TREES = TreeHDMR(MODEL)
KNOTS = TREES.partial_fit(X).knots_


@pytest.fixture(scope="module")
def client():
    """Return the client of a cluster of two processes."""
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(processes=True, **options) as cluster, distributed.Client(cluster) as client:
        yield client


def uneven(n_blocks: int) -> tuple[int, ...]:
    """Return the sizes of blocks, some of them empty."""
    ends = np.sort(np.random.default_rng(n_blocks).integers(0, N + 1, n_blocks - 1))
    return tuple(np.diff([0, *ends, N]).tolist())


@pytest.mark.parametrize("n_blocks", [1, 7, 1000])
def test_blocks_give_the_same_as_one_pass(client, n_blocks):
    chunks = uneven(n_blocks)
    rows, y = array.from_array(X, (chunks, (3,))), array.from_array(Y, (chunks,))
    whole = TreeHDMR(MODEL, knots=KNOTS).fit(X)
    first, second = (fasthdmr.dask.fit(TreeHDMR(MODEL, knots=KNOTS), rows) for _ in range(2))
    assert_close(first.evaluate(X), whole.evaluate(X), 1e-9)
    own, others = (each._state.sums.sums.fine.sums.state() for each in (first, whole))
    assert_close(np.concatenate(own[4:]), np.concatenate(others[4:]), 1e-12)
    np.testing.assert_array_equal(first.evaluate(X), second.evaluate(X))  # a fixed order of blocks: the same bits
    data = fasthdmr.dask.fit(HDMR(knots=HDMR().partial_fit(X, Y).knots_), rows, y)
    assert_close(data.evaluate(X), HDMR().fit(X, Y).evaluate(X), 1e-9)


def test_frames_and_knots_from_the_first_blocks(client):
    frame = pytest.importorskip("dask.dataframe", reason="needs the data frames of dask")
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    rows = pandas.DataFrame(X, columns=list("abc"))
    collection = frame.from_pandas(rows.assign(y=Y), npartitions=5)
    hdmr = fasthdmr.dask.fit(HDMR(), collection[list("abc")], collection["y"])
    assert_close(hdmr.evaluate(rows), HDMR().fit(rows, Y).evaluate(rows), 1e-9)
    assert hdmr.feature_names_ == ("a", "b", "c")


def test_a_lost_worker_loses_nothing(client):
    pid_of_worker = next(iter(client.run(os.getpid).values()))

    def slow(block: np.ndarray) -> np.ndarray:
        import time

        time.sleep(0.05)
        return block

    rows = array.from_array(X, (100, 3)).map_blocks(slow, dtype=float)
    others = [address for address, pid in client.run(os.getpid).items() if pid != pid_of_worker]
    future = client.submit(lambda pid: os.kill(pid, signal.SIGKILL), pid_of_worker, workers=others)
    hdmr = fasthdmr.dask.fit(TreeHDMR(MODEL, knots=KNOTS), rows)
    future.cancel()
    assert_close(hdmr.evaluate(X), TreeHDMR(MODEL, knots=KNOTS).fit(X).evaluate(X), 1e-9)


def test_what_does_not_fit_is_refused():
    rows = array.from_array(X, (1000, 3))
    with pytest.raises(TypeError, match="must be an array or data frame of dask, got ndarray"):
        fasthdmr.dask.fit(TREES, X)
    with pytest.raises(ValueError, match="columns of X are divided into 3 blocks"):
        fasthdmr.dask.fit(TREES, array.from_array(X, (1000, 1)))
    with pytest.raises(ValueError, match="X has 3 blocks, but y has 2"):
        fasthdmr.dask.fit(HDMR(), rows, array.from_array(Y, 2000))
    with pytest.raises(TypeError, match="y must be a collection of dask"):
        fasthdmr.dask.fit(HDMR(), rows, Y)
    with pytest.raises(ValueError, match="Models cannot be fitted in batches"):
        fasthdmr.dask.fit(TreeHDMR(), rows)
    with pytest.raises(TypeError, match="X is a dask collection"):
        HDMR().fit(rows, Y)
    with pytest.raises(TypeError, match="X is a dask collection"):
        TreeHDMR(MODEL).fit(rows)


def test_errors_name_the_block():
    bad = X.copy()
    bad[2500, 1] = np.nan
    with pytest.raises(ValueError, match="Block 2: Column 'x1' had no missing values"):
        fasthdmr.dask.fit(
            HDMR(knots=HDMR().partial_fit(X, Y).knots_), array.from_array(bad, (1000, 3)), array.from_array(Y, 1000)
        )
