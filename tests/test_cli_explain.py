"""``fasthdmr explain``: the terms of predictions for rows of a file."""

import json
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import RandomForestClassifier
from test_cli import boosting, refused, rows, run
from test_cli_options import labels
from tolerance import assert_close

from fasthdmr import TreeHDMR

pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

mpl.use("Agg")

EXPLAIN = ["explain", "model.skops", "data.csv", "--row"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    X, y = rows()
    X.assign(price=y).to_csv(tmp_path / "data.csv", index=False)
    skops.io.dump(boosting(), tmp_path / "model.skops")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_rows_are_counted_from_one(folder, capsys):
    X, y = rows()
    hdmr = TreeHDMR(boosting()).fit(X)
    status, out, err = run(capsys, *EXPLAIN, 1)
    assert (status, out, err) == (0, f"Row 1\n{hdmr.explain(X.iloc[[0]])}\n", "")
    _, out, _ = run(capsys, *EXPLAIN, 200, "--row", 2, "--row", 200, "--target", "price")
    first, second = (f"Row {row}\n{hdmr.explain(X.iloc[[row - 1]])}" for row in (200, 2))
    prices = f"price in row 200: {y[199]:.4f}\nprice in row 2: {y[1]:.4f}"
    assert out == "\n\n".join([first, second, prices]) + "\n"


def test_rows_that_do_not_exist(folder, capsys):
    assert "--row must be from 1 to 200, the number of rows in data.csv; got 201." in refused(capsys, *EXPLAIN, 201)
    assert "must be a positive integer, got '0'" in refused(capsys, *EXPLAIN, 0)
    assert "arguments are required: --row" in refused(capsys, *EXPLAIN[:-1])


def test_options_are_those_of_decompose(folder, capsys):
    X, _ = rows()
    _, out, _ = run(capsys, *EXPLAIN, 3, "--faithful", "--order", 1, "--basis", "bins")
    assert str(TreeHDMR(boosting(), smooth=False, order=1, basis="bins").fit(X).explain(X.iloc[[2]])) in out
    assert "no column 'cost'" in refused(capsys, *EXPLAIN, 1, "--target", "cost")


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_files(kind, folder, capsys):
    X, _ = rows()
    assert run(capsys, *EXPLAIN, 3, "--row", 7, "--out", "results", "--format", kind, "--quiet") == (0, "", "")
    names = sorted(path.name for path in Path("results").iterdir())
    assert names == [f"explanations.{kind}", "row_3.png", "row_7.png"]
    path = Path("results") / f"explanations.{kind}"
    if kind == "json":
        table = pd.DataFrame(json.loads(path.read_text("utf-8"))["explanations"])
    else:
        table = pd.read_csv(path) if kind == "csv" else pd.read_parquet(path)
    assert_close(table["contribution"].groupby(table["row"]).sum(), boosting().predict(X.iloc[[2, 6]]))
    assert list(table["names"][table["row"] == 3])[:1] == ["f0"]
    assert "which is missing" in refused(capsys, *EXPLAIN, 1, "--format", kind)
    assert "File exists" in refused(capsys, *EXPLAIN, 1, "--out", "data.csv")


def test_classes(folder, capsys):
    X, _ = rows()
    model = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, labels())
    skops.io.dump(model, "classifier.skops")
    X.assign(label=labels()).to_csv("data.csv", index=False)
    arguments = ["explain", "classifier.skops", "data.csv", "--row", 5, "--target", "label"]
    _, out, _ = run(capsys, *arguments)
    heads = [line for line in out.splitlines() if line.startswith("Row")]
    assert heads == [f"Row 5, output {name}" for name in model.classes_]
    _, out, _ = run(capsys, *arguments, "--output", "dear", "--out", "results")
    hdmr = TreeHDMR(model).fit(X)
    assert out.startswith(f"Row 5, output dear\n{hdmr.explain(X.iloc[[4]], output='dear')}\n")
    assert f"label in row 5: {labels()[4]}\n" in out
    assert set(pd.read_csv("results/explanations.csv")["output"]) == {"dear"}
    assert Path("results/row_5_1.png").is_file()
