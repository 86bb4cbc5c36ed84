"""The fidelity of a decomposition: R² of the components against the black box, at rows used and not used for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._cached import cached_property
from fasthdmr._tables import four_decimals
from fasthdmr._threads import one_blas_thread
from fasthdmr.hierarchy import Solution
from fasthdmr.leave_out import EXACT_ROWS, WORK, Rows

if TYPE_CHECKING:
    from fasthdmr.decomposition import Decomposition

Floats = NDArray[np.float64]

_MOST_VALUES = 4e6  # of terms at rows, which keeps the time to a second or two
_LEAST_ROWS = 200


@dataclass(frozen=True, eq=False)
class Fidelity:
    """R² of f_0 plus the components against the black box, worked out at first use on at most 2,000 of the rows.

    Attributes
    ----------
    decomposition : Decomposition
        In spans, with a sample of its rows.
    """

    decomposition: Decomposition

    @property
    def used(self) -> Floats:
        """At the rows that the components were fitted on, (K,)."""
        used: Floats = self._both[0]
        return used

    @property
    def unused(self) -> Floats:
        """At rows that they were not fitted on, (K,): every row is left out by turns, the knots staying as they are."""
        unused: Floats = self._both[1]
        return unused

    def line(self, output: int) -> str:
        """Return what is printed of one output."""
        used, unused = four_decimals(self.used[output]), four_decimals(self.unused[output])
        return f"Fidelity {used} on rows that were used, {unused} on rows that were not (leave-one-out)"

    @cached_property
    def _both(self) -> Floats:
        decomposition, sample = self.decomposition, self.decomposition.sample
        assert sample is not None
        used = np.flatnonzero(sample.weights > 0)
        terms = max(len(s.coef) for s in decomposition.solutions)
        used = used[:: -(-len(used) // max(_LEAST_ROWS, min(EXACT_ROWS, int(_MOST_VALUES / max(terms, 1)))))]
        X, weights = sample.rows[used], sample.weights[used]
        f = decomposition.black_box(X) if sample.values is None else sample.values[used]
        f = f.reshape(len(X), -1)
        left = f - decomposition.predict(X).reshape(len(X), -1)
        with one_blas_thread():
            return r_squared(decomposition.dictionary, decomposition.solutions, X, weights, f, left)


def r_squared(
    dictionary: Any,
    solutions: Sequence[Solution],
    X: NDArray[Any],
    weights: Floats,
    f: Floats,
    left: Floats,
    work: float = WORK,
) -> Floats:
    """Return R² of decompositions in spans at rows that were used and, by leave-one-out, not used for them.

    Parameters
    ----------
    dictionary : SpanDictionary
    solutions : sequence of Solution, length K
    X : ndarray of shape (m, n)
        Rows that the components were fitted on, or some of them.
    weights : ndarray of shape (m,)
        All positive.
    f : ndarray of shape (m, K)
        The black box.
    left : ndarray of shape (m, K)
        What f_0 and the components leave of it.
    work : float
        Multiplications that leverages may take.

    Returns
    -------
    ndarray of shape (2, K)
    """
    result = np.ones((2, len(solutions)))
    for k, solution in enumerate(solutions):
        if solution.is_constant or solution.projection is None:
            continue
        rows = Rows(X, weights, solution.projection.n_effective)
        black_box = solution.black_box.toarray()[:, 0] / solution.scale
        missed = left[:, k] / solution.scale
        unused = solution.projection.unused(rows, dictionary, k, black_box, missed, work)
        values = f[:, k] / solution.scale
        variance = rows.share @ (values - rows.share @ values) ** 2
        result[:, k] = 1 - np.array([rows.share @ missed**2, rows.share @ unused**2]) / variance
    return result
