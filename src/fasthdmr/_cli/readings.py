"""The values that a picture shows, for a page that prints those under the pointer."""

from __future__ import annotations

from typing import Any

import numpy as np

from fasthdmr._support.optional import require

_LEAST_POINTS = 20  # of a curve; lines of fewer points are marks and axes
_STEPS = 1000  # of the values of a map, to either side of 0


def readings(figure: Any) -> list[dict[str, Any]]:
    """Return the values of each axes of a figure that has been drawn, for JSON.

    Parameters
    ----------
    figure : matplotlib.figure.Figure

    Returns
    -------
    list of dict
        For each axes of curves, bars or a map: ``box``, its left, top, right and bottom edge as shares of the picture;
        ``x`` and ``y``, each with the ``limits`` of the axis, its ``label``, and the ``ticks`` and ``names`` of
        categories; and one of ``curves`` (``name``, ``at``, ``values``), ``bars`` (``along`` "x" or "y", ``at``,
        ``values``) and ``map`` (``x`` and ``y``: edges of cells, ``unit`` and ``cells``: values in this unit by rows of
        cells, None for those that are blank; ``empty``: edges and cells without rows, if there are any).
    """
    found = [(axes, _of_axes(axes)) for axes in figure.axes if axes.get_label() != "<colorbar>" and _is_linear(axes)]
    return [_place(axes) | values for axes, values in found if values]


def _is_linear(axes: Any) -> bool:
    return bool(axes.get_xscale() == axes.get_yscale() == "linear")


def _place(axes: Any) -> dict[str, Any]:
    box = axes.get_position()
    return {
        "box": _rounded([box.x0, 1 - box.y1, box.x1, 1 - box.y0]),
        "x": _axis(axes.xaxis, axes.get_xlim()),
        "y": _axis(axes.yaxis, axes.get_ylim()),
    }


def _axis(axis: Any, limits: Any) -> dict[str, Any]:
    entries = {"limits": _rounded(limits), "label": axis.get_label_text()}
    if isinstance(axis.get_major_locator(), require("matplotlib.ticker", extra="cli").FixedLocator):
        names = [" ".join(label.get_text().split()) for label in axis.get_ticklabels()]
        entries |= {"ticks": _rounded(axis.get_ticklocs()), "names": names}
    return entries


def _of_axes(axes: Any) -> dict[str, Any]:
    """Return what axes show, {} for nothing that is read."""
    meshes = [one for one in axes.collections if hasattr(one, "get_coordinates")]
    if meshes:
        return {"map": _map(*meshes[:2])}
    curves = [line for line in axes.lines if len(line.get_xdata()) >= _LEAST_POINTS]
    if curves:
        named = [line for line in curves if not str(line.get_label()).startswith("_")]
        return {"curves": [_curve(line) for line in named or curves]}
    bars = [one for one in axes.containers if hasattr(one, "datavalues")]
    return {"bars": _bar(bars[0])} if bars else {}


def _curve(line: Any) -> dict[str, Any]:
    label = str(line.get_label())
    name = "" if label.startswith("_") else label
    return {"name": name, "at": _rounded(line.get_xdata()), "values": _rounded(line.get_ydata())}


def _bar(container: Any) -> dict[str, Any]:
    is_vertical = container.orientation == "vertical"
    middles = [
        patch.get_x() + patch.get_width() / 2 if is_vertical else patch.get_y() + patch.get_height() / 2
        for patch in container
    ]
    return {"along": "x" if is_vertical else "y", "at": _rounded(middles), "values": _rounded(container.datavalues)}


def _map(mesh: Any, empty: Any = None) -> dict[str, Any]:
    values = np.ma.filled(np.ma.masked_invalid(mesh.get_array()), np.nan)
    unit = float(np.nanmax(np.abs(values), initial=0.0)) / _STEPS or 1.0
    cells = [[None if np.isnan(v) else round(v / unit) for v in row] for row in values.tolist()]
    entries = _edges(mesh) | {"unit": unit, "cells": cells}
    if empty is not None:
        without = (~np.ma.getmaskarray(empty.get_array())).astype(int).tolist()
        entries["empty"] = _edges(empty) | {"cells": without}
    return entries


def _edges(mesh: Any) -> dict[str, Any]:
    corners = mesh.get_coordinates()
    return {"x": _rounded(corners[0, :, 0]), "y": _rounded(corners[:, 0, 1])}


def _rounded(values: Any) -> list[float | None]:
    """Return numbers with five digits, None for NaN."""
    return [None if np.isnan(v) else float(f"{v:.5g}") for v in np.asarray(values, dtype=float).tolist()]
