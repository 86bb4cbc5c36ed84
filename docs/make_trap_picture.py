"""Draw the picture of the-trap.md, ``docs/the-trap.png``, and print its table: ``python docs/make_trap_picture.py``."""

import numpy as np
from matplotlib import pyplot
from sklearn.ensemble import GradientBoostingRegressor
from small_png import save

import fasthdmr

SEEDS = range(10)
WAYS = {
    'basis="trees"': {"basis": "trees"},
    'basis="spline"': {},
    'basis="spline", smooth=False': {"smooth": False},
}


def decompose(rho: float, seed: int) -> dict[str, fasthdmr.TreeHDMR]:
    """Decompose one boosted ensemble of depth 2 in each way."""
    X, y = fasthdmr.datasets.make_bilinear_gaussian(5000, rho=rho, random_state=seed)
    model = GradientBoostingRegressor(n_estimators=500, max_depth=2, random_state=0).fit(X, y)
    return {way: fasthdmr.TreeHDMR(model, **settings).fit(X) for way, settings in WAYS.items()}


def exact_interaction(a: np.ndarray, b: np.ndarray, rho: float) -> np.ndarray:
    """Return the interaction of 1 + x1 + x2 + x1 x2 under standard Gaussians with correlation rho."""
    r = rho / (1 + rho**2)
    return a * b - r * (a**2 + b**2 - 2) - rho


def exact_structural(rho: float) -> tuple[float, float, float]:
    """Return the true Sa of x1, x2 and of both."""
    variance = rho**2 + 2 * rho + 3
    single = (1 + 2 * rho**2 / (1 + rho**2) ** 2) / variance
    return single, single, (1 - rho**2) ** 2 / (1 + rho**2) / variance


def structural(hdmr: fasthdmr.TreeHDMR) -> list[float]:
    """Return Sa of x1, x2 and of both; a component that does not exist has none."""
    found = dict(zip(hdmr.subspaces_, hdmr.sensitivity_.Sa, strict=True))
    return [float(found.get(u, 0.0)) for u in ((0,), (1,), (0, 1))]


def print_table() -> None:
    """Print the index table of the page: means over seeds, least and largest."""
    print("| correlation | | Sᵃ of x1 | Sᵃ of x2 | Sᵃ of x1, x2 | residual |")
    print("|---|---|---|---|---|---|")
    for rho in (0.0, 0.5):
        runs = [decompose(rho, seed) for seed in SEEDS]
        for way in WAYS:
            rows = np.array([[*structural(run[way]), run[way].residual_] for run in runs])
            cells = [f"{v.mean():.3f} ({v.min():.3f} … {v.max():.3f})" for v in rows[:, :3].T]
            print(f"| {rho} | `{way}` | {' | '.join(cells)} | {abs(rows[:, 3].mean()):.3f} |")
        print(f"| {rho} | exact | {' | '.join(f'{value:.3f}' for value in exact_structural(rho))} | 0 |")


def draw(runs: dict[str, fasthdmr.TreeHDMR], rho: float = 0.0) -> None:
    """Draw the interaction in two ways and the exact one, with one scale of colours."""
    grid = np.linspace(-2, 2, 81)
    a, b = np.meshgrid(grid, grid)
    points = np.column_stack([a.ravel(), b.ravel()])
    shown = list(WAYS)[:2]
    maps = [runs[way].component((0, 1))(points).reshape(a.shape) for way in shown]
    maps.append(exact_interaction(a, b, rho))
    indices = [*(structural(runs[way]) for way in shown), exact_structural(rho)]
    figure, axes = pyplot.subplots(1, 3, figsize=(10.5, 4), layout="compressed", sharey=True)
    titles = [f"{shown[0]}: the trap", f"{shown[1]}: the cure", "exact: x1 · x2"]
    for ax, values, title, Sa in zip(axes, maps, titles, indices, strict=True):
        image = ax.pcolormesh(grid, grid, values, cmap="RdBu_r", vmin=-4, vmax=4)
        ax.contour(grid, grid, values, levels=[0], colors="black", linewidths=0.8)
        ax.set_title(f"{title}\nstructural index of f12: {Sa[2]:.2f}")
        ax.set_xlabel("x1")
        ax.set_aspect("equal")
    axes[0].set_ylabel("x2")
    figure.colorbar(image, ax=axes, label="f12", extend="both")
    save(figure, "the-trap")


def main() -> None:
    """Print the table and draw the picture."""
    print_table()
    runs = decompose(0.0, seed=0)
    for way, hdmr in runs.items():
        print(f"\n{way}\n{hdmr.sensitivity_}")
    draw(runs)


if __name__ == "__main__":
    main()
