"""Mutation testing: ``python tools/mutation.py [--check] [--build DIR] [WORD ...]``.

The tables in tools/mutants list mutants: small faults, each in an expression of csrc/core or src, with the tests that
must notice it. A copy of the sources gets all mutants, each behind a switch that the environment variable
FASTHDMR_MUTANT turns on, and is built once. All tests must pass without a mutant; then each mutant runs against its own
tests. A mutant survives if these pass. If it is equivalent to the original, so that no test can notice it, its row says
why. Any other survivor is a missing test, and the exit code is 1.

With words, only mutants are run whose title contains one of them. ``--build`` keeps the build in a directory, which
makes the next run faster. ``--check`` only compares the tables with the sources.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
import venv
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLES = ROOT / "tools" / "mutants"
SWITCH = "FASTHDMR_MUTANT"
CORE = "core"  # stands for the tests of csrc/tests
BUILD = "build/mutants"  # as deep as other builds, so that ccache knows the files without mutants
# A mutant whose tests take more counts as noticed. Time is that of the CPU, because the machine may be busy; the second
# limit is for tests that wait without end.
CPU_SECONDS, SECONDS, MEMORY = 300, 1800, 8 << 30
SWITCH_IN_C = f"""\
#ifndef FASTHDMR_MUTANT  // a header with mutants may be included in a source with mutants
#define FASTHDMR_MUTANT
#include <cstdlib>
static const char* const mutant_text = std::getenv("{SWITCH}");
static const unsigned long mutant_on = mutant_text ? std::strtoul(mutant_text, nullptr, 10) : 0;
#endif
"""


@dataclass(frozen=True)
class Mutant:
    """A row of the tables.

    Attributes
    ----------
    file, symbol : str
        The function, or in Python the class or constant, that contains the expression.
    before, after : str
        The expression, which the symbol contains once, and its replacement. In C++ also statements that end with ";".
    tests : str
        Arguments of pytest, or `CORE`.
    equivalent : str
        Why no test can notice it; "" if one must.
    """

    file: str
    symbol: str
    before: str
    after: str
    tests: str
    equivalent: str = ""

    def __str__(self) -> str:
        return f"{self.file} {self.symbol}: {self.before} -> {self.after or 'nothing'}"

    @property
    def number(self) -> int:
        """The value of the switch. It depends on this row only, so that other rows do not change what is compiled."""
        return zlib.crc32(str(self).encode())

    @property
    def switched(self) -> str:
        """The text that takes the place of the expression."""
        if self.file.endswith(".py"):
            return f'(({self.after}) if __import__("os").getenv("{SWITCH}") == "{self.number}" else ({self.before}))'
        if self.before.endswith(";"):
            return f"{{ if (mutant_on == {self.number}u) {{ {self.after} }} else {{ {self.before} }} }}"
        return f"((mutant_on == {self.number}u) ? ({self.after}) : ({self.before}))"


def read_tables() -> list[Mutant]:
    """Read the rows of all tables. Tests are given by row, or once for a file."""
    mutants = []
    for table in sorted(TABLES.glob("*.toml")):
        for file, entry in tomllib.loads(table.read_text(encoding="utf-8")).items():
            mutants += [Mutant(**{"file": file, "tests": entry.get("tests", "")} | row) for row in entry["mutants"]]
    return mutants


def by_file(mutants: Iterable[Mutant]) -> dict[str, list[Mutant]]:
    """Group mutants by file."""
    groups: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        groups.setdefault(mutant.file, []).append(mutant)
    return groups


parsed = cache(ast.parse)


def python_symbol(source: str, symbol: str) -> tuple[int, int]:
    """Return where a function, method, class or constant, such as "Class.method", begins and ends in a module."""
    node: ast.AST = parsed(source)
    for name in symbol.split("."):
        found = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}  # type: ignore[attr-defined]
        constants = {ast.unparse(n.targets[0]): n for n in node.body if isinstance(n, ast.Assign)}  # type: ignore[attr-defined]
        node = (found | constants)[name]
    lines = source.splitlines(keepends=True)
    first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
    return len("".join(lines[: first - 1])), len("".join(lines[:last]))


def core_symbol(source: str, symbol: str) -> tuple[int, int]:
    """Return where a function begins and ends. The layout of clang-format is assumed: its brace ends an indented block.

    Parameters, such as "f(double x", tell overloads apart.
    """
    name = re.escape(symbol) + ("" if "(" in symbol else r"\(")
    for start in re.finditer(rf"^( *)(?:[^\s/#].*?)?\b{name}", source, re.MULTILINE):
        head = re.compile(r"(?:[^;{]|(?<=\w)\{[^{}\n]*\})*[;{]").match(source, start.end())
        if head and head.group().endswith("{"):  # a definition
            line = source.index("\n", head.end() - 1)
            one_line = source[line - 1] == "}"
            return start.start(), line if one_line else source.index(f"\n{start[1]}}}", head.end())
    raise KeyError(symbol)


def is_expression(source: str, start: int, stop: int) -> bool:
    """Return whether a part of a module is a whole expression, so that brackets around it change nothing."""
    lines = [source[:end].encode().split(b"\n") for end in (start, stop)]
    wanted = [(len(before), len(before[-1])) for before in lines]
    found = (node for node in ast.walk(parsed(source)) if isinstance(node, ast.expr))
    return any([(n.lineno, n.col_offset), (n.end_lineno, n.end_col_offset)] == wanted for n in found)


def place(mutant: Mutant, source: str) -> tuple[int, int]:
    """Return where the expression of a mutant begins and ends in the text of its file."""
    is_python = mutant.file.endswith(".py")
    try:
        start, stop = (python_symbol if is_python else core_symbol)(source, mutant.symbol)
    except KeyError:
        raise SystemExit(f"{mutant.file} has no {mutant.symbol}: update tools/mutants") from None
    if (count := source.count(mutant.before, start, stop)) != 1:
        raise SystemExit(f"{mutant}: the text occurs {count} times there, but must once: update tools/mutants")
    begin = source.index(mutant.before, start)
    end = begin + len(mutant.before)
    if is_python and not is_expression(source, begin, end):
        raise SystemExit(f"{mutant}: the text is not a whole expression")
    return begin, end


def mutated(mutants: Iterable[Mutant], source: str) -> str:
    """Return the text of a file with the mutants behind their switches."""
    places = sorted(((place(mutant, source), mutant) for mutant in mutants), key=lambda item: item[0], reverse=True)
    last = len(source)
    for (start, stop), mutant in places:
        if stop > last:
            raise SystemExit(f"{mutant}: overlaps with another mutant")
        source, last = source[:start] + mutant.switched + source[stop:], start
    return source if places[0][1].file.endswith(".py") else SWITCH_IN_C + source


def build(work: Path, mutants: Iterable[Mutant]) -> None:
    """Copy the sources to ``work / "tree"`` with all mutants, and install them in the environment ``work / "env"``."""
    tree, env = work / "tree", work / "env"
    shutil.copytree(ROOT, tree, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*", "build", "__pycache__"))
    for file, own in by_file(mutants).items():
        (tree / file).write_text(mutated(own, (ROOT / file).read_text(encoding="utf-8")), encoding="utf-8")
    venv.create(env, clear=True)
    # As plain paths, so that hooks of editable installs are not run: one of these may be fasthdmr itself.
    (site,) = env.glob("lib/python*/site-packages")
    (site / "above.pth").write_text("\n".join(p for p in sys.path if "site-packages" in p), encoding="utf-8")
    compilers = {"CC": "ccache cc", "CXX": "ccache c++"} if shutil.which("ccache") else {}
    options = ["--no-build-isolation", "--no-deps", "--force-reinstall", "--quiet"]
    settings = [f"-Cbuild-dir={tree / BUILD}", "-Csetup-args=-Dcore_tests=true"]
    command = [str(env / "bin" / "python"), "-m", "pip", "install", *options, *settings, str(tree)]
    subprocess.run(command, check=True, env=compilers | os.environ)
    shutil.rmtree(tree / "src")  # what is tested is what was installed


def modest() -> None:
    """Leave the machine to others: a mutant may run without end."""
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    signal.alarm(SECONDS)


def cpu_seconds() -> float:
    """Return the CPU time of all processes that have been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def passes(work: Path, tests: str, number: int = 0) -> bool:
    """Run tests with a mutant on, or (0) with none, and return whether they pass. The first failure ends them."""
    command = [str(work / "tree" / BUILD / "csrc" / "tests" / "core_tests")]
    if tests != CORE:
        command = [
            str(work / "env" / "bin" / "python"),
            "-m",
            "pytest",
            "-xqp",
            "no:cacheprovider",
            *shlex.split(tests),
        ]
    variables = {SWITCH: str(number), "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}
    said: list[str] = []
    with subprocess.Popen(
        command,
        preexec_fn=modest,
        cwd=work / "tree",
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        for line in process.stdout or ():
            said.append(line)
            if line.startswith("FAILED"):  # the tests of the core would go on
                process.kill()
    if number == 0 and process.returncode:
        print("".join(said)[-8000:])
    return process.returncode == 0


def run(work: Path, mutants: Sequence[Mutant]) -> bool:
    """Run all mutants against their tests, and print what becomes of each. Return whether all is as the tables say."""
    for tests in sorted({mutant.tests for mutant in mutants}):
        if not passes(work, tests):
            raise SystemExit(f"{tests}: fails without a mutant")
    counts: Counter[str] = Counter()
    for mutant in mutants:
        start = cpu_seconds()
        survives = passes(work, mutant.tests, mutant.number)
        outcome = "survived" if survives else "killed"
        if mutant.equivalent:  # a wrong argument is a fault as well
            outcome = "equivalent" if survives else "killed, but said to be equivalent"
        counts[outcome] += 1
        print(f"{outcome:10} {cpu_seconds() - start:4.0f} s  {mutant}", flush=True)
        if mutant.equivalent:
            print(" " * 18 + mutant.equivalent)
    print(
        *(f"{count} {outcome}" for outcome, count in counts.items()),
        f"{cpu_seconds() / 60:.0f} min of CPU time",
        sep=", ",
    )
    return counts.keys() <= {"killed", "equivalent"}


def main() -> int:
    """Read the command line, and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--build", type=Path, metavar="DIR")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    mutants = read_tables()
    for file, own in by_file(mutants).items():
        mutated(own, (ROOT / file).read_text(encoding="utf-8"))
    print(len(mutants), "mutants fit the sources")
    if options.check:
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        work = (options.build or Path(scratch)).resolve()
        build(work, mutants)
        return int(not run(work, [m for m in mutants if not options.words or any(w in str(m) for w in options.words)]))


if __name__ == "__main__":
    sys.exit(main())
