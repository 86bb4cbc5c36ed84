import json
import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import skops.io
from boosters import library
from sklearn import __version__ as installed
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import FunctionTransformer
from tolerance import assert_close

import fasthdmr
from fasthdmr._cli.main import main

# Trees have steps, and more variables than components, so residuals are large.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

mpl.use("Agg")

NAMES = ["age", "income", "rooms"]


def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=NAMES)
    return X, (X["age"] + X["age"] * X["income"] + 0.5 * X["rooms"] ** 2).rename("price")


def boosting(**options):
    X, y = rows()
    return GradientBoostingRegressor(n_estimators=20, max_depth=2, random_state=0, **options).fit(X, y)


@pytest.fixture(scope="module")
def model():
    return boosting()


@pytest.fixture
def folder(tmp_path, monkeypatch, model):
    """A directory with a model and its data, which is the working directory."""
    X, y = rows()
    pd.concat([X, y], axis=1).to_csv(tmp_path / "data.csv", index=False)
    skops.io.dump(model, tmp_path / "model.skops")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *argv):
    status = main([str(argument) for argument in argv])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def refused(capsys, *argv):
    """Run with a wrong input and return its one line."""
    status, _, err = run(capsys, *argv)
    assert status == 2
    assert err.startswith("fasthdmr: error: ") and err.endswith("\n") and err.count("\n") == 1
    return err


def test_decompose_prints_the_table(folder, capsys, model):
    status, out, err = run(capsys, "decompose", "model.skops", "data.csv")
    X, _ = rows()
    assert (status, err) == (0, "")
    assert str(fasthdmr.TreeHDMR(model, order=2).fit(X).sensitivity_) in out
    assert "R² of the components against the model: " in out and "price" not in out
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "model.skops"]


def test_target_is_compared_with(folder, capsys, model):
    _, out, _ = run(capsys, "decompose", "model.skops", "data.csv", "--target", "price")
    X, y = rows()
    score = fasthdmr.TreeHDMR(model).fit(X).score(X, y)
    assert f"R² of the components against price: {score:.4f}\n" in out


@pytest.mark.parametrize("labels", [(0, 1), ("cheap", "dear"), (False, True), ("cheap", "dear", "fair")])
@pytest.mark.parametrize("kind", [GradientBoostingClassifier, RandomForestClassifier])
def test_classes_are_compared_with_labels(folder, capsys, kind, labels):
    X, y = rows()
    classes = np.array(labels)[np.digitize(y, np.quantile(y, np.arange(1, len(labels)) / len(labels)))]
    model = kind(n_estimators=5, max_depth=2, random_state=0).fit(X, classes)
    skops.io.dump(model, folder / "classifier.skops")
    X.assign(label=classes).to_csv(folder / "labels.csv", index=False)
    status, out, _ = run(capsys, "decompose", "classifier.skops", "labels.csv", "--target", "label")
    assert status == 0 and "R² of the components against the model" in out
    assert f"Accuracy of the model against label: {model.score(X, classes):.4f}\n" in out
    hdmr = fasthdmr.TreeHDMR(model).fit(X)
    scores = hdmr.predict(X)
    level = 0.5 if kind is RandomForestClassifier else 0.0
    found = model.classes_[scores.argmax(axis=1) if scores.ndim == 2 else (scores > level).astype(int)]
    assert f"Accuracy of the components against label: {np.mean(found == classes):.4f}\n" in out


def test_class_labels_that_the_model_does_not_know(folder, capsys):
    X, y = rows()
    classes = np.where(y > 0, "dear", "cheap").astype(object)
    skops.io.dump(GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, classes), "classifier.skops")
    for wrong, message in ((None, "'label' has no class label in row 1"), ("new", "'label' has the class label 'new'")):
        classes[0] = wrong
        X.assign(label=classes).to_csv("labels.csv", index=False)
        assert message in refused(capsys, "decompose", "classifier.skops", "labels.csv", "--target", "label")


def test_files_without_class_labels_number_them(folder, capsys):
    xgboost = library("xgboost")
    X, y = rows()
    booster = xgboost.train({"objective": "multi:softmax", "num_class": 3}, xgboost.DMatrix(X, (y > 0) * 2.0), 5)
    booster.save_model("classes.ubj")
    hits = np.mean(booster.predict(xgboost.DMatrix(X)) == (y > 0) * 2)
    X.assign(label=np.where(y > 0, 2, 0)).to_csv("labels.csv", index=False)  # there is no row of class 1
    arguments = ["decompose", "classes.ubj", "labels.csv", "--target", "label"]
    status, out, _ = run(capsys, *arguments)
    assert status == 0 and f"Accuracy of the model against label: {hits:.4f}\n" in out
    X.assign(label=np.where(y > 0, "a", "b")).to_csv("labels.csv", index=False)
    assert "'label' has 2 classes (a, b), the model has 3" in refused(capsys, *arguments)


def test_out_holds_table_and_pictures(folder, capsys, model):
    status, _, _ = run(capsys, "decompose", "model.skops", "data.csv", "--out", "new/results", "--order", 1)
    directory = folder / "new" / "results"
    names = ["components.png", "indices.csv", "indices.json", "indices.png"]
    assert status == 0 and sorted(path.name for path in directory.iterdir()) == names
    X, _ = rows()
    indices = fasthdmr.TreeHDMR(model, order=1).fit(X).sensitivity_
    assert all(len(u) == 1 for u in indices.subspaces)
    table = pd.read_csv(directory / "indices.csv")
    columns = ["subspace", "names", "order", "Sa", "Sb", "S", "ST", "R"]
    assert list(table.columns) == [*columns, *(f"{name}_conf" for name in columns[3:])]
    assert_close(table["S"], indices.S)
    content = json.loads((directory / "indices.json").read_text(encoding="utf-8"))
    assert_close([row["S"] for row in content["indices"]], indices.S)
    assert [tuple(row["subspace"]) for row in content["indices"]] == indices.subspaces
    assert_close(content["explained"], indices.explained())
    assert_close([content["variance"], content["residual"]], [indices.variance, indices.residual])
    assert (directory / "components.png").read_bytes().startswith(b"\x89PNG")


def test_report_is_one_page(folder, capsys):
    status, out, err = run(capsys, "decompose", "model.skops", "data.csv", "--report", "new/page.html")
    assert (status, err) == (0, "")
    assert out.endswith(f"Report: {Path('new') / 'page.html'}\n")
    assert [path.name for path in (folder / "new").iterdir()] == ["page.html"]
    assert ": Is a directory" in refused(capsys, "decompose", "model.skops", "data.csv", "--report", "new")


def test_totals_missing_from_a_row_are_null(folder, capsys):
    run(capsys, "decompose", "model.skops", "data.csv", "--out", "results")
    content = json.loads((folder / "results" / "indices.json").read_text(encoding="utf-8"))
    totals = {row["order"]: row["ST"] for row in content["indices"]}
    assert totals[2] is None


def test_order_may_exceed_the_number_of_variables(folder, capsys):
    assert run(capsys, "decompose", "model.skops", "data.csv", "--order", 9)[0] == 0


def test_columns_are_matched_by_name(folder, capsys):
    expected = run(capsys, "decompose", "model.skops", "data.csv")[1]
    frame = pd.read_csv("data.csv").assign(note="text")
    frame[["note", "rooms", "price", "income", "age"]].to_csv("other.csv", index=False)
    assert run(capsys, "decompose", "model.skops", "other.csv")[1] == expected


def test_columns_of_a_model_without_names_are_taken_in_order(folder, capsys):
    X, y = rows()
    unnamed = GradientBoostingRegressor(n_estimators=20, max_depth=2, random_state=0).fit(X.to_numpy(), y)
    skops.io.dump(unnamed, "unnamed.skops")
    expected = run(capsys, "decompose", "model.skops", "data.csv", "--target", "price")[1]
    assert run(capsys, "decompose", "unnamed.skops", "data.csv", "--target", "price")[1] == expected
    line = refused(capsys, "decompose", "unnamed.skops", "data.csv")
    assert "data.csv has 4 variables (age, income, rooms, price), the model 3" in line


def test_several_outputs(folder, capsys):
    X, y = rows()
    forest = RandomForestRegressor(5, max_depth=2, random_state=0).fit(X, np.column_stack([y, -y]))
    skops.io.dump(forest, "two.skops")
    status, out, _ = run(capsys, "decompose", "two.skops", "data.csv", "--out", "results")
    names = [
        "components_0.png",
        "components_1.png",
        "indices.csv",
        "indices.json",
        "indices_0.png",
        "indices_1.png",
    ]
    assert status == 0 and out.count("Residual") == 2
    assert sorted(path.name for path in (folder / "results").iterdir()) == names
    assert "several outputs" in refused(capsys, "decompose", "two.skops", "data.csv", "--target", "price")


@pytest.mark.parametrize("dump", [joblib.dump, lambda model, path: path.write_bytes(pickle.dumps(model))])
def test_pickles_need_trust(dump, folder, capsys, model):
    dump(model, folder / "model.pkl")
    line = refused(capsys, "decompose", "model.pkl", "data.csv")
    assert "can run any code" in line and "--trust" in line
    expected = run(capsys, "decompose", "model.skops", "data.csv")
    assert run(capsys, "decompose", "model.pkl", "data.csv", "--trust") == expected


def test_pickles_are_not_opened_without_trust(folder, capsys):
    (folder / "bomb.pkl").write_bytes(b'cbuiltins\nexec\n(S\'open("ran", "w").close()\'\ntR.')
    refused(capsys, "decompose", "bomb.pkl", "data.csv")
    assert not (folder / "ran").exists()


def test_unknown_types_in_a_skops_file_need_trust(folder, capsys):
    skops.io.dump(FunctionTransformer(refused), "function.skops")
    line = refused(capsys, "decompose", "function.skops", "data.csv")
    assert "types that are not trusted: test_cli.refused" in line
    assert "not supported" in refused(capsys, "decompose", "function.skops", "data.csv", "--trust")


def test_forged_trees_are_refused(folder, capsys):
    """The indices that make skops distrust trees are checked by fasthdmr."""
    forged = boosting()
    tree = forged.estimators_[0, 0].tree_
    state = tree.__getstate__()
    state["nodes"]["left_child"][0] = 10**6
    tree.__setstate__(state)
    skops.io.dump(forged, "forged.skops")
    refused(capsys, "decompose", "forged.skops", "data.csv")


@pytest.mark.parametrize("name", ["old.skops", "old.pkl", "old.joblib"])
def test_models_of_another_version_name_both(name, folder, capsys, model, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("sklearn.base.__version__", "1.2.1")
        dump = {
            "skops": skops.io.dump,
            "joblib": joblib.dump,
            "pkl": lambda m, f: (folder / f).write_bytes(pickle.dumps(m)),
        }
        dump[name.partition(".")[2]](model, name)
    line = refused(capsys, "decompose", name, "data.csv", "--trust")
    assert f"was written by scikit-learn 1.2.1, installed is {installed}" in line


@pytest.mark.parametrize("protocol", range(2, 6))
def test_models_of_another_version_that_do_not_load_name_both(protocol, folder, capsys, model, monkeypatch):
    monkeypatch.setattr("sklearn.base.__version__", "0.24.2")
    (folder / "old.pkl").write_bytes(pickle.dumps(model, protocol)[:-50])
    line = refused(capsys, "decompose", "old.pkl", "data.csv", "--trust")
    assert f"was written by scikit-learn 0.24.2, installed is {installed}" in line


def test_invalid_model_files_are_refused(folder, capsys):
    skops.io.dump(LinearRegression().fit(*rows()), "linear.skops")
    assert "LinearRegression is not supported" in refused(capsys, "decompose", "linear.skops", "data.csv")
    skops.io.dump(GradientBoostingRegressor(), "unfitted.skops")
    assert "not fitted" in refused(capsys, "decompose", "unfitted.skops", "data.csv")
    assert "data.csv cannot be loaded" in refused(capsys, "decompose", "data.csv", "data.csv", "--trust")
    (folder / "empty.pkl").write_bytes(b"")
    assert "empty.pkl cannot be loaded" in refused(capsys, "decompose", "empty.pkl", "data.csv", "--trust")
    content = (folder / "model.skops").read_bytes()
    (folder / "broken.skops").write_bytes(content[: len(content) // 2])
    assert "broken.skops is a truncated skops file" in refused(capsys, "decompose", "broken.skops", "data.csv")
    assert "There is no file absent.skops" in refused(capsys, "decompose", "absent.skops", "data.csv")
    assert "There is no file ." in refused(capsys, "decompose", ".", "data.csv")


GOOD = "age,income,rooms\n1,2,3\n4,5,6\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "No columns to parse"),
        ("age,income,rooms\n", "has a header but no rows"),
        ("age,rooms\n1,2\n", "lacks columns that the model needs: income"),
        (f"{GOOD}7,many,9\n", "column 'income' has the text 'many' in row 3, not a number"),
        (f"{GOOD}7,,9\n", "column 'income' has no value in row 3, which the model does not accept"),
        (f"{GOOD}7,inf,9\n", "infinity"),
        (f"{GOOD}7,8,9,10\n", "Expected 3 fields in line 4, saw 4"),
        ("age,income,rooms\n1,2,3,4\n5,6,7,8\n", "Length of header"),
        ("age,income,rooms\n\xff", "cannot be read as CSV"),
    ],
)
def test_wrong_data(text, message, folder, capsys):
    (folder / "wrong.csv").write_bytes(text.encode("latin-1"))
    assert message in refused(capsys, "decompose", "model.skops", "wrong.csv")


def test_wrong_columns_and_paths(folder, capsys):
    arguments = ["decompose", "model.skops", "data.csv"]
    line = refused(capsys, *arguments, "--target", "cost")
    assert "has no column 'cost'; it has age, income, rooms, price" in line
    assert "'age' is a variable of the model" in refused(capsys, *arguments, "--target", "age")
    assert "absent.csv: No such file" in refused(capsys, "decompose", "model.skops", "absent.csv")
    assert "data.csv: File exists" in refused(capsys, *arguments, "--out", "data.csv")
    (folder / "text.csv").write_text(f"{GOOD.replace('rooms', 'rooms,price').replace('3', '3,low')}")
    assert "'price' has the text 'low' in row 1" in refused(
        capsys, "decompose", "model.skops", "text.csv", "--target", "price"
    )


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "COMMAND"),
        (["compose"], "invalid choice"),
        (["decompose"], "MODEL"),
        (["decompose", "a", "b", "--order", "0"], "must be a positive integer, got '0'"),
        (["decompose", "a", "b", "--order", "two"], "must be a positive integer, got 'two'"),
        (["decompose", "a", "b", "--colour"], "unrecognized arguments: --colour"),
    ],
)
def test_wrong_arguments(argv, message, capsys):
    assert message in refused(capsys, *argv)


def test_missing_values_that_the_model_accepts(folder, capsys):
    X, y = rows()
    X.iloc[0, 0] = np.nan
    X.to_csv("missing.csv", index=False)
    skops.io.dump(RandomForestRegressor(5, max_depth=2, random_state=0).fit(X, y), "forest.skops")
    assert run(capsys, "decompose", "forest.skops", "missing.csv")[0] == 0


def test_warnings_are_lines(folder, capsys):
    X, _ = rows()
    skops.io.dump(GradientBoostingRegressor(n_estimators=2).fit(X, np.ones(len(X))), "constant.skops")
    status, out, err = run(capsys, "decompose", "constant.skops", "data.csv", "--out", "results")
    assert status == 0 and "Residual" in out
    assert err.startswith("fasthdmr: warning: ") and err.count("\n") == 1


@pytest.mark.parametrize("module", ["skops.io", "pandas"])
def test_missing_packages_name_the_extra(module, folder, capsys, monkeypatch):
    pytest.importorskip("sklearn", minversion="1.7", reason="scikit-learn 1.6 fails itself on a hidden pandas")
    monkeypatch.setitem(sys.modules, module, None)
    line = refused(capsys, "decompose", "model.skops", "data.csv")
    assert f"{module.partition('.')[0]} is needed here: pip install 'fasthdmr[cli]'" in line


def test_demo(folder, capsys):
    status, out, err = run(capsys, "demo")
    assert status == 0 and err.count("\n") <= 1 and "Concurvity" in err  # serum measures are nearly collinear
    assert "bmi" in out and "of the model's variance" in out and "matter most" in out
    assert "subspaces with S below 0.01 not shown" in out
    names = ["components.png", "indices.csv", "indices.json", "indices.png", "interactions.png"]
    assert sorted(path.name for path in (folder / "fasthdmr-demo").iterdir()) == names


def test_command_of_the_module(folder):
    def command(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "fasthdmr", *arguments],
            capture_output=True,
            text=True,
            check=False,
            encoding="utf-8",
        )

    version = command("--version")
    assert (version.returncode, version.stdout) == (0, f"fasthdmr {fasthdmr.__version__}\n")
    missing = command("decompose", "absent.skops", "data.csv")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr == "fasthdmr: error: There is no file absent.skops.\n"
