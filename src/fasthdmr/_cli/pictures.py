"""The pictures of a decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._support.optional import require
from fasthdmr._support.output_file import drawn
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats
from fasthdmr.plotting import ComponentDisplay, SensitivityDisplay
from fasthdmr.plotting.sensitivity import MAX_BARS

_PICTURED = 6


def picture_files(hdmr: Any, outputs: Sequence[int], level: float | None = None) -> dict[str, bytes]:
    """Return the pictures of some outputs as PNG files, by name."""
    pyplot = require("matplotlib.pyplot", extra="cli")
    files = {}
    for k in outputs:
        suffix = f"_{k}" if hdmr.sensitivity_.n_outputs > 1 else ""
        for name, display in pictures(hdmr, k, level).items():
            files[f"{name}{suffix}.png"] = drawn(display.figure_, "png", dpi=150)
            pyplot.close(display.figure_)
    return files


def pictures(hdmr: Any, output: int, level: float | None = None) -> dict[str, Any]:
    """Return the pictures of one output by name: indices, components, interactions.

    Parameters
    ----------
    hdmr : estimator, fitted
    output : int
    level : float, optional
        Subspaces with smaller S are left out.

    Returns
    -------
    dict of str to display
        "components" are the 6 strongest of one or two variables; missing if there are none. "interactions" is present
        if there are more subspaces than bars in "indices".
    """
    indices = hdmr.sensitivity_
    shown = indices if level is None else AtLevel.of(indices, output, level)
    displays: dict[str, Any] = {}
    if level is None or shown.subspaces:
        displays["indices"] = SensitivityDisplay(shown, output=output if level is None else 0).plot()
    if strongest := strongest_components(indices, output, level or 0.0):
        displays["components"] = ComponentDisplay.from_estimator(hdmr, strongest, output=output)
    if len(shown.subspaces) > MAX_BARS:
        displays["interactions"] = SensitivityDisplay.from_estimator(hdmr, output=output, kind="matrix")
    return displays


def strongest_components(indices: Sensitivity, output: int, level: float) -> list[Subspace]:
    """Return the subspaces of the components that are drawn: the 6 strongest of one or two variables."""
    return [row[0] for row in indices.level_set("P", level, output=output) if row[2] <= 2][:_PICTURED]


@dataclass(frozen=True, eq=False)
class AtLevel:
    """The indices of one output for the subspaces with S at or above a level; ST are those of all subspaces."""

    whole: Sensitivity
    output: int
    chosen: NDArray[np.intp]

    n_outputs = 1
    output_names = None

    @classmethod
    def of(cls, indices: Sensitivity, output: int, level: float) -> AtLevel:
        """Choose the subspaces."""
        S = indices.S.reshape(len(indices.subspaces), -1)[:, output]
        return cls(indices, output, np.flatnonzero(level <= S))

    @property
    def subspaces(self) -> list[Subspace]:
        """The subspaces with S at or above the level."""
        return [self.whole.subspaces[k] for k in self.chosen]

    @property
    def feature_names(self) -> Sequence[str]:
        """The names of all variables."""
        return self.whole.feature_names

    @property
    def Sa(self) -> Floats:
        """Structural indices."""
        return self._of_output(self.whole.Sa)[self.chosen]

    @property
    def Sb(self) -> Floats:
        """Correlative indices."""
        return self._of_output(self.whole.Sb)[self.chosen]

    @property
    def S(self) -> Floats:
        """Overall indices."""
        return self._of_output(self.whole.S)[self.chosen]

    @property
    def S_conf(self) -> Floats | None:
        """Half-widths of the intervals of S."""
        return None if self.whole.S_conf is None else self._of_output(self.whole.S_conf)[self.chosen]

    @property
    def ST(self) -> Floats:
        """Total indices of all variables."""
        return self._of_output(self.whole.ST)

    def _of_output(self, values: Floats) -> Floats:
        return values if values.ndim == 1 else values[:, self.output]
