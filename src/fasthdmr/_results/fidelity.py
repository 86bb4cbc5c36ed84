"""The fidelity of a decomposition: R² of the components against the black box, in sample and by leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasthdmr._solve.decomposed import Decomposed
from fasthdmr._spans.leave_out import EXACT_ROWS, r_squared
from fasthdmr._support.cached import cached_property
from fasthdmr._support.tables import four_decimals
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats

_MOST_VALUES = 4e6  # the largest number of values, terms times rows; it limits the time to a second or two
_LEAST_ROWS = 200


@dataclass(frozen=True, eq=False)
class Fidelity:
    """R² of f_0 plus the components against the black box, computed at first access on at most 2,000 of the rows.

    Attributes
    ----------
    decomposition : Decomposition
        A decomposition in splines or bins, with a sample of its rows.
    """

    decomposition: Decomposed

    @property
    def used(self) -> Floats:
        """R² at the rows on which the components were fitted, (K,)."""
        used: Floats = self._both[0]
        return used

    @property
    def unused(self) -> Floats:
        """Leave-one-out R², (K,): each row is predicted from a fit on all other rows, with the same knots."""
        unused: Floats = self._both[1]
        return unused

    def line(self, output: int) -> str:
        """Return the line of the fidelity in printed tables, for one output."""
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
