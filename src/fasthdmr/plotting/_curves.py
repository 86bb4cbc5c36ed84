"""Components of one variable: a curve, or bars where the variable has few values."""

from __future__ import annotations

from typing import Any

import numpy as np

from fasthdmr._support.typing import Floats
from fasthdmr.plotting import _shared as shared
from fasthdmr.plotting._drawn import Drawn, Variable

_POINTS = 200
_RUG = 200


def draw_single(drawn: Drawn, axes: Any) -> None:
    """Draw a component of one variable."""
    (variable,) = drawn.variables
    axes.axhline(0, color="0.75", linewidth=0.8, zorder=1)
    if variable.levels is None:
        _curve(drawn, variable, axes)
    else:
        _bars(drawn, variable, axes)
    axes.set_xlabel(variable.label, **shared.PLAIN)
    axes.set_ylabel(drawn.label, **shared.label_style(drawn.label))
    axes.spines[["top", "right"]].set_visible(False)


def _curve(drawn: Drawn, variable: Variable, axes: Any) -> None:
    x, colour = variable.line(_POINTS), shared.line_colour(axes)
    values, error = drawn.values(x[:, None]), drawn.error(x[:, None])
    if error is not None:
        axes.fill_between(x, values - error, values + error, color=colour, alpha=0.2, linewidth=0)
    inside = variable.rows[(x[0] <= variable.rows) & (variable.rows <= x[-1])]
    rug = inside[:: -(-inside.size // _RUG) or 1]
    axes.vlines(rug, 0, 0.03, transform=axes.get_xaxis_transform(), color="0.4", linewidth=0.5)
    edges, middles = variable.cells(1)
    variable.scale.apply(axes, "x", variable.bounds)
    if variable.has_missing:
        axes.axvspan(*edges[-2:], **shared.STRIP)
        centre = variable.centres(edges[-2:])
        at_missing, its_error = _mark(drawn, centre, middles[-1:], axes)
        values = np.append(values, at_missing)
        error = None if error is None or its_error is None else np.append(error, its_error)
        shared.label_strip(axes, centre.item(), "x")
    axes.plot(x, values[: x.size], color=colour, linewidth=1.8)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(shared.limits(values, error))


def _bars(drawn: Drawn, variable: Variable, axes: Any) -> None:
    centres, levels, names = variable.levels_drawn()
    values, error = _mark(drawn, centres, levels, axes)
    axes.bar(centres, values, width=0.8, color=shared.MIDDLE)
    axes.set_ylim(shared.limits(values, error))
    labels = [f"{name}\n{shared.share_text(share)}" for name, share in zip(names, variable.shares(), strict=True)]
    axes.set_xticks(centres, labels, fontsize="small" if len(labels) <= 7 else "xx-small")
    axes.tick_params(axis="x", length=0)


def _mark(drawn: Drawn, centres: Floats, points: Floats, axes: Any) -> tuple[Floats, Floats | None]:
    """Mark the component at single points, with error bars where errors are known; return both."""
    values, error = drawn.values(points[:, None]), drawn.error(points[:, None])
    axes.errorbar(centres, values, yerr=error, **shared.marks())
    return values, error
