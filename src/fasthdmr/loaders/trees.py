"""The result of every loader: the flat arrays of an ensemble, which are passed to C++."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fasthdmr import _core
from fasthdmr._forest.forest import Forest


@dataclass(frozen=True, eq=False)
class Trees:
    """The arrays of `fasthdmr._core.Forest`, and what only Python uses.

    Indices of children count from the first node of the tree. `value` includes learning rates and averaging.
    """

    n_features: int
    tree_offsets: NDArray[np.int64]  # (T + 1,)
    left: NDArray[np.int64]  # (M,), -1 at leaves
    right: NDArray[np.int64]  # (M,)
    feature: NDArray[np.int64]  # (M,)
    threshold: NDArray[np.float64]  # (M,)
    missing_left: NDArray[np.uint8]  # (M,)
    value: NDArray[np.float64]  # (M, 1) or (M, n_outputs)
    tree_output: NDArray[np.int64]  # (T,)
    offset: NDArray[np.float64]  # (n_outputs,)
    weight: NDArray[np.float64]  # (M,), of the training rows in each node
    impurity: Callable[[], NDArray[np.float64]] | None = None  # (M,), if the model stores it; read on demand
    allow_nan: bool = False
    feature_names: tuple[str, ...] | None = None
    output_names: tuple[str, ...] | None = None
    is_classifier: bool = False

    @classmethod
    def of(cls, forest: Forest) -> Trees:
        """Return the arrays of a forest; the value of an inner node is the mean of its children."""
        _, n_features, _, *arrays = forest.core.__getstate__()
        tree_offsets, left, right, feature, threshold, missing_left, value, tree_output, offset, weight = arrays
        return cls(
            n_features, tree_offsets, left, right, feature, threshold, missing_left, value, tree_output, offset, weight
        )

    def scaled(self, weight: float) -> Trees:
        """Return the ensemble whose output is multiplied by `weight`."""
        return replace(self, value=self.value * weight, offset=self.offset * weight)

    def forest(self) -> Forest:
        """Pass the arrays to C++."""
        core = _core.Forest(
            n_features=self.n_features,
            n_outputs=self.offset.size,
            tree_offsets=self.tree_offsets,
            left=self.left,
            right=self.right,
            feature=self.feature,
            threshold=self.threshold,
            missing_left=self.missing_left,
            value=self.value,
            tree_output=self.tree_output,
            offset=self.offset,
            weight=self.weight,
        )
        return Forest(
            core,
            allow_nan=self.allow_nan,
            feature_names=self.feature_names,
            output_names=self.output_names,
            is_classifier=self.is_classifier,
        )


def add(members: Sequence[Trees]) -> Trees:
    """Return the ensemble whose output is the sum of the single-output `members`."""
    first_nodes = np.cumsum([0, *(member.left.size for member in members)])
    offsets = [m.tree_offsets[1:] + start for m, start in zip(members, first_nodes, strict=False)]
    return Trees(
        n_features=members[0].n_features,
        tree_offsets=np.concatenate([[0], *offsets]).astype(np.int64, copy=False),
        left=np.concatenate([m.left for m in members]),
        right=np.concatenate([m.right for m in members]),
        feature=np.concatenate([m.feature for m in members]),
        threshold=np.concatenate([m.threshold for m in members]),
        missing_left=np.concatenate([m.missing_left for m in members]),
        value=np.concatenate([m.value for m in members]),
        tree_output=np.concatenate([m.tree_output for m in members]),
        offset=np.sum([m.offset for m in members], axis=0),
        weight=np.concatenate([m.weight for m in members]),
        impurity=_joined([m.impurity for m in members]),
        allow_nan=all(m.allow_nan for m in members),
        feature_names=next((m.feature_names for m in members if m.feature_names is not None), None),
    )


def _joined(parts: Sequence[Callable[[], NDArray[np.float64]] | None]) -> Callable[[], NDArray[np.float64]] | None:
    known = [part for part in parts if part is not None]
    return (lambda: np.concatenate([part() for part in known])) if len(known) == len(parts) else None
