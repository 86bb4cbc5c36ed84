"""The pictures of the report, with the values that they show."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from html import escape
from typing import Any

from fasthdmr._cli.pictures import strongest_components
from fasthdmr._cli.readings import readings
from fasthdmr._support.optional import require
from fasthdmr._support.output_file import drawn
from fasthdmr.plotting import ComponentDisplay, SensitivityDisplay
from fasthdmr.plotting._shared import share_limits
from fasthdmr.plotting.sensitivity import MAX_BARS

_CAPTIONS = {
    "indices": "How much each function matters, the strongest on top. Negative parts extend to the left of 0.",
    "components": "The functions that matter most. Curves and bars of one variable share their scale; maps show what "
    "two variables do together beyond what each does alone.",
    "interactions": "The strongest variables against each other: S of single variables on the diagonal, of pairs "
    "beside it.",
}


def figures(hdmr: Any, output: int, level: float) -> list[str]:
    """Return the pictures of one output as HTML: indices, components with S at or above a level, interactions."""
    indices = hdmr.sensitivity_
    parts = [_group("indices", [SensitivityDisplay.from_estimator(hdmr, output=output).figure_])]
    if strongest := strongest_components(indices, output, level):
        parts.append(_group("components", _components(hdmr, strongest, output)))
    if len(indices.subspaces) > MAX_BARS:
        matrix = SensitivityDisplay.from_estimator(hdmr, output=output, kind="matrix")
        parts.append(_group("interactions", [matrix.figure_]))
    return parts


def _components(hdmr: Any, subspaces: Sequence[Any], output: int) -> list[Any]:
    """Return a figure for each component, so that a narrow page has them below each other."""
    displays = [ComponentDisplay.from_estimator(hdmr, [u], output=output) for u in subspaces]
    _share_scale([display.axes_[0] for display in displays], [hdmr.component(u) for u in subspaces])
    return [display.figure_ for display in displays]


def _share_scale(axes: Sequence[Any], components: Sequence[Any]) -> None:
    """Give components of one variable the same scale: vertical axes of curves, horizontal ones of levels."""
    share_limits(
        (one, "x" if component.levels else "y")
        for one, component in zip(axes, components, strict=True)
        if len(component.columns) == 1
    )


def _group(name: str, drawings: Sequence[Any]) -> str:
    pictures = "\n".join(_picture(name, figure) for figure in drawings)
    caption = f"<figcaption>{escape(_CAPTIONS[name])}</figcaption>"
    return f'<figure class="{name}">\n<div>\n{pictures}\n</div>\n{caption}\n</figure>'


def _picture(name: str, figure: Any) -> str:
    """Return a figure as an image, that of a component with the values that it shows, and close it."""
    pyplot = require("matplotlib.pyplot", extra="cli")
    # A fixed salt and no date: the same decomposition gives the same page. Without a background, for dark pages.
    with pyplot.rc_context({"svg.hashsalt": "fasthdmr"}):
        picture = drawn(figure, "svg", dpi=150, metadata={"Date": None}, transparent=True)
    values = json.dumps(readings(figure), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    pyplot.close(figure)
    # An SVG in an img element has a namespace of its own for ids, and cannot run scripts.
    source = f"data:image/svg+xml;base64,{base64.b64encode(picture).decode()}"
    image = f'<img src="{source}" alt="Picture of the {name}"'
    if name != "components":
        return f"{image}>"
    return f'<div class="picture">{image} data-readings="{escape(values)}"><p class="reading"></p></div>'
