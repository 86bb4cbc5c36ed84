"""Linear combinations of models: the coefficients of the tree columns of every output (spec 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
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
        if self.found_with is not None:
            return self.found_with
        return _merged(_triangles(problem, self.trees, self.number))

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


@dataclass(frozen=True, eq=False)
class Triangles:
    """R factors of the weighted matrices (1, columns / unit), or (1, columns / unit, y), for every output.

    Attributes
    ----------
    folds : list of ndarray of shape (F, m, m)
        By output. The R factors of all folds.
    target : Deviations or None
        The column y is (y - mean) / scale.
    """

    folds: list[Floats]
    target: Deviations | None = None

    def merged(self, other: Triangles) -> Triangles:
        """Return the R factors of the rows of both, fold by fold."""
        others = other._relative_to(self.target)
        folds = [
            np.array([_merged(np.stack(pair)) for pair in zip(*both, strict=True)])
            for both in zip(self.folds, others, strict=True)
        ]
        return Triangles(folds, self.target)

    def _relative_to(self, target: Deviations | None) -> list[Floats]:
        """Return the R factors for another mean and scale of y."""
        if target is None or self.target is None:
            return self.folds
        moved = []
        for k, folds in enumerate(self.folds):
            y = folds[:, :, -1] * (self.target.scale[k] / target.scale[k])
            y += folds[:, :, 0] * ((self.target.mean[k] - target.mean[k]) / target.scale[k])
            moved.append(np.concatenate([folds[:, :, :-1], y[:, :, None]], axis=2))
        return moved


class Combination(Protocol):
    """A rule for the coefficients of the tree columns."""

    @property
    def needs_y(self) -> bool:
        """Whether the coefficients depend on y."""
        ...

    def combine(self, problem: Problem, trees: TreeDictionary) -> Iterator[Combined]:
        """Yield each output of the combined models."""
        ...


class AdditiveCombination(Combination, Protocol):
    """A rule for which R factors of the rows suffice."""

    def triangles(self, problem: Problem, trees: TreeDictionary) -> Triangles:
        """Return R factors over the rows of a problem."""
        ...

    def from_triangles(self, triangles: Triangles, trees: TreeDictionary, verbose: int) -> Iterator[Combined]:
        """Yield each output, given the R factors of all rows."""
        ...


class Sum:
    """The sum of the models."""

    needs_y: ClassVar[bool] = False

    def combine(self, problem: Problem, trees: TreeDictionary) -> Iterator[Combined]:
        """Yield each output, with coefficients 1."""
        yield from self._combined(trees)

    def _combined(self, trees: TreeDictionary) -> Iterator[Combined]:
        for k, columns in enumerate(trees.columns):
            unit, constant = power_of_two(trees.reach[k]), float(columns.constants.sum())
            trees.check_reach(k, constant, 1.0)
            beta = np.concatenate([[constant / unit], np.ones(len(columns.column_subspace))])
            yield Combined(trees, k, beta, 0.0, unit, unit)

    def triangles(self, problem: Problem, trees: TreeDictionary) -> Triangles:
        """Return the R factors of the columns."""
        return Triangles([_triangles(problem, trees, k) for k in range(trees.n_outputs)])

    def from_triangles(self, triangles: Triangles, trees: TreeDictionary, verbose: int) -> Iterator[Combined]:
        """Yield each output with its R factor."""
        for combined, folds in zip(self._combined(trees), triangles.folds, strict=True):
            yield replace(combined, found_with=_merged(folds))


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
        target, targets = self._target(problem), problem.targets
        assert targets is not None
        for k in range(trees.n_outputs):  # one by one, since the R factors of all folds may be large
            fold, n_folds = None, 1
            if len(self.alphas) > 1:
                fold, n_folds = fold_numbers(self.cv, problem.X, np.ascontiguousarray(targets[:, k]))
            folds = _triangles(problem, trees, k, target.values[:, k], fold, n_folds)
            yield self._combined(folds, target, trees, k, problem.verbose)

    def triangles(self, problem: Problem, trees: TreeDictionary) -> Triangles:
        """Return the R factors of the columns and y. Folds are numbered by position: row i is in fold i mod K.

        Raises
        ------
        ValueError
            If `cv` is a splitter, which needs all rows.
        """
        if not isinstance(self.cv, int | np.integer) or self.cv < 2:
            raise ValueError(f"cv must be an integer of at least 2 where rows are seen in parts, got {self.cv!r}.")
        target, n_folds = self._target(problem), int(self.cv) if len(self.alphas) > 1 else 1
        folds = [_triangles(problem, trees, k, target.values[:, k], None, n_folds) for k in range(trees.n_outputs)]
        return Triangles(folds, target)

    def from_triangles(self, triangles: Triangles, trees: TreeDictionary, verbose: int) -> Iterator[Combined]:
        """Yield each output of the combined models."""
        assert triangles.target is not None
        for k, folds in enumerate(triangles.folds):
            yield self._combined(folds, triangles.target, trees, k, verbose)

    def _target(self, problem: Problem) -> Deviations:
        assert problem.targets is not None
        return Deviations.of(problem.targets, problem.weights)

    def _combined(
        self, folds: Floats, target: Deviations, trees: TreeDictionary, output: int, verbose: int
    ) -> Combined:
        """Return an output with the penalty that cross-validation chooses."""
        triangle, unit = _merged(folds), power_of_two(trees.reach[output])
        with np.errstate(over="ignore", under="ignore"):
            alphas = self.alphas / unit / unit  # because the columns are divided by the unit
        best = int(np.argmin(cross_validate(folds, alphas, verbose=verbose))) if len(alphas) > 1 else 0
        beta = ridge_path(triangle, alphas[best : best + 1])[:, 0]
        shift, scale, alpha = float(target.mean[output]), float(target.scale[output]), float(self.alphas[best])
        return Combined(trees, output, beta, shift, scale, unit, alpha, triangle[:-1, :-1])


@dataclass(frozen=True, eq=False)
class Given:
    """A combination that is known already.

    Attributes
    ----------
    outputs : tuple of Combined
    """

    outputs: tuple[Combined, ...]
    needs_y: ClassVar[bool] = True

    def combine(self, problem: Problem, trees: TreeDictionary) -> Iterator[Combined]:
        """Yield each output."""
        yield from self.outputs


def _merged(triangles: Floats) -> Floats:
    """Return the R factor of the rows of all R factors, (F, m, m)."""
    with one_blas_thread():
        return _core.merge_triangles(triangles)


def _triangles(
    problem: Problem,
    trees: TreeDictionary,
    output: int,
    y: Floats | None = None,
    fold: NDArray[np.int64] | None = None,
    n_folds: int = 1,
) -> Floats:
    """Return the R factors of the tree columns (and y) for the rows of each fold, (F, m, m).

    Columns are divided by a power of two near the largest magnitude of the output.
    """
    with one_blas_thread(), rows_progress(len(problem.X), "rows of the triangle", verbose=problem.verbose):
        triangles: Floats = trees.columns[output].triangles(
            problem.X,
            unit=power_of_two(trees.reach[output]),
            weight=problem.weights,
            y=y,
            fold=fold,
            n_folds=n_folds,
            n_threads=problem.n_threads,
        )
        return triangles
