"""The table of sensitivity indices: names, formulas and the words for people, one row for each index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fasthdmr._support.typing import Floats

HalfWidths = dict[str, Floats]
"""Half-widths of 95 % confidence intervals by the name of the index: (C,) or (C, K) and (n,) or (n, K)."""


@dataclass(frozen=True)
class Index:
    """One sensitivity index.

    Attributes
    ----------
    name : str
        The attribute of `Sensitivity`, and the column of tables and data frames.
    of : {"subspace", "variable"}
        What has a value each.
    text, symbol : str
        What pictures call it; the symbol is TeX.
    html : str
        The name in HTML.
    formula : callable
        Of a subspace: the index from Sa and S. Of a variable: the index from ST, first axis variables, where ST is the
        sum of S over the subspaces that contain the variable. Arrays may have further axes.
    derivative : callable or None
        Takes the arguments of `formula`, then a small change of each of them, and returns the change of the index to
        first order. The changes may have axes that the arguments broadcast to. None: the formula is linear.
    prints_interval : bool
        Whether tables of all indices print its half-width, for which they have little room.
    """

    name: str
    of: Literal["subspace", "variable"]
    text: str
    symbol: str
    html: str
    formula: Callable[..., Floats]
    derivative: Callable[..., Floats] | None = None
    prints_interval: bool = True

    def change(self, values: tuple[Floats, ...], changes: tuple[Floats, ...]) -> Floats:
        """Return the first-order change of the index where its arguments change."""
        if self.derivative is None:
            return self.formula(*changes)
        return self.derivative(*values, *changes)


def _relative(ST: Floats) -> Floats:
    scale = ST.sum(axis=0)
    relative: Floats = np.divide(ST, scale, out=np.zeros_like(ST), where=scale != 0)
    return relative


def _relative_change(ST: Floats, change: Floats) -> Floats:
    scale = ST.sum(axis=0)
    scale = np.where(scale == 0, np.inf, scale)
    relative: Floats = (change - ST / scale * change.sum(axis=0)) / scale
    return relative


_ALL = (
    Index("Sa", "subspace", "structural", "$S^a$", "S<sup>a</sup>", lambda Sa, S: Sa),
    Index("Sb", "subspace", "correlative", "$S^b$", "S<sup>b</sup>", lambda Sa, S: S - Sa),
    Index("S", "subspace", "overall", "$S$", "S", lambda Sa, S: S),
    Index("ST", "variable", "total", "$S_T$", "S<sub>T</sub>", lambda ST: ST),
    Index("R", "variable", "relative", "$R$", "R", _relative, _relative_change, prints_interval=False),
)
INDICES = {index.name: index for index in _ALL}
OF_SUBSPACES = [index for index in _ALL if index.of == "subspace"]
OF_VARIABLES = [index for index in _ALL if index.of == "variable"]
