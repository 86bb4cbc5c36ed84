"""Dependencies between rooms (folders): ``python tools/rooms.py [--check] [--draw FILE.svg]``.

Reads the includes of csrc/core and the imports of src/fasthdmr, those inside functions and those for annotations too.
A unit is a header with its source, or a Python module; a room is a folder of csrc/core, or what lies in src/fasthdmr.
A room may depend only on rooms before it in the order below. ``--check`` fails if one depends on a later room, if
units depend on each other in a circle, or if an include breaks a rule. It needs only the standard library.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE_ROOMS = (
    "kernels",
    "support",
    "loaders",
    "forest",
    "linalg",
    "features",
    "inspection",
    "dictionary",
    "hierarchy",
    "spans",
    "product_measure",
)
PYTHON_ROOMS = (
    "_core",
    "_lapack",
    "_support",
    "_data",
    "_batches",
    "_forest",
    "kernels",
    "loaders",
    "_dictionaries",
    "_solve",
    "_kernel_machines",
    "_spans",
    "_measures",
    "_uncertainty",
    "plotting",
    "_results",
    "results",
    "analytic",
    "_saved",
    "_estimators",
    "inspection",
    "chisquare",
    "datasets",
    "salib",
    "dask",
    "fasthdmr",
    "_cli",
    "__main__",
)
SOURCES = {".cpp", ".hpp", ".h", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

Graph = dict[str, set[str]]


@dataclass(frozen=True)
class Codebase:
    """Units with their dependencies, their rooms, and the order of the rooms, lowest first."""

    name: str
    units: Graph
    room: dict[str, str]
    order: tuple[str, ...]

    @property
    def rooms(self) -> Graph:
        """Rooms with the rooms that they depend on."""
        found: Graph = {}
        for unit, needed in self.units.items():
            room = self.room[unit]
            found.setdefault(room, set()).update({self.room[other] for other in needed} - {room})
        return found

    def unlisted(self) -> list[str]:
        """Return rooms that are missing in the order."""
        return sorted(set(self.room.values()) - set(self.order))

    def upward(self) -> list[str]:
        """Return the dependencies of units on rooms that are later in the order."""
        rank = {room: k for k, room in enumerate([*self.order, *self.unlisted()])}
        return [
            f"{unit} -> {other}"
            for unit, needed in sorted(self.units.items())
            for other in sorted(needed)
            if rank[self.room[unit]] < rank[self.room[other]]
        ]


def includes(path: Path) -> list[tuple[str, str]]:
    """Return the bracket and the name of every include of a file."""
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def sources(folder: Path) -> Iterator[Path]:
    """Yield the C++ files below a folder."""
    return (path for path in sorted(folder.rglob("*")) if path.suffix in SOURCES)


def core(folder: Path) -> Codebase:
    """Read csrc/core; a source that does not include the header of its name is a unit of its own."""
    units: Graph = {}
    for path in sources(folder):
        name = path.relative_to(folder)
        headers = {header for _, header in includes(path) if (folder / header).is_file() and ".." not in header}
        is_own = path.with_suffix(".hpp").exists() and name.with_suffix(".hpp").as_posix() not in headers
        unit = (name if path.suffix == ".cpp" and is_own else name.with_suffix("")).as_posix()
        units.setdefault(unit, set()).update({header.rpartition(".")[0] for header in headers} - {unit})
    return Codebase("csrc/core", units, {unit: unit.partition("/")[0] for unit in units}, CORE_ROOMS)


def imported(tree: ast.AST, module: str, is_package: bool) -> Iterator[str]:
    """Yield the names that a module imports, absolute; of ``from a import b`` that is a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".") + ([""] if is_package else [])
            start = [*base[: len(base) - node.level], node.module or ""] if node.level else [node.module or ""]
            prefix = ".".join(filter(None, start))
            yield from (f"{prefix}.{alias.name}" for alias in node.names)


def python(folder: Path) -> Codebase:
    """Read a package; its own ``__init__`` is a room, and so is every other file and folder directly in it."""
    package = folder.name
    paths = {
        ".".join((package, *path.relative_to(folder).with_suffix("").parts)).removesuffix(".__init__"): path
        for path in sorted([*folder.rglob("*.py"), *folder.glob("*.pyi"), *folder.glob("*.pyx")])
    }
    units: Graph = {}
    for module, path in paths.items():
        units[module] = set()
        if path.suffix == ".pyx":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for name in imported(tree, module, path.name == "__init__.py"):
            while name and name not in paths:
                name = name.rpartition(".")[0]
            units[module] |= {name} - {"", module}
    return Codebase(f"src/{package}", units, {unit: [*unit.split("."), unit][1] for unit in units}, PYTHON_ROOMS)


def circle(graph: Graph) -> list[str]:
    """Return units that depend on each other in a circle, if there are any."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def levels(graph: Graph) -> dict[str, int]:
    """Return how many dependencies the longest chain below each node has; the graph has no circle."""
    found: dict[str, int] = {}
    for node in TopologicalSorter(graph).static_order():
        found[node] = 1 + max((found[other] for other in graph.get(node, ())), default=-1)
    return found


def broken_rules(csrc: Path) -> Iterator[str]:
    """Yield includes that are relative, that do not exist, and that bring Python into the core."""
    for path in sources(csrc):
        where = path.relative_to(csrc.parent).as_posix()
        part = path.relative_to(csrc).parts[0]
        for bracket, name in includes(path):
            if name.startswith("../"):
                yield f"{where}: an include climbs: {name}; includes are from csrc/core"
            elif part == "core" and bracket == '"' and not (csrc / "core" / name).is_file():
                yield f"{where}: no such file in csrc/core: {name}"
            if part != "bindings" and (name.startswith("pybind11/") or name == "Python.h"):
                yield f"{where}: only the bindings know Python: {name}"


def faults(codebases: Iterable[Codebase], csrc: Path) -> list[str]:
    """Return all faults, one line each."""
    found = list(broken_rules(csrc))
    for codebase in codebases:
        found += [f"{codebase.name}: no place in the order of tools/rooms.py: {room}" for room in codebase.unlisted()]
        found += [f"{codebase.name}: upward: {arrow}" for arrow in codebase.upward()]
        if units := circle(codebase.units):
            found.append(f"{codebase.name}: a circle: {' -> '.join(units)}")
    return found


def figures(codebase: Codebase) -> str:
    """Return the numbers of units, levels and dependencies in words."""
    lines = []
    for what, graph in (("units", codebase.units), ("rooms", codebase.rooms)):
        n_levels = "no" if circle(graph) else 1 + max(levels(graph).values())
        n_arrows = sum(map(len, graph.values()))
        lines.append(f"{codebase.name}: {len(graph)} {what} on {n_levels} levels, {n_arrows} dependencies")
    n_circles = "1 circle or more" if circle(codebase.units) else "no circle"
    return "\n".join([*lines, f"{codebase.name}: {len(codebase.upward())} upward, {n_circles} of units"])


def main(arguments: list[str]) -> int:
    """Print the figures and the faults; with ``--check``, return 1 if there are faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="print only faults; exit with 1 if there are any")
    parser.add_argument("--draw", type=Path, metavar="FILE.svg", help="draw the rooms; needs matplotlib")
    options = parser.parse_args(arguments)
    codebases = [core(ROOT / "csrc" / "core"), python(ROOT / "src" / "fasthdmr")]
    wrong = faults(codebases, ROOT / "csrc")
    print("\n".join(wrong or ["rooms: no fault"] if options.check else [*wrong, *map(figures, codebases)]))
    if options.draw:
        from rooms_picture import draw

        draw(codebases, options.draw)
    return int(options.check and bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
