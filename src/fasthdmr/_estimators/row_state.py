"""What an estimator keeps of its rows if it sees them in parts: sums, counts, and a sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._solve.problem import Merged, Problem
from fasthdmr._support.sample import DistinctSample, Sample
from fasthdmr._support.scale import Deviations
from fasthdmr._support.typing import Floats
from fasthdmr._support.weights import RowCounts


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of an estimator, and the strategy that decomposes them.

    Attributes
    ----------
    strategy : Additive
    problem : Problem
    rows : ndarray of shape (N, n)
        The rows of the sample that is kept with the decomposition.
    values : ndarray of shape (N, K) or None
        The black box there, if it may be slow or is known by its values only.
    """

    strategy: Any
    problem: Problem
    rows: NDArray[Any]
    values: Floats | None = None


@dataclass(frozen=True, eq=False)
class RowState:
    """Sums over rows, and all else that a decomposition needs of them. Those of several sets of rows can be added.

    Attributes
    ----------
    sums : Merged
        Those of the strategy.
    counts : RowCounts
    sampled : DistinctSample
    targets : Deviations or None
        The moments of y, if indices are divided by its variance.
    """

    sums: Merged
    counts: RowCounts
    sampled: DistinctSample
    targets: Deviations | None

    @classmethod
    def of(cls, part: Part, plan: Any, *, with_targets: bool) -> RowState:
        """Sum over the rows of a part."""
        problem, targets = part.problem, None
        if with_targets and problem.targets is not None:
            found = Deviations.of(problem.targets, problem.weights)
            targets = replace(found, values=np.empty((0, found.values.shape[1])))
        counts = RowCounts.of(len(problem.X), problem.weights)
        sampled = DistinctSample.of(part.rows, problem.weights, part.values)
        return cls(part.strategy.sums(plan, problem), counts, sampled, targets)

    def merged(self, other: RowState) -> RowState:
        """Return the sums over the rows of both."""
        counts, targets = self.counts.merged(other.counts), None
        if self.targets is not None and other.targets is not None:
            targets = self.targets.merged(other.targets, other.counts.total / counts.total)
        return RowState(self.sums.merged(other.sums), counts, self.sampled.merged(other.sampled), targets)

    def sample(self) -> Sample:
        """Return a sample of all rows."""
        return self.sampled.sample(self.counts.kish)
