"""Both chi-square statistics of 50,000 samples of 5,000 draws from 2,500 categories: ours against NumPy and SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from bench.contenders import chisquare_loops as loops
from bench.goals import Goal, goals_table
from bench.report import machine, table
from bench.runner import Arrays, Contender, Measurement, measure, threads
from fasthdmr import chisquare

K, N = 2500, 5000
GOAL = 15.0
# Four loads (random number, row of the table, category, count) at two a cycle, 3 GHz.
DRAW = 2 / 3e9  # seconds
# Slow contenders do a fraction of the runs, one of this many, in chunks of the same size; times are multiplied.
SHARES = {
    "NumPy multinomial": 10,
    "NumPy multinomial, 2 threads": 10,
    "NumPy choice, bincount": 50,
    "scipy.stats.chisquare": 100,
}
HEADER = ["law", "contender", "runs", "times", "s", "x ours", "million draws/s", "x limit", "peak MB", "z of moments"]
NOTES = """\
s: the median, for all runs (contenders that did a part of the runs: extrapolated). x ours: relative to ours on two
threads. choice: for uniform p, Generator.integers in 16 bits, which is faster. x limit: relative to two cycles at 3 GHz
per draw and thread, for four loads: random number, row of the alias table, category drawn, its count. All hit the
first-level cache (table 20 kB, counts 5 kB, random numbers 2 kB). The rest of our time: look-ups are scalar code of
about ten instructions per draw, the generators take 0.25 ns per draw, the pass over all counts 0.6 ns per category. For
uniform p, ours samples the numbers of categories with each count instead of draws, which takes about eleven binomials
of 50 ns and 56 corrections of 12 ns per run; its draws/s are those of equivalent draws. z of moments:
the largest of |mean - exact| and |variance - exact| over its standard error, of both statistics."""


def worst_z(statistics: tuple[np.ndarray, np.ndarray], p: np.ndarray, n: int) -> float:
    """Return how far means and variances are from the exact ones, in standard errors."""
    exact = chisquare.moments(p, n)
    found = [0.0]
    for values, variance in zip(statistics, (exact.variance_chi2, exact.variance_hdmr), strict=True):
        if len(values):
            squares = (values - exact.mean) ** 2
            found.append(abs(float(values.mean()) - exact.mean) / math.sqrt(variance / len(values)))
            found.append(abs(float(squares.mean()) - variance) / float(squares.std()) * math.sqrt(len(values)))
    return max(found)


def contenders(stage: str, p: np.ndarray, n: int, n_runs: int) -> list[Contender]:
    """Return the rows: ours is warm, because the runner's first run, which compiles, is not timed."""

    def summary(statistics: tuple[np.ndarray, np.ndarray]) -> Arrays:
        return {"z": np.array(worst_z(statistics, p, n))}

    def ours(n_jobs: int, _: None) -> tuple[np.ndarray, np.ndarray]:
        found = chisquare.simulate(p, n, n_runs, random_state=0, n_jobs=n_jobs)
        return found.chi2, found.hdmr

    def rival(name: str, run: Callable[..., tuple[np.ndarray, np.ndarray]]) -> Contender:
        runs = max(2, n_runs // SHARES.get(name, 1))
        return Contender(name, stage, run=lambda _: run(p, n, runs), summary=summary)

    rows = [Contender(f"ours, {threads(j)}", stage, run=partial(ours, j), summary=summary) for j in (1, 2)]
    rivals = {
        "NumPy multinomial": loops.multinomial,
        "NumPy multinomial, 2 threads": loops.multinomial_threads,
        "NumPy choice, bincount": loops.choice,
        "scipy.stats.chisquare": loops.scipy_chisquare,
    }
    return [*rows, *(rival(name, run) for name, run in rivals.items())]


def seconds(m: Measurement) -> float:
    """Return the time of all runs."""
    return m.median * SHARES.get(m.contender.name, 1)


def row(m: Measurement, base: float, n: int, n_runs: int) -> list[str]:
    """Return a line."""
    if m.failure:
        return [m.contender.stage, m.contender.name, *[""] * (len(HEADER) - 3), "failed: " + m.failure]
    share = SHARES.get(m.contender.name, 1)
    rate = n * n_runs / seconds(m)
    cells = [
        str(n_runs // share),
        str(len(m.seconds)),
        f"{seconds(m):.3f}",
        f"{seconds(m) / base:.1f}",
        f"{rate / 1e6:.0f}",
    ]
    cores = 2 if "2 threads" in m.contender.name else 1
    return [
        m.contender.stage,
        m.contender.name,
        *cells,
        f"{cores / rate / DRAW:.1f}",
        f"{m.peak / 1e6:.1f}",
        f"{float(m.summary['z']):.1f}",
    ]


def goals(stage: str, measurements: list[Measurement]) -> list[Goal]:
    """Return the goals for the times, relative to the fastest contender and to NumPy's multinomial on two threads."""
    found = {m.contender.name: seconds(m) for m in measurements if not m.failure}
    base = found.get("ours, 2 threads", math.nan)
    as_it_comes = [s for name, s in found.items() if not name.startswith("ours") and "threads" not in name]
    threaded = found.get("NumPy multinomial, 2 threads", math.nan)
    best = min(as_it_comes, default=math.nan)
    return [
        Goal(f"{stage}: best contender / ours, 2 threads", best / base, GOAL),
        Goal(f"{stage}: multinomial on 2 threads / ours, 2 threads", threaded / base, GOAL),
    ]


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Measure, print."""
    n_runs = 1000 if quick else 50_000
    print(f"chisquare: {n_runs:,} runs, n = {N:,}, k = {K:,}, both statistics")
    print(machine() + "\n--quick: the goals are of 50,000 runs" * quick)
    lines, asked = [], []
    for stage, alpha in (("power law 1/2", 0.5), ("uniform", 0.0)):
        measurements = measure(contenders(stage, chisquare.power_law(K, alpha), N, n_runs), repeats)
        base = next(seconds(m) for m in measurements if m.contender.name == "ours, 2 threads")
        lines += [row(m, base, N, n_runs) for m in measurements]
        asked += goals(stage, measurements)
    print(f"\n{table(HEADER, lines)}\n\n{NOTES}\n\n{goals_table(asked)}")
    return asked
