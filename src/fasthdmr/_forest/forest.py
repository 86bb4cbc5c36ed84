"""Tree ensembles, and their trees and nodes grouped by subspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fasthdmr import _core
from fasthdmr._forest.front import Front
from fasthdmr._forest.in_numbers import in_numbers
from fasthdmr._forest.sparse import dense_blocks, in_place, is_sparse
from fasthdmr._forest.text_levels import Levels
from fasthdmr._support.cached import cached_property
from fasthdmr._support.threads import n_threads
from fasthdmr._support.validation import check_names, check_rows, is_plain

Sorting = Literal["tree", "node"]
"""How trees are assigned to subspaces (spec 4)."""


@dataclass(frozen=True, eq=False)
class Group:
    """The trees that split on exactly the variables of one subspace.

    Attributes
    ----------
    subspace : tuple of int
        Sorted column indices; () for trees that are a single leaf.
    trees : ndarray of shape (n_trees_of_group,), int64
        Indices of the trees, ascending.
    output : int
        The output that they add to.
    """

    subspace: tuple[int, ...]
    trees: NDArray[np.int64]
    output: int = 0


@dataclass(frozen=True)
class NodeGroup:
    """The nodes, of any tree, whose paths from the root split on exactly the variables of one subspace.

    Attributes
    ----------
    subspace : tuple of int
        Sorted column indices; () for the roots.
    output : int
        The output that they add to.
    """

    subspace: tuple[int, ...]
    output: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Forest:
    """An immutable, picklable ensemble of decision trees: a constant and a sum of trees, for each output.

    Made by :func:`fasthdmr.load_forest`. A row goes left if x is at most the threshold, compared in float32 or
    float64 as in the model's library. Missing values (NaN) go to the same child as in the library.

    Parameters
    ----------
    core : fasthdmr._core.Forest
        The trees in C++.
    allow_nan : bool
        Whether the model accepts missing values.
    feature_names, output_names : tuple of str or None
        Names of the variables, and of the outputs if there are several.
    is_classifier : bool
        Whether the model was fitted to class labels. Then the outputs are scores or probabilities.
    takes_codes : bool
        Whether X holds categories as the codes that the model's library assigns.
    levels : tuple of tuple, or None
        For each column of dtype category in the training frame, in the order of columns: its levels by code. They
        convert such columns of X to codes. None: not known, and such columns are refused.
    refuses_unseen : bool
        Whether other levels are an error; otherwise they count as missing.
    absent : float or None
        The value of entries that a sparse X does not store: 0.0, or NaN if the model's library treats them as missing.
        None: sparse X is refused.
    text_levels : tuple of (int, tuple)
        For each column of X that holds text, its position and its levels. A level is replaced by its code, the position
        in this tuple.
    hashes_text : bool
        Whether `text_levels` are CatBoost's hashes of text and of whole numbers.
    unit : str
        The unit of the outputs: "log-odds", "half the log-odds", "log of the mean", "log of the hazard", "log of the
        time", "log of the quantile", "square root", "score" or "probability". "" if it is the unit of the target or
        not known.
    front : Front or None
        The fitted transformers of a pipeline. Each column that the trees read is a function of one column of X, and
        subspaces are of the columns of X. None: the trees read X.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> from fasthdmr import load_forest
    >>> X = np.arange(40.0).reshape(20, 2) % 7
    >>> model = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, X[:, 0])
    >>> forest = load_forest(model)
    >>> forest
    Forest(n_trees=10, n_features=2, n_outputs=1)
    >>> B = forest.group_features(X)
    >>> bool(np.allclose(forest.offset + B.sum(axis=1), forest.predict(X)))
    True
    """

    core: _core.Forest
    allow_nan: bool = False
    feature_names: tuple[str, ...] | None = None
    output_names: tuple[str, ...] | None = None
    is_classifier: bool = False
    takes_codes: bool = False
    levels: tuple[tuple[Any, ...], ...] | None = None
    refuses_unseen: bool = False
    absent: float | None = None
    text_levels: Levels = ()
    hashes_text: bool = False
    unit: str = ""
    front: Front | None = None

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.core.n_trees

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.core.n_features if self.front is None else self.front.n_features

    @property
    def sources(self) -> tuple[int, ...]:
        """For each column that the trees read, the column of X that it is, or is a function of."""
        return tuple(range(self.core.n_features)) if self.front is None else self.front.sources

    @property
    def n_outputs(self) -> int:
        """Number of outputs K."""
        return self.core.n_outputs

    @property
    def offset(self) -> NDArray[np.float64]:
        """The constant of each output, shape (K,): the initial prediction of a gradient boosting, else 0."""
        return np.array(self.core.offset, dtype=np.float64)

    @cached_property
    def groups(self) -> list[Group]:
        """The trees grouped by the exact set of variables that they split on (the paper's P_i, spec 4).

        The list is sorted by output, size of the subspace, subspace. A tree whose leaves have a value for
        each output belongs to one group of every output.
        """
        return [Group(subspace, trees, output) for output, subspace, trees in self.core.groups()]

    @cached_property
    def node_groups(self) -> list[NodeGroup]:
        """The sets of variables on the paths to the nodes (spec 4, by node), none larger than the deepest tree.

        The list is sorted by output, size of the subspace, subspace. Every output with trees has a group ().
        """
        return [NodeGroup(subspace, output) for output, subspace in self.core.node_groups()]

    def counts_as_missing(self, column: int, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which values of a column the model treats as missing.

        Parameters
        ----------
        column : int
            Position of the column in X.
        values : ndarray of shape (m,)
            Values of the column.

        Returns
        -------
        ndarray of shape (m,), bool
            True for NaN, and for the numbers that an option of the model declares as missing.
        """
        replaced = self.core.comparison[2]
        missing = np.isnan(values)
        if len(replaced) and self.front is None:
            low, high, by = replaced[column]
            missing |= np.isnan(by) & (low <= values) & (values <= high)
        return missing

    @property
    def least_zeros(self) -> NDArray[np.float64] | None:
        """For each column, the least number that the model reads as 0, or NaN; None if it reads none so."""
        replaced = self.core.comparison[2]
        if self.front is not None or not len(replaced):
            return None
        low, _, by = replaced.T
        return np.where((by == 0) & (low < 0), low, np.nan)

    def predict(self, X: ArrayLike, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Evaluate the ensemble: the model's raw output.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (N, n_features)
            The rows that the model takes, of a pipeline with text and missing values. Arrays of float32 and float64 in
            any memory order are read without a copy. Sparse rows are converted to dense ones in blocks of 64 MB.
            Entries that are not stored are zero or missing, as in the model's library.
        n_jobs : int or None
            Number of threads; the result does not depend on it.

        Returns
        -------
        ndarray of shape (N,), or (N, K) with several outputs, float64

        Raises
        ------
        ValueError
            If X has another shape or other column names, or missing values or levels that the model does not accept.
        TypeError
            If X is sparse, and the model does not take sparse rows.

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> from fasthdmr import load_forest
        >>> forest = load_forest(DecisionTreeRegressor(random_state=0).fit([[0.0], [1.0]], [2.0, 3.0]))
        >>> forest.predict([[0.2], [0.7]])
        array([2., 3.])
        """
        output = self._evaluate(_core.Prediction, X, n_jobs)
        return output if output.shape[1] > 1 else output[:, 0]

    def group_features(self, X: ArrayLike, by: Sorting = "tree", n_jobs: int | None = None) -> NDArray[np.float64]:
        """Evaluate each group of trees or nodes: the tree features B(X) (spec, section 4).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (N, n_features)
            As for `predict`.
        by : {"tree", "node"}
            How trees are assigned to subspaces. "tree": each tree to the set of its split variables. "node": the sum
            along the path of a row, split into the value of the root and the difference of each further node from its
            parent, each assigned to the set of variables on the path to the node. The value of an inner node is the
            mean of its children, weighted by their training weights.
        n_jobs : int or None
            Number of threads; the result does not depend on it.

        Returns
        -------
        ndarray of shape (N, len(groups)) or (N, len(node_groups)), float64, Fortran order
            Column g is the part of its output from ``groups[g]``, or ``node_groups[g]``. The columns of an output and
            its offset sum to `predict`.

        Raises
        ------
        ValueError
            If `by` is another value, or as for `predict`.
        TypeError
            As for `predict`.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> from fasthdmr import load_forest
        >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> forest = load_forest(DecisionTreeRegressor(random_state=0).fit(X, [0, 1, 4, 9]))
        >>> [group.subspace for group in forest.groups], [group.subspace for group in forest.node_groups]
        ([(0, 1)], [(), (0,), (0, 1)])
        >>> forest.group_features(X, by="node")
        array([[ 3.5, -3. , -0.5],
               [ 3.5, -3. ,  0.5],
               [ 3.5,  3. , -2.5],
               [ 3.5,  3. ,  2.5]])
        """
        if by not in ("tree", "node"):
            raise ValueError(f"by must be 'tree' or 'node', got {by!r}.")
        return self._evaluate(_core.TreeFeatures if by == "tree" else _core.NodeFeatures, X, n_jobs)

    def _evaluate(self, kind: type[_core.Evaluator], X: Any, n_jobs: int | None) -> NDArray[np.float64]:
        """Evaluate the forest at rows of any kind."""
        if self._takes_as_is(X):  # first, because all other checks take longer than evaluating 500 trees at one row
            return self._of_numbers(kind, self._checked(X), n_jobs)
        if self.front is not None:
            check_names(X, self.feature_names)
            behind = ((place, self._of_numbers(kind, rows, n_jobs)) for place, rows in self.front.blocks(X))
            return in_place(X.shape[0] if hasattr(X, "shape") else len(X), behind)
        if is_sparse(X) and X.shape[0]:
            blocks = dense_blocks(X, [self])
            return in_place(X.shape[0], ((place, self._evaluate(kind, rows, n_jobs)) for place, rows in blocks))
        return self._of_numbers(kind, self._checked(in_numbers(X, [self])), n_jobs)

    def _of_numbers(self, kind: type[_core.Evaluator], rows: NDArray[Any], n_jobs: int | None) -> NDArray[np.float64]:
        """Evaluate the forest at the numbers that the trees read.

        The evaluator of each kind is built at its first use and cached. The rows of one block are evaluated by one
        thread, so for few rows the default number of threads is not looked up, which takes 2 microseconds.
        """
        kept: dict[type, _core.Evaluator] = self.__dict__.setdefault("_evaluators", {})
        evaluator = kept.get(kind)
        few = evaluator is not None and n_jobs is None and len(rows) <= _core.BLOCK_ROWS
        threads = 1 if few else n_threads(n_jobs)
        if evaluator is None:
            evaluator = kept[kind] = kind(self.core, threads)
        return evaluator.evaluate(rows, threads)

    def _takes_as_is(self, X: Any) -> bool:
        """Return whether the trees read X as it is: an array of floats holds no text, and codes in place of levels."""
        return is_plain(X) and self.front is None and not self.text_levels

    def _checked(self, rows: Any) -> NDArray[Any]:
        return check_rows(
            rows,
            self.n_features,
            feature_names=self.feature_names,
            allow_nan=self.allow_nan,
            allow_inf=True,
        )

    def __getstate__(self) -> dict[str, Any]:
        # Without cached values: a forest pickles to the same bytes whether or not they exist.
        cached = ("groups", "node_groups", "_evaluators")
        return {name: value for name, value in self.__dict__.items() if name not in cached}

    def __repr__(self) -> str:
        return f"Forest(n_trees={self.n_trees}, n_features={self.n_features}, n_outputs={self.n_outputs})"
