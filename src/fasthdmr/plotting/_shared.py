"""Common parts of all plots: matplotlib, colours, labels and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.optional import require

# Distinct for colour-blind readers, and by lightness in greyscale. The lighter one is also hatched.
DARK, MIDDLE, LIGHT, PALE = "#1f4e79", "#7fa6c9", "#e69f00", "0.82"
HATCHED: dict[str, Any] = {"hatch": "////", "edgecolor": "black", "linewidth": 0}
DIVERGING = "RdBu_r"

_LONGEST_NAME = 24
_LONGEST_FUNCTION = 28

# For all text that contains names: dollar signs in a name do not start a formula.
PLAIN: dict[str, Any] = {"parse_math": False}


def pyplot() -> Any:
    """Return matplotlib.pyplot, imported at first use."""
    return require("matplotlib.pyplot", extra="plot")


def shorten(name: str, longest: int = _LONGEST_NAME) -> str:
    """Return a name short enough for an axis: its first and last characters.

    Examples
    --------
    >>> shorten("average_number_of_rooms_per_household")
    'average_numb…r_household'
    """
    half = longest // 2
    return name if len(name) <= longest else f"{name[:half]}…{name[1 - half :]}"


def level_name(value: float) -> str:
    """Return a value of a variable as text."""
    return "missing" if np.isnan(value) else f"{value:.4g}"


def subspace_label(names: Sequence[str]) -> str:
    """Return the variables of a subspace as one label."""
    return ", ".join(map(shorten, names))


def function_label(names: Sequence[str]) -> str:
    """Return "f(x0, x1)", or "f" if that is too long."""
    label = f"f({', '.join(names)})"
    return label if len(label) <= _LONGEST_FUNCTION else "f"


def text_width(labels: Sequence[str]) -> float:
    """Return the approximate width of the longest label in inches."""
    return 0.085 * max(map(len, labels), default=0)


def one_axes(ax: Any, width: float, height: float) -> Any:
    """Return the axes given, or the axes of a new figure of a size in inches."""
    return ax if ax is not None else pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def several_axes(ax: Any, projections: Sequence[str | None]) -> NDArray[np.object_]:
    """Return one axes for each projection: those given, a grid inside the one given, or a grid in a new figure."""
    count = len(projections)
    if ax is not None and (np.ndim(ax) > 0 or count == 1):
        axes = np.ravel(np.asarray(ax, dtype=object))
        if axes.size != count:
            raise ValueError(f"Expected ax to have {count} axes, got {axes.size}.")
        if any(projection == "3d" != one.name for one, projection in zip(axes, projections, strict=True)):
            raise ValueError("kind='surface' needs axes made with projection='3d'.")
        return axes
    columns = min(count, 3)
    rows = -(-count // columns)
    if ax is None:
        figure = pyplot().figure(
            figsize=(4.2 * columns, (3.8 if "3d" in projections else 3.2) * rows), layout="constrained"
        )
        grid = figure.add_gridspec(rows, columns)
    else:
        figure = ax.figure
        ax.set_axis_off()
        grid = ax.get_subplotspec().subgridspec(rows, columns)
    new = [figure.add_subplot(grid[divmod(k, columns)], projection=name) for k, name in enumerate(projections)]
    return np.array(new, dtype=object)


def is_closed_form(estimator: Any) -> bool:
    """Return whether this is a function of `fasthdmr.analytic`."""
    return callable(getattr(estimator, "sensitivity", None))


def label_strip(axes: Any, edges: NDArray[np.float64], axis_name: str) -> None:
    """Write "missing" beside the last cell of an axis: above it, or to its right."""
    centre = edges[-2:].mean()
    if axis_name == "x":
        place, options = (centre, 1.01), {"transform": axes.get_xaxis_transform(), "ha": "center", "va": "bottom"}
    else:
        place, options = (1.01, centre), {"transform": axes.get_yaxis_transform(), "va": "center", "rotation": 90}
    axes.text(*place, "missing", fontsize="small", **options)
