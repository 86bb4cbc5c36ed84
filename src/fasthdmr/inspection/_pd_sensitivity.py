"""Sensitivity indices computed from partial dependence curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.interpolate import RegularGridInterpolator
from sklearn.utils import _safe_indexing

from fasthdmr._dictionaries.black_box import OUTPUTS, Output
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._support.numbers import as_floats
from fasthdmr._support.scale import Deviations, in_units
from fasthdmr._support.steps import gram
from fasthdmr._support.typing import Floats
from fasthdmr._support.weights import check_weights
from fasthdmr.inspection._grid import GridOptions, as_table
from fasthdmr.inspection._partial_dependence import Kind, partial_dependences


def pd_sensitivity(
    model: Any,
    X: Any,
    features: Sequence[Any] | None = None,
    *,
    kind: Kind = "marginal",
    centred: bool = True,
    sample_weight: Any = None,
    grid_resolution: int = 100,
    n_jobs: int | None = None,
) -> Sensitivity:
    """Return structural, correlative and overall indices of partial dependence functions.

    Parameters
    ----------
    model : fitted estimator, Forest or callable
        With one output.
    X : array-like or data frame of shape (N, n_features)
        The background rows; curves are averaged, and the moments are taken, over them.
    features : sequence of int, str or sequences of them, or None
        The sets of features whose partial dependence is used as component function; None: every single feature.
    kind : {"marginal", "conditional"}
        Which partial dependence.
    centred : bool
        True: variances and covariances. False: mean squares and products after subtracting the mean of the output, not
        that of the curve, as in the paper. The two agree if both means are equal.
    sample_weight : array-like of shape (N,), or None
        Non-negative weights of the rows.
    grid_resolution : int
        Points of the grid between which curves are interpolated linearly. Half of them are quantiles, half evenly
        spaced from the smallest to the largest value, so that the grid is fine where rows are and in the tails.
    n_jobs : int or None
        Threads; None means 1. Results do not depend on it.

    Returns
    -------
    Sensitivity
        Sa, the variance of a curve over that of the output; Sb, its covariances with the other curves; S, their sum.
        They need not add up to 1; `residual` is 1 minus the sum of S, not the variance of a residual.

    Raises
    ------
    ValueError
        If a parameter does not fit, the model has several outputs, or one of the features has missing values.

    Notes
    -----
    Paper, table "vi"; specification, section 9. With independent variables the centred marginal curve of one feature is
    its component function; under correlation it is not, and the sum of S can be anything from 0 to far above 1.

    Examples
    --------
    >>> import numpy as np
    >>> from fasthdmr.inspection import pd_sensitivity
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> pd_sensitivity(lambda X: X[:, 0] + 2 * X[:, 1], X).Sa.round(1)
    array([0.2, 0.8])
    """
    X = as_table(X)
    output, weights = Output(model, OUTPUTS), check_weights(sample_weight, X)
    values = output(X)
    if values.ndim > 1:
        raise ValueError(f"model must have one output, got {values.shape[1]}. Pass a function of X with one.")
    sets = list(range(X.shape[1])) if features is None else list(features)
    options = GridOptions.of(
        X,
        feature_names=None,
        categorical_features=None,
        percentiles=(0.0, 1.0),
        grid_resolution=grid_resolution,
        custom_values=None,
    )
    subspaces = [options.subspace(u) for u in sets]
    grid = {i: _grid(X, i, grid_resolution) for u in subspaces for i in u}
    curves = partial_dependences(
        model, X, subspaces, kind=kind, sample_weight=weights, custom_values=grid, n_jobs=n_jobs
    )
    at_rows = np.column_stack([_interpolated(curve, X, u) for curve, u in zip(curves, subspaces, strict=True)])
    deviations = Deviations.of(values[:, None], weights)
    scale, variance = float(deviations.scale[0]), float(deviations.variance[0])
    at_rows -= np.average(at_rows, axis=0, weights=weights) if centred else deviations.mean
    at_rows /= scale
    products = gram(at_rows, at_rows if weights is None else at_rows * weights[:, None])
    products /= (len(at_rows) if weights is None else weights.sum()) * (variance if variance > 0 else np.inf)
    S = products.sum(axis=1)
    reported = float(in_units(variance, scale))
    return Sensitivity(subspaces, np.diag(products).copy(), S, float(1 - S.sum()), reported, options.names)


def _grid(X: Any, column: int, count: int) -> Floats:
    """Return interpolation points of a column: quantiles, and evenly spaced points for the tails."""
    values = _column(X, column)
    if np.isnan(values).any():
        raise ValueError(f"X contains NaN in column {column}, where the curve has no value. Leave such rows out.")
    distinct = np.unique(values)
    if len(distinct) <= count:
        return distinct
    quantiles = np.quantile(values, np.linspace(0, 1, max(2, count - count // 2)), method="nearest")
    steps = np.linspace(values.min(), values.max(), count // 2)
    return np.unique(np.concatenate([quantiles, steps]))


def _column(X: Any, column: int) -> Floats:
    return as_floats(_safe_indexing(X, column, axis=1), f"Column {column} of X")


def _interpolated(curve: Any, X: Any, u: tuple[int, ...]) -> Floats:
    """Return the partial dependence at the rows: linear between the points of its grid."""
    columns = np.column_stack([_column(X, i) for i in u])
    axes = [k for k, values in enumerate(curve.grid_values) if len(values) > 1]
    average = curve.average[0].squeeze(axis=tuple(k for k in range(len(u)) if k not in axes))
    if not axes:
        return np.full(len(columns), float(average))
    grid = [curve.grid_values[k] for k in axes]
    points = np.clip(columns[:, axes], [values[0] for values in grid], [values[-1] for values in grid])
    return np.asarray(RegularGridInterpolator(grid, average)(points))
