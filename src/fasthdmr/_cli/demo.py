"""``fasthdmr demo``: a demonstration on data that scikit-learn ships."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import sklearn.datasets

from fasthdmr._cli.arguments import add_command
from fasthdmr._cli.console import say
from fasthdmr._cli.fitted import check_targets
from fasthdmr._cli.pictures import picture_files
from fasthdmr._cli.report import LEVEL
from fasthdmr._cli.table_files import file_names
from fasthdmr._cli.tables import index_files, table_text
from fasthdmr._estimators.tree_hdmr import TreeHDMR
from fasthdmr._support.optional import require
from fasthdmr._support.output_file import write_files

_EXAMPLES = """\
  fasthdmr demo
  fasthdmr demo --out demo"""


def add(commands: Any) -> None:
    """Add the command."""
    help = "decompose an ensemble fitted to data that scikit-learn ships"
    parser = add_command(commands, "demo", _run, help, _EXAMPLES)
    parser.add_argument("--out", type=Path, default=Path("fasthdmr-demo"), metavar="DIR", help="default: %(default)s")


def _run(arguments: argparse.Namespace) -> None:
    from sklearn.ensemble import GradientBoostingRegressor

    check_targets([arguments.out / name for name in file_names(("indices",), None)])
    data = sklearn.datasets.load_diabetes(scaled=False)
    say(f"scikit-learn's diabetes data, {data.data.shape[0]} patients: what drives the disease's progression?")
    say("Gradient boosted trees of depth 2, taken apart into functions of one and two variables.\n")
    pandas = require("pandas", extra="cli")
    X = pandas.DataFrame(data.data, columns=data.feature_names)
    model = GradientBoostingRegressor(max_depth=2, random_state=0).fit(X, data.target)
    hdmr = TreeHDMR(model).fit(X)
    files = index_files(hdmr, [0]) | picture_files(hdmr, [0])
    write_files({arguments.out / name: content for name, content in files.items()})
    say(table_text(hdmr.sensitivity_, [0], LEVEL))
    single, both = hdmr.sensitivity_.explained()[:2]
    (_, first, _, R1), (_, second, _, R2), *_ = hdmr.sensitivity_.level_set("R")
    say(f"\nFunctions of one variable explain {single:.0%} of the model's variance, with pairs {both:.0%}.")
    say(f"{first} and {second} matter most: {R1 + R2:.0%} of the importance of all variables.")
    say(f"\nWritten to {arguments.out}: {', '.join(files)}")
