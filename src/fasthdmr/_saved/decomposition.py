"""A decomposition in a file: its dictionary, components, indices, and the sample of rows for plots."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fasthdmr._dictionaries.array_columns import ArrayDictionary
from fasthdmr._results.decomposition import Decomposition
from fasthdmr._saved.archive import Archive, Writer
from fasthdmr._saved.context import Context
from fasthdmr._saved.dictionaries import count_columns, given_columns, has_black_box, read_dictionary, write_dictionary
from fasthdmr._saved.fields import Fields, Refused
from fasthdmr._saved.levels import read_levels_of_columns, write_levels
from fasthdmr._saved.sensitivity import read_sensitivity, with_intervals, write_sensitivity
from fasthdmr._saved.solutions import read_solution, write_solution
from fasthdmr._support.groups import Groups
from fasthdmr._support.sample import Sample


def write_decomposition(decomposition: Decomposition, n_columns: int, out: Writer) -> dict[str, Any]:
    """Return the document of a decomposition, and add its arrays; `n_columns` is the number of columns of X."""
    dictionary, outputs, groups = decomposition.dictionary, decomposition.output_names, decomposition.groups
    given = [given_columns(dictionary, k) for k in range(len(decomposition.solutions))]
    if decomposition.concurvity is not None:
        out.add("concurvity", decomposition.concurvity)
    return {
        "feature_names": list(decomposition.feature_names),
        "output_names": None if outputs is None else list(outputs),
        "unit": decomposition.unit,
        "targets": list(decomposition.targets),
        "warnings": list(decomposition.warnings),
        "levels": [{"column": j, "levels": write_levels(levels)} for j, levels in decomposition.levels.items()],
        "groups": None if groups is None else _written(groups),
        "dictionary": write_dictionary(dictionary, out),
        "subspaces": [list(u) for u in decomposition.subspaces],
        "outputs": [write_solution(s, k, given[k], out) for k, s in enumerate(decomposition.solutions)],
        "sensitivity": write_sensitivity(decomposition, out),
        "concurvity": decomposition.concurvity is not None,
        "sample": _write_sample(decomposition, None if given[0] is None else n_columns, out),
    }


def read_decomposition(fields: Fields, n_columns: int, archive: Archive) -> Decomposition:
    """Return the decomposition of a document."""
    names = fields.texts("feature_names")
    outputs = None if fields.is_null("output_names") else fields.texts("output_names")
    solutions = fields.objects("outputs")
    K = len(solutions)
    if not names or K == 0 or (1 if outputs is None else len(outputs)) != K:
        raise Refused(f"{fields.where} must have names of variables, and one name for each of several outputs")
    targets = fields.texts("targets")
    if targets and len(targets) != K:
        raise Refused(f"'targets' of {fields.where} must be one text for each output, or none")
    levels = read_levels_of_columns(fields, n_columns)
    groups = None if fields.is_null("groups") else _read_groups(fields.fields("groups"), names, n_columns)
    context = Context(archive, len(names), n_columns, K, levels, groups)
    dictionary = read_dictionary(fields.fields("dictionary"), context)
    if groups is None and not isinstance(dictionary, ArrayDictionary) and len(names) != n_columns:
        raise Refused(f"'feature_names' of {fields.where} must be {n_columns} names")
    subspaces = fields.subspaces("subspaces", len(names))
    sensitivity = read_sensitivity(fields.fields("sensitivity"), subspaces, names, outputs, archive)
    result = Decomposition(
        dictionary,
        tuple(
            read_solution(each, k, count_columns(dictionary, k), len(names), archive)
            for k, each in enumerate(solutions)
        ),
        subspaces,
        sensitivity,
        names,
        outputs,
        None if fields.is_null("sample") else _read_sample(fields.fields("sample"), n_columns, archive),
        unit=fields.text("unit"),
        targets=targets,
        warnings=fields.texts("warnings"),
        levels=levels,
        groups=groups,
    )
    if fields.flag("concurvity"):
        shape = [len(names)] if outputs is None else [len(names), K]
        result = replace(result, concurvity=archive.array("concurvity", shape, finite=False))
    result = with_intervals(fields.fields("sensitivity"), result, archive)
    if not has_black_box(dictionary) and any(s.black_box.indices.tolist() != [1] for s in result.solutions):
        raise Refused(f"{fields.where} must say that its black box is not known")
    return result


def _written(groups: Groups) -> dict[str, Any]:
    return {"columns": [list(columns) for columns in groups.columns], "column_names": list(groups.column_names)}


def _read_groups(fields: Fields, names: tuple[str, ...], n_columns: int) -> Groups:
    columns, column_names = fields.lists("columns", n_columns - 1), fields.texts("column_names")
    is_partition = sorted(j for own in columns for j in own) == list(range(n_columns)) and all(columns)
    if len(columns) != len(names) or len(column_names) != n_columns or not is_partition:
        raise Refused(f"{fields.where} must divide the {n_columns} columns among the {len(names)} variables")
    return Groups(tuple(columns), names, column_names)


def _write_sample(decomposition: Decomposition, n_columns: int | None, out: Writer) -> dict[str, Any] | None:
    """Add the sample of rows, of which only the variables are needed if no trees are saved that read other columns."""
    if (sample := decomposition.sample) is None:
        return None
    out.add("sample/rows", np.ascontiguousarray(sample.rows[:, :n_columns]))
    out.add("sample/weights", sample.weights)
    return {"n_effective": float(sample.n_effective) if np.isfinite(sample.n_effective) else None}


def _read_sample(fields: Fields, n_columns: int, archive: Archive) -> Sample:
    rows = archive.array("sample/rows", [None, None], finite=False)
    weights = archive.array("sample/weights", [len(rows)])
    if rows.shape[1] < n_columns or len(rows) == 0 or weights.min() < 0 or weights.sum() <= 0 or np.isinf(rows).any():
        raise Refused("'sample/rows' must be rows of all columns, and 'sample/weights' not negative and not all 0")
    n_effective = np.inf if fields.is_null("n_effective") else fields.number("n_effective")
    if n_effective <= 0:
        raise Refused(f"'n_effective' of {fields.where} must be positive")
    return Sample(rows, weights, n_effective)
