"""Table boot and figure boot_tp: the more variation, the worse boosting learns a product; both from the same fits."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from bench.paper.figures import ORDERED, drawing
from bench.paper.options import Options
from bench.paper.result import Result, Row, claim, fewer, near
from bench.report import machine, table

N_FEATURES, N_ROWS, DEPTH = 10, 10_000, 6
N_TREES, REPEATS = 300, 3
QUICK_TREES, QUICK_REPEATS = 100, 2
PAPER_TREES, PAPER_REPEATS = 5000, 50
# Parameters of the Beta law, and the paper's mean and deviation of the test error, by rho.
LAWS = {0.25: (7.5, 7.5), 0.5: (1.5, 1.5), 1.0: (0.5, 1.5)}
PAPER = {0.25: (0.1207, 0.0145), 0.5: (0.3866, 0.1160), 1.0: (10.1248, 45.55)}


def trial(rho: float, seed: int, n_trees: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return true and predicted values of a test part, in units of f, and the mean squared error, standardised."""
    X = np.random.default_rng(seed).beta(*LAWS[rho], (N_ROWS, N_FEATURES))
    y = X.prod(axis=1)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed)  # 75 to 25
    inputs, output = StandardScaler().fit(X_train), StandardScaler().fit(y_train[:, None])
    model = GradientBoostingRegressor(n_estimators=n_trees, max_depth=DEPTH, random_state=seed)
    model.fit(inputs.transform(X_train), output.transform(y_train[:, None])[:, 0])
    predicted = output.inverse_transform(model.predict(inputs.transform(X_test))[:, None])[:, 0]
    return y_test, predicted, float(np.mean((predicted - y_test) ** 2) / output.var_[0])


def verdict(rho: float, errors: np.ndarray) -> Row:
    """Return the verdict on a mean error, from the paper's deviation."""
    mean, sd = PAPER[rho]
    row = near(
        f"mean squared error, ρ = {rho:g}", errors.mean(), mean, 4 * sd * np.sqrt(1 / len(errors) + 1 / PAPER_REPEATS)
    )
    if sd < mean:
        return row
    # Four standard errors extend below 0, so no small error could disagree.
    return replace(row, agrees=None, because=f"cannot be told: the deviation over repeats, {sd:g}, is above the mean")


def run(options: Options) -> Result:
    """Print the errors; draw predicted against true values of all test parts."""
    n_trees, repeats = options.n_trees(N_TREES, QUICK_TREES), options.n_repeats(REPEATS, QUICK_REPEATS)
    rows, verdicts, medians, path = [], [], [], options.out / "boot_tp.png"
    with drawing(path, (1, 3), (9.6, 4.1)) as (figure, axes):
        for rho, place in zip(LAWS, axes[0], strict=True):
            true, predicted, errors = zip(*(trial(rho, seed, n_trees) for seed in range(repeats)), strict=True)
            density = _panel(place, rho, np.concatenate(true), np.concatenate(predicted))
            figure.colorbar(density, ax=place, location="bottom", label="test points in a cell")
            verdicts.append(verdict(rho, np.array(errors)))
            medians.append(float(np.median(errors)))
            found = [np.mean(errors), np.std(errors), np.median(errors), min(errors), max(errors)]
            rows.append([f"{rho:g}", f"Beta{LAWS[rho]}", *(f"{v:.4f}" for v in (*found, *PAPER[rho]))])
        axes[0, 0].set(ylabel="predicted value (units of f)")
    print(f"boot: f = x_1 ⋯ x_{N_FEATURES}, {N_ROWS} points, a quarter of them to test with; mean squared error there,")
    print(f"over the variance of the rest; {repeats} repeats (paper: 50); GBR of depth {DEPTH}, {n_trees} trees")
    print("(paper: 5000). boot_tp: the density of predicted against true values of all test parts.")
    print("At rho = 1 the error has a heavy tail: its mean is that of the worst repeats, see the median.")
    print(machine())
    print(table(["rho", "law", "mean", "sd", "median", "least", "largest", "paper mean", "sd"], rows))
    rising = bool((np.diff(medians) > 0).all())
    verdicts.append(claim("the more variation, the larger the error", rising, "medians rise with ρ"))
    cuts, repeated = fewer(trees=(n_trees, PAPER_TREES)), fewer(repeats=(repeats, PAPER_REPEATS))
    return Result(verdicts, [path], cuts, repeated, ["The paper does not say how it splits the rows: here 75 to 25."])


def _panel(axes: Any, rho: float, true: np.ndarray, predicted: np.ndarray) -> Any:
    """Draw the density of points, on axes that are linear up to the mean of f and logarithmic beyond."""
    from matplotlib.colors import LogNorm

    mean = (LAWS[rho][0] / sum(LAWS[rho])) ** N_FEATURES
    largest = max(true.max(), predicted.max())
    x, y = (_edges(least, largest, mean) for least in (0.0, min(0.0, predicted.min())))
    *_, density = axes.hist2d(true, predicted, bins=(x, y), norm=LogNorm(), cmap=ORDERED)
    axes.axline((0, 0), slope=1, color="black", linewidth=0.8, linestyle="--")
    axes.set_xscale("asinh", linear_width=mean)
    axes.set_yscale("asinh", linear_width=mean)
    for axis, edges in ((axes.xaxis, x), (axes.yaxis, y)):
        ticks = _ticks(edges[0], edges[-1], mean)
        axis.set_ticks(list(ticks), list(ticks.values()))
    axes.minorticks_off()
    axes.set(title=f"ρ = {rho:g}", xlabel="true value (units of f)", xlim=x[[0, -1]], ylim=y[[0, -1]])
    axes.set_box_aspect(1)
    return density


def _edges(low: float, high: float, scale: float) -> np.ndarray:
    """Return edges of cells of equal size on the axes, from a little below to a little above the range."""
    ends = np.arcsinh(low / scale) - 0.05, np.arcsinh(high / scale) + 0.05
    return scale * np.sinh(np.linspace(*ends, 61))


def _ticks(low: float, high: float, scale: float) -> dict[float, str]:
    """Return 0 and round numbers beyond the linear part of the axes, of both signs."""
    ticks = {0.0: "0"}
    digits = (1,) if high > 30 * scale else (1, 2, 5)
    for digit, exponent in product(digits, range(round(np.log10(scale)), 1)):
        power = f"10^{{{exponent}}}" if digit == 1 else f"{digit} \\cdot 10^{{{exponent}}}"
        ticks |= {digit * 10.0**exponent: f"${power}$", -digit * 10.0**exponent: f"$-{power}$"}
    return {value: label for value, label in ticks.items() if low <= value <= high}
