"""Annotations as users' type checkers see them: wrong choices are errors, and right ones are not."""

import re
import sys
from pathlib import Path
from typing import get_args

import pytest

import fasthdmr
from fasthdmr._spans.kinds import BASES, SPANS
from fasthdmr._support import choices
from fasthdmr._uncertainty.bootstrap import KINDS

SNIPPET = """\
import numpy as np
import fasthdmr

X = np.zeros((5, 2))
hdmr = fasthdmr.TreeHDMR(basis="bins", combine="ridge", measure="product", normalise="data", ci="bootstrap").fit(X)
fasthdmr.HDMR(basis="spline").fit(X).sensitivity_.level_set("P").to_frame()
fasthdmr.KernelHDMR(None, measure=([0.0], [[1.0]]))
table = hdmr.sensitivity_.level_set("T", 0.1)
row, column, part = table[0], table["S"], table[1:].rows
hdmr.summary().components[0]["names"].tolist()
hdmr.sensitivity_.plot("matrix")
hdmr.component(0).plot(sort="effect")
hdmr.component(0)(0.5)
"""
WRONG = [
    'fasthdmr.TreeHDMR(basis="splines")',
    'fasthdmr.TreeHDMR(combine="mean")',
    'fasthdmr.TreeHDMR(measure="marginal")',
    'fasthdmr.HDMR(basis="trees")',
    'fasthdmr.HDMR(normalise="y")',
    'fasthdmr.KernelHDMR(None, ci="none")',
    'fasthdmr.KernelHDMR(None, measure="product")',
    'hdmr.sensitivity_.level_set("S")',
    'hdmr.sensitivity_.plot("bar")',
    'hdmr.component(0).plot(kind="heat")',
]


def test_mypy_finds_wrong_choices(tmp_path, monkeypatch):
    api = pytest.importorskip("mypy.api", reason="mypy is a tool of the extra dev")
    package = Path(fasthdmr.__file__).parent
    if "site-packages" not in package.parts:  # an editable installation, which mypy cannot follow
        monkeypatch.setenv("MYPYPATH", str(package.parent))
    snippet, first = tmp_path / "snippet.py", SNIPPET.count("\n") + 1
    snippet.write_text(SNIPPET + "\n".join(WRONG) + "\n")
    cache = Path(__file__).parents[1] / ".mypy_cache" / "snippet"  # of its own: options differ from those for src
    options = ["--python-executable", sys.executable, "--cache-dir", str(cache), "--ignore-missing-imports"]
    options += ["--follow-imports", "silent", "--no-error-summary"]
    printed, errors, _ = api.run([*options, str(snippet)])
    assert not errors
    lines = [int(number) for number in re.findall(r"snippet\.py:(\d+): error", printed)]
    assert lines == list(range(first, first + len(WRONG))), printed


def test_choices_are_those_of_the_tables():
    assert get_args(choices.Basis) == tuple(BASES)
    assert get_args(choices.SpanBasis) == tuple(SPANS)
    assert set(get_args(choices.IntervalMethod)) == set(KINDS)


def test_the_package_says_that_it_is_typed():
    assert (Path(fasthdmr.__file__).parent / "py.typed").is_file()
