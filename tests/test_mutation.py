"""The tables of mutants fit the sources, and mutants are placed where their rows say."""

import shutil
import subprocess
from pathlib import Path

import pytest

import fasthdmr

pytest.importorskip("resource", reason="the limits of mutants are those of POSIX systems")
import mutation

ROOT = Path(__file__).parents[1]
SOURCE = {
    "a.py": """LIMIT = 3


class A:
    def f(self, n):
        return n - 1


def g(n):
    return n - 1 - LIMIT
""",
    "a.cpp": """int g(int n);
namespace {
class A {
    int small(int n) const { return n - 1; }
    explicit A(int n)
        : n_(n), start_{n - 1} {
        check(n);
    }
};
}
int g(int n) {
    if (n < 1) fail(n);
    return g(n - 1);
}
""",
}


def source_of(file):
    """Return the text of a file; the package may be an installed one."""
    package = Path(fasthdmr.__file__).parent
    return (package / file.removeprefix("src/fasthdmr/") if file.startswith("src/") else ROOT / file).read_text("utf-8")


def mutant(file, symbol, before, after="0"):
    return mutation.Mutant(file, symbol, before, after, tests="")


def test_tables_fit_the_sources():
    mutants = mutation.read_tables()
    for file, own in mutation.by_file(mutants).items():
        mutation.mutated(own, source_of(file))
    assert len({m.number for m in mutants}) == len(mutants) >= 60
    named = {word for m in mutants for word in m.tests.split() if word.startswith("tests/")}
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []
    assert all(m.tests for m in mutants)


@pytest.mark.parametrize(
    ("file", "symbol", "before", "line"),
    [
        ("a.py", "LIMIT", "3", 1),
        ("a.py", "A.f", "n - 1", 6),
        ("a.py", "g", "n - 1 - LIMIT", 10),
        ("a.cpp", "small", "n - 1", 4),
        ("a.cpp", "A", "n - 1", 6),
        ("a.cpp", "g", "n - 1", 13),
        ("a.cpp", "g", "fail(n);", 12),
        ("a.cpp", "g(int n", "n < 1", 12),
    ],
)
def test_a_mutant_is_in_its_symbol(file, symbol, before, line):
    start, stop = mutation.place(mutant(file, symbol, before), SOURCE[file])
    assert SOURCE[file][start:stop] == before
    assert SOURCE[file].count("\n", 0, start) + 1 == line


@pytest.mark.parametrize(
    ("file", "symbol", "before", "words"),
    [
        ("a.py", "h", "n", "has no h"),
        ("a.cpp", "h", "n", "has no h"),
        ("a.py", "g", "n + 1", "occurs 0 times"),
        ("a.cpp", "g", "n", "occurs 7 times"),
        ("a.py", "g", "1 - LIMIT", "not a whole expression"),
    ],
)
def test_sources_that_have_moved_on_are_named(file, symbol, before, words):
    with pytest.raises(SystemExit, match=words):
        mutation.mutated([mutant(file, symbol, before)], SOURCE[file])


def test_mutants_may_not_overlap():
    with pytest.raises(SystemExit, match="overlaps"):
        mutation.mutated([mutant("a.py", "A.f", "n - 1"), mutant("a.py", "A.f", "n - 1", "1")], SOURCE["a.py"])


def test_the_switch_turns_one_mutant_on(monkeypatch):
    rows = [mutant("a.py", "LIMIT", "3", "4"), mutant("a.py", "g", "n - 1 - LIMIT", "n")]
    text = mutation.mutated(rows, SOURCE["a.py"])

    def g(number):
        monkeypatch.setenv(mutation.SWITCH, str(number))
        names = {}
        exec(compile(text, "a.py", "exec"), names)
        return names["LIMIT"], names["g"](10)

    assert [g(number) for number in (0, rows[0].number, rows[1].number)] == [(3, 6), (4, 5), (3, 10)]


def test_statements_of_the_core_are_switched():
    on, off = mutant("a.cpp", "g", "fail(n);", ""), mutant("a.cpp", "g", "n < 1", "n <= 1")
    assert on.switched == f"{{ if (mutant_on == {on.number}u) {{  }} else {{ fail(n); }} }}"
    assert off.switched == f"((mutant_on == {off.number}u) ? (n <= 1) : (n < 1))"


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_a_header_and_the_source_that_includes_it_may_have_mutants(tmp_path):
    header = "#pragma once\nint g(int n) {\n    return n - 1;\n}\n"
    source = '#include "a.hpp"\nint h(int n) {\n    return g(n - 1);\n}\n'
    for file, symbol, text in [("a.hpp", "g", header), ("a.cpp", "h", source)]:
        (tmp_path / file).write_text(mutation.mutated([mutant(file, symbol, "n - 1")], text))
    subprocess.run(["c++", "-fsyntax-only", "-Werror", tmp_path / "a.cpp"], check=True)


@pytest.mark.parametrize(
    ("script", "passed"), [("exit 0", True), ("exit 1", False), ("echo FAILED; exec sleep 600", False)]
)
def test_the_first_failure_ends_the_tests_of_the_core(script, passed, tmp_path):
    program = tmp_path / "tree" / mutation.BUILD / "csrc" / "tests" / "core_tests"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    assert mutation.passes(tmp_path, mutation.CORE) == passed


def test_survivors_need_an_argument(monkeypatch, capsys):
    rows = [mutant("a.py", "A.f", before) for before in ("killed", "survives")]
    monkeypatch.setattr(mutation, "passes", lambda work, tests, number=0: number != rows[0].number)
    assert mutation.run(Path(), rows[:1]) and not mutation.run(Path(), rows)
    argued = [mutation.Mutant(**vars(row) | {"equivalent": "It is the same."}) for row in rows]
    monkeypatch.setattr(mutation, "passes", lambda work, tests, number=0: number != argued[0].number)
    assert mutation.run(Path(), argued[1:]) and not mutation.run(Path(), argued)
    assert "It is the same." in capsys.readouterr().out
