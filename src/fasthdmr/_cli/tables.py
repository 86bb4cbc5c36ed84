"""The tables of a decomposition, as files and in print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fasthdmr._cli.table_files import table_files
from fasthdmr._results.sensitivity import Sensitivity, printed_table
from fasthdmr._support.tables import four_decimals
from fasthdmr._support.text import escaped


def index_files(hdmr: Any, outputs: Sequence[int], *, kind: str | None = None, levels: Any = None) -> dict[str, bytes]:
    """Return the files of the indices and of the levels of categorical variables, by name.

    Parameters
    ----------
    hdmr : estimator, fitted
    outputs : sequence of int
        The outputs to write.
    kind : str or None
        The format, as of `table_files`.
    levels : DataFrame, optional
        The result of `level_effects`; its table is there only if there are categorical variables.
    """
    indices: Sensitivity = hdmr.sensitivity_
    tables = {"indices": of_outputs(indices.to_frame(), indices, outputs)}
    if levels is not None and not levels.empty:
        tables["levels"] = of_outputs(levels, indices, outputs)
    summary = {"variance": indices.variance, "residual": indices.residual, "explained": indices.explained()}
    facts = {name: _of_outputs(np.asarray(value), indices, outputs) for name, value in summary.items()}
    return table_files(tables, kind, facts)


def of_outputs(frame: Any, indices: Sensitivity, outputs: Sequence[int]) -> Any:
    """Return the rows of a table that belong to some outputs."""
    if "output" not in frame or len(outputs) == indices.n_outputs:
        return frame
    names = [output_name(indices, k) for k in outputs]
    return frame[frame["output"].map(str).isin(names)].reset_index(drop=True)


def table_text(indices: Sensitivity, outputs: Sequence[int], level: float | None) -> str:
    """Return the printed tables of some outputs; with a level, of the subspaces with S at or above it."""
    texts = []
    for k in outputs:
        text = printed_table(indices, k) if level is None else _at_level(indices, k, level)
        texts.append(f"Output {escaped(output_name(indices, k))}\n{text}" if indices.n_outputs > 1 else text)
    return "\n\n".join(texts)


def output_name(indices: Sensitivity, output: int) -> str:
    """Return the name of an output."""
    return str(output) if indices.output_names is None else indices.output_names[output]


def _at_level(indices: Sensitivity, output: int, level: float) -> str:
    """Return the table of the strong subspaces, and lines that sum up the rest."""
    S = indices.S.reshape(len(indices.subspaces), -1)[:, output]
    weak = S[~(level <= S)]
    residual = np.atleast_1d(indices.residual)[output]
    lines = [
        str(indices.level_set("P", level, output=output)),
        f"({weak.size} subspaces with S below {level:g} not shown, which sum to {four_decimals(weak.sum())})",
        f"Residual {four_decimals(residual)}",
        *([] if indices.fidelity is None else [indices.fidelity.line(output)]),
    ]
    return "\n".join(lines)


def _of_outputs(values: Any, indices: Sensitivity, outputs: Sequence[int]) -> Any:
    """Return values, whose last axis are outputs, of some outputs as lists."""
    if indices.n_outputs > 1 and len(outputs) == 1:
        values = values[..., outputs[0]]
    return values.tolist()
