"""The B-splines of one variable: its knots, its normal scores, and the values of the splines (spec 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fasthdmr import _core
from fasthdmr._support.cached import cached_property
from fasthdmr._support.steps import steps
from fasthdmr._support.typing import Floats

_KNOT_ROWS = 100_000  # knots are quantiles of a subsample of about this size
_PROFILE_BYTES = 3e7  # of profiles that are computed together: every value may be distinct
_INNER = (0.25, 0.75), (0.05, 0.95), (0.0, 1.0)  # levels of the interquartile range and of two wider ranges
_SKEWED = 3.0  # a variable is skewed if a range is wider than the next smaller one by this factor; normal: 2 to 2.7
_FEW_VALUES = 12
_LEAST_RANK = 1e-9  # bounds the normal scores of extreme rows with tiny weights
_SCORE_NODES = 256


class Axis(NamedTuple):
    """The B-splines of one variable.

    Attributes
    ----------
    variable, degree : int
    knots : list of float
        Clamped knots, in units of the normal scores if there are any.
    missing : bool
        Whether there is an indicator column for missing values.
    scores : (list of float, list of float)
        Increasing values of the variable and their normal scores. B-splines are functions of the score, interpolated
        linearly between these values. If empty, B-splines are functions of the variable itself.
    is_categorical : bool
        Whether values are codes of levels. Then columns are indicators of levels, or of several levels with consecutive
        codes, and all of them are 0 at codes outside the knots.
    """

    variable: int
    degree: int
    knots: list[float]
    missing: bool
    scores: tuple[list[float], list[float]] = ([], [])
    is_categorical: bool = False

    @property
    def size(self) -> int:
        """The number of columns."""
        return len(self.knots) - self.degree - 1 + self.missing

    @classmethod
    def of_levels(cls, variable: int, n_levels: int, size: int) -> Axis:
        """Return an axis of indicators of levels. If there are more levels than columns, the last ones share a column.

        Examples
        --------
        >>> Axis.of_levels(0, 5, 3).knots
        [-0.5, 0.5, 1.5, 4.5]
        """
        first = np.arange(min(size, n_levels)) - 0.5
        return cls(variable, 0, [*first.tolist(), n_levels - 0.5], False, is_categorical=True)

    @property
    def n_levels(self) -> int:
        """The number of levels of a categorical variable."""
        return int(self.knots[-1] + 0.5)


@dataclass(frozen=True, eq=False)
class Profile:
    """The distinct values of a variable, and the total weight of each."""

    values: Floats
    weights: Floats
    has_missing: bool

    @classmethod
    def of(cls, X: NDArray[Any], weights: Floats | None, columns: Iterable[int], n_threads: int) -> Iterator[Profile]:
        """Yield the profiles of columns, from a subsample of evenly spaced rows if there are many rows."""
        step, given = max(1, len(X) // _KNOT_ROWS), list(columns)
        n_bytes = 16.0 * -(-len(X) // step)
        for part in steps(len(given), n_bytes, _PROFILE_BYTES):
            for profile in _core.value_profiles(X, weights, step, given[part], n_threads):
                yield cls(*profile)

    @property
    def is_constant(self) -> bool:
        """Whether all rows have the same value, or all values are missing."""
        return len(self.values) + self.has_missing < 2

    def check_range(self, variable: int) -> None:
        """Raise an error if the range of the variable overflows."""
        if len(self.values) == 0:
            return
        least, largest = self.values[0], self.values[-1]
        if largest / 2 - least / 2 > np.finfo(float).max / 2:
            raise ValueError(
                f"X has values from {least:.3g} to {largest:.3g} in column {variable}, and the difference overflows. "
                "Divide the column by a power of ten."
            )

    @property
    def is_skewed(self) -> bool:
        """Whether the variable has heavy tails, so that B-splines of it would be nearly linear for most rows.

        This is the case if the whole range is several times as wide as that between the 5 % and 95 % quantiles, or
        if the latter is several times as wide as the interquartile range. One of the two shows even in small samples.
        """
        if len(self.values) <= _FEW_VALUES:
            return False
        with np.errstate(over="ignore"):  # check_range raises the error
            half, most, whole = (np.diff(self.quantiles(np.array(levels)))[0] for levels in _INNER)
            return bool(np.isfinite(whole) and (whole > _SKEWED * most or most > _SKEWED * half))

    def scored(self) -> tuple[Profile, tuple[list[float], list[float]]]:
        """Return the profile of the normal scores, and the table for interpolating them.

        The normal score of a value is the standard normal quantile of its relative rank (the weight below it plus half
        of the weight at it, over the total). It is invariant under increasing transformations of the variable. For a
        normal variable it is the standardised variable.
        """
        ranks = (np.cumsum(self.weights) - self.weights / 2) / self.weights.sum()
        scores = ndtri(np.clip(ranks, _LEAST_RANK, 1 - _LEAST_RANK))
        n = len(scores)
        # Evenly spaced scores: in heavy tails, a few values far apart would share the linear piece between even ranks.
        nodes = np.unique(np.searchsorted(scores, np.linspace(scores[0], scores[-1], _SCORE_NODES)))
        below = np.clip(np.searchsorted(nodes, np.arange(n), side="right") - 1, 0, len(nodes) - 2)
        first, last = nodes[below], nodes[below + 1]
        # The same operations as in C++, so that a value at a knot has exactly the score of the knot.
        share = (self.values - self.values[first]) / (self.values[last] - self.values[first])
        interpolated = scores[first] + share * (scores[last] - scores[first])
        table = self.values[nodes].tolist(), scores[nodes].tolist()
        return Profile(interpolated, self.weights, self.has_missing), table

    @cached_property
    def _coordinate(self) -> tuple[Profile, tuple[list[float], list[float]]]:
        """The profile of what splines are functions of, and a table of scores if that is not the variable itself."""
        return self.scored() if self.is_skewed else (self, ([], []))

    def axes(self, variable: int, sizes: Sequence[int], degree: int) -> list[Axis]:
        """Return the axes of a variable for decreasing sizes. Splines of a skewed variable use its normal scores."""
        profile, scores = self._coordinate if degree > 0 else (self, ([], []))
        return [Axis(variable, d, knots, self.has_missing, scores) for d, knots in profile.knots(sizes, degree)]

    def knots(self, sizes: Sequence[int], degree: int) -> list[tuple[int, list[float]]]:
        """Return degree and clamped knots for decreasing sizes. A variable with few values gets one bin per value.

        The knots of a smaller size are a subset of those of the larger size before it. Then the span of a pair contains
        only functions of one variable that are in the span of that variable, which makes the components unique.
        """
        result: list[tuple[int, list[float]]] = []
        finer: Floats | None = None
        for size in sizes:
            as_bins = degree == 0 or len(self.values) <= max(size, 2)
            d = 0 if as_bins else min(degree, size - 1)
            intervals = size - d
            if finer is not None and intervals < len(finer) - 1:
                inner = finer[np.rint(np.linspace(0, len(finer) - 1, intervals + 1)).astype(int)]
            else:
                inner = self._edges(size) if as_bins else np.unique(self.quantiles(np.linspace(0, 1, intervals + 1)))
            finer = inner
            result.append((d, [*[inner[0]] * d, *inner.tolist(), *[inner[-1]] * d]))
        return result

    def _edges(self, size: int) -> Floats:
        """Return the edges of bins: one bin per value if there are few values, else quantile bins."""
        values = self.values
        if len(values) == 0:
            return np.array([0.0, 1.0])  # all values are missing
        if len(values) > size:
            lower = np.searchsorted(values, self.quantiles(np.linspace(0, 1, size + 1)[1:-1]), side="right")
            cuts = np.unique(lower[(lower > 0) & (lower < len(values))])
        else:
            cuts = np.arange(1, len(values))
        # A bin includes its lower edge, so the edge between two values is the larger one.
        return np.concatenate([[values[0] - 1.0], values[cuts], [values[-1] + 1.0]])

    @cached_property
    def _cumulative(self) -> Floats:
        """The weight of all values up to each of them."""
        cumulative: Floats = np.cumsum(self.weights)
        return cumulative

    def quantiles(self, levels: Floats) -> Floats:
        """Return weighted quantiles: the smallest value at which the cumulative weight reaches the level."""
        share = self._cumulative
        position = np.searchsorted(share, levels * share[-1] * (1 - 1e-12), side="left")
        found: Floats = self.values[np.minimum(position, len(self.values) - 1)]
        return found


def axis_columns(axis: Axis, values: Floats) -> Floats:
    """Return the values of all columns of an axis, (N, m), at values of its variable."""
    return columns_of_axes([axis], values[:, None])[0]


def columns_of_axes(axes: Sequence[Axis], values: Floats) -> list[Floats]:
    """Return the values of all columns of each axis, (N, m), at values of its variable; these have shape (N, axes)."""
    numbers = range(len(axes))
    core = _core.Spans([axes[k]._replace(variable=k) for k in numbers], [(k,) for k in numbers], [[k] for k in numbers])
    m = core.n_columns - 1
    found = core.evaluate(np.ascontiguousarray(values), np.arange(m + 1), np.arange(1, m + 1), np.ones(m), 1)
    return np.split(found, core.first_columns[1:] - 1, axis=1)


def axis_kernel(axis: Axis, columns: Floats, rows: slice = slice(None)) -> Floats:
    """Return the products of the columns of an axis at some rows and at all rows, (M, N).

    Examples
    --------
    >>> axis = Axis.of_levels(0, 2, 2)
    >>> axis_kernel(axis, axis_columns(axis, np.array([0.0, 1.0, 0.0])), slice(2))
    array([[1., 0., 1.],
           [0., 1., 0.]])
    """
    if not axis.is_categorical:
        return np.asarray(columns[rows] @ columns.T)
    level = columns @ np.arange(1.0, axis.size + 1)  # 0: unknown
    return np.asarray((level == level[rows, None]) & (level > 0), dtype=np.float64)


def coarsen(axis: Axis, size: int) -> Axis:
    """Return an axis with fewer columns, whose span is contained in that of the given axis."""
    if axis.is_categorical:
        return Axis.of_levels(axis.variable, axis.n_levels, min(size, axis.size))
    if len(axis.knots) - axis.degree - 1 <= size:
        return axis
    breaks = np.unique(axis.knots)
    coarse = min(axis.degree, size - 1)
    inner = breaks[np.rint(np.linspace(0, len(breaks) - 1, size - coarse + 1)).astype(int)]
    return axis._replace(degree=coarse, knots=[*[inner[0]] * coarse, *inner.tolist(), *[inner[-1]] * coarse])


def refinements(coarse: Sequence[Axis], fine: Sequence[Axis]) -> list[Floats]:
    """Return matrices E with B_coarse = B_fine E, by interpolation. They exist since coarse knots are fine knots.

    Examples
    --------
    >>> fine = Axis(0, 3, [0.0] * 4 + [0.5] + [1.0] * 4, False)
    >>> coarse, x = coarsen(fine, 4), np.array([0.1, 0.7])
    >>> bool(np.allclose(axis_columns(fine, x) @ refinements([coarse], [fine])[0], axis_columns(coarse, x)))
    True
    """
    points, alike = [], dict[tuple[int, int, int], list[int]]()
    for k, (one, other) in enumerate(zip(coarse, fine, strict=True)):
        breaks = np.unique(other.knots)
        inside = (np.arange(other.degree + 1) + 0.5) / (other.degree + 1)
        at = (breaks[:-1, None] + np.diff(breaks)[:, None] * inside).ravel()
        points.append(np.append(at, np.nan) if other.missing else at)
        alike.setdefault((len(points[k]), one.size, other.size), []).append(k)
    matrices: list[Floats] = [np.empty(0)] * len(fine)
    for numbers in alike.values():
        at = np.column_stack([points[k] for k in numbers])
        # Both axes have the same normal scores.
        of_coarse, of_fine = (
            np.array(columns_of_axes([axes[k]._replace(scores=([], [])) for k in numbers], at))
            for axes in (coarse, fine)
        )
        inverse = np.linalg.pinv(of_fine, rcond=np.finfo(float).eps * max(of_fine.shape[1:]))
        for k, matrix in zip(numbers, inverse @ of_coarse, strict=True):
            matrices[k] = matrix
    return matrices
