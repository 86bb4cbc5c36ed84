"""Batches: all sources give the rows of the table in memory, one batch at a time, and nothing before it is needed."""

import weakref
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fasthdmr import Batch, Batches, batches
from fasthdmr._support.progress import batches_progress

N = 1000
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "city": RNG.choice(["Oslo", "Bergen"], N),
        "count": RNG.integers(0, 9, N),
        "w": RNG.random(N),
        "y": RNG.normal(size=N),
    }
)
NUMBERS = FRAME.drop(columns="city")
CHOSEN = {"target": "y", "weight": "w", "columns": ["count", "a"]}
INDICES = {"target": 3, "weight": -2, "columns": [1, 0]}
X, Y, W = NUMBERS[["count", "a"]].to_numpy(), NUMBERS["y"].to_numpy(), NUMBERS["w"].to_numpy()


def parts_of(table, cuts):
    """The rows of a table in parts, which end at the cuts."""
    ends = [0, *sorted(cuts), len(table)]
    return [table[start:stop] for start, stop in pairwise(ends)]


def assert_same_rows(data, X=X, y=Y, weight=W):
    """Assert that a pass gives these rows in this order."""
    found = list(data)
    assert all(len(batch) > 0 for batch in found)
    for name, wanted in (("X", X), ("y", y), ("sample_weight", weight)):
        values = [getattr(batch, name) for batch in found]
        if wanted is None:
            assert set(values) == {None}
        else:
            np.testing.assert_array_equal(np.concatenate([np.asarray(value, wanted.dtype) for value in values]), wanted)
    return found


CUTS = st.lists(st.integers(0, N), max_size=6)
KINDS = {
    "array": (lambda: NUMBERS.to_numpy(), INDICES),
    "objects": (lambda: NUMBERS.to_numpy(dtype=object), INDICES),
    "pandas": (lambda: FRAME, CHOSEN),
    "polars": (lambda: pl.from_pandas(FRAME), CHOSEN),
}


@settings(max_examples=25, deadline=None)
@given(cuts=CUTS, kind=st.sampled_from(sorted(KINDS)), rows=st.sampled_from([None, 1, 7, 64, 400, N, 5000]))
def test_rows_are_those_of_the_table_for_any_cuts(cuts, kind, rows):
    make, chosen = KINDS[kind]
    parts = parts_of(make(), cuts)
    found = assert_same_rows(batches(parts, **chosen, batch_rows=rows))
    if rows is None:
        assert [batch.number for batch in found] == [k for k, part in enumerate(parts) if len(part)]
    else:
        assert [len(batch) for batch in found] == [rows] * (N // rows) + [N % rows] * (N % rows > 0)
        assert [batch.number for batch in found] == list(range(len(found)))


@settings(max_examples=15, deadline=None)
@given(cuts=CUTS, rows=st.sampled_from([None, 64]), data=st.data())
def test_columns_in_another_order_and_of_other_dtypes(cuts, rows, data):
    parts = []
    for part in parts_of(FRAME, cuts):
        dtype = data.draw(st.sampled_from(["int64", "int8", "float32", "Int64", "object"]))
        order = data.draw(st.permutations(list(FRAME.columns)))
        parts.append(part.astype({"count": dtype})[order])
    found = assert_same_rows(batches(parts, **CHOSEN, batch_rows=rows))
    assert all(list(batch.X.columns) == ["count", "a"] for batch in found)
    # The order of the first batch, without the choice of columns.
    names = [name for name in parts[[len(part) > 0 for part in parts].index(True)].columns if name != "y"]
    assert all(list(batch.X.columns) == names for batch in batches(parts, target="y", batch_rows=rows))


def test_tuples_and_parts_that_are_missing():
    parts = [slice(0, 300), slice(300, N)]
    assert_same_rows(batches([(X[part], Y[part], W[part]) for part in parts]))
    assert_same_rows(batches([(X[part].tolist(), Y[part].tolist()) for part in parts], batch_rows=70), weight=None)
    assert_same_rows(batches((X, None, W)), y=None)
    assert_same_rows(batches(X, batch_rows=13), y=None, weight=None)
    two = np.column_stack([Y, W])
    assert_same_rows(batches((X, two), batch_rows=13), y=two, weight=None)
    assert_same_rows(batches([NUMBERS], ["y", "w"], columns=["count", "a"]), y=two, weight=None)
    assert_same_rows(batches(NUMBERS.to_numpy(), [3, 2], columns=[1, 0], batch_rows=13), y=two, weight=None)


def test_columns_are_all_others_by_default():
    for source in (NUMBERS, pl.from_pandas(NUMBERS)):
        (batch,) = batches(source, target="y")
        assert list(batch.X.columns) == ["a", "count", "w"]
        assert batch.y.name == "y"
    (batch,) = batches(NUMBERS.to_numpy(), target=-1, weight=0)
    assert_same_rows([batch], NUMBERS[["count", "w"]].to_numpy(), Y, NUMBERS["a"].to_numpy())
    unnamed = pd.DataFrame(NUMBERS.to_numpy())
    (batch,) = batches(unnamed, target=3, columns=[1])
    assert_same_rows([batch], NUMBERS[["count"]].to_numpy(), Y, None)


def test_large_tables_are_cut_to_views(tmp_path):
    table = np.zeros((250_000, 2))
    found = list(batches(table))
    assert [len(batch) for batch in found] == [100_000, 100_000, 50_000]
    assert all(np.shares_memory(batch.X, table) for batch in found)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for batch in assert_same_rows(batches((mapped, Y), batch_rows=100), weight=None):
        assert isinstance(batch.X, np.memmap) and np.shares_memory(batch.X, mapped)


def pieces(alive, n_pieces=8, rows=10):
    """Tables of which it is known how many exist when the next one is made."""
    living = []
    for k in range(n_pieces):
        alive.append(sum(reference() is not None for reference in living))
        table = np.full((rows, 2), float(k)).view(Counted)
        living.append(weakref.ref(table))
        yield table
        del table


class Counted(np.ndarray):
    pass


@pytest.mark.parametrize("rows", [None, 1, 10, 17, 35])
@pytest.mark.parametrize("once", [True, False])
def test_one_piece_at_a_time(rows, once):
    alive = []
    data = batches(pieces(alive) if once else lambda: pieces(alive), batch_rows=rows)
    for batch in data:
        del batch
    # Joined rows are copies. Only whole pieces wait to be joined to a larger batch.
    waiting = 0 if rows is None or rows <= 10 else rows // 10
    assert max(alive) <= waiting
    assert len(alive) == 8


@pytest.mark.parametrize("verbose", [0, 1])
def test_progress_keeps_no_batch(verbose):
    alive = []
    for batch in batches_progress(batches(pieces(alive)), total=None, verbose=verbose):
        del batch
    assert alive == [0] * 8


def test_nothing_is_read_before_it_is_needed():
    read = []

    def source():
        for k in range(9):
            read.append(k)
            if k == 5:
                raise OSError("the disk is gone")
            yield np.zeros((10, 2))

    data = batches(source)
    assert data.first(25).X.shape == (25, 2) and read == [0, 1, 2]
    read.clear()
    found = iter(data)
    for k in range(5):
        assert next(found).number == k
    assert read == [0, 1, 2, 3, 4]
    with pytest.raises(OSError, match="the disk is gone"):
        next(found)


def test_what_can_be_read_twice():
    parts = [X[:500], X[500:]]
    for source in (parts, X, lambda: iter(parts), lambda: (part for part in parts), lambda: X):
        data = batches(source)
        assert data.can_be_read_twice
        for _ in range(2):
            assert_same_rows(data, y=None, weight=None)
        assert [len(one) for one, _ in zip(data, data, strict=True)] == [len(one) for one in data]
    for source in (iter(parts), (part for part in parts), map(np.asarray, parts)):
        data = batches(source)
        assert not data.can_be_read_twice
        assert_same_rows(data, y=None, weight=None)
        with pytest.raises(ValueError, match=r"can be read only once.*a function that returns a new iterator"):
            iter(data)
        with pytest.raises(ValueError, match="can be read only once"):
            data.first(1)


def test_a_function_that_returns_the_same_iterator_is_found():
    once = iter([X[:500], X[500:]])
    data = batches(lambda: once)
    assert_same_rows(data, y=None, weight=None)
    with pytest.raises(ValueError, match="no rows"):
        list(data)
    lengths = iter([3, 2])
    data = batches(lambda: [X[: next(lengths)]])
    list(data)
    with pytest.raises(ValueError, match="had 3 rows when it was first read, and has 2 now"):
        list(data)


@pytest.mark.parametrize("rows", [None, 7])
def test_first_rows_are_not_lost(rows):
    alive = []
    data = batches(pieces(alive), batch_rows=rows)
    for n_rows in (5, 25, 12):
        assert len(data.first(n_rows)) == n_rows
    assert len(alive) == 3
    assert np.array_equal(data.first(11).X[:, 0], [0] * 10 + [1])
    total = [batch.X[:, 0] for batch in data]
    assert np.array_equal(np.concatenate(total), np.repeat(np.arange(8.0), 10))
    assert len(batches(pieces([])).first(10**6)) == 80
    whole = batches(pieces([])).first(10)
    assert whole.number == 0 and len(whole) == 10


def test_batches_of_first_are_released_in_the_pass():
    alive = []
    data = batches(pieces(alive))
    data.first(40)
    for batch in data:
        del batch
    assert alive == [0, 1, 2, 3, 0, 0, 0, 0]


def test_categories_that_differ_stay_categories():
    parts = [pd.DataFrame({"c": pd.Categorical(values)}) for values in (["a", "b"], ["c", None], ["b"])]
    whole = batches(parts).first(10)
    assert whole.X["c"].dtype.name == "category"
    assert whole.X["c"].astype(object).where(whole.X["c"].notna(), None).tolist() == ["a", "b", "c", None, "b"]
    numbers = [pd.DataFrame({"c": pd.Categorical(values)}) for values in ([1, 2], [3], [2])]
    assert batches(numbers).first(10).X["c"].dtype.name == "category"
    enums = [pl.DataFrame({"c": pl.Series(values, dtype=pl.Categorical)}) for values in (["a"], ["b", "a"])]
    assert batches(enums).first(10).X["c"].to_list() == ["a", "b", "a"]
    assert [name for part in parts for name in part["c"].cat.categories] == ["a", "b", "c", "b"]  # not changed


def test_columns_without_values_in_a_batch():
    full = pd.DataFrame({"number": [1.5, 2.5], "count": [1, 2], "text": ["a", "b"]})
    for nothing in (None, np.nan, pd.NA):
        parts = [
            full,
            pd.DataFrame([[nothing] * 3], columns=list(full), dtype=object),
            full[:1].astype({"count": "Int64"}),
        ]
        X = batches(parts, batch_rows=9).first(9).X
        assert X.isna().to_numpy().tolist() == [[False] * 3] * 2 + [[True] * 3] + [[False] * 3]
        assert [X[name].dropna().tolist() for name in full] == [[1.5, 2.5, 1.5], [1, 2, 1], ["a", "b", "a"]]


def test_text_next_to_numbers_does_not_turn_them_into_text():
    whole = batches([np.array([["a"]]), np.array([[1.5]])]).first(2)
    assert whole.X.tolist() == [["a"], [1.5]]


A, B = np.zeros((3, 2)), NUMBERS[:3]
WRONG = {
    "columns missing": ([B, B.drop(columns="a")], {}, "In batch 1 .* column 'a' is missing"),
    "target missing": ([B, B, B.drop(columns="y")], {"target": "y"}, "In batch 2 .* column 'y' is missing"),
    "not in the first": ([B], {"target": "z"}, "In batch 0 .* target has the name 'z', but the columns are 'a'"),
    "new column": ([B, B.assign(z=1)], {}, "In batch 1 .* column 'z' is not in batches before"),
    "twice": ([B], {"columns": ["a", "a"]}, "column 'a' is twice"),
    "target in columns": ([B], {"columns": ["a", "y"], "target": -1}, "column 'y' is twice"),
    "no columns": ([B[["y"]]], {"target": "y"}, "no columns besides target"),
    "equal names": ([pd.concat([B, B], axis=1)], {}, "2 columns are named 'a'"),
    "count": ([A, A, A[:, :1]], {}, "In batch 2 .* X has 1 columns, but 2 in batches before"),
    "index": ([A], {"target": 2}, "target has the index 2, but there are 2 columns"),
    "name of array": ([A], {"weight": "w"}, "weight has the name 'w', but X has no column names"),
    "mixed": ([A, B], {}, "In batch 1 .* X is a pandas data frame, but an array in batches before"),
    "mixed frames": ([B, pl.from_pandas(B)], {}, "a polars data frame, but a pandas data frame"),
    "no names": ([B, B.set_axis(range(4), axis=1)], {}, "column names must be in all batches or in none: missing"),
    "y missing": ([(A, A[:, 0]), A], {}, "In batch 1 .* y must be in all batches or in none: missing here"),
    "weight new": ([(A, A[:, 0]), (A, A[:, 0], A[:, 0])], {}, "weight must be in all batches or in none: new here"),
    "lengths": ([(A, A[:, 0]), (A, A[:2, 0])], {}, "In batch 1 .* X has 3 rows, but y has 2"),
    "number": ([(A, 3.0)], {}, r"In batch 0 .* y must be an array with a value for each row, got 3\.0"),
    "tuple": ([(A, A, A, A)], {}, "In batch 0 .* got a tuple of 4"),
    "tuple and target": ([(A, A[:, 0])], {"target": 0}, "In batch 0 .* target and weight must be None"),
    "one-dimensional": ([[1.0, 2.0]], {}, r"In batch 0 .* shape \(N, n\), got list of shape \(2,\)"),
    "ragged": ([[[1.0, 2.0], [1.0]]], {}, "In batch 0 "),
    "empty": ([A[:0], A[:0]], {}, "no rows"),
    "nothing": ([], {}, "no rows"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_the_batch(name):
    source, chosen, message = WRONG[name]
    data = batches(source, **chosen)
    with pytest.raises(ValueError, match=message):
        list(data)


def test_other_dtypes_cannot_always_be_joined():
    parts = [pl.DataFrame({"a": [1]}), pl.DataFrame({"a": ["x"]})]
    assert len(list(batches(parts))) == 2
    with pytest.raises(ValueError, match="Batches 0 to 1 of the source cannot be joined"):
        list(batches(parts, batch_rows=2))


def test_errors_of_types():
    sparse = pytest.importorskip("scipy.sparse").csr_array(A)
    for source in (5, None, {"a": A}, {1, 2}, b"file"):
        with pytest.raises(TypeError, match="source must be an iterable"):
            batches(source)
    with pytest.raises(TypeError, match=r"In batch 0 .* Sparse data was passed"):
        list(batches([sparse]))
    with pytest.raises(ValueError, match=r"a tuple of 4\. Pass several tables as a list"):
        batches((A, A, A, A))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        batches((A, A[:2, 0]))
    for chosen in ({"target": 1.5}, {"weight": True}, {"columns": "ab"}, {"columns": 3}, {"columns": [None]}):
        with pytest.raises(TypeError, match="names or indices"):
            batches(A, **chosen)
    with pytest.raises(ValueError, match="at least one column"):
        batches(A, columns=[])
    for rows in (0, -1, True, 2.0, "2"):
        with pytest.raises(ValueError, match="batch_rows must be a positive integer"):
            batches(A, batch_rows=rows)
    with pytest.raises(ValueError, match="n_rows must be a positive integer"):
        batches(A).first(0)


def test_what_people_see():
    data = batches([A, A], target=0, batch_rows=3)
    assert isinstance(data, Batches) and isinstance(data.first(2), Batch)
    assert repr(data) == "Batches(a list, target=0, batch_rows=3; can be read twice)"
    assert repr(batches(A)) == "Batches(an array of shape (3, 2); can be read twice)"
    assert repr(batches(iter([A]))) == "Batches(a list_iterator; can be read once)"
    assert repr(data.first(2)) == "Batch(number=0, X of shape (2, 1), y of shape (2,))"
