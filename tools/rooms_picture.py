"""Draws the rooms of `rooms.py`: boxes on levels, and arrows to their dependencies below."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path as FilePath
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from rooms import Codebase, Graph, levels

SWEEPS = 24
ARROW, BOX, INK = "#0072B2", "#f3f1ea", "#333333"

Place = tuple[str, int]  # a room, or where a long arrow from it passes a level: (name of the arrow, level)


def needed_directly(graph: Graph) -> Graph:
    """Return the transitive reduction of the graph: the arrows that no chain of others implies."""
    below: dict[str, set[str]] = {}
    for room in sorted(levels(graph), key=levels(graph).__getitem__):
        below[room] = graph[room].union(*(below[other] for other in graph[room]))
    return {room: needed - set().union(*(below[other] for other in needed)) for room, needed in graph.items()}


def chains(arrows: Graph, level: dict[str, int]) -> list[list[Place]]:
    """Return each arrow as the places that it passes, one per level."""
    return [
        [
            (room, level[room]),
            *((f"{room} {other}", k) for k in range(level[room] - 1, level[other], -1)),
            (other, level[other]),
        ]
        for room, needed in arrows.items()
        for other in sorted(needed)
    ]


def positions(routes: list[list[Place]], level: dict[str, int]) -> dict[Place, float]:
    """Return the horizontal position of each place: alternately near the mean of its neighbours above and below."""
    rows: list[list[Place]] = [[] for _ in range(1 + max(level.values()))]
    for place in dict.fromkeys([*level.items(), *(place for route in routes for place in route)]):
        rows[place[1]].append(place)
    near: dict[Place, list[Place]] = {place: [] for row in rows for place in row}
    for route in routes:
        for upper, lower in pairwise(route):
            near[upper].append(lower)
            near[lower].append(upper)
    x = {place: k - (len(row) - 1) / 2 for row in rows for k, place in enumerate(row)}
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 else rows[::-1]:
            wish = {place: sum(x[other] for other in near[place]) / max(1, len(near[place])) for place in row}
            row.sort(key=wish.__getitem__)
            middle = sum(wish.values()) / len(row)
            x.update({place: middle + k - (len(row) - 1) / 2 for k, place in enumerate(row)})
    return x


def draw_codebase(ax: Any, codebase: Codebase) -> None:
    """Draw the rooms of one codebase."""
    level, arrows = levels(codebase.rooms), needed_directly(codebase.rooms)
    routes = chains(arrows, level)
    x = positions(routes, level)
    for route in routes:
        points = [(x[place], float(place[1])) for place in route]
        vertices, codes = [points[0]], [Path.MOVETO]
        for (a, top), (b, bottom) in pairwise(points):
            vertices += [(a, top - 0.5), (b, bottom + 0.5), (b, bottom)]
            codes += [Path.CURVE4] * 3
        ax.add_patch(PathPatch(Path(vertices, codes), fill=False, edgecolor=ARROW, linewidth=1, alpha=0.7, zorder=1))
    box = {"boxstyle": "round,pad=0.35", "facecolor": BOX, "edgecolor": INK, "linewidth": 0.8}
    for room, k in level.items():
        ax.text(x[room, k], k, room, ha="center", va="center", color=INK, bbox=box, zorder=2)
    across = [x[place] for place in x]
    ax.set(title=codebase.name, xlim=(min(across) - 0.8, max(across) + 0.8), ylim=(-0.5, max(level.values()) + 0.5))
    ax.set_axis_off()


def draw(codebases: Iterable[Codebase], path: FilePath) -> None:
    """Draw all codebases side by side; the same codebase gives the same file."""
    codebases = list(codebases)
    with mpl.rc_context({"svg.hashsalt": "rooms", "svg.fonttype": "none", "font.size": 8}):
        figure = Figure(figsize=(11, 6.5), layout="constrained")
        axes = figure.subplots(1, len(codebases), width_ratios=[1, 1.7], squeeze=False)[0]
        for ax, codebase in zip(axes, codebases, strict=True):
            draw_codebase(ax, codebase)
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, metadata=metadata)
