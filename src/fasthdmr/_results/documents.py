"""Decompositions and indices as JSON: numbers and names for other programs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fasthdmr._support.indices import OF_SUBSPACES, OF_VARIABLES, Index
from fasthdmr._support.subspaces import subspace_names


def as_json(document: Any) -> str:
    """Return a document as strict JSON. Arrays and tuples become lists; numbers that are not finite become null.

    Examples
    --------
    >>> as_json({"S": np.array([0.5, np.nan]), "subspace": (0, 1)})
    '{"S": [0.5, null], "subspace": [0, 1]}'
    """
    return json.dumps(_plain(document), allow_nan=False, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def sensitivity_document(sensitivity: Any) -> dict[str, Any]:
    """Return names, indices and half-widths of a `Sensitivity`, one entry for each component and each variable."""
    subspaces, names, fidelity = sensitivity.subspaces, sensitivity.feature_names, sensitivity.fidelity
    components = zip(subspaces, sensitivity.names, strict=True)
    variables = enumerate(subspace_names([(j,) for j in range(len(names))], names))
    document = {
        "feature_names": names,
        "output_names": sensitivity.output_names,
        "residual": sensitivity.residual,
        "variance": sensitivity.variance,
        "fidelity": None,
        "components": _with_indices(
            [{"subspace": u, "names": name, "order": len(u)} for u, name in components], OF_SUBSPACES, sensitivity
        ),
        "variables": _with_indices([{"variable": j, "name": name} for j, name in variables], OF_VARIABLES, sensitivity),
    }
    if fidelity is not None:
        used, unused = fidelity.both[:, 0] if sensitivity.Sa.ndim == 1 else fidelity.both
        document["fidelity"] = {"used": used, "unused": unused}
    return document


def _with_indices(
    entries: Sequence[dict[str, Any]], indices: Sequence[Index], sensitivity: Any
) -> list[dict[str, Any]]:
    """Return entries with the values of indices, and with half-widths if there are intervals."""
    values = {index.name: getattr(sensitivity, index.name) for index in indices}
    if sensitivity.uncertainty is not None:
        values |= {f"{index.name}_conf": sensitivity.uncertainty.half_widths[index.name] for index in indices}
    return [{**entry, **{name: of[k] for name, of in values.items()}} for k, entry in enumerate(entries)]


def decomposition_document(decomposition: Any) -> dict[str, Any]:
    """Return the constant and the unit of a `Decomposition`, and the document of its indices."""
    head = {"unit": decomposition.unit, "f0": decomposition.intercept}
    return {**head, **sensitivity_document(decomposition.sensitivity)}
