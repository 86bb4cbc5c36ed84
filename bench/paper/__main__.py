"""Run an item of the paper, or all: `python -m bench.paper NAME [--quick] [--out DIRECTORY] [--trees B] …`.

`all` writes index.html into the directory; run again after an interruption, it goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench.paper.items import ITEMS
from bench.paper.options import Options
from fasthdmr._support.output_file import check_target


def main() -> int:
    sys.stdout.reconfigure(errors="backslashreplace")  # hours of work must not end at a console without some sign
    parser = argparse.ArgumentParser(
        prog="python -m bench.paper", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=["all", *ITEMS])
    parser.add_argument("--realisations", type=int, default=3, help="random samples of Ishigami (default: 3)")
    parser.add_argument("--quick", action="store_true", help="fewer trees, runs, repeats and rows")
    parser.add_argument("--trees", type=int, help="of a GBR in vi, depend (default: 500), boot, boot_tp (300)")
    parser.add_argument("--repeats", type=int, help="fits of vi (default: 10), depend, anova (30), boot, boot_tp (3)")
    parser.add_argument("--out", type=Path, default=Options.out, help="where figures go (default: ./%(default)s)")
    given = parser.parse_args()
    for name in ("realisations", "trees", "repeats"):
        if (number := getattr(given, name)) is not None and number < 1:
            parser.error(f"--{name} must be at least 1")
    values = vars(given)
    name = values.pop("name")
    options = Options(**values)
    try:
        check_target(options.out / f"{name}.png")
    except OSError as error:
        parser.error(str(error))
    if name == "all":
        return everything(options)
    ITEMS[name].run(options)
    return 0


def everything(options: Options) -> int:
    """Make all items; return 1 if one failed."""
    from bench.paper.everything import PAGE, run_all

    outcomes = run_all(options)
    failed = [outcome for outcome in outcomes if outcome.result is None]
    print(f"page: {options.out / PAGE}")
    for outcome in failed:
        print(f"{outcome.name} failed: {outcome.error.strip().splitlines()[-1]}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
