"""Which subspaces get spans, and their sizes: within limits of the number of rows, of columns and of memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from fasthdmr._spans.basis import MAX_DUAL_ROWS, closure, default_size
from fasthdmr._spans.kinds import SPANS
from fasthdmr._spans.levels import gram_bytes, n_columns, plan_levels
from fasthdmr._spans.screening import Room
from fasthdmr._support.groups import Groups, columns_of
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats
from fasthdmr._support.warnings import PairsWarning, warn

MAX_JOINT_COLUMNS = 4000
"""The most columns of a joint projection. Their Gram matrix takes 128 MB, as do a copy and its Cholesky factor."""

MAX_TOUCHED_COLUMNS = 1500
"""The most non-zero columns per row. Their outer product has about a million entries per row."""

MAX_BYTES = 800e6
"""The most memory for the Gram blocks of all spans."""

MAX_DUAL_PRODUCTS = 5e10
"""The most spans times squared rows in dual form, which sums a matrix of that many numbers. It takes a minute."""

_MAX_SUBSPACES = 100_000


@dataclass(frozen=True)
class SpanOptions:
    """The parameters of an estimator that concern spans.

    Attributes
    ----------
    basis : str
        A kind of `kinds.SPANS`.
    degree : int
        Degree of the splines.
    n_splines : int, sequence of int or None
        One size, or sizes by order. None: sizes of `default_size`, increased if cross-validation prefers it.
    """

    basis: str
    degree: int
    n_splines: Any = None


@dataclass(frozen=True)
class SpanPlan:
    """The chosen subspaces, which include all their subsets, and the sizes by order."""

    subspaces: list[Subspace]
    sizes: tuple[int, ...]


def plan_spans(
    touched: Iterable[Subspace],
    n_rows: int,
    order: int,
    options: SpanOptions,
    *,
    joint: bool = False,
    chosen: bool = False,
    strength: Callable[[list[Subspace]], Floats] | None = None,
    width: Callable[[Subspace], int] = len,
    n_indicators: int = 0,
) -> SpanPlan:
    """Choose subspaces and sizes.

    Parameters
    ----------
    touched : iterable of tuple of int
        The subspaces that the black box depends on, of any order, or that the user chose.
    n_rows : int
        The number of distinct rows with positive weight.
    order : int
        Largest order of a span.
    options : SpanOptions
    joint : bool
        Whether all columns take part in one joint projection.
    chosen : bool
        Whether the user chose the interactions, so that none may be left out.
    strength : callable or None
        Returns the strengths of pairs. It is called only if pairs must be left out of a joint projection.
    width : callable
        Returns the number of columns of X of a subspace, which is its order if there are no groups.
    n_indicators : int
        The number of levels of categorical variables, which take part of the room for columns.

    Returns
    -------
    SpanPlan

    Raises
    ------
    ValueError
        If `n_splines` does not have one size for each order, or the spans do not fit into memory. The message states
        the estimate.

    Warns
    -----
    PairsWarning
        If pairs are left out.
    """
    subspaces, asked = closure(touched, order), as_sizes(options.n_splines, order)
    sizes = _sizes(subspaces, n_rows, order, options, width)
    if n_rows < 2:  # all variables are constant, so no span will have columns
        return SpanPlan([u for u in subspaces if len(u) == 1], tuple(sizes))
    primal = joint and n_rows > MAX_DUAL_ROWS
    screens = primal and order == 2 and not chosen and strength is not None
    if primal:
        limit = max(MAX_JOINT_COLUMNS - n_indicators, MAX_JOINT_COLUMNS // 4)
        sizes, room = _fit_columns(subspaces, sizes, options, limit, width, follows_rows=asked is None, screens=screens)
    if screens and strength is not None:
        single, pairs = ([u for u in subspaces if len(u) == t] for t in (1, 2))
        subspaces = [*single, *_strongest(pairs, room, strength)]
    _check_memory(subspaces, sizes, width, joint=primal, order=order, is_of_trees=not joint)
    return SpanPlan(subspaces, tuple(sizes))


def fit_levels(
    spanned: Sequence[Subspace], sizes: Sequence[int], n_levels: Mapping[int, int], n_rows: int, *, joint: bool
) -> list[int] | None:
    """Return the largest number of indicators of a categorical variable, by number of columns; None if there is none.

    Examples
    --------
    >>> fit_levels([(0,), (1,), (0, 1)], (12, 8), {0: 3000}, 10_000, joint=False)
    [2000, 312]
    """

    def fits(levels: list[int]) -> bool:
        if joint and n_rows > MAX_DUAL_ROWS:
            return sum(n_columns(u, sizes, n_levels, levels) for u in spanned) <= MAX_JOINT_COLUMNS
        return gram_bytes(spanned, sizes, n_levels, levels) <= MAX_BYTES

    return plan_levels(spanned, sizes, n_levels, fits) if n_levels else None


@dataclass(frozen=True)
class Width:
    """The number of columns of X of a subspace."""

    groups: Groups | None

    def __call__(self, subspace: Subspace) -> int:
        return len(subspace) if self.groups is None else len(columns_of(self.groups, subspace))


def _sizes(
    subspaces: Sequence[Subspace], n_rows: int, order: int, options: SpanOptions, width: Callable[[Subspace], int]
) -> list[int]:
    """Return the sizes by number of columns: those that the user chose, else the rule's."""
    most = max([order, *map(width, subspaces)])
    rule = [default_size(n_rows, t, options.basis) for t in range(1, most + 1)]
    asked = as_sizes(options.n_splines, order)
    if asked is None:
        return rule
    return [*asked, *(min(asked[-1], size) for size in rule[order:])]


def _fit_columns(
    subspaces: list[Subspace],
    sizes: list[int],
    options: SpanOptions,
    limit: int,
    width: Callable[[Subspace], int],
    *,
    follows_rows: bool,
    screens: bool,
) -> tuple[list[int], int]:
    """Return sizes for which the columns of a joint projection are within the limit, and the most pairs.

    If `screens` is true, only the strongest pairs will be kept.
    """
    single, pairs = ([u for u in subspaces if len(u) == t] for t in (1, 2))
    if not screens or not pairs:
        return _shrink(subspaces, sizes, limit, width) if follows_rows else sizes, len(pairs)
    run, widest = SPANS[options.basis].degree(options.degree) + 1, max(pairs, key=width)
    touched = sum(run ** width(u) for u in single)
    room = max(1, (MAX_TOUCHED_COLUMNS - touched) // run ** width(widest))
    if follows_rows:
        sizes = _shrink([*single, *[widest] * min(room, len(pairs))], sizes, limit, width)
    return sizes, max(1, min(room, (limit - _columns(single, sizes, width)) // _columns([widest], sizes, width)))


def as_sizes(n_splines: Any, order: int) -> list[int] | None:
    """Return sizes by order from the parameter `n_splines`.

    Raises
    ------
    ValueError
        If a size is below 2, or there are fewer sizes than orders.

    Examples
    --------
    >>> as_sizes((10, 6), 2)
    [10, 6]
    """
    if n_splines is None:
        return None
    sizes = list(n_splines) if np.iterable(n_splines) else [n_splines] * order
    if len(sizes) < order or any(not isinstance(size, int | np.integer) or size < 2 for size in sizes):
        raise ValueError(
            f"n_splines must be an integer of at least 2, or a tuple of {order}, one an order; got {n_splines!r}."
        )
    return [int(size) for size in sizes[:order]]


def _columns(subspaces: Sequence[Subspace], sizes: Sequence[int], width: Callable[[Subspace], int]) -> int:
    return sum(sizes[w - 1] ** w for w in map(width, subspaces))


def _shrink(subspaces: Sequence[Subspace], sizes: list[int], limit: int, width: Callable[[Subspace], int]) -> list[int]:
    """Reduce sizes, those of the highest order first, until the number of columns is within the limit."""
    sizes = list(sizes)
    for t in range(len(sizes), 0, -1):
        least = min(sizes[t - 1], 4 if t == 1 else 3)
        while sizes[t - 1] > least and _columns(subspaces, sizes, width) > limit:
            sizes[t - 1] -= 1
    return sizes


def _strongest(pairs: list[Subspace], room: int, strength: Callable[[list[Subspace]], Floats]) -> list[Subspace]:
    """Return the `room` strongest pairs, and warn that the others are left out."""
    if room >= len(pairs):
        return pairs
    kept = np.sort(np.argsort(-strength(pairs), kind="stable")[:room])
    warn(
        f"The weakest {len(pairs) - room} of {len(pairs)} pairs of variables are left out: the number of rows, memory "
        f"and time allow {room}. The residual includes the pairs left out. Choose pairs with `interactions`, or pass "
        "more rows.",
        PairsWarning,
    )
    return [pairs[k] for k in kept]


def _needed_bytes(
    subspaces: Sequence[Subspace], sizes: Sequence[int], width: Callable[[Subspace], int], *, joint: bool
) -> float:
    """Return an estimate of the memory for Gram matrices."""
    if joint:
        return 3 * 8.0 * _columns(subspaces, sizes, width) ** 2
    own = {u[0]: width(u) for u in subspaces if len(u) == 1}
    needed = 0.0
    for widths, count in Counter(tuple(own[i] for i in u) for u in subspaces).items():
        inside = [sum(v) for t in range(1, len(widths) + 1) for v in combinations(widths, t)]
        needed += count * float(sum(sizes[w - 1] ** w for w in inside)) ** 2
    return 8.0 * needed


def _check_memory(
    subspaces: Sequence[Subspace],
    sizes: Sequence[int],
    width: Callable[[Subspace], int],
    *,
    joint: bool,
    order: int,
    is_of_trees: bool,
) -> None:
    needed = _needed_bytes(subspaces, sizes, width, joint=joint)
    if needed > MAX_BYTES:
        has_groups = max(map(width, subspaces)) > order
        remedies = ["choose fewer subspaces with `interactions`", "lower `order`"] if order > 1 else []
        remedies.append("lower `n_splines`")
        if has_groups:
            remedies.append("put fewer columns into `feature_groups`")
        elif is_of_trees:
            remedies.append("pass measure='product', which needs no spans")
        raise ValueError(
            f"order={order} makes {len(subspaces):,} spans of {_columns(subspaces, sizes, width):,} columns, whose "
            f"Gram matrices need about {needed / 1e9:.1f} GB; at most {MAX_BYTES / 1e9:.1f} GB are allowed. To reduce "
            f"them, {' or '.join(remedies)}."
        )


def fits_jointly(
    touched: Sequence[Subspace],
    n_rows: int,
    order: int,
    options: SpanOptions,
    *,
    chosen: bool,
    width: Callable[[Subspace], int] = len,
) -> bool:
    """Return whether all single variables can be held in a joint projection, with all interactions as candidates."""
    if sum(comb(len(u), t) for u in touched for t in range(1, order + 1)) > _MAX_SUBSPACES:
        return False
    subspaces, asked = closure(touched, order), options.n_splines
    sizes = _sizes(subspaces, n_rows, order, options, width)
    if n_rows <= MAX_DUAL_ROWS:
        products = len(subspaces) * float(n_rows) ** 2
        return products <= MAX_DUAL_PRODUCTS and _needed_bytes(subspaces, sizes, width, joint=False) <= MAX_BYTES
    screens = order == 2 and not chosen
    limit = MAX_JOINT_COLUMNS
    sizes, room = _fit_columns(subspaces, sizes, options, limit, width, follows_rows=asked is None, screens=screens)
    if screens:
        subspaces = subspaces[: sum(len(u) == 1 for u in subspaces) + room]
    return _needed_bytes(subspaces, sizes, width, joint=True) <= MAX_BYTES


def joint_room(order: int, options: SpanOptions) -> Room:
    """Return how many variables and pairs a joint projection can hold.

    Examples
    --------
    >>> joint_room(1, SpanOptions("spline", 3)).variables
    375
    """
    least = as_sizes(options.n_splines, order) or [4, *[3] * (order - 1)]
    run = SPANS[options.basis].degree(options.degree) + 1
    return Room.of(least, run, MAX_TOUCHED_COLUMNS, MAX_JOINT_COLUMNS)
