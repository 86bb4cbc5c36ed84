"""Checks of trees that come from a file: what the arrays themselves do not show to C++."""

from __future__ import annotations

import numpy as np

from fasthdmr.loaders.trees import Trees


def checked(trees: Trees) -> Trees:
    """Return trees as they are, if names, constants and leaves are those of a model.

    Raises
    ------
    ValueError
        If they are not; with the name of the field.
    """
    n_trees, n_outputs = len(trees.tree_offsets) - 1, trees.offset.size
    if trees.tree_output.shape != (n_trees,):
        raise ValueError(f"tree_output must have shape ({n_trees},), got {trees.tree_output.shape}.")
    for field, count in (("feature_names", trees.n_features), ("output_names", n_outputs)):
        names = getattr(trees, field)
        if names is not None and (len(names) != count or not all(isinstance(name, str) for name in names)):
            raise ValueError(f"{field} must be {count} texts, got {len(names)}: {names[:5]}.")
    for field, values in (("offset", trees.offset), ("value", trees.value[trees.left == -1])):
        if not np.isfinite(values).all():
            raise ValueError(f"{field} must be finite, got {values[~np.isfinite(values)][0]}.")
    return trees
