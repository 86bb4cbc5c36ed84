"""Checks of trees that come from a file or from a reader outside the package."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr.loaders.trees import Trees


def checked(trees: Trees) -> Trees:
    """Check the numbers in trees, and return the trees unchanged. C++ checks that the nodes form trees.

    Raises
    ------
    ValueError
        If a number is out of range or not finite; the message names the field.
    """
    n_outputs, inner = trees.offset.size, trees.left != -1
    for field, count in (("feature_names", trees.n_features), ("output_names", n_outputs)):
        names = getattr(trees, field)
        if names is not None and (len(names) != count or not all(isinstance(name, str) for name in names)):
            raise ValueError(f"{field} must be {count} texts, got {len(names)}: {names[:5]}.")
    _check("offset", trees.offset, np.isfinite(trees.offset), "be finite")
    _check("missing_left", trees.missing_left, trees.missing_left <= 1, "be 0 or 1")
    feature = trees.feature[inner]
    _check("feature", feature, _are_below(feature, trees.n_features), f"be from 0 to {trees.n_features - 1}")
    by_threshold = inner if trees.category_set is None else inner & (trees.category_set < 0)
    _check("threshold", trees.threshold[by_threshold], ~np.isnan(trees.threshold[by_threshold]), "be numbers")
    if trees.replaced is not None:
        _check("replaced", trees.replaced[:, :2], ~np.isnan(trees.replaced[:, :2]), "have numbers from and to")
    _check_sets(trees, inner)
    return trees


def _check_sets(trees: Trees, inner: NDArray[np.bool_]) -> None:
    parts = (trees.category_set, trees.set_offsets, trees.set_intervals)
    if trees.category_set is None or trees.set_offsets is None or trees.set_intervals is None:
        if any(part is not None for part in parts):
            raise ValueError("category_set, set_offsets and set_intervals must be given together.")
        return
    n_sets, n_intervals = len(trees.set_offsets) - 1, len(trees.set_intervals)
    numbers, offsets, intervals = trees.category_set[inner], trees.set_offsets, trees.set_intervals
    _check("category_set", numbers, (numbers == -1) | _are_below(numbers, n_sets), f"be from 0 to {n_sets - 1} or -1")
    if offsets[0] != 0 or offsets[-1] != n_intervals or (np.diff(offsets) < 0).any():
        raise ValueError(f"set_offsets must ascend from 0 to the number of intervals, {n_intervals}, got {offsets}.")
    _check("set_intervals", intervals, np.isfinite(intervals), "be finite")
    _check("set_intervals", intervals, intervals[:, :1] <= intervals[:, 1:], "ascend from first to last value")


def _are_below(numbers: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    return (numbers >= 0) & (numbers < count)


def _check(field: str, values: NDArray[Any], holds: NDArray[np.bool_], must: str) -> None:
    if not holds.all():
        wrong = np.argwhere(~np.broadcast_to(holds, values.shape))[0]
        raise ValueError(f"{field} must {must}, got {values[tuple(wrong[: values.ndim])]}.")
