"""The options of the command: what is decomposed, what of it is shown, and in which formats."""

import io
import json
import re
import shlex
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from test_cli import boosting, refused, rows, run
from tolerance import assert_close

import fasthdmr
from fasthdmr import TreeHDMR
from fasthdmr._cli.main import _parser
from fasthdmr._cli.names import names_in, subspaces_in
from fasthdmr._cli.tables import table_text

pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

mpl.use("Agg")

MODEL = ["decompose", "model.skops", "data.csv"]
CLASSES = ["decompose", "classifier.skops", "labels.csv"]


def labels():
    _, y = rows()
    return np.array(["cheap", "dear", "fair & square"])[np.digitize(y, np.quantile(y, [0.3, 0.6]))]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    X, y = rows()
    data = X.assign(price=y)
    data.to_csv(folder / "data.csv", index=False)
    X.assign(label=labels(), count=np.arange(len(X)) % 3).to_csv(folder / "labels.csv", index=False)
    skops.io.dump(boosting(), folder / "model.skops")
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, labels())
    skops.io.dump(forest, folder / "classifier.skops")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def folder(tmp_path, monkeypatch, files):
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def load(name):
    return skops.io.load(name, trusted=["sklearn.tree._tree.Tree"])


# --- the decomposition --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "parameters"),
    [
        (["--basis", "bins"], {"basis": "bins"}),
        (["--basis", "trees"], {"basis": "trees"}),
        (["--faithful"], {"smooth": False}),
        (["--measure", "product"], {"measure": "product"}),
        (["--interactions", "rooms & age"], {"interactions": [("age", "rooms")]}),
        (["--n-jobs", "2"], {}),
        (["--n-jobs=-1", "--order", "1"], {"order": 1}),
    ],
)
def test_options_are_parameters(arguments, parameters, folder, capsys):
    status, out, _ = run(capsys, *MODEL, *arguments)
    hdmr = TreeHDMR(boosting(), **parameters).fit(rows()[0])
    assert status == 0 and f"\n{hdmr.sensitivity_}\n" in out
    assert f"against the model: {hdmr.fidelity(rows()[0]):.4f}" in out


def test_interactions_are_lists_or_several_options(folder, capsys):
    one = run(capsys, *MODEL, "--interactions", "age & income, rooms & age")
    assert one == run(capsys, *MODEL, "--interactions", "age & income", "--interactions", '"rooms" & age')
    assert "income & rooms" not in one[1] and "age & rooms" in one[1]


@pytest.mark.parametrize(
    ("text", "subspaces"),
    [
        ("a & b", [("a", "b")]),
        ("a&b & c,d e & f", [("a&b", "c"), ("d e", "f")]),
        ('"a, b" & "say ""no"""', [("a, b", 'say "no"')]),
        ('"a & b" & " c "', [("a & b", " c ")]),
        ('5" pipe & two\nlines', [('5" pipe', "two\nlines")]),
    ],
)
def test_names_of_subspaces(text, subspaces):
    assert subspaces_in(text) == subspaces


@pytest.mark.parametrize("text", ["", "a,", "a & ", "a &", ",a", '"a', '"a" b', "a & & b"])
def test_names_that_are_empty_or_not_closed(text):
    with pytest.raises(ValueError, match="empty name, or a quote that is not closed"):
        subspaces_in(text)


def test_names_of_single_variables():
    assert names_in('zip code, "a & b"') == ["zip code", "a & b"]
    with pytest.raises(ValueError, match=r"'a & b' holds"):
        names_in("a & b")


def test_every_table_name_of_a_subspace_is_an_argument():
    names = ["a & b", 'c "d"', "plain", '"q" & ']
    shown = fasthdmr.Sensitivity([(0, 1), (2, 3), (1, 3)], [0.1] * 3, [0.1] * 3, 0.0, 1.0, names).names
    assert subspaces_in(", ".join(shown)) == [(names[0], names[1]), (names[2], names[3]), (names[1], names[3])]


def test_weights(folder, capsys):
    X, y = rows()
    weights = np.arange(len(X)) % 3
    X.assign(price=y, w=weights).to_csv("weights.csv", index=False)
    status, out, _ = run(capsys, "decompose", "model.skops", "weights.csv", "--weights", "w", "--target", "price")
    hdmr = TreeHDMR(boosting()).fit(X, sample_weight=weights)
    assert status == 0 and f"\n{hdmr.sensitivity_}\n" in out
    assert f"against the model: {hdmr.fidelity(X, weights):.4f}\n" in out
    assert f"against price: {hdmr.score(X, y, weights):.4f}\n" in out
    unnamed = GradientBoostingRegressor(n_estimators=20, max_depth=2, random_state=0).fit(X.to_numpy(), y)
    skops.io.dump(unnamed, "unnamed.skops")
    assert (
        out == run(capsys, "decompose", "unnamed.skops", "weights.csv", "--weights", "w", "--target", "price")[1]
    )  # a column of weights is no variable
    for arguments, message in (
        (["--weights", "v"], "has no column 'v'"),
        (["--weights", "age"], "The column of weights 'age' is a variable of the model"),
        (["--weights", "w", "--target", "w"], "cannot be both the target and the weights"),
    ):
        assert message in refused(capsys, "decompose", "model.skops", "weights.csv", *arguments)
    X.assign(w=-1.0).to_csv("weights.csv", index=False)
    assert "sample_weight" in refused(capsys, "decompose", "model.skops", "weights.csv", "--weights", "w")


def test_codes_of_categories(folder, capsys):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"area": rng.normal(size=300), "zip, code": rng.integers(0, 5, 300)})
    y = X["area"] + np.array([3, 0, 2, 0, 1])[X["zip, code"]]
    model = GradientBoostingRegressor(n_estimators=20, max_depth=2, random_state=0).fit(X, y)
    skops.io.dump(model, "codes.skops")
    X.to_csv("codes.csv", index=False)
    status, out, _ = run(
        capsys, "decompose", "codes.skops", "codes.csv", "--categorical", '"zip, code"', "--out", "results"
    )
    hdmr = TreeHDMR(model, categorical_features=["zip, code"]).fit(X)
    assert status == 0 and f"\n{hdmr.sensitivity_}\n" in out
    levels = pd.read_csv("results/levels.csv")
    assert sorted(levels["level"]) == [0, 1, 2, 3, 4] and set(levels["variable"]) == {"zip, code"}
    assert "which is not a feature name" in refused(
        capsys, "decompose", "codes.skops", "codes.csv", "--categorical", "zip"
    )


# --- what is shown ------------------------------------------------------------------------------------------------


def test_one_class_of_several(folder, capsys):
    arguments = [*CLASSES, "--target", "label", "--output", "dear", "--out", "results", "--report", "page.html"]
    status, out, _ = run(capsys, *arguments)
    hdmr = TreeHDMR(load("classifier.skops")).fit(rows()[0])
    assert status == 0 and "Output dear\n" in out and out.count("Residual") == 1
    assert table_text(hdmr.sensitivity_, [1], None) in out and table_text(hdmr.sensitivity_, [1], None) in str(
        hdmr.sensitivity_
    )
    assert "Accuracy of the components against label" in out
    table = pd.read_csv("results/indices.csv")
    assert set(table["output"]) == {"dear"}
    assert_close(table["S"], hdmr.sensitivity_.S[:, 1])
    content = json.loads(Path("results/indices.json").read_text("utf-8"))
    assert_close(content["residual"], hdmr.sensitivity_.residual[1])
    assert sorted(path.name for path in Path("results").glob("*.png")) == ["components_1.png", "indices_1.png"]
    heads = re.findall("<h2>(.*?)</h2>", Path("page.html").read_text("utf-8"))
    assert [head for head in heads if " of " in head] == ["Indices of dear", "Pictures of dear"]
    plain = run(capsys, *CLASSES, "--output", "dear")
    assert run(capsys, *CLASSES, "--output", "1") == plain  # the index of an output, which no class is called


def test_outputs_that_do_not_exist(folder, capsys):
    line = refused(capsys, *CLASSES, "--output", "new")
    assert "--output must be one of cheap, dear, fair & square, got 'new'" in line
    assert "--output must be one of y0, got 'new'" in refused(capsys, *MODEL, "--output", "new")


def test_one_of_several_targets(folder, capsys):
    X, y = rows()
    model = RandomForestRegressor(5, max_depth=2, random_state=0).fit(X, np.column_stack([y, -(y**2)]))
    skops.io.dump(model, "two.skops")
    X.assign(price=-(y**2)).to_csv("two.csv", index=False)
    arguments = ["decompose", "two.skops", "two.csv", "--target", "price"]
    assert "Choose one: --output y0" in refused(capsys, *arguments)
    _, out, _ = run(capsys, *arguments, "--output", "y1")
    hdmr = TreeHDMR(model).fit(X)
    score = 1 - np.sum((X.assign(p=-(y**2))["p"] - hdmr.predict(X)[:, 1]) ** 2) / np.sum((y**2 - np.mean(y**2)) ** 2)
    assert f"against price: {score:.4f}" in out


def test_labels_of_many_kinds_that_the_model_does_not_know(folder, capsys):
    X, _ = rows()
    for wrong, shown in (("new", "'new'"), (None, "no class label"), (True, "True")):
        found = labels().astype(object)
        found[3] = wrong
        X.assign(label=found).to_csv("wrong.csv", index=False)
        line = refused(capsys, "decompose", "classifier.skops", "wrong.csv", "--target", "label")
        assert shown in line and "row 4" in line
    assert "'age' is a variable" in refused(capsys, *CLASSES, "--target", "age")


def test_level_leaves_out_the_weak(folder, capsys):
    status, out, _ = run(capsys, *MODEL, "--level", "0.1", "--out", "results")
    indices = TreeHDMR(boosting()).fit(rows()[0]).sensitivity_
    weak = indices.S[indices.S < 0.1]
    assert status == 0 and str(indices.level_set("P", 0.1)) in out
    assert f"({weak.size} subspaces with S below 0.1 not shown, which sum to {weak.sum():.4f})" in out
    assert f"\nResidual {indices.residual:.4f}\n" in out and "Fidelity" in out
    assert len(pd.read_csv("results/indices.csv")) == len(indices.subspaces)  # files hold all
    heights = [mpl.image.imread("results/indices.png").shape[0]]
    assert run(capsys, *MODEL, "--out", "results", "--quiet")[0] == 0
    heights.append(mpl.image.imread("results/indices.png").shape[0])
    assert heights[0] < heights[1]  # of two bars, and of six
    status, out, _ = run(capsys, *MODEL, "--level", "1", "--out", "none")
    assert status == 0 and not list(Path("none").glob("*.png"))
    assert "must be a number from 0 to 1, got '2'" in refused(capsys, *MODEL, "--level", "2")


def test_quiet(folder, capsys):
    assert run(capsys, *MODEL, "--quiet", "--out", "results", "--report", "page.html") == (0, "", "")
    assert Path("page.html").is_file() and len(list(Path("results").iterdir())) == 4
    assert "no column" in refused(capsys, *MODEL, "--quiet", "--target", "cost")


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_formats(kind, folder, capsys):
    assert run(capsys, *MODEL, "--out", "results", "--format", kind)[0] == 0
    (path,) = (path for path in Path("results").iterdir() if path.suffix != ".png")
    assert path.name == f"indices.{kind}"
    indices = TreeHDMR(boosting()).fit(rows()[0]).sensitivity_
    if kind == "json":
        table = pd.DataFrame(json.loads(path.read_text("utf-8"))["indices"])
    else:
        table = pd.read_csv(path) if kind == "csv" else pd.read_parquet(path)
    assert_close(table["S"], indices.S)
    if kind == "parquet":
        assert [tuple(u) for u in table["subspace"]] == indices.subspaces
    assert "which is missing" in refused(capsys, *MODEL, "--format", kind)


def test_hostile_names_stay_as_they_are(folder, capsys):
    """They are data: formulas of spreadsheets are not changed."""
    names = ["=HYPERLINK(1)", 'a "b",\n<script>', "x" * 300]
    X, y = rows()
    X.columns = names
    skops.io.dump(GradientBoostingRegressor(n_estimators=5, max_depth=2).fit(X, y), "model.skops")
    X.to_csv("data.csv", index=False)
    for kind, read in (("csv", pd.read_csv), ("parquet", pd.read_parquet)):
        assert run(capsys, *MODEL, "--out", "results", "--format", kind)[0] == 0
        assert set(names) <= set(read(f"results/indices.{kind}")["names"])


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_tables_fit_the_terminal(columns, folder, monkeypatch, capsys):
    """Of several outputs, long names, and with --level; nothing is shortened in a file."""
    rng = np.random.default_rng(0)
    names = [f"rather a long name of number {k}" for k in range(4)]
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=names)
    y = X[names[0]] * X[names[1]] + X[names[2]]
    model = RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, np.column_stack([y, -(y**2)]))
    skops.io.dump(model, "two.skops")
    X.to_csv("two.csv", index=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    for arguments in (["decompose"], ["decompose", "--level", "0.01"], ["explain", "--row", "1"]):
        verb, *options = arguments
        argv = [verb, "two.skops", "two.csv", *options]
        whole = run(capsys, *argv)[1]
        monkeypatch.setattr(sys, "stdout", terminal := Terminal())
        status, *_ = run(capsys, *argv)
        monkeypatch.undo()
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = [line for line in terminal.getvalue().splitlines() if not line.startswith(("(", "Fidelity", "R²"))]
        assert status == 0 and max(map(len, lines)) <= columns, max(lines, key=len)
        assert names[2] in whole


# --- help ---------------------------------------------------------------------------------------------------------


def examples(verb):
    """Return the examples of a command's help."""
    commands = next(action for action in _parser()._actions if action.dest == "command" or action.choices)
    return [line.strip() for line in commands.choices[verb].epilog.splitlines()[1:]]


@pytest.mark.parametrize(
    ("verb", "example"), [(verb, line) for verb in ("decompose", "explain") for line in examples(verb)]
)
def test_examples_of_the_help_run(verb, example, folder, capsys, monkeypatch):
    X, y = rows()
    X.assign(price=y).to_parquet("data.parquet")
    X.assign(label=labels()).to_csv("data.csv" if "classifier" in example else "other.csv", index=False)
    program, *argv = shlex.split(example)
    if "<" in argv:
        *argv, _, name = argv
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(name).read_bytes())))
    assert program == "fasthdmr" and argv[0] == verb
    status, out, _ = run(capsys, *argv)
    assert status == 0 and (out == "") == ("--quiet" in argv)


def test_help_shows_examples(capsys):
    with pytest.raises(SystemExit):
        run(capsys, "decompose", "--help")
    shown = capsys.readouterr().out
    assert all(f"  {line}\n" in shown for line in examples("decompose")) and len(examples("decompose")) >= 4
