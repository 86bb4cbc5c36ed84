"""TreeHDMR: the HDMR of tree ensembles."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags, check_array

from fasthdmr._batches.batch import Batch
from fasthdmr._batches.batches import Batches
from fasthdmr._dictionaries.dictionary import Dictionary
from fasthdmr._dictionaries.models import allows_nan, outputs_scores
from fasthdmr._dictionaries.tree_columns import Sorting, TreeDictionary
from fasthdmr._estimators.base import BaseHDMR
from fasthdmr._estimators.incremental import NO_ROWS, named
from fasthdmr._estimators.members import (
    Member,
    as_members,
    fit_members,
    is_fitted,
    is_pipeline,
    load_members,
    of_variables,
    variable_names,
)
from fasthdmr._estimators.row_state import Part
from fasthdmr._estimators.tree_rows import TreeRows, without_unused
from fasthdmr._forest.forest import Forest
from fasthdmr._forest.in_numbers import in_numbers
from fasthdmr._forest.sparse import as_dense
from fasthdmr._measures.product import TreesUnderProductMeasure
from fasthdmr._solve.combination import AdditiveCombination, Combination, Given, Ridge, Sum
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._solve.problem import Problem
from fasthdmr._solve.ridge import DEFAULT_ALPHAS
from fasthdmr._solve.tree_columns import TreesInColumns
from fasthdmr._spans.kinds import BASES
from fasthdmr._spans.of_trees import TreesInSpans, sorting_of_terms
from fasthdmr._spans.planning import SpanOptions
from fasthdmr._support.choices import Basis, Combine, IntervalMethod, Normalise, TreeMeasure
from fasthdmr._support.numbers import as_floats, holds_numbers
from fasthdmr._support.sample import Sample
from fasthdmr._support.scale import Deviations
from fasthdmr._support.threads import n_threads
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import suggests_parameters
from fasthdmr._support.weights import check_ordinary_weights, check_weights
from fasthdmr.loaders import load_forest

TreeStrategy = TreesInColumns | TreesInSpans | TreesUnderProductMeasure


class TreeHDMR(BaseHDMR):
    """High Dimensional Model Representation of tree ensembles.

    The output f of one model, or of a linear combination of several, is written as f_0 + sum f_u(x_u) over subspaces
    u of the variables. Each component function f_u is orthogonal to the columns of all proper subsets of u, also when
    the variables are correlated. The measure is the empirical distribution of the rows passed to `fit`, which need not
    be training rows.

    Parameters
    ----------
    estimators : tree model, list of them, or None
        Models that `fasthdmr.load_forest` accepts. A `Pipeline` is decomposed in the columns of its input. Fitted
        models are used as they are; unfitted ones are cloned and fitted on X, y. None: the paper's I_3, three gradient
        boosting regressors of depth 1, 2 and 3, 100 trees each.
    order : int or None
        The largest order of a component. Terms of higher order are part of the residual. None: no limit.
    interactions : list of subspaces, or None
        The subspaces of order 2 and more to keep, by indices or names. None: all that occur in the trees.
    basis : "spline", "bins" or "trees"
        The spans that components are orthogonal to: B-splines and their tensor products; indicators of quantile bins;
        or the tree columns themselves, as in the paper (see Notes).
    degree : int
        Degree of the splines, 0 to 3. For a skewed variable, the splines are functions of its normal scores.
    n_splines : int, tuple of int or None
        Number of splines (or bins) per variable, in spans of order 1, 2, … None: N ** (0.35 - 0.05 order) for N rows,
        at least 2 and at most 12, 8, 5, … A single variable gets more if that lowers the generalised cross-validation
        score of an additive fit by a tenth, as for oscillating effects. With at most 1,000 rows, larger numbers for
        single variables and pairs are chosen if they reduce the leave-one-out error. A variable with no more distinct
        values than splines gets one indicator column per value.
    smooth : bool
        For splines and bins. True: each component is the least-squares projection of its tree terms on the spline
        spaces of its variables and their subsets; what splines cannot represent is in the residual. A component of two
        variables is not determined at pairs of values far from all rows; there it is evaluated at the nearest pair of
        values that occurs. A tree of at most three variables is one term; a larger tree has one term for each set of
        variables on its paths. False: components keep the piecewise constant terms of the trees. They are orthogonal
        to the spans of their subsets, but not to step functions of fewer variables. Every tree then has one term for
        each set of variables on its paths.
    combine : "auto", "sum" or "ridge"
        "sum": the sum of the models. "ridge": ridge regression of y on all tree columns. "auto": "sum" for one model,
        "ridge" for several or None.
    alphas : array-like, float or None
        Candidate penalties for "ridge", relative to sums of squares of centred, unscaled columns. None: 11 values from
        1e-6 to 1e4. If the trees were fitted to the same rows, cross-validation tends to choose small penalties.
    cv : int, splitter or iterable
        Folds for "ridge". An int K puts row i into fold i mod K. The test sets of a splitter must partition the rows.
    measure : "empirical" or "product"
        "empirical": the empirical distribution of the rows. "product": the product of its marginals, as if variables
        were independent. Components are then exact and need no spans, so `basis`, `degree`, `n_splines` and `smooth`
        are ignored (see Notes).
    categorical_features : "from_dtype", array-like of int, str or bool, or None
        The categorical variables. Each gets a span of indicators, one for each level; missing values are a level.
        "from_dtype": columns of dtype category, string, text, objects or boolean. Unlike in scikit-learn, this
        includes text and objects: a column of objects is numeric if it holds only numbers and missing values.
        Otherwise a mask, or the indices or names of columns, which may hold codes. None: no variable. Fitted models
        read their own numbers of levels in any case. Unfitted ones are fitted to X itself if they are pipelines, or if
        X holds text or categories.
    normalise : "output" or "data"
        Whether indices are divided by the variance of the model's output or of y.
    feature_groups : dict of str to list of int or str, or None
        Columns that are one variable, such as ``{"place": ["Latitude", "Longitude"]}``. A group has a joint span, the
        tensor product of the splines of its columns, with as many of them per column as in a span of so many variables.
        Variables are numbered in the order of their first columns. A component takes the columns of a group in the
        order of the list.
    knots : array-like, data frame, Knots or None
        Rows from which the knots and sizes of spans, their ranges and levels are chosen, or the `knots_` of
        another estimator. Then `fit` keeps sums over its rows, to which `fasthdmr.merge` adds those of others.
        None: chosen from the rows of `fit`.
    ci : "jackknife" or "bootstrap"
        Method for confidence intervals and standard errors, which are computed at first access. "jackknife" uses
        derivatives; "bootstrap" solves again on 200 resamples, which takes longer. There are none for the product
        measure.
    n_jobs : int or None
        Number of threads; None means 1. Results do not depend on it.
    random_state : int, RandomState or None
        Random state of the models that `estimators=None` creates.
    verbose : int
        Whether to print the time of each stage, and to show progress bars of long stages (with tqdm).

    Attributes
    ----------
    subspaces_ : list of tuple of int, length C
        The subspaces of the components, sorted by order, without the constant.
    components_ : list of Component
    intercept_ : float or ndarray of shape (K,)
        The constant f_0. Here and below, K is the number of outputs if there are several.
    sensitivity_ : Sensitivity
        Sa, Sb, S of the components; ST, R of the variables; tables and level sets.
    residual_ : float or ndarray of shape (K,)
        The variance share of the residual r, Cov(r, f)/V.
    fidelity_unused_ : float, ndarray of shape (K,), or None
        Leave-one-out R² of `predict` against the models. None unless components are projections on splines or bins.
    coef_ : ndarray of shape (b,), or list of K of them
        The coefficients beta of the tree columns. There is one column for each model and subspace, sorted by subspace.
    alpha_ : float, ndarray of shape (K,), or None
        The penalty chosen by "ridge". None for "sum".
    rank_ : int, list of K of them, or None
        Numerical rank of the tree columns and the constant, for `basis="trees"`. If it is less than the number of
        columns, the components are not unique. None for splines and bins, whose projections have a ridge, and for the
        product measure, which needs no projection: these components are unique.
    forests_ : list of Forest
    estimators_ : list
        The fitted models, in the order of `estimators`.
    decomposition_ : Decomposition
    knots_ : Knots
        The knots and levels, if the estimator was fitted in parts or with `knots`.
    feature_names_ : tuple of str
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Paper, section "Decision trees"; specification, sections 3 and 4. With `basis="trees"`, the main effect of a
    variable is projected on the trees that split on this variable only. If a model has no such trees, the main effect
    remains in the interactions (specification 4, "The trap"). Combine models of depth 1, 2, … to avoid this. Splines
    and bins do not have this problem.

    With splines or bins, every term of the model is projected within its own subspace, on the spans of the subsets of
    its variables up to `order`. The components are then made orthogonal top-down, from larger to smaller subspaces.
    Therefore components of terms of up to three variables do not depend on `order`, and no pair is left out. If the
    component of a term is not kept, a term of 5 to 8 variables is projected on coarse spans, and a term of more
    variables on the spans of single variables. Every projection is a ridge regression with the penalty 0.5/(N p) on
    the coefficients of a span of p columns (specification, section 3). N is the effective number of rows: the sum of
    the weights w if all are whole numbers (repetition counts), else (sum w)²/(sum w²). Because of the ridge, components
    are only approximately orthogonal to the spans of subsets: at 1,500 rows their projections on these spans have less
    than 2e-5 of the variance of f.

    With `measure="product"` (specification 4), components are computed from the boxes of the leaves, without spans. A
    leaf of value c adds to f_u the product of c, of 1_j(x_j) - p_j over the variables j of u, and of p_j over the other
    variables on its path. 1_j is 1 if x_j satisfies the splits of the path on variable j, else 0; p_j is its mean over
    the rows. Missing values are treated as values. All components are orthogonal: `Sb` is 0, `Sa` are Sobol' indices,
    and f_i is the centred partial dependence under that measure.

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

    _accepts_nan: bool | None = None  # whether all forests take missing values, which also models without tags may do

    @suggests_parameters
    def __init__(
        self,
        estimators: Any = None,
        *,
        order: int | None = 2,
        interactions: Any = None,
        basis: Basis = "spline",
        degree: int = 3,
        n_splines: Any = None,
        smooth: bool = True,
        combine: Combine = "auto",
        alphas: Any = None,
        cv: Any = 5,
        measure: TreeMeasure = "empirical",
        categorical_features: Any = "from_dtype",
        normalise: Normalise = "output",
        feature_groups: Any = None,
        knots: Any = None,
        ci: IntervalMethod = "jackknife",
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
        self.categorical_features = categorical_features
        self.normalise = normalise
        self.feature_groups = feature_groups
        self.knots = knots
        self.ci = ci
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Decompose the models under the measure of the rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (N, n), or Batches
            Rows whose empirical distribution is the measure. Sparse rows are taken where the libraries of the fitted
            models take them, and made dense (8 N n bytes), here and in all other methods: absent entries are missing
            values for xgboost, else zeros.
        y : array-like of shape (N,) or (N, K), optional
            Required for unfitted models, for "ridge", and for `normalise="data"`.
        sample_weight : array-like of shape (N,), optional
            Non-negative weights of the rows, for the measure, "ridge", and fitting unfitted models.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter is invalid or a model is not supported. The message states the remedy.

        Warns
        -----
        RankWarning
            If tree columns are collinear on these rows, for `basis="trees"`. The message states the numerical rank.
        ConcurvityWarning
            If more than 0.93 of the variance of a main effect can be explained by functions of other variables. One
            warning names them all. The shares are in ``decomposition_.concurvity``.
        ResidualWarning
            If the residual is more than a tenth of the variance of the output. The message states the remedy.
        ConstantWarning
            If the output is constant.
        """
        return self._fit(X, y, sample_weight)

    def _solve(self, part: Part) -> tuple[Dictionary, Sequence[Solution]]:
        with self._timed("decomposed"):
            return super()._solve(part)

    def _first_part(self, X: Any, y: Any, sample_weight: Any) -> Part:
        members, combination = self._check_parameters()
        X, codes, y, weights = self._check(members, combination, X, y, sample_weight)
        self._load(members, X, codes, y, weights)
        inputs = self._inputs(X, codes)
        problem = self._problem(combination, self._tree_rows.rows(codes, inputs), y, weights)
        with self._timed("trees prepared"):
            strategy = self._strategy(self._trees(combination, X, codes, inputs), combination)
        return Part(strategy, problem, codes if self._is_product else problem.X)

    def _next_part(self, strategy: TreeStrategy, X: Any, y: Any, sample_weight: Any) -> Part:
        X = as_dense(X, self.forests_)
        codes = self._codes(X, all_known=True)
        combination = strategy.combination
        y = self._check_y(codes, y, **self._rules_of_y(combination, self.forests_))
        rows = self._tree_rows.rows(codes, self._inputs(X, codes))
        problem = self._problem(combination, rows, y, check_ordinary_weights(sample_weight, codes))
        return Part(strategy, problem, codes if self._is_product else rows)

    @property
    def _is_product(self) -> bool:
        return bool(self.measure == "product")

    @property
    def _tree_rows(self) -> TreeRows:
        return TreeRows(self.forests_, self._encoding, None if self._is_product else self._groups, self._is_product)

    def _in_numbers(self, X: Any) -> Any:
        return self._tree_rows.variables(X)

    def _rows_from(self, X: Any, codes: NDArray[Any]) -> NDArray[Any]:
        return self._tree_rows.rows(codes, self._inputs(X, codes))

    def _inputs(self, X: Any, codes: NDArray[Any]) -> NDArray[Any]:
        return self._tree_rows.inputs(X, codes, allow_nan=bool(self._accepts_nan))

    def _check_parameters(self) -> tuple[list[Member], AdditiveCombination]:
        """Check all parameters that can be checked without data. Return the models, read, and how to combine them."""
        members = as_members(self.estimators, self.random_state)
        self._check_common()
        self._check_basis(BASES)
        if self.measure not in get_args(TreeMeasure):
            raise ValueError(f"measure must be 'empirical' or 'product', got {self.measure!r}.")
        if self.combine not in get_args(Combine):
            raise ValueError(f"combine must be 'auto', 'sum' or 'ridge', got {self.combine!r}.")
        if self.alphas is not None:
            alphas = check_array(np.atleast_1d(self.alphas), ensure_2d=False, dtype=np.float64, input_name="alphas")
            if alphas.ndim != 1 or alphas.min() < 0:
                raise ValueError(f"alphas must be non-negative numbers, got {self.alphas!r}.")
        with self._timed("models read"):
            read = [Member(model, load_forest(model) if is_fitted(model) else model) for model in members]
        if self.combine == "sum" or (self.combine == "auto" and len(members) == 1):
            return read, Sum()
        alphas = DEFAULT_ALPHAS if self.alphas is None else self.alphas
        return read, Ridge(np.atleast_1d(np.asarray(alphas, dtype=np.float64)), self.cv)

    def _check(
        self, members: list[Member], combination: Combination, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, NDArray[Any], Any, Floats | None]:
        """Check the data against the models. Return rows, rows in numbers, y and weights."""
        read = [member.read for member in members]
        forests = [model for model in read if isinstance(model, Forest)]
        X = as_dense(X, forests)
        codes = self._encode(X, sample_weight)
        if not self._encoding.levels and all(forest.front is None for forest in forests):
            codes = in_numbers(X, forests)
        if len(forests) == len(read):
            codes = without_unused(codes, forests)
        labels = any(map(outputs_scores, read))
        self._outputs_scores = labels and not combination.needs_y
        self._accepts_nan = all(map(_takes_missing, read))
        codes, y = self._check_data(codes, y, **self._rules_of_y(combination, read))
        return X, codes, y, check_weights(sample_weight, codes)

    def _rules_of_y(self, combination: Combination, models: Sequence[Any]) -> dict[str, Any]:
        """Return whether y must be numbers, what it is needed for, and whether it may be labels."""
        reasons = {
            "models that are not fitted": not all(map(is_fitted, models)),
            "combine='ridge'": combination.needs_y,
            "normalise='data'": self.normalise == "data",
        }
        needed_for = next((reason for reason, applies in reasons.items() if applies), "")
        numeric = combination.needs_y or self.normalise == "data"
        return {"numeric": numeric, "needed_for": needed_for, "labels": any(map(outputs_scores, models))}

    def _load(self, members: list[Member], X: Any, codes: NDArray[Any], y: Any, weights: Floats | None) -> None:
        """Fit the unfitted models, to numbers if X holds no levels, and load the trees of all models."""
        numbers = codes
        if self._encoding.levels:
            numbers = as_floats(X, "X") if holds_numbers(X) else X
        with self._timed("models fitted"):
            self.estimators_ = fit_members([m.model for m in members], X, numbers, y, weights, verbose=self.verbose)
            pairs = zip(members, self.estimators_, strict=True)
            models = [m.read if isinstance(m.read, Forest) else fitted for m, fitted in pairs]
            names_in = getattr(self, "feature_names_in_", None)
            self.forests_ = load_members(models, codes.shape[1], names_in)
            self._set_names(variable_names(self.forests_, names_in))

    def _trees(self, combination: Combination, X: Any, codes: NDArray[Any], inputs: NDArray[Any]) -> TreeDictionary:
        """Return the tree columns of all models."""
        forests, read = self._tree_rows.trees(X, codes, inputs)
        return TreeDictionary(forests, self._sorting(combination), n_threads=n_threads(self.n_jobs), inputs=read)

    def _sorting(self, combination: Combination) -> Sorting:
        """Return whether terms are trees or nodes."""
        # Regression coefficients belong to columns of whole trees, so "ridge" cannot split trees into nodes.
        if self._is_product or not BASES[self.basis].is_span or combination.needs_y:
            return "tree"
        return sorting_of_terms(smooth=self.smooth)

    def _has_fitted_models(self) -> bool:
        return self.estimators is not None and all(map(is_fitted, as_members(self.estimators, None)))

    def _decomposes_same(self, other: Any) -> bool:
        reaches = [[forest.core.reach for forest in each.forests_] for each in (self, other)]
        same = len(reaches[0]) == len(reaches[1]) and all(map(np.array_equal, *reaches))
        return same and super()._decomposes_same(other)

    def _columns_in_use(self) -> set[int]:
        used = {j for forest in self.forests_ for group in forest.groups for j in group.subspace}
        front = self._tree_rows.front
        return used if front is None else set(front.sources)

    def _needs_y(self) -> bool:
        return (
            self.combine == "ridge"
            or self.normalise == "data"
            or (self.combine == "auto" and len(as_members(self.estimators, None)) > 1)
        )

    def _after_first_pass(self, strategy: TreeStrategy, batches: Iterable[Batch] | None) -> TreeStrategy:
        """Return the strategy with known coefficients of the models if it needs these before the spans."""
        combination = strategy.combination
        if not isinstance(strategy, TreesInSpans) or not isinstance(combination, Ridge):
            return strategy
        if batches is None or (isinstance(batches, Batches) and not batches.can_be_read_twice):
            raise ValueError(
                "combine='ridge' with splines or bins reads the rows twice: the coefficients of the models are needed "
                "before the spans. Use fit with fasthdmr.batches(...) of a source that can be read twice, or "
                "basis='trees', combine='sum' or measure='product'."
            )
        in_columns, triangles = TreesInColumns(strategy.trees, combination), None
        for batch in batches:
            with named(f"Batch {batch.number}: " if isinstance(batches, Batches) else ""):
                part = self._part_of(strategy, batch.X, batch.y, batch.sample_weight)
            if part is not None:
                found = in_columns.sums(None, part.problem)
                triangles = found if triangles is None else triangles.merged(found)
        if triangles is None:
            raise ValueError(NO_ROWS)
        outputs = combination.from_triangles(triangles, strategy.trees, self.verbose)
        return replace(strategy, combination=Given(tuple(outputs)))

    def _problem(self, combination: Combination, X: NDArray[Any], y: Any, weights: Floats | None) -> Problem:
        targets, n_outputs = None, self.forests_[0].n_outputs
        if combination.needs_y or self.normalise == "data":
            targets = np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.float64)
            if targets.shape[1] != n_outputs:
                raise ValueError(
                    f"y must have one column for each of the models' {n_outputs} output(s), got {targets.shape[1]}."
                )
        return replace(self._problem_of(X, weights), targets=targets)

    def _strategy(self, trees: TreeDictionary, combination: AdditiveCombination) -> TreeStrategy:
        if self._is_product:
            return TreesUnderProductMeasure(trees, combination)
        if not BASES[self.basis].is_span:
            return TreesInColumns(trees, combination)
        return TreesInSpans(trees, combination, SpanOptions(self.basis, self.degree, self.n_splines), self.smooth)

    def _assemble(
        self,
        strategy: TreeStrategy,
        sample: Sample,
        data: Deviations | None,
        dictionary: Dictionary,
        solutions: Sequence[Solution],
    ) -> None:
        one, needs_y = len(solutions) == 1, strategy.combination.needs_y
        names = self.forests_[0].output_names or tuple(f"y{k}" for k in range(len(solutions)))
        units = {""} if needs_y else {forest.unit for forest in self.forests_}
        self._set_decomposition(
            dictionary,
            solutions,
            models=[] if needs_y else self.estimators_,
            data=data,
            output_names=None if one else names,
            sample=sample,
            ci=self.ci if self.measure == "empirical" else None,
            remedy=self._remedy,
            unit=units.pop() if len(units) == 1 else "",
        )
        alphas = [solution.alpha for solution in solutions]
        self.alpha_ = alphas[0] if one or alphas[0] is None else np.array(alphas)

    def _remedy(self) -> str:
        """Return the advice of the warning about a large residual."""
        forests = self.forests_
        if self._groups is not None:
            forests = [of_variables(forest, self._groups, 0) for forest in forests]
        largest = max((len(group.subspace) for forest in forests for group in forest.groups), default=0)
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

    def _finite(self) -> bool | str:
        if self._accepts_nan is None:
            return super()._finite()
        return "allow-nan" if self._accepts_nan else True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        members = as_members(self.estimators, None) if self.estimators is not None else []
        tags.input_tags.allow_nan = bool(members) and all(map(_takes_missing, members))
        tags.target_tags.required = bool(not members or self.combine == "ridge" or not all(map(is_fitted, members)))
        return tags


def _takes_missing(model: Any) -> bool:
    """Return whether a forest, or a model that is not fitted, takes missing values. Pipelines check this themselves."""
    return is_pipeline(model) or (allows_nan(model) and getattr(model, "monotonic_cst", None) is None)
