"""HDMR: of any fitted model or function, or of data."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted

from fasthdmr._models import allows_nan, is_scored, kind_of_model, names_of
from fasthdmr._numbers import check_numbers
from fasthdmr._optional import find
from fasthdmr._progress import rows_progress
from fasthdmr._scale import Deviations, check_size
from fasthdmr._threads import n_threads
from fasthdmr._validation import check_model_names, suggests_parameters
from fasthdmr._weights import check_weights
from fasthdmr.base import BaseHDMR
from fasthdmr.decomposition import assemble
from fasthdmr.dictionary import Subspace, embed
from fasthdmr.sample import Sample
from fasthdmr.span_fit import RIDGE, SpanDictionary, solve_values
from fasthdmr.span_plan import as_sizes, plan_spans, screen_pairs, screened_rows
from fasthdmr.span_sizes import main_sizes, rows_for_sizes
from fasthdmr.spans import closure, informative_rows, make_basis
from fasthdmr.support import Support

Floats = NDArray[np.float64]

_MAX_SUBSPACES = 100_000


class HDMR(BaseHDMR):
    """High Dimensional Model Representation of any fitted model or function, or of data.

    The output, or y, is projected jointly on the spans of splines (or bins) of all subspaces up to `order`; the result
    is taken apart into components, each orthogonal to the spans of all proper subsets of its variables. Without a
    model this is a glass-box regressor: `predict` is the sum of the components.

    Parameters
    ----------
    model : fitted estimator, callable or None
        A regressor's `predict`, a classifier's `decision_function` or else `predict_proba` (of the second class, for
        two), or a function of X, (N, n) to (N,) or (N, K), which gets a copy of the rows at each call and may write
        into it. None: y itself.
    order : int
        The largest order of a component; the rest is the residual.
    interactions : list of subspaces, or None
        The subspaces of order 2 and more to keep, by indices or names. None: all, or the strongest that fit with the
        rows and with memory.
    basis : "spline" or "bins"
    degree : int
        Of the splines, 0 to 3. Splines of a skewed variable are those of its normal scores.
    n_splines : int, tuple of int or None
        Splines (or bins) of a variable, in spans of order 1, 2, …; None: `fasthdmr.spans.default_size`.
    normalise : "output" or "data"
        Whether indices are divided by the variance of the model's output or of y.
    ci : "jackknife" or "bootstrap"
        What intervals and standard errors come from, when first asked for: derivatives, or 200 solutions on rows drawn
        with replacement, which take longer (`fasthdmr.bootstrap`).
    n_jobs : int or None
        Threads; None means 1. Results do not depend on it.
    verbose : int
        Whether to print what spans are used.

    Attributes
    ----------
    subspaces_, components_, intercept_, sensitivity_, residual_, rank_, feature_names_
        As for `TreeHDMR`.
    fidelity_unused_ : float or ndarray of shape (K,)
        R² of `predict` against the model, or y, at rows that were not used, by leave-one-out with the same ridge.
    decomposition_ : Decomposition

    Notes
    -----
    Specification, sections 3 and 4. Components depend on `order`: the projection is joint, with a ridge of c/(N p) on
    the coefficients of a span of p columns. c is at least 0.5, and more where that lowers the generalised
    cross-validation (degrees of freedom counted 1.5 times, summed over outputs). Of up to 3,000 rows all pairs are in.

    Where two variables take no values together, their component is unknown. There it is evaluated at the nearest place
    with rows (`fasthdmr.support.Support`); other components are evaluated at the row as it is.

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
        basis: str = "spline",
        degree: int = 3,
        n_splines: Any = None,
        normalise: str = "output",
        ci: str = "jackknife",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.order = order
        self.interactions = interactions
        self.basis = basis
        self.degree = degree
        self.n_splines = n_splines
        self.normalise = normalise
        self.ci = ci
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Decompose the model, or y, under the measure of the rows.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
        y : array-like of shape (N,) or (N, K), optional
            Needed without a model, and for `normalise="data"`.
        sample_weight : array-like of shape (N,), optional
            Non-negative weights of the rows.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter does not fit, or the spans do not fit into memory; the message says what to do.
        sklearn.exceptions.NotFittedError
            If the model is not fitted.

        Warns
        -----
        ConcurvityWarning
            If what a variable does can be written in others to a share above .93: once, with their names. All shares
            are in ``decomposition_.concurvity``.
        ResidualWarning
            If the components leave over more than a tenth of the model's variance: once, with what would lower it. (Of
            y itself that is mostly noise.)
        PairsWarning
            If pairs are left out.
        ConstantWarning
            If the output is constant.
        """
        with self._whole():
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> None:
        self._check_common()
        if self.order is None:
            raise ValueError("order must be a positive integer, got None: a function has no order of its own.")
        if self.basis not in ("spline", "bins"):
            raise ValueError(f"basis must be 'spline' or 'bins', got {self.basis!r}.")
        needed_for = "HDMR without a model" if self.model is None else ""
        needed_for = needed_for or ("normalise='data'" if self.normalise == "data" else "")
        self._is_scored = self.model is not None and is_scored(self.model)
        X, y = self._check_data(X, y, numeric=True, needed_for=needed_for)
        weights = check_weights(sample_weight, X)
        given, of_model = getattr(self, "feature_names_in_", None), names_of(self.model)
        check_model_names(given, of_model)
        names = of_model if given is None else given
        self.feature_names_ = tuple(f"x{i}" for i in range(X.shape[1])) if names is None else tuple(map(str, names))
        chosen = None if self.interactions is None else self._interactions()
        output = None if self.model is None else Output(self.model)
        values = y if output is None else output(X)
        one = values.ndim == 1
        values = np.asfortranarray(values.reshape(len(X), -1), dtype=np.float64)
        basis = self._basis(X, values, weights, chosen)
        with rows_progress(len(X), "rows of the spans", verbose=self.verbose):
            solutions, regression = solve_values(X, weights, basis, values, n_threads=n_threads(self.n_jobs))
        given = FunctionDictionary(output, X.shape[1])
        support = Support.of(X, weights, basis)
        dictionary = SpanDictionary(given, [1] * values.shape[1], basis, regression, support)
        self.decomposition_ = assemble(
            dictionary,
            solutions,
            lambda u: chosen is None or len(u) == 1 or u in chosen,
            feature_names=self.feature_names_,
            output_names=None if one else tuple(f"y{k}" for k in range(values.shape[1])),
            data=Deviations.of(y.reshape(len(y), -1), weights) if self.normalise == "data" else None,
            sample=Sample.of(X, weights, values),
            ci=self.ci,
            remedy=None if output is None else lambda: self._remedy(X.shape[1]),
        )

    def _remedy(self, n_features: int) -> str:
        """Return what lowers the residual."""
        remedies = ["a higher `order`"] if self.order < n_features else []
        if self.interactions is not None:
            remedies.append("more `interactions`")
        return " or ".join([*remedies, "a larger `n_splines`, with more rows,"])

    def _basis(self, X: NDArray[Any], values: Floats, weights: Floats | None, chosen: set[Subspace] | None) -> Any:
        n, order = X.shape[1], min(self.order, X.shape[1])
        if chosen is None:
            count = sum(comb(n, t) for t in range(1, order + 1))
            if count > _MAX_SUBSPACES:
                raise ValueError(
                    f"order={self.order} of {n} variables makes {count:,} spans; at most {_MAX_SUBSPACES:,} are "
                    "looked at. Lower `order`, or choose subspaces with `interactions`."
                )
            touched = closure([tuple(range(n))], order)
        else:
            touched = [(j,) for j in range(n)] + sorted(chosen)
        rows = screened_rows(len(X))

        def strength(pairs: list[Subspace]) -> Floats:
            part = None if weights is None else weights[rows]
            return screen_pairs(X[rows], part, values[rows], pairs, self.degree)

        plan = plan_spans(
            touched,
            informative_rows(X, weights),
            order,
            basis=self.basis,
            degree=self.degree,
            n_splines=as_sizes(self.n_splines, order),
            joint=True,
            chosen=chosen is not None,
            strength=strength,
        )
        if self.verbose:
            print(f"[HDMR] {len(plan.subspaces)} spans, sizes {plan.sizes}")
        main: dict[int, int] = {}
        if self.basis == "spline" and self.n_splines is None:
            some = rows_for_sizes(len(X))
            part = None if weights is None else weights[some]
            single = [u[0] for u in plan.subspaces if len(u) == 1]
            main = main_sizes(X[some], part, values[some], single, plan.sizes[0], self.degree, RIDGE)
        degree = 0 if self.basis == "bins" else self.degree
        return make_basis(X, weights, plan.subspaces, plan.sizes, degree=degree, main_sizes=main)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.model is None
        tags.target_tags.multi_output = self.model is None
        tags.input_tags.allow_nan = self.model is None or allows_nan(self.model)
        return tags


OUTPUTS = ("decision_function", "predict_proba", "predict")
"""The methods whose values are a model's output: the first that it has."""

_NO_OUTPUT = {
    "clusterer": "its predict gives numbers of clusters, whose averages mean nothing. Pass a function of X, such as a "
    "column of model.transform: the distance to a centre",
    "classifier": "it has neither decision_function nor predict_proba, and its predict gives labels, whose averages "
    "mean nothing. Pass a function of X that returns a score",
}


class Output:
    """The raw output of a fitted model or function, as numbers.

    Parameters
    ----------
    model : fitted estimator or callable
    methods : sequence of str
        The names of methods that give the output, the first that the model has; a model without any is called.

    Attributes
    ----------
    method : str
        The method that is used, "" for a function.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If its output is labels.
    sklearn.exceptions.NotFittedError
        If it is an estimator that is not fitted.

    Notes
    -----
    Functions, and models with steps of the kind of ``StandardScaler(copy=False)``, may write into what they are given.
    They get a copy at each call. A view that cannot be written to would not do: such functions would fail, and so would
    compiled ones that ask for a writable buffer, though they never write.
    """

    def __init__(self, model: Any, methods: Sequence[str] = OUTPUTS) -> None:
        if not hasattr(model, "predict"):
            if not callable(model):
                raise TypeError(f"model must be a fitted estimator or a function of X, got {type(model).__name__}.")
        elif hasattr(model, "fit"):
            check_is_fitted(model)
        self.model = model
        self.method = next((name for name in methods if hasattr(model, name)), "")
        kind = kind_of_model(model)
        if self.method == "predict" and kind in _NO_OUTPUT:
            raise ValueError(
                f"model must be a fitted regressor or classifier with scores, got {type(model).__name__}, a {kind}: "
                f"{_NO_OUTPUT[kind]}."
            )

    def __call__(self, X: Any) -> Floats:
        """Return (N,) or (N, K)."""
        function = getattr(self.model, self.method) if self.method else self.model
        found = function(self._as_fitted(X))
        check_numbers(found, "the model's output", remedy="Pass a function of X that returns numbers.")
        with np.errstate(invalid="ignore"):  # the check for finite values adds them up, which may overflow
            # A copy: a function may return the same array at each call, with other values.
            values = check_array(found, ensure_2d=False, dtype=np.float64, copy=True, input_name="the model's output")
        if values.shape[0] != len(X) or values.ndim > 2:
            raise ValueError(
                f"The model's output must have shape (N,) or (N, K), got {values.shape} for {len(X)} rows."
            )
        check_size(values, "The model's output")
        if hasattr(self.model, "predict_proba") and values.ndim == 2 and values.shape[1] == 2:
            values = values[:, 1]
        result: Floats = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
        return result

    def _as_fitted(self, X: Any) -> Any:
        """Return a copy of the rows, with their names where the model was fitted with names and pandas is there."""
        if hasattr(X, "clone"):
            return X.clone()
        if not isinstance(X, np.ndarray):
            return X.copy()
        names = getattr(self.model, "feature_names_in_", None)
        pandas = None if names is None or len(names) != X.shape[1] else find("pandas")
        return X.copy(order="K") if pandas is None else pandas.DataFrame(X, columns=names, copy=True)


class FunctionDictionary:
    """The one column of a black box that is known by its values only.

    Parameters
    ----------
    output : Output or None
        None: the black box is data, and has no values at new rows.
    n_features : int
    """

    def __init__(self, output: Output | None, n_features: int) -> None:
        self.output = output
        self.n_features = n_features

    def evaluate(self, rows: Any, output: int, weights: csc_array, n_threads: int) -> Floats:
        """Return (1, f) at the rows times weights, (N, C)."""
        if self.output is None:
            raise ValueError("There is no black box: it is y itself. Compare y with predict(X), or use score(X, y).")
        values = self.output(rows).reshape(len(rows), -1)[:, output]
        result: Floats = np.column_stack([np.ones(len(rows)), values]) @ weights
        return result

    def embed(self, subspace: Sequence[int], values: Floats) -> Floats:
        """Return rows with the given values; the other variables, on which nothing depends, are 0."""
        return embed(subspace, values, self.n_features)
