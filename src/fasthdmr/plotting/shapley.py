"""The beeswarm picture of Shapley values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.outputs import output_index, with_unit
from fasthdmr._support.typing import Floats
from fasthdmr.plotting import _shared as shared
from fasthdmr.plotting._protocols import Shares

_BINS = 120  # along the axis of values; points in the same bin are placed side by side
_WIDTH = 0.4  # half of the largest width of a swarm, in rows
_COLOURS = (0.3, 0.85)  # of the colour map "plasma": visible on white and on black
_GREY = "0.55"
_CLIPPED = (5, 95)  # percentiles of a variable that have the first and last colour


class BeeswarmDisplay:
    """The Shapley values of many rows: one swarm of points for each variable, the most important variable on top.

    Parameters
    ----------
    shares : Shares
        Shapley values with the values of the variables, as `from_estimator` computes them.
    max_display : int, default=10
        The largest number of variables with a swarm of their own. The others have one for their sum.
    output : int or str, optional
        Index or name of the output; needed where there are several.

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    axes_ : ndarray of matplotlib.axes.Axes, shape (1,)

    Raises
    ------
    ValueError
        If `max_display` is not a positive integer, or `output` none of the outputs.
    ImportError
        If matplotlib is not installed (extra ``plot``).

    Notes
    -----
    Variables are sorted by the mean magnitude of their Shapley values. Each point is a row of X. Its colour is the
    value of the variable, between percentiles 5 and 95. Categorical variables, groups of columns, missing values and
    sums are grey. The last swarm is the residual, if the components do not sum to the output of the model.

    Examples
    --------
    >>> import fasthdmr
    >>> X, y = fasthdmr.datasets.make_ishigami(200, random_state=0)
    >>> hdmr = fasthdmr.HDMR().fit(X, y)
    >>> display = fasthdmr.plotting.BeeswarmDisplay.from_estimator(hdmr, X)
    >>> display.axes_[0].get_xlabel()
    'Shapley value'
    """

    figure_: Any
    axes_: Any

    def __init__(self, shares: Shares, *, max_display: int = 10, output: int | str | None = None) -> None:
        if not isinstance(max_display, int | np.integer) or max_display < 1:
            raise ValueError(f"max_display must be a positive integer, got {max_display!r}.")
        self.shares = shares
        self.max_display = int(max_display)
        names = shares.output_names
        self.output = output_index(output, 1 if names is None else len(names), names)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, max_display: int = 10, output: int | str | None = None, ax: Any = None
    ) -> BeeswarmDisplay:
        """Draw the Shapley values of a fitted estimator at rows.

        Parameters
        ----------
        estimator : TreeHDMR, HDMR or KernelHDMR
            Fitted.
        X : array-like or data frame of shape (N, n)
            Rows of the variables, as in `fit`.
        max_display : int, default=10
            The largest number of variables with a swarm of their own.
        output : int or str, optional
            Index or name of the output; needed where there are several.
        ax : matplotlib Axes, optional
            Default: a new figure.

        Returns
        -------
        display : BeeswarmDisplay

        Raises
        ------
        ValueError
            If X does not hold rows of the variables, or another argument is invalid.
        """
        return cls(estimator._shapley_table(X), max_display=max_display, output=output).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> BeeswarmDisplay:
        """Draw the swarms.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Default: a new figure.

        Returns
        -------
        self : BeeswarmDisplay
        """
        swarms = self._swarms()
        labels = [label for label, _, _ in swarms]
        ax = shared.one_axes(ax, 5.0 + shared.text_width(labels), 1.4 + 0.4 * max(len(swarms), 2))
        colours = _colour_map()
        size = float(np.clip(2000 / max(len(self.shares.values), 1), 3, 12))
        bounds = [values for _, values, _ in swarms] or [np.zeros(1)]
        low, high = min(v.min() for v in bounds), max(v.max() for v in bounds)
        ax.axvline(0, color="0.6", linewidth=0.8, zorder=0)
        for row, (_, values, shades) in enumerate(swarms):
            at = row + _offsets(values, low, high)
            grey = np.isnan(shades)
            style = {"s": size, "linewidths": 0, "rasterized": True}
            ax.scatter(values[grey], at[grey], color=_GREY, **style)
            ax.scatter(values[~grey], at[~grey], c=shades[~grey], cmap=colours, vmin=0, vmax=1, **style)
        ax.set_yticks(np.arange(len(swarms)), labels, **shared.PLAIN)
        ax.set_ylim(len(swarms) - 0.4, -0.6)
        ax.set_xlabel(with_unit("Shapley value", self.shares.unit))
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        _draw_key(ax, colours, has_grey=any(np.isnan(shades).any() for _, _, shades in swarms))
        self.axes_, self.figure_ = np.array([ax]), ax.figure
        return self

    def _swarms(self) -> list[tuple[str, Floats, Floats]]:
        """Return label, values and shades of the swarms from top to bottom; NaN stands for grey."""
        shares = self.shares
        values = shares.values[:, :, self.output] if shares.values.ndim == 3 else shares.values
        n = values.shape[1] - shares.has_residual
        names = shared.short_names(shares.feature_names[:n])
        order = np.argsort(-np.abs(values[:, :n]).mean(axis=0), kind="stable")
        shown = order if n <= self.max_display + 1 else order[: self.max_display]  # one is not called "1 weaker"
        rest = order[len(shown) :]
        grey = np.full(len(values), np.nan)
        swarms = [(names[j], values[:, j], _shades(shares.data[:, j]) if shares.is_numeric[j] else grey) for j in shown]
        if rest.size:
            swarms.append((f"{rest.size} weaker variables", values[:, rest].sum(axis=1), grey))
        if shares.has_residual:
            swarms.append((shares.feature_names[n], values[:, n], grey))
        return swarms


def _shades(column: NDArray[Any]) -> Floats:
    """Return the values of a variable from 0, at percentile 5, to 1, at percentile 95; NaN if they are missing."""
    numbers = column.astype(np.float64)
    if np.isnan(numbers).all():
        return numbers
    low, high = np.nanpercentile(numbers, _CLIPPED)
    if low == high:  # nearly all values are equal
        low, high = np.nanmin(numbers), np.nanmax(numbers)
    shades: Floats = np.clip((numbers - low) / ((high - low) or 1.0), 0, 1)
    return shades


def _offsets(values: Floats, low: float, high: float) -> Floats:
    """Return the positions of points across the axis: those in the same bin are side by side around 0."""
    bins = np.floor((values - low) / ((high - low) or 1.0) * _BINS).astype(np.int64)
    order = np.lexsort((np.arange(len(values)) * 7919 % 10007, bins))  # a fixed shuffle within a bin
    _, first, count = np.unique(bins[order], return_index=True, return_counts=True)
    rank = np.arange(len(values)) - np.repeat(first, count)
    side = np.where(rank % 2 == 0, -1, 1) * ((rank + 1) // 2)
    offsets = np.empty(len(values))
    offsets[order] = side * min(2 * _WIDTH / max(count.max(initial=1), 1), 0.08)
    return offsets


def _colour_map() -> Any:
    pyplot = shared.pyplot()
    return pyplot.matplotlib.colors.ListedColormap(pyplot.get_cmap("plasma")(np.linspace(*_COLOURS, 256)))


def _draw_key(ax: Any, colours: Any, *, has_grey: bool) -> None:
    pyplot = shared.pyplot()
    bar = ax.figure.colorbar(pyplot.cm.ScalarMappable(cmap=colours), ax=ax, aspect=30, pad=0.02)
    bar.set_ticks([0, 1], labels=["low", "high"])
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    bar.set_label("value of the variable" + "\n(grey: none, or no number)" * has_grey, fontsize="small")
