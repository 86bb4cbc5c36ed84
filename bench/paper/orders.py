"""Figures probrho, total_si, polyn, polyn2, linearprob: the variance by order, in closed form."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from bench.paper.figures import LINES, MARKERS, drawing, shades
from bench.paper.options import Options
from bench.paper.result import Result, Row, claim, near
from bench.report import table
from fasthdmr.analytic import Product, SymmetricPolynomial

N = 100
RHOS = (0.25, 0.5, 1.0, 2.0, 4.0)
FRACTION = 0.9
RELATIVE = 1e-9  # relative tolerance of closed forms
# The least T with S(100, T) >= .9, of the specification.
LEAST = {0.25: 9, 0.5: 25, 1.0: 56, 2.0: 85, 4.0: 97}
# The paper does not state the means in its figures of q; elsewhere it uses n = 100.
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


def probrho(options: Options) -> Result:
    """Draw p{k}, n = 100."""
    rows, verdicts, path = [], [], options.out / "probrho.png"
    with drawing(path) as (_, ((axes,),)):
        for rho, colour, marker in zip(RHOS, shades(len(RHOS)), MARKERS, strict=True):
            f = product(N, rho)
            shares, moments = f.order_shares(), f.order_moments()
            seen = np.flatnonzero(shares > 1e-4)
            axes.plot(1 + seen, shares[seen], marker=marker, color=colour, label=f"ρ = {rho:g}")
            printed = papers_moments(N, rho)
            numbers = [moments[0], printed[0], moments[1], printed[1]]
            for name, ours, paper in zip(("E p", "Var p"), moments, printed, strict=True):
                verdicts.append(_formula(f"{name}, ρ = {rho:g}", ours, paper))
            if rho < 1:
                what = f"“concentrated about small k”: share of the orders below n / 2, ρ = {rho:g}"
                verdicts.append(
                    claim(what, shares[: N // 2 - 1].sum() > 0.99, "above 0.99", ours=shares[: N // 2 - 1].sum())
                )
            rows.append([f"{rho:g}", "", *(f"{v:.6g}" for v in numbers), str(1 + int(shares.argmax()))])
        axes.set(xlabel="order k of the components", ylabel="p{k} (share of the variance)", xlim=(0, N + 1))
        axes.set(ylim=(0, None))
        axes.legend(title=f"product of n = {N}", ncols=2)
    print(f"probrho: f = x_1 ⋯ x_n, n = {N}; mean and variance of the order under p, and the paper's formulas")
    print(table(["rho", "", "E p", "paper", "Var p", "paper", "mode"], rows))
    return Result(verdicts, [path])


def _formula(what: str, ours: float, paper: float) -> Row:
    """Return the verdict on a formula of the paper."""
    return near(what, ours, paper, RELATIVE * abs(paper), of="the paper's formula")


def papers_total(n: int, rho: float) -> float:
    """Return the paper's formula of T_i, in enough digits for powers that overflow."""
    with localcontext(prec=60):
        square = Decimal(rho) ** 2
        power = (1 + square) ** n
        return float(square / (1 + square) * power / (power - 1))


def total(n: int, rho: float) -> float:
    """Return T_i, which is the mean order over n, because all variables are exchangeable."""
    return product(n, rho).order_moments()[0] / n


def total_si(options: Options) -> Result:
    """Draw T_i against rho."""
    rhos = np.geomspace(1e-4, 1, 41)
    path = options.out / "total_si.png"
    with drawing(path) as (_, ((axes,),)):
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
    cases = itertools.product((1e-4, 1e-2, 1.0), SIZES)
    verdicts = [_formula(f"T_i, n = {n:,}, ρ = {rho:g}", total(n, rho), papers_total(n, rho)) for rho, n in cases]
    for rho in (1e-4, 1e-2, 1e-1, 1.0):
        ratio, what = (
            total(10_000, rho) / total(100, rho),
            "“independent of n …, observed for k ~ 100”: T_i(10,000) / T_i(100)",
        )
        because = "it takes n ρ² large, not n alone"
        verdicts.append(claim(f"{what}, ρ = {rho:g}", abs(ratio - 1) < 0.01, "1 ± 0.01", ours=ratio, because=because))
    return Result(verdicts, [path])


def polyn(options: Options) -> Result:
    """Draw S(n, T), n and T up to 100, rho = 1/2."""
    rho = 0.5
    explained = [product(n, rho).explained() for n in range(1, N + 1)]
    path = options.out / "polyn.png"
    with drawing(path, size=(5.4, 3.4)) as (figure, ((axes,),)):
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
    verdicts = [
        _formula(f"S(n, T), n = {n}, T = {T}", explained[n - 1][T - 1], papers_explained(n, T))
        for n, T in ((10, 2), (50, 10), (100, 10), (100, 20), (100, 30))
    ]
    rising = all((np.diff(values) >= 0).all() for values in explained)
    verdicts.append(claim("“increasing T increases the explained variance”", rising, "for every n"))
    return Result(verdicts, [path])


def papers_explained(n: int, T: int) -> float:
    """Return the sum of the paper's p{k} up to T at rho = 1/2, from whole numbers."""
    terms = [math.comb(n, k) * 4 ** (n - k) for k in range(1, n + 1)]
    return sum(terms[:T]) / sum(terms)


def _scale_of_orders() -> Any:
    """Return the colours of orders, with more colours for small orders."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, LogNorm

    return ScalarMappable(LogNorm(1, N), ListedColormap(shades(256)))


def least_orders(rho: float) -> list[int]:
    """Return the least T with S(n, T) >= .9 for n = 1, …, 100."""
    return [product(n, rho).order_for(FRACTION) for n in range(1, N + 1)]


def polyn2(options: Options) -> Result:
    """Draw the least T with S(n, T) >= .9."""
    found = {rho: least_orders(rho) for rho in RHOS}
    path = options.out / "polyn2.png"
    with drawing(path) as (_, ((axes,),)):
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
    return Result(
        [
            near(f"least T, n = {N}, ρ = {rho:g}", found[rho][-1], None, 0, target=least, of="the specification's")
            for rho, least in LEAST.items()
        ],
        [path],
    )


def linear_model(rho: float, mu: float) -> SymmetricPolynomial:
    """Return E_n, the sum of all products of different variables."""
    return SymmetricPolynomial(N, N, mu, rho * mu)


def linearprob(options: Options) -> Result:
    """Draw q{k} of the sum of all products, beside p{k}."""
    rows, verdicts, path = [], [], options.out / "linearprob.png"
    with drawing(path, (1, 3), (9.6, 3.2)) as (_, axes):
        for rho, place in zip(LINEAR_RHOS, axes[0], strict=True):
            p = product(N, rho)
            for mu, (colour, style) in zip(MEANS, LINES, strict=False):
                q = linear_model(rho, mu)
                place.plot(*_curve(q.order_shares()), color=colour, linestyle=style, label=f"q, μ = {mu:g}")
                rows.append(_linear_row(rho, mu, q, p))
                verdicts += _linear_verdicts(rho, mu, q, p)
            place.plot(*_curve(p.order_shares()), color="0.35", linewidth=1.0, label="p (μ → ∞)")
            place.set(title=f"ρ = {rho:g}", xlabel="order k of the components", xlim=(0, N), ylim=(0, None))
        axes[0, 0].set(ylabel="q{k}, p{k} (share of the variance)")
        axes[0, 0].legend(title=f"n = {N}")
    print(f"linearprob: q of E_n, the sum of all products of n = {N} variables, and p of the product of all; tau < rho")
    print(table(["rho", "mu", "tau", "E q", "E p", "q{1}", "p{1}", "q <= p from k", "least T for q", "for p"], rows))
    return Result(verdicts, [path], notes=["The paper does not say which mean μ its figures have: here three."])


def _curve(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(1, len(shares) + 1), shares


def _linear_verdicts(rho: float, mu: float, q: SymmetricPolynomial, p: Product) -> list[Row]:
    """Return the verdicts on the paper's formula of q{k}, and on its words."""
    where, tau = f"ρ = {rho:g}, μ = {mu:g}", rho * mu / (1 + mu)
    mine = [float(f.order_shares()[0]) for f in (q, p)]
    first = N * tau**2 / math.expm1(N * math.log1p(tau**2))
    rows = [_formula(f"q{{1}}, {where}", mine[0], first)]
    if tau < 1:
        what = f"“when τ < 1, q{{k}} > p{{k}} for k ≪ n”: q{{1}} / p{{1}}, {where}"
        rows.append(claim(what, mine[0] > mine[1], "above 1", ours=mine[0] / mine[1]))
    return rows


def _linear_row(rho: float, mu: float, q: SymmetricPolynomial, p: Product) -> Sequence[str]:
    means, first = [f.order_moments()[0] for f in (q, p)], [f.order_shares()[0] for f in (q, p)]
    crossing = 1 + int(np.argmax(q.order_shares(log=True) <= p.order_shares(log=True)))
    numbers = [rho * mu / (1 + mu), *means, *first]
    least = [f.order_for(FRACTION) for f in (q, p)]
    return [f"{rho:g}", f"{mu:g}", *(f"{v:.4g}" for v in numbers), *map(str, [crossing, *least])]
