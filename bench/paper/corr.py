"""Figures corr and corrpd: importance against correlation, by HDMR and by partial dependence."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from bench.paper.bilinear import CENTRED, CLOSED, HDMR, UNCENTRED, computed, polynomial
from bench.paper.figures import BLUE, LINES, MARKERS, ORANGE, drawing
from bench.paper.options import Options
from bench.paper.result import Result, Row, claim, near
from bench.report import table

RHOS = np.linspace(-1, 1, 101)
POINTS = np.linspace(-1, 1, 9)
ACCURACY = 0.005  # of the quadrature
KINDS = ("structural, Sa", "correlative, Sb", "overall, S")
SIGNS = {1: (BLUE, "positive"), -1: (ORANGE, "negative"), 0: ("0.6", "zero")}


def indices(rho: float) -> np.ndarray:
    """Return Sa, Sb, S (rows) of orders 1 and 2 (columns)."""
    found = polynomial(rho).sensitivity()
    by_order = [(values[:2].sum(), values[2:].sum()) for values in (found.Sa, found.Sb, found.S)]
    return np.array(by_order)


def _panel(axes: Any, values: np.ndarray, correlative: np.ndarray) -> None:
    """Draw one index; its difference from rho = 0 is coloured by the sign of the correlative part."""
    start = values[len(values) // 2]
    axes.plot(RHOS, values, color="black")
    axes.axhline(start, color="0.4", linewidth=0.8, linestyle=":")
    signs = np.where(np.abs(correlative) < 1e-12, 0, np.sign(correlative))
    for sign, (colour, label) in SIGNS.items():
        axes.fill_between(RHOS, start, values, where=signs == sign, color=colour, alpha=0.5, linewidth=0, label=label)
    axes.set(xlim=(-1, 1))


def corr(options: Options) -> Result:
    """Draw six panels: Sa, Sb, S of orders 1 and 2."""
    found = np.array([indices(rho) for rho in RHOS])
    path, result = options.out / "corr.png", []
    with drawing(path, (3, 2), (7.0, 7.2)) as (figure, axes):
        for k, kind in enumerate(KINDS):
            for order, of in enumerate(("$x_1$ and $x_2$", "their interaction")):
                _panel(axes[k, order], found[:, k, order], found[:, 1, order])
                axes[k, order].set(title=f"{kind}: {of}", ylim=(-0.55, 1.6) if order == 0 else (-0.06, 0.4))
            axes[k, 0].set(ylabel="share of the variance")
        for place in axes[-1]:
            place.set(xlabel="correlation ρ")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, title="correlative part", loc="outside lower center", ncols=3)
    rows = []
    for rho in POINTS:
        values = np.round(indices(rho), 12) + 0.0  # no -0
        rows.append([f"{rho:g}", "", *(f"{v:.4f}" for v in values.T.ravel()), f"{values[2].sum():.4f}"])
        for name, ours, paper in zip(("Sa", "Sb"), values[:2, 0], CLOSED[HDMR](rho), strict=True):
            result.append(near(f"{name} of x1 and x2, ρ = {rho:g}", ours, float(paper), 1e-9, of="the paper's formula"))
    print("corr: f = 1 + x1 + x2 + x1 x2, standard Gaussians with correlation rho; shares of Var f by order, exact")
    print(table(["rho", "", *(f"{s}, order {k}" for k in (1, 2) for s in ("Sa", "Sb", "S")), "sum of S"], rows))
    return Result(
        result, [path], notes=["A positive correlative part is blue (the paper: green), a negative one orange (red)."]
    )


def corrpd(options: Options) -> Result:
    """Draw closed forms of all diagnostics as lines, and results of the package as points."""
    found = [computed(rho) for rho in POINTS]
    path, rows, result = options.out / "corrpd.png", [], []
    with drawing(path, (1, 3), (10.2, 3.8)) as (figure, axes):
        for (name, form), (colour, style), marker in zip(CLOSED.items(), LINES, MARKERS + "P", strict=True):
            ours, exact = (_with_sums(*np.array(v).T) for v in ([at[name] for at in found], _both(form, POINTS)))
            for place, kind, line, at in zip(axes[0], KINDS, _with_sums(*_both(form, RHOS).T), ours, strict=True):
                place.plot(RHOS, line, color=colour, linestyle=style)
                place.plot(POINTS, at, marker, color=colour, markersize=4)
                place.plot([], [], color=colour, linestyle=style, marker=marker, markersize=4, label=name)
                place.set(title=f"{kind}: $x_1$ and $x_2$", xlabel="correlation ρ", xlim=(-1.03, 1.03))
            off = np.abs(ours - exact).max()
            rows.append([name, "", *(f"{S:.3f}" for S in ours[2]), f"{off:.0e}"])
            what = f"{name}: largest difference of Sa, Sb, S from the closed forms, {len(POINTS)} values of ρ"
            result.append(claim(what, off <= ACCURACY, f"at most {ACCURACY:g}", ours=off))
        axes[0, 0].set(ylabel="share of the variance")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        title = "lines: closed forms; points: computed"
        figure.legend(handles, labels, title=title, loc="outside lower center", ncols=3)
    print(
        "corrpd: S of x1 and x2 together by rho, computed; off: largest difference of Sa, Sb, S from the closed forms"
    )
    print(table(["importance", "", *(f"{rho:g}" for rho in POINTS), "off"], rows))
    return Result(result + small_correlations(), [path])


def small_correlations() -> list[Row]:
    """Return the verdicts on the paper's words: partial dependence is accurate below a correlation of about 0.3."""
    rows = []
    for name, rho in product((UNCENTRED, CENTRED), (0.1, 0.2, 0.3)):
        off = abs(sum(CLOSED[name](rho)) - sum(CLOSED[HDMR](rho)))
        because = "" if name == UNCENTRED else "centred, as it should be, it is not; the paper has the uncentred one"
        what = f"“accurate when correlation is roughly less than 0.3”: |S of {name} − S of HDMR|, ρ = {rho:g}"
        rows.append(claim(what, off <= 0.01, "at most 0.01", ours=off, because=because))
    return rows


def _both(form: Any, rhos: np.ndarray) -> np.ndarray:
    """Return Sa and Sb, (N, 2)."""
    return np.column_stack(form(rhos))


def _with_sums(Sa: np.ndarray, Sb: np.ndarray) -> np.ndarray:
    return np.array([Sa, Sb, Sa + Sb])
