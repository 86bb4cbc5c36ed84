"""The columns that represent decompositions in spans: those of the black box, and those of the spans."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from numpy.typing import NDArray
from scipy.sparse import csc_array

from fasthdmr import _core
from fasthdmr._dictionaries.dictionary import Dictionary, ExtendedDictionary
from fasthdmr._dictionaries.tree_columns import TreeDictionary
from fasthdmr._dictionaries.tree_output import TreeOutput
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._spans.basis import Basis
from fasthdmr._spans.fit import Regression, solve_trees, solve_values
from fasthdmr._spans.nearest_cells import Support
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats, Integers


class SpanDictionary(ExtendedDictionary):
    """The columns of the black box and of the spans, which together represent a decomposition in spans.

    Parameters
    ----------
    given : Dictionary
        The columns of the black box.
    n_given : sequence of int
        Their number, for each output.
    basis : Basis
    regression : Regression
    support : Support or None
        Where components of pairs are evaluated; None: anywhere.
    """

    basis: Basis

    def __init__(
        self,
        given: Dictionary,
        n_given: Sequence[int],
        basis: Basis,
        regression: Regression,
        support: Support | None = None,
    ) -> None:
        super().__init__(given, n_given)
        self.basis, self.regression, self.support = basis, regression, support

    def added(self, output: int) -> _core.Spans:
        """Return the spans, which all outputs share."""
        return self.basis.core

    def changes(
        self, rows: NDArray[Any], output: int, weights: csc_array, subspaces: Sequence[Subspace]
    ) -> Iterable[tuple[int, Integers, Floats]]:
        """Yield the corrections of components at unknown levels, and of pairs at points in cells without rows."""
        if self.support is None:
            return
        yield from self.support.changes(rows, weights, subspaces, self.n_given[output])
        for c, zero in self.support.zeros(rows, subspaces):
            yield c, zero, -self.evaluate(rows[zero], output, weights[:, [c]], 1)[:, 0]

    @abstractmethod
    def solve_again(
        self,
        solutions: Sequence[Solution],
        rows: Floats,
        weights: Floats,
        values: Floats | None,
        share: float,
        n_threads: int,
    ) -> list[Solution]:
        """Return the solutions on other rows or with other weights, for the same black box.

        `values` are the values of the black box at the rows, (N, K), if it is known by its values only. The ridge
        becomes that of a `share` of the fitted rows.
        """


class TreeSpans(SpanDictionary):
    """Trees and spans. Every term of the trees is projected within its own subspace."""

    given: TreeDictionary

    def outputs(self, solutions: Sequence[Solution]) -> list[TreeOutput]:
        """Return the black boxes of the solutions as linear combinations of trees."""
        outputs = []
        for columns, b, s in zip(self.given.columns, self.n_given, solutions, strict=True):
            box = s.black_box.toarray()[: b + 1, 0]
            outputs.append(TreeOutput(columns, float(box[0]), box[1:], s.scale))
        return outputs

    def solve_again(
        self,
        solutions: Sequence[Solution],
        rows: Floats,
        weights: Floats,
        values: Floats | None,
        share: float,
        n_threads: int,
    ) -> list[Solution]:
        """Return solutions on other rows (see `SpanDictionary`)."""
        regression = self.regression.of_share(share)
        return solve_trees(rows, weights, self.basis, self.outputs(solutions), regression, n_threads=n_threads)


class ValueSpans(SpanDictionary):
    """A function, or data, and spans. The values are projected on all spans jointly."""

    def solve_again(
        self,
        solutions: Sequence[Solution],
        rows: Floats,
        weights: Floats,
        values: Floats | None,
        share: float,
        n_threads: int,
    ) -> list[Solution]:
        """Return solutions on other rows (see `SpanDictionary`)."""
        assert values is not None
        regression = self.regression.of_share(share)
        return solve_values(rows, weights, self.basis, values, regression=regression, n_threads=n_threads)[0]
