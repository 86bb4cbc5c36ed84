"""What the command writes and prints where disks are full, pipes closed, and consoles poor."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import GradientBoostingRegressor
from test_cli import boosting, refused, rows, run

import fasthdmr
from fasthdmr._cli.console import one_line, say
from fasthdmr._cli.main import main
from fasthdmr._support.output_file import check_target, write_files

resource = pytest.importorskip("resource", reason="limits on the size of files are of POSIX")
mpl.use("Agg")

DECOMPOSE = ["decompose", "model.skops", "data.csv"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A directory with a model and its data, which is the working directory."""
    X, y = rows()
    pd.concat([X, y], axis=1).to_csv(tmp_path / "data.csv", index=False)
    skops.io.dump(boosting(), tmp_path / "model.skops")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextlib.contextmanager
def full_disk(n_bytes):
    """Let no file grow beyond so many bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- files --------------------------------------------------------------------------------------------------------


def test_full_disk_keeps_existing_files(folder, capsys):
    arguments = [*DECOMPOSE, "--out", "results", "--report", "page.html"]
    assert run(capsys, *arguments)[0] == 0
    before = content(folder)
    assert len(before[Path("page.html")]) > 20_480
    with full_disk(20_480):
        line = refused(capsys, *arguments, "--order", 1)
    assert ": File too large" in line and "unfinished" not in line
    assert content(folder) == before


def test_full_disk_leaves_no_part_of_a_demo(folder, capsys):
    with full_disk(20_480):
        assert "File too large" in refused(capsys, "demo", "--out", "demo")
    assert list((folder / "demo").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--report", "taken"], "taken: Is a directory"),
        (["--report", "data.csv/page.html"], "data.csv: File exists"),
        (["--out", "data.csv"], "data.csv: File exists"),
        (["--out", "data.csv/deep/er"], "data.csv: File exists"),
        (["--out", "taken"], f"{Path('taken') / 'indices.csv'}: Is a directory"),
        (["--report", "x" * 300], "File name too long"),
        (["--report", "data.csv"], "data.csv is read, so it cannot be written as well"),
        (["--report", "taken/../model.skops"], "is read, so it cannot be written as well"),
    ],
)
def test_targets_are_checked_before_the_work(arguments, message, folder, capsys, monkeypatch):
    (folder / "taken" / "indices.csv").mkdir(parents=True)
    before = content(folder)
    monkeypatch.setattr("fasthdmr._cli.fitted.load_model", lambda *_, **__: pytest.fail("the work has begun"))
    assert message in refused(capsys, *DECOMPOSE, *arguments)
    assert content(folder) == before


def test_target_of_the_demo_is_checked_before_the_work(folder, capsys):
    status, out, err = run(capsys, "demo", "--out", "data.csv")
    assert (status, out, err) == (2, "", "fasthdmr: error: data.csv: File exists\n")


def test_checking_leaves_nothing_behind(folder):
    before = content(folder)
    times = (folder / "data.csv").stat().st_mtime_ns
    check_target(folder / "new" / "file")
    check_target(folder / "data.csv")
    assert content(folder) == before and not (folder / "new").exists()
    assert (folder / "data.csv").stat().st_mtime_ns == times


@contextlib.contextmanager
def without_rights():
    """Be somebody else for a while, where the process is the superuser."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_targets_without_permission(tmp_path):
    protected = tmp_path / "protected"
    protected.mkdir()
    protected.chmod(0o500)
    with without_rights(), pytest.raises(PermissionError) as found:
        check_target(protected / "new.html")
    assert found.value.filename == str(protected / "new.html")


def test_all_files_or_none(tmp_path):
    (tmp_path / "first").write_bytes(b"old")
    (tmp_path / "directory").mkdir()
    with pytest.raises(OSError) as found:
        write_files({tmp_path / "first": b"new", tmp_path / "first" / "second": b"new"})
    assert found.value.filename == str(tmp_path / "first" / "second")
    assert (tmp_path / "first").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["directory", "first"]


def test_links_and_permissions_stay(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "file").chmod(0o640)
    (tmp_path / "link").symlink_to("file")
    write_files({tmp_path / "link": b"new", tmp_path / "a" / "b": b"other"})
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_bytes() == b"new"
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o666 & ~mask


def test_devices_are_written_to(tmp_path):
    write_files({Path(os.devnull): b"text"})
    assert not Path(os.devnull).is_file()


# --- printing -----------------------------------------------------------------------------------------------------


def command(folder, *arguments, **options):
    argv = [sys.executable, "-m", "fasthdmr", *arguments]
    return subprocess.Popen(argv, cwd=folder, stderr=subprocess.PIPE, **options)


@pytest.mark.parametrize("arguments", [[*DECOMPOSE, "--out", "results", "--report", "page.html"], ["--help"]])
def test_closed_pipe_is_no_error(arguments, folder):
    reading, writing = os.pipe()
    os.close(reading)
    process = command(folder, *arguments, stdout=writing)
    os.close(writing)
    assert process.communicate()[1] == b"" and process.returncode == 0
    if arguments[0] == "decompose":
        assert (folder / "page.html").read_text(encoding="utf-8").endswith("</html>\n")
        assert len(list((folder / "results").iterdir())) == 4


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_full_disk_behind_standard_output(folder):
    with open("/dev/full", "wb") as full:
        process = command(folder, "--version", stdout=full)
    assert process.communicate()[1] == b"fasthdmr: error: [Errno 28] No space left on device\n"
    assert process.returncode == 2


def test_console_of_ascii(folder):
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment.pop("PYTHONIOENCODING", None)
    process = command(folder, *DECOMPOSE, "--out", "results", stdout=subprocess.PIPE, env=environment)
    out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert b"\nR2 of the components against the model: 0.9" in out and b"+-0." in out and out.isascii()


@pytest.mark.parametrize("encoding", ["ascii", "cp932", "cp1251", "cp1252", "utf-8"])
def test_consoles(encoding, folder, monkeypatch):
    """Columns stay aligned, and as much is shown as the console can."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(DECOMPOSE) == 0
    out = stream.buffer.getvalue().decode(encoding)
    assert ("R²" if encoding in ("cp1252", "utf-8") else "R2") + " of the components against the model: " in out
    assert ("+-" if encoding == "ascii" else " ±") + "0." in out
    table = out[out.index("Subspace") : out.index("\n\nR")].splitlines()
    assert {len(line) for line in table[2:5]} == {len(table[1])}


def test_tables_of_users_fit_the_console(monkeypatch):
    """Of what is printed by users themselves, and by the drop-in for SALib."""
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    X, y = fasthdmr.datasets.make_ishigami(300, random_state=0)
    hdmr = fasthdmr.HDMR(order=1).fit(X, y)
    print(hdmr.sensitivity_)
    fasthdmr.salib.analyze({"num_vars": 3, "names": ["a", "b", "c"]}, X, y, maxorder=1, K=2, print_to_console=True)
    sys.stdout.flush()
    assert sys.stdout.buffer.getvalue().count(b"+-") >= 10


def test_names_that_a_console_lacks(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="")
    monkeypatch.setattr(sys, "stdout", stream)
    say("Größe²\t\x1b[31m\nvon \udce9")
    assert stream.buffer.getvalue() == b"Gr\\xf6\\xdfe2\\t\\x1b[31m\nvon \\udce9\n"


def test_streams_that_are_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    say("nothing")
    assert main(["decompose", "absent.skops", "data.csv"]) == 2


def test_names_of_files_that_are_not_utf_8(folder, capsys):
    """Bytes that are no UTF-8, as Python passes them on."""
    os.rename(b"model.skops", b"mod\xe9l.skops")
    status, out, _ = run(capsys, "decompose", "mod\udce9l.skops", "data.csv", "--report", "pag\udce9.html")
    assert status == 0 and out.endswith("Report: pag\\udce9.html\n")
    assert "mod\\udce9l.skops" in Path("pag\udce9.html").read_text(encoding="utf-8")


def test_one_line_of_a_huge_message():
    line = one_line("begins " + "x" * 2_000_000 + " ends")
    assert len(line) < 1100 and line.startswith("begins ") and line.endswith(" ends")


def test_names_of_columns_may_be_any_text(folder, capsys):
    names = ["price [€]", "first\nsecond", "carriage\rreturn"]
    X, y = rows()
    X.columns = names
    model = GradientBoostingRegressor(n_estimators=20, max_depth=2, random_state=0).fit(X, y)
    skops.io.dump(model, "model.skops")
    (folder / "data.csv").write_bytes(X.to_csv(index=False, lineterminator="\r\n").encode())
    status, out, _ = run(capsys, *DECOMPOSE, "--out", "results", "--report", "page.html")
    assert status == 0 and "first\\nsecond & carriage\\rreturn" in out
    expected = {*names, "price [€] & first\nsecond", "first\nsecond & carriage\rreturn"}
    assert expected <= set(pd.read_csv("results/indices.csv", lineterminator="\n")["names"])
    assert expected <= {row["names"] for row in json.loads(Path("results/indices.json").read_text("utf-8"))["indices"]}
    assert ">first\\nsecond &amp; carriage\\rreturn</td>" in Path("page.html").read_text("utf-8")
