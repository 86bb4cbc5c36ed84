"""The HDMR of any dictionary of feature columns: the construction of the paper's appendix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length

from fasthdmr._data.encoding import Encoding, column_name
from fasthdmr._dictionaries.array_columns import ArrayDictionary
from fasthdmr._dictionaries.indicator_columns import Indicators, encoding_of
from fasthdmr._results.assembly import assemble
from fasthdmr._results.decomposition import Decomposition
from fasthdmr._saved.columns import columns_content
from fasthdmr._saved.files import write_file
from fasthdmr._solve.array_columns import FunctionsOfColumns
from fasthdmr._solve.problem import Kept, Problem
from fasthdmr._support.groups import Groups, in_variables
from fasthdmr._support.numbers import check_numbers, check_rows_are_there
from fasthdmr._support.scale import check_size
from fasthdmr._support.subspaces import Subspace, as_subspace
from fasthdmr._support.threads import n_threads
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import column_names
from fasthdmr._support.warnings import remembers_warnings
from fasthdmr._support.weights import check_weights

_LABELS = (
    "Encode labels as indicators, a column for each level but one, all with the subspace of the variable. With y and "
    "categorical_features='from_dtype', decompose does so itself."
)


@dataclass(frozen=True, eq=False, repr=False)
class ColumnDecomposition(Decomposition):
    """The result of `decompose`: a `Decomposition` with the matrices A and nu of the paper.

    Attributes
    ----------
    A : ndarray of shape (1 + b, 1 + b)
        Unit upper triangular matrix. Column alpha holds the coefficients eta of the hierarchically orthogonal function
        psi_alpha over the constant and the columns, the columns being in the order `column_order`.
    nu : ndarray of shape (1 + b,) or (1 + b, K)
        The solution of A nu = beta. f_u is the sum of nu_alpha psi_alpha over the columns alpha of u.
    column_order : ndarray of shape (b,)
        Indices of the columns, sorted by order, then by subspace. This is the order of the rows of `A`, `nu` and
        `coef` after the constant. Indicators of levels take the place of each categorical column (see `decompose`).
    """

    A: Floats | None = None
    nu: Floats | None = None
    column_order: NDArray[np.int64] | None = None

    def save(self, file: Any) -> None:
        """Save the result to a file, without pickles, which `fasthdmr.load_decomposition` reads.

        Parameters
        ----------
        file : str, path-like or binary file object
            An existing file is replaced when the new one is complete.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        write_file(file, columns_content(self))


@remembers_warnings
def decompose(
    columns: ArrayLike,
    subspaces: Sequence[Any],
    coef: ArrayLike | None = None,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    order: int | None = None,
    feature_names: Sequence[str] | None = None,
    categorical_features: Any = "from_dtype",
    feature_groups: Any = None,
    n_jobs: int | None = None,
) -> ColumnDecomposition:
    """Decompose a function given as a linear combination of feature columns.

    Parameters
    ----------
    columns : array-like of shape (N, b)
        Values of the feature columns at N rows. The measure is the (weighted) empirical distribution of these rows.
    subspaces : sequence of length b
        The variables that each column depends on, as indices or names; () for a constant column.
    coef : array-like of shape (b,) or (b, K), optional
        The coefficients beta: f = sum of coef times columns.
    y : array-like of shape (N,) or (N, K), optional
        Values to fit `coef` to by least squares, in place of `coef`. Collinear columns get the minimum-norm solution
        for columns scaled to unit norm; constant columns get 0.
    sample_weight : array-like of shape (N,), optional
        Non-negative weights of the rows.
    order : int, optional
        The largest order of a component that is kept. Components of higher order are the residual. None: all.
    feature_names : sequence of str, optional
        Names of the variables. None: x0, x1 and so on.
    categorical_features : "from_dtype", array-like of int, str or bool, or None
        The columns that are categorical. The indicators of its levels, less their means, take the place of such a
        column, in order of decreasing weights of the levels, without the first. Missing values are a level.
        "from_dtype": columns of dtype category, string, text and objects, and booleans with missing values. (Other
        booleans are 0 and 1, which are indicators.) With `coef`: no column. Otherwise a mask, or the indices or names
        of columns.
    feature_groups : dict of str to list of int or str, optional
        Variables that are treated as one, such as ``{"place": ["Latitude", "Longitude"]}``. Variables are numbered in
        the order of their first members.
    n_jobs : int, optional
        Number of threads; None means 1. Results do not depend on it.

    Returns
    -------
    ColumnDecomposition
        With `subspaces`, `components`, `intercept`, `sensitivity`, `evaluate(columns)` and the paper's `A` and `nu`.

    Raises
    ------
    ValueError
        If shapes do not match, values are not finite, not exactly one of `coef` and `y` is given, or a column with the
        subspace () is not constant. If `coef` is given for categorical columns: these have no single coefficient.

    Warns
    -----
    RankWarning
        If the columns are collinear up to rounding. Also if they are so nearly collinear that, because of rounding, the
        components do not sum to the function.
    UnknownLevelsWarning
        In `evaluate` and `component`, if there are levels that did not occur here. There all indicators, less their
        means, are 0.

    Notes
    -----
    Paper, appendix "Feature vector construction for hierarchically-orthogonal subspaces"; specification, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(1000, 2))
    >>> columns = np.column_stack([x, x**2, x[:, 0] * x[:, 1]])
    >>> result = decompose(columns, [0, 1, 0, 1, (0, 1)], coef=[1, 1, 0, 0, 1])
    >>> result.subspaces
    [(0,), (1,), (0, 1)]
    >>> bool(np.allclose(result.intercept + result.evaluate(columns).sum(axis=1), columns @ [1, 1, 0, 0, 1]))
    True
    """
    check_rows_are_there(columns, "columns")
    by_dtype = isinstance(categorical_features, str)
    encoding = encoding_of(columns, None if by_dtype and y is None else categorical_features, sample_weight)
    codes = encoding.encode(columns)
    check_numbers(codes, "columns", remedy=_LABELS)
    matrix = check_array(codes, dtype=[np.float64, np.float32], input_name="columns")
    names, labels = _subspaces(subspaces, matrix.shape[1], feature_names)
    _check_categories(encoding, columns, labels, coef)
    if (groups := Groups.of(feature_groups, names)) is not None:
        names, labels = groups.names, in_variables(groups, labels)
    weights = check_weights(sample_weight, matrix)
    if (coef is None) == (y is None):
        raise ValueError("Pass exactly one of coef (the coefficients of the columns) and y (values to fit them to).")
    indicators = Indicators.of(encoding, matrix, weights)
    matrix = indicators.replace(matrix)
    dictionary = ArrayDictionary(labels, column_names(columns), indicators)
    given = _coefficients(coef, matrix) if y is None else _values(y, matrix)
    several, given = given.ndim == 2, given.reshape(len(given), -1)
    problem = Problem(matrix, weights, Kept(order), None if y is None else given, n_threads(n_jobs))
    if y is None:
        functions = FunctionsOfColumns.given(problem, dictionary, given)
    else:
        functions = FunctionsOfColumns.fitted(problem, dictionary)
    _, solutions = functions.solve(problem)
    result = assemble(
        dictionary,
        solutions,
        problem.kept,
        feature_names=names,
        output_names=tuple(f"y{k}" for k in range(len(solutions))) if several else None,
    )
    A, nu = functions.eta_and_nu(problem)
    return ColumnDecomposition(
        **vars(result),
        A=A,
        nu=nu if several else nu[:, 0],
        column_order=np.array(dictionary.order, dtype=np.int64),
    )


def _check_categories(encoding: Encoding, columns: Any, labels: Sequence[Subspace], coef: Any) -> None:
    """Raise an error if a categorical column has the subspace (), or coefficients are given for several indicators."""
    for j, levels in encoding.levels.items():
        if not labels[j]:
            raise ValueError(
                f"The categorical {column_name(columns, j)} has the subspace (), but only constants do. Name the "
                "variables it depends on."
            )
        if coef is not None:
            raise ValueError(
                f"coef has one coefficient for each column, but {column_name(columns, j)} is categorical, with "
                f"{len(levels)} levels. Pass y, or an indicator column for each level."
            )


def _coefficients(coef: Any, matrix: NDArray[Any]) -> Floats:
    """Check the coefficients of the columns."""
    check_numbers(coef, "coef")
    beta: Floats = check_array(np.asarray(coef), ensure_2d=False, dtype=np.float64, input_name="coef")
    if beta.shape[:1] != (matrix.shape[1],) or beta.ndim > 2:
        raise ValueError(f"coef must have one row for each of the {matrix.shape[1]} columns, got shape {beta.shape}.")
    return beta


def _values(y: Any, matrix: NDArray[Any]) -> Floats:
    """Check the values to which the coefficients are fitted."""
    check_numbers(y, "y")
    values: Floats = check_array(np.asarray(y), ensure_2d=False, dtype=np.float64, input_name="y")
    check_consistent_length(matrix, values)
    check_size(values, "y")
    return values


def _subspaces(
    subspaces: Sequence[Any], n_columns: int, feature_names: Sequence[str] | None
) -> tuple[tuple[str, ...], list[tuple[int, ...]]]:
    """Return the names of the variables, and the subspace of every column."""
    if len(subspaces) != n_columns:
        raise ValueError(f"subspaces must name one subspace for each of the {n_columns} columns, got {len(subspaces)}.")
    if feature_names is None:
        numbers = [i for u in subspaces for i in (u if np.iterable(u) else [u])]
        if any(isinstance(i, str) for i in numbers):
            raise ValueError("feature_names is None, but subspaces holds names. Pass feature_names.")
        feature_names = [f"x{i}" for i in range(max(numbers, default=0) + 1)]
    return tuple(feature_names), [as_subspace(u, feature_names) for u in subspaces]
