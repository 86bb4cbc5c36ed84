"""California housing, 5,000 trees of depth 1, 2, 3: all columns of B against what engines need for their sum.

The output of 500 trees of depth 3 at few rows, too.
"""

from __future__ import annotations

import math
import mmap
from functools import partial
from typing import Any

import numpy as np

from bench import few_rows
from bench.contenders import (
    lleaves_engine,
    null,
    numpy_loops,
    onnx_engine,
    ours,
    sklearn_predict,
    treelite_engine,
    ydf_engine,
)
from bench.data import california, with_jitter
from bench.goals import Goal, at_most, goals_table
from bench.models import boosted
from bench.report import machine
from bench.runner import Arrays, Contender, Measurement, measure
from bench.timings import seconds, timing_table, truth_of

Block = list[Measurement]
DEPTHS = (1, 2, 3)
RIVALS = True  # tests set it aside
LOOP_LIMIT = 300.0  # seconds, a loop runs once
TILES = 10
LOOP, NUMPY_LOOP = "loop, tree_.predict", "loop, NumPy walk"
NODE_LOOP = "loop by node, NumPy walk"
SKLEARN = "scikit-learn, 1 thread"
ENGINES = ("YDF, 1 thread", "lleaves, 1 thread", "onnxruntime, 1 thread", "tl2cgen, 1 thread")
SORTINGS = ("tree", "node")
NOTES = (
    """\
x ours: relative to the first row. x limit: relative to the fastest 'fill': one thread writes an array of the shape of B
in new memory pages, as all arrays above 32 MB have. (malloc reuses smaller ones that are still in the cache, but not if
the caller keeps them.) error: the largest absolute difference over the scale, from the loop by tree_.predict, the loop
by node, or scikit-learn's predict. Engines compute the output only, ours all columns of B.
The loops run once, all others in turn. Converting and compiling models is not measured; reading them is measured in the
rows 'model to B'. YDF, onnxruntime and lleaves (vectorised) compute in single precision.
lleaves (vectorised): its code with LLVM's vectorisers, which no published version enables. It is not part of the goals;
its ratios are printed below them. The goal of 100 is relative to the loop in NumPy. Those by tree_.predict and
tree.predict sum results of scikit-learn's compiled code, and are in the tables only.
"""
    + few_rows.NOTES
)


def fills(model: Any, n_rows: int, *, stage: str) -> list[Contender]:
    """Return the theoretical limits: new arrays of the shapes of B, written once, column-major."""
    (forest,) = ours.load([model])
    widths = {"tree": len(forest.groups), "node": len(forest.node_groups)}

    return [Contender(f"fill {b} columns by {by}", stage, partial(_fill, (n_rows, b))) for by, b in widths.items()]


def _fill(shape: tuple[int, int], _: Any) -> None:
    """Copy into new memory pages, large ones as in NumPy: malloc would reuse up to 32 MB that are in the cache."""
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.empty(shape, order="F").fill(1.0)
    with mmap.mmap(-1, 8 * math.prod(shape), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as pages:
        pages.madvise(mmap.MADV_HUGEPAGE)
        return np.frombuffer(pages, np.float64).fill(1.0)


def limit(block: Block, by: str) -> float:
    """Return the least time to fill B. It is a limit, since the system may take longer to find pages."""
    return next(min(m.seconds) for m in block if m.contender.name.startswith("fill") and m.contender.name.endswith(by))


def block_table(block: Block, truth: Arrays) -> str:
    """Return the table of one block, with the limit of each row's assignment."""
    limits = {by: limit(block, by) for by in SORTINGS}
    return timing_table(block, lambda m: limits["node" if "node" in m.contender.name else "tree"], truth)


def at_few_rows(X: np.ndarray, y: np.ndarray, repeats: int) -> list[Goal]:
    """Compare the output of 500 trees of depth 3 with that of engines, print the tables, and return the goals."""
    (model,) = boosted(X, y, depths=(3,), n_trees=500)
    engines = [ydf_engine.contender, lleaves_engine.contender, onnx_engine.contender, treelite_engine.compiled]
    print("\nthe output of 500 trees of depth 3 at few rows")
    blocks = few_rows.measured(model, X, [sklearn_predict.engine, *(engines if RIVALS else [])], repeats)
    return [*few_rows.goals_of(blocks, 1.0), few_rows.goal_of_a_call(blocks[0])]


def contenders(model: Any, X: np.ndarray, *, stage: str) -> list[Contender]:
    """Return the rows for one model."""
    rivals = [
        ydf_engine.contender(model, X, stage=stage),
        lleaves_engine.contender(model, X, stage=stage),
        lleaves_engine.contender(model, X, stage=stage, vectorise=True),
        onnx_engine.contender(model, X, stage=stage),
        treelite_engine.compiled(model, X, stage=stage),
    ]
    return [
        *ours.engine(model, X, stage=stage),
        *fills(model, len(X), stage=stage),
        sklearn_predict.engine(model, X, stage=stage),
        *(rivals if RIVALS else []),
        *numpy_loops.contenders(model, X, stage=stage, limit=LOOP_LIMIT),
        *null.contenders([stage]),
    ]


def many_rows(model: Any, X: np.ndarray, *, stage: str) -> list[Contender]:
    """Return ours and the limit on rows repeated with jitter."""
    tiled = with_jitter(X, TILES, 1e-3)
    rows = [row for row in ours.engine(model, tiled, stage=stage) if row.name.startswith("ours, B by")]
    # Without summaries: the arrays are large, and compared at N already.
    rows = [Contender(row.name, stage, row.run, row.prepare) for row in rows]
    return [*rows, *fills(model, len(tiled), stage=stage)]


def fastest(block: Block) -> tuple[str, float]:
    """Return the fastest published engine, and its time."""
    times = {name: seconds(block, name) for name in (*ENGINES, SKLEARN)}
    times = {name: time for name, time in times.items() if not np.isnan(time)}
    return min(times.items(), key=lambda item: item[1], default=("none", float("nan")))


def goals_of(blocks: dict[int, Block], tiled: Block) -> list[Goal]:
    """Return the goals for the times."""
    goals = []
    for by, loop in zip(SORTINGS, (NUMPY_LOOP, NODE_LOOP), strict=True):
        one, two = ours.columns_name(by, 1), ours.columns_name(by, 2)
        sums = {name: sum(seconds(block, name) for block in blocks.values()) for name in (one, two, SKLEARN, loop)}
        goals.append(Goal(f"{loop} / {one}, sum of the depths", sums[loop] / sums[one], 100.0))
        goals.append(Goal(f"{SKLEARN} / {one}, sum of the depths", sums[SKLEARN] / sums[one], 20.0))
        for (depth, block), asked in zip(blocks.items(), (50.0, 13.0, 5.0), strict=True):
            engine, time = fastest(block)
            goals.append(Goal(f"{engine} / {one}, depth {depth}", time / seconds(block, one), asked))
        for (depth, block), asked in zip(blocks.items(), (15.0, 12.0, 8.0), strict=True):
            ratio = seconds(block, SKLEARN) / seconds(block, f"ours, model to B by {by}")
            goals.append(Goal(f"{SKLEARN} / model to B by {by}, depth {depth}", ratio, asked))
        for block, asked in ((tiled, 4.5), (blocks[3], 7.0)):
            stage = block[0].contender.stage
            goals.append(at_most(f"{two} / fill, {stage}", seconds(block, two) / limit(block, by), asked))
        goals.append(Goal(f"{one} / 2 threads, sum of the depths", sums[one] / sums[two], 1.7))
    return goals


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Train or load the models, measure, print the tables and the goals."""
    X, y, _ = california()
    n_trees = 500 if quick else 5000
    models = dict(zip(DEPTHS, boosted(X, y, depths=DEPTHS, n_trees=n_trees), strict=True))
    print(f"engines: California housing, gradient boosting, {n_trees} trees of depth {', '.join(map(str, DEPTHS))}")
    print(machine() + "\n--quick: the goals are not of so few trees" * quick)
    blocks = {}
    for depth, model in models.items():
        block = blocks[depth] = measure(contenders(model, X, stage=f"depth {depth}"), repeats)
        print(f"\nN = {len(X)}\n\n{block_table(block, truth_of(block, (LOOP, NODE_LOOP, SKLEARN)))}")
        for m in block:
            m.summary.clear()  # the arrays of one depth are enough to hold
    tiled = measure(many_rows(models[2], X, stage=f"depth 2, {TILES} N"), repeats)
    print(f"\nN = {TILES * len(X)}, the rows repeated with jitter\n\n{block_table(tiled, {})}")
    goals = [*goals_of(blocks, tiled), *at_few_rows(X, y, repeats)]
    print(f"\n{NOTES}\n\n{goals_table(goals)}")
    ratios = {
        depth: seconds(block, "lleaves, vectorised") / seconds(block, ours.columns_name("tree", 1))
        for depth, block in blocks.items()
    }
    in_words = ", ".join(f"{ratio:.1f} at depth {depth}" for depth, ratio in ratios.items())
    print(f"lleaves, vectorised / {ours.columns_name('tree', 1)}: {in_words}")
    return goals
