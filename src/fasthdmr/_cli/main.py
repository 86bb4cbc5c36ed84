"""The ``fasthdmr`` command: a demonstration, and the decomposition of a model in a file."""

from __future__ import annotations

import argparse
import contextlib
import json
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn, TypeGuard

import numpy as np
import sklearn.datasets

from fasthdmr._cli.console import one_line, say
from fasthdmr._cli.data_file import read_rows
from fasthdmr._cli.labels import accuracy, class_numbers
from fasthdmr._cli.level_effects import level_effects
from fasthdmr._cli.report import pictures, render
from fasthdmr._estimators.tree_hdmr import TreeHDMR
from fasthdmr._forest.forest import Forest
from fasthdmr._support.optional import require
from fasthdmr._support.output_file import check_target, drawn, write_files
from fasthdmr.loaders import load_forest
from fasthdmr.loaders.model_file import UNPACK_LIMIT, load_model


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; default: those of the process.

    Returns
    -------
    status : int
        0, or 2 after an invalid input, which one line on standard error names.

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
            say(f"fasthdmr: warning: {message}", error=True)
    except BrokenPipeError:
        return 0  # an output file that is a closed pipe
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        message = f"{error.filename}: {error.strerror}" if _is_about_a_file(error) else str(error) or repr(error)
        with contextlib.suppress(OSError):
            say(f"fasthdmr: error: {one_line(message)}", error=True)
        return 2
    return 0


def _messages(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """Return warnings as lines, each once."""
    return list(dict.fromkeys(one_line(str(warning.message)) for warning in caught))


def _is_about_a_file(error: Exception) -> TypeGuard[OSError]:
    return isinstance(error, OSError) and error.filename is not None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Report invalid arguments like any other invalid input: in one line."""
        raise ValueError(f"{message} (see {self.prog} --help)")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help and version as everything else is printed."""
        say(message.rstrip("\n"))


_MODEL = (
    "what save_model of xgboost (.ubj, .json), LightGBM (.txt) or CatBoost (.cbm, .json) has written, or a skops file; "
    "with --trust also pickle, joblib"
)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="fasthdmr", description="What each variable and interaction does in a tree ensemble.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('fasthdmr')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="decompose an ensemble fitted to data that scikit-learn ships")
    demo.add_argument("--out", type=Path, default=Path("fasthdmr-demo"), metavar="DIR", help="default: %(default)s")
    demo.set_defaults(run=_demo)

    decompose = commands.add_parser("decompose", help="decompose a fitted model on the rows of a CSV file")
    decompose.add_argument("model", type=Path, metavar="MODEL", help=_MODEL)
    decompose.add_argument(
        "data",
        type=Path,
        metavar="DATA.csv",
        help="rows of the model's variables, in UTF-8, separated by commas, below a header: a first row of nothing but "
        "numbers is refused as data without one, unless the model's variables have these names or they are 0, 1, 2, "
        "and so on, as pandas numbers columns. Text holds the levels of categories, empty cells are missing values",
    )
    decompose.add_argument("--target", metavar="COLUMN", help="the column to compare with, of numbers or class labels")
    decompose.add_argument("--order", type=_order, default=2, metavar="N", help="order of the largest component (2)")
    decompose.add_argument("--out", type=Path, metavar="DIR", help="write the table (csv, json) and pictures there")
    decompose.add_argument("--report", type=Path, metavar="FILE.html", help="write a report as one HTML page")
    decompose.add_argument("--trust", action="store_true", help="also read pickle and joblib, which can run code")
    decompose.add_argument(
        "--unpack-limit",
        type=_gigabytes,
        default=UNPACK_LIMIT,
        metavar="GB",
        help=f"refuse a skops file that unpacks to more, default {UNPACK_LIMIT / 1e9:g}",
    )
    decompose.set_defaults(run=_decompose)
    return parser


def _order(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a positive integer, got {text!r}")
    return int(text)


def _gigabytes(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < (number := float(text)) < float("inf"):
            return number * 1e9
    raise argparse.ArgumentTypeError(f"must be a positive number of gigabytes, got {text!r}")


def _demo(arguments: argparse.Namespace) -> None:
    from sklearn.ensemble import GradientBoostingRegressor

    _check_targets(arguments.out, None)
    data = sklearn.datasets.load_diabetes(scaled=False)
    say(f"scikit-learn's diabetes data, {data.data.shape[0]} patients: what drives the disease's progression?")
    say("Gradient boosted trees of depth 2, taken apart into functions of one and two variables.\n")
    pandas = require("pandas", extra="cli")
    X = pandas.DataFrame(data.data, columns=data.feature_names)
    model = GradientBoostingRegressor(max_depth=2, random_state=0).fit(X, data.target)
    hdmr = TreeHDMR(model).fit(X)
    written = _table_and_pictures(hdmr, arguments.out)
    write_files(written)
    say(str(hdmr.sensitivity_))
    single, both = hdmr.sensitivity_.explained()[:2]
    (_, first, _, R1), (_, second, _, R2), *_ = hdmr.sensitivity_.level_set("R")
    say(f"\nFunctions of one variable explain {single:.0%} of the model's variance, with pairs {both:.0%}.")
    say(f"{first} and {second} matter most: {R1 + R2:.0%} of the importance of all variables.")
    _say_written(arguments.out, written)


def _decompose(arguments: argparse.Namespace) -> None:
    _check_targets(arguments.out, arguments.report, inputs=(arguments.model, arguments.data))
    model = load_model(arguments.model, trust=arguments.trust, unpack_limit=arguments.unpack_limit)
    forest = load_forest(model)
    classes = getattr(model, "classes_", None)  # a list of arrays if there are several targets
    has_one_target = forest.n_outputs == 1 or (forest.is_classifier and not isinstance(classes, list))
    if arguments.target is not None and not has_one_target:
        raise ValueError(f"--target is one column, but the model has several outputs ({forest.n_outputs}).")
    X, y = read_rows(arguments.data, forest, arguments.target)
    labels = None if y is None or not forest.is_classifier else class_numbers(y, classes, forest.n_outputs)
    hdmr = TreeHDMR(forest, order=arguments.order).fit(X)
    scores = {"R² of the components against the model": f"{hdmr.fidelity(X):.4f}"}
    if labels is not None:
        components = hdmr.predict(X)
        for name, values in (("components", components), ("model", components + hdmr.residual(X))):
            hits = accuracy(values, hdmr.decomposition_.unit, labels)
            scores[f"Accuracy of the {name} against {arguments.target}"] = f"{hits:.4f}"
    elif y is not None:
        scores[f"R² of the components against {arguments.target}"] = f"{hdmr.score(X, y):.4f}"
    levels = level_effects(hdmr, X)
    written = {} if arguments.out is None else _table_and_pictures(hdmr, arguments.out, levels)
    page = {} if arguments.report is None else {arguments.report: _page(arguments, model, hdmr, X, scores, levels)}
    # Before printing, which a closed pipe may end.
    write_files(written | page)
    say(f"{forest.n_trees} trees, {X.shape[0]} rows, {X.shape[1]} variables\n")
    say(str(hdmr.sensitivity_))
    say("\n".join(["", *(f"{name}: {score}" for name, score in scores.items())]))
    if written:
        _say_written(arguments.out, written)
    if page:
        say(f"\nReport: {arguments.report}")


def _check_targets(directory: Path | None, report: Path | None, inputs: Sequence[Path] = ()) -> None:
    """Raise an error, before the work begins, for output files that cannot be written or are also inputs."""
    targets = [] if report is None else [report]
    if directory is not None:
        targets += [directory / name for name in _TABLES]
    for target in targets:
        check_target(target)
        if target.is_file() and any(path.exists() and path.samefile(target) for path in inputs):
            raise ValueError(f"{target} is read, so it cannot be written as well.")


def _say_written(directory: Path, written: Mapping[Path, bytes]) -> None:
    say(f"\nWritten to {directory}: {', '.join(path.name for path in written)}")


def _page(arguments: argparse.Namespace, model: Any, hdmr: Any, X: Any, scores: dict[str, str], levels: Any) -> bytes:
    """Return the page."""
    facts = {
        "Model": arguments.model.name,
        **({} if isinstance(model, Forest) else {"Class": type(model).__name__}),
        "Trees": hdmr.forests_[0].n_trees,
        "Data": arguments.data.name,
        "Rows": X.shape[0],
        "Variables": f"{X.shape[1]}: {', '.join(hdmr.feature_names_)}",
        **({"Unit of the output": unit} if (unit := hdmr.decomposition_.unit) else {}),
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
        levels=levels,
    )
    return page.encode("utf-8", "backslashreplace")  # names of files may contain characters that UTF-8 cannot encode


def _numbers_as_text(values: Any) -> str:
    return ", ".join(f"{value:.6g}" for value in np.atleast_1d(values))


_TABLES = ("indices.csv", "indices.json", "levels.csv")


def _table_and_pictures(hdmr: Any, directory: Path, levels: Any = None) -> dict[Path, bytes]:
    """Return the files of the tables and of the pictures; that of levels only if there are categorical variables."""
    pyplot = require("matplotlib.pyplot", extra="cli")
    indices = hdmr.sensitivity_
    frame = indices.to_frame()
    summary = {"variance": indices.variance, "residual": indices.residual, "explained": indices.explained()}
    content = {name: np.asarray(value).tolist() for name, value in summary.items()} | {"indices": _records(frame)}
    tables = {"indices.csv": _csv(frame)}
    if levels is not None and not levels.empty:
        content["levels"] = _records(levels)
        tables["levels.csv"] = _csv(levels)
    tables["indices.json"] = json.dumps(content, indent=1, ensure_ascii=False)
    files = {directory / name: text.encode("utf-8", "backslashreplace") for name, text in tables.items()}
    for k in range(indices.n_outputs):
        suffix = f"_{k}" if indices.n_outputs > 1 else ""
        for name, display in pictures(hdmr, k).items():
            files[directory / f"{name}{suffix}.png"] = drawn(display.figure_, "png", dpi=150)
            pyplot.close(display.figure_)
    return files


def _records(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of a table for JSON."""
    records: list[dict[str, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return records


def _csv(frame: Any) -> str:
    # Fields with carriage returns are quoted only if ends of lines have them, too.
    text: str = frame.to_csv(index=False, lineterminator="\r\n").replace("\r\n", "\n")
    return text
