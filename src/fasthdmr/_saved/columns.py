"""The result of `decompose` in a file: a decomposition, and the matrices A and nu of the paper."""

from __future__ import annotations

from typing import Any

from fasthdmr._dictionaries.array_columns import ArrayDictionary
from fasthdmr._results.decomposition import Decomposition
from fasthdmr._saved.archive import Archive, Writer
from fasthdmr._saved.decomposition import read_decomposition, write_decomposition
from fasthdmr._saved.fields import Refused
from fasthdmr._saved.record import versions

DECOMPOSE = "decompose"
"""The name in the document, in place of that of an estimator."""


def columns_content(result: Any) -> bytes:
    """Return the file of the result of `decompose`."""
    out = Writer()
    out.add("A", result.A)
    out.add("nu", result.nu)
    out.add("column_order", result.column_order, "<i8")
    n_columns = result.dictionary.n_columns
    document = {
        "versions": versions(),
        "estimator": DECOMPOSE,
        "n_columns": n_columns,
        "decomposition": write_decomposition(result, n_columns, out),
    }
    return out.content(document)


def read_columns(archive: Archive) -> tuple[Decomposition, dict[str, Any]]:
    """Return the decomposition, and the further attributes of the result of `decompose`."""
    n = archive.document.integer("n_columns", 1)
    decomposition = read_decomposition(archive.document.fields("decomposition"), n, archive)
    dictionary = decomposition.dictionary
    if not isinstance(dictionary, ArrayDictionary):
        raise Refused("'dictionary' of a result of decompose must be of columns")
    order = archive.integers("column_order", [None], 0, len(dictionary.order) + len(dictionary.constant) - 1)
    b = len(order)
    K = [] if decomposition.output_names is None else [len(decomposition.output_names)]
    return decomposition, {
        "A": archive.array("A", [1 + b, 1 + b]),
        "nu": archive.array("nu", [1 + b, *K]),
        "column_order": order,
    }
