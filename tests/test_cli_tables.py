"""Rows from parquet files and from standard input."""

import datetime
import io
import sys
from decimal import Decimal
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from test_cli import boosting, refused, rows, run
from test_cli_categories import SAVED, read
from test_cli_categories import rows as rows_of_categories
from tolerance import assert_close

import fasthdmr
from fasthdmr._cli.data_file import STDIN, read_rows
from fasthdmr._cli.labels import accuracy
from fasthdmr.loaders.model_file import load_model

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is optional (extra arrow)")
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

mpl.use("Agg")

PARQUET = ["decompose", "model.skops", "data.parquet"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    X, y = rows()
    X.assign(price=y).to_csv(tmp_path / "data.csv", index=False)
    X.assign(price=y).to_parquet(tmp_path / "data.parquet", index=False)
    skops.io.dump(boosting(), tmp_path / "model.skops")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stdin(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_parquet_is_as_csv(folder, capsys):
    expected = run(capsys, "decompose", "model.skops", "data.csv", "--target", "price")
    assert run(capsys, *PARQUET, "--target", "price") == expected
    Path("data.parquet").rename("rows")  # known by its first bytes
    assert run(capsys, "decompose", "model.skops", "rows", "--target", "price") == expected


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_standard_input(name, folder, capsys, monkeypatch):
    expected = run(capsys, "decompose", "model.skops", name, "--target", "price")
    stdin(monkeypatch, Path(name).read_bytes())
    assert run(capsys, "decompose", "model.skops", "-", "--target", "price") == expected
    stdin(monkeypatch, b"")
    assert "standard input cannot be read as CSV" in refused(capsys, "decompose", "model.skops", "-")
    stdin(monkeypatch, b"age,rooms\n1,2\n")
    assert "standard input lacks columns that the model needs: income" in refused(
        capsys, "decompose", "model.skops", "-"
    )
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in refused(capsys, "decompose", "model.skops", "-")


def test_reports_name_standard_input(folder, capsys, monkeypatch):
    stdin(monkeypatch, Path("data.csv").read_bytes())
    assert run(capsys, "decompose", "model.skops", "-", "--report", "page.html")[0] == 0
    assert "<dd>standard input</dd>" in Path("page.html").read_text("utf-8")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + bytes(100) + b"PAR1", b"age,income,rooms\n1,2,3\n"])
def test_damaged_files_are_one_line(content, folder, capsys):
    Path("data.parquet").write_bytes(content)
    assert "data.parquet cannot be read as parquet" in refused(capsys, *PARQUET)
    whole = rows()[0].to_parquet()
    Path("data.parquet").write_bytes(whole[: len(whole) // 2])
    assert "data.parquet cannot be read as parquet" in refused(capsys, *PARQUET)


def test_pyarrow_is_in_an_extra(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert "pyarrow is needed here: pip install 'fasthdmr[arrow]'" in refused(capsys, *PARQUET)


def test_an_index_of_pandas_is_no_variable(folder, capsys):
    X, y = rows()
    expected = run(capsys, "decompose", "model.skops", "data.csv")
    X.set_index(X.index[::-1]).to_parquet("data.parquet")
    assert run(capsys, *PARQUET) == expected
    unnamed = fasthdmr.TreeHDMR(boosting()).fit(X)
    X.assign(price=y).set_index("age").to_parquet("data.parquet")  # a named one may be a variable
    forest = fasthdmr.load_forest(load_model(Path("model.skops")))
    assert_close(unnamed.predict(read_rows(Path("data.parquet"), forest, None).X), unnamed.predict(X))


def test_types_of_columns(folder, capsys):
    X, y = rows()
    whole = (X * 10).round()
    model = HistGradientBoostingRegressor(max_iter=5).fit(whole.where(whole > -12), y)
    skops.io.dump(model, "model.skops")
    forest = fasthdmr.load_forest(model)
    expected = whole.where(whole > -12)
    typed = pd.DataFrame(
        {
            "age": expected["age"].astype("Int64"),
            "income": [None if np.isnan(v) else Decimal(int(v)) for v in expected["income"]],
            "rooms": expected["rooms"].astype("category"),
        }
    )
    typed.to_parquet("typed.parquet")
    found = read_rows(Path("typed.parquet"), forest, None).X
    pd.testing.assert_frame_equal(found, expected, check_dtype=True)
    flags = pd.DataFrame({"age": [True, None, False] * 5, "income": np.arange(15, dtype="int8"), "rooms": 0.5})
    flags.to_parquet("flags.parquet")
    assert read_rows(Path("flags.parquet"), forest, None).X["age"].fillna(-1).tolist() == [1, -1, 0] * 5


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["low"] * 200, "column 'age' has the text 'low' in row 1, not a number"),
        ([datetime.date(2020, 1, 2)] * 200, "column 'age' has the text '2020-01-02' in row 1, not a number"),
        ([datetime.datetime(2020, 1, 2)] * 200, "column 'age' has the text '2020-01-02"),
        ([[1, 2]] * 200, "column 'age' has the text '[1 2]' in row 1"),
        ([1.0] * 199 + [None], "column 'age' has no value in row 200, which the model does not accept"),
    ],
)
def test_columns_that_are_no_numbers(values, message, folder, capsys):
    rows()[0].assign(age=values).to_parquet("data.parquet")
    assert message in refused(capsys, *PARQUET)


@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize("save", SAVED)
def test_levels(save, categorical, tmp_path, monkeypatch):
    """Of text, or of categories of text and numbers."""
    monkeypatch.chdir(tmp_path)
    X, y = rows_of_categories()
    path, predicted = save(X, y)
    X = X.astype(dict.fromkeys(["city", "zip", "rooms"], "category")) if categorical else X
    X.assign(price=y).to_parquet("data.csv")
    forest, found, _ = read(path, "price")
    assert_close(forest.predict(found), predicted, 1e-5, reason="xgboost sums in float32")


@pytest.mark.parametrize("labels", [("cheap", "dear"), (False, True), (0, 1, 2)])
def test_labels_of_classes(labels, folder, capsys):
    X, y = rows()
    classes = np.array(labels)[np.digitize(y, np.quantile(y, np.arange(1, len(labels)) / len(labels)))]
    model = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, classes)
    skops.io.dump(model, "model.skops")
    for label in (pd.Series(classes), pd.Series(classes).astype("category")):
        X.assign(label=label).to_parquet("data.parquet")
        _, out, _ = run(capsys, *PARQUET, "--target", "label")
        assert f"Accuracy of the model against label: {model.score(X, classes):.4f}" in out


def test_accuracy_is_a_share_of_weights():
    scores, numbers = np.array([-1.0, 2.0, 3.0]), np.array([0, 1, 0])
    assert accuracy(scores, "log-odds", numbers, np.array([1.0, 1.0, 2.0])) == 0.5


def test_standard_input_of_rows_is_read_once(folder, monkeypatch):
    stdin(monkeypatch, Path("data.csv").read_bytes())
    forest = fasthdmr.load_forest(boosting())
    assert_close(read_rows(STDIN, forest, "price").y, rows()[1])
