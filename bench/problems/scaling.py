"""How times and memory grow: with rows, trees, depth, variables and columns, on synthetic trees, one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench.contenders import ours
from bench.goals import Goal, at_most
from bench.report import machine, table
from bench.runner import Contender, Measurement, measure
from bench.synthetic import columns, random_trees, rows
from fasthdmr._support.output_file import check_target

BLOCK = 10_000
TOLERANCE = 0.25  # of an exponent: caches and pages
HEADER = ["against", "what", "from", "to", "first ms", "last ms", "peak MB", "slope", "expected", ""]
NOTES = f"""\
Least times, one thread. slope: of the logarithms, over the upper half of the points. MISSED: more than {TOLERANCE:g}
above the expected exponent. peak MB: above the input, at the last point. Blocks of {BLOCK:,} rows are generated in the
run, and their time is included. All thresholds are distinct, except for bins. Expected exponents, and why:"""


@dataclass(frozen=True)
class Curve:
    """A computation measured at several sizes, and the expected exponents of its time and memory."""

    against: str
    what: str
    sizes: tuple[int, ...]
    at: Callable[[int], Contender]
    expected: float
    why: str
    memory: float | None = None  # the exponent of the peak


@dataclass
class Points:
    """A measured curve."""

    curve: Curve
    found: list[Measurement] = field(default_factory=list)

    def seconds(self) -> np.ndarray:
        """Return the least times, which include the fewest interruptions by the system."""
        return np.array([min(m.seconds) for m in self.found])

    def peaks(self) -> np.ndarray:
        """Return the peaks in bytes."""
        return np.array([float(m.peak) for m in self.found])

    def slope(self, values: np.ndarray) -> float:
        """Return the exponent over the upper half of the sizes."""
        upper = slice(min(len(values) // 2, len(values) - 2), None)
        logarithms = np.log(self.curve.sizes[upper]), np.log(np.maximum(values[upper], 1e-9))
        return float(np.polyfit(*logarithms, deg=1)[0])


def blocks(n_rows: int) -> Iterator[np.ndarray]:
    """Generate rows block by block."""
    for first in range(0, n_rows, BLOCK):
        yield rows(min(BLOCK, n_rows - first), seed=first)


def contender(prepare: Callable[[], Any], run: Callable[[Any], Any]) -> Contender:
    """Return a contender whose result is dropped."""
    return Contender("", "scaling", run, prepare)


def in_blocks(n_rows: int, trees: Any) -> Contender:
    """Return B of generated rows, a block at a time."""

    def run(forest: Any) -> None:
        for block in blocks(n_rows):
            forest.group_features(block, n_jobs=1)

    return contender(trees.forest, run)


def on_rows(trees: Any, n_rows: int, run: Callable[[Any, np.ndarray], Any]) -> Contender:
    """Return a function that calls `run` with a forest and rows in memory."""
    return contender(lambda: (trees.forest(), rows(n_rows, trees.n_features)), lambda prepared: run(*prepared))


def by_tree(forest: Any, X: np.ndarray) -> Any:
    return forest.group_features(X, n_jobs=1)


def by_node(forest: Any, X: np.ndarray) -> Any:
    return forest.group_features(X, by="node", n_jobs=1)


def predict(forest: Any, X: np.ndarray) -> Any:
    return forest.predict(X, n_jobs=1)


def fit(forest: Any, X: np.ndarray) -> Any:
    return ours.fit([forest], X, n_jobs=1, combine="sum")


def from_arrays(trees: Any, n_rows: int) -> Contender:
    """Return B with the making of the forest."""
    return contender(lambda: rows(n_rows, trees.n_features), lambda X: by_tree(trees.forest(), X))


def powers(low: int, high: int) -> tuple[int, ...]:
    """Return powers of ten."""
    return tuple(10**k for k in range(low, high + 1))


def with_rows(quick: bool) -> list[Curve]:
    """Return what grows with N: 300 trees of depth 2, 8 variables."""
    trees, sizes = random_trees(300, 2), powers(3, 5 if quick else 7)
    return [
        Curve("rows N", "B in blocks", sizes, lambda n: in_blocks(n, trees), 1, "every row alike", 0),
        Curve("rows N", "predict", sizes, lambda n: on_rows(trees, n, predict), 1, "every row alike", 1),
        Curve("rows N", "fit", sizes, lambda n: on_rows(trees, n, fit), 1, "streamed into a triangle", 0),
    ]


def with_trees(quick: bool) -> list[Curve]:
    """Return what grows with T: depth 2, 8 variables."""
    n_rows, sizes = (2000, powers(2, 4)) if quick else (20_000, powers(2, 5))
    make = {size: random_trees(size, 2) for size in sizes}
    coarse, fine = ({size: random_trees(size, 2, n_thresholds=n) for size in sizes} for n in (63, 255))
    why, tables = "a step more for every tree", "tables of 64 places a variable are looked up once, whatever the trees"
    too_large = "tables of 256 places a variable would take 100 MB, where 8 are allowed: most trees are walked"
    return [
        Curve("trees", "B by tree", sizes, lambda t: on_rows(make[t], n_rows, by_tree), 1, why),
        Curve("trees", "B by node", sizes, lambda t: on_rows(make[t], n_rows, by_node), 1, why),
        Curve("trees", "predict", sizes, lambda t: on_rows(make[t], n_rows, predict), 1, why),
        Curve("trees", "forest and B", sizes, lambda t: from_arrays(make[t], n_rows), 1, "every tree is read once"),
        Curve("trees", "B, 64 bins", sizes, lambda t: on_rows(coarse[t], n_rows, by_tree), 0, tables),
        Curve("trees", "B, 256 bins", sizes, lambda t: on_rows(fine[t], n_rows, by_tree), 1, too_large),
    ]


def with_depth(quick: bool) -> list[Curve]:
    """Return what grows with the depth: 1,000 trees, 8 variables, so at most 255 subspaces."""
    n_rows, n_trees = (2000, 100) if quick else (20_000, 1000)
    make = {depth: random_trees(n_trees, depth) for depth in range(1, 9)}
    sizes, why = tuple(make), "a step a level, plus misses of the cache: a tree has 2^depth leaves"
    return [
        Curve("depth", "B by tree", sizes, lambda d: on_rows(make[d], n_rows, by_tree), 1, why),
        Curve("depth", "B by node", sizes, lambda d: on_rows(make[d], n_rows, by_node), 1, why),
        Curve("depth", "predict", sizes, lambda d: on_rows(make[d], n_rows, predict), 1, why),
    ]


def with_variables(quick: bool) -> list[Curve]:
    """Return what grows with n: 2,000 trees, so there are fewer per variable as n grows."""
    n_rows = 2000 if quick else 20_000
    sizes = (5, 10, 20, 50, 100, 200)
    stumps, make = ({n: random_trees(2000, depth, n) for n in sizes} for depth in (1, 2))
    alone, alike = "a variable is coded, a column written", "at most: a variable is coded, the trees are as many"
    return [
        Curve("variables n", "B, depth 1", sizes, lambda n: on_rows(stumps[n], n_rows, by_tree), 1, alone),
        Curve("variables n", "predict, depth 2", sizes, lambda n: on_rows(make[n], n_rows, predict), 1, alike),
    ]


def with_columns(quick: bool) -> list[Curve]:
    """Return what grows with b: one tree per column."""
    n_rows, n_features = (2000, 20) if quick else (20_000, 45)
    sizes = (25, 50, 100, 200) if quick else (50, 100, 200, 400, 800)
    make = {b: columns(b, n_features) for b in sizes}
    return [
        Curve("columns b", "B by tree", sizes, lambda b: on_rows(make[b], n_rows, by_tree), 1, "a tree a column"),
        Curve("columns b", "fit", sizes, lambda b: on_rows(make[b], n_rows, fit), 2, "a triangle of b^2/2 products"),
    ]


PANELS = [with_rows, with_trees, with_depth, with_variables, with_columns]


def follow(curve: Curve, repeats: int) -> Points:
    """Measure a curve."""
    found = measure([curve.at(size) for size in curve.sizes], repeats)
    if failures := [m.failure for m in found if m.failure]:
        raise RuntimeError(f"{curve.what} against {curve.against}: {failures[0]}")
    return Points(curve, found)


def lines(points: Points) -> tuple[list[list[str]], list[Goal]]:
    """Return the lines of a curve of times and of its memory, if it has an exponent, and the goals for both."""
    curve, seconds, peaks = points.curve, points.seconds(), points.peaks()
    head = [curve.against, curve.what, f"{curve.sizes[0]:,}", f"{curve.sizes[-1]:,}"]
    times = [f"{1e3 * seconds[0]:.2f}", f"{1e3 * seconds[-1]:.1f}", f"{peaks[-1] / 1e6:.1f}"]
    what = f"slope of {curve.what} against {curve.against}"
    slopes = [points.slope(seconds)]
    goals = [at_most(what, slopes[0], curve.expected + TOLERANCE)]
    found = [[*head, *times, f"{slopes[0]:.2f}", f"{curve.expected:g}", goals[0].verdict()]]
    if curve.memory is not None:
        slopes.append(points.slope(peaks))
        goals.append(at_most(f"{what}: memory", slopes[1], curve.memory + TOLERANCE))
        cells = [f"{slopes[1]:.2f}", f"{curve.memory:g}", goals[1].verdict()]
        found.append([curve.against, f"{curve.what}: memory", *head[2:], "", "", times[-1], *cells])
    return found, goals


def reasons(curves: Iterable[Curve]) -> list[str]:
    """Return why curves should grow as expected, one line per reason."""
    of: dict[tuple[str, float, str], list[str]] = {}
    for curve in curves:
        of.setdefault((curve.against, curve.expected, curve.why), []).append(curve.what)
    return [f"  {against}, {', '.join(names)}: {expected:g}, {why}" for (against, expected, why), names in of.items()]


def run(*, quick: bool, repeats: int, out: Path) -> list[Goal]:
    """Measure every curve, print the exponents, plot."""
    from bench.problems.scaling_plot import draw

    path = out / "scaling.png"
    check_target(path)
    print("scaling: synthetic trees, in the unit cube")
    print(machine())
    found = [follow(curve, repeats) for panel in PANELS for curve in panel(quick)]
    draw(found, path)
    judged = [lines(points) for points in found]
    print("\n" + table(HEADER, [line for of_curve, _ in judged for line in of_curve]))
    print("\n" + "\n".join([NOTES, *reasons(p.curve for p in found)]))
    print(f"plotted in {path}")
    return [goal for _, goals in judged for goal in goals]
