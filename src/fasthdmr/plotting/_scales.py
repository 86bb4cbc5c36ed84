"""The scales of axes: linear, or logarithmic for skewed variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fasthdmr._support.optional import require
from fasthdmr._support.typing import Floats
from fasthdmr.plotting._shared import number_text

_MOST_DECADES = 2  # with ticks at 1 and 3
_MOST_TICKS = 6
_SMALLEST, _LARGEST = 1e-290, 1e290  # of logarithmic axes, which extend beyond the range
_WIDE = 10  # the ratio of the ends of a range that is worth a logarithm
_SKEWED = 4  # the ratio of the upper to the lower half of the range, from the median


@dataclass(frozen=True)
class Scale:
    """The scale of an axis, as in matplotlib. "symlog" is linear up to a threshold, so that it includes zero.

    Examples
    --------
    >>> Scale("log").forward(np.array([1.0, 10.0, 100.0]))
    array([0., 1., 2.])
    """

    name: Literal["linear", "log", "symlog"] = "linear"
    threshold: float = 1.0

    def forward(self, values: Floats) -> Floats:
        """Return places along the axis, evenly spaced."""
        if self.name == "linear":
            return values
        return np.log10(values) if self.name == "log" else np.asarray(self._symlog.transform_non_affine(values))

    def backward(self, places: Floats) -> Floats:
        """Return the values at places along the axis."""
        if self.name == "linear":
            return places
        inverse = self._symlog.inverted()
        return 10.0**places if self.name == "log" else np.asarray(inverse.transform_non_affine(places))

    def apply(self, axes: Any, axis_name: str, bounds: Floats) -> None:
        """Give an axis with a range this scale, and few ticks."""
        if self.name == "linear":
            axes.locator_params(axis=axis_name, nbins=6)
            return
        set_scale = axes.set_xscale if axis_name == "x" else axes.set_yscale
        set_scale(self.name, **({"linthresh": self.threshold} if self.name == "symlog" else {}))
        axis, ticker = getattr(axes, f"{axis_name}axis"), require("matplotlib.ticker", extra="plot")
        axis.set_major_locator(ticker.FixedLocator(self.ticks(bounds)))
        axis.set_major_formatter(ticker.FuncFormatter(_tick_text))
        axis.set_minor_formatter(ticker.NullFormatter())

    def ticks(self, bounds: Floats) -> Floats:
        """Return the ticks of a logarithmic axis with a range: few powers of ten, or 1 and 3 times these.

        Examples
        --------
        >>> Scale("log").ticks(np.array([0.3, 4000.0])), Scale("symlog", 3.0).ticks(np.array([0.0, 80.0]))
        (array([   1.,   10.,  100., 1000.]), array([ 0.,  3., 10., 30.]))
        """
        low, high = bounds
        start = low if self.name == "log" else self.threshold
        decades = np.arange(np.floor(np.log10(start)), np.log10(high) + 1)
        digits = np.array([1.0, 3.0] if np.log10(high / start) <= _MOST_DECADES else [1.0])
        ticks = np.outer(10.0 ** decades[:: -(-decades.size // _MOST_TICKS)], digits).ravel()
        ticks = ticks[(start <= ticks) & (ticks <= high)]
        if ticks.size < 2:
            ticks = np.array([start, high])
        return ticks if self.name == "log" else np.append(0.0, ticks)

    @property
    def _symlog(self) -> Any:
        return require("matplotlib.scale", extra="plot").SymmetricalLogTransform(10, self.threshold, 1)


def _tick_text(value: float, _: int) -> str:
    return number_text(value)


def scale_of(rows: Floats, bounds: Floats) -> Scale:
    """Return the scale of a variable: logarithmic if it is skewed, and logarithms are less so.

    Skewed: from the median of the positive values in the range, the range extends at least 4 times as far up as down,
    and its upper end is at least 10 times the lower one. Positive ranges have a logarithmic scale, ranges from zero one
    that is linear up to the 5th percentile of the positive values, and ranges with negative values a linear one.

    Parameters
    ----------
    rows : ndarray of shape (S,)
    bounds : ndarray of shape (2,)
        The range that is drawn.

    Examples
    --------
    >>> incomes = np.exp(np.random.default_rng(0).normal(size=1000))
    >>> scale_of(incomes, np.array([0.1, 10.0])).name, scale_of(incomes - 5, np.array([-4.9, 5.0])).name
    ('log', 'linear')
    """
    low, high = bounds
    positive = rows[(rows > 0) & (rows >= low) & (rows <= high)]
    if low < 0 or positive.size == 0:
        return Scale()
    start, middle = (positive.min(), np.median(positive)) if low == 0 else (low, np.median(positive))
    if not _SMALLEST < start < middle < high < _LARGEST or high < _WIDE * start:
        return Scale()
    with np.errstate(over="ignore"):
        ratio = (high - middle) / (middle - start)
    of_logs = (np.log(high) - np.log(middle)) / (np.log(middle) - np.log(start))
    if ratio < _SKEWED or max(of_logs, 1 / of_logs) >= ratio:
        return Scale()
    return Scale("log") if low > 0 else Scale("symlog", float(np.percentile(positive, 5)))
