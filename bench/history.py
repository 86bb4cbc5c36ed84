"""The speed of several versions: `python -m bench.history REF... [--rounds R]`.

Each version is built, and in each round all are measured in turn. The table has the medians over rounds of the CPU
times of ten calls on one thread, relative to a fixed reference in the same process (`bench.workloads`).
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.compare import Times, build, measured
from bench.report import machine, table
from bench.workloads import NAMES


def history_table(refs: Sequence[str], rounds: Sequence[Sequence[Times]]) -> str:
    """Return the table of rounds of measurements, one for each version."""
    rows = []
    for name in NAMES:
        medians = [median(times[name] for times in of_version) for of_version in zip(*rounds, strict=True)]
        rows.append([name, *("-" if math.isnan(time) else f"{time:.3f}" for time in medians)])
    return table(["call", *refs], rows)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.history", description=__doc__)
    parser.add_argument("refs", metavar="REF", nargs="+", help="a git reference, such as a tag")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of measurements (default: 3)")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    with tempfile.TemporaryDirectory() as folder:
        installed = [build(ref, Path(folder) / str(k)) for k, ref in enumerate(options.refs)]
        rounds = [[measured(directory) for directory in installed] for _ in range(options.rounds)]
    print(f"{machine()}\n\n{history_table(options.refs, rounds)}")


if __name__ == "__main__":
    main()
