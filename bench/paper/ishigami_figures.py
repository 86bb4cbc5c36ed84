"""Figures ishigami12 and ishigami3, and those of forests: components of I_3 beside the analytic ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.ishigami import interaction, main_effects
from bench.paper.figures import BLUE, ORANGE, SIGNED, drawing
from bench.paper.ishigami import N_ROWS, N_TREES, component, decomposed
from bench.paper.options import Options
from bench.paper.result import Result, Row, claim, near
from bench.report import machine, table

DEGREE = 4
GRID = np.linspace(-np.pi, np.pi, 301)
TICKS = {-np.pi: "−π", -np.pi / 2: "−π/2", 0.0: "0", np.pi / 2: "π/2", np.pi: "π"}
# Our criteria for the paper's statements: "closely", "poorly in comparison", "qualitatively reproduced".
CLOSE, POOR, ALIKE = 0.2, 2.0, 0.9
PAPER_S13 = 0.20  # table scsa_ishi, I_3
NAMES = {"gbr": "GBR", "rf": "RF"}


def error(ours: np.ndarray, exact: np.ndarray) -> float:
    """Return the relative L2 error on the rows."""
    return float(np.linalg.norm(ours - exact) / np.linalg.norm(exact))


def main_errors(kind: str) -> np.ndarray:
    """Return the errors of f_1 and f_2 (rows): of the trees, and of their projection on a Fourier series."""
    X, hdmr = decomposed(kind)
    found = []
    for i, exact in enumerate(main_effects(X)):
        raw = component(hdmr, (i,), X[:, [i]])
        smooth = hdmr.component((i,)).fourier(DEGREE)(X[:, i]) if (i,) in hdmr.subspaces_ else raw
        found.append((error(raw, exact), error(smooth, exact)))
    return np.array(found)


def interaction_error(kind: str) -> float:
    """Return the error of f_13."""
    X, hdmr = decomposed(kind)
    return error(component(hdmr, (0, 2), X[:, [0, 2]]), interaction(X[:, [0, 2]]))


def ishigami12(options: Options, kind: str = "gbr") -> Result:
    """Draw f_1 and f_2: of the trees, smoothed, analytic."""
    name = "ishigami12" if kind == "gbr" else "ishigami12_rf"
    result = Result([], [options.out / f"{name}.png"])
    _, hdmr = decomposed(kind)
    with drawing(result.figures[0], (1, 2), (8.4, 3.6)) as (figure, axes):
        for i, place in enumerate(axes[0]):
            _curves(place, hdmr, i, NAMES[kind])
            if (i,) not in hdmr.subspaces_:
                place.set(title=f"no tree on $x_{i + 1}$ alone: no component")
                result.notes.append(f"No tree splits on x{i + 1} alone: there is no component f_{i + 1}, drawn as 0.")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    found = main_errors(kind)
    rows = [[f"f_{i + 1}", "", *(f"{value:.3f}" for value in found[i])] for i in range(2)]
    print(f"{name}: Ishigami, I_3 of {NAMES[kind]}, {N_TREES:,} trees each, {N_ROWS:,} rows")
    print(machine())
    print(table(["component", "", "relative L2 error", f"of its Fourier series, degree {DEGREE}"], rows))
    result.rows.extend(_main_verdicts(kind, found))
    return result


def _main_verdicts(kind: str, found: np.ndarray) -> list[Row]:
    """Return the verdicts on the paper's statements."""
    if kind == "gbr":
        words = "“closely approximate the true HDMR”: relative L2 error of"
        return [
            claim(f"{words} f_{i + 1}", found[i, 0] <= CLOSE, f"at most {CLOSE:g}", ours=found[i, 0]) for i in (0, 1)
        ]
    boosted = main_errors("gbr")
    words = "“RF performs poorly … in comparison to GBR”: relative L2 error of"
    return [
        claim(
            f"{words} f_{i + 1}",
            found[i, 0] >= POOR * boosted[i, 0],
            f"at least {POOR:g} times that of GBR, {boosted[i, 0]:.3f}",
            ours=found[i, 0],
        )
        for i in (0, 1)
    ]


def _curves(axes: Any, hdmr: Any, i: int, name: str) -> None:
    at = np.zeros((len(GRID), 3))
    at[:, i] = GRID
    axes.plot(GRID, component(hdmr, (i,), GRID[:, None]), color="0.6", linewidth=1.0, label=f"{name}, as it is")
    smooth = hdmr.component((i,)).fourier(DEGREE)(GRID) if (i,) in hdmr.subspaces_ else np.zeros(len(GRID))
    axes.plot(GRID, smooth, color=BLUE, label=f"{name}, Fourier series of degree {DEGREE}")
    axes.plot(GRID, main_effects(at)[i], color=ORANGE, linestyle="--", label="analytic")
    axes.set(xlabel=f"$x_{i + 1}$", ylabel=f"$f_{i + 1}$ (units of f)", xlim=(-np.pi, np.pi))
    axes.set_xticks(list(TICKS), list(TICKS.values()))


def ishigami3(options: Options, kind: str = "gbr") -> Result:
    """Draw f_13 of the trees, the analytic one, and their difference."""
    name = "ishigami3" if kind == "gbr" else "ishigami3_rf"
    notes = ["The paper draws surfaces; maps of one scale are easier to compare."]
    result = Result([], [options.out / f"{name}.png"], notes=notes)
    X, hdmr = decomposed(kind)
    _maps(result, hdmr, NAMES[kind])
    ours, exact = component(hdmr, (0, 2), X[:, [0, 2]]), interaction(X[:, [0, 2]])
    S = dict(zip(hdmr.sensitivity_.subspaces, hdmr.sensitivity_.S, strict=True)).get((0, 2), 0.0)
    alike = float(np.corrcoef(ours, exact)[0, 1]) if ours.any() else 0.0
    found = interaction_error(kind)
    print(f"{name}: Ishigami, f_13 of I_3 of {NAMES[kind]}, {N_TREES:,} trees each, {N_ROWS:,} rows")
    print(machine())
    print(
        table(
            ["component", "", "relative L2 error", "correlation", "S"],
            [["f_13", "", f"{found:.3f}", f"{alike:.3f}", f"{S:.3f}"]],
        )
    )
    if kind == "gbr":
        words = "“general qualitative behavior is satisfactorily reproduced”: correlation with the analytic f_13"
        result.rows.append(claim(words, alike >= ALIKE, f"at least {ALIKE:g}", ours=alike))
        result.rows.append(near("S of (1, 3), I_3", S, PAPER_S13, 0.02))
    else:
        boosted = interaction_error("gbr")
        words = "“RF performs poorly … in comparison to GBR”: relative L2 error of f_13"
        result.rows.append(claim(words, found > boosted, f"above that of GBR, {boosted:.3f}", ours=found))
    return result


def _maps(result: Result, hdmr: Any, name: str) -> None:
    x = GRID[::3]
    points = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    ours, exact = (values.reshape(len(x), -1) for values in (component(hdmr, (0, 2), points), interaction(points)))
    limit = np.abs(exact).max()
    maps = {f"{name}, tree columns": ours, "analytic": exact, "difference": ours - exact}
    with drawing(result.figures[0], (1, 3), (10.2, 3.6)) as (figure, axes):
        for place, (title, values) in zip(axes[0], maps.items(), strict=True):
            place.grid(visible=False)
            mesh = place.pcolormesh(x, x, values, cmap=SIGNED, vmin=-limit, vmax=limit, rasterized=True)
            place.set(title=title, xlabel="$x_1$", aspect="equal")
            place.set_xticks(list(TICKS), list(TICKS.values()))
            place.set_yticks(list(TICKS), list(TICKS.values()))
        axes[0, 0].set(ylabel="$x_3$")
        figure.colorbar(mesh, ax=axes[0].tolist(), label="$f_{13}$ (units of f)")
