"""Figure depend: the effect of x1 by HDMR, by both partial dependences, and by partial dependence of GBRs."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.paper.bilinear import DEPTH, N_ROWS, N_TREES, boosted, points, polynomial
from bench.paper.figures import LINES, drawing
from bench.paper.options import Options
from bench.paper.result import Result, Row, claim, fewer
from bench.report import machine, table
from fasthdmr.inspection import partial_dependence

RHOS = (0.0, 0.5, 0.9)
REPEATS = 30
QUICK_TREES, QUICK_REPEATS = 100, 5
GRID = np.linspace(-3, 3, 61)
ACCURACY = 0.05  # of curves that are linear between the points of a grid
SHOWN = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
PERCENTILES = (2.5, 97.5)


def closed_forms(rho: float, x: np.ndarray) -> dict[str, np.ndarray]:
    """Return the functions of x1, each with mean 0."""
    return {
        "HDMR": polynomial(rho).component(0)(x),
        "PD marginal": x,
        "PD conditional": x + rho * (x**2 + x - 1),
    }


def curve(model: Any, X: np.ndarray, kind: Any, x: np.ndarray) -> np.ndarray:
    """Return the centred partial dependence on x1."""
    step = max(1, len(X) // 1000)
    own = np.sort(X[:, 0])[step // 2 :: step]
    values = partial_dependence(model, X, 0, kind=kind, custom_values={0: np.concatenate([x, own])}).average[0]
    return values[: len(x)] - values[len(x) :].mean()


def of_boosting(rho: float, n_trees: int, repeats: int, x: np.ndarray) -> np.ndarray:
    """Return the curve of every GBR, (repeats, len(x))."""
    return np.array([curve(*boosted(rho, seed, n_trees), "marginal", x) for seed in range(repeats)])


def run(options: Options) -> Result:
    """Print the functions at a few points, and draw them."""
    n_trees, repeats = options.n_trees(N_TREES, QUICK_TREES), options.n_repeats(REPEATS, QUICK_REPEATS)
    rows: list[list[str]] = []
    path = options.out / "depend.png"
    result = Result([], [path], fewer(trees=(n_trees, N_TREES)), fewer(repeats=(repeats, REPEATS)))
    with drawing(path, (1, 3), (9.6, 3.9)) as (figure, axes):
        for rho, place in zip(RHOS, axes[0], strict=True):
            grid = np.concatenate([GRID, SHOWN])
            boosting = of_boosting(rho, n_trees, repeats, grid)
            _panel(place, rho, boosting[:, : len(GRID)])
            found = _functions(rho, boosting[:, len(GRID) :])
            rows += [[f"{rho:g}", name, *(f"{v:.3f}" for v in values)] for name, values in found.items()]
            result.rows.extend(_verdicts(rho, found))
        axes[0, 0].set(ylabel="what $x_1$ adds to f (units of f)")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5)
    print("depend: what x1 does in 1 + x1 + x2 + x1 x2 of standard Gaussians with correlation rho, means taken off")
    print(f"PD (GBR): {repeats} fits (paper: 30), {n_trees} trees of depth {DEPTH}, {N_ROWS} rows")
    print("computed: by partial_dependence of f over points that stand for the law")
    print(machine())
    print(table(["rho", "function", *(f"x1 = {x:g}" for x in SHOWN)], rows))
    return result


def _panel(axes: Any, rho: float, boosting: np.ndarray) -> None:
    for (name, values), (colour, style) in zip(closed_forms(rho, GRID).items(), LINES, strict=False):
        axes.plot(GRID, values, color=colour, linestyle=style, label=name)
    colour, style = LINES[3]
    low, high = np.percentile(boosting, PERCENTILES, axis=0)
    axes.plot(GRID, boosting.mean(axis=0), color=colour, linestyle=style, label="PD (GBR), mean")
    axes.fill_between(GRID, low, high, color=colour, alpha=0.25, linewidth=0, label="PD (GBR), 2.5–97.5 %")
    axes.set(title=f"ρ = {rho:g}", xlabel="$x_1$ (standard deviations)", xlim=(-3, 3), ylim=(-4.5, 13.5))


def _functions(rho: float, boosting: np.ndarray) -> dict[str, np.ndarray]:
    """Return all functions at the points that are shown."""
    found = dict(closed_forms(rho, SHOWN))
    for kind in ("marginal", "conditional"):
        found[f"PD {kind}, computed"] = curve(polynomial(rho), points(rho), kind, SHOWN)
    low, high = np.percentile(boosting, PERCENTILES, axis=0)
    return found | {"PD (GBR), mean": boosting.mean(axis=0), "PD (GBR), 2.5 %": low, "PD (GBR), 97.5 %": high}


def _verdicts(rho: float, found: dict[str, np.ndarray]) -> list[Row]:
    """Return the verdicts on the curves, and on the paper's statements about boosting."""
    rows = []
    for kind in ("marginal", "conditional"):
        off = np.abs(found[f"PD {kind}, computed"] - found[f"PD {kind}"]).max()
        what = f"PD {kind}, ρ = {rho:g}: largest difference from the paper's formula, x1 in [−2, 2]"
        rows.append(claim(what, off <= ACCURACY, f"at most {ACCURACY:g}", ours=off))
    low, high = found["PD (GBR), 2.5 %"], found["PD (GBR), 97.5 %"]
    outside = [(found[name] < low) | (found[name] > high) for name in ("HDMR", "PD marginal")]
    both = int((outside[0] & outside[1]).sum())
    if rho == 0:
        what, holds = "“when ρ = 0, the four coincide”: points of 5 where HDMR and PD leave the band of GBRs", both == 0
        return [*rows, claim(what, holds, "none", ours=both, because="boosting flattens where there are few rows")]
    what = f"“PD (GBR) significantly deviates from both”, ρ = {rho:g}: points of 5 where both are outside its band"
    because = (
        "ours averages over rows, which is the marginal PD; along paths of trees, as in the paper, it does deviate"
    )
    return [*rows, claim(what, both > 0, "at least one", ours=both, because=because)]
