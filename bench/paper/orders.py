"""Figures probrho, total_si, polyn, polyn2, linearprob: how the variance is spread over orders, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.paper.figures import LINES, MARKERS, drawing, shades
from bench.paper.options import Options
from bench.report import table
from fasthdmr.analytic import Product, SymmetricPolynomial

N = 100
RHOS = (0.25, 0.5, 1.0, 2.0, 4.0)
FRACTION = 0.9
# The paper does not say which means its figures of q have; it has n = 100 elsewhere.
MEANS = (0.5, 1.0, 2.0)
LINEAR_RHOS = (0.5, 1.0, 2.0)
SIZES = (10, 100, 1_000, 10_000)


def product(n: int, rho: float) -> Product:
    """Return the product of variables with mean 1: its indices depend on rho alone."""
    return Product(n, 1.0, rho)


def papers_moments(n: int, rho: float) -> tuple[float, float]:
    """Return mean and variance of the order as the paper prints them."""
    a, b = rho**2, (1 + rho**2) ** n
    return n * a * b / (1 + a) / (b - 1), n * a * b / (1 + a) ** 2 * (b - n * a - 1) / (b - 1) ** 2


def probrho(options: Options) -> None:
    """Draw p{k}, n = 100."""
    rows = []
    with drawing(options.out / "probrho.png") as (_, ((axes,),)):
        for rho, colour, marker in zip(RHOS, shades(len(RHOS)), MARKERS, strict=True):
            f = product(N, rho)
            shares, moments = f.order_shares(), f.order_moments()
            seen = np.flatnonzero(shares > 1e-4)
            axes.plot(1 + seen, shares[seen], marker=marker, color=colour, label=f"ρ = {rho:g}")
            printed = papers_moments(N, rho)
            numbers = [moments[0], printed[0], moments[1], printed[1]]
            rows.append([f"{rho:g}", "", *(f"{v:.6g}" for v in numbers), str(1 + int(shares.argmax()))])
        axes.set(xlabel="order k of the components", ylabel="p{k} (share of the variance)", xlim=(0, N + 1))
        axes.set(ylim=(0, None))
        axes.legend(title=f"product of n = {N}", ncols=2)
    print(f"probrho: f = x_1 ⋯ x_n, n = {N}; mean and variance of the order under p, and the paper's formulas")
    print(table(["rho", "", "E p", "paper", "Var p", "paper", "mode"], rows))


def total(n: int, rho: float) -> float:
    """Return T_i: all variables are alike, so that the mean order is n T_i."""
    return product(n, rho).order_moments()[0] / n


def total_si(options: Options) -> None:
    """Draw T_i against rho."""
    rhos = np.geomspace(1e-4, 1, 41)
    with drawing(options.out / "total_si.png") as (_, ((axes,),)):
        for n, (colour, style) in zip(SIZES, LINES, strict=False):
            totals = [total(n, rho) for rho in rhos]
            axes.loglog(rhos, totals, color=colour, linestyle=style, label=f"n = {n:,}")
        axes.loglog(rhos, rhos**2 / (1 + rhos**2), color="0.4", linewidth=0.8, label="ρ²/(1 + ρ²)", zorder=1)
        axes.set(xlabel="coefficient of variation ρ", ylabel="$T_i$ (share of the variance)")
        axes.legend(title="product of n variables")
    rows = [
        [f"{rho:g}", "", *(f"{total(n, rho):.6g}" for n in SIZES), f"{rho**2 / (1 + rho**2):.6g}"]
        for rho in (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    ]
    print("total_si: T_i of f = x_1 ⋯ x_n; the paper's approximation rho²/(1 + rho²) holds where n rho² is large")
    print(table(["rho", "", *(f"n = {n:,}" for n in SIZES), "approximation"], rows))


def polyn(options: Options) -> None:
    """Draw S(n, T), n and T up to 100, rho = 1/2."""
    rho = 0.5
    explained = [product(n, rho).explained() for n in range(1, N + 1)]
    with drawing(options.out / "polyn.png", size=(5.4, 3.4)) as (figure, ((axes,),)):
        scale = _scale_of_orders()
        for T in range(1, N):
            sizes = np.arange(T, N + 1)
            axes.plot(sizes, [explained[n - 1][T - 1] for n in sizes], color=scale.to_rgba(T), linewidth=0.8)
        axes.set(xlabel="number of variables n", ylabel="S(n, T) (share of the variance)", xlim=(1, N), ylim=(0, 1.02))
        ticks = (1, 2, 5, 10, 20, 50, 100)
        figure.colorbar(scale, ax=axes, label="order of truncation T", ticks=ticks, format="%d").minorticks_off()
    wanted = (10, 25, 50, 75, 100)
    rows = [
        [str(T), "", *(f"{explained[n - 1][T - 1]:.6f}" if n >= T else "" for n in wanted)]
        for T in (1, 2, 3, 5, 10, 20, 25, 30)
    ]
    print(f"polyn: S(n, T), what the orders up to T explain of f = x_1 ⋯ x_n, rho = {rho:g}")
    print(table(["T", "", *(f"n = {n}" for n in wanted)], rows))


def _scale_of_orders() -> Any:
    """Return colours of orders: most of what there is to see happens at small ones."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, LogNorm

    return ScalarMappable(LogNorm(1, N), ListedColormap(shades(256)))


def least_orders(rho: float) -> list[int]:
    """Return the least T with S(n, T) >= .9 for n = 1, …, 100."""
    return [product(n, rho).order_for(FRACTION) for n in range(1, N + 1)]


def polyn2(options: Options) -> None:
    """Draw the least T with S(n, T) >= .9."""
    found = {rho: least_orders(rho) for rho in RHOS}
    with drawing(options.out / "polyn2.png") as (_, ((axes,),)):
        sizes = np.arange(1, N + 1)
        for rho, colour, marker in zip(RHOS, shades(len(RHOS)), MARKERS, strict=True):
            axes.step(
                sizes, found[rho], marker, where="mid", ls="-", color=colour, markevery=(9, 10), label=f"ρ = {rho:g}"
            )
        axes.set(xlabel="number of variables n", ylabel=f"least T with S(n, T) ≥ {FRACTION:g}", xlim=(0, N + 1))
        axes.set(ylim=(0, N + 1))
        axes.legend(title="coefficient of variation")
    wanted = (1, 2, 5, 10, 25, 50, 75, 100)
    rows = [[f"{rho:g}", "", *(str(found[rho][n - 1]) for n in wanted)] for rho in RHOS]
    print(f"polyn2: least T with S(n, T) >= {FRACTION:g} for f = x_1 ⋯ x_n")
    print(table(["rho", "", *(f"n = {n}" for n in wanted)], rows))


def linear_model(rho: float, mu: float) -> SymmetricPolynomial:
    """Return E_n, the sum of all products of different variables."""
    return SymmetricPolynomial(N, N, mu, rho * mu)


def linearprob(options: Options) -> None:
    """Draw q{k} of the sum of all products, beside p{k}."""
    rows = []
    with drawing(options.out / "linearprob.png", (1, 3), (9.6, 3.2)) as (_, axes):
        for rho, place in zip(LINEAR_RHOS, axes[0], strict=True):
            p = product(N, rho)
            for mu, (colour, style) in zip(MEANS, LINES, strict=False):
                q = linear_model(rho, mu)
                place.plot(*_curve(q.order_shares()), color=colour, linestyle=style, label=f"q, μ = {mu:g}")
                rows.append(_linear_row(rho, mu, q, p))
            place.plot(*_curve(p.order_shares()), color="0.35", linewidth=1.0, label="p (μ → ∞)")
            place.set(title=f"ρ = {rho:g}", xlabel="order k of the components", xlim=(0, N), ylim=(0, None))
        axes[0, 0].set(ylabel="q{k}, p{k} (share of the variance)")
        axes[0, 0].legend(title=f"n = {N}")
    print(f"linearprob: q of E_n, the sum of all products of n = {N} variables, and p of the product of all; tau < rho")
    print(table(["rho", "mu", "tau", "E q", "E p", "q{1}", "p{1}", "q <= p from k", "least T for q", "for p"], rows))


def _curve(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(1, len(shares) + 1), shares


def _linear_row(rho: float, mu: float, q: SymmetricPolynomial, p: Product) -> Sequence[str]:
    means, first = [f.order_moments()[0] for f in (q, p)], [f.order_shares()[0] for f in (q, p)]
    crossing = 1 + int(np.argmax(q.order_shares(log=True) <= p.order_shares(log=True)))
    numbers = [rho * mu / (1 + mu), *means, *first]
    least = [f.order_for(FRACTION) for f in (q, p)]
    return [f"{rho:g}", f"{mu:g}", *(f"{v:.4g}" for v in numbers), *map(str, [crossing, *least])]
