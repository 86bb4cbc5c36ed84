"""The numbers of indicators of categorical variables: one a level, unless spans exceed a budget."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, combinations
from math import prod

from fasthdmr._spans.basis import Basis
from fasthdmr._support.subspaces import Subspace

MAX_COLUMNS = 2000, 2500
"""The most columns of a span with a categorical variable, for one variable and for several."""

MAX_GRAM = 2500**2
"""The most entries of the Gram matrices of all such spans of one order from 2 on, 50 MB: 4 spans of 1,250 columns."""


def plan_levels(
    subspaces: Sequence[Subspace], sizes: Sequence[int], n_levels: Mapping[int, int], fits: Callable[[list[int]], bool]
) -> list[int]:
    """Return the largest number of indicators of a categorical variable, for spans of each order.

    It is the number of levels, unless spans exceed `MAX_COLUMNS` or `MAX_GRAM`, or all spans together do not fit. Then
    it is reduced, for the highest order first, but not below the number of splines of numeric variables.

    Parameters
    ----------
    subspaces : sequence of tuple of int
    sizes : sequence of int
        Numbers of splines of numeric variables, by order.
    n_levels : dict of int to int
    fits : callable
        Takes such numbers, and returns whether the spans fit into memory.

    Returns
    -------
    list of int
        Decreasing: the span of a variable contains all functions of this variable in the spans of pairs.

    Examples
    --------
    >>> plan_levels([(0,), (1,), (0, 1)], (12, 8), {0: 3000}, lambda levels: True)
    [2000, 312]
    """
    most = max(n_levels.values(), default=0)
    plan = [most] * len(sizes)
    for t in range(len(sizes)):
        same = [u for u in subspaces if len(u) == t + 1 and not n_levels.keys().isdisjoint(u)]
        limit = MAX_COLUMNS[min(t, 1)]

        def is_small(count: int, t: int = t, same: Sequence[Subspace] = same, limit: int = limit) -> bool:
            plan[t] = count
            columns = [n_columns(u, sizes, n_levels, plan) for u in same]
            return max(columns, default=0) <= limit and (t == 0 or sum(p * p for p in columns) <= MAX_GRAM)

        plan[t] = _largest(is_small, min(sizes[t], most), most)
    for t in reversed(range(len(sizes))):
        if fits(plan):
            break

        def all_fit(count: int, t: int = t) -> bool:
            return fits([*plan[:t], count, *plan[t + 1 :]])

        plan[t] = _largest(all_fit, min(sizes[t], plan[t]), plan[t])
    return list(accumulate(plan, min))


def _largest(holds: Callable[[int], bool], least: int, most: int) -> int:
    """Return the largest number that has a property, if all smaller ones have it; `least` if none has it."""
    return max(least, least + bisect_left(range(least, most + 1), True, key=lambda count: not holds(count)) - 1)


def n_columns(subspace: Subspace, sizes: Sequence[int], n_levels: Mapping[int, int], plan: Sequence[int]) -> int:
    """Return the number of columns of a span.

    Examples
    --------
    >>> n_columns((0, 3), (12, 8), {3: 100}, (100, 20))
    160
    """
    t = len(subspace) - 1
    return prod(min(n_levels[j], plan[t]) if j in n_levels else sizes[t] for j in subspace)


def gram_bytes(
    subspaces: Sequence[Subspace], sizes: Sequence[int], n_levels: Mapping[int, int], plan: Sequence[int]
) -> float:
    """Return the memory of the Gram matrices of all subspaces, each with its subsets.

    Examples
    --------
    >>> gram_bytes([(0,), (1,), (0, 1)], (3, 2), {}, ())
    944.0
    """
    columns = {u: n_columns(u, sizes, n_levels, plan) for u in subspaces}
    inside = (sum(columns.get(v, 0) for t in range(len(u)) for v in combinations(u, t + 1)) for u in subspaces)
    return 8.0 * sum(float(p) ** 2 for p in inside)


def merged_levels(basis: Basis) -> list[tuple[int, int, int, int]]:
    """Return where levels share an indicator: variable, order of spans, numbers of all levels and of the merged ones.

    Examples
    --------
    >>> from fasthdmr._spans.axes import Axis
    >>> axes = [Axis.of_levels(0, 9, 9), Axis.of_levels(0, 9, 4), Axis.of_levels(1, 2, 2)]
    >>> merged_levels(Basis(axes, [(0,), (0, 1)], [[0], [1, 2]]))
    [(0, 2, 9, 6)]
    """
    axes = {(basis.axes[a].variable, len(of)): basis.axes[a] for of in basis.axes_of for a in of}
    found = [(*key, axis.n_levels, axis.n_levels - axis.size + 1) for key, axis in axes.items() if axis.is_categorical]
    return sorted(merge for merge in found if merge[3] > 1)
