"""The table of all indices of one output, as in the paper, with the remarks below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from fasthdmr._results.level_sets import note
from fasthdmr._support.indices import INDICES, HalfWidths, Index
from fasthdmr._support.shown import Shown
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.tables import NARROW, cells, first_that_fits
from fasthdmr._support.typing import Floats

_MOST_PRINTED, _MOST_IN_HTML = 40, 20


class OneOutput(Protocol):
    """The indices of one output, as of `fasthdmr.Sensitivity`."""

    @property
    def subspaces(self) -> Sequence[Subspace]: ...
    @property
    def names(self) -> Sequence[str]: ...
    @property
    def Sa(self) -> Floats: ...
    @property
    def S(self) -> Floats: ...
    @property
    def residual(self) -> Any: ...


def as_text(one: OneOutput, conf: HalfWidths | None, fidelity: str) -> str:
    """Return the table as text that fits the terminal, where it can.

    Parameters
    ----------
    one : Sensitivity
        Of one output.
    conf : dict of str to ndarray, or None
        Half-widths by index.
    fidelity : str
        The last line, "" for none.
    """
    printed = _printed(conf)
    of_S = {name: width for name, width in printed.items() if name == "S"}
    # On a narrow terminal, the interval of S, then none, then no column of subspaces.
    tables = [_table(one, intervals, _MOST_PRINTED) for intervals in (printed, of_S, {})]
    tables.append(tables[-1].without_first_column())
    number, _ = first_that_fits(str(replace(table, remarks=())) for table in tables)
    remarks = [f"({NARROW} to_frame() has them.)"] if printed and number else []
    return str(replace(tables[number], remarks=[*remarks, *tables[number].remarks, *filter(None, [fidelity])]))


def as_shown(one: OneOutput, conf: HalfWidths | None, fidelity: str, title: str) -> Shown:
    """Return the table of the strongest subspaces for a notebook; parameters as for `as_text`."""
    table = _table(one, _printed(conf), _MOST_IN_HTML)
    return replace(table, title=title, bar="S", remarks=[*table.remarks, *filter(None, [fidelity])])


def on_rows(index: Index, values: Floats, subspaces: Sequence[Subspace]) -> Floats:
    """Return the values of an index by subspace, (C,): those of variables at order 1, NaN elsewhere."""
    if index.of == "subspace":
        return values
    return np.array([values[u[0]] if len(u) == 1 else np.nan for u in subspaces], dtype=np.float64)


def _printed(conf: HalfWidths | None) -> HalfWidths:
    """Return the half-widths for which the table has room."""
    return {name: conf[name] for name, index in INDICES.items() if index.prints_interval} if conf else {}


def _table(one: OneOutput, conf: HalfWidths, most: int) -> Shown:
    """Return the table of the strongest subspaces, with the intervals of some indices."""
    strongest = set(np.argsort(-np.abs(one.S), kind="stable")[:most].tolist())
    columns: list[list[Any]] = []
    sums: list[Any] = []
    for name, index in INDICES.items():
        values = getattr(one, name)
        width = on_rows(index, conf[name], one.subspaces) if name in conf else None
        columns.append(cells(on_rows(index, values, one.subspaces), width))
        sums.append((float(values.sum()), None) if name in conf else float(values.sum()))
    rows = [row for k, row in enumerate(zip(one.subspaces, one.names, *columns, strict=True)) if k in strongest]
    remarks = []
    if hidden := len(one.subspaces) - len(strongest):
        remarks.append(f"{hidden} weaker subspaces not shown, included in the sums")
    if conf:
        remarks.append(note(one.Sa))
    return Shown(
        ("Subspace", "Variables", *INDICES),
        rows,
        [("", "Sum", *sums), ("", "Residual", *(one.residual if name == "S" else None for name in INDICES))],
        remarks=[f"({remark})" for remark in remarks if remark],
    )
