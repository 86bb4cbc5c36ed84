"""The style of the figures, and their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fasthdmr._support.output_file import drawn, write_files

# Okabe and Ito's colours, which are distinct for colour-blind readers, and line styles for prints without colour.
BLUE, ORANGE, GREEN, PURPLE, SKY, BLACK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#000000"
LINES: Sequence[tuple[str, Any]] = (
    (BLUE, "-"),
    (ORANGE, "--"),
    (GREEN, "-."),
    (PURPLE, ":"),
    (SKY, (0, (6, 2))),
    (BLACK, (0, (3, 1, 1, 1, 1, 1))),
)
MARKERS = "os^Dv"
ORDERED = "viridis"
SIGNED = "RdBu_r"  # blue below 0, red above

_STYLE = {
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "lines.linewidth": 1.6,
    "lines.markersize": 3.5,
    "savefig.dpi": 200,
}


@contextmanager
def drawing(path: Path, shape: tuple[int, int] = (1, 1), size: tuple[float, float] = (5.0, 3.4)) -> Iterator[Any]:
    """Give a new figure and its axes, an array of this shape, and write it when they are drawn on.

    Parameters
    ----------
    path : Path
        The file; directories are made.
    shape : tuple of int
        Rows and columns of axes.
    size : tuple of float
        Width and height in inches.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        yield figure, figure.subplots(*shape, squeeze=False)
        write_files({path: drawn(figure, path.suffix[1:])})
    print(f"figure: {path}")


def shades(count: int) -> np.ndarray:
    """Return colours of an ordered scale, dark to light, none too light to be seen."""
    from matplotlib import colormaps

    return np.asarray(colormaps[ORDERED](np.linspace(0, 0.85, count)))
