"""Kernel machines written in the feature columns of their kernels, which span the function spaces (spec 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fasthdmr import _core
from fasthdmr._kernel_machines.columns import KernelDictionary, make_dictionary
from fasthdmr._kernel_machines.machine import Machine
from fasthdmr._solve.hierarchy import Solution, eta_and_nu, solve
from fasthdmr._solve.problem import Problem
from fasthdmr._support.sample import Sample
from fasthdmr._support.scale import LARGEST, centre_and_scale, power_of_two
from fasthdmr._support.steps import product, solve_unit_triangle
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats
from fasthdmr._support.weights import RowCounts


class Measure(Protocol):
    """The probability measure of the variables."""

    def columns(self, machine: Machine) -> tuple[KernelDictionary, Floats]:
        """Return the feature columns B of a machine's kernel, and R of the QR of (1, B) in L² of the measure."""
        ...

    def sample(self) -> Sample:
        """Return a sample of rows that represents the measure."""
        ...


@dataclass(frozen=True, eq=False)
class MachineInColumns:
    """The decomposition of a kernel machine in the feature columns of its kernel.

    The component of a subspace is orthogonal to the feature columns of all smaller subsets of its variables.

    Attributes
    ----------
    machine : Machine
    dictionary : KernelDictionary
        The feature columns of its kernel.
    triangle : ndarray of shape (1 + b, 1 + b)
        R of the QR of the columns (1, B) in L² of the measure.
    """

    machine: Machine
    dictionary: KernelDictionary
    triangle: Floats

    @classmethod
    def under(cls, measure: Measure, machine: Machine) -> MachineInColumns:
        """Return the problem of a machine under a measure."""
        return cls(machine, *measure.columns(machine))

    def solve(self, problem: Problem) -> tuple[KernelDictionary, list[Solution]]:
        """Return the columns, and the components of every output."""
        with np.errstate(over="ignore", invalid="ignore"):  # _solve raises an error for infinities and NaN
            betas = self.dictionary.coefficients(self.machine).T
        return self.dictionary, [self._solve(beta, problem.n_threads) for beta in betas]

    def _solve(self, beta: Floats, n_threads: int) -> Solution:
        """Decompose one output, given by its coefficients over (1, B), (1 + b,)."""
        largest = np.abs(beta).max()
        if not largest <= LARGEST:
            raise ValueError(
                f"The machine is a sum of terms as large as {largest:.3g}, which overflows; at most {LARGEST:g} is "
                "taken. Scale the variables and the target before it is fitted."
            )
        scale = power_of_two(np.abs(beta[1:]).max())
        solution = solve(self.triangle, self.dictionary.labels(), beta / scale, n_threads)
        return solution.rescaled(0.0, scale, np.ones(len(beta) - 1))

    def kernel_component(self, subspace: Subspace, X: Floats, X2: Floats, n_threads: int) -> Floats:
        """Return the component K_u(x, x') of the kernel for all rows of X, (N, n), and X2, (M, n): (N, M)."""
        labels = self.dictionary.labels()
        beta = self.dictionary.kernel(self.machine.affine(np.asarray(X2, dtype=np.float64)))
        A, _ = eta_and_nu(self.triangle, labels, np.zeros(len(beta.T)), n_threads)
        own = np.array([0])
        if subspace:
            own = 1 + np.flatnonzero(labels.column_subspace == labels.subspaces.index(subspace))
        with one_blas_thread():
            nu = solve_unit_triangle(A, beta.T)  # A nu(x') = beta(x'); one column for each row x' of X2
            return product(self.dictionary.columns(X), product(A[:, own], nu[own]))


@dataclass(frozen=True, eq=False)
class MachineSums:
    """The R factor of the weighted columns (1, B) at rows."""

    triangle: Floats

    def merged(self, other: MachineSums) -> MachineSums:
        """Return that of the rows of both."""
        with one_blas_thread():
            return MachineSums(_core.merge_triangles(np.stack([self.triangle, other.triangle])))


@dataclass(frozen=True, eq=False)
class MachineOnRows:
    """The decomposition of a kernel machine under the measure of rows that are seen in parts.

    Its plan is the centre and the scale of the variables, (n,) each.

    Attributes
    ----------
    machine : Machine
    """

    machine: Machine

    def plan(self, problem: Problem, basis: Any = None) -> tuple[Floats, Floats]:
        """Return centre and scale for the rows of the problem, or those that are given."""
        return centre_and_scale(problem.X, problem.weights) if basis is None else basis

    def sums(self, plan: tuple[Floats, Floats], problem: Problem) -> MachineSums:
        """Return the R factor over the rows of a problem."""
        dictionary = make_dictionary(self.machine, *plan)
        triangle = dictionary.triangle(problem.X, problem.weights, problem.n_threads)
        return MachineSums(triangle * np.sqrt(problem.total_weight))

    def in_columns(self, plan: tuple[Floats, Floats], sums: MachineSums, counts: RowCounts) -> MachineInColumns:
        """Return the machine in columns, for the rows of the R factor."""
        return MachineInColumns(
            self.machine, make_dictionary(self.machine, *plan), sums.triangle / np.sqrt(counts.total)
        )

    def solve_sums(
        self, plan: tuple[Floats, Floats], sums: MachineSums, counts: RowCounts, problem: Problem
    ) -> tuple[KernelDictionary, list[Solution]]:
        """Return the columns, and the components of every output."""
        return self.in_columns(plan, sums, counts).solve(problem)
