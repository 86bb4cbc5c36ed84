"""Figure anova: the effect of x1 in a polynomial KernelRidge, by HDMR on the rows, exactly, and by an ANOVA kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge

from bench.paper.bilinear import N_ROWS, polynomial
from bench.paper.figures import LINES, drawing
from bench.paper.options import Options
from bench.paper.result import Result, Row, claim, fewer, near
from bench.report import machine, table
from fasthdmr import KernelHDMR
from fasthdmr.kernels import AnovaKernel

RHO, PENALTY, DEGREE = 0.5, 1e-6, 2
REPEATS, QUICK_REPEATS = 30, 5
GRID = np.linspace(-3, 3, 61)
EMPIRICAL, MOMENTS, ANOVA = "HDMR, the rows", "HDMR, Gaussian moments", "ANOVA kernel"
# A prototype's means and standard deviations over 30 other samples: constant, linear, quadratic; the last without.
GOLDEN = {
    EMPIRICAL: ((-0.40692660213414716, 0.9856465690348347, 0.4116679894922818), (0.0387, 0.0585, 0.0318)),
    ANOVA: ((None, 0.9894914928820966, -2.466285670417384e-10), None),
}
POWERS = ("constant", "x1", "x1²")


def exact(x: np.ndarray) -> np.ndarray:
    """Return the component of x1 of 1 + x1 + x2 + x1 x2 under the Gaussian law."""
    return polynomial(RHO).component(0)(x)


def functions(seed: int) -> dict[str, np.ndarray]:
    """Return the effects of x1 on the grid, in the machines of one random sample."""
    f = polynomial(RHO)
    X = f.sample(N_ROWS, random_state=seed)
    ridge = KernelRidge(kernel="poly", degree=DEGREE, gamma=1.0, coef0=1.0, alpha=PENALTY).fit(X, f(X))
    kernel = AnovaKernel(DEGREE).fit(X)
    anova = KernelRidge(kernel=kernel, alpha=PENALTY).fit(X, f(X))
    # The kernel's own term of x1: k_1, where the kernel is the product of 1 + k_i.
    at_grid, at_rows = (kernel.powers(np.column_stack([x, x]))[:, 0] for x in (GRID, X[:, 0]))
    gaussian = KernelHDMR(ridge, measure=(f.mean, f.cov)).fit(X)
    return {
        EMPIRICAL: KernelHDMR(ridge).fit(X).component(0)(GRID),
        MOMENTS: gaussian.component(0)(GRID),
        ANOVA: at_grid * kernel.weights @ at_rows.T @ anova.dual_coef_,
    }


def coefficients(values: np.ndarray) -> np.ndarray:
    """Return constant, linear and quadratic coefficient of functions on the grid, (..., 3)."""
    return np.polynomial.polynomial.polyfit(GRID, np.atleast_2d(values).T, DEGREE).T


def run(options: Options) -> Result:
    """Print coefficients beside the prototype's, and draw the functions."""
    repeats = options.n_repeats(REPEATS, QUICK_REPEATS)
    samples = [functions(seed) for seed in range(repeats)]
    found = {name: np.array([sample[name] for sample in samples]) for name in samples[0]}
    print("anova: f1 of x1 in 1 + x1 + x2 + x1 x2 of standard Gaussians with correlation 0.5")
    print(f"KernelRidge, degree {DEGREE}, penalty {PENALTY:g}, {repeats} samples (paper: 30) of {N_ROWS} rows")
    print(machine())
    rows = [["exact", "", *(f"{c:.4f}" for c in coefficients(exact(GRID))[0])]]
    for name, values in found.items():
        each = coefficients(values)
        rows.append([name, "mean", *map(_number, each.mean(axis=0))])
        rows.append(["", "sd", *map(_number, each.std(axis=0))])
        if name in GOLDEN:
            mean, sd = GOLDEN[name]
            rows.append(["", "golden mean", *map(_number, mean)])
            rows += [["", "golden sd", *map(_number, sd)]] if sd else []
    print(table(["function", "", *POWERS], rows))
    notes = ["The paper draws one sample; here are the mean and the band of several."]
    repeated = fewer(samples=(repeats, REPEATS))
    return Result(verdicts(found), [_draw(found, options)], repeats=repeated, notes=notes)


def verdicts(found: dict[str, np.ndarray]) -> list[Row]:
    """Return the verdicts on the quadratic coefficients."""
    quadratic = {name: coefficients(values)[:, 2] for name, values in found.items()}
    repeats, mean = len(quadratic[EMPIRICAL]), {name: values.mean() for name, values in quadratic.items()}
    golden, sd = (float(numbers[2]) for numbers in GOLDEN[EMPIRICAL])
    tolerance = 4 * sd * np.sqrt(1 / repeats + 1 / 30)
    exact_value = RHO / (1 + RHO**2)
    words = "“does not use the correlative information”"
    return [
        near(
            f"quadratic coefficient of f1, {EMPIRICAL}",
            mean[EMPIRICAL],
            None,
            tolerance,
            target=golden,
            of="a prototype's",
        ),
        near(f"quadratic coefficient of f1, {MOMENTS}", mean[MOMENTS], exact_value, 1e-6, of="the paper's formula"),
        claim(f"{words}: quadratic coefficient, {ANOVA}", abs(mean[ANOVA]) < 1e-6, "0 to 1e-6", ours=mean[ANOVA]),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}" if abs(value) > 1e-4 else f"{value:.0e}"


def _draw(found: dict[str, np.ndarray], options: Options) -> Path:
    path = options.out / "anova.png"
    with drawing(path) as (_, axes):
        place: Any = axes[0, 0]
        for (name, values), (colour, style) in zip(
            {"exact": exact(GRID)[None], EMPIRICAL: found[EMPIRICAL], ANOVA: found[ANOVA]}.items(), LINES, strict=False
        ):
            label = name if len(values) == 1 else f"{name}: mean"
            place.plot(GRID, values.mean(axis=0), color=colour, linestyle=style, label=label)
            if len(values) > 1:
                low, high = np.percentile(values, [2.5, 97.5], axis=0)
                band = f"{name}: 2.5–97.5 %"
                place.fill_between(GRID, low, high, color=colour, alpha=0.2, linewidth=0, label=band)
        place.set(xlabel="$x_1$ (standard deviations)", ylabel="$f_1$ (units of f)", xlim=(-3, 3))
        place.legend(loc="upper left")
    return path
