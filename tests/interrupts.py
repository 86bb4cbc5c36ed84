"""Endless calls, each interrupted by Ctrl-C. test_interrupts.py runs this file in a separate process."""

import gc
import itertools
import os
import signal
import sys
import threading

import numpy as np
from models import X, Y, gbr, rf

import fasthdmr
from fasthdmr import TreeHDMR, _core, chisquare, load_forest

MODEL = gbr(max_depth=3).fit(X, Y)
FOREST = load_forest(MODEL).core
DEEP = load_forest(rf().fit(X, Y)).core
ROWS = np.random.default_rng(0).normal(size=(5000, 4))
FOR_EVER = np.lib.stride_tricks.as_strided(ROWS, (1 << 50, 4), (0, 8))
ONES = np.lib.stride_tricks.as_strided(np.ones(1), (1 << 50, 1), (0, 8))
TREES = _core.TreeColumns([(FOREST, 0, "tree", "all")], 1)
NODES = _core.TreeColumns([(DEEP, 0, "node", "all")], 1)
AXES = [(j, 1, [0.0, 0, 0.5, 1, 1], False, ([], []), False) for j in range(3)]
SPANS = _core.Spans(AXES, [(0,), (1,), (2,), (0, 1)], [[0], [1], [2], [0, 1]])


def triangles(trees, rows, n_threads, n_folds=1):
    return trees.triangles(rows, unit=1.0, weight=None, y=None, fold=None, n_folds=n_folds, n_threads=n_threads)


def partial_dependence(rows, n_threads):
    axes = [(0, [0.0, 1.0]), (1, [0.0, 1.0])]
    return _core.partial_dependence(DEEP, rows, weight=None, axes=axes, grids=[[0], [0, 1]], n_threads=n_threads)


def array_sums(rows, values, n_threads):
    return _core.array_sums(SPANS, rows, weight=None, values=values, n_threads=n_threads)


def tree_sums(rows, n_threads):
    outputs, orders = [(TREES, [1.0] * len(TREES.column_subspace), 0.0)], [[2] * len(TREES.subspaces)]
    return _core.tree_sums(
        SPANS,
        rows,
        weight=None,
        outputs=outputs,
        orders=orders,
        with_outputs=True,
        with_terms=False,
        n_threads=n_threads,
    )


def span_gram(rows, n_threads):
    return _core.SpanGram(tree_sums(ROWS, 1), rows, None, "all", n_threads)


def dependent_columns(p):
    """Return a triangle whose columns depend on each other."""
    triangle = np.triu(np.random.default_rng(1).normal(size=(p, p)))
    triangle[:, p // 2 :] = triangle[:, : p - p // 2]
    return np.asfortranarray(triangle)


def top_down(p, n_threads):
    labels = np.zeros(p - 1, dtype=np.int64)
    return _core.top_down(dependent_columns(p), [(0,)], labels, np.ones(p), 1e-9, n_threads)["rank"]


def endless_batches(n_threads):
    return TreeHDMR(MODEL, n_jobs=n_threads).fit(fasthdmr.batches(itertools.repeat(ROWS)))


CALLS = {
    "batches": endless_batches,
    "triangles": lambda n: triangles(TREES, FOR_EVER, n),
    "triangles by node": lambda n: triangles(NODES, FOR_EVER, n),
    "folds": lambda n: triangles(TREES, FOR_EVER, n, n_folds=3),
    "array triangle": lambda n: _core.array_triangle(FOR_EVER, weight=None, y=None, n_threads=n),
    "sums of values": lambda n: array_sums(FOR_EVER, ONES, n),
    "sums of trees": lambda n: tree_sums(FOR_EVER, n),
    "products of spans": lambda n: span_gram(FOR_EVER, n),
    "partial dependence": lambda n: partial_dependence(FOR_EVER, n),
    "marginals": lambda n: _core.Marginals([DEEP], FOR_EVER, weight=None, n_threads=n),
    "top down": lambda n: top_down(3000, n),
    "rows of a triangle": lambda n: _core.triangle(np.ones((4000, 3000), order="F")),
    "draws": lambda n: chisquare.simulate(chisquare.power_law(20_000, 0.5), 10**6, 40_000, n_jobs=n),
    "few draws": lambda n: chisquare.simulate(chisquare.power_law(20_000, 0.5), 9_000, 10**7, n_jobs=n),
}


def results():
    """Return the results of the same objects for few rows."""
    return [
        triangles(TREES, ROWS, 2),
        triangles(NODES, ROWS, 2),
        *partial_dependence(ROWS, 2),
        top_down(30, 1),
        chisquare.simulate(chisquare.power_law(20, 0.5), 100, 50, random_state=0).hdmr,
    ]


def interrupted(call):
    """Return whether Ctrl-C, some time after a call began, interrupted it."""
    # Timers of interrupted calls are in cycles with tracebacks. If these are collected during the next call, Ctrl-C may
    # come in a callback of a weak reference to a timer, where Python ignores exceptions.
    gc.collect()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        call()
    except KeyboardInterrupt:
        return True
    return False


def beside_another_thread():
    """Return whether a call on another thread is correct while the one on the main thread is interrupted."""
    rows = np.lib.stride_tricks.as_strided(ROWS, (100_000, 4), (0, 8))
    expected, found = triangles(NODES, rows, 1), []
    thread = threading.Thread(target=lambda: found.extend(triangles(NODES, rows, 2) for _ in range(3)))
    thread.start()
    ended = interrupted(lambda: triangles(TREES, FOR_EVER, 2))
    thread.join()
    return ended and len(found) == 3 and all(np.array_equal(expected, each) for each in found)


def goes_on():
    """Return whether a call goes on after a signal whose handler raises nothing, and the handler ran meanwhile."""
    rows = np.lib.stride_tricks.as_strided(ROWS, (4_000_000, 4), (0, 8))
    handled = []
    signal.signal(signal.SIGALRM, lambda *_: handled.append(_core.rows_done()))
    expected, before = triangles(NODES, rows, 1), _core.rows_done()
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.05)
    found = triangles(NODES, rows, 2)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return np.array_equal(expected, found) and any(done < before + len(rows) for done in handled)


if __name__ == "__main__":
    before = results()
    for n_threads in (1, 2):
        for name, call in CALLS.items():
            print(name, n_threads, interrupted(lambda call=call, n=n_threads: call(n)), flush=True)
    print("same results", all(np.array_equal(a, b) for a, b in zip(before, results(), strict=True)))
    print("beside another thread", beside_another_thread())
    print("goes on", goes_on())
    sys.exit(0)
