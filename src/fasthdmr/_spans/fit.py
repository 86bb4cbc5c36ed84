"""Decompositions of trees, or of any function, in spans of splines or bins (spec 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, vstack

from fasthdmr import _core
from fasthdmr._dictionaries.tree_output import TreeOutput
from fasthdmr._solve.hierarchy import Projection, Solution
from fasthdmr._spans.basis import Basis, Refinement, coarse_basis
from fasthdmr._spans.joint_fit import JointFit, fit_jointly, fit_system, primal_system
from fasthdmr._spans.leave_out import LocalProjection
from fasthdmr._spans.span_sums import Pairs, SpanSums
from fasthdmr._support.scale import Deviations, is_constant
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats
from fasthdmr._support.weights import RowCounts

RIDGE = 0.5
"""The penalty on the coefficients of a span of p columns is RIDGE / (N p), N the effective number of rows (spec 3)."""

_FULL_SIZES = 4  # terms of at most this many variables are projected on spans of full size
_PAIRS = 8  # terms of at most this many variables are projected on coarse spans of pairs, larger ones on main effects


@dataclass(frozen=True)
class Regression:
    """The settings of a ridge regression on spans. Confidence intervals treat them as fixed.

    Attributes
    ----------
    n_effective : float
        The effective number of rows.
    smooth : bool
        Whether all terms of trees are projected. If not, components keep the terms of their own subspaces unprojected.
    factor : float
        The constant c of the penalty c / (N p) of a joint projection.
    """

    n_effective: float
    smooth: bool = True
    factor: float = RIDGE

    @property
    def ridge(self) -> float:
        """RIDGE / N, the penalty of projections of terms and of the top-down pass, before division by p."""
        return RIDGE / self.n_effective

    def of_share(self, share: float) -> Regression:
        """Return the settings for a share of the rows."""
        return replace(self, n_effective=share * self.n_effective)


def effective_rows(n_rows: int, weights: Floats | None) -> float:
    """Return the effective number of rows: the sum of the weights if all are whole, else Kish's (sum w)² / sum w².

    Whole weights are repetition counts, so that they give the same result as repeated rows (spec 3).

    Examples
    --------
    >>> effective_rows(3, np.array([2.0, 1.0, 0.0])), effective_rows(2, np.array([0.5, 0.5]))
    (3.0, 2.0)
    """
    return RowCounts.of(n_rows, weights).effective


def solve_trees(
    X: NDArray[Any],
    weights: Floats | None,
    basis: Basis,
    outputs: Sequence[TreeOutput],
    regression: Regression,
    *,
    n_threads: int,
) -> list[Solution]:
    """Decompose tree ensembles: every term is projected within its own subspace, then the top-down pass follows.

    Parameters
    ----------
    X : ndarray of shape (N, n)
    weights : ndarray of shape (N,) or None
    basis : Basis
        Its subspaces are those whose components are kept.
    outputs : sequence of TreeOutput
    regression : Regression
    n_threads : int

    Returns
    -------
    list of Solution
    """
    sums = TreeSums.of(X, weights, basis, outputs, smooth=regression.smooth, pairs="inside", n_threads=n_threads)
    return sums.solve(outputs, regression, n_threads, X, weights)


@dataclass(frozen=True, eq=False)
class TreeSums:
    """Sums over rows from which the decomposition of tree ensembles follows.

    Attributes
    ----------
    fine : SpanSums
        With the spans of the components.
    coarse : SpanSums or None
        With coarse spans, for terms of many variables.
    refine : Refinement or None
        The map from coefficients on coarse spans to those on the spans of the components.
    """

    fine: SpanSums
    coarse: SpanSums | None
    refine: Refinement | None

    @classmethod
    def of(
        cls,
        X: NDArray[Any],
        weights: Floats | None,
        basis: Basis,
        outputs: Sequence[TreeOutput],
        *,
        smooth: bool,
        pairs: Pairs,
        n_threads: int,
    ) -> Self:
        """Sum over rows (arguments: see `solve_trees` and `SpanSums`)."""
        terms = [output.columns.subspaces for output in outputs]
        crossing = [output.scaled() for output in outputs]
        orders, coarse_orders = projection_orders(basis, terms)
        with one_blas_thread():
            fine = SpanSums.of_trees(
                basis,
                X,
                weights,
                crossing,
                orders,
                with_outputs=True,
                with_terms=not smooth,
                pairs=pairs,
                n_threads=n_threads,
            )
            coarse = refine = None
            if any(map(any, coarse_orders)):
                of_coarse, refine = coarse_basis(basis)
                coarse = SpanSums.of_trees(
                    of_coarse,
                    X,
                    weights,
                    crossing,
                    coarse_orders,
                    with_outputs=False,
                    with_terms=False,
                    pairs=None if pairs == "inside" else pairs,  # no component is on coarse spans
                    n_threads=n_threads,
                )
        return cls(fine, coarse, refine)

    def merged(self, other: TreeSums) -> TreeSums:
        """Return the sums over the rows of both."""
        coarse = None
        if self.coarse is not None and other.coarse is not None:
            coarse = self.coarse.merged(other.coarse)
        return TreeSums(self.fine.merged(other.fine), coarse, self.refine)

    def solve(
        self,
        outputs: Sequence[TreeOutput],
        regression: Regression,
        n_threads: int,
        X: NDArray[Any],
        weights: Floats | None,
    ) -> list[Solution]:
        """Return the components of every output. Gram blocks that are missing are computed from the rows."""
        basis, ridge, smooth = self.fine.basis, regression.ridge, regression.smooth
        span_of = basis.number
        terms = [output.columns.subspaces for output in outputs]
        orders, coarse_orders = projection_orders(basis, terms)
        kept = [[-1] * len(span_of) for _ in outputs] if smooth else kept_terms(basis, terms)
        with one_blas_thread():
            whole = [t for numbers in kept for t in numbers if t >= 0]
            coefficients, by_term = self.fine.project(X, weights, whole, ridge, n_threads)
            bases = [basis]
            if self.coarse is not None and self.refine is not None:
                bases.append(self.coarse.basis)
                more, of_coarse = self.coarse.project(X, weights, [], ridge, n_threads)
                coefficients += self.refine(more)
                by_term = [b if len(b) else c for b, c in zip(by_term, of_coarse, strict=True)]
            results = self.fine.sums.top_down(self.fine.gram, coefficients, kept, ridge, n_threads)
        solutions, first = [], 0
        for k, output in enumerate(outputs):
            of_term = [(0, t) if t else (1, c) for t, c in zip(orders[k], coarse_orders[k], strict=True)]
            own_terms = by_term[first : first + len(of_term)]
            first += len(of_term)
            projection = LocalProjection(bases, of_term, own_terms, ridge, regression.n_effective)
            black_box = output.black_box().toarray()[:, 0]
            own = [] if smooth else [(j, span_of[u]) for j, u in enumerate(output.subspaces) if u in span_of]
            solution = _solution(results[k], basis, black_box, own, 0.0, output.scale, projection)
            coef = solution.coef if output.beta is None else output.beta
            solutions.append(replace(solution, coef=coef, alpha=output.alpha))
        return solutions


def projection_orders(basis: Basis, terms: Sequence[Sequence[Subspace]]) -> tuple[list[list[int]], list[list[int]]]:
    """Return the largest orders of the full spans and of the coarse spans that terms are projected on.

    Both are lists by output and term. An order of 0 means that the term is not projected on these spans.
    """
    kept = set(basis.subspaces)
    orders, coarse_orders = [], []
    for subspaces in terms:
        is_coarse = [u not in kept and _FULL_SIZES < len(u) <= _PAIRS for u in subspaces]
        largest = [_projection_order(len(u), is_kept=u in kept) for u in subspaces]
        orders.append([0 if coarse else order for coarse, order in zip(is_coarse, largest, strict=True)])
        coarse_orders.append([order if coarse else 0 for coarse, order in zip(is_coarse, largest, strict=True)])
    return orders, coarse_orders


def _projection_order(n_variables: int, *, is_kept: bool) -> int:
    """Return the largest order of the spans that a term is projected on, given whether its own component is kept."""
    if is_kept or n_variables <= _FULL_SIZES:
        return n_variables
    return 2 if n_variables <= _PAIRS else 1


def projected_subspaces(terms: Iterable[Subspace], order: int) -> set[Subspace]:
    """Return the subspaces up to an order on whose spans some term is projected. No others have components.

    Terms of many variables, such as those of deep trees, are projected on few of their subsets.

    Examples
    --------
    >>> deep, pair = tuple(range(9)), (2, 11)
    >>> sorted(projected_subspaces([deep, pair], 2) - {(j,) for j in deep})
    [(2, 11), (11,)]
    """
    found: set[Subspace] = set()
    for u in set(terms):
        for t in range(1, min(order, _projection_order(len(u), is_kept=len(u) <= order)) + 1):
            found.update(combinations(u, t))
    return found


def kept_terms(basis: Basis, terms: Sequence[Sequence[Subspace]]) -> list[list[int]]:
    """Return the unprojected term of each component, -1 for none.

    The result is a list by output and span. Terms are numbered through all outputs.
    """
    result, first = [], 0
    for subspaces in terms:
        number = {u: first + t for t, u in enumerate(subspaces)}
        result.append([number.get(u, -1) for u in basis.subspaces])
        first += len(subspaces)
    return result


def solve_values(
    X: NDArray[Any],
    weights: Floats | None,
    basis: Basis,
    values: Floats,
    *,
    regression: Regression | None = None,
    n_threads: int,
) -> tuple[list[Solution], Regression]:
    """Decompose functions given by their values at the rows, (N, K): joint projection, then the top-down pass.

    If `regression` is None, the penalty is chosen by generalised cross-validation.
    """
    n_effective = effective_rows(len(X), weights) if regression is None else regression.n_effective
    factor = None if regression is None else regression.factor
    deviations = Deviations.of(values, weights)
    with one_blas_thread():
        sums = _core.array_sums(basis.core, X, weight=weights, values=deviations.values, n_threads=n_threads)
        fit = fit_jointly(X, weights, basis, deviations.values, sums, n_effective, RIDGE, n_threads, factor)
        solutions = _solve_joint(sums, fit, basis, n_effective, deviations.mean, deviations.scale, n_threads)
    return solutions, Regression(n_effective, factor=fit.factor)


def solve_value_sums(
    sums: SpanSums, scale: Floats, n_effective: float, n_threads: int
) -> tuple[list[Solution], Regression]:
    """Decompose functions like `solve_values`, given sums over rows of their values divided by `scale`, (K,)."""
    with one_blas_thread():
        system = primal_system(sums.gram, sums.basis, sums.sums, n_effective, n_threads)
        fit = fit_system(sums.gram, system, sums.basis, sums.sums, n_effective, RIDGE)
        solutions = _solve_joint(sums.sums, fit, sums.basis, n_effective, np.zeros(len(scale)), scale, n_threads)
    return solutions, Regression(n_effective, factor=fit.factor)


def _solve_joint(
    sums: _core.TermSums,
    fit: JointFit,
    basis: Basis,
    n_effective: float,
    shift: Floats,
    scale: Floats,
    n_threads: int,
) -> list[Solution]:
    """Return the components of the joint projections of functions, each of which is shift + scale times a sum's."""
    kept = [[-1] * len(basis.subspaces)] * len(shift)
    results = sums.top_down(fit.gram, fit.coefficients, kept, RIDGE / n_effective, n_threads)
    itself, moves = np.array([0.0, 1.0]), zip(shift.tolist(), scale.tolist(), strict=True)
    return [
        _solution(result, basis, itself, None, *move, fit.projection)
        for result, move in zip(results, moves, strict=True)
    ]


def _solution(
    result: dict[str, Any],
    basis: Basis,
    black_box: Floats,
    kept: Sequence[tuple[int, int]] | None,
    shift: float,
    scale: float,
    projection: Projection | None,
) -> Solution:
    """Return the solution for f from the result of the top-down pass for (f - shift) / scale.

    `kept` has pairs (column, component): the columns of the black box that components keep unprojected. None: the
    black box is a function without known terms.
    """
    begin, b = result["begin"], len(black_box) - 1
    # A subspace on which no term of the trees depends has no component.
    exist = np.flatnonzero((np.diff(begin) > 0) | (kept is None))
    shape = (basis.core.n_columns, len(begin) - 1)
    weights = csc_array((scale * result["weight"], result["column"], begin), shape=shape)
    columns, components = np.array(kept or [], dtype=np.int64).reshape(-1, 2).T
    terms = coo_array((black_box[columns + 1], (columns, components)), shape=(b, len(begin) - 1))
    stacked = csc_array(vstack([weights[[0]], terms, weights[1:]], format="csc"))[:, exist]
    whole_box = csc_array(np.concatenate([black_box, np.zeros(basis.core.n_columns - 1)])[:, None])
    constant = shift + scale * result["constant"]
    return Solution(
        subspaces=[basis.subspaces[s] for s in exist],
        weights=stacked,
        constant=constant,
        variance=result["variance"][exist],
        covariance=result["covariance"][exist],
        total=result["total"],
        black_box=whole_box,
        coef=black_box[1:],
        rank=None,
        is_constant=bool(is_constant(result["total"], scale, constant)),
        scale=scale,
        projection=projection,
    )
