"""The base class of all estimators: scikit-learn's methods on top of a fitted `Decomposition`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from fasthdmr._dictionaries.dictionary import Dictionary
from fasthdmr._estimators.in_blocks import in_blocks
from fasthdmr._estimators.incremental import Incremental
from fasthdmr._estimators.overview import OverviewMixin
from fasthdmr._estimators.saving import Saving
from fasthdmr._estimators.scores import r_squared
from fasthdmr._estimators.shapley import ShapleyValues
from fasthdmr._results.assembly import assemble
from fasthdmr._results.component import Component
from fasthdmr._results.decomposition import Decomposition
from fasthdmr._results.explanation import Explanation
from fasthdmr._results.explanations import Explanations, as_rows, explain, index_of
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._support.outputs import targets_of
from fasthdmr._support.subspaces import Subspace, as_variables, names_with_outputs
from fasthdmr._support.threads import n_threads
from fasthdmr._support.typing import Floats
from fasthdmr._support.warnings import remembered


class BaseHDMR(Incremental, Saving, OverviewMixin, TransformerMixin, RegressorMixin, ShapleyValues):  # type: ignore[misc]
    """Base class of the estimators, whose `fit` sets `decomposition_` and `feature_names_`."""

    decomposition_: Decomposition
    n_jobs: int | None

    # `out` is no metadata that a pipeline routes.
    __metadata_request__transform: ClassVar = {"out": UNUSED}
    __metadata_request__predict: ClassVar = {"out": UNUSED}

    @contextmanager
    def _restored_on_error(self) -> Iterator[None]:
        """Restore all attributes if `fit` fails: a mixture of two fits would give wrong results.

        If it does not fail, the warnings that it gave are kept.
        """
        before = dict(self.__dict__)
        try:
            with remembered() as messages:
                yield
            if "decomposition_" in vars(self):
                self.decomposition_ = replace(self.decomposition_, warnings=tuple(messages))
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def transform(self, X: Any, *, out: Floats | None = None) -> Floats:
        """Return the component functions at rows, as a matrix.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Rows of the variables, as in `fit`.
        out : ndarray of shape (N, C) or (N, C * K), float64, optional
            Takes the result, which is computed block by block: for results that do not fit into memory, a
            `numpy.memmap`. If an error is raised, some rows may have been written.

        Returns
        -------
        ndarray of shape (N, C) or (N, C * K)
            One column for each name of `get_feature_names_out`. With several outputs, the columns of one component
            are adjacent.

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
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> hdmr = fasthdmr.HDMR().fit(X, y)
        >>> hdmr.transform(X[:2]).shape
        (2, 6)
        """

        def matrix(X: Any) -> Floats:
            values = self.evaluate(X)
            return values.reshape(len(values), -1) if values.ndim == 3 else values

        return in_blocks(X, out, matrix)

    def evaluate(self, X: Any, *, out: Floats | None = None) -> Floats:
        """Return the component functions at rows, with a separate axis for several outputs.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Rows of the variables, as in `fit`.
        out : ndarray of shape (N, C) or (N, C, K), float64, optional
            Takes the result, which is computed block by block: for results that do not fit into memory, a
            `numpy.memmap`. If an error is raised, some rows may have been written.

        Returns
        -------
        ndarray of shape (N, C) or (N, C, K)
            Column c is the component of ``subspaces_[c]``.

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
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> hdmr = fasthdmr.HDMR().fit(X, y)
        >>> hdmr.evaluate(X[:2]).shape, len(hdmr.subspaces_)
        ((2, 6), 6)
        """

        def values(X: Any) -> Floats:
            rows = self._rows(X)
            return self.decomposition_.evaluate(rows, n_threads(self.n_jobs))

        return in_blocks(X, out, values)

    def predict(self, X: Any, *, out: Floats | None = None) -> Floats:
        """Return the truncated HDMR at rows: f_0 plus the components.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Rows of the variables, as in `fit`.
        out : ndarray of shape (N,) or (N, K), float64, optional
            Takes the result, which is computed block by block: for results that do not fit into memory, a
            `numpy.memmap`. If an error is raised, some rows may have been written.

        Returns
        -------
        ndarray of shape (N,) or (N, K)
            The sum, with one column for each output if there are several.

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
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> hdmr = fasthdmr.HDMR().fit(X, y)
        >>> total = hdmr.intercept_ + hdmr.evaluate(X).sum(axis=1)
        >>> bool(abs(hdmr.predict(X) - total).max() < 1e-12)
        True
        """

        def values(X: Any) -> Floats:
            rows = self._rows(X)
            return self.decomposition_.predict(rows, n_threads(self.n_jobs))

        return in_blocks(X, out, values)

    def residual(self, X: Any) -> Floats:
        """Return the output of the black box minus `predict` at rows.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Rows of the variables, as in `fit`.

        Returns
        -------
        ndarray of shape (N,) or (N, K)
            The residual of each output.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has another number of columns or other names, or values that the estimator does not accept. Also if
            the estimator decomposes y itself, because y is known at the fitted rows only.

        Examples
        --------
        >>> import fasthdmr
        >>> X, _ = fasthdmr.datasets.make_bilinear_gaussian(500, random_state=0)
        >>> hdmr = fasthdmr.HDMR(lambda X: X[:, 0] + X[:, 0] * X[:, 1]).fit(X)
        >>> bool(hdmr.residual(X).std() < 0.05)
        True
        """
        rows = self._rows(X)
        return self._black_box(X, rows) - self.decomposition_.predict(rows, n_threads(self.n_jobs))

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the R² of `predict` against y.

        For the R² against the output of the black box, use `fidelity`.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Rows of the variables, as in `fit`.
        y : array-like of shape (N,) or (N, K)
            Numbers. Class labels raise an error. So do whole numbers if the black box is a classifier, because its
            output is a score and cannot be compared with labels.
        sample_weight : array-like of shape (N,), optional
            Non-negative weights of the rows.

        Returns
        -------
        float
            At most 1; the mean over the outputs if there are several.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has another number of columns or other names, or values that the estimator does not accept. Also if y
            cannot be compared with the output.

        Examples
        --------
        >>> import fasthdmr
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> hdmr = fasthdmr.HDMR().fit(X, y)
        >>> new_X, new_y = fasthdmr.datasets.make_ishigami(500, random_state=1)
        >>> hdmr.score(new_X, new_y) > 0.9
        True
        """
        check_is_fitted(self)
        targets = self._targets_of(y)
        return r_squared(targets, self.predict(X), sample_weight)

    def fidelity(self, X: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the R² of `predict` against the output of the black box at rows.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Rows of the variables, as in `fit`.
        sample_weight : array-like of shape (N,), optional
            Non-negative weights of the rows.

        Returns
        -------
        float
            At most 1; the mean over the outputs if there are several.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has another number of columns or other names, or values that the estimator does not accept. Also if
            the estimator decomposes y itself, because y is known at the fitted rows only.

        Examples
        --------
        >>> import fasthdmr
        >>> X, _ = fasthdmr.datasets.make_bilinear_gaussian(500, random_state=0)
        >>> hdmr = fasthdmr.HDMR(lambda X: X[:, 0] + X[:, 0] * X[:, 1]).fit(X)
        >>> hdmr.fidelity(X) > 0.999
        True
        """
        rows = self._rows(X)
        prediction = self.decomposition_.predict(rows, n_threads(self.n_jobs))
        return r_squared(self._black_box(X, rows), prediction, sample_weight)

    def component(self, variables: Any) -> Component:
        """Return the component function of a subspace.

        Parameters
        ----------
        variables : int, str, or sequence of int or str
            The variables of the subspace, by indices or names.

        Returns
        -------
        Component
            A function of an array, whose columns are the variables in the order given here, or of a data frame.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If the variable or the component does not exist.

        Examples
        --------
        >>> import fasthdmr
        >>> X, _ = fasthdmr.datasets.make_bilinear_gaussian(500, random_state=0)
        >>> hdmr = fasthdmr.HDMR(lambda X: X[:, 0] + X[:, 0] * X[:, 1]).fit(X)
        >>> f_1 = hdmr.component("x0")
        >>> f_1([0.0, 1.0]).shape
        (2,)
        """
        check_is_fitted(self)
        return self.decomposition_.component(as_variables(variables, self.feature_names_))

    def explain(self, X: Any, *, output: int | str | None = None) -> Explanation | Explanations:
        """Explain one output of the black box as a sum of terms, for one row or for many.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n), or array-like of shape (n,) or Series
            The rows, or one row.
        output : int or str, optional
            Index or name of the output. Required if there are several outputs.

        Returns
        -------
        Explanation or Explanations
            The constant f_0, the components and the residual. For one row an `Explanation`, with the largest terms
            first; for several rows `Explanations`, which are a sequence of them. Both can be printed and drawn
            (method ``plot``). There is no residual if the estimator decomposes y itself, which is known at the
            fitted rows only.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has another number of columns or other names, or values that the estimator does not accept, or the
            output does not exist.

        Examples
        --------
        >>> import fasthdmr
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> hdmr = fasthdmr.TreeHDMR(smooth=False, random_state=0).fit(X, y)
        >>> explanation = hdmr.explain(X[0])
        >>> total = explanation.intercept + explanation.contributions.sum() + explanation.residual
        >>> bool(abs(total - explanation.output) < 1e-12)
        True
        >>> hdmr.explain(X[:3]).contributions.shape
        (3, 6)
        """
        check_is_fitted(self)
        given, is_one = as_rows(X, self._dtypes)
        codes = self._codes(given)
        rows = self._rows_from(given, codes)
        columns = self._encoding.columns(given, codes)
        box = self._black_box(given, rows) if self._has_black_box else None
        found = explain(self.decomposition_, rows, columns, box, output, n_threads(self.n_jobs), index_of(given))
        return found[0] if is_one else found

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : object, optional
            Ignored; scikit-learn passes it.

        Returns
        -------
        ndarray of str, shape (C,) or (C * K,)
            For example "x0" and "x0 & x1", or "x0 & x1[output]" with several outputs. They are distinct.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        """
        check_is_fitted(self)
        names, outputs = self.sensitivity_.names, self.decomposition_.output_names
        if outputs is None:
            return np.array(names, dtype=object)
        return np.array(names_with_outputs(names, outputs), dtype=object)

    @property
    def subspaces_(self) -> list[Subspace]:
        """The subspaces of the components."""
        return self._fitted.subspaces

    @property
    def components_(self) -> list[Component]:
        """The component functions."""
        return self._fitted.components

    @property
    def intercept_(self) -> float | Floats:
        """The constant f_0 of the decomposition."""
        return self._fitted.intercept

    @property
    def sensitivity_(self) -> Sensitivity:
        """The sensitivity indices."""
        return self._fitted.sensitivity

    @property
    def residual_(self) -> float | Floats:
        """The variance share of the residual, Cov(r, f) / V."""
        return self._fitted.residual

    @property
    def fidelity_unused_(self) -> float | Floats | None:
        """The leave-one-out R² of `predict` against the black box.

        A float or (K,), from at most 2,000 of the rows. None if the components are not projections on splines or bins.
        """
        fidelity = self._fitted.sensitivity.fidelity
        if fidelity is None:
            return None
        return float(fidelity.unused[0]) if self._fitted.output_names is None else fidelity.unused

    @property
    def coef_(self) -> Floats | list[Floats]:
        """The coefficients of the columns whose linear combination is the black box."""
        return self._fitted.coef

    @property
    def rank_(self) -> int | list[int] | None:
        """Numerical rank of the columns that components are projected on, including the constant.

        If it is less than the number of columns, the components are not unique. None if the components are unique:
        for splines and bins, whose projections have a ridge, and for the product measure, which needs no projection.
        """
        return self._fitted.rank

    @property
    def _has_black_box(self) -> bool:
        """Whether the black box can be evaluated at new rows."""
        return True

    def _black_box(self, X: Any, rows: NDArray[Any]) -> Floats:
        """Return the output of the black box at X; `rows` are its numbers."""
        return self.decomposition_.black_box(rows, n_threads(self.n_jobs))

    @property
    def _fitted(self) -> Decomposition:
        if "decomposition_" not in vars(self) and self._state is None:
            raise AttributeError(f"This {type(self).__name__} instance is not fitted yet.")
        decomposition: Decomposition = self.decomposition_
        return decomposition

    def _set_decomposition(
        self,
        dictionary: Dictionary,
        solutions: Sequence[Solution],
        *,
        models: Sequence[Any],
        **rest: Any,
    ) -> None:
        """Assemble the decomposition of the scores of models, or of y. Further arguments are those of `assemble`."""
        self.decomposition_ = assemble(
            dictionary,
            solutions,
            self._kept(),
            feature_names=self.feature_names_,
            levels=self._encoding.levels,
            groups=self._groups,
            targets=targets_of(models, self._target_names, len(solutions)),
            n_threads=n_threads(self.n_jobs),
            **rest,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
