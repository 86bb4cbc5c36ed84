"""``fasthdmr explain``: predictions of a model in a file as sums of terms."""

from __future__ import annotations

import argparse
from typing import Any

from fasthdmr._cli.arguments import add_command, add_fit, add_inputs, add_results, positive
from fasthdmr._cli.console import say
from fasthdmr._cli.fitted import Fitted, check_targets, fit
from fasthdmr._cli.table_files import file_names, table_files
from fasthdmr._cli.tables import output_name
from fasthdmr._support.optional import require
from fasthdmr._support.output_file import drawn, write_files
from fasthdmr._support.text import escaped

_EXAMPLES = """\
  fasthdmr explain model.skops data.csv --row 1
  fasthdmr explain model.skops data.parquet --row 1 --row 20 --target price
  fasthdmr explain model.skops data.csv --row 3 --out results --format csv
  fasthdmr explain classifier.skops data.csv --row 1 --output dear --faithful"""


def add(commands: Any) -> None:
    """Add the command."""
    help = "explain predictions for rows of a CSV or parquet file as sums of terms"
    parser = add_command(commands, "explain", _run, help, _EXAMPLES)
    add_inputs(parser, target="a column to show beside the prediction; it is no variable of the model")
    parser.add_argument(
        "--row",
        type=positive,
        action="append",
        required=True,
        metavar="K",
        help="the number of the row to explain; the first one below the header is 1. All rows are the data of the "
        "decomposition. Several options, several rows",
    )
    add_fit(parser)
    add_results(parser)


def _run(arguments: argparse.Namespace) -> None:
    directory, rows = arguments.out, list(dict.fromkeys(arguments.row))
    if arguments.format is not None and directory is None:
        raise ValueError("--format is that of the table in the directory of --out, which is missing.")
    names = [] if directory is None else file_names(("explanations",), arguments.format)
    check_targets([directory / name for name in names], inputs=(arguments.model, arguments.data))
    fitted = fit(arguments)
    count = len(fitted.rows.X)
    if (beyond := max(rows)) > count:
        raise ValueError(f"--row must be from 1 to {count}, the number of rows in {arguments.data}; got {beyond}.")
    found: dict[tuple[int, int], Any] = {
        (row, k): fitted.hdmr.explain(fitted.rows.X.iloc[[row - 1]], output=k) for row in rows for k in fitted.outputs
    }
    files = {} if directory is None else _files(fitted, found, arguments.format)
    write_files({directory / name: content for name, content in files.items()})
    if arguments.quiet:
        return
    blocks = [f"{_heading(fitted, row, k)}\n{explanation}" for (row, k), explanation in found.items()]
    if fitted.rows.y is not None:
        known = [f"{arguments.target} in row {row}: {_value(fitted.rows.y, row)}" for row in rows]
        blocks.append("\n".join(known))
    if files:
        blocks.append(f"Written to {directory}: {', '.join(files)}")
    say("\n\n".join(blocks))


def _heading(fitted: Fitted, row: int, output: int) -> str:
    indices = fitted.hdmr.sensitivity_
    return f"Row {row}" + (f", output {escaped(output_name(indices, output))}" if indices.n_outputs > 1 else "")


def _value(y: Any, row: int) -> str:
    value = y[row - 1] if not hasattr(y, "iloc") else y.iloc[row - 1]
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _files(fitted: Fitted, found: dict[tuple[int, int], Any], kind: str | None) -> dict[str, bytes]:
    """Return the table of all terms, and a picture of each explanation."""
    pandas, pyplot = require("pandas", extra="cli"), require("matplotlib.pyplot", extra="cli")
    indices = fitted.hdmr.sensitivity_
    frames, files = [], {}
    for (row, k), explanation in found.items():
        frame = explanation.to_frame()
        if indices.n_outputs > 1:
            frame.insert(0, "output", output_name(indices, k))
        frame.insert(0, "row", row)
        frames.append(frame)
        figure = explanation.plot().figure_
        files[f"row_{row}" + (f"_{k}" if indices.n_outputs > 1 else "") + ".png"] = drawn(figure, "png", dpi=150)
        pyplot.close(figure)
    return table_files({"explanations": pandas.concat(frames, ignore_index=True)}, kind) | files
