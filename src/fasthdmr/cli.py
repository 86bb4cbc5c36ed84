"""The ``fasthdmr`` command: a demonstration, and the decomposition of a model in a file."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn, TypeGuard

import numpy as np
import sklearn.datasets

from fasthdmr._model_file import load_model
from fasthdmr._optional import require
from fasthdmr.loaders import load_forest
from fasthdmr.report import pictures, render
from fasthdmr.tree_hdmr import TreeHDMR


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; default: those of the process.

    Returns
    -------
    status : int
        0, or 2 after a wrong input, which is named in one line on standard error.

    Examples
    --------
    >>> main(["decompose", "no-such-model.skops", "data.csv"])
    2
    """
    try:
        arguments = _parser().parse_args(argv)
        with warnings.catch_warnings(record=True) as caught:
            for category in (UserWarning, RuntimeWarning):
                warnings.simplefilter("always", category)
            arguments.caught = caught
            arguments.run(arguments)
        for message in _messages(caught):
            print("fasthdmr: warning:", message, file=sys.stderr)
    except (ValueError, TypeError, OSError, ImportError) as error:
        message = f"{error.filename}: {error.strerror}" if _is_about_a_file(error) else str(error)
        print("fasthdmr: error:", " ".join(message.split()), file=sys.stderr)
        return 2
    return 0


def _messages(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """Return warnings as lines, each once."""
    return list(dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught))


def _is_about_a_file(error: Exception) -> TypeGuard[OSError]:
    return isinstance(error, OSError) and error.filename is not None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Report wrong arguments like any other wrong input: in one line."""
        raise ValueError(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="fasthdmr", description="What each variable and interaction does in a tree ensemble.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('fasthdmr')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="decompose an ensemble fitted to data that scikit-learn ships")
    demo.add_argument("--out", type=Path, default=Path("fasthdmr-demo"), metavar="DIR", help="default: %(default)s")
    demo.set_defaults(run=_demo)

    decompose = commands.add_parser("decompose", help="decompose a fitted model on the rows of a CSV file")
    decompose.add_argument("model", type=Path, metavar="MODEL", help="a skops file; with --trust also pickle, joblib")
    decompose.add_argument("data", type=Path, metavar="DATA.csv", help="rows of the model's variables, with a header")
    decompose.add_argument("--target", metavar="COLUMN", help="the column to compare with; not a variable")
    decompose.add_argument("--order", type=_order, default=2, metavar="N", help="of the largest component, default 2")
    decompose.add_argument("--out", type=Path, metavar="DIR", help="write the table (csv, json) and pictures there")
    decompose.add_argument("--report", type=Path, metavar="FILE.html", help="write all of it as one page to look at")
    decompose.add_argument("--trust", action="store_true", help="load files that can run code: only your own")
    decompose.set_defaults(run=_decompose)
    return parser


def _order(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a positive integer, got {text!r}")
    return int(text)


def _demo(arguments: argparse.Namespace) -> None:
    from sklearn.ensemble import GradientBoostingRegressor

    data = sklearn.datasets.load_diabetes(scaled=False)
    print(f"scikit-learn's diabetes data, {data.data.shape[0]} patients: what drives the disease's progression?")
    print("Gradient boosted trees of depth 2, taken apart into functions of one and two variables.\n")
    pandas = require("pandas", extra="cli")
    X = pandas.DataFrame(data.data, columns=data.feature_names)
    model = GradientBoostingRegressor(max_depth=2, random_state=0).fit(X, data.target)
    hdmr = TreeHDMR(model, smooth=False).fit(X)
    print(hdmr.sensitivity_)
    single, both = hdmr.sensitivity_.explained()[:2]
    (_, first, _, R1), (_, second, _, R2), *_ = hdmr.sensitivity_.level_set("R")
    print(f"\nFunctions of one variable explain {single:.0%} of the model's variance, with pairs {both:.0%}.")
    print(f"{first} and {second} matter most: {R1 + R2:.0%} of the importance of all variables.")
    _write(hdmr, arguments.out)


def _decompose(arguments: argparse.Namespace) -> None:
    model = load_model(arguments.model, trust=arguments.trust)
    forest = load_forest(model)
    if arguments.target is not None and forest.n_outputs > 1:
        raise ValueError(f"--target is one column, but the model has several outputs ({forest.n_outputs}).")
    X, y = _read_rows(arguments.data, forest, arguments.target)
    hdmr = TreeHDMR(forest, order=arguments.order).fit(X)
    print(f"{forest.n_trees} trees, {X.shape[0]} rows, {X.shape[1]} variables\n")
    print(hdmr.sensitivity_)
    scores = {"R² of the components against the model": f"{hdmr.fidelity(X):.4f}"}
    if arguments.target is not None and forest.is_classifier:
        warnings.warn(
            f"The model is a classifier: its scores are not compared with the labels in {arguments.target}.",
            UserWarning,
            stacklevel=2,
        )
    elif y is not None:
        scores[f"R² of the components against {arguments.target}"] = f"{hdmr.score(X, y):.4f}"
    print("", *(f"{name}: {score}" for name, score in scores.items()), sep="\n")
    if arguments.out is not None:
        _write(hdmr, arguments.out)
    if arguments.report is not None:
        _report(arguments, model, hdmr, X, scores)


def _report(arguments: argparse.Namespace, model: Any, hdmr: Any, X: Any, scores: dict[str, str]) -> None:
    """Write the page."""
    facts = {
        "Model": arguments.model.name,
        "Class": type(model).__name__,
        "Trees": hdmr.forests_[0].n_trees,
        "Data": arguments.data.name,
        "Rows": X.shape[0],
        "Variables": f"{X.shape[1]}: {', '.join(hdmr.feature_names_)}",
        "Mean of the output, f₀": _numbers_as_text(hdmr.intercept_),
        "Variance of the output": _numbers_as_text(hdmr.sensitivity_.variance),
        **scores,
    }
    options = {f"--{name}": getattr(arguments, name) for name in ("target", "order", "trust")}
    options |= {name: value for name, value in hdmr.get_params().items() if name != "estimators"}
    page = render(
        hdmr,
        f"HDMR of {arguments.model.name}",
        facts=facts,
        options=options,
        warnings=lambda: _messages(arguments.caught),
    )
    arguments.report.parent.mkdir(parents=True, exist_ok=True)
    arguments.report.write_text(page, encoding="utf-8")
    print(f"\nReport: {arguments.report}")


def _numbers_as_text(values: Any) -> str:
    return ", ".join(f"{value:.6g}" for value in np.atleast_1d(values))


def _read_rows(path: Path, forest: Any, target: str | None) -> tuple[Any, Any]:
    """Return the model's variables as a frame, and the target if there is one that is no label."""
    pandas = require("pandas", extra="cli")
    try:
        with warnings.catch_warnings():
            # Without index_col, rows longer than the header would turn the first columns into an index.
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            frame = pandas.read_csv(path, index_col=False)
    except (ValueError, pandas.errors.ParserWarning) as error:
        raise ValueError(f"{path} cannot be read as CSV: {error}") from error
    if frame.empty:
        raise ValueError(f"{path} has a header but no rows.")
    if target is not None and target not in frame:
        raise ValueError(f"{path} has no column {target!r}; it has {', '.join(frame.columns)}.")
    names = forest.feature_names or [name for name in frame.columns if name != target]
    if target in names:
        raise ValueError(f"The target {target!r} is a variable of the model.")
    missing = [name for name in names if name not in frame]
    if missing:
        raise ValueError(f"{path} lacks columns that the model needs: {', '.join(missing)}.")
    if len(names) != forest.n_features:
        raise ValueError(f"{path} has {len(names)} variables ({', '.join(names)}), the model {forest.n_features}.")
    X = _numbers(frame[list(names)], path, allow_nan=forest.allow_nan)
    if target is None or forest.is_classifier:
        return X, None
    return X, _numbers(frame[[target]], path, allow_nan=False)[target].to_numpy()


def _numbers(frame: Any, path: Path, *, allow_nan: bool) -> Any:
    pandas = require("pandas", extra="cli")
    for name, column in frame.items():
        numbers = pandas.to_numeric(column, errors="coerce")
        is_text = numbers.isna() & column.notna()
        if is_text.any():
            row = int(np.argmax(is_text))
            raise ValueError(f"{path}: column {name!r} has the text {column[row]!r} in row {row + 1}, not a number.")
        if not allow_nan and column.isna().any():
            row = int(np.argmax(column.isna()))
            raise ValueError(f"{path}: column {name!r} has no value in row {row + 1}, which the model does not accept.")
    return frame.astype("float64")


def _write(hdmr: Any, directory: Path) -> None:
    """Write the index table and the pictures."""
    pyplot = require("matplotlib.pyplot", extra="cli")
    directory.mkdir(parents=True, exist_ok=True)
    indices = hdmr.sensitivity_
    frame = indices.to_frame()
    frame.to_csv(directory / "indices.csv", index=False)
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    summary = {"variance": indices.variance, "residual": indices.residual, "explained": indices.explained()}
    content = {name: np.asarray(value).tolist() for name, value in summary.items()} | {"indices": rows}
    (directory / "indices.json").write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
    written = ["indices.csv", "indices.json"]
    for k in range(indices.n_outputs):
        suffix = f"_{k}" if indices.n_outputs > 1 else ""
        for name, display in pictures(hdmr, k).items():
            written.append(f"{name}{suffix}.png")
            display.figure_.savefig(directory / written[-1], dpi=150)
            pyplot.close(display.figure_)
    print(f"\nWritten to {directory}: {', '.join(written)}")
