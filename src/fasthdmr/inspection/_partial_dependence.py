"""Partial dependence: marginal, exact for tree ensembles and equal to the brute force for all models; conditional."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.utils import Bunch, _safe_indexing

from fasthdmr import _core
from fasthdmr._dictionaries.black_box import OUTPUTS, Output
from fasthdmr._estimators.hdmr import HDMR
from fasthdmr._forest.forest import Forest
from fasthdmr._forest.text_levels import text_as_codes
from fasthdmr._spans.basis import default_size, informative_rows
from fasthdmr._support.numbers import as_floats, check_numbers
from fasthdmr._support.threads import n_threads
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import category_columns, check_rows
from fasthdmr._support.weights import check_weights
from fasthdmr.inspection._brute import brute_average
from fasthdmr.inspection._grid import GridOptions, as_table
from fasthdmr.loaders.registry import read

Columns = tuple[int, ...]
Kind = Literal["marginal", "conditional"]
ResponseMethod = Literal["auto", "predict_proba", "decision_function"]

_MOST_FAST = 4  # features of a set, as in csrc/core/inspection/partial_dependence.hpp


def partial_dependence(
    model: Any,
    X: Any,
    features: Any,
    *,
    kind: Kind = "marginal",
    sample_weight: Any = None,
    categorical_features: Any = None,
    feature_names: Sequence[str] | None = None,
    response_method: ResponseMethod = "auto",
    percentiles: tuple[float, float] = (0.05, 0.95),
    grid_resolution: int = 100,
    custom_values: Mapping[Any, Any] | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Bunch:
    """Partial dependence of features.

    Marginal: the average of the model's output over the rows of X, the features set to each point of a grid. It
    equals scikit-learn's ``partial_dependence(..., method="brute")``; for tree ensembles that `load_forest` reads it
    takes one pass over the rows for the whole grid. Conditional: E[f | features], the projection of the output on the
    splines of the features (their main effects and interactions) under the rows' measure.

    Parameters
    ----------
    model : fitted estimator, Forest or callable
        A callable maps rows, (N, n), to (N,) or (N, K).
    X : array-like, data frame or sparse matrix of shape (N, n_features)
        The background rows: a grid is made of their values, and averages are over them. Sparse rows are converted to
        dense ones, if the output is a sum of trees that takes them; what they do not store is zero or missing, as in
        the model's library.
    features : int, str, or sequence of them
        The feature (e.g. `[0]`) or pair of interacting features (e.g. `[0, 1]`) for which the partial dependence is
        computed.
    kind : {"marginal", "conditional"}, default="marginal"
        Under correlation they differ: the marginal one evaluates the model at combinations of values that do not
        occur, the conditional one includes the effects of correlated features.
    sample_weight : array-like of shape (N,), default=None
        Non-negative weights of the rows. The grid does not depend on them.
    categorical_features : array-like of bool, int or str, default=None
        Which features are categorical: their grid is all of their values.
    feature_names : sequence of str, default=None
        Name of each feature. None: the columns of a data frame, else x0, x1 and so on.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        The output of a classifier; of two classes, for the second. "auto" means `decision_function`
        where there is one, else `predict_proba` (scikit-learn's "auto" tries them the other way round). Regressors
        have "auto" only: `predict`. The probabilities of a gradient boosting are not a sum of trees, so
        they take as long as in scikit-learn.
    percentiles : tuple of float, default=(0.05, 0.95)
        The lower and upper percentile used to create the extreme values for the grid.
    grid_resolution : int, default=100
        The number of equally spaced points on the grid; a feature with fewer distinct values has those.
    custom_values : dict, default=None
        From a feature to the values where the partial dependence is computed, in place of the grid.
    n_jobs : int or None
        Threads for tree ensembles and projections; None means 1. Results do not depend on it.
    verbose : int
        Whether a long brute force shows its progress (with tqdm).

    Returns
    -------
    sklearn.utils.Bunch
        Its "average" is an ndarray of shape (n_outputs, len(values[0]), len(values[1]), ...).

        Its "grid_values" is a list of ndarray, the values of each feature.

        `sklearn.inspection.PartialDependenceDisplay` draws it. There is one output for regression and for two
        classes, else one for each class or task.

    Raises
    ------
    ValueError
        If a parameter is invalid.
    TypeError
        If X is sparse and the output is no sum of trees that takes sparse rows, or `model` is not a model.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.

    See Also
    --------
    partial_dependences : Partial dependence of many sets of features in one pass.

    Notes
    -----
    Specification, section 9. Missing values, and what the model takes for missing, are not on the grid, but their rows
    are averaged over. Integers are cast to
    floating point, so that the grid is not rounded. Where the percentiles of a feature meet, the grid is one point.
    scikit-learn's `method="recursion"` averages over paths of the trees instead of rows: another quantity under
    correlation.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> from fasthdmr.inspection import partial_dependence
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> model = GradientBoostingRegressor(random_state=0).fit(X, X[:, 0] + X[:, 0] * X[:, 1])
    >>> result = partial_dependence(model, X, [0, 1], grid_resolution=5)
    >>> result.average.shape, [len(values) for values in result.grid_values]
    ((1, 5, 5), [5, 5])
    >>> by_itself = partial_dependence(model, X, 0, custom_values={0: [0.2, 0.8]})
    >>> by_itself.average.round(1)
    array([[0.3, 1.2]])
    """
    return partial_dependences(
        model,
        X,
        [features],
        kind=kind,
        sample_weight=sample_weight,
        categorical_features=categorical_features,
        feature_names=feature_names,
        response_method=response_method,
        percentiles=percentiles,
        grid_resolution=grid_resolution,
        custom_values=custom_values,
        n_jobs=n_jobs,
        verbose=verbose,
    )[0]


def partial_dependences(
    model: Any,
    X: Any,
    feature_sets: Sequence[Any],
    *,
    kind: Kind = "marginal",
    sample_weight: Any = None,
    categorical_features: Any = None,
    feature_names: Sequence[str] | None = None,
    response_method: ResponseMethod = "auto",
    percentiles: tuple[float, float] = (0.05, 0.95),
    grid_resolution: int = 100,
    custom_values: Mapping[Any, Any] | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[Bunch]:
    """Partial dependence of many sets of features: of tree ensembles, all in one pass over the rows.

    Parameters
    ----------
    model : fitted estimator, Forest or callable
        As for `partial_dependence`.
    X : array-like, data frame or sparse matrix of shape (N, n_features)
        The background rows.
    feature_sets : sequence
        Each what `partial_dependence` takes as `features`; as for
        `sklearn.inspection.PartialDependenceDisplay.from_estimator`, e.g. `[0, 1, (0, 1)]`.
    kind : {"marginal", "conditional"}, default="marginal"
        As for `partial_dependence`, like all that follows.
    sample_weight : array-like of shape (N,), default=None
        Non-negative weights of the rows.
    categorical_features : array-like of bool, int or str, default=None
        Which features are categorical.
    feature_names : sequence of str, default=None
        Name of each feature.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        The output of a classifier.
    percentiles : tuple of float, default=(0.05, 0.95)
        The lower and upper end of the grid.
    grid_resolution : int, default=100
        The number of points of the grid, for each feature.
    custom_values : dict, default=None
        From a feature to its values, in place of the grid.
    n_jobs : int or None
        Threads; None means 1. Results do not depend on it.
    verbose : int
        Whether a long brute force shows its progress (with tqdm).

    Returns
    -------
    list of sklearn.utils.Bunch
        One for each set.

    Raises
    ------
    ValueError, TypeError, sklearn.exceptions.NotFittedError
        As `partial_dependence` does.

    Examples
    --------
    >>> import numpy as np
    >>> from fasthdmr.inspection import partial_dependences
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> curve, surface = partial_dependences(lambda X: X[:, 0] * X[:, 1], X, [0, (0, 1)], grid_resolution=4)
    >>> curve.average.shape, surface.average.shape
    ((1, 4), (1, 4, 4))
    """
    if kind not in ("marginal", "conditional"):
        raise ValueError(f"kind must be 'marginal' or 'conditional', got {kind!r}.")
    output = Output(model, _methods(model, response_method))
    forest = _forest_of(output)
    X = as_table(X, forest)
    weights = check_weights(sample_weight, X)
    options = GridOptions.of(
        X,
        feature_names=feature_names,
        categorical_features=categorical_features,
        percentiles=percentiles,
        grid_resolution=grid_resolution,
        custom_values=custom_values,
    )
    sets = [options.subspace(features) for features in feature_sets]
    grid = {column: options.values(X, column, forest) for column in sorted({column for u in sets for column in u})}
    average = _conditional if kind == "conditional" else partial(_marginal, forest=forest, verbose=verbose)
    averages = average(output, X, weights, sets, grid, n_threads(n_jobs))
    return [
        Bunch(grid_values=[grid[column].copy() for column in u], average=values)
        for u, values in zip(sets, averages, strict=True)
    ]


def _methods(model: Any, response_method: str) -> tuple[str, ...]:
    """Return the names of the methods for the output, in order of preference."""
    if response_method not in ("auto", "predict_proba", "decision_function"):
        raise ValueError(
            f"response_method must be 'auto', 'predict_proba' or 'decision_function', got {response_method!r}."
        )
    if isinstance(getattr(model, "classes_", None), list):
        raise ValueError("Multiclass-multioutput estimators are not supported")
    if response_method == "auto":
        return OUTPUTS
    if hasattr(model, "predict") and is_regressor(model):
        raise ValueError("The response_method parameter is ignored for regressors and must be 'auto'.")
    if not hasattr(model, response_method):
        raise ValueError(f"{type(model).__name__} has none of the following attributes: {response_method}.")
    return (response_method,)


def _marginal(
    output: Output,
    X: Any,
    weights: Floats | None,
    sets: Sequence[Columns],
    grid: Mapping[int, NDArray[Any]],
    threads: int,
    *,
    forest: Forest | None,
    verbose: int,
) -> list[Floats]:
    """Return averages: from the trees if the output is a sum of trees, else by brute force."""
    rows = X
    if forest is not None:
        rows = text_as_codes(X, [forest])
        check_numbers(rows, "X")
    if forest is not None and forest.takes_codes and (places := category_columns(X)):
        raise ValueError(
            f"The columns {[X.columns[j] for j in places]} are of dtype category, and the model takes codes. A grid "
            "has values of X: pass codes as numbers, column.cat.codes of the levels that the model was trained with."
        )
    of_text = {column for column, _ in forest.text_levels} if forest is not None else set()
    fast = [u for u in sets if forest is not None and _is_fast(u, grid) and not of_text & set(u)]
    averages: dict[Columns, Floats] = {}
    if forest is not None and fast:
        averages = dict(zip(fast, _by_trees(forest, rows, weights, fast, grid, threads), strict=True))
    for u in sets:
        if u not in averages:
            averages[u] = brute_average(output, X, weights, u, [grid[column] for column in u], verbose=verbose)
    return [averages[u] for u in sets]


def _forest_of(output: Output) -> Forest | None:
    """Return the trees whose sum is the output and which read X; None if there are none, as behind transformers."""
    if output.method == "predict_proba" and hasattr(output.model, "decision_function"):
        return None  # a non-linear function of the sum
    if isinstance(output.model, Forest):
        return output.model if output.model.front is None else None
    try:
        trees = read(output.model)
    except (TypeError, ValueError):
        return None
    return None if trees.is_margin or trees.front is not None else trees.forest()


def _is_fast(u: Columns, grid: Mapping[int, NDArray[Any]]) -> bool:
    numbers = all(grid[column].dtype.kind in "biuf" for column in u)
    return len(u) <= _MOST_FAST and numbers and not any(np.isnan(grid[column]).any() for column in u)


def _by_trees(
    forest: Forest,
    X: Any,
    weights: Floats | None,
    sets: Sequence[Columns],
    grid: Mapping[int, NDArray[Any]],
    threads: int,
) -> list[Floats]:
    rows = check_rows(X, forest.n_features, feature_names=forest.feature_names, allow_nan=True, allow_inf=True)
    if not forest.allow_nan:
        missing = set(np.flatnonzero(np.isnan(rows).any(axis=0)))
        if any(missing - set(u) for u in sets):  # in columns that are not set to grid values
            check_rows(rows, forest.n_features, allow_nan=False, allow_inf=True)
    columns = sorted({column for u in sets for column in u})
    axis_of = {column: axis for axis, column in enumerate(columns)}
    rising = [np.unique(grid[column].astype(np.float64), return_inverse=True) for column in columns]
    averages = _core.partial_dependence(
        forest.core,
        rows,
        weight=weights,
        axes=[(column, values.tolist()) for column, (values, _) in zip(columns, rising, strict=True)],
        grids=[[axis_of[column] for column in u] for u in sets],
        n_threads=threads,
    )
    for k, u in enumerate(sets):
        for axis, column in enumerate(u):
            averages[k] = averages[k].take(rising[axis_of[column]][1], axis=axis + 1)
    return averages


def _conditional(
    output: Output,
    X: Any,
    weights: Floats | None,
    sets: Sequence[Columns],
    grid: Mapping[int, NDArray[Any]],
    threads: int,
) -> list[Floats]:
    """Project the output on the spans of each set and of its subsets: the HDMR of data in its variables alone."""
    values = output(X)
    averages = []
    for u in sets:
        columns = np.column_stack(
            [as_floats(_safe_indexing(X, column, axis=1), f"Column {column} of X") for column in u]
        )
        points = np.array(list(product(*(grid[column] for column in u))))
        # Rows with equal values of u and different outputs are distinct: the other variables differ.
        n_rows = informative_rows(np.column_stack([columns, values]), weights)
        sizes = tuple(default_size(n_rows, order) for order in range(1, len(u) + 1))
        fitted = HDMR(order=len(u), n_splines=sizes, n_jobs=threads).fit(columns, values, weights)
        shape = [len(grid[column]) for column in u]
        averages.append(np.reshape(fitted.predict(points).T, (-1, *shape)))
    return averages
