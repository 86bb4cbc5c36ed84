"""The arguments that the commands share, and how they are read."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from fasthdmr._cli.console import say
from fasthdmr._cli.names import RULE, names_in, subspaces_in
from fasthdmr._cli.table_files import FORMATS
from fasthdmr._spans.kinds import BASES
from fasthdmr.loaders.model_file import UNPACK_LIMIT

_MODEL = (
    "what save_model of xgboost (.ubj, .json), LightGBM (.txt) or CatBoost (.cbm, .json) has written, or a skops file; "
    "with --trust also pickle, joblib"
)
_DATA = (
    "rows of the model's variables: a parquet file, or a CSV file in UTF-8, separated by commas, below a header; - is "
    "standard input. A first row of nothing but numbers is refused as data without a header, unless the model's "
    "variables have these names or they are 0, 1, 2, and so on, as pandas numbers columns. Text holds the levels of "
    "categories, empty cells are missing values"
)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are lines like all others."""

    def error(self, message: str) -> NoReturn:
        """Report invalid arguments like any other invalid input: in one line."""
        raise ValueError(f"{message} (see {self.prog} --help)")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help and version as everything else is printed."""
        say(message.rstrip("\n"))


def add_command(commands: Any, name: str, run: Callable[[argparse.Namespace], None], help: str, examples: str) -> Any:
    """Return the parser of a command, whose help ends with examples."""
    parser = commands.add_parser(
        name,
        help=help,
        description=f"{help[0].upper()}{help[1:]}.",
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def add_inputs(parser: Any, *, target: str) -> None:
    """Add the files of the model and of the rows, and the columns of the latter; `target` is the help of --target."""
    parser.add_argument("model", type=Path, metavar="MODEL", help=_MODEL)
    parser.add_argument("data", type=Path, metavar="DATA", help=_DATA)
    inputs = parser.add_argument_group("inputs")
    inputs.add_argument("--target", metavar="COLUMN", help=target)
    inputs.add_argument("--weights", metavar="COLUMN", help="the column of the weights of the rows, not negative")
    inputs.add_argument(
        "--categorical",
        type=_list_of(names_in),
        action="extend",
        metavar="NAMES",
        help=f"columns whose numbers are codes of categories; {RULE}",
    )
    inputs.add_argument("--trust", action="store_true", help="also read pickle and joblib, which can run code")
    inputs.add_argument(
        "--unpack-limit",
        type=_gigabytes,
        default=UNPACK_LIMIT,
        metavar="GB",
        help=f"refuse a skops file that unpacks to more, default {UNPACK_LIMIT / 1e9:g}",
    )


def add_fit(parser: Any) -> None:
    """Add the options of the decomposition."""
    fit = parser.add_argument_group("decomposition")
    fit.add_argument("--order", type=positive, default=2, metavar="N", help="order of the largest component (2)")
    fit.add_argument(
        "--interactions",
        type=_list_of(subspaces_in),
        action="extend",
        metavar="SUBSPACES",
        help="keep only these components of several variables, such as 'age & income, age & rooms', also in several "
        f"options; {RULE}",
    )
    fit.add_argument("--basis", choices=BASES, default="spline", help="what components are orthogonal to (spline)")
    fit.add_argument(
        "--faithful", action="store_true", help="keep all detail of the model in the components (smooth=False)"
    )
    fit.add_argument(
        "--measure",
        choices=("empirical", "product"),
        default="empirical",
        help="the distribution of the rows, or the product of its marginals (empirical)",
    )
    fit.add_argument("--n-jobs", type=_threads, metavar="N", help="number of threads, -1 for all (1)")


def add_results(parser: Any) -> Any:
    """Add the options of what is printed and written, and return their group."""
    results = parser.add_argument_group("results")
    results.add_argument("--output", metavar="NAME", help="of several outputs or classes, the one to show (all)")
    results.add_argument("--out", type=Path, metavar="DIR", help="write tables and pictures there")
    results.add_argument("--format", choices=FORMATS, help="the format of the tables in DIR (csv and json)")
    results.add_argument("--quiet", action="store_true", help="print nothing but warnings and errors")
    return results


def positive(text: str) -> int:
    """Return a positive integer."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a positive integer, got {text!r}")
    return int(text)


def share(text: str) -> float:
    """Return a number from 0 to 1."""
    with contextlib.suppress(ValueError):
        if 0 <= (number := float(text)) <= 1:
            return number
    raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, got {text!r}")


def _threads(text: str) -> int:
    with contextlib.suppress(ValueError):
        if (number := int(text)) != 0:
            return number
    raise argparse.ArgumentTypeError(f"must be an integer other than 0, got {text!r}")


def _gigabytes(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < (number := float(text)) < float("inf"):
            return number * 1e9
    raise argparse.ArgumentTypeError(f"must be a positive number of gigabytes, got {text!r}")


def _list_of(read: Callable[[str], Sequence[Any]]) -> Callable[[str], list[Any]]:
    """Return a reader whose errors argparse passes on."""

    def reader(text: str) -> list[Any]:
        try:
            return list(read(text))
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return reader
