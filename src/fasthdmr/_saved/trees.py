"""Dictionaries of trees in a file: the forests, and what they read in place of levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from fasthdmr import _core
from fasthdmr._dictionaries.pipeline_inputs import PipelineInputs
from fasthdmr._dictionaries.tree_columns import Sorting, TreeDictionary
from fasthdmr._dictionaries.tree_inputs import TreeInputs
from fasthdmr._forest.forest import Forest
from fasthdmr._measures.product import ProductDictionary
from fasthdmr._saved.archive import Archive, Writer
from fasthdmr._saved.context import Context
from fasthdmr._saved.fields import Fields, Refused
from fasthdmr._solve.problem import Kept

_STATE_VERSION = 5
_NODES = {
    **dict.fromkeys(("left", "right", "feature"), "<i8"),
    "threshold": "<f8",
    "missing_left": "|u1",
    "value": "<f8",
    "tree_output": "<i8",
    "offset": "<f8",
    "weight": "<f8",
}
"""The arrays of a forest's state after its offsets of trees, in their order, and their types."""


def write_trees(trees: TreeDictionary, out: Writer) -> dict[str, Any]:
    """Return the document of a dictionary of trees, and add its arrays.

    Raises
    ------
    ValueError
        If the trees are behind transformers of a pipeline.
    """
    if isinstance(trees.inputs, PipelineInputs):
        raise ValueError(
            "These components hold terms of trees behind transformers of a pipeline, which cannot be saved. Use "
            "TreeHDMR(smooth=True) with splines or bins: its components are functions of the columns of X only."
        )
    tables = {} if trees.inputs is None else trees.inputs.tables
    for j, table in tables.items():
        out.add(f"tree_codes/{j}", table)
    return {
        "by": trees.by,
        "forests": [_write_forest(forest, f"forests/{i}", out) for i, forest in enumerate(trees.forests)],
        "inputs": None if trees.inputs is None else {"tables": list(tables), "alone": trees.inputs.is_alone},
    }


def read_trees(fields: Fields, context: Context, n_variables: int | None = None) -> TreeDictionary:
    """Return the dictionary of a document; `n_variables` is the number of variables of the trees, if it differs."""
    by, n = fields.text("by"), context.n_columns
    if by not in ("tree", "node", "hybrid"):
        raise Refused(f"'by' of {fields.where} must be 'tree', 'node' or 'hybrid'")
    forests = [
        _read_forest(each, f"forests/{i}", n, context.n_outputs, context.archive)
        for i, each in enumerate(fields.objects("forests"))
    ]
    if not forests:
        raise Refused(f"{fields.where} has no forests")
    inputs = None
    if not fields.is_null("inputs"):
        own = fields.fields("inputs")
        tables = {
            j: context.archive.array(f"tree_codes/{j}", [len(context.levels[j]) + 1], finite=False)
            for j in own.integers("tables", n - 1)
            if j in context.levels
        }
        if tables.keys() != context.levels.keys():
            raise Refused(f"'tables' of {own.where} must list the categorical columns")
        inputs = TreeInputs(n, tables, own.flag("alone"))
    trees = TreeDictionary(forests, cast(Sorting, by), inputs=inputs)
    subspaces = [u for columns in trees.columns for u in columns.subspaces]
    if any(u[-1] >= (n_variables or context.n_variables) for u in subspaces if u):
        raise Refused(f"the trees of {fields.where} have variables that do not exist")
    return trees


def write_product(dictionary: ProductDictionary, out: Writer) -> dict[str, Any]:
    """Return the document of components under the product measure, and add its arrays."""
    thresholds, below, comparison = dictionary.marginals.__getstate__()
    write_ragged("marginals/thresholds", thresholds, out, "<f4")
    write_ragged("marginals/below", below, out)
    for k, coef in enumerate(dictionary.coefs):
        out.add(f"tree_coef/{k}", coef)
    chosen = dictionary.kept.interactions
    return {
        "trees": write_trees(dictionary.trees, out),
        "comparison": _write_comparison(comparison, "marginals", out),
        "order": None if dictionary.kept.order is None else int(dictionary.kept.order),
        "interactions": None if chosen is None else [list(u) for u in sorted(chosen)],
    }


def read_product(fields: Fields, context: Context) -> ProductDictionary:
    """Return the dictionary of a document."""
    n, K, archive = context.n_columns, context.n_outputs, context.archive
    trees = read_trees(fields.fields("trees"), context, n)
    state = (
        read_ragged("marginals/thresholds", n, archive, "<f4"),
        read_ragged("marginals/below", n, archive),
        _read_comparison(fields.fields("comparison"), "marginals", archive),
    )
    coefs = [archive.array(f"tree_coef/{k}", [len(trees.labels(k).column_subspace)]) for k in range(K)]
    chosen = None
    if not fields.is_null("interactions"):
        chosen = frozenset(fields.subspaces("interactions", context.n_variables))
    order = None if fields.is_null("order") else fields.integer("order", 1)
    kept = Kept(None if order is None else min(order, context.n_variables), chosen)
    result = ProductDictionary(trees, coefs, _core.Marginals._make(state), kept, context.groups)
    result.components  # noqa: B018 (raises an error for marginals of other forests)
    return result


def _write_forest(forest: Forest, name: str, out: Writer) -> dict[str, Any]:
    _, n_features, n_outputs, offsets, *arrays, comparison, of_set = forest.core.__getstate__()
    out.add(f"{name}/tree_offsets", offsets, "<i8")
    for (field, dtype), array in zip(_NODES.items(), arrays, strict=True):
        out.add(f"{name}/{field}", array, dtype)
    out.add(f"{name}/set", of_set, "<i8")
    return {
        "n_features": n_features,
        "n_outputs": n_outputs,
        "output_names": None if forest.output_names is None else list(forest.output_names),
        "comparison": _write_comparison(comparison, name, out),
    }


def _read_forest(fields: Fields, name: str, n_features: int, n_outputs: int, archive: Archive) -> Forest:
    if fields.integer("n_features") != n_features or fields.integer("n_outputs") != n_outputs:
        raise Refused(f"{fields.where} must have {n_features} features and {n_outputs} outputs")
    names = None if fields.is_null("output_names") else fields.texts("output_names")
    if names is not None and len(names) != n_outputs:
        raise Refused(f"'output_names' of {fields.where} must be {n_outputs} names")
    offsets = archive.array(f"{name}/tree_offsets", [None], "<i8")
    if len(offsets) == 0:
        raise Refused(f"'{name}/tree_offsets' must not be empty")
    arrays = {
        field: archive.array(f"{name}/{field}", [None] * (2 if field == "value" else 1), dtype, finite=False)
        for field, dtype in _NODES.items()
    }
    value = np.ascontiguousarray(arrays.pop("value"))
    ordered = [value if field == "value" else arrays[field] for field in _NODES]
    comparison = _read_comparison(fields.fields("comparison"), name, archive)
    of_set = archive.array(f"{name}/set", [None], "<i8")
    state = (_STATE_VERSION, n_features, n_outputs, offsets, *ordered, comparison, of_set)
    return Forest(_core.Forest._make(state), output_names=names)


def _write_comparison(comparison: _core.Comparison, name: str, out: Writer) -> dict[str, Any]:
    n_features, thresholds, replaced, features, cuts, variables, first = comparison
    write_ragged(f"{name}/all_thresholds", thresholds, out)
    out.add(f"{name}/replaced", replaced)
    out.add(f"{name}/set_features", features, "<i8")
    write_ragged(f"{name}/cuts", cuts, out)
    return {"n_features": n_features, "variables": variables.tolist(), "first": first}


def _read_comparison(fields: Fields, name: str, archive: Archive) -> tuple[Any, ...]:
    features = archive.array(f"{name}/set_features", [None], "<i8")
    return (
        fields.integer("n_features", 1),
        read_ragged(f"{name}/all_thresholds", None, archive),
        np.ascontiguousarray(archive.array(f"{name}/replaced", [None, 3], finite=False)),
        features,
        read_ragged(f"{name}/cuts", len(features), archive),
        fields.integers("variables", 2**31 - 1),
        fields.integer("first", 0, 2**31 - 1),
    )


def write_ragged(name: str, arrays: Sequence[Any], out: Writer, dtype: str = "<f8") -> None:
    """Add several arrays of one axis as one array, and their lengths."""
    out.add(f"{name}/lengths", [len(array) for array in arrays], "<i8")
    out.add(name, np.concatenate([np.zeros(0, dtype), *arrays]), dtype)


def read_ragged(name: str, count: int | None, archive: Archive, dtype: str = "<f8") -> list[Any]:
    """Return several arrays of one axis; `count` is their number, None: any."""
    values = archive.array(name, [None], dtype, finite=False)
    lengths = archive.integers(f"{name}/lengths", [count], 0, len(values))
    if sum(lengths.tolist()) != len(values):
        raise Refused(f"'{name}/lengths' must add up to the length of {name!r}")
    return np.split(values, np.cumsum(lengths)[:-1]) if len(lengths) else []
