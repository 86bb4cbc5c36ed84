"""Damaged, foreign and hostile files are refused with a ValueError, whatever is wrong with them."""

import io
import json
import pickle
import zipfile
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from saved import array_of, content_of, data_of, loaded, parts_of, with_parts
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.svm import SVR

import fasthdmr
from fasthdmr import HDMR, KernelHDMR, TreeHDMR
from fasthdmr.kernels import AnovaKernel

pytestmark = [
    pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # extreme numbers overflow
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
]

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
LEVELS = np.column_stack([RNG.choice(["a", "b", "c"], 60).astype(object), X[:, 1:]])
Y = X[:, 0] + X[:, 1] * X[:, 2]
MODEL = GradientBoostingRegressor(n_estimators=3, max_depth=2, random_state=0).fit(X, Y)
FITS = {
    "spans": lambda: HDMR(n_splines=3).fit(LEVELS, Y),
    "trees and spans": lambda: TreeHDMR(MODEL, smooth=False, n_splines=3).fit(X),
    "bootstrap": lambda: TreeHDMR(MODEL, ci="bootstrap", n_splines=3, order=1).fit(X),
    "trees": lambda: TreeHDMR(MODEL, basis="trees", feature_groups={"g": [0, 2]}).fit(X),
    "product": lambda: TreeHDMR(MODEL, measure="product").fit(X),
    "kernel": lambda: KernelHDMR(SVR(kernel=AnovaKernel(1).fit(X))).fit(X, Y),
    "polynomial": lambda: KernelHDMR(SVR(kernel="poly", degree=2)).fit(X, Y),
    "columns": lambda: fasthdmr.decompose(X, [0, 1, (0, 1)], coef=[1, 2, 3]),
}
ROWS = {"spans": LEVELS[:5]}
EXTREMES = {
    "f": [np.nan, np.inf, -np.inf, 1e308, -1.0, 0.0],
    "i": [-1, -2, 2**62, -(2**63), 0, 1, 7],
    "u": [0, 255],
}
JUNK = [None, True, -1, 0, 1, 2**60, 10**400, 1.5, -1e308, "", "text", "mean", [], {}, [[]], [1, 0], [-1], [[0, 0]]]


@cache
def content(name):
    return content_of(FITS[name]())


def try_to_load(data, name):
    """Load a damaged file: a ValueError, or else a decomposition that can be used."""
    message, result = "", None
    try:
        result = loaded(data)
    except ValueError as error:
        message = str(error)
    if result is None:
        assert "cannot be loaded as a decomposition: " in message
        return None
    rows = ROWS.get(name, X[:5])
    try:
        result.predict(rows)
        result.evaluate(rows)
    except ValueError:  # names of columns may have changed, or the number of outputs
        pass
    return result


@pytest.mark.parametrize("name", FITS)
def test_flipped_and_missing_bytes(name):
    whole, rng = content(name), np.random.default_rng(1)
    for _ in range(60):
        data = bytearray(whole)
        for place in rng.integers(0, len(data), rng.integers(1, 4)):
            data[place] ^= 1 << rng.integers(0, 8)
        try_to_load(bytes(data), name)
    for length in [0, 1, 4, 30, *rng.integers(0, len(whole), 20).tolist()]:
        assert try_to_load(whole[:length], name) is None


@pytest.mark.parametrize("name", FITS)
def test_changed_bytes_of_arrays_are_found(name):
    whole, rng = content(name), np.random.default_rng(2)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        entries = [entry for entry in archive.infolist() if entry.file_size > 0]
    for entry in rng.choice(entries, 20):
        data = bytearray(whole)
        first = entry.header_offset + 30 + len(entry.filename)
        data[first + rng.integers(0, entry.file_size)] ^= 1 << rng.integers(0, 8)
        assert try_to_load(bytes(data), name) is None  # by the checksum


@pytest.mark.parametrize("name", FITS)
def test_hostile_arrays(name):
    document, members = parts_of(content(name))
    rng, names = np.random.default_rng(3), sorted(members)
    for member in names:
        array, others = array_of(members[member]), {key: data for key, data in members.items() if key != member}
        assert try_to_load(with_parts(document, others), name) is None  # it is missing
        other = members[names[rng.integers(len(names))]]
        for data in (b"", b"\x93NUMPY", members[member][:-1], members[member] + b"\0", other, _header(1 << 60)):
            try_to_load(with_parts(document, others | {member: data}), name)
        for changed in _changes(array, rng):
            try_to_load(with_parts(document, others | {member: data_of(changed)}), name)


def _header(length):
    """An array whose header says that it is very long."""
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({length},), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def _changes(array, rng):
    yield array.astype(np.float32 if array.dtype.kind == "f" else np.int16)
    yield array.ravel()[:-1]
    yield np.concatenate([array.ravel(), array.ravel()])
    if array.size:
        for extreme in EXTREMES[array.dtype.kind]:
            changed = array.copy()
            changed.flat[rng.integers(array.size)] = extreme
            yield changed
        yield rng.permutation(array.ravel()).reshape(array.shape)


@pytest.mark.parametrize("name", FITS)
def test_hostile_documents(name):
    document, members = parts_of(content(name))
    rng = np.random.default_rng(4)
    text = json.dumps(document)
    for place in _places(document):
        try_to_load(with_parts(_changed(text, place, _missing), members), name)
        for junk in rng.choice(np.array([*JUNK, 0], dtype=object)[:-1], 3):
            try_to_load(with_parts(_changed(text, place, junk), members), name)


_missing = object()


def _places(value, path=()):
    """The paths of entries of a document: of lists, only the first two entries."""
    entries = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, item in entries:
        yield (*path, key)
        yield from _places(item, (*path, key))


def _changed(text, path, value):
    document = json.loads(text)
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    if value is _missing:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return document


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(FITS)), st.data())
def test_files_with_any_changes(name, data):
    document, members = parts_of(content(name))
    places = list(_places(document))
    for _ in range(data.draw(st.integers(0, 2))):
        value = data.draw(st.one_of(st.sampled_from(JUNK), st.floats(allow_nan=False, allow_infinity=False)))
        try:
            document = _changed(json.dumps(document), data.draw(st.sampled_from(places)), value)
        except (KeyError, IndexError, TypeError):  # the place is gone by now
            continue
    member = data.draw(st.sampled_from(sorted(members)))
    array = array_of(members[member]).copy()
    if array.size:
        kind = array.dtype.kind
        number = st.floats() if kind == "f" else st.integers(0, 255) if kind == "u" else st.integers(-3, 70)
        array.flat[data.draw(st.integers(0, array.size - 1))] = data.draw(number)
    try_to_load(with_parts(document, members | {member: data_of(array)}), name)


def test_documents_that_are_no_strict_json():
    document, members = parts_of(content("spans"))
    text = json.dumps(document)
    for wrong, reason in {
        text.replace('"unit": ""', '"unit": NaN'): "holds NaN",
        text.replace('"version": 1', '"version": 1e999'): "holds the number 1e999",
        text.replace('"version": 1', '"version": 1, "version": 1'): "has a name twice",
        "[" * 100_000: "is damaged",
        '{"format": ' + "1" * 5000 + "}": "is damaged",
        "": "is damaged",
        "[]": "must be an object",
        text.replace('"version": 1', '"version": 2'): "its version is 2; this fasthdmr reads up to 1",
        text.replace("fasthdmr decomposition", "other"): "its format is 'other'",
    }.items():
        with pytest.raises(ValueError, match=reason):
            loaded(with_parts(wrong.encode(), members))


def test_foreign_files():
    document, members = parts_of(content("spans"))

    def zipped(compression, extra=()):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", compression) as archive:
            archive.writestr("document.json", json.dumps(document))
            for name, data in [*members.items(), *extra]:
                archive.writestr(name, data)
        return file.getvalue()

    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = zipped(zipfile.ZIP_STORED, [("document.json", b"{}")])
    arrays = io.BytesIO()
    np.savez(arrays, X)
    for data, reason in {
        b"": "not a zip file",
        pickle.dumps(X): "not a zip file",
        arrays.getvalue(): "has no document.json",
        zipped(zipfile.ZIP_DEFLATED): "compressed",
        twice: "the same name",
        zipped(zipfile.ZIP_STORED, [("more.npy", b"")]): "'more.npy', which does not belong to it",
    }.items():
        with pytest.raises(ValueError, match=reason):
            loaded(data)


def test_the_error_names_the_file(tmp_path):
    (tmp_path / "some file").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"some file cannot be loaded as a decomposition: it is damaged"):
        fasthdmr.load_decomposition(tmp_path / "some file")
    with pytest.raises(FileNotFoundError):
        fasthdmr.load_decomposition(tmp_path / "none")


def test_objects_are_not_unpickled():
    document, members = parts_of(content("spans"))
    file = io.BytesIO()
    np.save(file, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="header of the array 'indices/Sa' is damaged"):
        loaded(with_parts(document, members | {"indices/Sa.npy": file.getvalue()}))
