"""Models and tables that the command reads: damaged, forged, and of other kinds than it expects."""

import bz2
import errno
import gzip
import io
import json
import os
import pickle
import struct
import zipfile
from pathlib import Path

import joblib
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from test_cli import boosting, refused, rows, run

from fasthdmr.loaders.model_file import load_model

mpl.use("Agg")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A model with names of its variables, and one without."""
    folder = tmp_path_factory.mktemp("models")
    X, y = rows()
    skops.io.dump(boosting(), folder / "named.skops")
    unnamed = GradientBoostingRegressor(n_estimators=20, max_depth=2, random_state=0).fit(X.to_numpy(), y)
    skops.io.dump(unnamed, folder / "unnamed.skops")
    holed = X.where(X["age"] > -1)
    forest = RandomForestRegressor(5, max_depth=2, random_state=0).fit(holed, y)
    skops.io.dump(forest, folder / "missing.skops")
    return {path.stem: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def folder(tmp_path, monkeypatch, models):
    for name, content in models.items():
        (tmp_path / f"{name}.skops").write_bytes(content)
    rows()[0].to_csv(tmp_path / "data.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- models -------------------------------------------------------------------------------------------------------


def members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(contents, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return file.getvalue()


def encrypted(content):
    """Set the mark of an encrypted member in every header."""
    forged = bytearray(content)
    for head, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        at = -1
        while (at := forged.find(head, at + 1)) >= 0:
            forged[at + offset] |= 1
    return bytes(forged)


def forged_size(content, name, size):
    """Change the unpacked size of a member in the directory of a zip file."""
    forged = bytearray(content)
    at = forged.rfind(name.encode()) - 46
    assert forged[at : at + 4] == b"PK\x01\x02"
    forged[at + 24 : at + 28] = struct.pack("<I", size)
    return bytes(forged)


def damaged(content, seed):
    """Overwrite some bytes, more of them in the directory."""
    rng = np.random.default_rng(seed)
    forged = bytearray(content)
    for at in [*rng.integers(len(forged), size=5), *rng.integers(len(forged) - 3000, len(forged), size=5)]:
        forged[at] = rng.integers(256)
    return bytes(forged)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_every_compression_is_read(compression, folder, models, capsys):
    (folder / "packed.skops").write_bytes(packed(members(models["named"]), compression))
    expected = run(capsys, "decompose", "named.skops", "data.csv")
    assert run(capsys, "decompose", "packed.skops", "data.csv") == expected


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_damaged_zip_files_are_one_line(compression, folder, models, capsys):
    content = packed(members(models["named"]), compression)
    for seed in range(12):
        (folder / "damaged.skops").write_bytes(damaged(content, seed))
        line = refused(capsys, "decompose", "damaged.skops", "data.csv")
        assert "damaged.skops" in line


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (encrypted, "damaged or encrypted"),
        (lambda content: content[: len(content) // 2], "is a truncated skops file"),
        (lambda content: content[len(content) // 2 :], "damaged or encrypted"),
        (lambda content: packed(dict(list(members(content).items())[5:])), "There is no item named"),
        (lambda content: packed(members(content) | {"schema.json": b"{"}), "cannot be loaded"),
        (lambda content: packed(members(content) | {"schema.json": b"[1]"}), "cannot be loaded"),
        (lambda content: packed(members(content) | {"schema.json": b"[" * 10**6}), "cannot be loaded"),
        (lambda content: packed({"a.npy": b"1"}), "a zip file, but not a skops file"),
    ],
)
def test_zip_files_without_a_model_are_refused(change, message, folder, models, capsys):
    (folder / "bad.skops").write_bytes(change(models["named"]))
    assert message in refused(capsys, "decompose", "bad.skops", "data.csv")


def bomb_of_zeros(content):
    return packed(members(content) | {"zeros.npy": bytes(10**8)}, zipfile.ZIP_DEFLATED)


def bomb_of_references(content):
    """A member of 1.6 MB that is read 100 times."""
    array = io.BytesIO()
    np.save(array, np.zeros(200_000))
    node = {
        "__class__": "ndarray",
        "__module__": "numpy",
        "__loader__": "NdArrayNode",
        "type": "numpy",
        "file": "a.npy",
    }
    nodes = [{**node, "__id__": k} for k in range(100)]
    schema = json.loads(members(content)["schema.json"])
    many = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": nodes}
    return packed({"a.npy": array.getvalue(), "schema.json": json.dumps(many | {"protocol": schema["protocol"]})})


def bomb_of_objects(content):
    return packed({"schema.json": b"[" + b"[]," * 2_000_000 + b"[]]"}, zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize("bomb", [bomb_of_zeros, bomb_of_references, bomb_of_objects])
def test_zip_bombs_are_refused_before_they_are_unpacked(bomb, folder, models, capsys, monkeypatch):
    (folder / "bomb.skops").write_bytes(bomb(models["named"]))
    with monkeypatch.context() as patch:
        patch.setattr(skops.io, "load", lambda *_, **__: pytest.fail("unpacked"))
        patch.setattr(skops.io, "get_untrusted_types", lambda **_: pytest.fail("unpacked"))
        line = refused(capsys, "decompose", "bomb.skops", "data.csv", "--unpack-limit", "0.09")
    assert "more than the limit of 0.09 GB" in line and "raise the limit: --unpack-limit 1." in line


def test_limit_can_be_raised(folder, models, capsys):
    (folder / "bomb.skops").write_bytes(bomb_of_zeros(models["named"]))
    assert "would unpack to 0.1" in refused(capsys, "decompose", "bomb.skops", "data.csv", "--unpack-limit", "0.05")
    assert run(capsys, "decompose", "bomb.skops", "data.csv")[0] == 0
    assert "must be a positive number of gigabytes, got '0'" in refused(
        capsys, "decompose", "bomb.skops", "data.csv", "--unpack-limit", "0"
    )


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_forged_sizes_are_found_in_little_memory(compression, folder, models, capsys):
    tracemalloc = pytest.importorskip("tracemalloc")
    content = packed({"zeros.npy": bytes(3 * 10**8)} | members(models["named"]), compression)
    (folder / "forged.skops").write_bytes(forged_size(content, "zeros.npy", 1000))
    tracemalloc.start()
    try:
        line = refused(capsys, "decompose", "forged.skops", "data.csv")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "the zip file is damaged" in line
    assert peak < 3 * 10**8  # what bzip2, the tightest, unpacks at once; all of it would take 6e8


@pytest.mark.parametrize("trust", [[], ["--trust"]])
@pytest.mark.parametrize(
    ("name", "content"),
    [("empty.pkl", b""), ("table.csv", b"age,income,rooms\n1,2,3\n"), ("table.txt", b"tree,income,rooms\n1,2,3\n")],
)
def test_trust_is_not_offered_for_other_files(name, content, trust, folder, capsys):
    (folder / name).write_bytes(content)
    line = refused(capsys, "decompose", name, "data.csv", *trust)
    assert f"{name} is not a skops, pickle or joblib file" in line and "skops.io.dump" in line and "--trust" not in line


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("xgboost.json", b'{"learner":{"attributes":{},"feature_names":[]}}'),
        ("xgboost.ubj", b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner{"),
        ("lightgbm.txt", b"tree\nversion=v4\nnum_class=1\n"),
    ],
)
def test_damaged_files_of_libraries_are_one_line(name, content, folder, capsys):
    (folder / name).write_bytes(content)
    line = refused(capsys, "decompose", name, "data.csv")
    assert f"{name} cannot be loaded: the model" in line.replace("The model", "the model")


def test_a_file_of_lightgbm_is_decomposed(folder, capsys):
    text = (
        "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=2\nfeature_names=age income rooms\n"
        "objective=regression\n\nTree=0\nnum_leaves=2\nsplit_feature=0\nthreshold=0\ndecision_type=2\n"
        "left_child=-1\nright_child=-2\nleaf_value=-0.5 2.5\nleaf_count=3 4\ninternal_count=7\n\nend of trees\n"
    )
    (folder / "model.txt").write_text(text)
    status, printed, _ = run(capsys, "decompose", "model.txt", "data.csv", "--report", "page.html")
    assert status == 0 and "1 trees" in printed and "age" in printed
    assert "Class" not in (folder / "page.html").read_text()


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_of_every_protocol_are_known(protocol, folder, capsys):
    (folder / "model.pkl").write_bytes(pickle.dumps(boosting(), protocol))
    assert "pass --trust" in refused(capsys, "decompose", "model.pkl", "data.csv")
    assert run(capsys, "decompose", "model.pkl", "data.csv", "--trust")[0] == 0


@pytest.mark.parametrize("compress", ["zlib", "gzip", "bz2", "xz", "lzma"])
def test_joblib_files_of_every_compression_are_known(compress, folder, capsys):
    joblib.dump(boosting(), "model.joblib", compress=compress)
    assert "pass --trust" in refused(capsys, "decompose", "model.joblib", "data.csv")
    assert load_model(folder / "model.joblib", trust=True).n_estimators == 20


def test_pickles_that_hold_a_zip_file(folder):
    """As those of models that keep their weights in one."""
    model = boosting()
    model.attachment = packed({"weights": b"1"})
    (folder / "model.pkl").write_bytes(pickle.dumps(model))
    assert zipfile.is_zipfile("model.pkl")
    assert load_model(folder / "model.pkl", trust=True).n_estimators == 20


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("model.json", "object.skops holds no fitted model, but an object of type str"),
        (b"model", "object.skops holds no fitted model, but an object of type bytes"),
        ([boosting], "list is not supported"),
        ({"model": 1}, "dict is not supported"),
        (None, "NoneType is not supported"),
        (np.zeros(3), "ndarray is not supported"),
    ],
)
def test_other_objects_are_refused(content, message, folder, capsys):
    skops.io.dump(content, "object.skops")
    assert message in refused(capsys, "decompose", "object.skops", "data.csv", "--trust")


def test_links_and_paths_without_a_regular_file(folder, capsys):
    (folder / "link.skops").symlink_to("named.skops")
    (folder / "dangling.skops").symlink_to("absent")
    assert run(capsys, "decompose", "link.skops", "data.csv")[0] == 0
    assert "There is no file dangling.skops" in refused(capsys, "decompose", "dangling.skops", "data.csv")
    assert "is a pipe or a device" in refused(capsys, "decompose", os.devnull, "data.csv")


def test_a_model_without_permission_is_named(folder, capsys, monkeypatch):
    path_open = Path.open

    def denied(path, *arguments, **options):
        if path.name == "named.skops":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return path_open(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", denied)
    assert "named.skops: Permission denied" in refused(capsys, "decompose", "named.skops", "data.csv")


# --- tables -------------------------------------------------------------------------------------------------------


def table(content, name="table.csv"):
    with open(name, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return name


X = rows()[0]
HEADLESS = X.to_csv(index=False, header=False)


@pytest.mark.parametrize("model", ["named.skops", "unnamed.skops"])
@pytest.mark.parametrize("text", [HEADLESS, "\ufeff" + HEADLESS, "1,,3\n" + HEADLESS, '"1","2","nan"\n' + HEADLESS])
def test_rows_without_a_header_are_refused(model, text, folder, capsys):
    assert "has no header: its first row is all numbers" in refused(capsys, "decompose", model, table(text))


def test_numbers_as_names(folder, capsys):
    """Of columns that pandas has numbered, and of a model whose variables are called so."""
    numbered = table(pd.DataFrame(X.to_numpy()).to_csv(index=False))
    status, out, err = run(capsys, "decompose", "unnamed.skops", numbered)
    assert status == 0 and out.startswith("20 trees, 200 rows, 3 variables\n")
    assert err == "fasthdmr: warning: table.csv: its first row (0, 1, 2) is taken for the names of the columns.\n"
    years = X.set_axis(["1990", "2000", "2010"], axis=1)
    skops.io.dump(GradientBoostingRegressor(n_estimators=5, random_state=0).fit(years, rows()[1]), "years.skops")
    status, _, err = run(capsys, "decompose", "years.skops", table(years.to_csv(index=False)))
    assert status == 0 and "first row" not in err


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        ("named.skops", [], "several columns of the same name: age."),
        ("unnamed.skops", ["--target", "age"], "several columns of the same name: rooms, age."),
    ],
)
def test_columns_of_the_same_name_are_refused(model, arguments, message, folder, capsys):
    names = ["age", "income", "rooms", "age"] if model == "named.skops" else ["age", "rooms", "rooms", "age", "other"]
    frame = pd.DataFrame(np.ones((5, len(names))), columns=names)
    assert message in refused(capsys, "decompose", model, table(frame.to_csv(index=False)), *arguments)


def test_columns_of_the_same_name_that_are_not_needed(folder, capsys):
    expected = run(capsys, "decompose", "named.skops", "data.csv")
    frame = pd.concat([X, pd.DataFrame(0, X.index, ["note", "note", "", ""])], axis=1)
    assert run(capsys, "decompose", "named.skops", table(frame.to_csv(index=False))) == expected


GOOD = "age,income,rooms\n1,2,3\n4,5,6\n"
read_by_pandas_3 = pytest.mark.skipif(
    int(pd.__version__.split(".")[0]) < 3,
    reason="pandas 2.1 ends a text at a zero byte, and does not take such a number for one",
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD.replace(",", ";"), "has ';' between its columns, where there must be commas"),
        (GOOD.replace(",", "\t"), "between its columns, where there must be commas"),
        (GOOD.replace(",", ", "), "lacks columns that the model needs: income, rooms. It has 'age', ' income'"),
        (GOOD.encode("utf-16"), "it is not text in UTF-8"),
        (b"age,income,rooms,caf\xe9\n1,2,3,4\n", "it is not text in UTF-8"),
        pytest.param(GOOD + "7,8\0,9\n", "column 'income' has the text '8\\x00' in row 3", marks=read_by_pandas_3),
        (GOOD + '7,"8,9\n', "EOF inside string"),
        pytest.param(GOOD + f"7,8,{'9' * 400}\n", "'rooms' has a number that is too large", marks=read_by_pandas_3),
        ("\n\n", "No columns to parse"),
        (GOOD + f"7,8,{'x' * 2_000_000}\n", "column 'rooms' has the text 'xxx"),
        (GOOD + f"7,8,9,{'x' * 2_000_000}\n", "Expected 3 fields in line 4, saw 4"),
        (GOOD.replace("age", "x" * 2_000_000), "lacks columns that the model needs: age"),
        ("\x1b[2Jage,income,rooms\n1,2,3\n", "lacks columns that the model needs: age"),
    ],
)
def test_invalid_tables_are_refused(content, message, folder, capsys):
    line = refused(capsys, "decompose", "named.skops", table(content))
    assert message in line and len(line) < 1100 and line[:-1].isprintable()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.csv.gz", gzip.compress(GOOD.encode())[:-9]),
        ("none.csv.gz", GOOD.encode()),
        ("none.csv.xz", b"\xfd7zXZ\x00abc"),
        ("none.csv.zip", b"PK"),
        ("crypt.csv.zip", encrypted(packed({"a": GOOD}))),
    ],
    ids=["cut", "no gzip", "no xz", "no zip", "encrypted"],
)
def test_packed_tables_that_are_damaged(name, content, folder, capsys):
    assert f"{name} cannot be read as CSV: " in refused(capsys, "decompose", "named.skops", table(content, name))


@pytest.mark.parametrize(
    ("name", "pack"), [("table.csv", bytes), ("table.csv.gz", gzip.compress), ("t.csv.bz2", bz2.compress)]
)
def test_truncated_rows_are_refused(name, pack, folder, capsys):
    text = X.assign(note="a").to_csv(index=False).replace("a\n", '"two\nlines, ""quoted"""\n')
    assert run(capsys, "decompose", "missing.skops", table(pack((text + "1,2,3,\n\n").encode()), name))[0] == 0
    for end in ("1,2,3\n", "1,2", "1"):
        line = refused(capsys, "decompose", "missing.skops", table(pack((text + end).encode()), name))
        assert f"row 201 has {end.count(',') + 1} of the 4 fields in the header" in line


def test_tables_from_pipes_and_with_a_mark_of_their_encoding(folder, capsys):
    expected = run(capsys, "decompose", "missing.skops", "data.csv")
    text = "\ufeff" + X.to_csv(index=False, lineterminator="\r\n")
    assert run(capsys, "decompose", "missing.skops", table(text)) == expected
    reading, writing = os.pipe()
    with open(writing, "wb") as file:
        file.write(text.encode()[:60_000])
    assert run(capsys, "decompose", "missing.skops", f"/dev/fd/{reading}") == expected
    os.close(reading)


def test_paths_of_tables(folder, capsys):
    (folder / "directory.csv").mkdir()
    assert "directory.csv: Is a directory" in refused(capsys, "decompose", "named.skops", "directory.csv")
    assert "no/no.csv: No such file" in refused(capsys, "decompose", "named.skops", "no/no.csv")
