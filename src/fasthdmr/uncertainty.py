"""How far the indices and components would move with another sample of rows: influence functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fasthdmr.dictionary import Subspace
from fasthdmr.sample import Sample

Floats = NDArray[np.float64]

NORMAL_95 = 1.959963984540054
"""The 97.5th percentile of the standard Gaussian law."""


class Decomposed(Protocol):
    """What a decomposition is asked for here."""

    subspaces: list[Subspace]
    feature_names: tuple[str, ...]

    def evaluate(self, rows: Any, n_threads: int = 1) -> Floats:
        """Return the component functions at rows, (N, C) or (N, C, K)."""
        ...

    def black_box(self, rows: Any, n_threads: int = 1) -> Floats:
        """Return f itself, (N,) or (N, K)."""
        ...


@dataclass(frozen=True, eq=False)
class HalfWidths:
    """Half-widths of 95 % confidence intervals: Sa, Sb, S of shape (C,) or (C, K), ST, R of shape (n,) or (n, K)."""

    Sa: Floats
    Sb: Floats
    S: Floats
    ST: Floats
    R: Floats

    def of_output(self, output: int) -> HalfWidths:
        """Return those of one output."""
        return HalfWidths(*(v if v.ndim == 1 else v[:, output] for v in (self.Sa, self.Sb, self.S, self.ST, self.R)))


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Confidence intervals of indices, and standard errors of components, worked out at first use.

    Attributes
    ----------
    decomposition : Decomposition
    sample : Sample
    is_divisor_known : bool
        Whether what the indices are divided by does not depend on the rows.
    """

    decomposition: Any
    sample: Sample
    is_divisor_known: bool

    @cached_property
    def half_widths(self) -> HalfWidths:
        """The half-widths of all indices."""
        outputs = [self._of_output(F, f) for F, f in self._outputs]
        if self.decomposition.output_names is None:
            return outputs[0]
        names = ("Sa", "Sb", "S", "ST", "R")
        return HalfWidths(*(np.column_stack([getattr(o, name) for o in outputs]) for name in names))

    def standard_error(self, subspace: Subspace, values: Floats) -> Floats:
        """Return the pointwise standard error of a component of one variable, (N,) or (N, K)."""
        error: Floats = np.sqrt(np.var(self._outputs[0][1]) / self.sample.n_effective) * np.ones(len(values))
        return error

    @cached_property
    def _outputs(self) -> Sequence[tuple[Floats, Floats]]:
        """The components and the black box at the sample, centred: (S, C) and (S,) for each output."""
        rows, weights = self.sample.rows, self.sample.weights
        F = self.decomposition.evaluate(rows)
        f = self.decomposition.black_box(rows) if self.sample.values is None else self.sample.values
        F, f = (F[:, :, None], f[:, None]) if f.ndim == 1 else (F, f)
        F = F - np.average(F, axis=0, weights=weights)
        f = f - np.average(f, axis=0, weights=weights)
        return [(F[:, :, k], f[:, k]) for k in range(f.shape[1])]

    def _of_output(self, F: Floats, f: Floats) -> HalfWidths:
        V = np.average(f**2, weights=self.sample.weights)
        Sa, S = (F**2 / V, F * f[:, None] / V) if V > 0 else (0 * F, 0 * F)
        total = np.array([[i in u for i in range(self.sample.rows.shape[1])] for u in self.decomposition.subspaces])
        ST = S @ total
        return HalfWidths(*(self._half_width(v) for v in (Sa, S - Sa, S, ST, ST)))

    def _half_width(self, influence: Floats) -> Floats:
        w = self.sample.weights
        centred = influence - np.average(influence, axis=0, weights=w)
        widths: Floats = NORMAL_95 * np.sqrt(np.average(centred**2, axis=0, weights=w**2) / self.sample.n_effective)
        return widths
