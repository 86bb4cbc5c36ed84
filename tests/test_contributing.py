"""CONTRIBUTING.md names what is there."""

import re
from pathlib import Path

import pytest
import rooms

import fasthdmr

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NOT_INSTALLED = {"src/fasthdmr/meson.build"}  # and CI has no other source tree here
PATHS = sorted(set(re.findall(r"`((?:src|csrc|tests|docs|bench|tools|\.ci)/[\w./-]*)", TEXT)) - NOT_INSTALLED)


def test_there_are_paths():
    assert {"csrc/core/kernels/signatures.inc", "src/fasthdmr/_spans/kinds.py"} <= set(PATHS)


@pytest.mark.parametrize("path", PATHS)
def test_paths_are_there(path):
    package = Path(fasthdmr.__file__).parent
    in_package = path == "src/fasthdmr" or path.startswith("src/fasthdmr/")
    assert (package / path[len("src/fasthdmr/") :] if in_package else ROOT / path).exists()


@pytest.mark.parametrize(
    ("head", "order"),
    [("csrc/core", rooms.CORE_ROOMS), ("src/fasthdmr", [room for room in rooms.PYTHON_ROOMS if room[:2] != "__"])],
)
def test_all_rooms_are_in_the_tables(head, order):
    table = TEXT.partition(f"\n| {head} | |\n")[2].partition("\n\n")[0]
    named = [name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert sorted(named) == sorted(set(order) - {"fasthdmr"})
