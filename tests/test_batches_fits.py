"""A fit on batches of any source is the fit on the table in memory, with text, weights and names."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tolerance import assert_close

from fasthdmr import HDMR, batches

RNG = np.random.default_rng(0)
N = 900
FRAME = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "b"])
FRAME["city"] = RNG.choice(["Oslo", "Rome", "Bern"], N)
FRAME["price"] = FRAME["a"] * FRAME["b"] + (FRAME["city"] == "Rome")
FRAME["w"] = RNG.integers(1, 3, N)
CHOSEN = {"target": "price", "weight": "w", "columns": ["city", "a", "b"]}


def pandas(path):
    return [FRAME[:400], FRAME[400:400], FRAME[400:]]


def polars(path):
    return pl.from_pandas(FRAME)


def lazy(path):
    if not hasattr(pl.LazyFrame, "collect_batches"):
        pytest.skip("polars is older than 1.34")
    return pl.from_pandas(FRAME).lazy()


def parquet(path):
    pytest.importorskip("pyarrow", reason="pyarrow is of the extra arrow")
    FRAME.astype({"city": "category"}).to_parquet(path / "rows.parquet", row_group_size=250)
    return path / "rows.parquet"


def csv(path):
    pytest.importorskip("pyarrow", reason="pyarrow is of the extra arrow")
    FRAME.to_csv(path / "rows.csv", index=False)
    return path


def arrow(path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is of the extra arrow")
    return pyarrow.Table.from_pandas(FRAME).to_reader(300)


def dask(path):
    frames = pytest.importorskip("dask.dataframe", reason="dask is of the extra dask")
    return frames.from_pandas(FRAME, npartitions=4)


@pytest.fixture(scope="module")
def in_memory():
    knots = HDMR().partial_fit(FRAME[["city", "a", "b"]], FRAME["price"]).knots_
    return HDMR(knots=knots).fit(FRAME[["city", "a", "b"]], FRAME["price"], FRAME["w"])


@pytest.mark.parametrize("rows", [None, 350])
@pytest.mark.parametrize("source", [pandas, polars, lazy, parquet, csv, arrow, dask])
def test_any_source_gives_the_fit_in_memory(source, rows, tmp_path, in_memory):
    hdmr = HDMR(knots=in_memory.knots_).fit(batches(source(tmp_path), **CHOSEN, batch_rows=rows))
    assert hdmr.feature_names_ == ("city", "a", "b")
    assert_close(hdmr.sensitivity_.S, in_memory.sensitivity_.S, 1e-10)
    assert str(hdmr.summary()).count("price") == str(in_memory.summary()).count("price")
