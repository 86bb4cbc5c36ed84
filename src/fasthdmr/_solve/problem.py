"""The problem that every strategy solves: the measure, and the components to keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from fasthdmr._dictionaries.dictionary import Dictionary
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._support.groups import Groups
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats
from fasthdmr._support.weights import RowCounts


@dataclass(frozen=True)
class Kept:
    """The set of subspaces whose components are kept. Other components are part of the residual.

    Attributes
    ----------
    order : int or None
        The largest order. None: no limit.
    interactions : frozenset of tuple of int or None
        The subspaces of order 2 and more. None: all that occur.

    Examples
    --------
    >>> kept = Kept(2, frozenset({(0, 1)}))
    >>> [u in kept for u in [(2,), (0, 1), (0, 2), (0, 1, 2)]]
    [True, True, False, False]
    """

    order: int | None = None
    interactions: frozenset[Subspace] | None = None

    def __contains__(self, subspace: Subspace) -> bool:
        """Return whether the component of a subspace is kept."""
        if self.order is not None and len(subspace) > self.order:
            return False
        return self.interactions is None or len(subspace) == 1 or subspace in self.interactions


@dataclass(frozen=True, eq=False)
class Problem:
    """The rows whose empirical distribution is the measure, and options of the decomposition.

    Attributes
    ----------
    X : ndarray of shape (N, n)
    weights : ndarray of shape (N,) or None
        None: equal weights.
    kept : Kept
    targets : ndarray of shape (N, K) or None
        y, if models are fitted to it or indices are divided by its variance.
    n_threads : int
    verbose : int
        Whether to print progress and choices.
    n_levels : dict of int to int
        The number of levels of each categorical column. Such a column holds codes 0, 1, … of levels, the most frequent
        first, and the number of levels in place of unknown ones.
    groups : Groups or None
        The columns of X that each variable consists of. None: each column is one variable.
    """

    X: NDArray[Any]
    weights: Floats | None
    kept: Kept
    targets: Floats | None = None
    n_threads: int = 1
    verbose: int = 0
    n_levels: Mapping[int, int] = field(default_factory=dict)
    groups: Groups | None = None

    @property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(len(self.X)) if self.weights is None else float(self.weights.sum())

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return int(self.X.shape[1]) if self.groups is None else len(self.groups.columns)

    @property
    def largest_order(self) -> int:
        """The largest order that components can have."""
        n = self.n_variables
        return n if self.kept.order is None else min(int(self.kept.order), n)

    def part(self, rows: slice) -> tuple[NDArray[Any], Floats | None]:
        """Return a slice of the rows and of the weights."""
        return self.X[rows], None if self.weights is None else self.weights[rows]


class Strategy(Protocol):
    """A black box with a method to compute its components."""

    def solve(self, problem: Problem) -> tuple[Dictionary, list[Solution]]:
        """Return the dictionary whose columns represent the components, and the components of every output."""
        ...


class Merged(Protocol):
    """Sums over rows that can be added."""

    def merged(self, other: Any) -> Any:
        """Return the sums over the rows of both."""
        ...


class Additive(Protocol):
    """A black box with a method to compute its components from sums over rows."""

    def plan(self, problem: Problem, basis: Any = None) -> Any:
        """Return what all sets of rows have in common, such as the spans; `basis` is that of another estimator."""
        ...

    def sums(self, plan: Any, problem: Problem) -> Merged:
        """Return sums over the rows of a problem."""
        ...

    def solve_sums(
        self, plan: Any, sums: Any, counts: RowCounts, problem: Problem
    ) -> tuple[Dictionary, list[Solution]]:
        """Return the dictionary and the components of every output. Of `problem`, the options are used."""
        ...
