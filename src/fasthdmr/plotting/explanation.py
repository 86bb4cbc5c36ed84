"""The waterfall picture of a single prediction."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from fasthdmr._support.text import level_name
from fasthdmr._support.typing import Floats
from fasthdmr.plotting import _shared as shared
from fasthdmr.plotting._protocols import Terms

_MAX_BARS = 12
_ROOM = 40  # letters along the axis
_ROUNDING = 1e-9  # of the sum of all magnitudes


class WaterfallDisplay:
    """How the terms of one prediction add up, from the constant f_0 to the output of the model.

    Parameters
    ----------
    explanation : Explanation
        The result of ``explain`` of an estimator.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : ndarray of matplotlib.axes.Axes, shape (1,)

    Raises
    ------
    ImportError
        If matplotlib is not installed (extra ``plot``).

    Notes
    -----
    Each bar begins where the one above it ends; those that lower the prediction are hatched. The 12 strongest
    components have bars of their own, the others one together; the last bar is the residual, unless it is rounding: at
    most 1e-9 of the sum of the magnitudes of all terms. If the black box is not known, there is no residual, and the
    bars add up to the sum of f_0 and the components.

    Examples
    --------
    >>> import fasthdmr
    >>> X, y = fasthdmr.datasets.make_ishigami(200, random_state=0)
    >>> hdmr = fasthdmr.TreeHDMR(smooth=False, random_state=0).fit(X, y)
    >>> display = fasthdmr.plotting.WaterfallDisplay.from_estimator(hdmr, X[0])
    >>> display.axes_[0].get_xlabel()
    'output of the model'
    """

    figure_: Any
    axes_: Any

    def __init__(self, explanation: Terms) -> None:
        self.explanation = explanation

    @classmethod
    def from_estimator(
        cls, estimator: Any, x: Any, *, output: int | str | None = None, ax: Any = None
    ) -> WaterfallDisplay:
        """Draw the terms of the prediction of a fitted estimator at one row.

        Parameters
        ----------
        estimator : TreeHDMR, HDMR or KernelHDMR
            Fitted.
        x : array-like of shape (n,) or (1, n), one-row data frame, or Series
            The row.
        output : int or str, optional
            Index or name of the output; needed where there are several.
        ax : matplotlib Axes, optional
            Default: a new figure.

        Returns
        -------
        display : WaterfallDisplay

        Raises
        ------
        ValueError
            If `x` is not one row, or `output` none of the outputs.
        """
        explanation = estimator.explain(x, output=output)
        if hasattr(explanation, "__len__"):
            raise ValueError(
                f"Found array with {len(explanation)} samples while exactly 1 is drawn as a waterfall. Pass one row, "
                "as in X[:1] or X.iloc[[0]], or draw all rows with explain(X).plot()."
            )
        return cls(explanation).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> WaterfallDisplay:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Default: a new figure.

        Returns
        -------
        self : WaterfallDisplay
        """
        labels, steps = self._steps()
        ax = shared.one_axes(ax, 4.6 + shared.text_width(labels), 1.3 + 0.3 * max(steps.size, 2))
        at = np.arange(steps.size)
        f_0, output = self.explanation.intercept, self.explanation.output
        end = f_0 + np.cumsum(steps)
        last = float(end[-1]) if output is None else output
        start = end - steps
        falling = steps < 0
        ax.barh(at[~falling], steps[~falling], left=start[~falling], height=0.6, color=shared.line_colour(ax))
        ax.barh(at[falling], steps[falling], left=start[falling], height=0.6, color=shared.LIGHT, **shared.HATCHED)
        ax.vlines(end[:-1], at[:-1] - 0.3, at[1:] + 0.3, color="0.4", linewidth=0.7)
        for k, right in enumerate(np.maximum(start, end)):
            ax.annotate(
                shared.number_text(steps[k], "+.3g"),
                (right, k),
                (4, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
            )
        for value in (f_0, last):
            ax.axvline(value, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
        ax.set_yticks(at, labels, **shared.PLAIN)
        ax.set_ylim(steps.size - 0.4, -0.6)
        low, high = min(f_0, *end), max(f_0, *end)
        span = (high - low) or 1.0
        ax.set_xlim(low - 0.05 * span, high + 0.2 * span)  # room for the numbers on the right
        quantity = shared.quantity_label(self.explanation.unit, getattr(self.explanation, "target", ""))
        what = "sum of the components" if output is None else "output"
        label = ", ".join(filter(None, ["output of the model" if output is not None else what, quantity]))
        ax.set_xlabel(label, **shared.label_style(label, _ROOM))
        numbers = [shared.number_text(value, ".4g") for value in (f_0, last)]
        ax.set_title(f"f₀ = {numbers[0]}  →  {what} = {numbers[1]}", fontsize="medium")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        self.axes_, self.figure_ = np.array([ax]), ax.figure
        return self

    def _steps(self) -> tuple[list[str], Floats]:
        """Return the labels and the lengths of the bars, from top to bottom."""
        e = self.explanation
        short = shared.short_by_name(chain(*e.variables))
        labels = [
            " & ".join(
                f"{short[name]} = {shared.shorten(level_name(value))}"
                for name, value in zip(names, values, strict=True)
            )
            for names, values in zip(e.variables, e.values, strict=True)
        ]
        hidden = len(labels) - _MAX_BARS
        if hidden > 1:
            labels = [*labels[:_MAX_BARS], f"{hidden} weaker components"]
            steps = np.append(e.contributions[:_MAX_BARS], e.contributions[_MAX_BARS:].sum())
        else:
            steps = e.contributions
        total = abs(e.intercept) + np.abs(e.contributions).sum() + abs(e.residual or 0.0)
        if labels and (e.residual is None or abs(e.residual) <= _ROUNDING * total):
            return labels, steps
        return [*labels, "residual"], np.append(steps, e.residual or 0.0)
