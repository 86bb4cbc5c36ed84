"""TreeHDMR: the HDMR of tree ensembles."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.metrics import r2_score
from sklearn.utils import Tags, check_array, column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from fasthdmr import _core
from fasthdmr._threads import n_threads
from fasthdmr._weights import check_weights
from fasthdmr.decomposition import Component, Decomposition, assemble
from fasthdmr.dictionary import Subspace, TreeDictionary, as_subspace
from fasthdmr.forest import Forest
from fasthdmr.hierarchy import Solution, solve
from fasthdmr.members import as_members, fit_member, is_fitted, load_members, sample_bounds, variable_names
from fasthdmr.ridge import DEFAULT_ALPHAS, cross_validate, fold_numbers, ridge_path
from fasthdmr.sensitivity import Sensitivity

Floats = NDArray[np.float64]

_LABELS = (
    "y holds text, and {what} needs numbers to compare the model's output with. Class labels are no output of a "
    "tree: use fidelity(X) to compare with the model itself, and combine='sum' to decompose it as it is."
)


class TreeHDMR(TransformerMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """High Dimensional Model Representation of tree ensembles.

    The output f of one model, or of a linear combination of several, is written as f_0 + sum f_u(x_u) over subspaces
    u of the variables, each component function orthogonal to the columns of all proper subsets of u, also when the
    variables are correlated. The rows passed to `fit` are the measure; they need not be training rows.

    Parameters
    ----------
    estimators : tree model, list of them, or None
        What `fasthdmr.load_forest` takes, fitted (used as they are, never changed) or not (cloned and fitted on X, y).
        None: the paper's I_3, three gradient boosting regressors of depth 1, 2 and 3, 100 trees each.
    order : int or None
        The largest order of a component; the rest is the residual. None: whatever the trees have.
    interactions : list of subspaces, or None
        The subspaces of order 2 and more to keep, by indices or names. None: those that occur.
    basis : "trees"
        The spans that components are orthogonal to: the tree columns themselves, as in the paper.
    combine : "auto", "sum" or "ridge"
        "sum": the models as they are, added up. "ridge": coefficients of all tree columns against y. "auto": "sum" for
        one model, "ridge" for several or None.
    alphas : array-like, float or None
        Penalties to choose from for "ridge", on sums of squares of centred, unscaled columns. None: 11 values
        from 1e-6 to 1e4. (The trees have seen the rows, so cross-validation tends to choose small ones.)
    cv : int, splitter or iterable
        For "ridge": K puts row i into fold i mod K; the test sets of a splitter must partition the rows.
    normalise : "output" or "data"
        Whether indices are divided by the variance of the model's output or of y.
    n_jobs : int or None
        Threads; None means 1. Results do not depend on it.
    random_state : int, RandomState or None
        For the models that `estimators=None` stands for.
    verbose : int
        Whether to print how long each stage took.

    Attributes
    ----------
    subspaces_ : list of tuple of int, length C
        The subspaces of the components, sorted by order; the constant is none of them.
    components_ : list of Component
    intercept_ : float or ndarray of shape (K,)
        f_0. Here and below, K is the number of outputs where there are several.
    sensitivity_ : Sensitivity
        Sa, Sb, S of the components; ST, R of the variables; tables and level sets.
    residual_ : float or ndarray of shape (K,)
        What the components leave over, Cov(r, f)/V.
    coef_ : ndarray of shape (b,), or list of K of them
        The coefficients beta of the tree columns (one for each model and subspace, by subspace).
    alpha_ : float, ndarray of shape (K,), or None
        The penalty that was chosen, for "ridge".
    rank_ : int or list of int
        Numerical rank of the tree columns and the constant.
    forests_ : list of Forest
    estimators_ : list
        The fitted models.
    decomposition_ : Decomposition
    feature_names_ : tuple of str
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Paper, section "Decision trees"; specification, sections 3 and 4. If a model has no trees on a variable alone, its
    main effect has no span and hides in the interactions (specification 4, "The trap"): combine models of depth 1, 2,
    … as the default does.

    Examples
    --------
    >>> import numpy as np
    >>> from fasthdmr import TreeHDMR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> y = X[:, 0] + 2 * X[:, 1] + X[:, 0] * X[:, 1]
    >>> hdmr = TreeHDMR(random_state=0).fit(X, y)
    >>> hdmr.transform(X).shape == (500, len(hdmr.subspaces_))
    True
    >>> bool(hdmr.sensitivity_.R.argmax() == 1)
    True
    """

    def __init__(
        self,
        estimators: Any = None,
        *,
        order: int | None = 2,
        interactions: Any = None,
        basis: str = "trees",
        combine: str = "auto",
        alphas: Any = None,
        cv: Any = 5,
        normalise: str = "output",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.order = order
        self.interactions = interactions
        self.basis = basis
        self.combine = combine
        self.alphas = alphas
        self.cv = cv
        self.normalise = normalise
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Decompose the models under the measure of the rows.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
        y : array-like of shape (N,) or (N, K), optional
            Needed for unfitted models, for "ridge", and for `normalise="data"`.
        sample_weight : array-like of shape (N,), optional
            Non-negative weights of the rows: of the measure, of "ridge", and of the fit of unfitted models.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter or a model does not fit; the message says what to do.

        Warns
        -----
        scipy.linalg.LinAlgWarning
            If tree columns are linearly dependent on these rows: once, with the numerical rank.
        UserWarning
            If the output is constant.
        """
        members = as_members(self.estimators, self.random_state)
        ridge = self._check_parameters(len(members))
        unfitted = [not is_fitted(member) for member in members]
        X, y = self._check_data(X, y, ridge=ridge, needs_y=ridge or any(unfitted) or self.normalise == "data")
        weights = check_weights(sample_weight, X)
        started = time.perf_counter()
        self.estimators_ = [
            fit_member(member, X, y, weights) if new else member for member, new in zip(members, unfitted, strict=True)
        ]
        started = self._tell("models fitted", started)
        names_in = getattr(self, "feature_names_in_", None)
        self.forests_ = load_members(self.estimators_, X.shape[1], names_in)
        self.feature_names_ = variable_names(self.forests_, names_in)
        started = self._tell("models read", started)
        self._decompose(X, y, weights, ridge=ridge)
        self._tell("decomposed", started)
        return self

    def _decompose(self, X: NDArray[Any], y: Any, weights: Floats | None, *, ridge: bool) -> None:
        kept = self._kept()
        dictionary = TreeDictionary(self.forests_)
        n_outputs = dictionary.n_outputs
        targets: list[Any] = [None] * n_outputs
        if ridge or self.normalise == "data":
            targets = self._targets(y, n_outputs)
        solutions, chosen = [], []
        for output, target in enumerate(targets):
            solution, alpha = self._solve(dictionary, output, X, target, weights, ridge=ridge)
            solutions.append(solution)
            chosen.append(alpha)
        one = n_outputs == 1
        names = self.forests_[0].output_names or tuple(f"y{k}" for k in range(n_outputs))
        variance = None
        if self.normalise == "data":
            variance = np.array(
                [np.average((t - np.average(t, weights=weights)) ** 2, weights=weights) for t in targets]
            )
        self.decomposition_ = assemble(
            dictionary,
            solutions,
            kept,
            feature_names=self.feature_names_,
            output_names=None if one else names,
            data_variance=variance,
            bounds=sample_bounds(X),
        )
        self.alpha_ = None if not ridge else chosen[0] if one else np.array(chosen)

    def _solve(
        self, dictionary: TreeDictionary, output: int, X: NDArray[Any], y: Any, weights: Floats | None, *, ridge: bool
    ) -> tuple[Solution, float | None]:
        """Return the components of one output, and the penalty."""
        columns, threads = dictionary.columns[output], n_threads(self.n_jobs)
        alphas = np.atleast_1d(np.asarray(DEFAULT_ALPHAS if self.alphas is None else self.alphas, dtype=np.float64))
        validate = ridge and len(alphas) > 1
        fold, n_folds = fold_numbers(self.cv, X, y) if validate else (None, 1)
        with threadpool_limits(1, user_api="blas"):
            triangles = columns.triangles(
                X, weight=weights, y=y if ridge else None, fold=fold, n_folds=n_folds, n_threads=threads
            )
            triangle = _core.merge_triangles(triangles)
        labels = dictionary.labels(output)
        total = float(len(X)) if weights is None else float(weights.sum())
        if not ridge:
            beta = np.concatenate([[columns.constants.sum()], np.ones(len(labels.column_subspace))])
            return solve(triangle / np.sqrt(total), labels, beta, threads), None
        best = int(np.argmin(cross_validate(triangles, alphas))) if validate else 0
        beta = ridge_path(triangle, alphas[best : best + 1])[:, 0]
        return solve(triangle[:-1, :-1] / np.sqrt(total), labels, beta, threads), float(alphas[best])

    def transform(self, X: Any) -> Floats:
        """Return the component functions at X, (N, C), or (N, C * K) with the outputs of a component side by side."""
        values = self.evaluate(X)
        return values.reshape(len(values), -1) if values.ndim == 3 else values

    def evaluate(self, X: Any) -> Floats:
        """Return the component functions at X, (N, C) or (N, C, K), in the order of `subspaces_`."""
        rows = self._rows(X)
        return self.decomposition_.evaluate(rows, n_threads(self.n_jobs))

    def predict(self, X: Any) -> Floats:
        """Return the reduced-order model, f_0 plus the components, (N,) or (N, K)."""
        rows = self._rows(X)
        return self.decomposition_.predict(rows, n_threads(self.n_jobs))

    def residual(self, X: Any) -> Floats:
        """Return the black box minus `predict`, (N,) or (N, K)."""
        rows = self._rows(X)
        threads = n_threads(self.n_jobs)
        return self.decomposition_.black_box(rows, threads) - self.decomposition_.predict(rows, threads)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the R² of `predict` against y (numbers; class labels are an error)."""
        if np.asarray(y).dtype.kind in "OSU" and _is_text(y):
            raise ValueError(_LABELS.format(what="score"))
        return float(r2_score(y, self.predict(X), sample_weight=sample_weight))

    def fidelity(self, X: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the R² of `predict` against the black box at X (mean over outputs)."""
        rows = self._rows(X)
        threads = n_threads(self.n_jobs)
        box, model = self.decomposition_.black_box(rows, threads), self.decomposition_.predict(rows, threads)
        return float(r2_score(box, model, sample_weight=sample_weight))

    def component(self, variables: Any) -> Component:
        """Return the component function of a subspace, given by indices or names.

        Parameters
        ----------
        variables : int, str, or sequence of int or str

        Raises
        ------
        ValueError
            If there is no such variable or component.
        """
        check_is_fitted(self)
        return self.decomposition_.component(as_subspace(variables, self.feature_names_))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of `transform`: "x0", "x0 x1"; with several outputs "x0 x1[output]"."""
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
        """f_0."""
        return self._fitted.intercept

    @property
    def sensitivity_(self) -> Sensitivity:
        """The indices."""
        return self._fitted.sensitivity

    @property
    def residual_(self) -> float | Floats:
        """What the components leave over, as a share of the variance."""
        return self._fitted.residual

    @property
    def coef_(self) -> Floats | list[Floats]:
        """The coefficients of the tree columns."""
        return self._fitted.coef

    @property
    def rank_(self) -> int | list[int]:
        """Numerical rank of the tree columns and the constant."""
        return self._fitted.rank

    @property
    def _fitted(self) -> Decomposition:
        if "decomposition_" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} instance is not fitted yet.")
        decomposition: Decomposition = self.decomposition_
        return decomposition

    def _check_parameters(self, n_members: int) -> bool:
        """Check what does not depend on data; return whether columns are combined by ridge regression."""
        if self.basis != "trees":
            raise ValueError(f"basis={self.basis!r} is not available yet; use basis='trees'.")
        if self.combine not in ("auto", "sum", "ridge"):
            raise ValueError(f"combine must be 'auto', 'sum' or 'ridge', got {self.combine!r}.")
        if self.normalise not in ("output", "data"):
            raise ValueError(f"normalise must be 'output' or 'data', got {self.normalise!r}.")
        if self.order is not None and (not isinstance(self.order, int | np.integer) or self.order < 1):
            raise ValueError(f"order must be a positive integer or None, got {self.order!r}.")
        if self.alphas is not None:
            alphas = check_array(np.atleast_1d(self.alphas), ensure_2d=False, dtype=np.float64, input_name="alphas")
            if alphas.ndim != 1 or alphas.min() < 0:
                raise ValueError(f"alphas must be non-negative numbers, got {self.alphas!r}.")
        return self.combine == "ridge" or (self.combine == "auto" and n_members > 1)

    def _check_data(self, X: Any, y: Any, *, ridge: bool, needs_y: bool) -> tuple[NDArray[Any], Any]:
        if y is None and needs_y:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None. Models that "
                "are not fitted, combine='ridge' and normalise='data' need it."
            )
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_all_finite=self._finite())
        if y is None:
            return X, None
        if (ridge or self.normalise == "data") and _is_text(y):
            raise ValueError(_LABELS.format(what="combine='ridge'" if ridge else "normalise='data'"))
        numeric = ridge or self.normalise == "data"
        y = check_array(y, ensure_2d=False, dtype=np.float64 if numeric else None, input_name="y")
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        return X, y

    def _targets(self, y: NDArray[Any], n_outputs: int) -> list[Floats]:
        """Return the values that each output is combined or compared with."""
        targets = y.reshape(len(y), -1).T
        if len(targets) != n_outputs:
            raise ValueError(f"y has {len(targets)} column(s), but the models have {n_outputs} output(s).")
        return [np.ascontiguousarray(target, dtype=np.float64) for target in targets]

    def _kept(self) -> Callable[[Subspace], bool]:
        """Return the test whether the component of a subspace is kept."""
        order = np.inf if self.order is None else self.order
        if self.interactions is None:
            return lambda u: len(u) <= order
        chosen = {as_subspace(u, self.feature_names_, what="interactions") for u in self.interactions}
        return lambda u: len(u) <= order and (len(u) == 1 or u in chosen)

    def _rows(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        rows: NDArray[Any] = validate_data(
            self, X, reset=False, dtype=[np.float64, np.float32], ensure_all_finite=self._finite()
        )
        return rows

    def _finite(self) -> bool | str:
        return "allow-nan" if self.__sklearn_tags__().input_tags.allow_nan else True

    def _tell(self, stage: str, started: float) -> float:
        now = time.perf_counter()
        if self.verbose:
            print(f"[{type(self).__name__}] {stage}: {now - started:.3f} s")
        return now

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        members = as_members(self.estimators, None) if self.estimators is not None else []
        tags.input_tags.allow_nan = bool(members) and all(_allows_nan(member) for member in members)
        tags.target_tags.required = bool(not members or self.combine == "ridge" or not all(map(is_fitted, members)))
        tags.transformer_tags.preserves_dtype = []
        return tags


def _is_text(y: Any) -> bool:
    values = np.asarray(y)
    return values.dtype.kind in "SU" or (values.dtype.kind == "O" and any(isinstance(v, str) for v in values.flat))


def _allows_nan(member: Any) -> bool:
    if isinstance(member, Forest):
        return member.allow_nan
    if not hasattr(member, "__sklearn_tags__"):
        return False
    return bool(member.__sklearn_tags__().input_tags.allow_nan) and getattr(member, "monotonic_cst", None) is None
