"""Run the benchmark suite: `python -m bench [PROBLEM...] [--quick] [--repeats R]`."""

from __future__ import annotations

import argparse

from bench.problems import accuracy, spans, trees, triangle

PROBLEMS = {"trees": trees.run, "accuracy": accuracy.run, "spans": spans.run, "triangle": triangle.run}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = ", ".join(PROBLEMS)
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", help=f"of {names}; all if none")
    parser.add_argument("--quick", action="store_true", help="fewer trees, rows or seeds")
    parser.add_argument("--repeats", type=int, default=5, help="timed runs of each contender (default: 5)")
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    if unknown := set(options.problems) - set(PROBLEMS):
        parser.error(f"no such problem: {', '.join(sorted(unknown))}; there are: {names}")
    for name in options.problems or PROBLEMS:
        PROBLEMS[name](quick=options.quick, repeats=options.repeats)


if __name__ == "__main__":
    main()
