"""Sums over rows from which decompositions in spans follow. Those of several sets of rows can be added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from numpy.typing import NDArray

from fasthdmr import _core
from fasthdmr._spans.basis import Basis
from fasthdmr._support.typing import Floats

Pairs = Literal["inside", "terms", "all"]
"""The Gram blocks: of spans inside a common subspace, also of all spans that a term is projected on, or all."""

Outputs = list[tuple[_core.TreeColumns, list[float], float]]


@dataclass(frozen=True, eq=False)
class SpanSums:
    """Means and covariances of functions and of the columns of spans.

    Attributes
    ----------
    basis : Basis
    sums : _core.TermSums
        Of the terms and outputs, and their covariances with the columns.
    gram : _core.SpanGram
        Of the columns.
    """

    basis: Basis
    sums: _core.TermSums
    gram: _core.SpanGram

    @classmethod
    def of_trees(
        cls,
        basis: Basis,
        X: NDArray[Any],
        weights: Floats | None,
        outputs: Outputs,
        orders: list[list[int]],
        *,
        with_outputs: bool,
        with_terms: bool,
        pairs: Pairs | None,
        n_threads: int,
    ) -> Self:
        """Sum over rows, for the terms of trees.

        Parameters
        ----------
        basis : Basis
        X : ndarray of shape (N, n)
        weights : ndarray of shape (N,) or None
        outputs : list of tuple
            As `TreeOutput.scaled` returns them.
        orders : list of list of int
            By output and term: the largest order of the spans that it is projected on.
        with_outputs, with_terms : bool
            Whether to sum the outputs, and the squares of terms.
        pairs : str or None
            None: no Gram blocks.
        n_threads : int
        """
        sums = _core.tree_sums(
            basis.core,
            X,
            weight=weights,
            outputs=outputs,
            orders=orders,
            with_outputs=with_outputs,
            with_terms=with_terms,
            n_threads=n_threads,
        )
        if pairs is None:
            return cls(basis, sums, _core.SpanGram.restored(sums, ([], [])))
        return cls(basis, sums, _core.SpanGram(sums, X, weights, pairs, n_threads))

    @classmethod
    def of_values(
        cls, basis: Basis, X: NDArray[Any], weights: Floats | None, values: Floats, *, pairs: Pairs, n_threads: int
    ) -> Self:
        """Sum over rows, for functions given by their values, (N, K)."""
        sums = _core.array_sums(basis.core, X, weight=weights, values=values, n_threads=n_threads)
        return cls(basis, sums, _core.SpanGram(sums, X, weights, pairs, n_threads))

    def merged(self, other: SpanSums) -> SpanSums:
        """Return the sums over the rows of both."""
        sums = self.sums.merged(other.sums)
        return SpanSums(self.basis, sums, self.gram.merged(other.gram, sums))

    def project(
        self, X: NDArray[Any], weights: Floats | None, unprojected: Sequence[int], ridge: float, n_threads: int
    ) -> tuple[Floats, list[Floats]]:
        """Project terms on their spans: the sums of their coefficients, (columns, K), and those of each term.

        Gram blocks that are missing are computed from the rows.
        """
        return self.sums.project(self.gram, X, weights, list(unprojected), ridge, n_threads)

    def __getstate__(self) -> dict[str, Any]:
        return {"basis": self.basis, "sums": self.sums.state(), "gram": self.gram.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        sums = _core.TermSums.restored(state["basis"].core, state["sums"])
        parts = {"basis": state["basis"], "sums": sums, "gram": _core.SpanGram.restored(sums, state["gram"])}
        self.__dict__.update(parts)
