"""Missing values in nullable and Arrow dtypes of pandas, and in polars, are read as NaN, which some models refuse."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from tolerance import assert_close

from fasthdmr import HDMR, TreeHDMR, load_forest
from fasthdmr.inspection import partial_dependence

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning")

RNG = np.random.default_rng(0)
X = np.where(RNG.random((150, 3)) < 0.2, np.nan, RNG.integers(0, 3, (150, 3)))
Y = np.nan_to_num(X) @ [1, 2, 3]
NAMES = ["a", "b", "c"]
FRAME = pd.DataFrame(X, columns=NAMES)
BOOL = np.where(np.isnan(X), np.nan, X > 0)


def of_polars(rows, cast):
    frame = pytest.importorskip("polars").DataFrame
    columns = ([None if np.isnan(value) else cast(value) for value in column] for column in rows.T)
    return frame(dict(zip(NAMES, columns, strict=True)))


def of_pandas(rows, dtype):
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    frame = pd.DataFrame(rows, columns=NAMES)
    return frame.astype("boolean").astype(dtype) if "bool" in dtype else frame.astype(dtype)


def of_dtypes(rows):
    return of_pandas(rows, "Int64").astype({"b": "Float64"}).assign(c=rows[:, 2])


KINDS = {
    dtype: (X, lambda rows, dtype=dtype: of_pandas(rows, dtype))
    for dtype in ("Int64", "Int8", "UInt8", "Float64", "Float32", "int64[pyarrow]", "double[pyarrow]", "float[pyarrow]")
} | {
    "boolean": (BOOL, lambda rows: of_pandas(rows, "boolean")),
    "bool[pyarrow]": (BOOL, lambda rows: of_pandas(rows, "bool[pyarrow]")),
    "several": (X, of_dtypes),
    "polars integers": (X, lambda rows: of_polars(rows, int)),
    "polars floats": (X, lambda rows: of_polars(rows, float)),
    "polars booleans": (BOOL, lambda rows: of_polars(rows, bool)),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
def test_missing_values_are_nan_to_models_that_accept_them(kind):
    rows, make = KINDS[kind]
    frame, plain = make(rows), pd.DataFrame(rows, columns=NAMES)
    model = HistGradientBoostingRegressor(max_iter=10).fit(rows, Y)
    forest = load_forest(model)
    assert np.array_equal(forest.predict(frame), forest.predict(rows))
    assert np.array_equal(forest.group_features(frame, by="node"), forest.group_features(rows, by="node"))
    fit, same = TreeHDMR(model).fit(frame), TreeHDMR(model).fit(plain)
    assert_close(fit.transform(frame), same.transform(plain))  # columns of levels, as of numbers with few values
    assert_close(fit.explain(frame[:1]).contributions, same.explain(plain[:1]).contributions)
    curves = [partial_dependence(model, of, [0])["average"] for of in (frame, plain)]
    assert np.array_equal(*curves)


@every_kind
def test_missing_values_are_refused_for_other_models(kind):
    rows, make = KINDS[kind]
    model = GradientBoostingRegressor(n_estimators=3).fit(np.nan_to_num(rows), Y)
    for refuses in (load_forest(model).predict, TreeHDMR(model).fit, HDMR(model).fit):
        with pytest.raises(ValueError, match="Input X contains NaN"):
            refuses(make(rows))
    whole = make(np.nan_to_num(rows))
    assert np.array_equal(load_forest(model).predict(whole), load_forest(model).predict(np.nan_to_num(rows)))


def test_a_row_of_several_dtypes():
    frame = of_dtypes(X).assign(c=of_pandas(BOOL, "boolean")["c"])
    model = HistGradientBoostingRegressor(max_iter=10).fit(X, Y)
    fit = TreeHDMR(model).fit(frame)
    for i in np.flatnonzero(np.isnan(X).any(axis=1))[:3]:
        assert fit.explain(frame.iloc[i]).output == fit.explain(frame.iloc[[i]]).output
    assert np.isnan(X[np.isnan(X).any(axis=1)]).any(axis=0).all()


def test_missing_values_in_columns_of_objects():
    frame = FRAME.astype(object).where(FRAME.notna(), pd.NA)
    forest = load_forest(HistGradientBoostingRegressor(max_iter=10).fit(X, Y))
    with pytest.raises(TypeError, match=r"'a' holds objects of type NAType.*X.where\(X.notna\(\), np.nan\)"):
        forest.predict(frame)
    assert np.array_equal(forest.predict(frame.where(frame.notna(), np.nan)), forest.predict(X))
