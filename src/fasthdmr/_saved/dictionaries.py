"""The table of kinds of dictionaries in a file, one row for each kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fasthdmr._data.encoding import Encoding
from fasthdmr._dictionaries.array_columns import ArrayDictionary
from fasthdmr._dictionaries.dictionary import Dictionary, OwnSpans
from fasthdmr._dictionaries.indicator_columns import Indicators
from fasthdmr._dictionaries.tree_columns import TreeDictionary
from fasthdmr._kernel_machines.columns import KernelDictionary
from fasthdmr._measures.product import ProductDictionary
from fasthdmr._saved.archive import Writer
from fasthdmr._saved.context import Context
from fasthdmr._saved.fields import Fields, Refused
from fasthdmr._saved.kernels import read_kernel, write_kernel
from fasthdmr._saved.levels import read_levels_of_columns, write_levels
from fasthdmr._saved.spans import UnknownBlackBox, keeps_terms, read_spans, write_spans
from fasthdmr._saved.trees import read_product, read_trees, write_product, write_trees
from fasthdmr._spans.span_dictionaries import SpanDictionary


@dataclass(frozen=True)
class Kind:
    """One kind of dictionary.

    Attributes
    ----------
    name : str
        Its name in the document.
    of : type
        The class of these dictionaries.
    write, read : callable
        Take a dictionary or its document to the other, and add or take its arrays.
    """

    name: str
    of: Any
    write: Callable[[Any, Writer], dict[str, Any]]
    read: Callable[[Fields, Context], Dictionary]


def _write_columns(dictionary: ArrayDictionary, out: Writer) -> dict[str, Any]:
    names, indicators = dictionary.column_names, dictionary.indicators
    for j, means in indicators.means.items():
        out.add(f"indicators/{j}", means)
    return {
        "subspaces": [list(u) for u in dictionary.subspaces],
        "column_names": None if names is None else list(names),
        "levels": [{"column": j, "levels": write_levels(each)} for j, each in indicators.encoding.levels.items()],
    }


def _read_columns(fields: Fields, context: Context) -> ArrayDictionary:
    subspaces = fields.lists("subspaces", context.n_variables - 1)
    names = None if fields.is_null("column_names") else fields.texts("column_names")
    if not all(list(u) == sorted(set(u)) for u in subspaces) or (names is not None and len(names) != len(subspaces)):
        raise Refused(f"{fields.where} must have one ascending subspace, and one name if any, for each column")
    levels = read_levels_of_columns(fields, len(subspaces))
    means = {j: context.archive.array(f"indicators/{j}", [max(len(each) - 1, 1)]) for j, each in levels.items()}
    return ArrayDictionary(subspaces, names, Indicators(Encoding(levels), means))


_ALL = (
    Kind("spans", SpanDictionary, write_spans, read_spans),
    Kind("trees", TreeDictionary, write_trees, read_trees),
    Kind("product", ProductDictionary, write_product, read_product),
    Kind("kernel", KernelDictionary, write_kernel, read_kernel),
    Kind("columns", ArrayDictionary, _write_columns, _read_columns),
)
KINDS = {kind.name: kind for kind in _ALL}


def write_dictionary(dictionary: Dictionary, out: Writer) -> dict[str, Any]:
    """Return the document of a dictionary, and add its arrays."""
    kind = next(kind for kind in _ALL if isinstance(dictionary, kind.of))
    return {"kind": kind.name, **kind.write(dictionary, out)}


def read_dictionary(fields: Fields, context: Context) -> Dictionary:
    """Return the dictionary of a document."""
    if (name := fields.text("kind")) not in KINDS:
        raise Refused(f"'kind' of {fields.where} must be one of {', '.join(KINDS)}, got {name!r}")
    return KINDS[name].read(fields, context)


def given_columns(dictionary: Dictionary, output: int) -> int | None:
    """Return the number of columns of the black box in a dictionary that is saved without it; None if it is saved."""
    if isinstance(dictionary, SpanDictionary) and not keeps_terms(dictionary):
        return dictionary.n_given[output]
    return None


def has_black_box(dictionary: Dictionary) -> bool:
    """Return whether the values of the black box can be computed from a dictionary in a file."""
    return not (isinstance(dictionary, SpanDictionary) and isinstance(dictionary.given, UnknownBlackBox))


def keeps_trees(dictionary: Dictionary) -> bool:
    """Return whether trees are in the file, because components hold terms of them."""
    if isinstance(dictionary, SpanDictionary):
        return keeps_terms(dictionary)
    return isinstance(dictionary, TreeDictionary | ProductDictionary)


def count_columns(dictionary: Dictionary, output: int) -> int:
    """Return the number of columns of one output, with the constant."""
    if isinstance(dictionary, SpanDictionary):
        return dictionary.n_given[output] + dictionary.basis.core.n_columns
    if isinstance(dictionary, ProductDictionary):
        return 1 + dictionary.n_given[output] + len(dictionary.components[output].subspaces)
    assert isinstance(dictionary, OwnSpans)
    return 1 + len(dictionary.labels(output).column_subspace)
