"""Linear combinations of models: the coefficients of the tree columns of every output (spec 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from fasthdmr import _core
from fasthdmr._dictionaries.tree_columns import TreeDictionary
from fasthdmr._dictionaries.tree_output import TreeOutput
from fasthdmr._solve.problem import Problem
from fasthdmr._solve.ridge import cross_validate, fold_numbers, ridge_path
from fasthdmr._support.progress import rows_progress
from fasthdmr._support.scale import Deviations, power_of_two
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats


@dataclass(frozen=True, eq=False)
class Combined:
    """One output of the combined models, shift + scale * (1, columns / unit) beta.

    Attributes
    ----------
    trees : TreeDictionary
    number : int
        Index of the output.
    beta : ndarray of shape (1 + b,)
    shift : float
    scale, unit : float
        Powers of two.
    alpha : float or None
        The penalty of the ridge regression that gave beta.
    found_with : ndarray of shape (1 + b, 1 + b) or None
        R factor of (1, columns / unit), if it was computed to find beta.
    """

    trees: TreeDictionary
    number: int
    beta: Floats
    shift: float
    scale: float
    unit: float
    alpha: float | None = None
    found_with: Floats | None = None

    def triangle(self, problem: Problem) -> Floats:
        """Return the R factor of the weighted matrix (1, columns / unit)."""
        return _triangles(problem, self.trees, self.number)[0] if self.found_with is None else self.found_with

    def output(self) -> TreeOutput:
        """Return the output as coefficients of the unscaled columns.

        Raises
        ------
        ValueError
            If sums of its values may overflow.
        """
        with np.errstate(over="ignore", under="ignore"):
            coef = self.beta[1:] * (self.scale / self.unit)
        constant, largest = float(self.shift + self.scale * self.beta[0]), float(np.abs(coef).max(initial=0.0))
        self.trees.check_reach(self.number, constant, largest)
        scale = power_of_two(largest * self.trees.reach[self.number])
        return TreeOutput(self.trees.columns[self.number], constant, coef, scale, alpha=self.alpha)


class Combination(Protocol):
    """A rule for the coefficients of the tree columns."""

    @property
    def needs_y(self) -> bool:
        """Whether the coefficients depend on y."""
        ...

    def combine(self, problem: Problem, trees: TreeDictionary) -> Iterator[Combined]:
        """Yield each output of the combined models."""
        ...


class Sum:
    """The sum of the models."""

    needs_y: ClassVar[bool] = False

    def combine(self, problem: Problem, trees: TreeDictionary) -> Iterator[Combined]:
        """Yield each output, with coefficients 1."""
        for k, columns in enumerate(trees.columns):
            unit, constant = power_of_two(trees.reach[k]), float(columns.constants.sum())
            trees.check_reach(k, constant, 1.0)
            beta = np.concatenate([[constant / unit], np.ones(len(columns.column_subspace))])
            yield Combined(trees, k, beta, 0.0, unit, unit)


@dataclass(frozen=True, eq=False)
class Ridge:
    """Ridge regression of y on the tree columns, with the penalty that minimises the cross-validation error.

    Attributes
    ----------
    alphas : ndarray of shape (L,)
        Candidate penalties, relative to sums of squares of centred, unscaled columns.
    cv : int, splitter or iterable
        As in `fold_numbers`.
    """

    alphas: Floats
    cv: Any
    needs_y: ClassVar[bool] = True

    def combine(self, problem: Problem, trees: TreeDictionary) -> Iterator[Combined]:
        """Yield each output of the combined models."""
        assert problem.targets is not None
        for k, unit in enumerate(map(power_of_two, trees.reach)):
            y = np.ascontiguousarray(problem.targets[:, k])
            target = Deviations.of(y[:, None], problem.weights)
            fold, n_folds = fold_numbers(self.cv, problem.X, y) if len(self.alphas) > 1 else (None, 1)
            triangle, of_folds = _triangles(problem, trees, k, target.values[:, 0], fold, n_folds)
            with np.errstate(over="ignore", under="ignore"):
                alphas = self.alphas / unit / unit  # because the columns are divided by the unit
            best = 0
            if len(alphas) > 1:
                best = int(np.argmin(cross_validate(of_folds, alphas, verbose=problem.verbose)))
            beta = ridge_path(triangle, alphas[best : best + 1])[:, 0]
            shift, scale = float(target.mean[0]), float(target.scale[0])
            yield Combined(trees, k, beta, shift, scale, unit, float(self.alphas[best]), triangle[:-1, :-1])


def _triangles(
    problem: Problem,
    trees: TreeDictionary,
    output: int,
    y: Floats | None = None,
    fold: NDArray[np.int64] | None = None,
    n_folds: int = 1,
) -> tuple[Floats, Floats]:
    """Return the R factor of the tree columns (and y), and the R factors of the folds that it is merged from.

    Columns are divided by a power of two near the largest magnitude of the output.
    """
    with one_blas_thread(), rows_progress(len(problem.X), "rows of the triangle", verbose=problem.verbose):
        triangles = trees.columns[output].triangles(
            problem.X,
            unit=power_of_two(trees.reach[output]),
            weight=problem.weights,
            y=y,
            fold=fold,
            n_folds=n_folds,
            n_threads=problem.n_threads,
        )
        return _core.merge_triangles(triangles), triangles
