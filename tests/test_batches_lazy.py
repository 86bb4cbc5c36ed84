"""Batches of queries of polars and of collections of dask: the rows of the table, computed when they are needed."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from test_batches import CHOSEN, FRAME, INDICES, NUMBERS, W, X, Y, assert_same_rows

from fasthdmr import batches

HAS_BATCHES = pytest.mark.skipif(not hasattr(pl.LazyFrame, "collect_batches"), reason="polars is older than 1.34")


@HAS_BATCHES
@pytest.mark.parametrize("rows", [None, 64])
def test_queries_of_polars(rows, tmp_path):
    frame = pl.from_pandas(FRAME)
    frame.write_parquet(tmp_path / "rows.parquet", row_group_size=100)
    frame.write_csv(tmp_path / "rows.csv")
    for query in (frame.lazy(), pl.scan_parquet(tmp_path / "rows.parquet"), pl.scan_csv(tmp_path / "rows.csv")):
        for source in (query, lambda query=query: query, [query]):
            data = batches(source, **CHOSEN, batch_rows=rows)
            for _ in range(2):
                found = assert_same_rows(data)
            assert isinstance(found[0].X, pl.DataFrame)
            assert rows is None or [len(batch) for batch in found] == [64] * 15 + [40]
    kept = FRAME["a"] > 0
    assert_same_rows(batches(frame.lazy().filter(pl.col("a") > 0), **CHOSEN), X[kept], Y[kept], W[kept])
    with pytest.raises(ValueError, match=r"In batch 0 .* columns has the name 'z', but the columns are 'a', 'city'"):
        list(batches(frame.lazy(), columns=["z", "a"]))


@HAS_BATCHES
def test_queries_run_when_they_are_needed_and_without_other_columns():
    asked = []

    def scan(with_columns, predicate, n_rows, batch_size):
        asked.append(with_columns)
        yield pl.from_pandas(FRAME).select(with_columns)

    data = batches(pl.io.plugins.register_io_source(scan, schema=pl.from_pandas(FRAME).schema), **CHOSEN)
    assert not asked
    assert_same_rows(data)
    assert [sorted(columns) for columns in asked] == [["a", "count", "w", "y"]]


def test_queries_of_old_polars(monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)
    with pytest.raises(ImportError, match=r"polars 1\.34 is needed to read a LazyFrame: pip install 'polars>=1\.34'"):
        batches(pl.LazyFrame({"a": [1]}))


@pytest.fixture
def dask():
    """Dask, which computes in the thread of the test."""
    module = pytest.importorskip("dask", reason="dask is of the extra dask")
    pytest.importorskip("dask.dataframe", reason="dask is of the extra dask")
    pytest.importorskip("dask.array", reason="dask is of the extra dask")
    with module.config.set(scheduler="synchronous"):
        yield module


CHUNKS = (1, 299, 0, 500, 200)


@pytest.mark.parametrize("rows", [None, 64])
def test_arrays_of_dask(dask, rows):
    array = dask.array.from_array(NUMBERS.to_numpy(), chunks=(CHUNKS, -1))
    y, weight = (dask.array.from_array(values, chunks=(CHUNKS,)) for values in (Y, W))
    rows_of_X = array[:, [1, 0]]
    for source, chosen in ((array, INDICES), ((rows_of_X, y, weight), {}), ([array], INDICES)):
        data = batches(source, **chosen, batch_rows=rows)
        for _ in range(2):
            found = assert_same_rows(data)
        assert rows or [(batch.number, len(batch)) for batch in found] == [(0, 1), (1, 299), (3, 500), (4, 200)]
    assert_same_rows(batches((rows_of_X, None, weight), batch_rows=rows), y=None)
    unknown = dask.dataframe.from_pandas(NUMBERS, npartitions=3).to_dask_array()
    assert np.isnan(unknown.chunks[0]).all()
    assert_same_rows(batches(unknown, **INDICES, batch_rows=rows))


@pytest.mark.parametrize("rows", [None, 64])
def test_frames_of_dask(dask, rows):
    frame = dask.dataframe.from_pandas(FRAME, npartitions=7)
    for source, chosen in ((frame, CHOSEN), ((frame[["count", "a"]], frame["y"], frame["w"]), {})):
        found = assert_same_rows(batches(source, **chosen, batch_rows=rows))
        assert isinstance(found[0].X, pd.DataFrame) and list(found[0].X.columns) == ["count", "a"]
        assert rows or len(found) == 7
        assert found[0].y.name == "y"


def test_partitions_are_computed_when_they_are_needed(dask):
    computed = []

    def compute(k):
        computed.append(k)
        return FRAME[100 * k : 100 * (k + 1)]

    frame = dask.dataframe.from_map(compute, range(10), meta=FRAME)
    data = batches(frame, **CHOSEN)
    assert not computed
    assert len(data.first(150)) == 150 and computed == [0, 1]
    computed.clear()
    for k, batch in enumerate(data):
        assert batch.number == k and computed == list(range(k + 1))


def test_only_the_needed_columns_of_parquet_are_read_by_dask(dask, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is of the extra arrow")
    FRAME.to_parquet(tmp_path / "a.parquet")
    source = dask.dataframe.read_parquet(tmp_path / "a.parquet")
    ((part,), _) = batches(source, **CHOSEN)._source.read.args
    assert sorted(part.optimize().columns) == ["a", "count", "w", "y"]
    assert_same_rows(batches(source, **CHOSEN))


def test_errors_of_dask(dask):
    array = dask.array.from_array(X, chunks=(100, 1))
    with pytest.raises(ValueError, match=r"chunks of source split its columns: \(1, 1\)\. .* source\.rechunk"):
        batches(array)
    whole, y = array.rechunk({1: -1}), dask.array.from_array(Y, chunks=200)
    with pytest.raises(ValueError, match=r"y is divided into 5 partitions of \(200, .* X into 10 partitions of \(100"):
        batches((whole, y))
    with pytest.raises(ValueError, match="y is divided into 10 partitions of"):
        batches((whole, dask.array.from_array(Y, chunks=((50, 150) * 5,))))
    with pytest.raises(TypeError, match=r"y must be an array or a data frame of dask, .* got ndarray"):
        batches((whole, Y))
    with pytest.raises(TypeError, match=r"source must be an array or a data frame of dask, .* got Delayed"):
        batches(dask.delayed(X))
    with pytest.raises(ValueError, match="a tuple of 4"):
        batches((whole,) * 4)
    with pytest.raises(TypeError, match="got Delayed"):
        list(batches([dask.delayed(X)]))
    frame = dask.dataframe.from_pandas(FRAME, npartitions=2)
    with pytest.raises(ValueError, match=r"In batch 0 .* X has 500 rows, but y has 100"):
        list(batches((frame[["a"]], dask.dataframe.from_pandas(FRAME["y"][:200], npartitions=2))))
    with pytest.raises(ValueError, match=r"In batch 0 .* target has the name 'z', but the columns are 'a', 'city'"):
        list(batches(frame, target="z", columns=["a"]))
