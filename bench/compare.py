"""Compare the speed of HEAD with that of a base: `python -m bench.compare BASE [--rounds R]`.

Both are built and installed in temporary directories. Each round measures the base, HEAD and the base again, in
separate processes. The two measurements of the base tell how much times differ by chance. A call whose median ratio is
above 1 by more than twice that is slower, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from bench.report import table

ROOT = Path(__file__).resolve().parents[1]
LEAST_SPREAD = 0.01  # few rounds can agree by chance

Seconds = dict[str, float]


def build(ref: str, folder: Path) -> Path:
    """Install the version of a git reference in a directory."""
    source, installed = folder / "source", folder / "installed"
    source.mkdir(parents=True)
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", ref], check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "-x", "-C", str(source)], check=True, input=archive)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(installed), str(source)]
    subprocess.run(command, check=True)
    return installed


def measured(installed: Path) -> Seconds:
    """Return the CPU seconds of each call, on one thread."""
    command = [sys.executable, str(Path(__file__).with_name("workloads.py")), str(installed)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment, cwd=installed)
    seconds: Seconds = json.loads(found.stdout)
    return seconds


def judged(rounds: list[tuple[Seconds, Seconds, Seconds]]) -> list[tuple[str, float, float, bool]]:
    """Return the name, ratio, spread and loss of each call, of rounds of (base, HEAD, base again).

    The ratio is the median over rounds of HEAD to the mean of both measurements of the base. The spread is the median
    over rounds of the distance of the two.

    Examples
    --------
    >>> judged([({"fit": 1.0}, {"fit": 1.2}, {"fit": 1.0}), ({"fit": 1.0}, {"fit": 1.3}, {"fit": 1.1})])
    [('fit', 1.219..., 0.047..., True)]
    """
    lines = []
    for name in rounds[0][0]:
        ratios = [2 * head[name] / (base[name] + again[name]) for base, head, again in rounds]
        distances = [2 * abs(base[name] - again[name]) / (base[name] + again[name]) for base, _, again in rounds]
        ratio, spread = median(ratios), max(median(distances), LEAST_SPREAD)
        lines.append((name, ratio, spread, ratio > 1 + 2 * spread))
    return lines


def report(base: Path, head: Path, n_rounds: int) -> bool:
    """Measure two installations, print the table, and return whether a call is slower."""
    lines = judged([(measured(base), measured(head), measured(base)) for _ in range(n_rounds)])
    rows = [[name, f"{ratio:.3f}", f"{spread:.3f}", "slower" if lost else ""] for name, ratio, spread, lost in lines]
    print(table(["call", "HEAD / base", "spread", ""], rows))
    return any(lost for *_, lost in lines)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("base", metavar="BASE", help="a git reference, such as main")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of measurements (default: 5)")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    with tempfile.TemporaryDirectory() as folder:
        base, head = (build(ref, Path(folder) / name) for ref, name in ((options.base, "base"), ("HEAD", "head")))
        sys.exit(report(base, head, options.rounds))


if __name__ == "__main__":
    main()
