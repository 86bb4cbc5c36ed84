"""HDMR of any fitted model or function, or of data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

from fasthdmr._data.frames import as_typed
from fasthdmr._dictionaries.black_box import Output
from fasthdmr._dictionaries.dictionary import Dictionary
from fasthdmr._dictionaries.models import allows_nan, names_of, outputs_scores
from fasthdmr._estimators.base import BaseHDMR
from fasthdmr._estimators.row_state import Part
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._spans.kinds import SPANS
from fasthdmr._spans.of_values import ValuesInSpans
from fasthdmr._spans.planning import SpanOptions
from fasthdmr._support.choices import IntervalMethod, Normalise, SpanBasis
from fasthdmr._support.optional import find
from fasthdmr._support.sample import Sample
from fasthdmr._support.scale import Deviations
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import check_model_names, is_frame, suggests_parameters
from fasthdmr._support.weights import check_ordinary_weights, check_weights


class HDMR(BaseHDMR):
    """High Dimensional Model Representation of any fitted model or function, or of data.

    The output, or y, is projected jointly on the spans of splines (or bins) of all subspaces up to `order`. The
    projection is decomposed into component functions, each orthogonal to the spans of all proper subsets of its
    variables. Without a model this is an interpretable (glass-box) regressor: `predict` is the sum of the components.

    Parameters
    ----------
    model : fitted estimator, callable or None
        What is decomposed: the `predict` of a regressor, the `decision_function` of a classifier or else its
        `predict_proba` (of two classes, that of the second), or a function of X, (N, n) to (N,) or (N, K). It gets a
        copy of the rows at each call, so it may overwrite them: of the data frame, if X is one. None: y itself.
    order : int
        The largest order of a component. Terms of higher order are part of the residual.
    interactions : list of subspaces, or None
        The subspaces of order 2 and more to keep, by indices or names. None: all, or only the strongest if the number
        of rows or memory does not allow all.
    basis : "spline" or "bins"
        B-splines and their tensor products, or indicators of quantile bins.
    degree : int
        Degree of the splines, 0 to 3. For a skewed variable, the splines are functions of its normal scores.
    n_splines : int, tuple of int or None
        Number of splines (or bins) per variable, in spans of order 1, 2, … None: the rule of `TreeHDMR`. Single
        variables get more if an additive fit needs them.
    categorical_features : "from_dtype", array-like of int, str or bool, or None
        The categorical variables. Each gets a span of indicators, one for each level; missing values are a level.
        "from_dtype": columns of dtype category, string, text, objects or boolean. Unlike in scikit-learn, this
        includes text and objects: a column of objects is numeric if it holds only numbers and missing values.
        Otherwise a mask, or the indices or names of columns, which may hold codes. None: no variable.
    feature_groups : dict of str to list of int or str, or None
        Columns that are one variable, such as ``{"place": ["Latitude", "Longitude"]}``. A group has a joint span, the
        tensor product of the splines of its columns, with as many of them per column as in a span of so many variables.
        Variables are numbered in the order of their first columns. A component takes the columns of a group in the
        order of the list.
    knots : array-like, data frame, Knots or None
        Rows from which the knots and sizes of spans, their ranges and levels are chosen, or the `knots_` of
        another estimator. Then `fit` keeps sums over its rows, to which `fasthdmr.merge` adds those of others.
        Without a model, they must be `knots_`. None: chosen from the rows of `fit`.
    normalise : "output" or "data"
        Whether indices are divided by the variance of the model's output or of y.
    ci : "jackknife" or "bootstrap"
        Method for confidence intervals and standard errors, which are computed at first access. "jackknife" uses
        derivatives; "bootstrap" solves again on 200 resamples, which takes longer.
    n_jobs : int or None
        Number of threads; None means 1. Results do not depend on it.
    verbose : int
        Whether to print which spans are used.

    Attributes
    ----------
    subspaces_, components_, intercept_, sensitivity_, residual_, feature_names_
        As for `TreeHDMR`; `rank_` is None.
    fidelity_unused_ : float or ndarray of shape (K,)
        Leave-one-out R² of `predict` against the model, or y, for the same ridge parameter.
    decomposition_ : Decomposition
    knots_ : Knots
        The knots and levels, if the estimator was fitted in parts or with `knots`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Specification, sections 3 and 4. The projection is joint, so components depend on `order`. It is a ridge regression
    with the penalty c/(N p) on the coefficients of a span of p columns. c is at least 0.5. It is larger if that lowers
    the generalised cross-validation score, summed over outputs, in which degrees of freedom count 1.5 times. With at
    most 3,000 rows all pairs are included.

    A component of two variables is not determined at pairs of values far from all rows. There it is evaluated at the
    nearest pair of values that occurs. All other components are evaluated at the row itself.

    Examples
    --------
    >>> import numpy as np
    >>> from fasthdmr import HDMR
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
    >>> hdmr = HDMR(lambda X: X[:, 0] + X[:, 0] * X[:, 1]).fit(X)
    >>> hdmr.subspaces_
    [(0,), (1,), (0, 1)]
    >>> bool(abs(hdmr.sensitivity_.S - [0.75, 0, 0.25]).max() < 0.02)
    True
    """

    @suggests_parameters
    def __init__(
        self,
        model: Any = None,
        *,
        order: int = 2,
        interactions: Any = None,
        basis: SpanBasis = "spline",
        degree: int = 3,
        n_splines: Any = None,
        categorical_features: Any = "from_dtype",
        feature_groups: Any = None,
        knots: Any = None,
        normalise: Normalise = "output",
        ci: IntervalMethod = "jackknife",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.order = order
        self.interactions = interactions
        self.basis = basis
        self.degree = degree
        self.n_splines = n_splines
        self.categorical_features = categorical_features
        self.feature_groups = feature_groups
        self.knots = knots
        self.normalise = normalise
        self.ci = ci
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Decompose the model, or y, under the measure of the rows.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n), or Batches
            Rows whose empirical distribution is the measure.
        y : array-like of shape (N,) or (N, K), optional
            Required without a model, and for `normalise="data"`.
        sample_weight : array-like of shape (N,), optional
            Non-negative weights of the rows.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is invalid, or the spans do not fit into memory. The message states the remedy.
        sklearn.exceptions.NotFittedError
            If the model is not fitted.

        Warns
        -----
        ConcurvityWarning
            If more than 0.93 of the variance of a main effect can be explained by functions of other variables. One
            warning names them all. The shares are in ``decomposition_.concurvity``.
        ResidualWarning
            If the residual is more than a tenth of the model's variance. The message states the remedy. (There is no
            warning for y itself, whose residual is mostly noise.)
        VariablesWarning
            If variables are left out, because there are hundreds of them. Those are kept that explain most of the
            output on a coarse grid, more than by chance, and the strongest pairs of them.
        PairsWarning
            If only pairs are left out.
        ConstantWarning
            If the output is constant.
        """
        return self._fit(X, y, sample_weight)

    def _first_part(self, X: Any, y: Any, sample_weight: Any) -> Part:
        rows, y, weights = self._check(X, y, sample_weight)
        return self._part(X, rows, y, weights)

    def _next_part(self, strategy: ValuesInSpans, X: Any, y: Any, sample_weight: Any) -> Part:
        rows = self._codes(X, all_known=True)
        y = self._check_y(rows, y, numeric=True, needed_for=self._needed_for)
        return self._part(X, rows, y, check_ordinary_weights(sample_weight, rows))

    def _part(self, X: Any, rows: NDArray[Any], y: Any, weights: Floats | None) -> Part:
        strategy = self._strategy(self._as_given(X, rows), y)
        targets = None if y is None else y.reshape(len(y), -1)
        return Part(strategy, replace(self._problem_of(rows, weights), targets=targets), rows, strategy.columns)

    def _check(self, X: Any, y: Any, sample_weight: Any) -> tuple[NDArray[Any], Any, Floats | None]:
        """Check parameters and data, and set the names of the variables. Return rows, y and weights."""
        self._check_common()
        if self.order is None:
            raise ValueError("order must be a positive integer, got None. Only TreeHDMR and KernelHDMR accept None.")
        self._check_basis(SPANS)
        self._outputs_scores = self.model is not None and outputs_scores(self.model)
        X = self._encode(X, sample_weight)
        X, y = self._check_data(X, y, numeric=True, needed_for=self._needed_for)
        weights = check_weights(sample_weight, X)
        given, of_model = getattr(self, "feature_names_in_", None), names_of(self.model)
        check_model_names(given, of_model)
        names = of_model if given is None else given
        self._set_names(tuple(f"x{i}" for i in range(X.shape[1])) if names is None else tuple(map(str, names)))
        return X, y, weights

    def _without_rows(self, strategy: ValuesInSpans) -> ValuesInSpans:
        return replace(strategy, values=strategy.values[:1].copy())

    @property
    def _needed_for(self) -> str:
        """What y is needed for, "" if it is not."""
        if self.model is None:
            return "HDMR without a model"
        return "normalise='data'" if self.normalise == "data" else ""

    def _needs_y(self) -> bool:
        return bool(self._needed_for)

    def _has_fitted_models(self) -> bool:
        return True

    def _columns_in_use(self) -> set[int]:
        return set(range(len(self._column_names)))

    def _as_given(self, X: Any, rows: NDArray[Any]) -> Any:
        """Return X as the black box takes it: a data frame, or an array of its numbers or levels."""
        if is_frame(X):
            return X
        if self._dtypes is not None and (pandas := find("pandas")) is not None:
            return as_typed(pandas.DataFrame(X, columns=self._dtypes.index, dtype=object), self._dtypes)
        if not self._encoding.levels:
            return rows
        return X if isinstance(X, np.ndarray) else np.array(X, dtype=object)

    @property
    def _has_black_box(self) -> bool:
        return self._output is not None

    def _black_box(self, X: Any, rows: NDArray[Any]) -> Floats:
        if self._output is None:
            return super()._black_box(X, rows)
        return self._output(self._as_given(X, rows))

    def _strategy(self, X: Any, y: Any) -> ValuesInSpans:
        self._output = None if self.model is None else Output(self.model)
        values = y if self._output is None else self._output(X)
        return ValuesInSpans(self._output, values, SpanOptions(self.basis, self.degree, self.n_splines))

    def _assemble(
        self,
        strategy: ValuesInSpans,
        sample: Sample,
        data: Deviations | None,
        dictionary: Dictionary,
        solutions: Sequence[Solution],
    ) -> None:
        output = strategy.output
        self._set_decomposition(
            dictionary,
            solutions,
            models=[] if output is None else [output.model],
            data=data,
            output_names=None if strategy.values.ndim == 1 else tuple(f"y{k}" for k in range(len(solutions))),
            sample=sample,
            ci=self.ci,
            remedy=None if output is None else self._remedy,
            unit="" if output is None else output.unit,
        )

    def _remedy(self) -> str:
        """Return the advice of the warning about a large residual."""
        remedies = ["a higher `order`"] if self.order < len(self.feature_names_) else []
        if self.interactions is not None:
            remedies.append("more `interactions`")
        return " or ".join([*remedies, "a larger `n_splines`, with more rows,"])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.model is None
        tags.target_tags.multi_output = self.model is None
        tags.input_tags.allow_nan = self.model is None or allows_nan(self.model)
        return tags
