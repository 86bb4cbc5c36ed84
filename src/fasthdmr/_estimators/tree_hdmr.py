"""TreeHDMR: the HDMR of tree ensembles."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags, check_array

from fasthdmr._dictionaries.dictionary import Dictionary
from fasthdmr._dictionaries.models import allows_nan, is_scored
from fasthdmr._dictionaries.tree_columns import Sorting, TreeDictionary
from fasthdmr._estimators.base import BaseHDMR
from fasthdmr._estimators.members import as_members, fit_members, is_fitted, load_members, variable_names
from fasthdmr._forest.levels import recoded
from fasthdmr._measures.product import TreesUnderProductMeasure
from fasthdmr._solve.combination import Combination, Ridge, Sum
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._solve.problem import Problem, Strategy
from fasthdmr._solve.ridge import DEFAULT_ALPHAS
from fasthdmr._solve.tree_columns import TreesInColumns
from fasthdmr._spans.kinds import BASES
from fasthdmr._spans.of_trees import TreesInSpans, sorting_of_terms
from fasthdmr._spans.planning import SpanOptions
from fasthdmr._support.sample import Sample
from fasthdmr._support.threads import n_threads
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import category_columns, suggests_parameters
from fasthdmr._support.weights import check_weights
from fasthdmr.loaders import load_forest


class TreeHDMR(BaseHDMR):
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
    basis : "spline", "bins" or "trees"
        The spans that components are orthogonal to: B-splines and their tensor products; indicators of quantile bins;
        or the tree columns themselves, as in the paper (see Notes).
    degree : int
        Of the splines, 0 to 3. Splines of a skewed variable are those of its normal scores.
    n_splines : int, tuple of int or None
        Splines (or bins) of a variable, in spans of order 1, 2, …; None: of N rows N ** (0.35 - 0.05 order), at least 2
        and at most 12, 8, 5, …, and for single variables more of them where that lowers the generalised
        cross-validation of an additive fit by a tenth, as oscillating effects do; for up to 1,000 rows also twice as
        many, and more for pairs, where that meets left-out rows better. Variables with no more distinct values than
        that get one column a value.
    smooth : bool
        For splines and bins. True: each component is the least-squares projection of its tree terms on the spline
        spaces of its variables and their subsets; what splines cannot represent is in the residual. Where two variables
        take no values together, their component is evaluated at the nearest place with rows. Trees of at most three
        variables are kept whole. False: components keep the piecewise constant terms of the trees. They are orthogonal
        to the spans of their subsets, but not to step functions of fewer variables. Trees are then sorted by node.
    combine : "auto", "sum" or "ridge"
        "sum": the models as they are, added up. "ridge": coefficients of all tree columns against y. "auto": "sum" for
        one model, "ridge" for several or None.
    alphas : array-like, float or None
        Penalties to choose from for "ridge", on sums of squares of centred, unscaled columns. None: 11 values
        from 1e-6 to 1e4. The trees have seen the rows, so cross-validation tends to choose small ones.
    cv : int, splitter or iterable
        For "ridge": K puts row i into fold i mod K; the test sets of a splitter must partition the rows.
    measure : "empirical" or "product"
        "empirical": the rows as they are. "product": the product of their marginals, as if variables were independent;
        components are exact and faithful, and `basis`, `degree`, `n_splines` and `smooth` are ignored (see Notes).
    normalise : "output" or "data"
        Whether indices are divided by the variance of the model's output or of y.
    ci : "jackknife" or "bootstrap"
        What intervals and standard errors come from, when first asked for: derivatives, or 200 solutions on rows drawn
        with replacement, which take longer. The product measure has neither.
    n_jobs : int or None
        Threads; None means 1. Results do not depend on it.
    random_state : int, RandomState or None
        For the models that `estimators=None` stands for.
    verbose : int
        Whether to print how long each stage took, and to show the progress of what takes long (with tqdm).

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
    fidelity_unused_ : float, ndarray of shape (K,), or None
        R² of `predict` against the models at rows that were not used, by leave-one-out; for splines and bins.
    coef_ : ndarray of shape (b,), or list of K of them
        The coefficients beta of the tree columns (one for each model and subspace, by subspace).
    alpha_ : float, ndarray of shape (K,), or None
        The penalty that was chosen, for "ridge".
    rank_ : int, list of K of them, or None
        Numerical rank of the columns that are the spans, the constant included: the tree columns of `basis="trees"`. If
        it is less than their number, components are not unique. None for splines and bins, whose solutions have a
        ridge, and for the product measure, which has no spans.
    forests_ : list of Forest
    estimators_ : list
        The fitted models.
    decomposition_ : Decomposition
    feature_names_ : tuple of str
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Paper, section "Decision trees"; specification, sections 3 and 4. With `basis="trees"`, if a model has no trees on a
    variable alone, its main effect has no span and hides in the interactions (specification 4, "The trap"): combine
    models of depth 1, 2, … then. Splines and bins do not need that.

    In spans, every term of the model is projected inside its own subspace: on the spans of the subsets of its
    variables, up to `order`, and on nothing else; then components are purified top-down. So components of terms of up
    to three variables do not depend on `order`, and no pair is left out. A term of 5 to 8 variables that is not kept is
    projected on coarse spans, one of more on those of single variables. Every solution has a ridge of 0.5/(N p) on the
    coefficients of a span of p columns (specification, section 3), N the number of rows that the weights are worth:
    their sum if all are whole numbers, which count repetitions, else (sum w)²/(sum w²). Components are orthogonal to
    the spans below up to that ridge: at 1,500 rows less than 2e-5 of the variance of f lies in them.

    With `measure="product"` (specification 4) components follow from the boxes of the leaves, without spans: a leaf of
    value c adds to f_u c times the product of 1_j(x_j) - p_j over the variables of u and of p_j over the others on its
    path, p_j the share of rows whose variable j leads there (missing values are values like others). All are
    orthogonal: `Sb` is 0, `Sa` are Sobol' indices, f_i is the centred partial dependence under that measure.

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
    >>> product = TreeHDMR(measure="product", order=None, random_state=0).fit(X, y)
    >>> bool(np.abs(product.residual(X)).max() < 1e-9), float(np.abs(product.sensitivity_.Sb).max())
    (True, 0.0)
    """

    @suggests_parameters
    def __init__(
        self,
        estimators: Any = None,
        *,
        order: int | None = 2,
        interactions: Any = None,
        basis: str = "spline",
        degree: int = 3,
        n_splines: Any = None,
        smooth: bool = True,
        combine: str = "auto",
        alphas: Any = None,
        cv: Any = 5,
        measure: str = "empirical",
        normalise: str = "output",
        ci: str = "jackknife",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.order = order
        self.interactions = interactions
        self.basis = basis
        self.degree = degree
        self.n_splines = n_splines
        self.smooth = smooth
        self.combine = combine
        self.alphas = alphas
        self.cv = cv
        self.measure = measure
        self.normalise = normalise
        self.ci = ci
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Decompose the models under the measure of the rows.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            The rows that are the measure.
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
        RankWarning
            If tree columns are linearly dependent on these rows, for `basis="trees"`: once, with the numerical rank.
        ConcurvityWarning
            If what a variable does can be written in others to a share above .93: once, with their names. All shares
            are in ``decomposition_.concurvity``.
        ResidualWarning
            If the components leave over more than a tenth of the output's variance: once, with what would lower it.
        ConstantWarning
            If the output is constant.
        """
        with self._whole():
            members, combination = self._check_parameters()
            if category_columns(X):
                X = recoded(X, [load_forest(member) for member in members if is_fitted(member)])
            X, y, weights = self._check(members, combination, X, y, sample_weight)
            trees = self._load(members, combination, X, y, weights)
            problem = self._problem(combination, X, y, weights)
            with self._timed("decomposed"):
                dictionary, solutions = self._strategy(trees, combination).solve(problem)
                self._assemble(problem, dictionary, solutions)
        return self

    def _in_numbers(self, X: Any) -> Any:
        return recoded(X, getattr(self, "forests_", []))

    def _check_parameters(self) -> tuple[list[Any], Combination]:
        """Check what does not depend on data; return the models, and how they are combined."""
        members = as_members(self.estimators, self.random_state)
        self._check_common()
        self._check_basis(BASES)
        if self.measure not in ("empirical", "product"):
            raise ValueError(f"measure must be 'empirical' or 'product', got {self.measure!r}.")
        if self.combine not in ("auto", "sum", "ridge"):
            raise ValueError(f"combine must be 'auto', 'sum' or 'ridge', got {self.combine!r}.")
        if self.alphas is not None:
            alphas = check_array(np.atleast_1d(self.alphas), ensure_2d=False, dtype=np.float64, input_name="alphas")
            if alphas.ndim != 1 or alphas.min() < 0:
                raise ValueError(f"alphas must be non-negative numbers, got {self.alphas!r}.")
        if self.combine == "sum" or (self.combine == "auto" and len(members) == 1):
            return members, Sum()
        alphas = DEFAULT_ALPHAS if self.alphas is None else self.alphas
        return members, Ridge(np.atleast_1d(np.asarray(alphas, dtype=np.float64)), self.cv)

    def _check(
        self, members: list[Any], combination: Combination, X: Any, y: Any, sample_weight: Any
    ) -> tuple[NDArray[Any], Any, Floats | None]:
        """Return rows, y and weights, checked."""
        reasons = {
            "models that are not fitted": not all(map(is_fitted, members)),
            "combine='ridge'": combination.needs_y,
            "normalise='data'": self.normalise == "data",
        }
        needed_for = next((reason for reason, applies in reasons.items() if applies), "")
        numeric, labels = combination.needs_y or self.normalise == "data", any(map(is_scored, members))
        self._is_scored = labels and not combination.needs_y
        X, y = self._check_data(X, y, numeric=numeric, needed_for=needed_for, labels=labels)
        return X, y, check_weights(sample_weight, X)

    def _load(
        self, members: list[Any], combination: Combination, X: NDArray[Any], y: Any, weights: Floats | None
    ) -> TreeDictionary:
        """Fit the models that are not fitted, and return the columns of all."""
        with self._timed("models fitted"):
            self.estimators_ = fit_members(members, X, y, weights, verbose=self.verbose)
        with self._timed("models read"):
            names_in = getattr(self, "feature_names_in_", None)
            self.forests_ = load_members(self.estimators_, X.shape[1], names_in)
            self.feature_names_ = variable_names(self.forests_, names_in)
        return TreeDictionary(self.forests_, self._sorting(combination), n_threads=n_threads(self.n_jobs))

    def _sorting(self, combination: Combination) -> Sorting:
        """Return how trees are sorted into subspaces."""
        # A coefficient against y belongs to whole trees, so they stay together where there are such coefficients.
        if self.measure == "product" or not BASES[self.basis].is_span or combination.needs_y:
            return "tree"
        return sorting_of_terms(smooth=self.smooth)

    def _problem(self, combination: Combination, X: NDArray[Any], y: Any, weights: Floats | None) -> Problem:
        targets, n_outputs = None, self.forests_[0].n_outputs
        if combination.needs_y or self.normalise == "data":
            targets = np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.float64)
            if targets.shape[1] != n_outputs:
                raise ValueError(f"y has {targets.shape[1]} column(s), but the models have {n_outputs} output(s).")
        return Problem(X, weights, self._kept(), targets, n_threads(self.n_jobs), self.verbose)

    def _strategy(self, trees: TreeDictionary, combination: Combination) -> Strategy:
        if self.measure == "product":
            return TreesUnderProductMeasure(trees, combination)
        if not BASES[self.basis].is_span:
            return TreesInColumns(trees, combination)
        return TreesInSpans(trees, combination, SpanOptions(self.basis, self.degree, self.n_splines), self.smooth)

    def _assemble(self, problem: Problem, dictionary: Dictionary, solutions: Sequence[Solution]) -> None:
        one = len(solutions) == 1
        names = self.forests_[0].output_names or tuple(f"y{k}" for k in range(len(solutions)))
        self._set_decomposition(
            problem,
            dictionary,
            solutions,
            output_names=None if one else names,
            sample=Sample.of(problem.X, problem.weights),
            ci=self.ci if self.measure == "empirical" else None,
            remedy=self._remedy,
        )
        alphas = [solution.alpha for solution in solutions]
        self.alpha_ = alphas[0] if one or alphas[0] is None else np.array(alphas)

    def _remedy(self) -> str:
        """Return what lowers the residual."""
        largest = max((len(group.subspace) for forest in self.forests_ for group in forest.groups), default=0)
        remedies = []
        if self.order is not None and largest > self.order:
            remedies.append(f"a higher `order` (trees depend on up to {largest} variables)")
        if self.interactions is not None:
            remedies.append("more `interactions`")
        if self.measure == "empirical" and BASES[self.basis].is_span and self.smooth:
            remedies.append("`smooth=False`, which keeps the steps of the trees in the components,")
        return " or ".join(remedies)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        if self.verbose:
            print(f"[{type(self).__name__}] {stage}: {time.perf_counter() - started:.3f} s")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        members = as_members(self.estimators, None) if self.estimators is not None else []
        accept = [allows_nan(member) and getattr(member, "monotonic_cst", None) is None for member in members]
        tags.input_tags.allow_nan = bool(members) and all(accept)
        tags.target_tags.required = bool(not members or self.combine == "ridge" or not all(map(is_fitted, members)))
        return tags
