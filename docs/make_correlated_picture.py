"""Draw the picture of correlated-inputs.md, ``docs/correlated-inputs.png``: ``python docs/make_correlated_picture.py``.

Above, the indices of x1 and x2 for 1 + x1 + x2 + x1 x2 at every correlation; below, the effect of x1, by HDMR and by
partial dependence. All lines but the boosted ones are closed forms (paper, figures "corr", "corrpd" and "depend").
"""

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot
from sklearn.ensemble import GradientBoostingRegressor
from small_png import save

import fasthdmr
from fasthdmr.analytic import GaussianQuadratic

mpl.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})

# Okabe and Ito's colours, and a line style each.
STYLES = {
    "HDMR": {"color": "#0072B2", "linewidth": 2.2},
    "partial dependence, marginal": {"color": "#D55E00", "linestyle": "--"},
    "partial dependence, conditional": {"color": "#009E73", "linestyle": "-."},
    "of boosted trees, marginal": {"color": "#CC79A7", "linestyle": ":"},
}
HDMR, MARGINAL, CONDITIONAL, BOOSTED = STYLES
CORRELATIONS = np.linspace(-1, 1, 201)
SHOWN = (0.0, 0.5, 0.9)
GRID = np.linspace(-3, 3, 61)
SEEDS = range(10)


def polynomial(rho: float) -> GaussianQuadratic:
    """Return 1 + x1 + x2 + x1 x2 of standard Gaussians with correlation rho."""
    return GaussianQuadratic([0, 0], [[1, rho], [rho, 1]], 1, [1, 1], [[0, 0.5], [0.5, 0]])


def of_order_1() -> dict[str, np.ndarray]:
    """Return Sa, Sb and S of x1 and x2 together at every correlation, (3, len(CORRELATIONS))."""
    found = [polynomial(rho).sensitivity() for rho in CORRELATIONS]
    r, V = CORRELATIONS, CORRELATIONS**2 + 2 * CORRELATIONS + 3
    pairs = {
        HDMR: [np.array([s.Sa[:2].sum() for s in found]), np.array([s.Sb[:2].sum() for s in found])],
        MARGINAL: [2 / V, 2 * r / V],
        CONDITIONAL: [(6 * r**2 + 4 * r + 2) / V, 2 * r * (2 * r**3 + r**2 + 2 * r + 1) / V],
    }
    return {name: np.array([Sa, Sb, Sa + Sb]) for name, (Sa, Sb) in pairs.items()}


def curves(rho: float) -> dict[str, np.ndarray]:
    """Return the effects of x1, curves of mean 0."""
    return {HDMR: polynomial(rho).component(0)(GRID), MARGINAL: GRID, CONDITIONAL: GRID + rho * (GRID**2 + GRID - 1)}


def boosted(rho: float, seed: int) -> np.ndarray:
    """Return the centred marginal partial dependence of boosted trees of depth 4 on x1."""
    f = polynomial(rho)
    X = f.sample(1000, random_state=seed)
    model = GradientBoostingRegressor(n_estimators=500, max_depth=4, random_state=seed).fit(X, f(X))
    at = {0: np.concatenate([GRID, X[:, 0]])}
    values = fasthdmr.inspection.partial_dependence(model, X, 0, custom_values=at).average[0]
    return values[: len(GRID)] - values[len(GRID) :].mean()


def draw_indices(axes: Any) -> None:
    """Draw Sa, Sb and S of the main effects against the correlation."""
    titles = ("structural Sᵃ", "correlative Sᵇ", "overall S = Sᵃ + Sᵇ")
    for name, values in of_order_1().items():
        for ax, line in zip(axes, values, strict=True):
            ax.plot(CORRELATIONS, line, **STYLES[name])
    for ax, title in zip(axes, titles, strict=True):
        ax.axhline(0, color="0.7", linewidth=0.8, zorder=0)
        ax.set(title=f"{title} of x1 and x2", xlabel="correlation ρ", xlim=(-1, 1))
    axes[2].axhspan(1, 4, color="0.5", alpha=0.15, linewidth=0)
    axes[2].text(0, 2.4, "more than all\nof the variance", ha="center", color="0.3")
    axes[0].set_ylabel("share of the variance")


def draw_curves(axes: Any) -> None:
    """Draw the effect of x1 at three correlations."""
    for ax, rho in zip(axes, SHOWN, strict=True):
        for name, line in curves(rho).items():
            ax.plot(GRID, line, label=name, **STYLES[name])
        runs = np.array([boosted(rho, seed) for seed in SEEDS])
        ax.plot(GRID, runs.mean(axis=0), label=BOOSTED, **STYLES[BOOSTED])
        ax.fill_between(
            GRID, runs.min(axis=0), runs.max(axis=0), color=STYLES[BOOSTED]["color"], alpha=0.25, linewidth=0
        )
        ax.set(title=f"what x1 does at ρ = {rho:g}", xlabel="x1", xlim=(-3, 3), ylim=(-4.5, 13))
    axes[0].set_ylabel("added to f")


def main() -> None:
    """Draw the picture."""
    figure, axes = pyplot.subplots(2, 3, figsize=(10, 6.2), layout="constrained")
    draw_indices(axes[0])
    draw_curves(axes[1])
    handles, labels = axes[1, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    save(figure, "correlated-inputs")


if __name__ == "__main__":
    main()
