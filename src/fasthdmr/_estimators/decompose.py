"""The HDMR of any dictionary of feature columns: the construction of the paper's appendix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length

from fasthdmr import _core
from fasthdmr._dictionaries.array_columns import ArrayDictionary
from fasthdmr._results.decomposition import Decomposition, assemble
from fasthdmr._solve.hierarchy import eta_and_nu, least_squares, solve
from fasthdmr._solve.problem import Kept
from fasthdmr._support.numbers import check_numbers
from fasthdmr._support.scale import LARGEST, Deviations, check_size, power_of_two, powers_of_two
from fasthdmr._support.steps import take_columns
from fasthdmr._support.subspaces import as_subspace
from fasthdmr._support.threads import n_threads, one_blas_thread
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import column_names
from fasthdmr._support.weights import check_weights

_LARGEST_COEFFICIENT = 1e305  # components have larger ones


@dataclass(frozen=True, eq=False, repr=False)
class ColumnDecomposition(Decomposition):
    """What `decompose` returns: a `Decomposition`, and the matrices of the paper's form of it.

    Attributes
    ----------
    A : ndarray of shape (1 + b, 1 + b)
        The eta as columns, over the constant and the columns in the order `column_order`: unit upper triangular.
    nu : ndarray of shape (1 + b,) or (1 + b, K)
        With A nu = beta; f_u is the sum of nu_alpha psi_alpha over the columns alpha of u.
    column_order : ndarray of shape (b,)
        The columns sorted by order, then subspace; the rows of `A`, `nu` and `coef` after the constant.
    """

    A: Floats | None = None
    nu: Floats | None = None
    column_order: NDArray[np.int64] | None = None


def decompose(
    columns: ArrayLike,
    subspaces: Sequence[Any],
    coef: ArrayLike | None = None,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    order: int | None = None,
    feature_names: Sequence[str] | None = None,
    n_jobs: int | None = None,
) -> ColumnDecomposition:
    """Decompose a function given over any dictionary of feature columns.

    Parameters
    ----------
    columns : array-like of shape (N, b)
        Feature columns at the rows, whose (weighted) empirical measure is the measure.
    subspaces : sequence of length b
        The variables that each column depends on, as indices or names; () for a constant column.
    coef : array-like of shape (b,) or (b, K), optional
        The coefficients beta: f = sum of coef times columns.
    y : array-like of shape (N,) or (N, K), optional
        In place of `coef`: they are found by least squares (of least norm, for columns scaled to unit norm; 0 for
        columns that are constant).
    sample_weight : array-like of shape (N,), optional
        Non-negative weights of the rows.
    order : int, optional
        The largest order of a component that is kept; the others are the residual. None: all.
    feature_names : sequence of str, optional
        Names of the variables; None: x0, x1 and so on.
    n_jobs : int, optional
        Threads; None means 1. Results do not depend on it.

    Returns
    -------
    ColumnDecomposition
        With `subspaces`, `components`, `intercept`, `sensitivity`, `evaluate(columns)` and the paper's `A` and `nu`.

    Raises
    ------
    ValueError
        If shapes disagree, values are not finite, both or none of `coef` and `y` are given, or a column that is
        labelled () is not constant.

    Warns
    -----
    RankWarning
        If the columns are linearly dependent, up to the rounding of their numbers, as copies with large means and
        constants are; or so nearly that rounding keeps the sum of the components from the function.

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
    check_numbers(columns, "columns")
    matrix = check_array(columns, dtype=[np.float64, np.float32], input_name="columns")
    names, labels = _subspaces(subspaces, matrix.shape[1], feature_names)
    weights = check_weights(sample_weight, matrix)
    if (coef is None) == (y is None):
        raise ValueError("Give either coef or y: the coefficients of the columns, or values to fit them to.")
    threads = n_threads(n_jobs)
    dictionary = ArrayDictionary(labels, column_names(columns))
    constants = _constants(matrix, dictionary.constant)
    if coef is not None:
        check_numbers(coef, "coef")
        beta = check_array(np.asarray(coef), ensure_2d=False, dtype=np.float64, input_name="coef")
        if beta.shape[:1] != (matrix.shape[1],) or beta.ndim > 2:
            raise ValueError(
                f"coef must have one row for each of the {matrix.shape[1]} columns, got shape {beta.shape}."
            )
        several = beta.ndim == 2
        beta = beta.reshape(len(beta), -1)
        betas = [np.concatenate([[b[dictionary.constant] @ constants], b[dictionary.order]]) for b in beta.T]
        (measure,), units = _triangles(matrix, dictionary.order, [None], weights, threads)
        shifts, scales = np.zeros(len(betas)), np.ones(len(betas))
        for k, b in enumerate(betas):
            scales[k], betas[k] = _scaled(b, measure, units, len(matrix), k)
    else:
        check_numbers(y, "y")
        target = check_array(np.asarray(y), ensure_2d=False, dtype=np.float64, input_name="y")
        check_consistent_length(matrix, target)
        check_size(target, "y")
        several = target.ndim == 2
        deviations = Deviations.of(target.reshape(len(target), -1), weights)
        shifts, scales = deviations.mean, deviations.scale
        stacked, units = _triangles(matrix, dictionary.order, list(deviations.values.T), weights, threads)
        betas = [least_squares(t) for t in stacked]
        for beta, scale in zip(betas, scales, strict=True):
            _check_coefficients(beta[1:], float(scale), units, dictionary.order)
        measure = stacked[0][:-1, :-1]

    solutions = [
        solve(measure, dictionary.labels, beta, threads).rescaled(float(shift), float(scale), units)
        for beta, shift, scale in zip(betas, shifts, scales, strict=True)
    ]
    forms = [eta_and_nu(measure, dictionary.labels, beta, threads) for beta in betas]
    result = assemble(
        dictionary,
        solutions,
        Kept(order),
        feature_names=names,
        output_names=tuple(f"y{k}" for k in range(len(betas))) if several else None,
    )
    by_column = np.concatenate([[1.0], units])
    nu = np.column_stack([form[1] for form in forms]) * (scales / by_column[:, None])
    nu[0] += shifts
    return ColumnDecomposition(
        **vars(result),
        A=forms[0][0] * by_column / by_column[:, None],
        nu=nu if several else nu[:, 0],
        column_order=np.array(dictionary.order, dtype=np.int64),
    )


def _subspaces(
    subspaces: Sequence[Any], n_columns: int, feature_names: Sequence[str] | None
) -> tuple[tuple[str, ...], list[tuple[int, ...]]]:
    """Return the names of the variables, and the subspace of every column."""
    if len(subspaces) != n_columns:
        raise ValueError(f"subspaces must name one subspace for each of the {n_columns} columns, got {len(subspaces)}.")
    if feature_names is None:
        numbers = [i for u in subspaces for i in (u if np.iterable(u) else [u])]
        if any(isinstance(i, str) for i in numbers):
            raise ValueError("Subspaces by name need feature_names.")
        feature_names = [f"x{i}" for i in range(max(numbers, default=0) + 1)]
    return tuple(feature_names), [as_subspace(u, feature_names) for u in subspaces]


def _constants(matrix: NDArray[Any], constant: list[int]) -> Floats:
    """Return the values of the columns that are said to be constant."""
    for j in constant:
        if np.ptp(matrix[:, j]) != 0:
            raise ValueError(f"Column {j} has the subspace (), but is not constant.")
    return np.asarray(matrix[0, constant], dtype=np.float64)


def _triangles(
    matrix: NDArray[Any], order: list[int], targets: Sequence[Floats | None], weights: Floats | None, threads: int
) -> tuple[list[Floats], Floats]:
    """Return the triangle of the columns and each target, and the powers of two that columns are divided by, (b,)."""
    total = float(len(matrix)) if weights is None else float(weights.sum())

    def triangle(columns: NDArray[Any], target: Floats | None) -> Floats:
        with one_blas_thread():
            triangles = _core.array_triangle(columns, weight=weights, y=target, n_threads=threads)
        found: Floats = triangles[0] / np.sqrt(total)
        return found

    columns, units = take_columns(matrix, order), np.ones(len(order))
    first = triangle(columns, targets[0])
    # It tells of columns at the ends of the range, so that not all of them are searched for their largest numbers.
    sizes = np.abs(first[:, 1 : len(order) + 1]).max(axis=0)
    if not all(np.isfinite(size) and power_of_two(size) == 1 for size in sizes):
        check_size(matrix, "columns")
        units = powers_of_two(columns)
        columns = columns / units
        first = triangle(columns, targets[0])
    return [first, *(triangle(columns, target) for target in targets[1:])], units


def _scaled(beta: Floats, triangle: Floats, units: Floats, n_rows: int, output: int) -> tuple[float, Floats]:
    """Return a power of two near the terms of f = beta_0 + columns units beta, and beta for f over that and columns."""
    with np.errstate(over="ignore", under="ignore"):
        coefficients = beta[1:] * units
        terms = np.abs(coefficients) * np.linalg.norm(triangle[:, 1:], axis=0)
    largest = abs(beta[0]) + np.sqrt(n_rows) * terms.sum()  # a value is at most so many times its root mean square
    if not largest <= LARGEST:
        raise ValueError(
            f"coef times columns add up to as much as {largest:.3g} in output {output}, which overflows; at most "
            f"{LARGEST:g} is taken. Divide coef by a power of ten."
        )
    scale = power_of_two(terms.max(initial=0.0))
    return scale, np.concatenate([beta[:1], coefficients]) / scale


def _check_coefficients(beta: Floats, scale: float, units: Floats, order: Sequence[int]) -> None:
    """Refuse a column beside which y is so large that coefficients come near the end of the range of numbers."""
    with np.errstate(over="ignore"):
        too_large = np.flatnonzero(~(np.abs(beta) * (scale / units) < _LARGEST_COEFFICIENT))
    if len(too_large):
        raise ValueError(
            f"The coefficient of column {order[too_large[0]]} overflows: y is too large beside it. Multiply the column "
            "by a power of ten."
        )
