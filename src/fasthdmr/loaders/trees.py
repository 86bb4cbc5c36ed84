"""The result of every reader: a sum of trees as flat arrays, which are passed to C++."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fasthdmr import _core
from fasthdmr._forest.forest import Forest
from fasthdmr._forest.front import Front, Reading
from fasthdmr._forest.text_levels import Levels as TextLevels
from fasthdmr.loaders.arrays import in_types

# The attributes that `Trees` and `Forest` share: they describe the model, not its trees.
_OF_MODEL = tuple(field.name for field in fields(Forest) if field.name != "core")
_OF_READING = tuple(field.name for field in fields(Reading))
_BEHIND_FRONT = Reading(allow_nan=True)  # the front converts rows to numbers, and checks them
_OF_CORE = (
    "n_features",
    "tree_offsets",
    "left",
    "right",
    "feature",
    "threshold",
    "missing_left",
    "value",
    "tree_output",
    "offset",
    "weight",
)
_NONE = np.empty(0, dtype=np.int64)
_NOTHING = (1.0, 0.0, 0.0)  # a row of `replaced` from 1 to 0: no value lies between


@dataclass(frozen=True, eq=False)
class Trees:
    """A sum of trees as arrays: the result of a reader, see `fasthdmr.register_loader`.

    There are T trees with M nodes in all. The nodes of a tree are contiguous, the root first. A row starts at the
    root. At an inner node it goes to the left child if its value of column `feature` is at most `threshold` or, at
    splits by categories, in the category set of the node. Else it goes to the right child. Output k of the model is
    ``offset[k]`` plus the sum, over all trees, of the leaf that the row reaches.

    Lists and arrays of other types are converted if that changes no number.

    Attributes
    ----------
    n_features : int
        Number of columns of X.
    tree_offsets : ndarray of shape (T + 1,), int64
        Tree t has the nodes from ``tree_offsets[t]`` to ``tree_offsets[t + 1] - 1``.
    left, right : ndarray of shape (M,), int64
        The children of a node: positions within its tree, whose root is 0. Both are -1 at leaves.
    feature : ndarray of shape (M,), int64
        The column that an inner node compares. Ignored at leaves, like `threshold` and `missing_left`.
    threshold : ndarray of shape (M,), float64
        A value equal to the threshold goes left. For a model that sends ``x < t`` left, pass the next number below t,
        ``np.nextafter(t, -np.inf)``, in the floating-point type of the comparison.
    missing_left : ndarray of shape (M,), uint8
        1 where missing values (NaN) go left, else 0.
    value : ndarray of shape (M, 1) or (M, K), float64
        The value of a leaf, multiplied by the learning rate or the weight of the tree in a mean. One column: it is
        added to the output of the tree. K columns: to each of K outputs. Ignored at inner nodes.
    tree_output : ndarray of shape (T,), int64
        The output that a tree adds to, if `value` has one column.
    offset : ndarray of shape (K,), float64
        The constant of each output.
    weight : ndarray of shape (M,), float64
        Total weight of the training rows in each node. The value of an inner node, which sorting by node needs, is the
        mean of its children with these weights; two children of total weight 0 or less count equally. Pass ones if the
        weights are not known.
    impurity : callable or None
        Returns the impurity of each node, (M,), for `fasthdmr.inspection.tree_importance`. None: not known.
    allow_nan : bool
        Whether the model accepts missing values.
    feature_names, output_names : tuple of str or None
        Names of the columns that the model was fitted with, and of the outputs if there are several.
    is_classifier : bool
        Whether it was fitted to class labels.
    float64 : bool
        Whether values are compared with thresholds in float64. Otherwise they are rounded to float32 first.
    replaced : ndarray of shape (n_features, 3), float64, or None
        One row (low, high, by) for each column of X: values from low to high are replaced by the third number before
        comparisons. That is NaN if the model treats them as missing. If low > high, nothing is replaced.
    category_set : ndarray of shape (M,), int64, or None
        The number of the set that goes left, at nodes that split by categories; -1 at all others. The threshold of a
        node with a set is ignored. None: no node splits by categories.
    set_offsets : ndarray of shape (S + 1,), int64, or None
        Set s is the union of the intervals from ``set_offsets[s]`` to ``set_offsets[s + 1] - 1``.
    set_intervals : ndarray of shape (number of intervals, 2), float64, or None
        Closed intervals of values: a category c alone is the interval from c to c.
    takes_codes : bool
        Whether X holds categories as the codes that the model's library assigns.
    levels : tuple of tuple, or None
        For each column of dtype category in the training frame, in the order of columns: its levels by code. They
        convert such columns of a data frame to codes. None: not known, and such columns are refused.
    refuses_unseen : bool
        Whether other levels are an error; otherwise they count as missing.
    absent : float or None
        The value of entries that a sparse X does not store: 0.0, or NaN for missing. None: sparse X is refused.
    text_levels : tuple of (int, tuple)
        For each column that holds text, its position and its levels. A level is replaced by its code, the position in
        this tuple; other text counts as missing.
    hashes_text : bool
        Whether `text_levels` are CatBoost's hashes. Then other text gets one more code.
    unit : str
        The unit of the sum, such as "log-odds" or "log of the mean"; "" if it is the unit of the target.
    front : Front or None
        The fitted transformers of a pipeline in front of the trees. Then `n_features`, `feature` and `replaced` are of
        the columns that they return, and `feature_names` of the columns of X.
    is_margin : bool
        Whether `predict` of the model is not the sum but a function of it. Means of such models are refused.

    Raises
    ------
    ValueError
        If the shape of an array does not fit the others, or its type cannot represent its numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fasthdmr.loaders import Trees
    >>> step = Trees(
    ...     n_features=2, tree_offsets=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[1, 0, 0],
    ...     threshold=[0.5, 0, 0], missing_left=[0, 0, 0], value=[[0], [3], [4]], tree_output=[0], offset=[10],
    ...     weight=[1, 1, 1],
    ... )
    >>> step.forest().predict([[0.0, 0.5], [0.0, 0.6]])
    array([13., 14.])
    """

    n_features: int
    tree_offsets: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.uint8]
    value: NDArray[np.float64]
    tree_output: NDArray[np.int64]
    offset: NDArray[np.float64]
    weight: NDArray[np.float64]
    impurity: Callable[[], NDArray[np.float64]] | None = None
    allow_nan: bool = False
    feature_names: tuple[str, ...] | None = None
    output_names: tuple[str, ...] | None = None
    is_classifier: bool = False
    float64: bool = False
    replaced: NDArray[np.float64] | None = None
    category_set: NDArray[np.int64] | None = None
    set_offsets: NDArray[np.int64] | None = None
    set_intervals: NDArray[np.float64] | None = None
    takes_codes: bool = False
    levels: tuple[tuple[Any, ...], ...] | None = None
    refuses_unseen: bool = False
    absent: float | None = None
    text_levels: TextLevels = ()
    hashes_text: bool = False
    unit: str = ""
    front: Front | None = None
    is_margin: bool = False

    def __post_init__(self) -> None:
        for name, array in in_types(vars(self)).items():
            object.__setattr__(self, name, array)

    @classmethod
    def of(cls, forest: Forest) -> Trees:
        """Return the arrays of a forest.

        Parameters
        ----------
        forest : Forest
            The result of `load_forest`.

        Returns
        -------
        Trees
            The value of an inner node is the weighted mean of its children. `impurity` is None.
        """
        _, n_features, _, *arrays, (_, thresholds, replaced, _, cuts, *_), category_set = forest.core.__getstate__()
        tree_offsets, left, right, feature, threshold, missing_left, value, tree_output, offset, weight = arrays
        return cls(
            n_features,
            tree_offsets,
            left,
            right,
            feature,
            threshold,
            missing_left,
            value,
            tree_output,
            offset,
            weight,
            float64=bool(thresholds),
            replaced=replaced if len(replaced) else None,
            **_sets_of(category_set, cuts),
            **{name: getattr(forest, name) for name in _OF_MODEL},
        )

    def scaled(self, weight: float | NDArray[np.float64]) -> Trees:
        """Return the sum of trees with its outputs multiplied by a factor.

        Parameters
        ----------
        weight : float or ndarray of shape (K,)
            One factor for all outputs, or one for each.

        Returns
        -------
        Trees
        """
        weights = np.broadcast_to(weight, self.offset.shape)
        by_node = weights[np.repeat(self.tree_output, np.diff(self.tree_offsets))][:, None]
        value = self.value * (weights if self.value.shape[1] > 1 else by_node)
        return replace(self, value=value, offset=self.offset * weights)

    def shifted(self, by: NDArray[np.float64]) -> Trees:
        """Return the sum of trees with constants added to its outputs.

        Parameters
        ----------
        by : ndarray of shape (K,)
            One constant for each output.

        Returns
        -------
        Trees
        """
        return replace(self, offset=self.offset + by)

    def of_columns(self, columns: NDArray[np.int64], n_features: int) -> Trees:
        """Return the sum of trees as a function of an X with more columns.

        Parameters
        ----------
        columns : ndarray of shape (n,), int64
            Positions of the present columns in the larger X.
        n_features : int
            Number of columns of the larger X.

        Returns
        -------
        Trees
        """
        if self.front is not None:
            return replace(self, front=self.front.of_columns(columns, n_features))
        return self._reading_columns(columns, n_features)

    @property
    def reading(self) -> Reading:
        """How the model reads its rows."""
        return Reading(**{name: getattr(self, name) for name in _OF_READING})

    def behind(self, front: Front, columns: NDArray[np.int64] | None = None) -> Trees:
        """Return the sum of trees as a function of the X of a front, which then determines how rows are read.

        Parameters
        ----------
        front : Front
            It returns the columns that the trees compare, and perhaps more.
        columns : ndarray of shape (n_features,), int64, or None
            Positions of the present columns among those that the front returns. None: they are the same.

        Returns
        -------
        Trees
        """
        own = self if columns is None else self._reading_columns(columns, len(front.sources))
        return replace(own, front=front, **vars(_BEHIND_FRONT))

    def _reading_columns(self, columns: NDArray[np.int64], n_features: int) -> Trees:
        replaced = self.replaced
        if replaced is not None:
            replaced = np.tile(_NOTHING, (n_features, 1))
            replaced[columns] = self.replaced
        feature = np.where(self.left == -1, 0, columns[np.where(self.left == -1, 0, self.feature)])
        return replace(
            self,
            feature=feature,
            n_features=n_features,
            replaced=replaced,
            text_levels=tuple((int(columns[j]), levels) for j, levels in self.text_levels),
        )

    def forest(self) -> Forest:
        """Return the forest of these arrays.

        Returns
        -------
        Forest

        Raises
        ------
        ValueError
            If the arrays are not those of trees: children out of range or with other than one parent; columns, outputs
            or sets out of range; thresholds that are NaN; intervals that do not ascend. If a leaf is not finite.
        """
        self._check_leaves()
        # Category sets are compared in float64. Rounding to float32 is then part of their ends and of the thresholds.
        core = self._in_float64() if self.float64 or self.category_set is not None else self._in_float32()
        if self.front is not None:
            core = core.of_variables(self.front.sources, first=0)
        return Forest(core, **{name: getattr(self, name) for name in _OF_MODEL})

    def set_of_nodes(self) -> NDArray[np.int64]:
        """Return the number of the category set of each node.

        Returns
        -------
        ndarray of shape (M,), int64
            -1 at nodes that do not split by categories.
        """
        return np.full_like(self.left, -1) if self.category_set is None else self.category_set

    def _check_leaves(self) -> None:
        if np.isfinite(self.value).all():
            return
        wrong = np.flatnonzero(~np.isfinite(self.value).all(axis=1) & (self.left == -1))
        if len(wrong):
            values = self.value[wrong[0]]
            tree = int(np.searchsorted(self.tree_offsets, wrong[0], side="right")) - 1
            refuse_leaf(tree, float(values[~np.isfinite(values)][0]))

    def _in_float32(self) -> _core.Forest:
        rule: _core.Comparison | None = None
        if self.replaced is not None:
            rule = (self.n_features, [], self.replaced, _NONE, [], _NONE, 0)
        return _core.Forest(**self._of_core(), comparison=rule)

    def _in_float64(self) -> _core.Forest:
        return _core.Forest.in_float64(
            **self._of_core(),
            replaced=np.tile(_NOTHING, (self.n_features, 1)) if self.replaced is None else self.replaced,
            rounds=not self.float64,
            set=self.category_set,
            set_offsets=self.set_offsets,
            set_intervals=self.set_intervals,
        )

    def _of_core(self) -> dict[str, Any]:
        """Return the arguments of all forests in C++."""
        return {"n_outputs": self.offset.size, **{name: getattr(self, name) for name in _OF_CORE}}


def refuse_leaf(tree: int, value: float) -> NoReturn:
    """Raise the error for a leaf value that is not finite."""
    raise ValueError(
        f"Leaf values must be finite, got {value} in tree {tree}: the model has diverged. Fit it again with a smaller "
        "learning rate, more regularisation or a target of smaller values."
    )


def in_float64(trees: Trees) -> Trees:
    """Return the same sum of trees with comparisons in float64."""
    if trees.float64:
        return trees
    intervals = trees.set_intervals
    if intervals is not None:
        intervals = np.column_stack([_core.float32_intervals(of.copy())[:, k] for k, of in enumerate(intervals.T)])
    return replace(trees, float64=True, threshold=_core.float64_thresholds(trees.threshold), set_intervals=intervals)


def numbered(count: int, prefix: str = "") -> tuple[str, ...]:
    """Return default names.

    Examples
    --------
    >>> numbered(3, "y")
    ('y0', 'y1', 'y2')
    """
    return tuple(f"{prefix}{k}" for k in range(count))


def first_trees(arrays: dict[str, Any], count: int) -> dict[str, Any]:
    """Return the arrays of the first `count` trees."""
    n_nodes = int(arrays["tree_offsets"][count])
    first = {"tree_offsets": count + 1, "set_offsets": None, "set_intervals": None}
    return {name: array[: first.get(name, n_nodes)] for name, array in arrays.items()}


def _sets_of(category_set: NDArray[np.int64], cuts: list[NDArray[np.float64]]) -> dict[str, Any]:
    """Return the category sets as fields of `Trees`, from the end points of their half-open intervals (low, high]."""
    if not cuts:
        return {}
    low, high = np.concatenate(cuts).reshape(-1, 2).T
    return {
        "category_set": category_set,
        "set_offsets": np.cumsum([0, *(len(of) // 2 for of in cuts)], dtype=np.int64),
        "set_intervals": np.column_stack([np.nextafter(low, np.inf), high]),
    }
