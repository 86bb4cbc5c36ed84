"""A decomposition as one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib.metadata import version
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from fasthdmr._cli.pictures import pictures
from fasthdmr._results.level_sets import MARK, holds_zero, note
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._support.indices import INDICES
from fasthdmr._support.optional import require
from fasthdmr._support.output_file import drawn
from fasthdmr._support.outputs import with_unit
from fasthdmr._support.tables import four_decimals
from fasthdmr._support.text import escaped, level_name

_COLUMNS = {
    "names": "Variables",
    "order": "Order",
    **{name: index.html for name, index in INDICES.items()},
}
_PACKAGES = ("fasthdmr", "numpy", "scipy", "scikit-learn", "matplotlib")


def render(
    hdmr: Any,
    title: str,
    *,
    facts: Mapping[str, Any],
    options: Mapping[str, Any],
    warnings: Callable[[], Sequence[str]],
    levels: Any = None,
    outputs: Sequence[int] | None = None,
) -> str:
    """Return the page.

    Parameters
    ----------
    hdmr : estimator, fitted
    title : str
    facts : mapping of str to value
        Properties of the model and the data.
    options : mapping of str to value
        The options of the decomposition.
    warnings : callable
        Returns the lines of warnings; called at the end, since drawing may raise warnings.
    levels : DataFrame, optional
        The result of `level_effects`.
    outputs : sequence of int, optional
        The outputs to show; default: all.

    Returns
    -------
    str
        HTML. All text that is passed here, and all names of variables and outputs, are escaped.

    Examples
    --------
    >>> import fasthdmr
    >>> X, y = fasthdmr.datasets.make_ishigami(200, random_state=0)
    >>> hdmr = fasthdmr.TreeHDMR(smooth=False, random_state=0).fit(X, y)
    >>> page = render(hdmr, "Ishigami & co", facts={"Rows": 200}, options={"order": 2}, warnings=list)
    >>> "<h1>Ishigami &amp; co</h1>" in page
    True
    """
    style, script = _asset("_report.css"), _asset("_report.js")
    # A second line of defence: even a name that is not escaped could neither run nor load anything.
    policy = f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    versions = {name: version(name) for name in _PACKAGES} | {"Python": platform.python_version()}
    shown = range(hdmr.sensitivity_.n_outputs) if outputs is None else outputs
    return Template(_asset("_report.html")).substitute(
        policy=policy,
        title=escape(title),
        style=style,
        script=script,
        facts=_definitions(facts),
        warnings=_list(warnings()),
        outputs="\n".join(_output(hdmr, k, levels) for k in shown),
        options=_definitions(options),
        versions=_definitions(versions),
    )


def _asset(name: str) -> str:
    return files("fasthdmr._cli").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash that allows an inline script or style in a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _definitions(entries: Mapping[str, Any]) -> str:
    return "".join(
        f"\n<dt>{escape(name)}</dt><dd>{escape(escaped(str(value)))}</dd>" for name, value in entries.items()
    )


def _list(lines: Sequence[str]) -> str:
    if not lines:
        return "<p>None were raised.</p>"
    return "<ul>" + "".join(f"\n<li>{escape(line)}</li>" for line in lines) + "\n</ul>"


def _output(hdmr: Any, output: int, levels: Any) -> str:
    """Return the tables and the pictures of one output."""
    indices: Sensitivity = hdmr.sensitivity_
    of_what = ""
    if indices.n_outputs > 1:
        of_what = " of " + (str(output) if indices.output_names is None else escaped(indices.output_names[output]))
    figures = [_figure(name, display) for name, display in pictures(hdmr, output).items()]
    return "\n".join(
        [
            f"<section>\n<h2>{escape('Indices' + of_what)}</h2>",
            "<p>Click on a column heading to sort by it.</p>",
            _table(indices, output),
            *_levels(levels, hdmr.decomposition_, output, escape(of_what)),
            f"</section>\n<section>\n<h2>{escape('Pictures' + of_what)}</h2>",
            *figures,
            "</section>",
        ]
    )


def _levels(levels: Any, decomposition: Any, output: int, of_what: str) -> list[str]:
    """Return the tables of the levels of categorical variables, for one output."""
    if levels is None or levels.empty:
        return []
    if decomposition.output_names is not None:
        levels = levels[levels["output"] == decomposition.output_names[output]]
    parts = [f"</section>\n<section>\n<h2>Levels of categorical variables{of_what}</h2>"]
    parts.append(f"<p>{_EFFECT}</p>")
    heads = "".join(
        _heading(text, number=k > 0, sorted_by="descending" if k == 1 else None)
        for k, text in enumerate(("Level", with_unit("Effect", escape(decomposition.unit)), "Share of rows"))
    )
    for variable, own in levels.groupby("variable", sort=False):
        body = "\n".join(
            f'<tr><td data-value="{escape(name)}">{escape(name)}</td>'
            f'<td class="number" data-value="{effect!r}">{_signed(effect)}</td>'
            f'<td class="number" data-value="{share!r}">{share:.1%}</td></tr>'
            for name, effect, share in zip(map(level_name, own["level"]), own["effect"], own["share"], strict=True)
        )
        parts.append(
            f'<h3>{escape(escaped(variable))}</h3>\n<div class="scroll" tabindex="0">\n<table>\n'
            f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>"
        )
    return parts


_EFFECT = (
    "The effect of a level is the value of the function of this variable alone: what the level adds to the output, "
    "compared with the mean over all rows."
)


_CAPTIONS = {
    "indices": "How much each function matters, the strongest on top. Negative parts extend to the left of 0.",
    "components": "The functions that matter most. Curves and bars of one variable share their scale; maps show what "
    "two variables do together beyond what each does alone.",
    "interactions": "The strongest variables against each other: S of single variables on the diagonal, of pairs "
    "beside it.",
}


def _figure(name: str, display: Any) -> str:
    """Return a picture as HTML, and close it."""
    pyplot = require("matplotlib.pyplot", extra="cli")
    # A fixed salt and no date: the same decomposition gives the same page.
    with pyplot.rc_context({"svg.hashsalt": "fasthdmr"}):
        picture = drawn(display.figure_, "svg", dpi=150, metadata={"Date": None})
    pyplot.close(display.figure_)
    # An SVG in an img element has a namespace of its own for ids, and cannot run scripts.
    data = base64.b64encode(picture).decode()
    caption = escape(_CAPTIONS[name])
    return (
        f'<figure>\n<img src="data:image/svg+xml;base64,{data}" alt="Picture of the {name}">\n'
        f"<figcaption>{caption}</figcaption>\n</figure>"
    )


def _table(indices: Sensitivity, output: int) -> str:
    """Return the table of indices, by S."""
    count = len(indices.subspaces)
    frame = indices.to_frame().iloc[output * count : (output + 1) * count].reset_index(drop=True)
    frame = frame.sort_values("S", ascending=False, kind="stable")
    heads = "".join(
        _heading(html, number=column != "names", sorted_by="descending" if column == "S" else None)
        for column, html in _COLUMNS.items()
    )
    body = "\n".join(
        f"<tr>{''.join(_cell(row, column) for column in _COLUMNS)}</tr>" for row in frame.to_dict("records")
    )
    residual = np.atleast_1d(indices.residual)[output]
    lines = [] if indices.fidelity is None else [indices.fidelity.line(output)]
    if "S_conf" in frame:
        marked = "S" if holds_zero(frame["S"], frame["S_conf"]).any() else ""
        lines.insert(0, note(frame["Sa"].to_numpy(), marked, sign="±"))
    below = "".join(f"\n<p>{escape(line)}</p>" for line in lines if line)
    sums = [_number(frame[column].sum()) for column in INDICES]
    return f"""<div class="scroll" tabindex="0">
<table>
<thead><tr>{heads}</tr></thead>
<tbody>
{body}
</tbody>
<tfoot>
{_foot("Sum", sums)}
{_foot("Residual", [_number(residual) if column == "S" else "" for column in INDICES])}
</tfoot>
</table>
</div>{below}"""


def _heading(html: str, *, number: bool, sorted_by: str | None) -> str:
    """Return the heading of a column that can be sorted."""
    kind = ' class="number"' if number else ""
    order = "" if sorted_by is None else f' aria-sort="{sorted_by}"'
    return f'<th scope="col"{kind}{order}><button type="button">{html}</button></th>'


def _cell(row: Mapping[str, Any], column: str) -> str:
    value = row[column]
    if column == "names":
        return f'<td data-value="{escape(value)}">{escape(escaped(value))}</td>'
    if column == "order":
        return f'<td class="number" data-value="{value}">{value}</td>'
    if np.isnan(value):
        return '<td class="number" data-value="">–</td>'
    half_width = row.get(f"{column}_conf")
    interval = "" if half_width is None else f" <small>± {half_width:.4f}</small>"
    if column == "S" and half_width is not None and holds_zero(value, half_width):
        interval += f" {MARK}"
    return f'<td class="number" data-value="{value!r}">{_number(value)}{interval}</td>'


def _foot(name: str, values: Sequence[str]) -> str:
    cells = "".join(f'<td class="number">{value}</td>' for value in values)
    return f"<tr><td>{name}</td><td></td>{cells}</tr>"


def _signed(value: float) -> str:
    """Return an effect with four digits and its sign."""
    return f"{value:+.4g}".replace("-", "−")


def _number(value: float) -> str:
    return four_decimals(value).replace("-", "−")
