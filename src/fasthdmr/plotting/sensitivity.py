"""Pictures of sensitivity indices: bars, or a matrix of interactions."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from fasthdmr._support.indices import INDICES
from fasthdmr._support.outputs import output_index
from fasthdmr._support.subspaces import subspace_names
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import check_kind
from fasthdmr.plotting import _shared as shared
from fasthdmr.plotting._matrix import draw_matrix
from fasthdmr.plotting._protocols import Indices

Kind = Literal["bars", "matrix"]
_ROOM = 0.2  # inches for the name of a bar
MAX_BARS = 20
"""Largest number of bars; the strongest subspaces are shown."""


class SensitivityDisplay:
    """Structural and correlative indices as stacked bars, or as a matrix of interactions.

    Parameters
    ----------
    sensitivity : Sensitivity
        The indices.
    output : int or str, optional
        Index or name of the output; needed where there are several.
    kind : {"bars", "matrix"}, default="bars"
        "bars": the 20 strongest subspaces, the strongest on top. "matrix": the 15 strongest variables against each
        other.
    quantity : str
        The name of the output, for the label.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : ndarray of matplotlib.axes.Axes, shape (1,)

    Raises
    ------
    ValueError
        If `output` is none of the outputs, or `kind` none of those allowed.
    ImportError
        If matplotlib is not installed (extra ``plot``).

    Notes
    -----
    Bars: a negative correlative index extends to the left of 0. The mark is the sum of both, the overall index S,
    with its 95 % interval if known. The thin bar below, on subspaces of one variable, is the total index
    ST of that variable.

    Matrix: S of single variables on the diagonal, of pairs beside it, with the sign; blank where there is no component.
    Of an index below 0.005 only the sign is written, and 0 if it is below 0.00005. The colour goes with the square root
    of S, so that weak interactions show. Subspaces of order 3 and more are left out.

    Examples
    --------
    >>> from fasthdmr import Sensitivity, plotting
    >>> indices = Sensitivity([(0,), (1,)], [0.75, 0.25], [0.75, 0.25], 0.0, 1.0, ["age", "income"])
    >>> display = plotting.SensitivityDisplay(indices).plot()
    >>> display.axes_[0].get_xlabel()
    'share of variance'
    """

    figure_: Any
    axes_: Any

    def __init__(
        self, sensitivity: Indices, *, output: int | str | None = None, kind: Kind = "bars", quantity: str = ""
    ) -> None:
        check_kind(kind, ("bars", "matrix"))
        self.quantity = quantity
        self.sensitivity = sensitivity
        self.output = output_index(output, sensitivity.n_outputs, sensitivity.output_names)
        self.kind = kind

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, output: int | str | None = None, kind: Kind = "bars", ax: Any = None
    ) -> SensitivityDisplay:
        """Draw the indices of a fitted estimator, or of a closed form.

        Parameters
        ----------
        estimator : TreeHDMR, HDMR, KernelHDMR or function of `fasthdmr.analytic`
            Estimators fitted.
        output : int or str, optional
            Index or name of the output; needed where there are several.
        kind : {"bars", "matrix"}, default="bars"
            What to draw.
        ax : matplotlib Axes, optional
            Default: a new figure.

        Returns
        -------
        display : SensitivityDisplay

        Raises
        ------
        ValueError
            If `output` is none of the outputs, or `kind` none of those allowed.
        """
        indices = estimator.sensitivity() if shared.is_closed_form(estimator) else estimator.sensitivity_
        display = cls(indices, output=output, kind=kind)
        if decomposition := getattr(estimator, "decomposition_", None):
            target = decomposition.target_of(display.output)
            display.quantity = shared.quantity_label(decomposition.unit, target)
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> SensitivityDisplay:
        """Draw the indices.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Default: a new figure.

        Returns
        -------
        self : SensitivityDisplay
        """
        if self.kind == "bars":
            ax = self._bars(ax)
        else:
            indices = self.sensitivity
            ax = draw_matrix(indices, self._of_output(indices.S), self._of_output(indices.ST), self.quantity, ax)
        self.axes_, self.figure_ = np.array([ax]), ax.figure
        return self

    def _of_output(self, values: Floats) -> Floats:
        return values[:, self.output] if values.ndim == 2 else values

    def _bars(self, ax: Any) -> Any:
        indices = self.sensitivity
        Sa, Sb, S, ST = map(self._of_output, (indices.Sa, indices.Sb, indices.S, indices.ST))
        strongest = np.argsort(-np.maximum(Sa, np.abs(S)), kind="stable")[:MAX_BARS]
        rows = strongest[np.argsort(-S[strongest], kind="stable")]
        names = shared.short_names(indices.feature_names)
        labels = subspace_names([indices.subspaces[k] for k in rows], names)

        ax = shared.one_axes(ax, 4.4 + shared.text_width(labels), 1.3 + 0.34 * max(rows.size, 2))
        at = np.arange(rows.size)
        ax.barh(at, Sa[rows], height=0.5, color=shared.line_colour(ax), label=_label("Sa"))
        start = np.where(Sb[rows] > 0, Sa[rows], 0.0)
        ax.barh(at, Sb[rows], left=start, height=0.5, color=shared.LIGHT, label=_label("Sb"), **shared.HATCHED)
        single = np.array([len(indices.subspaces[k]) == 1 for k in rows], dtype=bool)
        totals = ST[[indices.subspaces[k][0] for k in rows[single]]]
        ax.barh(
            at[single] + 0.36,
            totals,
            height=0.16,
            color=shared.PALE,
            edgecolor="0.4",
            linewidth=0.6,
            label=_label("ST"),
        )
        ax.errorbar(
            S[rows],
            at,
            xerr=None if indices.S_conf is None else self._of_output(indices.S_conf)[rows],
            **shared.marks(),
            capsize=2.5,
            label=_label("S") + ("" if indices.S_conf is None else " and its 95 % interval"),
        )
        ax.axvline(0, color=shared.marks()["color"], linewidth=0.8)
        # In axes that are given there may be little room for names.
        room = ax.bbox.height / ax.figure.dpi / max(rows.size, 1)
        ax.set_yticks(at, labels, fontsize="medium" if room > _ROOM else "x-small", **shared.PLAIN)
        ax.invert_yaxis()
        hidden = S.size - rows.size
        label = f"share of the variance of {self.quantity}" if self.quantity else "share of variance"
        hidden_text = f"{hidden} weaker subspaces not shown" if hidden else ""
        ax.set_xlabel("\n".join(filter(None, [label, hidden_text])), **shared.PLAIN)
        ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize="small")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        return ax


def _label(name: str) -> str:
    index = INDICES[name]
    return f"{index.text} {index.symbol}"
