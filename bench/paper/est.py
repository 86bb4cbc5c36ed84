"""Table est: means and variances of chi2 and of its HDMR statistic, power law 1/2, k = 2,500, from 50,000 runs."""

from __future__ import annotations

import math

import numpy as np

from bench.paper.options import Options
from bench.paper.result import Result, Row, fewer
from bench.report import machine, table
from fasthdmr import chisquare

K, ALPHA = 2500, 0.5
SIZES = (5000, 500, 50)
N_RUNS = 50_000
LIMIT = 4.0  # standard errors
# Means of chi2 and hdmr, variances of chi2 and hdmr.
PAPER = {
    5000: (2499.20, 2499.18, 5464.45, 5054.05),
    500: (2498.84, 2498.83, 9023.85, 5032.56),
    50: (2499.30, 2499.45, 44188.40, 5014.13),
}
HEADER = ["n", "", "exact", "ours", "standard error", "z", "", "paper", "z", "S_i", "S_ij"]


def judged(what: str, ours: float, paper: float, truth: float, errors: tuple[float, float]) -> Row:
    """Return the verdict, from the standard errors of ours and of the paper's."""
    error, papers_error = errors
    both = math.hypot(error, papers_error)
    near_truth, near_paper = abs(ours - truth) <= LIMIT * error, abs(ours - paper) <= LIMIT * both
    rule = f"within {LIMIT:g} standard errors of the exact {truth:.2f} (±{LIMIT * error:.2f})"
    rule += f" and of the paper's (±{LIMIT * both:.2f})"
    because = f"the paper's is {abs(paper - truth) / papers_error:.1f} of its standard errors off the exact value"
    return Row(
        what, ours, paper, rule, near_truth and near_paper, because if near_truth else "ours is off the exact value"
    )


def lines(n: int, n_runs: int) -> tuple[list[list[str]], list[Row]]:
    """Return the printed rows of one n, and the verdicts."""
    p = chisquare.power_law(K, ALPHA)
    exact, found = chisquare.moments(p, n), chisquare.simulate(p, n, n_runs, random_state=0, n_jobs=2)
    shares = [f"{exact.first_order:.5f}", f"{exact.second_order:.5f}"]
    rows, verdicts = [], []
    for name, values, variance in [
        ("chi2", found.chi2, exact.variance_chi2),
        ("hdmr", found.hdmr, exact.variance_hdmr),
    ]:
        fourth = float(np.mean((values - exact.mean) ** 4))
        errors = math.sqrt(variance / n_runs), math.sqrt((fourth - variance**2) / n_runs)
        paper = PAPER[n][name == "hdmr" :: 2]
        quantities = [("mean", exact.mean, values.mean()), ("variance", variance, values.var(ddof=1))]
        for (what, truth, ours), error, published in zip(quantities, errors, paper, strict=True):
            both = error, error * math.sqrt(n_runs / N_RUNS)
            verdicts.append(judged(f"{what} of {name}, n = {n}", float(ours), published, truth, both))
            z, z_paper = (ours - truth) / error, (published - truth) / error
            numbers = [f"{truth:.3f}", f"{ours:.3f}", f"{error:.3f}", f"{z:+.1f}", "OK" if abs(z) <= LIMIT else "ABOVE"]
            rows.append([str(n), f"{what} of {name}", *numbers, f"{published:.2f}", f"{z_paper:+.1f}", *shares])
            shares = ["", ""]
    return rows, verdicts


def run(options: Options) -> Result:
    """Print the table."""
    n_runs = 5_000 if options.quick else N_RUNS
    rows: list[list[str]] = []
    result = Result(repeats=fewer(runs=(n_runs, N_RUNS)))
    for n in SIZES:
        printed, verdicts = lines(n, n_runs)
        rows += printed
        result.rows.extend(verdicts)
    print(f"est: power law {ALPHA:g}, k = {K}, {n_runs:,} runs; OK: within {LIMIT:g} standard errors")
    print(machine())
    print(table(HEADER, rows))
    return result
