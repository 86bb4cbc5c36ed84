"""The fidelity of a decomposition: R² of the components against the black box, in sample and by leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasthdmr._solve.decomposed import Decomposed
from fasthdmr._spans.leave_out import EXACT_ROWS, r_squared
from fasthdmr._support.cached import cached_property
from fasthdmr._support.scale import Deviations, in_units
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
        used: Floats = self.both[0]
        return used

    @property
    def unused(self) -> Floats:
        """Leave-one-out R², (K,): each row is predicted from a fit on all other rows, with the same knots."""
        unused: Floats = self.both[1]
        return unused

    def line(self, output: int) -> str:
        """Return the line of the fidelity in printed tables, for one output."""
        return fidelity_line(float(self.used[output]), float(self.unused[output]))

    @cached_property
    def both(self) -> Floats:
        """`used` and `unused`, (2, K)."""
        decomposition = self.decomposition
        X, weights, f, left = _on_rows(decomposition)
        with one_blas_thread():
            return r_squared(decomposition.dictionary, decomposition.solutions, X, weights, f, left)


def fidelity_line(used: float, unused: float | None) -> str:
    """Return the fidelity of one output as a line of text."""
    line = f"Fidelity {four_decimals(used)} on rows that were used"
    return line + ("" if unused is None else f", {four_decimals(unused)} on rows that were not (leave-one-out)")


def used_fidelity(decomposition: Decomposed) -> Floats | None:
    """Return R² of f_0 plus the components against the black box at the fitted rows, (K,).

    None if no rows are kept, or if the measure is not their distribution.
    """
    sensitivity = decomposition.sensitivity
    if sensitivity.fidelity is not None:
        used: Floats = sensitivity.fidelity.used
        return used
    if sensitivity.uncertainty is None:
        return None
    _, weights, f, left = _on_rows(decomposition)
    black_box, missed = Deviations.of(f, weights), Deviations.of(left, weights)
    with np.errstate(all="ignore"):
        ratio = in_units(missed.variance, missed.scale / black_box.scale) + (missed.mean / black_box.scale) ** 2
        return np.where(black_box.is_constant, 1.0, 1 - ratio / black_box.variance)


def _on_rows(decomposition: Decomposed) -> tuple[Floats, Floats, Floats, Floats]:
    """Return rows of the sample, (m, n), their weights, the black box and the residual there, (m, K)."""
    sample = decomposition.sample
    assert sample is not None
    used = np.flatnonzero(sample.weights > 0)
    terms = max(len(s.coef) for s in decomposition.solutions)
    used = used[:: -(-len(used) // max(_LEAST_ROWS, min(EXACT_ROWS, int(_MOST_VALUES / max(terms, 1)))))]
    X, weights = sample.rows[used], sample.weights[used]
    f = decomposition.black_box(X) if sample.values is None else sample.values[used]
    f = f.reshape(len(X), -1)
    return X, weights, f, f - decomposition.predict(X).reshape(len(X), -1)
