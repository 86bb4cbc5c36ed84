"""Compare the speed of HEAD with that of a base: `python -m bench.compare BASE [--lines] [--rounds R]`.

Both are built and installed in temporary directories. Each round measures the base, HEAD and the base again, in
separate processes. Times are relative to a fixed reference in the same process (`bench.workloads`). With `--lines`
the calls are those of the problems engines, deep, trees and spans (`bench.problem_lines`). The two measurements of the
base tell how much they differ by chance. A call whose median ratio is above 1 by more than twice that is slower, and
the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from bench.report import table

ROOT = Path(__file__).resolve().parents[1]
LEAST_SPREAD = 0.01
CALLS, LINES = "bench.workloads", "bench.problem_lines"

Times = dict[str, float]


def build(ref: str, folder: Path) -> Path:
    """Install the version of a git reference in a directory."""
    source, installed = folder / "source", folder / "installed"
    source.mkdir(parents=True)
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", ref], check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "-x", "-C", str(source)], check=True, input=archive)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(installed), str(source)]
    subprocess.run(command, check=True)
    return installed


def measured(installed: Path, module: str = CALLS) -> Times:
    """Return the CPU time of each call of a module on one thread, relative to the reference."""
    command = [sys.executable, str(Path(__file__).with_name("workloads.py")), str(installed), module]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment, cwd=installed)
    times: Times = json.loads(found.stdout)
    return times


def judged(rounds: list[tuple[Times, Times, Times]]) -> list[tuple[str, float, float, bool]]:
    """Return the name, ratio, spread and loss of each call, of rounds of (base, HEAD, base again).

    The ratio is the median over rounds of HEAD to the mean of both measurements of the base. The spread is the median
    over rounds of the distance of the two; at least the median spread of all calls, because few rounds can agree by
    chance. Calls that the base does not have are left out.

    Examples
    --------
    >>> judged([({"fit": 1.0}, {"fit": 1.2}, {"fit": 1.0}), ({"fit": 1.0}, {"fit": 1.3}, {"fit": 1.1})])
    [('fit', 1.219..., 0.047..., True)]
    """
    names = [name for name, time in rounds[0][0].items() if not math.isnan(time)]
    ratios, spreads = [], []
    for name in names:
        means = [(base[name] + again[name]) / 2 for base, _, again in rounds]
        ratios.append(median(head[name] / mean for (_, head, _), mean in zip(rounds, means, strict=True)))
        distances = [abs(base[name] - again[name]) for base, _, again in rounds]
        spreads.append(median(distance / mean for distance, mean in zip(distances, means, strict=True)))
    least = max(LEAST_SPREAD, median(spreads))
    lines = []
    for name, ratio, own in zip(names, ratios, spreads, strict=True):
        spread = max(own, least)
        lines.append((name, ratio, spread, not ratio <= 1 + 2 * spread))  # NaN: HEAD has lost the call
    return lines


def report(base: Path, head: Path, n_rounds: int, module: str) -> bool:
    """Measure two installations, print the table, and return whether a call is slower."""
    turns = (base, head, base)
    lines = judged([tuple(measured(installed, module) for installed in turns) for _ in range(n_rounds)])
    rows = [[name, f"{ratio:.3f}", f"{spread:.3f}", "slower" if lost else ""] for name, ratio, spread, lost in lines]
    print(table(["call", "HEAD / base", "spread", ""], rows))
    return any(lost for *_, lost in lines)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("base", metavar="BASE", help="a git reference, such as main")
    parser.add_argument(
        "--lines", action="store_true", help="those of engines, deep, trees and spans, not the ten calls"
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds of measurements (default: 5)")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    with tempfile.TemporaryDirectory() as folder:
        base, head = (build(ref, Path(folder) / name) for ref, name in ((options.base, "base"), ("HEAD", "head")))
        sys.exit(report(base, head, options.rounds, LINES if options.lines else CALLS))


if __name__ == "__main__":
    main()
