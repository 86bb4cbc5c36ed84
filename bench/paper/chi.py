"""Figure chi: densities of chi2 and of its HDMR statistic against their limit laws, n = 50, 500, 5,000."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from bench.paper.figures import BLUE, GREEN, ORANGE, drawing
from bench.paper.options import Options
from bench.paper.result import Result, Row, fewer, near
from bench.report import machine, table
from fasthdmr import chisquare
from fasthdmr.chisquare.compound import CompoundPoisson

K, ALPHA = 2500, 0.5
SIZES = (50, 500, 5000)
N_RUNS, N_EXPECTED = 50_000, 20_000
# Kolmogorov's distance to chi2(k - 1), and the share above its 5 % point: hdmr and chi2, from 20,000 draws (spec 10).
EXPECTED = {50: (0.246, 0.239, 0.088, 0.284), 500: (0.015, 0.074, 0.052, 0.107), 5000: (0.005, 0.011, 0.052, 0.058)}
LIMIT = 4.0  # standard errors
HEADER = ["n", "", "lambda", "distance to chi2(k - 1)", "spec", "share above its 5 % point", "spec", "Poisson integral"]
PICTURE = {"chi2": (ORANGE, r"$\chi^2$"), "hdmr": (BLUE, r"$\chi^2_{\mathrm{HDMR}}$")}


def compound_distance(law: CompoundPoisson, values: np.ndarray) -> float:
    """Return Kolmogorov's distance to the compensated Poisson integral, at 100 quantiles of the values."""
    points = np.unique(np.quantile(values, np.linspace(0, 1, 101)))
    # Half a lattice step aside: values that lie on an atom are on one side in both.
    return max(abs(law.sf(float(x)) - float((values >= x - 1e-6).mean())) for x in points)


def measured(n: int, statistics: dict[str, np.ndarray], law: CompoundPoisson) -> tuple[list[list[str]], list[Row]]:
    """Return the two printed rows of one n, and the verdicts."""
    limit, rows, verdicts = stats.chi2(K - 1), [], []
    for place, (name, values) in enumerate(statistics.items()):
        distance = stats.kstest(values, limit.cdf).statistic
        share = (values > limit.isf(0.05)).mean()
        integral = f"{compound_distance(law, values):.3f}" if name == "hdmr" else ""
        expected = EXPECTED[n][place::2]
        known = [f"{value:.3f}" for value in expected]
        unit = LIMIT * math.sqrt(1 / len(values) + 1 / N_EXPECTED)  # standard errors, for a deviation of 1
        spread, of = math.sqrt(expected[1] * (1 - expected[1])), "the specification's run"
        what = f"distance of {name} to χ²(k − 1)", f"share of {name} above its 5 % point"
        verdicts += [
            near(f"{what[0]}, n = {n}", distance, None, unit / 2, target=expected[0], of=of),
            near(f"{what[1]}, n = {n}", share, None, unit * spread, target=expected[1], of=of),
        ]
        cells = [f"{distance:.3f}", known[0], f"{share:.3f}", known[1], integral]
        rows.append([str(n), name, f"{n / math.sqrt(K):g}", *cells])
    return rows, verdicts


def panel(axes: Any, n: int, statistics: dict[str, np.ndarray], law: CompoundPoisson) -> None:
    """Draw one n."""
    low, high = (np.quantile(np.concatenate(list(statistics.values())), q) for q in (0.001, 0.995))
    width = (high - low) / 80
    # With no two draws alike hdmr is k - n: this atom is in the middle of a bin.
    edges = K - n + width * (np.arange(math.floor((low - K + n) / width), math.ceil((high - K + n) / width) + 1) - 0.5)
    for name, values in statistics.items():
        colour, label = PICTURE[name]
        weights = np.full(len(values), 1 / (len(values) * width))
        axes.hist(values, edges, weights=weights, histtype="stepfilled", alpha=0.3, color=colour)
        axes.hist(values, edges, weights=weights, histtype="step", linewidth=1.2, color=colour, label=label)
    x = np.linspace(low, high, 500)
    axes.plot(x, stats.chi2(K - 1).pdf(x), "k--", linewidth=1.5, label=rf"$\chi^2_{{{K - 1}}}$")
    # The integral is partly discrete: its mass in every bin, as for the samples.
    mass = -np.diff([law.sf(float(edge)) for edge in edges])
    axes.plot((edges[1:] + edges[:-1]) / 2, mass / width, "o", color=GREEN, markersize=2, label="Poisson integral")
    axes.set(title=rf"$n = {n}$, $\lambda = {n / math.sqrt(K):g}$", xlabel="statistic", ylabel="density")


def run(options: Options) -> Result:
    """Print the distances, write the picture."""
    n_runs, path = 5_000 if options.quick else N_RUNS, options.out / "chi.png"
    result = Result(figures=[path], repeats=fewer(runs=(n_runs, N_RUNS)))
    p, rows = chisquare.power_law(K, ALPHA), []
    with drawing(path, (1, len(SIZES)), (11.0, 3.4)) as (_, axes):
        for each, n in zip(axes[0], SIZES, strict=True):
            found = chisquare.simulate(p, n, n_runs, random_state=0, n_jobs=2)
            statistics = {"hdmr": found.hdmr, "chi2": found.chi2}
            law = CompoundPoisson.of_probabilities(p, len(p), n)
            printed, verdicts = measured(n, statistics, law)
            rows += printed
            result.rows.extend(verdicts)
            panel(each, n, statistics, law)
        axes[0, 0].legend(loc="upper right")  # the other panels have no space
    print(f"chi: power law {ALPHA:g}, k = {K}, {n_runs:,} runs; spec: one run of its prototype, 20,000 draws")
    print(machine())
    print(table(HEADER, rows))
    print("Poisson integral: distance of hdmr to the limit law of lambda")
    return result
