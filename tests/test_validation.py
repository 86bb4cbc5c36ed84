"""Rows in all forms that users have, and the errors for invalid ones."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression

from fasthdmr._support.validation import check_rows

X = np.array([[0.5, 2.0], [1.5, 3.0], [2.5, 4.0]])


def checked(rows, n_features=2, *, allow_nan=False, allow_inf=False, **options):
    return check_rows(rows, n_features, allow_nan=allow_nan, allow_inf=allow_inf, **options)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_float_arrays_are_not_copied(dtype, order):
    rows = np.array(X, dtype=dtype, order=order)
    for view in (rows, rows[::2], rows[:, ::-1]):
        result = checked(view)
        assert np.shares_memory(result, rows) and result.dtype == dtype and result.strides == view.strides


def test_misaligned_arrays_are_copied():
    misaligned = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    assert not misaligned.flags.aligned
    assert checked(misaligned).flags.aligned and np.array_equal(checked(misaligned), X)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool, np.float16, object, ">f8"])
def test_other_numbers_become_float64(dtype):
    rows = np.array([[0, 1], [1, 1]], dtype=dtype)
    assert checked(rows).dtype == np.dtype("=f8")
    assert checked(rows).tolist() == [[0.0, 1.0], [1.0, 1.0]]


def test_pandas_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, 2], "b": pd.array([0.5, None], dtype="Float64")})
    result = checked(frame, feature_names=("a", "b"), allow_nan=True)
    assert np.array_equal(result, [[1.0, 0.5], [2.0, np.nan]], equal_nan=True)
    assert checked(pd.DataFrame(X.astype(np.float32))).dtype == np.float32


def test_polars_frames():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": [1, 2], "b": [0.5, None]})
    result = checked(frame, feature_names=("a", "b"), allow_nan=True)
    assert np.array_equal(result, [[1.0, 0.5], [2.0, np.nan]], equal_nan=True)
    with pytest.raises(ValueError, match="same order"):
        checked(frame, feature_names=("b", "a"))


@pytest.mark.parametrize(
    ("columns", "n_names"),
    [
        (["b", "a"], 2),
        (["a", "c"], 2),
        (["a"], 2),
        (["a", "b", "c"], 2),
        (["x", "y"], 2),
        ([f"v{i}" for i in range(9)], 2),
    ],
    ids=["order", "unseen", "missing", "more", "all other", "many"],
)
def test_wrong_names_are_refused_in_scikit_learns_words(columns, n_names):
    pd = pytest.importorskip("pandas")
    names = ("a", "b")[:n_names]
    frame = pd.DataFrame(np.ones((2, len(columns))), columns=columns)
    with pytest.raises(ValueError) as theirs:
        LinearRegression().fit(pd.DataFrame(X, columns=names), X[:, 0]).predict(frame)
    with pytest.raises(ValueError) as ours:
        checked(frame, feature_names=names)
    assert str(ours.value) == str(theirs.value)


def test_unnamed_columns_go_by_position():
    pd = pytest.importorskip("pandas")
    assert np.array_equal(checked(X, feature_names=("a", "b")), X)
    assert np.array_equal(checked(pd.DataFrame(X), feature_names=("a", "b")), X)
    assert np.array_equal(checked(pd.DataFrame(X, columns=["u", "v"])), X)


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (X[:, :1], ValueError, "X has 1 features, but Forest is expecting 2 features as input"),
        (X[0], ValueError, "Expected 2D array, got 1D array instead"),
        (X[None], ValueError, "dim 3"),
        (X[:0], ValueError, r"Found array with 0 sample\(s\)"),
        (sparse.csr_array(X), TypeError, "Sparse data was passed for X, but dense data is required"),
        (X.astype(str), ValueError, "text"),
        (np.array([["a", 1.0]], dtype=object), ValueError, "must be numeric.*'a'.*Encode"),
        ([["a", "b"]], ValueError, "must be numeric.*Encode"),
        (X * 1j, ValueError, "Complex data not supported"),
    ],
    ids=["columns", "1-D", "3-D", "empty", "sparse", "text", "object", "list", "complex"],
)
def test_invalid_input_is_refused(rows, error, message):
    with pytest.raises(error, match=message):
        checked(rows)


def test_text_columns_are_refused():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"a": [1.0, 2.0], "b": ["x", "y"]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        with pytest.raises(ValueError, match=r"must be numeric.*'x'"):
            checked(frame)


@pytest.mark.parametrize("allow_nan", [True, False])
@pytest.mark.parametrize("allow_inf", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_and_infinity_are_allowed_separately(allow_nan, allow_inf, dtype):
    for value, allowed, word in (
        (np.nan, allow_nan, "NaN"),
        (np.inf, allow_inf, "infinity"),
        (-np.inf, allow_inf, "infinity"),
    ):
        rows = X.astype(dtype)
        rows[1, 1] = value
        if allowed:
            assert np.array_equal(checked(rows, allow_nan=allow_nan, allow_inf=allow_inf), rows, equal_nan=True)
        else:
            with pytest.raises(ValueError, match=f"Input X contains {word}"):
                checked(rows, allow_nan=allow_nan, allow_inf=allow_inf)


def test_nan_beside_infinity_is_found():
    rows = np.array([[np.inf, -np.inf], [np.nan, 1.0]])
    with pytest.raises(ValueError, match="Forest does not accept missing values"):
        checked(rows, allow_inf=True)
