"""Batches of Arrow: tables, readers, datasets and files give the rows of the table in memory."""

import decimal
import sys

import numpy as np
import pandas as pd
import pytest
from test_batches import CHOSEN, FRAME, N, W, X, Y, assert_same_rows

from fasthdmr import batches
from fasthdmr._batches import files, tables

pa = pytest.importorskip("pyarrow", reason="pyarrow is of the extra arrow")
import pyarrow.dataset as ds  # noqa: E402
import pyarrow.feather as feather  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

TABLE = pa.Table.from_pandas(FRAME)


def parquet(path, table=TABLE, **options):
    pq.write_table(table, path, **{"row_group_size": 300, **options})
    return path


def arrow(path, table=TABLE):
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=300)
    return path


def compressed(path, table=TABLE, chunksize=300):
    feather.write_feather(table, path, compression="zstd", chunksize=chunksize)
    return path


def csv(path, table=TABLE):
    table.to_pandas().to_csv(path, index=False)
    return path


FILES = {
    "rows.parquet": parquet,
    "rows.PQ": parquet,
    "rows.arrow": arrow,
    "rows.ipc": arrow,
    "rows.feather": compressed,
    "rows.csv": csv,
}


@pytest.mark.parametrize("rows", [None, 77, 300, 5000])
@pytest.mark.parametrize("name", FILES)
def test_files(name, rows, tmp_path):
    path = FILES[name](tmp_path / name)
    for source in (path, str(path), [path], lambda: path, (path,)):
        data = batches(source, **CHOSEN, batch_rows=rows)
        assert data.can_be_read_twice
        for _ in range(2):
            found = assert_same_rows(data)
        assert rows is None or [len(batch) for batch in found[:-1]] == [rows] * (len(found) - 1)
    (whole,) = batches(path, target="y", batch_rows=N)
    pd.testing.assert_frame_equal(whole.X, FRAME.drop(columns="y"), check_dtype=False, rtol=0, atol=0)


@pytest.mark.parametrize("rows", [None, 77])
def test_directories(rows, tmp_path):
    (tmp_path / "below").mkdir()
    parquet(tmp_path / "a.parquet", TABLE[:200])
    arrow(tmp_path / "b.arrow", TABLE[200:500])
    parquet(tmp_path / "below" / "c.parquet", TABLE.select(["y", "w", "count", "a"])[500:])
    for name in ("_SUCCESS", "_metadata.parquet", ".hidden.parquet", "notes.txt"):
        (tmp_path / name).write_text("no rows")
    assert_same_rows(batches(tmp_path, **CHOSEN, batch_rows=rows))
    paths = sorted(tmp_path.rglob("[a-c].*"))
    assert_same_rows(batches(paths, **CHOSEN, batch_rows=rows))
    once = batches((path for path in paths), **CHOSEN, batch_rows=rows)
    assert not once.can_be_read_twice
    assert len(once.first(300)) == 300
    assert_same_rows(once)


def test_directories_that_hold_values(tmp_path):
    years = np.repeat([2023, 2024], N // 2)
    table = TABLE.append_column("year", pa.array(years))
    ds.write_dataset(table, tmp_path, format="parquet", partitioning=["year"], partitioning_flavor="hive")
    found = assert_same_rows(
        batches(tmp_path, "y", "w", ["count", "a", "year"]), np.c_[X, np.repeat([2023, 2024], 500)]
    )
    assert {tuple(np.unique(batch.X["year"])) for batch in found} == {(2023,), (2024,)}


def readers(tmp_path):
    parquet(tmp_path / "a.parquet", TABLE[:200])
    parquet(tmp_path / "b.parquet", TABLE[200:])
    arrow(tmp_path / "a.arrow")
    return {
        "table": lambda: TABLE,
        "record batch": lambda: TABLE.to_batches()[0],
        "record batches": lambda: TABLE.to_batches(max_chunksize=70),
        "tables": lambda: [TABLE[:10], TABLE[10:10], TABLE[10:]],
        "dataset": lambda: ds.dataset([tmp_path / "a.parquet", tmp_path / "b.parquet"]),
        "arrow dataset": lambda: ds.dataset(tmp_path / "a.arrow", format="ipc"),
        "dataset in memory": lambda: ds.dataset(TABLE),
        "reader": lambda: TABLE.to_reader(max_chunksize=70),
    }


@pytest.mark.parametrize("rows", [None, 77])
def test_objects_of_arrow(rows, tmp_path):
    for name, make in readers(tmp_path).items():
        data = batches(make(), **CHOSEN, batch_rows=rows)
        assert data.can_be_read_twice == (name != "reader")
        for _ in range(1 + data.can_be_read_twice):
            assert_same_rows(data)
        found = batches(make(), target="y")
        assert all(list(batch.X.columns) == ["a", "city", "count", "w"] for batch in found)
    again = batches(lambda: TABLE.to_reader(max_chunksize=70), **CHOSEN)
    for _ in range(2):
        assert_same_rows(again)


@pytest.mark.parametrize("name", FILES)
def test_names_that_are_not_unique(name, tmp_path):
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0]), pa.array([3.0])], names=["a", "a", "b"])
    path = tmp_path / name
    if name == "rows.csv":
        path.write_text("a,a,b\n1,2,3\n")
    else:
        (arrow if FILES[name] is compressed else FILES[name])(path, table)  # feather refuses such tables
    for columns in (["b", "a"], None):
        with pytest.raises(ValueError, match="2 columns are named 'a'"):
            list(batches(path, columns=columns))
    (batch,) = batches(path, columns=["b"])
    assert batch.X["b"].tolist() == [3.0]


@pytest.mark.parametrize("columns", [["a.b"], ["a"], ["year=1", ".c", "a.b", ""]])
def test_names_that_look_like_paths(columns, tmp_path):
    table = pa.table({name: [float(k)] for k, name in enumerate(["a", "a.b", ".c", "", "year=1"])})
    paths = [make(tmp_path / name, table) for name, make in FILES.items()]
    for source in (*paths, ds.dataset(paths[0]), table):
        (batch,) = batches(source, columns=columns)
        assert list(batch.X.columns) == columns
        assert batch.X.iloc[0].tolist() == [table[name][0].as_py() for name in columns]


def test_only_the_columns_that_are_needed_are_read(tmp_path, monkeypatch):
    converted = []
    as_pandas = tables._as_pandas
    monkeypatch.setattr(tables, "_as_pandas", lambda table, needed: converted.append(table) or as_pandas(table, needed))
    paths = [make(tmp_path / name) for name, make in FILES.items()]
    for source in (*paths, ds.dataset(paths[0])):
        list(batches(source, target="y", columns=["count", "a"]))
    assert {tuple(sorted(table.schema.names)) for table in converted} == {("a", "count", "y")}


def test_one_batch_at_a_time(tmp_path):
    large = pa.table({f"x{j}": np.random.default_rng(j).normal(size=1_000_000) for j in range(2)})
    size = large.nbytes
    paths = [parquet(tmp_path / "rows.parquet", large, row_group_size=10**7, use_dictionary=False)]
    paths += [compressed(tmp_path / "rows.arrow", large, chunksize=50_000)]
    del large
    for path in paths:
        before, read = pa.total_allocated_bytes(), []
        for batch in batches(path, batch_rows=50_000):
            read.append(pa.total_allocated_bytes() - before + batch.X.memory_usage().sum())
            del batch
        assert len(read) == 20
        assert max(read) < 0.4 * size


def test_types_of_columns():
    table = pa.table(
        {
            "decimal": pa.array([decimal.Decimal("1.5"), None]),
            "integer": pa.array([1, None]),
            "half": pa.array(np.array([1, 2], np.float16)),
            "yes": pa.array([True, False]),
            "level": pa.array(["a", "b"]).dictionary_encode(),
            "__index_level_0__": pa.array([5, 6]),
        }
    )
    (batch,) = batches(table)
    assert [dtype.name for dtype in batch.X.dtypes] == ["float64", "float64", "float16", "bool", "category"]
    np.testing.assert_array_equal(batch.X[["decimal", "integer"]], [[1.5, 1.0], [np.nan, np.nan]])


def test_levels_of_record_batches_have_dictionaries_of_their_own():
    parts = [pa.table({"c": pa.array(values).dictionary_encode()}) for values in (["a", "b"], ["c"], ["b"])]
    assert batches(parts, batch_rows=4).first(9).X["c"].astype(str).tolist() == ["a", "b", "c", "b"]


def test_numbers_of_csv_may_become_fractions_and_text_only_with_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_BLOCK", 100)
    path, middle = tmp_path / "rows.csv", 60
    whole, late = np.arange(100.0), np.where(np.arange(100) < middle, np.nan, 1.5)
    whole[middle:] += 0.5
    text = [None if k % 9 == 0 else "abc"[k % 3] for k in range(100)]
    frame = pd.DataFrame({"whole": whole, "late": late, "text": text})
    with open(path, "w") as file:
        frame[:middle].astype({"whole": int}).to_csv(file, index=False)
        frame[middle:].to_csv(file, index=False, header=False)
    found = list(batches(path, batch_rows=40))
    np.testing.assert_array_equal(np.concatenate([b.X[["whole", "late"]] for b in found]), np.c_[whole, late])
    assert [None if pd.isna(v) else v for batch in found for v in batch.X["text"]] == text
    with open(path, "a") as file:
        file.write("many,1,a\n")
    with pytest.raises(ValueError, match=r"rows.csv' cannot be read: .*'many'"):
        list(batches(path))


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file or directory '.*nothing.parquet'"):
        batches(tmp_path / "nothing.parquet")
    with pytest.raises(ValueError, match=r"has no files of the formats .parquet"):
        batches(tmp_path)
    (tmp_path / "rows.txt").write_text("a")
    with pytest.raises(ValueError, match=r"rows.txt' is of none of the formats .parquet, .pq"):
        batches(str(tmp_path / "rows.txt"))
    for name in ("bad.parquet", "bad.arrow", "bad.feather"):
        (tmp_path / name).write_bytes(b"PAR1 no rows")
        with pytest.raises(ValueError, match=f"{name}' cannot be read"):
            list(batches(tmp_path / name))
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(ValueError, match=r"empty.csv' cannot be read: Empty CSV file"):
        list(batches(tmp_path / "empty.csv"))
    parquet(tmp_path / "a.parquet")
    parquet(tmp_path / "b.parquet", TABLE.drop_columns("y"))
    with pytest.raises(ValueError, match=r"In batch 1 .* column 'y' is missing. Its columns are 'a', 'city'"):
        list(batches([tmp_path / "a.parquet", tmp_path / "b.parquet"], **CHOSEN))
    with pytest.raises(ValueError, match=r"In batch 0 .* columns has the name 'z', but the columns are 'a', 'city'"):
        list(batches(tmp_path / "a.parquet", columns=["z", "a"]))


@pytest.mark.parametrize("name", ["pyarrow", "pandas"])
def test_packages_that_are_missing(name, tmp_path, monkeypatch):
    path = parquet(tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=rf"{name} is needed here: pip install 'fasthdmr\[arrow\]'"):
        list(batches(path))


def test_weights_and_targets_of_files_are_plain(tmp_path):
    (batch,) = batches(parquet(tmp_path / "a.parquet"), **CHOSEN)
    assert isinstance(batch.sample_weight, np.ndarray) and batch.y.name == "y"
    assert np.array_equal(batch.sample_weight, W) and np.array_equal(batch.y, Y)
