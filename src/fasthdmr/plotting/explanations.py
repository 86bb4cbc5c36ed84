"""The heat map of many explanations."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from fasthdmr._support.typing import Floats
from fasthdmr.plotting import _shared as shared
from fasthdmr.plotting._protocols import ManyTerms

_MAX_COMPONENTS = 20
_AND = " & "  # between the names of variables
_MAX_ROWS = 400  # in the picture; more rows are averaged in groups
_CLIPPED = 99  # percentile of magnitudes at which colours end


class ExplanationsDisplay:
    """The terms of many predictions as a heat map: a column for each row of X, and a row for each component.

    Parameters
    ----------
    explanations : Explanations
        The result of ``explain`` of an estimator for many rows.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : ndarray of matplotlib.axes.Axes, shape (2,)
        The output above, the heat map below.

    Raises
    ------
    ValueError
        If there are no rows or no components, or if it is the explanation of a single row.
    ImportError
        If matplotlib is not installed (extra ``plot``).

    Notes
    -----
    The 20 components with the largest mean magnitudes have a row each, the strongest on top, and the others are summed
    in one. The rows of X are sorted by output; more than 400 are averaged in groups of neighbours. Blue lowers the
    output and red raises it; colours end at the 99th percentile of magnitudes. If the black box is not known, the curve
    above is the sum of f_0 and the components.

    Examples
    --------
    >>> import fasthdmr
    >>> from fasthdmr.plotting import ExplanationsDisplay
    >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
    >>> display = ExplanationsDisplay(fasthdmr.HDMR().fit(X, y).explain(X)).plot()
    >>> [label.get_text() for label in display.axes_[1].get_yticklabels()][:2]
    ['x1', 'x0']
    """

    figure_: Any
    axes_: Any

    def __init__(self, explanations: ManyTerms) -> None:
        if 0 in np.shape(explanations.contributions) or np.ndim(explanations.contributions) != 2:
            raise ValueError(
                "explanations must be of several rows and have components, got contributions of shape "
                f"{np.shape(explanations.contributions)}. WaterfallDisplay draws a single row."
            )
        self.explanations = explanations

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, output: int | str | None = None, ax: Any = None
    ) -> ExplanationsDisplay:
        """Draw the terms of the predictions of a fitted estimator at many rows.

        Parameters
        ----------
        estimator : TreeHDMR, HDMR or KernelHDMR
            Fitted.
        X : array-like or data frame of shape (N, n)
            The rows.
        output : int or str, optional
            Index or name of the output; needed where there are several.
        ax : matplotlib Axes, optional
            Divided in two. Default: a new figure.

        Returns
        -------
        display : ExplanationsDisplay

        Raises
        ------
        ValueError
            If `X` does not fit, or `output` is none of the outputs.
        """
        return cls(estimator.explain(X, output=output)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ExplanationsDisplay:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Divided in two. Default: a new figure.

        Returns
        -------
        self : ExplanationsDisplay
        """
        e = self.explanations
        labels, terms = self._strongest()
        total = e.intercept + e.contributions.sum(axis=1) if e.output is None else np.asarray(e.output)
        order = np.argsort(total, kind="stable")
        total, terms = _averaged(total[order]), _averaged(terms[order])
        quantity = shared.quantity_label(e.unit, e.target)
        self.figure_, above, below = self._two_axes(ax, labels)
        edges = np.linspace(0, order.size, len(total) + 1)
        middles = (edges[1:] + edges[:-1]) / 2

        above.plot(middles, total, color=shared.line_colour(above), linewidth=1.2)
        above.axhline(e.intercept, color="0.6", linewidth=0.8, linestyle=":")
        above.set_ylabel("output" if e.output is not None else "sum")
        above.set_title(
            ": ".join(filter(None, [quantity, f"f₀ = {shared.number_text(e.intercept)}"])),
            fontsize="medium",
            **shared.PLAIN,
        )
        above.spines[["top", "right"]].set_visible(False)
        above.tick_params(labelbottom=False)

        limit = float(np.percentile(np.abs(terms), _CLIPPED)) or float(np.abs(terms).max()) or 1.0
        mesh = below.pcolormesh(
            edges,
            np.arange(len(labels) + 1) - 0.5,
            terms.T,
            cmap=shared.DIVERGING,
            vmin=-limit,
            vmax=limit,
            rasterized=True,
        )
        below.set_yticks(np.arange(len(labels)), labels, **shared.PLAIN)
        below.set_ylim(len(labels) - 0.5, -0.5)
        below.tick_params(axis="y", length=0)
        below.set_xlim(0, order.size)
        below.set_xlabel("rows by output" if e.output is not None else "rows by sum")
        bar = self.figure_.colorbar(mesh, ax=below, extend="both" if np.abs(terms).max() > limit else "neither")
        label = shared.join_label("contribution", quantity)
        bar.set_label(label, **shared.label_style(label))
        bar.outline.set_visible(False)
        self.axes_ = np.array([above, below])
        return self

    def _strongest(self) -> tuple[list[str], Floats]:
        """Return labels of the components that are drawn, and their values, (N, C)."""
        e = self.explanations
        terms = np.asarray(e.contributions)
        order = np.argsort(-np.abs(terms).mean(axis=0), kind="stable")
        count = order.size if order.size <= _MAX_COMPONENTS + 1 else _MAX_COMPONENTS
        shown, rest = order[:count], order[count:]
        parts = [e.names[c].split(_AND) for c in shown]
        short = shared.short_by_name(chain(*parts))
        labels = [_AND.join(short[part] for part in names) for names in parts]
        if not rest.size:
            return labels, terms[:, shown]
        return [*labels, f"{rest.size} others"], np.column_stack([terms[:, shown], terms[:, rest].sum(axis=1)])

    def _two_axes(self, ax: Any, labels: list[str]) -> tuple[Any, Any, Any]:
        """Return the figure, and axes above each other with a common horizontal axis."""
        ratios = {"height_ratios": [1, 3], "hspace": 0.05}
        if ax is None:
            size = (5.2 + shared.text_width(labels), 2.2 + 0.2 * max(len(labels), 4))
            figure = shared.pyplot().figure(figsize=size, layout="constrained")
            grid = figure.add_gridspec(2, 1, **ratios)
        else:
            figure = ax.figure
            ax.set_axis_off()
            grid = ax.get_subplotspec().subgridspec(2, 1, **ratios)
        above = figure.add_subplot(grid[0])
        return figure, above, figure.add_subplot(grid[1], sharex=above)


def _averaged(values: Floats) -> Floats:
    """Return means over groups of neighbouring rows if there are many rows, (groups, …)."""
    if len(values) <= _MAX_ROWS:
        return values
    starts = np.linspace(0, len(values), _MAX_ROWS, endpoint=False).astype(np.intp)
    counts = np.diff(np.append(starts, len(values)))
    means: Floats = (np.add.reduceat(values, starts, axis=0).T / counts).T
    return means
