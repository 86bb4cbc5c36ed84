"""Components of two variables: heat maps and surfaces, hatched or grey if there are no rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fasthdmr._support.typing import Floats
from fasthdmr.plotting import _shared as shared
from fasthdmr.plotting._drawn import Drawn, Support, Variable, support
from fasthdmr.plotting._scales import Scale

_MAP_POINTS = 100
_SURFACE_POINTS = 40
_LONGEST_NAME = 16
_ROOM = 36  # letters along the axis
_FEW = 10
_GREY = (0.8, 0.8, 0.8, 1.0)


def draw_map(drawn: Drawn, axes: Any) -> None:
    """Draw a component of two variables as a heat map."""
    x, y = (variable.top() for variable in drawn.variables)
    (x_edges, x_middles), (y_edges, y_middles) = x.cells(_MAP_POINTS), y.cells(_MAP_POINTS)
    rows = support(x, y)
    values, limit = _on_grid(drawn, rows, x_middles, y_middles)
    mesh = axes.pcolormesh(
        x_edges, y_edges, _with_gaps(values, x, y), cmap=shared.DIVERGING, vmin=-limit, vmax=limit, rasterized=True
    )
    if rows is not None:
        empty = _with_gaps(np.where(rows.present, np.nan, 1.0), x, y)
        _hatch(axes, x.cells(rows.count)[0], y.cells(rows.count)[0], empty)
    for variable, edges, axis in ((x, x_edges, axes.xaxis), (y, y_edges, axes.yaxis)):
        if variable.levels is not None:
            _name_ticks(axis, variable)
            continue
        variable.scale.apply(axes, axis.axis_name, variable.bounds)
        if variable.has_missing:
            shared.label_strip(axes, variable.centres(edges[-2:]).item(), axis.axis_name)
    axes.set_xlabel(x.label, **shared.PLAIN)
    axes.set_ylabel(y.label, **shared.PLAIN)
    bar = axes.figure.colorbar(mesh, ax=axes, extend="both" if np.abs(values).max() > limit else "neither")
    bar.set_label(drawn.label, **shared.label_style(drawn.label))
    bar.outline.set_visible(False)


def map_size(drawn: Drawn) -> tuple[float, float]:
    """Return the width and height in inches of axes with room for the levels of categorical variables."""
    x, y = (variable.top() for variable in drawn.variables)
    of_x, of_y = (variable.levels_drawn()[2] if variable.categories else [] for variable in (x, y))
    width = 1.6 + 0.17 * len(of_x) + shared.text_width(of_y)
    return max(4.2, width), max(3.2, 0.9 + 0.17 * len(of_y) + shared.text_width(of_x))


def _name_ticks(axis: Any, variable: Variable) -> None:
    """Name the values of a variable with levels, from bottom to top where they would overlap side by side."""
    centres, _, names = variable.levels_drawn()
    is_crowded = axis.axis_name == "x" and sum(map(len, names)) > _ROOM
    size = {"fontsize": "small" if len(names) <= _FEW else "x-small"} if variable.categories else {}
    axis.set_ticks(centres, names, rotation=90 if is_crowded else 0, **size, **shared.PLAIN)
    if variable.categories:
        axis.set_tick_params(length=0)
        axis.set_inverted(axis.axis_name == "y")  # the most frequent level is on top


def draw_surface(drawn: Drawn, axes: Any) -> None:
    """Draw a component of two variables as a surface in axes of three dimensions."""
    x, y = (replace(variable, scale=Scale()) for variable in drawn.variables)  # 3D axes have linear scales only
    x_points, y_points = x.line(_SURFACE_POINTS), y.line(_SURFACE_POINTS)
    rows = support(x, y)
    values, limit = _on_grid(drawn, rows, x_points, y_points)
    colours = shared.pyplot().get_cmap(shared.DIVERGING)((values / limit + 1) / 2)
    if rows is not None:
        colours[~rows.near(x_points, y_points)] = _GREY
    axes.plot_surface(
        *np.meshgrid(x_points, y_points),
        values,
        facecolors=colours,
        rstride=1,
        cstride=1,
        linewidth=0.2,
        edgecolor="0.4",
        shade=False,
    )
    first, second = (shared.shorten(name, _LONGEST_NAME) for name in drawn.names)
    axes.set_xlabel(first, **shared.PLAIN)
    axes.set_ylabel(second, **shared.PLAIN)
    axes.set_title(drawn.label, fontsize="medium", **shared.PLAIN)
    axes.set_box_aspect(None, zoom=0.85)  # otherwise the names of the variables are cut off


def _on_grid(drawn: Drawn, rows: Support | None, x: Floats, y: Floats) -> tuple[Floats, float]:
    """Return the component at all pairs of values, (values of y, values of x), and its largest magnitude at rows."""
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    values = drawn.values(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    limit = np.abs(values if rows is None else values[rows.near(x, y)]).max(initial=0.0)
    return values, float(limit) or 1.0


def _with_gaps(cells: Floats, x: Variable, y: Variable) -> Any:
    """Return cells with empty ones in the gaps before those for missing values, NaN masked."""
    for axis, variable in enumerate((y, x)):
        if variable.has_missing:
            cells = np.insert(cells, -1, np.nan, axis=axis)
    return np.ma.masked_invalid(cells)


def _hatch(axes: Any, x_edges: Floats, y_edges: Floats, cells: Any) -> None:
    """Cover cells that are not masked."""
    if cells.count():
        axes.pcolormesh(x_edges, y_edges, cells, cmap="Greys", vmin=0, vmax=4, alpha=0.75, rasterized=True)
        # Only pcolor can draw hatched cells.
        axes.pcolor(x_edges, y_edges, cells, facecolor="none", hatch="/////", edgecolor="0.55", linewidth=0)
