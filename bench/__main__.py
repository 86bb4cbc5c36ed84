"""Run the benchmark suite: `python -m bench [PROBLEM...] [--quick] [--check] [--repeats R] [--out DIRECTORY]`."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from bench.goals import Goal, judgement, missed
from bench.models import cache_directory
from bench.problems import (
    accuracy,
    categories,
    chisquare,
    chisquare_level,
    coverage,
    deep,
    engines,
    kernels,
    loaders,
    pdp,
    scale,
    scaling,
    shapley,
    spans,
    stability,
    tables,
    trees,
    triangle,
)

PROBLEMS = {
    "trees": trees.run,
    "accuracy": accuracy.run,
    "spans": spans.run,
    "triangle": triangle.run,
    "engines": engines.run,
    "tables": tables.run,
    "deep": deep.run,
    "scaling": scaling.run,
    "scale": scale.run,
    "pdp": pdp.run,
    "shapley": shapley.run,
    "chisquare": chisquare.run,
    "chisquare_level": chisquare_level.run,
    "kernels": kernels.run,
    "loaders": loaders.run,
    "categories": categories.run,
    "coverage": coverage.run,
    "stability": stability.run,
}
REPEATS = {"engines": 9, "scaling": 3}  # 5 for the others


def main() -> None:
    sys.stdout.reconfigure(errors="backslashreplace")  # a console that lacks a character must not end hours of work
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = ", ".join(PROBLEMS)
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", help=f"of {names}; all if none")
    parser.add_argument("--quick", action="store_true", help="fewer trees, rows or seeds")
    parser.add_argument("--repeats", type=int, help="timed runs of each contender (default: 5; engines 9, scaling 3)")
    parser.add_argument("--out", type=Path, help="where the plot of scaling goes (default: the cache directory)")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a goal is missed, or was not measured")
    options = parser.parse_args()
    if options.repeats is not None and options.repeats < 1:
        parser.error("--repeats must be at least 1")
    if unknown := set(options.problems) - set(PROBLEMS):
        parser.error(f"no such problem: {', '.join(sorted(unknown))}; there are: {names}")
    goals: dict[str, list[Goal]] = {}
    for name in options.problems or PROBLEMS:
        run = PROBLEMS[name]
        if name == "scaling":
            run = partial(run, out=options.out or cache_directory())
        goals[name] = run(quick=options.quick, repeats=options.repeats or REPEATS.get(name, 5))
    if options.check:
        print(f"\n{judgement(goals)}")
        sys.exit(bool(missed(goals)))


if __name__ == "__main__":
    main()
