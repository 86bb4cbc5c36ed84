"""What all estimators share once they are fitted: the scikit-learn face of a `Decomposition`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.metrics import r2_score
from sklearn.utils import Tags, check_array, column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from fasthdmr._dictionaries.dictionary import Dictionary
from fasthdmr._results.decomposition import Component, Decomposition, assemble
from fasthdmr._results.explanation import Explanation, as_row, explain
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._solve.problem import Kept, Problem
from fasthdmr._spans.kinds import BasisKind
from fasthdmr._support.numbers import as_floats, check_numbers
from fasthdmr._support.scale import CONSTANT, Deviations, check_size
from fasthdmr._support.subspaces import Subspace, as_subspace, as_variables
from fasthdmr._support.threads import n_threads
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import check_kind, check_names
from fasthdmr._support.weights import check_weights
from fasthdmr._uncertainty.bootstrap import KINDS

MAX_DEGREE = 3
_LABELS = (
    "Class labels are no output of a model: use fidelity(X) to compare with the model itself (TreeHDMR: combine='sum' "
    "to decompose it as it is)."
)


class BaseHDMR(TransformerMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators; they set `decomposition_` and `feature_names_` in `fit`."""

    decomposition_: Decomposition
    feature_names_: tuple[str, ...]
    n_jobs: int | None
    _is_scored = False  # whether the output of the black box is a score, where y are labels

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Leave the estimator as it was where a fit does not come to its end: half of two fits fits nothing."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def transform(self, X: Any) -> Floats:
        """Return the component functions at rows, as a matrix.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Rows of the variables, as in `fit`.

        Returns
        -------
        ndarray of shape (N, C) or (N, C * K)
            One column for each name of `get_feature_names_out`; with several outputs, those of a component are
            neighbours.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has another number of columns or other names, or values that the estimator does not accept.

        Examples
        --------
        >>> import fasthdmr
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> hdmr = fasthdmr.HDMR().fit(X, y)
        >>> hdmr.transform(X[:2]).shape
        (2, 6)
        """
        values = self.evaluate(X)
        return values.reshape(len(values), -1) if values.ndim == 3 else values

    def evaluate(self, X: Any) -> Floats:
        """Return the component functions at rows, with an axis of their own for several outputs.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Rows of the variables, as in `fit`.

        Returns
        -------
        ndarray of shape (N, C) or (N, C, K)
            Column c is the component of ``subspaces_[c]``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has another number of columns or other names, or values that the estimator does not accept.

        Examples
        --------
        >>> import fasthdmr
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> hdmr = fasthdmr.HDMR().fit(X, y)
        >>> hdmr.evaluate(X[:2]).shape, len(hdmr.subspaces_)
        ((2, 6), 6)
        """
        rows = self._rows(X)
        return self.decomposition_.evaluate(rows, n_threads(self.n_jobs))

    def predict(self, X: Any) -> Floats:
        """Return the reduced-order model at rows: f_0 plus the components.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Rows of the variables, as in `fit`.

        Returns
        -------
        ndarray of shape (N,) or (N, K)
            The sum; with several outputs, one column for each.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has another number of columns or other names, or values that the estimator does not accept.

        Examples
        --------
        >>> import fasthdmr
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> hdmr = fasthdmr.HDMR().fit(X, y)
        >>> total = hdmr.intercept_ + hdmr.evaluate(X).sum(axis=1)
        >>> bool(abs(hdmr.predict(X) - total).max() < 1e-12)
        True
        """
        rows = self._rows(X)
        return self.decomposition_.predict(rows, n_threads(self.n_jobs))

    def residual(self, X: Any) -> Floats:
        """Return the output of the black box minus `predict` at rows.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Rows of the variables, as in `fit`.

        Returns
        -------
        ndarray of shape (N,) or (N, K)
            What the components leave over.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has another number of columns or other names, or values that the estimator does not accept. If the
            black box is y itself, which is known at the fitted rows only.

        Examples
        --------
        >>> import fasthdmr
        >>> X, _ = fasthdmr.datasets.make_bilinear_gaussian(500, random_state=0)
        >>> hdmr = fasthdmr.HDMR(lambda X: X[:, 0] + X[:, 0] * X[:, 1]).fit(X)
        >>> bool(hdmr.residual(X).std() < 0.05)
        True
        """
        rows = self._rows(X)
        threads = n_threads(self.n_jobs)
        return self.decomposition_.black_box(rows, threads) - self.decomposition_.predict(rows, threads)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the R² of `predict` against y.

        `fidelity` compares with the output of the black box instead.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Rows of the variables, as in `fit`.
        y : array-like of shape (N,) or (N, K)
            Numbers. Class labels are refused, and whole numbers too if the black box is a classifier: its output is a
            score, which is not comparable with labels.
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
            If X has another number of columns or other names, or values that the estimator does not accept. If y does
            not hold numbers that the output can be compared with.

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
            If X has another number of columns or other names, or values that the estimator does not accept. If the
            black box is y itself, which is known at the fitted rows only.

        Examples
        --------
        >>> import fasthdmr
        >>> X, _ = fasthdmr.datasets.make_bilinear_gaussian(500, random_state=0)
        >>> hdmr = fasthdmr.HDMR(lambda X: X[:, 0] + X[:, 0] * X[:, 1]).fit(X)
        >>> hdmr.fidelity(X) > 0.999
        True
        """
        rows = self._rows(X)
        threads = n_threads(self.n_jobs)
        box, model = self.decomposition_.black_box(rows, threads), self.decomposition_.predict(rows, threads)
        return r_squared(box, model, sample_weight)

    def component(self, variables: Any) -> Component:
        """Return the component function of a subspace.

        Parameters
        ----------
        variables : int, str, or sequence of int or str
            The variables of the subspace, by indices or names.

        Returns
        -------
        Component
            Called with values of the variables, in the order in which they are given here, or a data frame of them.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If there is no such variable or component.

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

    def explain(self, x: Any, *, output: int | str | None = None) -> Explanation:
        """Return the terms that add up to the output of the black box at one row, by falling magnitude.

        Parameters
        ----------
        x : array-like of shape (n,) or (1, n), one-row data frame, or Series
            The row.
        output : int or str, optional
            Index or name of the output; needed where there are several.

        Returns
        -------
        Explanation
            The constant f_0, the components at `x` and the residual. It can be printed, and has a method ``plot``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If `x` is not one row of the variables, or `output` none of the outputs.

        Examples
        --------
        >>> import fasthdmr
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> hdmr = fasthdmr.TreeHDMR(smooth=False, random_state=0).fit(X, y)
        >>> explanation = hdmr.explain(X[0])
        >>> total = explanation.intercept + explanation.contributions.sum() + explanation.residual
        >>> bool(abs(total - explanation.output) < 1e-12)
        True
        """
        row = self._rows(as_row(x))
        return explain(self.decomposition_, row, output, n_threads(self.n_jobs))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : object, optional
            Ignored; scikit-learn passes it.

        Returns
        -------
        ndarray of str, shape (C,) or (C * K,)
            Such as "x0" and "x0 x1"; with several outputs "x0 x1[output]".

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        """
        check_is_fitted(self)
        names, outputs = self.sensitivity_.names, self.decomposition_.output_names
        if outputs is None:
            return np.array(names, dtype=object)
        return np.array([f"{name}[{output}]" for name in names for output in outputs], dtype=object)

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
        """The residual as a share of the variance, Cov(r, f) / V."""
        return self._fitted.residual

    @property
    def fidelity_unused_(self) -> float | Floats | None:
        """The leave-one-out R² of `predict` against the black box.

        A float or (K,), on at most 2,000 of the rows. None where components are no projections on splines or bins.
        """
        fidelity = self._fitted.sensitivity.fidelity
        if fidelity is None:
            return None
        return float(fidelity.unused[0]) if self._fitted.output_names is None else fidelity.unused

    @property
    def coef_(self) -> Floats | list[Floats]:
        """The coefficients of the columns that the model is made of."""
        return self._fitted.coef

    @property
    def rank_(self) -> int | list[int] | None:
        """Numerical rank of the columns that are the spans, the constant included.

        If it is less than their number, components are not unique. None where spans have a ridge (splines and bins),
        or where there are none (the product measure): components are unique then.
        """
        return self._fitted.rank

    @property
    def _fitted(self) -> Decomposition:
        if "decomposition_" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} instance is not fitted yet.")
        decomposition: Decomposition = self.decomposition_
        return decomposition

    def _interactions(self) -> set[Subspace]:
        """Return the subspaces that the parameter `interactions` chooses."""
        given, example = self.interactions, f"such as [{self.feature_names_[:2]!r}]"
        # An iterator would be empty when it is asked for the second time.
        if not isinstance(given, Collection | np.ndarray) or isinstance(given, str | bytes | Mapping):
            raise ValueError(f"interactions must be None or a list of subspaces, {example}, got {given!r}.")
        chosen = set()
        for variables in given:
            u = as_subspace(variables, self.feature_names_, what="interactions")
            if len(u) < 2:
                raise ValueError(
                    f"interactions must be a list of subspaces of two or more variables, {example}, got {variables!r} "
                    "in it. Components of one variable are always kept."
                )
            if self.order is not None and len(u) > self.order:
                raise ValueError(f"interactions has {variables!r}, of order {len(u)}, but order={self.order}.")
            chosen.add(u)
        return chosen

    def _kept(self) -> Kept:
        """Return which components are kept."""
        chosen = getattr(self, "interactions", None)
        return Kept(self.order, None if chosen is None else frozenset(self._interactions()))

    def _set_decomposition(
        self, problem: Problem, dictionary: Dictionary, solutions: Sequence[Solution], **rest: Any
    ) -> None:
        """Put the solutions together (further arguments as for `assemble`)."""
        data = None
        if self.normalise == "data":
            assert problem.targets is not None
            data = Deviations.of(problem.targets, problem.weights)
        self.decomposition_ = assemble(
            dictionary, solutions, problem.kept, feature_names=self.feature_names_, data=data, **rest
        )

    def _check_common(self) -> None:
        """Check the parameters that estimators with splines have."""
        self._check_kept()
        degree = self.degree
        if not isinstance(degree, int | np.integer) or not 0 <= degree <= MAX_DEGREE:
            raise ValueError(f"degree must be an integer from 0 to {MAX_DEGREE}, got {degree!r}.")

    def _check_basis(self, kinds: Mapping[str, BasisKind]) -> None:
        if self.basis not in list(kinds):
            *others, last = map(repr, kinds)
            raise ValueError(f"basis must be {', '.join(others)} or {last}, got {self.basis!r}.")

    def _check_kept(self) -> None:
        """Check the parameters that all estimators have."""
        order, normalise = self.order, self.normalise
        check_kind(self.ci, list(KINDS), name="ci")
        if normalise not in ("output", "data"):
            raise ValueError(f"normalise must be 'output' or 'data', got {normalise!r}.")
        if order is not None and (not isinstance(order, int | np.integer) or order < 1):
            raise ValueError(f"order must be a positive integer or None, got {order!r}.")

    def _targets_of(self, y: Any) -> Floats:
        """Return y as numbers that the output of the black box can be compared with."""
        check_numbers(y, "y", remedy=_LABELS)
        targets = as_floats(y, "y")
        if self._is_scored and np.array_equal(targets, np.round(targets)):
            raise ValueError(
                f"y holds whole numbers, but the output of the black box is a classifier's score. {_LABELS}"
            )
        return targets

    def _check_data(
        self, X: Any, y: Any, *, numeric: bool, needed_for: str = "", labels: bool = False
    ) -> tuple[NDArray[Any], Any]:
        """Return X, and y where it is given, checked.

        `numeric` says whether y has to become floating point, `needed_for` who cannot do without it, `labels` whether
        it may be text.
        """
        if y is None and needed_for:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None. "
                f"It is needed for {needed_for}."
            )
        check_numbers(X, "X")
        X = self._validated(X, reset=True)
        if y is None:
            return X, None
        check_numbers(y, "y", labels=labels and not numeric, remedy=_LABELS)
        if self.normalise == "data":
            self._targets_of(y)
        with np.errstate(invalid="ignore"):  # the check for finite values adds them up, which may overflow
            y = check_array(y, ensure_2d=False, dtype=np.float64 if numeric else None, input_name="y")
        if numeric:
            check_size(y, "y")
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        return X, y

    def _rows(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        check_numbers(X, "X")
        if not hasattr(self, "feature_names_in_"):  # the names may be those of the model
            check_names(X, self.feature_names_, may_be_unnamed=True)
        return self._validated(X, reset=False)

    def _validated(self, X: Any, *, reset: bool) -> NDArray[Any]:
        with np.errstate(invalid="ignore"):  # as for y
            rows: NDArray[Any] = validate_data(
                self, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=self._finite()
            )
        return rows

    def _finite(self) -> bool | str:
        return "allow-nan" if self.__sklearn_tags__().input_tags.allow_nan else True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def r_squared(y: Any, prediction: Floats, sample_weight: Any) -> float:
    """Return scikit-learn's R², whose squares it takes of numbers near one; a constant hit but for rounding is hit."""
    if sample_weight is not None:
        check_numbers(sample_weight, "sample_weight")
    values = np.asarray(y)
    weights = None if sample_weight is None else check_weights(sample_weight, prediction)
    if values.dtype.kind == "f" and values.shape == prediction.shape and np.isfinite(values).all():
        given, fitted = values.reshape(len(values), -1), prediction.reshape(len(values), -1)
        target = Deviations.of(given, weights)
        mean, constant = target.mean, target.is_constant
        is_hit = constant & (np.abs(fitted - mean) <= CONSTANT * np.abs(mean)).all(axis=0)
        y = np.where(constant, 0.0, given) / target.scale
        prediction = np.where(is_hit, 0.0, fitted - np.where(constant, mean, 0.0)) / target.scale
    return float(r2_score(y, prediction, sample_weight=weights))
