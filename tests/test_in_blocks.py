"""Results written into an array of the caller: the same numbers, block by block, and errors for wrong arrays."""

import tracemalloc
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVR

import fasthdmr
from fasthdmr._estimators import in_blocks

N = 3000
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=N)
FEW = slice(400)
METHODS = ("predict", "transform", "evaluate", "shapley_values")


@cache
def fitted(name):
    boosting = {"n_estimators": 20, "max_depth": 3, "random_state": 0}
    if name == "data":
        return fasthdmr.HDMR().fit(X[FEW], Y[FEW])
    if name == "kernel":
        return fasthdmr.KernelHDMR(SVR(kernel="poly", degree=2).fit(X[FEW], Y[FEW])).fit(X[FEW])
    if name == "classes":
        model = GradientBoostingClassifier(**boosting).fit(X[FEW], np.digitize(Y[FEW], [-1, 1]))
        return fasthdmr.TreeHDMR(model).fit(X[FEW])
    if name == "deep":
        model = RandomForestRegressor(10, random_state=0).fit(X[FEW], Y[FEW])
        return fasthdmr.TreeHDMR(model, basis="trees").fit(X[FEW])
    model = GradientBoostingRegressor(**boosting).fit(X[FEW], Y[FEW])
    return fasthdmr.TreeHDMR(model, measure="product" if name == "product" else "empirical").fit(X[FEW])


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(in_blocks, "BLOCK_BYTES", 1)


@pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")
@pytest.mark.parametrize("name", ["data", "kernel", "classes", "deep", "spline", "product"])
@pytest.mark.parametrize("method", METHODS)
def test_the_same_numbers(name, method):
    call = getattr(fitted(name), method)
    whole = call(X)
    for out in (np.full(whole.shape, np.nan), np.full(whole.shape, np.nan, order="F")):
        assert call(X, out=out) is out
        assert np.array_equal(out, whole)


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_any_kind(method, tmp_path):
    hdmr = fitted("spline")
    call, whole = getattr(hdmr, method), getattr(hdmr, method)(X)
    mapped = np.memmap(tmp_path / "X", np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    for rows in (
        mapped,
        X[::-1].copy()[::-1],
        pd.DataFrame(X),
        X.tolist(),
        X.astype(object),
        csr_array(X),
        coo_array(X),
    ):
        out = np.memmap(tmp_path / "out", np.float64, mode="w+", shape=whole.shape)
        call(rows, out=out)
        assert np.array_equal(out, whole)


@pytest.mark.parametrize("n_rows", [1, 1023, 1024, 1025, 2049])
def test_any_number_of_rows(n_rows):
    hdmr = fitted("data")
    out = np.empty(n_rows)
    assert np.array_equal(hdmr.predict(X[:n_rows], out=out), hdmr.predict(X[:n_rows]))


def test_a_saved_decomposition(tmp_path):
    hdmr = fitted("spline")
    hdmr.save(tmp_path / "hdmr")
    out = np.empty(N)
    fasthdmr.load_decomposition(tmp_path / "hdmr").predict(X, out=out)
    assert np.array_equal(out, hdmr.predict(X))


def test_a_block_at_a_time_is_in_memory():
    hdmr = fitted("data")
    rows = np.tile(X, (20, 1))
    out = np.empty((len(rows), len(hdmr.subspaces_)))
    hdmr.transform(rows[:10], out=out[:10])
    tracemalloc.start()
    try:
        hdmr.transform(rows, out=out)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < out.nbytes / 4


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.empty(N, np.float32), TypeError, "out must be an array of float64.* got one of float32"),
        ([0.0] * N, TypeError, "out must be an array of float64.* got list"),
        (np.empty(N - 1), ValueError, r"out must have shape \(3000,\), got \(2999,\)"),
        (np.empty((N, 1)), ValueError, r"out must have shape \(3000,\), got \(3000, 1\)"),
        (np.broadcast_to(0.0, N), ValueError, "read-only"),
        (X[:, 0], ValueError, "share memory"),
    ],
)
def test_arrays_that_do_not_fit(out, error, message):
    with pytest.raises(error, match=message):
        fitted("data").predict(X, out=out)


def test_rows_that_are_refused():
    hdmr, out, wrong = fitted("data"), np.zeros(N), X.copy()
    wrong[2500, 1] = np.inf
    for rows in (wrong, X[:, :3], X[0]):
        with pytest.raises(ValueError, match=r"infinity|features|Expected 2D"):
            hdmr.predict(rows, out=out)


def test_pipelines_do_not_route_it():
    assert not hasattr(fitted("data"), "set_predict_request")
    assert not hasattr(fitted("data"), "set_transform_request")


def test_an_estimator_that_is_not_fitted():
    for method in METHODS:
        with pytest.raises(NotFittedError):
            getattr(fasthdmr.HDMR(), method)(X, out=np.empty(N))
