"""The tables of the report."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from fasthdmr._cli.table_files import csv_text
from fasthdmr._results.level_sets import MARK, holds_zero, note
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._support.indices import INDICES
from fasthdmr._support.outputs import with_unit
from fasthdmr._support.tables import four_decimals
from fasthdmr._support.text import escaped, level_name, shorten

_COLUMNS = {
    "names": "Variables",
    "order": "Order",
    **{name: index.html for name, index in INDICES.items()},
}
_LONGEST = 80  # of a name; the whole is its title
_EFFECT = (
    "The effect of a level is the value of the function of this variable alone: what the level adds to the output, "
    "compared with the mean over all rows."
)


def index_tables(indices: Sensitivity, output: int, level: float) -> str:
    """Return the table of the indices of one output by S, and that of weak subspaces, which is folded.

    Weak are those of which neither Sa nor the magnitude of S reaches the level.
    """
    count = len(indices.subspaces)
    frame = indices.to_frame().iloc[output * count : (output + 1) * count].reset_index(drop=True)
    link = download(frame, f"indices_{output}.csv" if indices.n_outputs > 1 else "indices.csv")
    frame = frame.sort_values("S", ascending=False, kind="stable")
    is_weak = np.maximum(frame["Sa"], frame["S"].abs()) < level
    weak = frame[is_weak]
    residual = np.atleast_1d(indices.residual)[output]
    foot = [
        *([_foot(f"{len(weak)} weaker", [_number(weak[name].sum()) for name in INDICES])] if len(weak) else []),
        _foot("Sum", [_number(frame[name].sum()) for name in INDICES]),
        _foot("Residual", [_number(residual) if name == "S" else "" for name in INDICES]),
    ]
    parts = [_table("indices", _index_heads(), _rows(frame[~is_weak]), foot)]
    if len(weak):
        summary = f"{len(weak)} weaker, with S<sup>a</sup> and S below {level:g}"
        folded = _table("indices", _index_heads(), _rows(weak))
        parts.append(f"<details>\n<summary>{summary}</summary>\n{folded}\n</details>")
    if "S_conf" in frame:
        marked = "S" if holds_zero(frame["S"], frame["S_conf"]).any() else ""
        parts.append(f"<p>{escape(note(frame['Sa'].to_numpy(), marked, sign='±'))}</p>")
    return "\n".join([*parts, link])


def level_tables(levels: Any, unit: str, of_what: str) -> list[str]:
    """Return the tables of the levels of categorical variables of one output, [] if there are none."""
    if levels is None or levels.empty:
        return []
    parts = [f"<section>\n<h2>Levels of categorical variables{of_what}</h2>", f"<p>{_EFFECT}</p>"]
    heads = "".join(
        _heading(text, number=k > 0, sorted_by="descending" if k == 1 else None)
        for k, text in enumerate(("Level", with_unit("Effect", escape(unit)), "Share of rows"))
    )
    for variable, own in levels.groupby("variable", sort=False):
        body = "\n".join(
            f"<tr>{_name(level)}"
            f'<td class="number" data-value="{effect!r}">{_signed(effect)}</td>'
            f'<td class="number" data-value="{share!r}">{share:.1%}</td></tr>'
            for level, effect, share in zip(map(level_name, own["level"]), own["effect"], own["share"], strict=True)
        )
        parts.append(f"<h3>{escape(escaped(variable))}</h3>\n{_table('levels', heads, body)}")
    return [*parts, download(levels, "levels.csv"), "</section>"]


def download(frame: Any, name: str) -> str:
    """Return a link to a table as a CSV file within the page."""
    data = base64.b64encode(csv_text(frame).encode("utf-8", "backslashreplace")).decode()
    address = f"data:text/csv;charset=utf-8;base64,{data}"
    return f'<p class="download"><a download="{name}" href="{address}">Download {name}</a></p>'


def _table(name: str, heads: str, body: str, foot: Sequence[str] = ()) -> str:
    lines = [f"<thead><tr>{heads}</tr></thead>", f"<tbody>\n{body}\n</tbody>"]
    if foot:
        lines.append("<tfoot>\n" + "\n".join(foot) + "\n</tfoot>")
    return f'<div class="scroll {name}" tabindex="0">\n<table>\n' + "\n".join(lines) + "\n</table>\n</div>"


def _index_heads() -> str:
    return "".join(
        _heading(html, number=column != "names", sorted_by="descending" if column == "S" else None)
        for column, html in _COLUMNS.items()
    )


def _rows(frame: Any) -> str:
    rows = frame.to_dict("records")
    return "\n".join(f"<tr>{''.join(_cell(row, column) for column in _COLUMNS)}</tr>" for row in rows)


def _heading(html: str, *, number: bool, sorted_by: str | None) -> str:
    """Return the heading of a column that can be sorted."""
    kind = ' class="number"' if number else ""
    order = "" if sorted_by is None else f' aria-sort="{sorted_by}"'
    return f'<th scope="col"{kind}{order}><button type="button">{html}</button></th>'


def _cell(row: Mapping[str, Any], column: str) -> str:
    value = row[column]
    if column == "names":
        return _name(value)
    if column == "order":
        return f'<td class="number" data-value="{value}">{value}</td>'
    if np.isnan(value):
        return '<td class="number" data-value="">–</td>'
    half_width = row.get(f"{column}_conf")
    mark = f" {MARK}" if column == "S" and half_width is not None and holds_zero(value, half_width) else ""
    interval = "" if half_width is None else f" <small>± {half_width:.4f}{mark}</small>"
    return f'<td class="number" data-value="{value!r}">{_number(value)}{interval}</td>'


def _name(name: str) -> str:
    """Return the cell of a name; a long one is shortened, and whole under the pointer."""
    shown = shorten(escaped(name), _LONGEST)
    title = "" if shown == escaped(name) else f' title="{escape(escaped(name))}"'
    return f'<td data-value="{escape(name)}"{title}>{escape(shown)}</td>'


def _foot(name: str, values: Sequence[str]) -> str:
    cells = "".join(f'<td class="number">{value}</td>' for value in values)
    return f"<tr><td>{name}</td><td></td>{cells}</tr>"


def _signed(value: float) -> str:
    """Return an effect with four digits and its sign."""
    return f"{value:+.4g}".replace("-", "−")


def _number(value: float) -> str:
    return four_decimals(value).replace("-", "−")
