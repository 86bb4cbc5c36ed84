"""The check of dependencies between folders passes here, and finds all kinds of faults."""

from pathlib import Path

import pytest
import rooms

import fasthdmr

CSRC = Path(__file__).parents[1] / "csrc"


def codebase():
    return [rooms.core(CSRC / "core"), rooms.python(Path(fasthdmr.__file__).parent)]


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file of a made-up package."""

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    (tmp_path / "csrc" / "core").mkdir(parents=True)
    return write


def faults(tmp_path):
    codebases = [rooms.core(tmp_path / "csrc" / "core"), rooms.python(tmp_path / "src" / "fasthdmr")]
    return rooms.faults(codebases, tmp_path / "csrc")


def test_the_rooms_have_no_faults():
    core, python = codebase()
    assert rooms.faults([core, python], CSRC) == []
    assert {"kernels", "spans"} <= core.rooms.keys() and {"_support", "plotting"} <= python.rooms.keys()
    assert "support" in core.rooms["spans"] and "_results" in python.rooms["_estimators"]


def test_the_tests_of_the_core_mirror_its_rooms():
    folders = {path.name for path in (CSRC / "tests").iterdir() if path.is_dir()}
    assert folders and folders <= set(rooms.CORE_ROOMS)


@pytest.mark.parametrize(
    "imports",
    [
        "from fasthdmr._solve import ridge",
        "from fasthdmr._solve.ridge import solve",
        "import fasthdmr._solve.ridge as r",
        "from .._solve import ridge",
        "def f():\n    from fasthdmr._solve import ridge",
        "if TYPE_CHECKING:\n    from fasthdmr._solve.ridge import Ridge",
    ],
)
def test_all_imports_upward_are_found(write, tmp_path, imports):
    write("src/fasthdmr/_solve/__init__.py", "")
    write("src/fasthdmr/_solve/ridge.py", "from fasthdmr._support.sums import add")
    write("src/fasthdmr/_support/sums.py", "")
    assert faults(tmp_path) == []
    write("src/fasthdmr/_support/sums.py", imports)
    upward, circle = faults(tmp_path)
    assert upward == "src/fasthdmr: upward: fasthdmr._support.sums -> fasthdmr._solve.ridge"
    assert circle.startswith("src/fasthdmr: a circle: ")


def test_a_package_of_its_own_may_import_its_modules(write, tmp_path):
    write("src/fasthdmr/_support/__init__.py", "from . import sums\nfrom .sums import add")
    write("src/fasthdmr/_support/sums.py", "import numpy")
    assert faults(tmp_path) == []
    write("src/fasthdmr/_support/sums.py", "from fasthdmr._support import sums, x")
    assert [fault.partition(": ")[2].partition(":")[0] for fault in faults(tmp_path)] == ["a circle"]


def test_a_room_without_a_place_is_found(write, tmp_path):
    write("src/fasthdmr/_cellar/__init__.py", "")
    assert faults(tmp_path) == ["src/fasthdmr: no place in the order of tools/rooms.py: _cellar"]


def test_invalid_includes_are_found(write, tmp_path):
    write("csrc/core/support/arrays.hpp", "#include <vector>\n")
    write("csrc/core/forest/forest.hpp", '#include "support/arrays.hpp"\n')
    write("csrc/core/forest/forest.cpp", '#include "forest/forest.hpp"\n')
    write("csrc/bindings/module.cpp", "#include <pybind11/pybind11.h>\n")
    assert faults(tmp_path) == []
    write("csrc/core/forest/forest.cpp", '#include "../support/arrays.hpp"\n#include "forest/forest.hpp"\n')
    write("csrc/core/support/parallel.hpp", '#  include "forest/forest.hpp"\n#include <Python.h>\n')
    write("csrc/core/support/sums.cpp", '#include "support/absent.hpp"\n')
    write("csrc/tests/test_x.cpp", '#include "pybind11/pybind11.h"\n')
    assert faults(tmp_path) == [
        "csrc/core/forest/forest.cpp: an include climbs: ../support/arrays.hpp; includes are from csrc/core",
        "csrc/core/support/parallel.hpp: only the bindings know Python: Python.h",
        "csrc/core/support/sums.cpp: no such file in csrc/core: support/absent.hpp",
        "csrc/tests/test_x.cpp: only the bindings know Python: pybind11/pybind11.h",
        "csrc/core: upward: support/parallel -> forest/forest",
    ]


def test_a_source_is_one_unit_with_its_header(write, tmp_path):
    write("csrc/core/support/a.hpp", "")
    write("csrc/core/support/b.hpp", '#include "support/a.hpp"\n')
    write("csrc/core/support/a.cpp", '#include "support/a.hpp"\n#include "support/b.hpp"\n')
    (circle,) = faults(tmp_path)
    assert set(circle.partition(": a circle: ")[2].split(" -> ")) == {"support/a", "support/b"}
    write("csrc/core/support/a.cpp", '#include "support/b.hpp"\n')
    assert faults(tmp_path) == []


def test_figures_and_levels():
    units = {"a/x": set(), "a/y": {"a/x"}, "b/z": {"a/y", "a/x"}}
    made_up = rooms.Codebase("it", units, {unit: unit[0] for unit in units}, ("a", "b"))
    assert rooms.figures(made_up).splitlines() == [
        "it: 3 units on 3 levels, 3 dependencies",
        "it: 2 rooms on 2 levels, 1 dependencies",
        "it: 0 upward, no circle of units",
    ]


def test_the_picture(tmp_path):
    pytest.importorskip("matplotlib")
    import rooms_picture

    graph = {"a": set(), "b": {"a"}, "c": {"a", "b"}}
    assert rooms_picture.needed_directly(graph) == {"a": set(), "b": {"a"}, "c": {"b"}}
    paths = [tmp_path / name for name in ("one.svg", "two.svg")]
    for path in paths:
        rooms_picture.draw(codebase(), path)
    text = paths[0].read_text()
    assert text == paths[1].read_text()
    assert all(f">{room}</text>" in text for room in ("product_measure", "_estimators"))
