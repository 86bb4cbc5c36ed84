"""Components of categorical variables: bars with the names of levels, and one curve for each level."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.typing import Floats
from fasthdmr.plotting import _shared as shared
from fasthdmr.plotting._drawn import TOP, Drawn, Variable, support

_POINTS = 200
_MARKS = 8  # on a curve
_CURVES = 6
# Distinct for colour-blind readers (Okabe and Ito) on white and on black; in greyscale the marks tell curves apart.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_MARKERS = "osD^vP"


def bar_count(variable: Variable) -> int:
    """Return the number of bars of a categorical variable."""
    return min(len(variable.categories or ()), TOP + 1)


def is_drawn_as_curves(drawn: Drawn) -> bool:
    """Return whether these are a categorical variable and a numeric one of many values."""
    return (
        len(drawn.variables) == 2
        and {variable.levels is None for variable in drawn.variables} == {True, False}
        and any(variable.categories is not None for variable in drawn.variables)
    )


def draw_level_bars(drawn: Drawn, axes: Any, sort: str) -> None:
    """Draw a component of one categorical variable as horizontal bars, the first level on top."""
    (variable,) = drawn.variables
    codes = variable.cells(0)[1]
    values, error = drawn.values(codes[:, None]), drawn.error(codes[:, None])
    shares = variable.shares() if variable.rows.size else None
    shown = _shown(values, sort)
    rest = np.setdiff1d(np.arange(codes.size), shown)
    axes.axvline(0, color="0.75", linewidth=0.8, zorder=1)
    at = np.arange(shown.size)
    axes.barh(at, values[shown], height=0.75, color=shared.MIDDLE)
    axes.errorbar(values[shown], at, xerr=None if error is None else error[shown], **shared.marks())
    ends = shared.limits(values[shown], None if error is None else error[shown])
    if rest.size:
        weights = shares[rest] if shares is not None and shares[rest].any() else None
        axes.barh(shown.size, np.average(values[rest], weights=weights), height=0.75, color=shared.PALE)
    axes.set_xlim(ends)
    labels = _labels(variable, shown, rest, shares)
    size = "small" if len(labels) <= 12 else "x-small"
    axes.set_yticks(np.arange(len(labels)), labels, fontsize=size, **shared.PLAIN)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=5)
    axes.set_ylabel(variable.label, **shared.PLAIN)
    axes.set_xlabel(drawn.label, **shared.label_style(drawn.label))
    axes.spines[["top", "right"]].set_visible(False)


def _shown(values: Floats, sort: str) -> NDArray[np.intp]:
    """Return the codes of the levels with bars of their own, in order. One level is not called "1 others"."""
    count = len(values) if len(values) <= TOP + 1 else TOP
    if sort == "frequency":
        return np.arange(count)
    strongest = np.argsort(-np.abs(values), kind="stable")[:count]
    return strongest[np.argsort(-values[strongest], kind="stable")]


def _labels(variable: Variable, shown: NDArray[np.intp], rest: NDArray[np.intp], shares: Floats | None) -> list[str]:
    """Return the names of the bars, with shares of rows if there are rows."""
    labels = [variable.name_of(code) for code in shown] + [f"{rest.size} others"] * bool(rest.size)
    if shares is None:
        return labels
    of_bars = [*shares[shown], shares[rest].sum()]
    return [f"{label}  {shared.share_text(share)}" for label, share in zip(labels, of_bars, strict=False)]


def draw_level_curves(drawn: Drawn, axes: Any) -> None:
    """Draw a component of a categorical and a numeric variable as one curve for each of the most frequent levels."""
    is_first = drawn.variables[0].categories is not None
    category, numeric = drawn.variables if is_first else drawn.variables[::-1]
    category = category.top(_CURVES)
    x, codes = numeric.line(_POINTS), category.cells(0)[1]
    edges, middles = numeric.cells(1)
    numeric.scale.apply(axes, "x", numeric.bounds)
    rows = support(numeric, category)
    has_rows = np.ones((codes.size, x.size), dtype=bool) if rows is None else rows.near(x, codes)
    axes.axhline(0, color="0.75", linewidth=0.8, zorder=1)
    curves = np.array([_at_level(drawn, x, code, is_first) for code in codes])
    seen = np.where(has_rows, curves, np.nan)
    missing = [_at_level(drawn, middles[-1:], code, is_first).item() for code in codes] if numeric.has_missing else []
    for k, code in enumerate(codes):
        style: dict[str, Any] = {"color": _COLOURS[k], "marker": _MARKERS[k], "markersize": 4}
        axes.plot(x, curves[k], color=_COLOURS[k], linewidth=0.8, alpha=0.35)
        spacing = (k * _POINTS // (_MARKS * _CURVES), _POINTS // _MARKS)  # shifted, so that marks do not overlap
        axes.plot(x, seen[k], linewidth=1.6, markevery=spacing, label=category.name_of(code), **style)
        if numeric.has_missing:
            axes.plot(numeric.centres(edges[-2:]), missing[k], **style)
    if numeric.has_missing:
        axes.axvspan(*edges[-2:], **shared.STRIP)
        shared.label_strip(axes, numeric.centres(edges[-2:]).item(), "x")
    if has_rows.any():  # the scale does not include extrapolations
        axes.set_ylim(shared.limits(np.append(seen[np.isfinite(seen)], missing)))
    axes.set_xlim(edges[0], edges[-1])
    axes.set_xlabel(numeric.label, **shared.PLAIN)
    axes.set_ylabel(drawn.label, **shared.label_style(drawn.label))
    axes.spines[["top", "right"]].set_visible(False)
    _legend(axes, category)


def _at_level(drawn: Drawn, x: Floats, code: float, is_first: bool) -> Floats:
    points = np.column_stack([np.full_like(x, code), x])
    return drawn.values(points if is_first else points[:, ::-1])


def _legend(axes: Any, category: Variable) -> None:
    longest = max(map(len, category.levels_drawn()[2]))
    legend = axes.legend(
        title=category.label,
        frameon=False,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.04 if axes.texts else 1.0),
        ncols=3 if longest <= 10 else 2,
        fontsize="x-small",
        title_fontsize="small",
    )
    for text in [legend.get_title(), *legend.get_texts()]:
        text.set_parse_math(False)
