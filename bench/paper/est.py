"""Table est: means and variances of chi2 and of its HDMR statistic, power law 1/2, k = 2,500, from 50,000 runs."""

from __future__ import annotations

import math

import numpy as np

from bench.paper.options import Options
from bench.report import machine, table
from fasthdmr import chisquare

K, ALPHA = 2500, 0.5
SIZES = (5000, 500, 50)
LIMIT = 4.0  # standard errors
# Means of chi2 and hdmr, variances of chi2 and hdmr.
PAPER = {
    5000: (2499.20, 2499.18, 5464.45, 5054.05),
    500: (2498.84, 2498.83, 9023.85, 5032.56),
    50: (2499.30, 2499.45, 44188.40, 5014.13),
}
HEADER = ["n", "", "exact", "ours", "standard error", "z", "", "paper", "z", "S_i", "S_ij"]


def lines(n: int, n_runs: int) -> list[list[str]]:
    """Return the rows of one n."""
    p = chisquare.power_law(K, ALPHA)
    exact, found = chisquare.moments(p, n), chisquare.simulate(p, n, n_runs, random_state=0, n_jobs=2)
    shares = [f"{exact.first_order:.5f}", f"{exact.second_order:.5f}"]
    rows = []
    for name, values, variance in [
        ("chi2", found.chi2, exact.variance_chi2),
        ("hdmr", found.hdmr, exact.variance_hdmr),
    ]:
        fourth = float(np.mean((values - exact.mean) ** 4))
        errors = math.sqrt(variance / n_runs), math.sqrt((fourth - variance**2) / n_runs)
        paper = PAPER[n][name == "hdmr" :: 2]
        quantities = [("mean", exact.mean, values.mean()), ("variance", variance, values.var(ddof=1))]
        for (what, truth, ours), error, published in zip(quantities, errors, paper, strict=True):
            z, z_paper = (ours - truth) / error, (published - truth) / error
            numbers = [f"{truth:.3f}", f"{ours:.3f}", f"{error:.3f}", f"{z:+.1f}", "OK" if abs(z) <= LIMIT else "ABOVE"]
            rows.append([str(n), f"{what} of {name}", *numbers, f"{published:.2f}", f"{z_paper:+.1f}", *shares])
            shares = ["", ""]
    return rows


def run(options: Options) -> None:
    """Print the table."""
    n_runs = 5_000 if options.quick else 50_000
    rows = [row for n in SIZES for row in lines(n, n_runs)]
    print(f"est: power law {ALPHA:g}, k = {K}, {n_runs:,} runs; OK: within {LIMIT:g} standard errors")
    print(machine())
    print(table(HEADER, rows))
