"""Conversion of the arrays of trees to the types and shapes that C++ takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

INTEGERS, BYTES, FLOATS = np.dtype(np.int64), np.dtype(np.uint8), np.dtype(np.float64)


def in_types(fields: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Convert those arrays of `Trees` whose type or memory order C++ does not take; return these only.

    Raises
    ------
    ValueError
        If the shape of an array does not fit the others, or its type cannot represent its numbers.
    """
    n_nodes, n_outputs = np.size(fields["left"]), np.size(fields["offset"])
    n_trees = max(np.size(fields["tree_offsets"]) - 1, 0)
    width = 1 if np.shape(fields["value"])[1:] == (1,) else n_outputs
    expected: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {
        "tree_offsets": (INTEGERS, (n_trees + 1,)),
        "left": (INTEGERS, (n_nodes,)),
        "right": (INTEGERS, (n_nodes,)),
        "feature": (INTEGERS, (n_nodes,)),
        "threshold": (FLOATS, (n_nodes,)),
        "missing_left": (BYTES, (n_nodes,)),
        "value": (FLOATS, (n_nodes, width)),
        "tree_output": (INTEGERS, (n_trees,)),
        "offset": (FLOATS, (n_outputs,)),
        "weight": (FLOATS, (n_nodes,)),
        "replaced": (FLOATS, (fields["n_features"], 3)),
        "category_set": (INTEGERS, (n_nodes,)),
        "set_offsets": (INTEGERS, (max(np.size(fields["set_offsets"]), 1),)),
        "set_intervals": (FLOATS, (np.size(fields["set_intervals"]) // 2, 2)),
    }
    converted = {}
    for name, (dtype, shape) in expected.items():
        given = fields[name]
        if given is None and name in ("replaced", "category_set", "set_offsets", "set_intervals"):
            continue
        array = np.asarray(given)
        if array.shape != shape:
            raise ValueError(f"{name} must have shape {shape}, got {array.shape}.")
        if array is not given or array.dtype != dtype or not array.flags.c_contiguous:
            converted[name] = _converted(name, array, dtype)
    return converted


def _converted(name: str, array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a contiguous array of a type; a ValueError if that would change numbers."""
    kind = "numbers" if dtype == FLOATS else "integers from 0 to 255" if dtype == BYTES else "integers"
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold {kind}, got values of type {array.dtype}.")
    with np.errstate(invalid="ignore"):
        result = np.ascontiguousarray(array, dtype=dtype)
    if dtype != FLOATS and not np.array_equal(result, array):
        raise ValueError(f"{name} must hold {kind}, got {array[result != array][0]}.")
    return result
