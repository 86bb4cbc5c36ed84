"""Write performance.md from a run of the benchmarks: ``python docs/make_performance.py [PROBLEM...] [OPTION...]``.

Arguments go to ``python -m bench`` (``--quick``, ``--repeats 9``); without problems those of ``PROBLEMS`` are run.
Needs the extra ``bench``, and an otherwise idle machine.
"""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from fasthdmr._support.output_file import write_files

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
PROBLEMS = [
    "trees",
    "spans",
    "engines",
    "deep",
    "loaders",
    "categories",
    "accuracy",
    "pdp",
    "shapley",
    "kernels",
    "chisquare",
]
TITLES = {
    "trees": "Decomposing in the trees' own columns",
    "spans": "Decomposing in splines",
    "engines": "Features, against the output of inference engines",
    "deep": "Deep forests",
    "loaders": "Models of other libraries",
    "categories": "Categorical variables",
    "pdp": "Partial dependence",
    "shapley": "Shapley values",
    "kernels": "Kernel machines",
    "chisquare": "Chi-square",
    "accuracy": "Accuracy",
    "scaling": "How it grows",
    "triangle": "The triangle",
    "tables": "Lookup tables",
    "chisquare_level": "Level and power of the chi-square test",
    "coverage": "Intervals",
}
OPENING = """\
# Performance

This page is what `python docs/make_performance.py{arguments}` printed; it is not edited.

Every contender runs in a process of its own, all take turns, and the median of the timed runs counts. Each time stands
beside an error against a reference, where there is one. Times are of one machine, named above each table, and of the
load that was on it: run it on yours.

"""


def section(problem: str, options: list[str]) -> str:
    """Return the section of a problem: its description, its command, and its output."""
    print(f"{problem} …", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "bench", problem, *options]
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", env=environment, check=True)
    question = (import_module(f"bench.problems.{problem}").__doc__ or "").partition("\n")[0]
    return f"## {TITLES[problem]}\n\n{question}\n\n```text\n{run.stdout.strip()}\n```\n"


def main(arguments: list[str]) -> None:
    """Run the problems and write the page."""
    problems = [argument for argument in arguments if argument in TITLES]
    options = [argument for argument in arguments if argument not in TITLES]
    sections = [section(problem, options) for problem in problems or PROBLEMS]
    given = "".join(f" {argument}" for argument in arguments)
    page = OPENING.format(arguments=given) + "\n".join(sections)
    write_files({DOCS / "performance.md": page.encode()})


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main(sys.argv[1:])
