"""Common parts of all plots: matplotlib, colours, labels and axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support import text
from fasthdmr._support.optional import require
from fasthdmr._support.outputs import quantity
from fasthdmr._support.typing import Floats

# Distinct for colour-blind readers, and by lightness in greyscale. The lighter one is also hatched.
DARK, MIDDLE, LIGHT, PALE = "#1f4e79", "#7fa6c9", "#e69f00", "0.82"
HATCHED: dict[str, Any] = {"hatch": "////", "edgecolor": "black", "linewidth": 0}
DIVERGING = "RdBu_r"
STRIP: dict[str, Any] = {"color": "0.5", "alpha": 0.15, "linewidth": 0, "zorder": 0}  # behind missing values
_ROOM, _MARGIN = 0.25, 0.05  # for a band beyond curves and bars, and beyond that, as fractions of their range

_LONGEST_NAME = 24
_LONGEST_FUNCTION = 28
_LONGEST_LINE = 38

# For all text that contains names: dollar signs in a name do not start a formula.
PLAIN: dict[str, Any] = {"parse_math": False}


def pyplot() -> Any:
    """Return matplotlib.pyplot, imported at first use."""
    return require("matplotlib.pyplot", extra="plot")


def marks() -> dict[str, Any]:
    """Return the style of marks with error bars, in the colours of the user's style."""
    style = pyplot().rcParams
    colours = {"color": style["text.color"], "markerfacecolor": style["axes.facecolor"]}
    return {"fmt": "D", "markersize": 4, "linewidth": 1.2, **colours}


def shorten(name: str, longest: int = _LONGEST_NAME) -> str:
    """Return a name as text for an axis: short, and in one line.

    Examples
    --------
    >>> shorten("average_number_of_rooms_per_household")
    'average_numb…r_household'
    """
    return text.shorten(text.escaped(name), longest)


def short_names(names: Sequence[str], longest: int = _LONGEST_NAME) -> list[str]:
    """Return names short enough for an axis, and distinct: where both ends are the same, the part that differs.

    Examples
    --------
    >>> short_names(["a village on the northern bank of it", "a village on the southern bank of it", "town"], 20)
    ['…the northern bank o', '…the southern bank o', 'town']
    """
    names = [text.escaped(name) for name in names]
    short = [text.shorten(name, longest) for name in names]
    for same in {label for label, count in Counter(short).items() if count > 1}:
        group = [k for k, label in enumerate(short) if label == same and len(names[k]) > longest]
        members = [names[k] for k in group]
        common = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*members, strict=False)))
        start = max(0, min(common - 4, max(map(len, members), default=0) + 1 - longest))
        for k in group:
            short[k] = f"…{names[k][start : start + longest - 1]}"
    count = Counter(short)
    return [f"{label} ({k})" if count[label] > 1 else label for k, label in enumerate(short)]


def is_dark(axes: Any) -> bool:
    """Return whether the background of axes is dark."""
    return bool(sum(axes.get_facecolor()[:3]) < 1.5)


def line_colour(axes: Any) -> str:
    """Return the colour of a single curve."""
    return MIDDLE if is_dark(axes) else DARK


def share_text(share: float) -> str:
    """Return the share of some rows in all, which are not none.

    Examples
    --------
    >>> share_text(0.123), share_text(0.0004)
    ('12%', '<1%')
    """
    return f"{share:.0%}" if share >= 0.01 else "<1%"


def short_by_name(names: Iterable[str], longest: int = _LONGEST_NAME) -> dict[str, str]:
    """Return short and distinct names by name.

    Examples
    --------
    >>> short_by_name(["age", "age"])
    {'age': 'age'}
    """
    distinct = list(dict.fromkeys(names))
    return dict(zip(distinct, short_names(distinct, longest), strict=True))


def function_label(names: Sequence[str], others: Sequence[str] = ()) -> str:
    """Return the name of a component, of short names if it would be too long: distinct from those of others.

    Examples
    --------
    >>> function_label(["x0", "x1"]), function_label(["income", "average_number_of_rooms"])
    ('f(x0, x1)', 'f(income, average…_rooms)')
    """
    shown = [text.escaped(name) for name in names]
    if text.width(", ".join(shown)) > _LONGEST_FUNCTION:
        short = short_by_name([*names, *others], _LONGEST_FUNCTION // len(names))
        shown = [short[name] for name in names]
    return f"f({', '.join(shown)})"


def quantity_label(unit: str, target: str) -> str:
    """Return the name of an output, short and in one line.

    Examples
    --------
    >>> quantity_label("log-odds", '"malignant"')
    'log-odds of "malignant"'
    """
    return quantity(unit, shorten(target))


def join_label(function: str, quantity: str) -> str:
    """Return the label of a function and its quantity, in two lines if it is long.

    Examples
    --------
    >>> join_label("f(age)", "log-odds")
    'f(age), log-odds'
    """
    if not quantity:
        return function
    is_long = text.width(function + quantity) > _LONGEST_LINE
    return f"{function},{chr(10) if is_long else ' '}{quantity}"


def label_style(label: str, room: int = _LONGEST_FUNCTION) -> dict[str, Any]:
    """Return the style of the label of a function: small if it would be longer than its axis, in letters."""
    longest = max(map(text.width, label.split("\n")))
    return PLAIN | ({"fontsize": "small"} if longest > room else {})


def number_text(value: float, style: str = ".3g") -> str:
    """Return a number with a sign for minus; large numbers without powers of ten.

    Examples
    --------
    >>> number_text(-0.51234), number_text(2.0, "+.3g"), number_text(1743.2, "+.3g")
    ('−0.512', '+2', '+1,743')
    """
    if 1e3 <= abs(value) < 1e7:
        style = style.partition(".")[0] + ",.0f"
    return f"{value:{style}}".replace("-", "−")


def limits(values: Floats, error: Floats | None = None) -> tuple[float, float]:
    """Return the limits of an axis with room for values and zero, and for a narrow band: a wide one may leave it.

    Parameters
    ----------
    values : ndarray of shape (N,)
    error : ndarray of shape (N,), optional
        Half-widths of the band.

    Examples
    --------
    >>> limits(np.array([1.0, 10.0])), limits(np.array([1.0, 10.0]), np.array([0.0, 1e6]))
    ((-0.5, 10.5), (-3.0, 13.0))
    """
    low, high = float(np.min(values, initial=0.0)), float(np.max(values, initial=0.0))
    length = (high - low) or 1.0
    if error is None:
        error = np.zeros_like(values)
    below = max(low - _ROOM * length, float(np.min(values - error, initial=low)))
    above = min(high + _ROOM * length, float(np.max(values + error, initial=high)))
    return below - _MARGIN * length, above + _MARGIN * length


def text_width(labels: Sequence[str]) -> float:
    """Return the approximate width of the longest label in inches."""
    return 0.085 * max(map(text.width, labels), default=0)


def one_axes(ax: Any, width: float, height: float) -> Any:
    """Return the axes given, or the axes of a new figure of a size in inches."""
    return ax if ax is not None else pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def several_axes(ax: Any, projections: Sequence[str | None], size: tuple[float, float]) -> NDArray[np.object_]:
    """Return one axes for each projection: those given, a grid inside the one given, or a grid in a new figure.

    A new figure has columns and rows of a size, the width and height in inches.
    """
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
        figure = pyplot().figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
        grid = figure.add_gridspec(rows, columns)
    else:
        figure = ax.figure
        ax.set_axis_off()
        grid = ax.get_subplotspec().subgridspec(rows, columns)
    new = [figure.add_subplot(grid[divmod(k, columns)], projection=name) for k, name in enumerate(projections)]
    return np.array(new, dtype=object)


def share_limits(scales: Iterable[tuple[Any, str]]) -> None:
    """Give scales the smallest limits that include those of all; a scale is axes, and "x" or "y"."""
    both = [(getattr(axes, f"get_{name}lim"), getattr(axes, f"set_{name}lim")) for axes, name in scales]
    limits = [get() for get, _ in both]
    for _, put in both:
        put(min(low for low, _ in limits), max(high for _, high in limits))


def is_closed_form(estimator: Any) -> bool:
    """Return whether this is a function of `fasthdmr.analytic`."""
    return callable(getattr(estimator, "sensitivity", None))


def label_strip(axes: Any, centre: float, axis_name: str) -> None:
    """Write "missing" beside the last cell of an axis: above its centre, or to its right."""
    if axis_name == "x":
        place, options = (centre, 1.01), {"transform": axes.get_xaxis_transform(), "ha": "center", "va": "bottom"}
    else:
        place, options = (1.01, centre), {"transform": axes.get_yaxis_transform(), "va": "center", "rotation": 90}
    axes.text(*place, "missing", fontsize="small", **options)
