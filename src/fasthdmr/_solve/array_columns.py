"""Functions that are linear combinations of columns of an array, decomposed as in the paper's appendix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr import _core
from fasthdmr._dictionaries.array_columns import ArrayDictionary
from fasthdmr._solve.hierarchy import Solution, eta_and_nu, least_squares, solve
from fasthdmr._solve.problem import Problem
from fasthdmr._support.scale import LARGEST, Deviations, check_size, power_of_two, powers_of_two
from fasthdmr._support.steps import take_columns
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats

_LARGEST_COEFFICIENT = 1e305  # leaves a margin to the largest number, since components have larger coefficients


@dataclass(frozen=True, eq=False)
class FunctionsOfColumns:
    """Functions shift + scale * (1, columns / units) beta. Components are orthogonal to the columns of proper subsets.

    Attributes
    ----------
    dictionary : ArrayDictionary
    triangle : ndarray of shape (1 + b, 1 + b)
        R factor of the weighted matrix (1, columns / units), for weights that sum to 1.
    units : ndarray of shape (b,)
        Powers of two.
    betas : list of ndarray of shape (1 + b,), length K
    shifts, scales : ndarray of shape (K,)
    """

    dictionary: ArrayDictionary
    triangle: Floats
    units: Floats
    betas: list[Floats]
    shifts: Floats
    scales: Floats

    @classmethod
    def given(cls, problem: Problem, dictionary: ArrayDictionary, coef: Floats) -> FunctionsOfColumns:
        """Make the functions with given coefficients, (b, K), of the columns `problem.X`."""
        constants = _constants(problem.X, dictionary.constant)
        (triangle,), units = _triangles(problem, dictionary.order, [None])
        betas, scales = [], []
        for k, b in enumerate(coef.T):
            beta = np.concatenate([[b[dictionary.constant] @ constants], b[dictionary.order]])
            scale, beta = _scaled(beta, triangle, units, len(problem.X), k)
            betas.append(beta)
            scales.append(scale)
        return cls(dictionary, triangle, units, betas, np.zeros(len(betas)), np.array(scales))

    @classmethod
    def fitted(cls, problem: Problem, dictionary: ArrayDictionary) -> FunctionsOfColumns:
        """Make the least-squares fits of the columns `problem.X` to the targets of the problem."""
        assert problem.targets is not None
        _constants(problem.X, dictionary.constant)
        targets = Deviations.of(problem.targets, problem.weights)
        triangles, units = _triangles(problem, dictionary.order, list(targets.values.T))
        betas = [least_squares(t) for t in triangles]
        for beta, scale in zip(betas, targets.scale, strict=True):
            _check_coefficients(beta[1:], float(scale), units, dictionary.order)
        return cls(dictionary, triangles[0][:-1, :-1], units, betas, targets.mean, targets.scale)

    def solve(self, problem: Problem) -> tuple[ArrayDictionary, list[Solution]]:
        """Return the dictionary of columns, and the components of every function."""
        labels, threads = self.dictionary.labels(), problem.n_threads
        return self.dictionary, [
            solve(self.triangle, labels, beta, threads).rescaled(float(shift), float(scale), self.units)
            for beta, shift, scale in zip(self.betas, self.shifts, self.scales, strict=True)
        ]

    def eta_and_nu(self, problem: Problem) -> tuple[Floats, Floats]:
        """Return the paper's A, (1 + b, 1 + b), and nu, (1 + b, K), for the columns (1, columns)."""
        forms = [eta_and_nu(self.triangle, self.dictionary.labels(), beta, problem.n_threads) for beta in self.betas]
        by_column = np.concatenate([[1.0], self.units])
        nu = np.column_stack([form[1] for form in forms]) * (self.scales / by_column[:, None])
        nu[0] += self.shifts
        return forms[0][0] * by_column / by_column[:, None], nu


def _constants(matrix: NDArray[Any], constant: list[int]) -> Floats:
    """Return the values of the columns with the subspace (); raise an error if one is not constant."""
    for j in constant:
        if np.ptp(matrix[:, j]) != 0:
            raise ValueError(f"Column {j} has the subspace (), but is not constant. Name the variables it depends on.")
    return np.asarray(matrix[0, constant], dtype=np.float64)


def _triangles(problem: Problem, order: list[int], targets: Sequence[Floats | None]) -> tuple[list[Floats], Floats]:
    """Return the R factor of the columns and each target, and the powers of two that columns are divided by, (b,)."""

    def triangle(columns: NDArray[Any], target: Floats | None) -> Floats:
        with one_blas_thread():
            triangles = _core.array_triangle(columns, weight=problem.weights, y=target, n_threads=problem.n_threads)
        found: Floats = triangles[0] / np.sqrt(problem.total_weight)
        return found

    columns, units = take_columns(problem.X, order), np.ones(len(order))
    first = triangle(columns, targets[0])
    # The columns are scaled only if the R factor shows extreme magnitudes: a search of all entries would take longer.
    sizes = np.abs(first[:, 1 : len(order) + 1]).max(axis=0)
    if not all(np.isfinite(size) and power_of_two(size) == 1 for size in sizes):
        check_size(problem.X, "columns")
        units = powers_of_two(columns)
        columns = columns / units
        first = triangle(columns, targets[0])
    return [first, *(triangle(columns, target) for target in targets[1:])], units


def _scaled(beta: Floats, triangle: Floats, units: Floats, n_rows: int, output: int) -> tuple[float, Floats]:
    """Return a power of two near the terms of f = beta_0 + (columns * units) beta, and the coefficients of f / it."""
    with np.errstate(over="ignore", under="ignore"):
        coefficients = beta[1:] * units
        terms = np.abs(coefficients) * np.linalg.norm(triangle[:, 1:], axis=0)
    largest = abs(beta[0]) + np.sqrt(n_rows) * terms.sum()  # a value is at most sqrt(n_rows) times the root mean square
    if not largest <= LARGEST:
        raise ValueError(
            f"The sum of coef times columns may reach {largest:.3g} in output {output}, which overflows; at most "
            f"{LARGEST:g} is allowed. Divide coef by a power of ten."
        )
    scale = power_of_two(terms.max(initial=0.0))
    return scale, np.concatenate([beta[:1], coefficients]) / scale


def _check_coefficients(beta: Floats, scale: float, units: Floats, order: Sequence[int]) -> None:
    """Raise an error if y is so much larger than a column that the column's coefficient may overflow."""
    with np.errstate(over="ignore"):
        too_large = np.flatnonzero(~(np.abs(beta) * (scale / units) < _LARGEST_COEFFICIENT))
    if len(too_large):
        raise ValueError(
            f"The coefficient of column {order[too_large[0]]} overflows, because y is too large relative to the "
            "column. Multiply the column by a power of ten."
        )
