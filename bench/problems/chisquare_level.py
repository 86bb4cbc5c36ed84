"""Level and power of `chisquare.test`, by simulation: uniform and power law, from many draws a category to few."""

from __future__ import annotations

import math

import numpy as np

from bench.goals import Goal, at_most
from bench.report import machine, table
from fasthdmr import chisquare
from fasthdmr.chisquare.exact_moments import inverse_of
from fasthdmr.chisquare.goodness_of_fit import null_laws
from fasthdmr.chisquare.laws import Law

SIZES = ((2500, 5000), (2500, 500), (2500, 50), (10**6, 1000))  # k, n
ALPHAS = (0.0, 0.5)
LEVELS = (0.05, 0.01)
LIMIT = 4.0  # standard errors
HEADER = ["p", "statistic", "k", "n", "lambda", "law", "at 5 %", "own", "z", "at 1 %", "own", "z", ""]
POWER_HEADER = ["p", "alternative", "k", "n", "lambda", "power at 5 %: chi2", "hdmr", "shift of hdmr, sd"]
NOTES = """\
at 5 %: the share of samples with p-value <= 0.05. own: the exact level of the test according to the law. It is below
the nominal one if the statistic has few values, because no critical value attains that. z: share - own in standard
errors, of this simulation and of the law itself if it is simulated; OK: all below 4."""
POWER_NOTES = """\
ripple: p times 1 + e and 1 - e in turn, e such that hdmr moves by two standard deviations, at most 0.9. exponent +-1/4:
a power law of another exponent. Both statistics use the laws of the first table."""


def rejected(law: Law, values: np.ndarray, level: float) -> tuple[float, float]:
    """Return the share with p-value <= level, and the p-value of the least of these: p-values fall as values rise."""
    values = np.sort(values)
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if law.sf(float(values[middle])) <= level else (middle + 1, high)
    return 1 - low / len(values), law.sf(float(values[low])) if low < len(values) else 0.0


def level_row(p_name: str, name: str, k: int, n: int, law: Law, values: np.ndarray) -> tuple[list[str], Goal]:
    """Return a line of the first table, and the goal for its largest error."""
    cells, worst = [], 0.0
    for level in LEVELS:
        share, own = rejected(law, values, level)
        error = math.hypot(math.sqrt(level * (1 - level) / len(values)), law.standard_error(own) or 0.0)
        worst = max(worst, abs(share - own) / error)
        cells += [f"{share:.4f}", f"{own:.4f}", f"{(share - own) / error:+.1f}"]
    goal = at_most(f"{p_name}, k = {k}, n = {n}: standard errors of {name}", worst, LIMIT)
    return [p_name, name, str(k), str(n), f"{n / math.sqrt(k):g}", law.name, *cells, goal.verdict()], goal


def alternatives(p: np.ndarray, n: int, alpha: float) -> dict[str, np.ndarray]:
    """Return named alternatives to p."""
    k = len(p)
    e = min(0.9, math.sqrt(2 * math.sqrt(2 * k) / n))
    ripple = p * (1 + e * (-1.0) ** np.arange(k))
    found = {f"ripple {e:.2f}": ripple / ripple.sum(), "exponent +1/4": chisquare.power_law(k, alpha + 0.25)}
    if alpha > 0:
        found["exponent -1/4"] = chisquare.power_law(k, alpha - 0.25)
    return found


def sample_statistics(q: np.ndarray, p: np.ndarray, n: int, n_runs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return chi2 and hdmr, for the hypothesis p, of samples from q."""
    rng, cumulated = np.random.default_rng(seed), np.cumsum(q)
    cumulated[-1] = 1.0
    chi2, hdmr = np.empty(n_runs), np.empty(n_runs)
    for run in range(n_runs):
        seen, N = np.unique(np.searchsorted(cumulated, rng.random(n), side="right"), return_counts=True)
        S, U = (N / p[seen]).sum(), (N * (N - 1) / p[seen]).sum()
        hdmr[run] = U / n - n + len(p)
        chi2[run] = hdmr[run] + S / n - len(p)
    return chi2, hdmr


def run(*, quick: bool, repeats: int) -> list[Goal]:
    """Simulate and print; `repeats` is ignored."""
    n_runs, n_power = (2_000, 200) if quick else (100_000, 4_000)
    levels, powers, goals = [], [], []
    for k, n in SIZES:
        for alpha in ALPHAS:
            p, p_name = chisquare.power_law(k, alpha), "power law 1/2" if alpha else "uniform"
            laws = null_laws(n, inverse_of(p), p, n_jobs=2)
            found = chisquare.simulate(p, n, n_runs, random_state=1, n_jobs=2)
            for name, law, values in zip(("chi2", "hdmr"), laws, (found.chi2, found.hdmr), strict=True):
                line, goal = level_row(p_name, name, k, n, law, values)
                levels.append(line)
                goals.append(goal)
            sd = math.sqrt(chisquare.moments(p, n).variance_hdmr)
            for alternative, q in alternatives(p, n, alpha).items():
                both = sample_statistics(q, p, n, n_power, seed=2)
                shares = [f"{rejected(law, v, 0.05)[0]:.3f}" for law, v in zip(laws, both, strict=True)]
                shift = (both[1].mean() - (k - 1)) / sd
                row = [p_name, alternative, str(k), str(n), f"{n / math.sqrt(k):g}", *shares, f"{shift:.2f}"]
                powers.append(row)
    print(f"chisquare_level: {n_runs:,} samples from p, {n_power:,} from every alternative")
    print(machine())
    print(f"\n{table(HEADER, levels)}\n\n{NOTES}\n\n{table(POWER_HEADER, powers)}\n\n{POWER_NOTES}")
    return goals
