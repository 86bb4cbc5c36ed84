"""Importance of variables by the splits of trees, as in scikit-learn."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from fasthdmr._forest.forest import Forest
from fasthdmr._support.scale import power_of_two
from fasthdmr._support.typing import Floats
from fasthdmr.loaders.registry import read
from fasthdmr.loaders.trees import Trees

Kind = Literal["per_tree", "splits", "samples", "impurity"]


def tree_importance(model: Any, kind: Kind = "per_tree") -> Floats:
    """Return the importance of the variables of a tree ensemble, computed from its splits.

    Parameters
    ----------
    model : fitted tree model, or Forest
        A model that `fasthdmr.load_forest` accepts, or its result.
    kind : {"per_tree", "splits", "samples", "impurity"}
        The contribution of a split:

        - "per_tree": the decrease of impurity, weighted by the training weight at the node and normalised within
          each tree; the mean over trees. scikit-learn's `feature_importances_` of forests.
        - "splits": one.
        - "samples": the training weight at the node, as a share of the tree's.
        - "impurity": the weighted decrease of impurity, summed over all trees: scikit-learn's `feature_importances_`
          of a gradient boosting or a single tree.

    Returns
    -------
    ndarray of shape (n_features,), float64
        Sums to one, or is all 0 where no tree splits.

    Raises
    ------
    ValueError
        If `kind` is none of these, or the model has no trees that can be read.

    Notes
    -----
    Specification 9, "Tree importance". The impurity is that of training if the model stores it. A `Forest` and
    models of other libraries do not; then it is the variance of the output within the node, which is the same for
    squared error (and for Gini up to a factor).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from fasthdmr.inspection import tree_importance
    >>> X = np.arange(40.0).reshape(20, 2) % 7
    >>> model = RandomForestRegressor(10, random_state=0).fit(X, X[:, 0])
    >>> bool(np.allclose(tree_importance(model), model.feature_importances_))
    True
    >>> tree_importance(model, kind="splits").sum()
    np.float64(1.0)
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be one of {list(get_args(Kind))}, got {kind!r}.")
    trees = Trees.of(model) if isinstance(model, Forest) else read(model)
    if trees.impurity is None:  # it is computed from the values of inner nodes, which forests have
        trees = Trees.of(trees.forest())
    splits = _Splits(trees)
    if kind == "splits":
        return _normalised(splits.sums(np.ones(len(splits.feature))).sum(axis=0))
    if kind == "samples":
        return _normalised(splits.sums(splits.share).sum(axis=0))
    decreases = splits.sums(splits.decrease)
    if kind == "per_tree":
        totals = decreases.sum(axis=1, keepdims=True)
        decreases = np.divide(decreases, totals, out=np.zeros_like(decreases), where=totals > 0)
    return _normalised(decreases.sum(axis=0))


class _Splits:
    """The inner nodes of all trees: their tree, variable, share of the tree's weight and decrease of impurity."""

    def __init__(self, trees: Trees) -> None:
        sizes = np.diff(trees.tree_offsets)
        inner = np.flatnonzero(trees.left >= 0)
        self.tree = np.repeat(np.arange(sizes.size), sizes)[inner]
        self.shape = (sizes.size, trees.n_features if trees.front is None else trees.front.n_features)
        feature = trees.feature[inner]
        self.feature = feature if trees.front is None else np.array(trees.front.sources)[feature]
        root = trees.tree_offsets[:-1][self.tree]
        weight, total = trees.weight, trees.weight[root]
        left, right = root + trees.left[inner], root + trees.right[inner]
        self.share: Floats = weight[inner] / total
        if trees.impurity is None:
            value = trees.value / power_of_two(np.abs(trees.value).max(initial=0.0))  # the scale has no effect
            gap = np.sum((value[left] - value[right]) ** 2, axis=1)
            of_sides = np.divide(
                weight[left] * weight[right], weight[inner], out=np.zeros(len(inner)), where=weight[inner] > 0
            )
            self.decrease: Floats = of_sides * gap / total
        else:
            mass = weight * trees.impurity()
            self.decrease = (mass[inner] - mass[left] - mass[right]) / total

    def sums(self, values: Floats) -> Floats:
        """Sum values of the splits by tree and variable."""
        place = self.tree * self.shape[1] + self.feature
        flat = np.bincount(place, values, minlength=self.shape[0] * self.shape[1])
        return flat.astype(np.float64, copy=False).reshape(self.shape)


def _normalised(values: Floats) -> Floats:
    total = values.sum()
    return values / total if total > 0 else values
