"""The curves of `scaling`: a panel for what they grow with, and one for memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fasthdmr._support.output_file import drawn, write_files

if TYPE_CHECKING:
    from bench.problems.scaling import Points


def guide(axes: Any, sizes: np.ndarray, values: np.ndarray, exponent: float, colour: str) -> None:
    """Draw the expected slope through the last point, over the upper half."""
    upper = sizes[min(len(sizes) // 2, len(sizes) - 2) :]
    axes.plot(upper, values[-1] * (upper / sizes[-1]) ** exponent, ":", color=colour, linewidth=2.5, alpha=0.7)


def panel(axes: Any, curves: Sequence[tuple[str, np.ndarray, np.ndarray, float, float]], x: str, y: str) -> None:
    """Draw curves and their guides on logarithmic axes."""
    from matplotlib.ticker import NullLocator

    for number, (name, sizes, values, slope, expected) in enumerate(curves):
        colour = f"C{number}"
        axes.loglog(sizes, values, "o-", color=colour, markersize=4, label=f"{name}: {slope:.2f} ({expected:g})")
        guide(axes, sizes, values, expected, colour)
    sizes = sorted({int(size) for curve in curves for size in curve[1]})
    axes.set_xticks(sizes, [str(size) if size < 1000 else f"$10^{{{np.log10(size):.0f}}}$" for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel=x, ylabel=y)
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize="small", title="slope (expected: dotted)", title_fontsize="small")


def draw(found: Sequence[Points], path: Path) -> None:
    """Write the plot."""
    from matplotlib.figure import Figure

    against = list(dict.fromkeys(points.curve.against for points in found))
    figure = Figure(figsize=(15, 9), layout="constrained")
    axes = figure.subplots(2, 3).ravel()
    for place, x in zip(axes, against, strict=False):
        curves = [
            (p.curve.what, np.array(p.curve.sizes), p.seconds(), p.slope(p.seconds()), p.curve.expected)
            for p in found
            if p.curve.against == x
        ]
        panel(place, curves, x, "seconds, one thread")
    memory = [
        (p.curve.what, np.array(p.curve.sizes), p.peaks() / 1e6, p.slope(p.peaks()), p.curve.memory)
        for p in found
        if p.curve.memory is not None
    ]
    panel(axes[len(against)], memory, against[0], "peak MB above the input")
    write_files({path: drawn(figure, path.suffix[1:], dpi=100)})
