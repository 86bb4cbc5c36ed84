"""The empirical measure of the rows, for kernel machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from fasthdmr._kernel_machines.columns import KernelDictionary, make_dictionary
from fasthdmr._kernel_machines.machine import Machine
from fasthdmr._support.sample import Sample
from fasthdmr._support.scale import centre_and_scale
from fasthdmr._support.typing import Floats


@dataclass(frozen=True, eq=False)
class RowsMeasure:
    """The (weighted) empirical measure of rows.

    Attributes
    ----------
    X : ndarray of shape (N, n)
    weights : ndarray of shape (N,) or None
    n_threads : int
    """

    X: NDArray[Any]
    weights: Floats | None
    n_threads: int

    def columns(self, machine: Machine) -> tuple[KernelDictionary, Floats]:
        """Return the feature columns B of a machine's kernel, and R of the QR of the weighted (1, B).

        Monomials are those of the standardised variables.
        """
        dictionary = make_dictionary(machine, *centre_and_scale(self.X, self.weights))
        return dictionary, dictionary.triangle(self.X, self.weights, self.n_threads)

    def sample(self) -> Sample:
        """Return an evenly spaced subsample of the rows."""
        return Sample.of(self.X, self.weights)
