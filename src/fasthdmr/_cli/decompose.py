"""``fasthdmr decompose``: the decomposition of a model in a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from fasthdmr._cli.arguments import add_command, add_fit, add_inputs, add_results, share
from fasthdmr._cli.console import say, warning_lines
from fasthdmr._cli.data_file import STDIN
from fasthdmr._cli.fitted import Fitted, check_targets, fit
from fasthdmr._cli.level_effects import level_effects
from fasthdmr._cli.pictures import picture_files
from fasthdmr._cli.report import LEVEL, render
from fasthdmr._cli.table_files import file_names
from fasthdmr._cli.tables import index_files, table_text
from fasthdmr._forest.forest import Forest
from fasthdmr._support.output_file import write_files

_EXAMPLES = """\
  fasthdmr decompose model.skops data.csv
  fasthdmr decompose model.skops data.csv --target price --report report.html
  fasthdmr decompose model.skops data.parquet --out results --format parquet --quiet
  fasthdmr decompose model.skops data.csv --interactions 'age & income' --level 0.01
  fasthdmr decompose classifier.skops data.csv --target label --output dear
  fasthdmr decompose model.skops - --faithful --n-jobs 2 < data.csv"""
_TABLES = ("indices", "levels")


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands, "decompose", _run, "decompose a fitted model on the rows of a CSV or parquet file", _EXAMPLES
    )
    add_inputs(parser, target="the column to compare with, of numbers or class labels")
    add_fit(parser)
    results = add_results(parser)
    results.add_argument("--report", type=Path, metavar="FILE.html", help="write a report as one HTML page")
    results.add_argument(
        "--level",
        type=share,
        metavar="EPS",
        help="print and draw only subspaces with S at or above EPS; the report folds weaker ones (0.01 there)",
    )


def _run(arguments: argparse.Namespace) -> None:
    directory, report = arguments.out, arguments.report
    if arguments.format is not None and directory is None:
        raise ValueError("--format is that of the tables in the directory of --out, which is missing.")
    names = [] if directory is None else [directory / name for name in file_names(_TABLES, arguments.format)]
    check_targets([*([] if report is None else [report]), *names], inputs=(arguments.model, arguments.data))
    fitted = fit(arguments)
    X, _, weights = fitted.rows
    scores = fitted.scores(arguments.target)
    levels = level_effects(fitted.hdmr, X, weights)
    files: dict[str, bytes] = {}
    if directory is not None:
        files = index_files(fitted.hdmr, fitted.outputs, kind=arguments.format, levels=levels)
        files |= picture_files(fitted.hdmr, fitted.outputs, arguments.level)
    page = {} if report is None else {report: _page(arguments, fitted, scores, levels)}
    # Before printing, which a closed pipe may end.
    write_files({directory / name: content for name, content in files.items()} | page)
    if arguments.quiet:
        return
    say(f"{fitted.forest.n_trees} trees, {X.shape[0]} rows, {X.shape[1]} variables\n")
    say(table_text(fitted.hdmr.sensitivity_, fitted.outputs, arguments.level))
    say("\n".join(["", *(f"{name}: {score}" for name, score in scores.items())]))
    if files:
        say(f"\nWritten to {directory}: {', '.join(files)}")
    if page:
        say(f"\nReport: {report}")


def _page(arguments: argparse.Namespace, fitted: Fitted, scores: dict[str, str], levels: Any) -> bytes:
    """Return the page."""
    hdmr, X = fitted.hdmr, fitted.rows.X
    facts = {
        "Model": arguments.model.name,
        **({} if isinstance(fitted.model, Forest) else {"Class": type(fitted.model).__name__}),
        "Trees": fitted.forest.n_trees,
        "Data": "standard input" if arguments.data == STDIN else arguments.data.name,
        "Rows": X.shape[0],
        "Variables": f"{X.shape[1]}: {', '.join(hdmr.feature_names_)}",
        **({"Unit of the output": unit} if (unit := hdmr.decomposition_.unit) else {}),
        "Mean of the output, f₀": _numbers_as_text(hdmr.intercept_),
        "Variance of the output": _numbers_as_text(hdmr.sensitivity_.variance),
    }
    options = {f"--{name}": getattr(arguments, name) for name in ("target", "weights", "output", "level", "trust")}
    options |= {name: value for name, value in hdmr.get_params().items() if name != "estimators"}
    page = render(
        hdmr,
        f"HDMR of {arguments.model.name}",
        fidelity=fitted.fidelities,
        facts=facts,
        options=options,
        warnings=lambda: warning_lines(arguments.caught),
        scores=scores,
        levels=levels,
        outputs=fitted.outputs,
        level=LEVEL if arguments.level is None else arguments.level,
    )
    return page.encode("utf-8", "backslashreplace")  # names of files may contain characters that UTF-8 cannot encode


def _numbers_as_text(values: Any) -> str:
    return ", ".join(f"{value:.6g}" for value in np.atleast_1d(values))
