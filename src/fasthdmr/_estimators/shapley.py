"""Shapley values of the estimators, from their components."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._data.encoding import column_of, level_of
from fasthdmr._estimators.checked import CheckedEstimator
from fasthdmr._estimators.in_blocks import in_blocks
from fasthdmr._results.decomposition import Decomposition
from fasthdmr._results.shapley import ShapleyTable, shapley_interactions, shapley_table, shapley_values
from fasthdmr._support.optional import require
from fasthdmr._support.threads import n_threads
from fasthdmr._support.typing import Floats


class ShapleyValues(CheckedEstimator):
    """The methods that divide components among their variables. Subclasses set `decomposition_`."""

    decomposition_: Decomposition
    n_jobs: int | None

    @property
    @abstractmethod
    def _has_black_box(self) -> bool:
        """Whether there is a black box that can be evaluated."""

    @abstractmethod
    def _black_box(self, X: Any, rows: NDArray[Any]) -> Floats:
        """Return the output of the black box at X; `rows` are its numbers."""

    def shapley_values(self, X: Any, *, out: Floats | None = None) -> Floats:
        """Return the Shapley values of the variables: each component is divided equally among its variables.

        They are those of the game v(S) = f_0 + sum of f_u over the subsets u of S. With ``measure="product"`` and
        ``order=None``, they are interventional SHAP values with the product of the marginals as the background.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Rows of the variables, as in `fit`.
        out : ndarray of shape (N, n) or (N, n, K), float64, optional
            Takes the result, which is computed block by block: for results that do not fit into memory, a
            `numpy.memmap`. If an error is raised, some rows may have been written.

        Returns
        -------
        ndarray of shape (N, n) or (N, n, K)
            Column j belongs to ``feature_names_[j]``, which is a column of X or a group of columns. The values of a
            row sum to ``predict`` minus ``intercept_``. With `residual` they sum to the output of the black box. The
            value of a variable without a component is 0.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has another number of columns or other names, or values that the estimator does not accept. If `out`
            has another shape, cannot be written, or may share memory with X.
        TypeError
            If `out` is not an array of float64.

        Examples
        --------
        >>> import fasthdmr
        >>> X, _ = fasthdmr.datasets.make_bilinear_gaussian(500, random_state=0)
        >>> hdmr = fasthdmr.HDMR(lambda X: X[:, 0] + X[:, 0] * X[:, 1]).fit(X)
        >>> values = hdmr.shapley_values(X)
        >>> f_0, f_1, f_01 = hdmr.evaluate(X).T
        >>> bool(abs(values - (f_01 / 2)[:, None] - hdmr.evaluate(X)[:, :2]).max() < 1e-12)
        True
        """

        def values(X: Any) -> Floats:
            rows = self._rows(X)
            return shapley_values(self.decomposition_, rows, n_threads(self.n_jobs))

        return in_blocks(X, out, values)

    def shapley_interactions(self, X: Any) -> Floats:
        """Return the Shapley interaction values of all pairs of variables, in the convention of shap.

        The interaction of two variables is halved between the entries (i, j) and (j, i). A diagonal entry is what is
        left of the Shapley value of its variable. With ``order=2``, the diagonal holds the main effects f_i, and the
        other entries hold f_ij / 2.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Rows of the variables, as in `fit`.

        Returns
        -------
        ndarray of shape (N, n, n) or (N, n, n, K)
            A symmetric matrix for each row of X. Its rows sum to the Shapley values.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has another number of columns or other names, or values that the estimator does not accept.

        Examples
        --------
        >>> import fasthdmr
        >>> X, _ = fasthdmr.datasets.make_bilinear_gaussian(500, random_state=0)
        >>> hdmr = fasthdmr.HDMR(lambda X: X[:, 0] + X[:, 0] * X[:, 1]).fit(X)
        >>> matrices = hdmr.shapley_interactions(X)
        >>> bool(abs(matrices.sum(axis=2) - hdmr.shapley_values(X)).max() < 1e-12)
        True
        """
        rows = self._rows(X)
        return shapley_interactions(self.decomposition_, rows, n_threads(self.n_jobs))

    def to_shap(self, X: Any) -> Any:
        """Return the Shapley values as an `Explanation` of the package shap, for its plots.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Rows of the variables, as in `fit`.

        Returns
        -------
        shap.Explanation
            With ``values``, ``base_values`` (f_0), ``data`` (the values of X), ``feature_names`` and ``output_names``.
            The values of a row and its base value sum to the output of the black box. For this there is a last column
            "residual", unless the residual of all rows is 0 up to rounding, or the estimator decomposes y itself.

        Raises
        ------
        ImportError
            If shap is not installed (extra ``shap``).
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has another number of columns or other names, or values that the estimator does not accept.

        Notes
        -----
        Missing values of categorical variables are None in ``data``. The value of a group of columns is a tuple.
        """
        shap, table = require("shap", extra="shap"), self._shapley_table(X)
        return shap.Explanation(
            table.values,
            table.base_values,
            table.data,
            feature_names=table.feature_names,
            output_names=table.output_names,
        )

    def _shapley_table(self, X: Any) -> ShapleyTable:
        """Return the Shapley values of rows, their residual, and the values of the variables."""
        codes = self._codes(X)
        rows = self._rows_from(X, codes)
        data, is_numeric = self._given_values(X, codes)
        black_box = self._black_box(X, rows) if self._has_black_box else None
        return shapley_table(self.decomposition_, rows, data, is_numeric, black_box, n_threads(self.n_jobs))

    def _given_values(self, X: Any, codes: NDArray[Any]) -> tuple[NDArray[Any], list[bool]]:
        """Return the values of all variables, (N, n), and which variables are numeric.

        Values are objects if there are levels or groups of columns.
        """
        levels, groups = self._encoding.levels, self._groups
        variables = [(j,) for j in range(codes.shape[1])] if groups is None else groups.columns
        is_numeric = [len(own) == 1 and own[0] not in levels for own in variables]
        if all(is_numeric):
            return codes.astype(np.float64), is_numeric
        values = np.empty((len(codes), len(variables)), dtype=object)
        for i, own in enumerate(variables):
            columns = [map(level_of, column_of(X, j)) if j in levels else iter(codes[:, j].tolist()) for j in own]
            column = zip(*columns, strict=True) if len(own) > 1 else columns[0]
            values[:, i] = np.fromiter(column, dtype=object, count=len(codes))  # tuples stay whole
        return values, is_numeric
