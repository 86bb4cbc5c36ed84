"""The coefficients b_u of multilinear functions of iid variables: f_u = b_u times the product of x_i - mu over u.

Numbers are decimals of fifty digits with practically unlimited exponents, since float64 overflows for n = 10,000
variables. Sums with alternating signs are exact, in integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from itertools import chain, combinations
from math import comb, lcm
from typing import Protocol

from fasthdmr._support.subspaces import Subspace

_DIGITS = 50
_BITS = 200  # leading bits of an integer that are converted to a decimal: more than its fifty digits
_UNCOUNTED = 10**18
_MAX_SUBSETS = 10_000_000


@contextmanager
def decimals() -> Iterator[None]:
    """Compute with decimals of fifty digits and any exponent."""
    with localcontext(Context(prec=_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])):
        yield


class Coefficients(Protocol):
    """Protocol of the coefficients b_u of a multilinear function. Use decimals inside `decimals`."""

    n: int
    order: int
    constant: Decimal

    def of(self, subspace: Subspace) -> Decimal:
        """Return b_u, 0 where there is no such component."""
        ...

    def count(self) -> int:
        """Return the number of subspaces to list, or a number beyond 10^18 if it is larger."""
        ...

    def subspaces(self) -> list[Subspace]:
        """Return all variables, and the interactions with b_u ≠ 0, by order, then lexicographically."""
        ...

    def by_order(self, square: Decimal) -> list[Decimal]:
        """Return the sum of b_u² sigma^(2|u|) over the subspaces of each order from 1, where sigma² = `square`."""
        ...

    def by_variable(self, square: Decimal) -> list[Decimal]:
        """Return the sum of b_u² sigma^(2|u|) over the subspaces with each variable."""
        ...

    def above(self, subspace: Subspace, square: Decimal) -> Decimal:
        """Return the sum of b_v² sigma^(2|v - u|) over the v that contain u."""
        ...


class ByOrder:
    """Coefficients that depend on the order only.

    Parameters
    ----------
    n : int
    values : sequence of Decimal
        b_0, …, b_T.
    """

    def __init__(self, n: int, values: Sequence[Decimal]) -> None:
        self.n = n
        self.values = values
        self.order = max([k for k, b in enumerate(values) if b], default=1) or 1
        self.constant = values[0]

    def of(self, subspace: Subspace) -> Decimal:
        """Return b_u, 0 where there is no such component."""
        return self.values[len(subspace)] if len(subspace) < len(self.values) else Decimal(0)

    def _listed(self) -> list[int]:
        return [k for k in range(1, self.order + 1) if k == 1 or self.values[k]]

    def count(self) -> int:
        """Return the number of subspaces to list, or a number beyond 10^18 if it is larger."""
        total = 0
        for k in self._listed():
            total += comb(self.n, k)
            if total > _UNCOUNTED:
                break
        return total

    def subspaces(self) -> list[Subspace]:
        """Return all variables, and the interactions with b_u ≠ 0, by order, then lexicographically."""
        return [u for k in self._listed() for u in combinations(range(self.n), k)]

    def by_order(self, square: Decimal) -> list[Decimal]:
        """Return the sum of b_u² sigma^(2|u|) over the subspaces of each order from 1."""
        sums, factor = [], Decimal(1)
        for k in range(1, self.order + 1):
            factor = factor * (self.n - k + 1) / k * square
            sums.append(factor * self.values[k] ** 2)
        return sums

    def by_variable(self, square: Decimal) -> list[Decimal]:
        """Return the sum of b_u² sigma^(2|u|) over the subspaces with each variable: each has k/n of order k."""
        total = sum((k * s for k, s in enumerate(self.by_order(square), 1)), Decimal(0))
        return [total / self.n] * self.n

    def above(self, subspace: Subspace, square: Decimal) -> Decimal:
        """Return the sum of b_v² sigma^(2|v - u|) over the v that contain u."""
        total, count = Decimal(0), Decimal(1)
        for k in range(len(subspace), len(self.values)):  # of those of order k there are `count`
            more = k - len(subspace)
            total += count * square**more * self.values[k] ** 2
            count = count * (self.n - k) / (more + 1)
        return total


class BySubspace:
    """Coefficients given for each subspace.

    Parameters
    ----------
    n : int
    values : mapping of tuple of int to Decimal
        Without zeros; () is the constant.
    """

    def __init__(self, n: int, values: Mapping[Subspace, Decimal]) -> None:
        self.n = n
        self.values = dict(values)
        self.order = max([len(u) for u in values], default=1) or 1
        self.constant = self.of(())

    def of(self, subspace: Subspace) -> Decimal:
        """Return b_u, 0 where there is no such component."""
        return self.values.get(subspace, Decimal(0))

    def count(self) -> int:
        """Return the number of subspaces to list."""
        return self.n + sum(len(u) > 1 for u in self.values)

    def subspaces(self) -> list[Subspace]:
        """Return all variables, and the interactions with b_u ≠ 0, by order, then lexicographically."""
        interactions = [u for u in self.values if len(u) > 1]
        return [*((i,) for i in range(self.n)), *sorted(interactions, key=lambda u: (len(u), u))]

    def by_order(self, square: Decimal) -> list[Decimal]:
        """Return the sum of b_u² sigma^(2|u|) over the subspaces of each order from 1."""
        sums = [Decimal(0)] * self.order
        for u, b in self.values.items():
            if u:
                sums[len(u) - 1] += b**2 * square ** len(u)
        return sums

    def by_variable(self, square: Decimal) -> list[Decimal]:
        """Return the sum of b_u² sigma^(2|u|) over the subspaces with each variable."""
        sums = [Decimal(0)] * self.n
        for u, b in self.values.items():
            for i in u:
                sums[i] += b**2 * square ** len(u)
        return sums

    def above(self, subspace: Subspace, square: Decimal) -> Decimal:
        """Return the sum of b_v² sigma^(2|v - u|) over the v that contain u."""
        within = [(v, b) for v, b in self.values.items() if set(subspace) <= set(v)]
        return sum((b**2 * square ** (len(v) - len(subspace)) for v, b in within), Decimal(0))


def of_product(n: int, mu: float) -> ByOrder:
    """Return b_k = mu^(n-k), of the product of n variables."""
    with decimals():
        values = [Decimal(1)]
        for _ in range(n):
            values.append(values[-1] * Decimal(mu))
    return ByOrder(n, values[::-1])


def of_ones(n: int, order: int, mu: float) -> ByOrder:
    """Return b_k = sum_{m <= T-k} C(n-k, m) mu^m, of the sum of all monomials up to an order T.

    By Pascal's rule b_k = (1 + mu) b_{k+1} + C(n-k-1, T-k) mu^(T-k), from b_T = 1.
    """
    p, q = mu.as_integer_ratio()
    scaled, term = 1, 1
    values = [Decimal(1)]
    for m in range(1, order + 1):  # b_k q^m with m = T - k, and the second summand times q^m
        term = term * p * (n - order + m - 1) // m
        scaled = (q + p) * scaled + term
        values.append(_decimal(scaled, (q.bit_length() - 1) * m))
    return ByOrder(n, values[::-1])


def of_orders(n: int, beta: Sequence[float], mu: float) -> ByOrder:
    """Return b_k = sum_{j >= k} beta_j C(n-k, j-k) mu^(j-k); the time grows as T times the number of beta_j ≠ 0."""
    p, q = mu.as_integer_ratio()
    ratios = [b.as_integer_ratio() for b in beta]
    common = lcm(*(r[1] for r in ratios))
    order = len(beta) - 1
    bits = q.bit_length() - 1
    scaled = [0] * len(beta)  # b_k q^(T-k) times the common denominator
    for j, (numerator, denominator) in enumerate(ratios):
        if numerator == 0:
            continue
        term = numerator * (common // denominator) << bits * (order - j)
        for k in range(j, -1, -1):
            scaled[k] += term
            term = term * p * (n - k + 1) // (j - k + 1)
    exponent = common.bit_length() - 1
    return ByOrder(n, [_decimal(b, bits * (order - k) + exponent) for k, b in enumerate(scaled)])


def of_mapping(n: int, beta: Mapping[Subspace, float], mu: float) -> BySubspace:
    """Return b_u = sum_{v >= u} beta_v mu^(|v|-|u|).

    Raises
    ------
    ValueError
        If the subspaces have too many subsets.
    """
    given = {v: Fraction(b) for v, b in beta.items() if b != 0}
    if mu == 0:
        sums = given
    else:
        count = sum(1 << len(v) for v in given)
        if count > _MAX_SUBSETS:
            raise ValueError(
                f"beta makes {count:,} terms of f_u; at most {_MAX_SUBSETS:,} are computed. Give beta by order if "
                "it depends on the order alone, or fewer and smaller subspaces."
            )
        powers = [Fraction(1)]
        for _ in range(max(map(len, given), default=0)):
            powers.append(powers[-1] * Fraction(mu))
        sums = {}
        for v, b in given.items():
            for u in chain.from_iterable(combinations(v, k) for k in range(len(v) + 1)):
                sums[u] = sums.get(u, Fraction(0)) + b * powers[len(v) - len(u)]
    exact = {u: b for u, b in sums.items() if b != 0}
    return BySubspace(n, {u: _decimal(b.numerator, b.denominator.bit_length() - 1) for u, b in exact.items()})


def _decimal(integer: int, exponent: int) -> Decimal:
    """Return integer / 2^exponent."""
    shift = max(0, abs(integer).bit_length() - _BITS)
    with decimals():
        return Decimal(integer >> shift) * Decimal(2) ** (shift - exponent)
