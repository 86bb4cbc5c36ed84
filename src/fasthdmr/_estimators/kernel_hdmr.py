"""KernelHDMR: the HDMR of kernel machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from fasthdmr._dictionaries.dictionary import Dictionary
from fasthdmr._dictionaries.models import outputs_scores
from fasthdmr._estimators.base import BaseHDMR
from fasthdmr._estimators.members import fit_member, is_fitted
from fasthdmr._estimators.row_state import Part
from fasthdmr._kernel_machines.columns import check_count
from fasthdmr._kernel_machines.in_columns import MachineInColumns, MachineOnRows, Measure
from fasthdmr._kernel_machines.machine import Machine, read_machine
from fasthdmr._measures.gaussian import GaussianMeasure
from fasthdmr._measures.rows import RowsMeasure
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._solve.problem import Problem
from fasthdmr._support.choices import IntervalMethod, Normalise
from fasthdmr._support.sample import Sample
from fasthdmr._support.scale import Deviations
from fasthdmr._support.subspaces import Subspace, as_subspace, subspace_names
from fasthdmr._support.threads import n_threads
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import check_model_names, suggests_parameters
from fasthdmr._support.weights import check_ordinary_weights, check_weights


class KernelHDMR(BaseHDMR):
    """High Dimensional Model Representation of kernel machines.

    The output f(x) = b + sum_s xi_s K(x, x_s) of a machine is a polynomial (or a trigonometric polynomial). It is
    decomposed exactly into component functions f_u, each orthogonal to all columns of proper subsets of u.

    Parameters
    ----------
    estimator : kernel machine
        SVR, NuSVR, SVC or NuSVC (of two classes: the decision function), OneClassSVM, KernelRidge or
        GaussianProcessRegressor, with a linear or polynomial kernel or one of `fasthdmr.kernels`. Or a Pipeline that
        ends in one, after steps that shift, scale and select single columns; components are then functions of the
        original variables. A fitted machine is used as it is; an unfitted one is cloned and fitted on X, y.
    order : int or None
        The largest order of a component. Terms of higher order are the residual. None: all.
    measure : "empirical" or tuple (mean, cov)
        The empirical distribution of the rows, or the Gaussian distribution with these moments (polynomial kernels
        only).
    feature_groups : dict of str to list of int or str, or None
        Columns that are one variable, such as ``{"place": ["Latitude", "Longitude"]}``. Variables are numbered in the
        order of their first columns. A component takes the columns of a group in the order of the list.
    knots : array-like, data frame, Knots or None
        Rows from which the centre and scale of the variables are chosen, or the `knots_` of another estimator.
        Then `fit` keeps sums over its rows, to which `fasthdmr.merge` adds those of others. None: chosen from
        the rows of `fit`.
    normalise : "output" or "data"
        Whether indices are divided by the variance of the machine's output or of y.
    ci : "jackknife" or "bootstrap"
        Method for confidence intervals and standard errors, which are computed at first access. "jackknife" uses
        derivatives; "bootstrap" solves again on 200 resamples, which takes longer. A Gaussian measure is known exactly
        and has no intervals.

    Attributes
    ----------
    subspaces_, components_, intercept_, sensitivity_, residual_, feature_names_
        As for `TreeHDMR`.
    coef_ : ndarray of shape (b,), or list of K of them
        The coefficients beta of the columns: monomials of shifted and scaled variables, or cosines and sines.
    rank_ : int or list of K of them
        Numerical rank of these columns and the constant. If it is less than the number of columns, the components are
        not unique.
    estimator_ : kernel machine
        The fitted machine.
    decomposition_ : Decomposition
    knots_ : Knots
        The knots and levels, if the estimator was fitted in parts or with `knots`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Paper, section "Kernel machines"; specification, section 6. A kernel of degree d on n variables has C(n + d, d)
    columns; more than 6,000 raise an error. Components are also orthogonal to columns whose coefficient in the kernel
    is 0. `order` removes components from the result and does not change the others.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVR
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> machine = SVR(kernel="poly", degree=2, coef0=1).fit(X, X[:, 0] + X[:, 1] * X[:, 2])
    >>> hdmr = KernelHDMR(machine).fit(X)
    >>> hdmr.subspaces_
    [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    >>> bool(np.allclose(hdmr.predict(X), machine.predict(X)))
    True
    >>> K = hdmr.kernel_component((1, 2))
    >>> K(X, X[:5]).shape
    (300, 5)
    """

    n_jobs = None

    @suggests_parameters
    def __init__(
        self,
        estimator: Any,
        *,
        order: int | None = None,
        measure: Literal["empirical"] | tuple[ArrayLike, ArrayLike] = "empirical",
        feature_groups: Any = None,
        knots: Any = None,
        normalise: Normalise = "output",
        ci: IntervalMethod = "jackknife",
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.measure = measure
        self.feature_groups = feature_groups
        self.knots = knots
        self.normalise = normalise
        self.ci = ci

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Decompose the machine under the measure.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n), or Batches
            Rows whose empirical distribution is the measure. With a Gaussian measure, only the names and number of the
            variables are taken from them.
        y : array-like of shape (N,) or (N, K), optional
            Required for an unfitted machine, and for `normalise="data"`.
        sample_weight : array-like of shape (N,), optional
            Non-negative weights of the rows, for the measure and for fitting an unfitted machine.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter is invalid, the machine is not supported, or the kernel has too many columns. The message
            states the remedy.

        Warns
        -----
        RankWarning
            If the columns are collinear on these rows. The message states the numerical rank.
        ConstantWarning
            If the output is constant.
        ResidualWarning
            If the residual is more than a tenth of the variance of the output.
        """
        return self._fit(X, y, sample_weight)

    def _fit_at_once(self, X: Any, y: Any, sample_weight: Any) -> None:
        X, y, weights = self._check(X, y, sample_weight)
        machine = self._read(X, y, weights)
        problem, measure = self._problem(machine, X, y, weights), self._measure(X, weights)
        self._columns = MachineInColumns.under(measure, machine)
        self._assemble(machine, measure.sample(), self._moments_of_y(problem), *self._columns.solve(problem))

    def _has_fitted_models(self) -> bool:
        return is_fitted(self.estimator) and isinstance(self.measure, str)

    def _needs_y(self) -> bool:
        return bool(self.normalise == "data")

    def _first_part(self, X: Any, y: Any, sample_weight: Any) -> Part:
        X, y, weights = self._check(X, y, sample_weight)
        machine = self._read(X, y, weights)
        self._measure(X, weights)  # checks the parameter
        return Part(MachineOnRows(machine), self._problem(machine, X, y, weights), X)

    def _next_part(self, strategy: MachineOnRows, X: Any, y: Any, sample_weight: Any) -> Part:
        rows = self._codes(X)
        y = self._check_y(rows, y, **self._rules_of_y())
        weights = check_ordinary_weights(sample_weight, rows)
        return Part(strategy, self._problem(strategy.machine, rows, y, weights), rows)

    def _finish(self) -> None:
        start, state = self._start, self._state
        assert start is not None and state is not None
        self._columns = start.strategy.in_columns(start.plan, state.sums, state.counts)
        super()._finish()

    def _check(self, X: Any, y: Any, sample_weight: Any) -> tuple[NDArray[Any], Any, Floats | None]:
        """Check parameters and data. Return rows, y and weights."""
        self._check_kept()
        if is_fitted(self.estimator):
            check_count(read_machine(self.estimator))  # fails early, before X is copied
        self._outputs_scores = outputs_scores(self.estimator)
        X, y = self._check_data(X, y, **self._rules_of_y())
        return X, y, check_weights(sample_weight, X)

    def _rules_of_y(self) -> dict[str, Any]:
        """Return whether y must be numbers, what it is needed for, and whether it may be labels."""
        numeric, new = self._needs_y(), not is_fitted(self.estimator)
        needed_for = "normalise='data'" if numeric else "a machine that is not fitted" if new else ""
        return {"numeric": numeric, "needed_for": needed_for, "labels": self._outputs_scores}

    def _read(self, X: NDArray[Any], y: Any, weights: Floats | None) -> Machine:
        """Fit the machine if it is unfitted, and return its kernel, coefficients and names."""
        fitted = is_fitted(self.estimator)
        self.estimator_ = self.estimator if fitted else fit_member(self.estimator, X, y, weights)
        machine = read_machine(self.estimator_)
        check_count(machine)
        self._set_names(self._names(machine, X))
        return replace(machine, groups=self._groups)

    def _problem(self, machine: Machine, X: NDArray[Any], y: Any, weights: Floats | None) -> Problem:
        targets, n_outputs = None, machine.coef.shape[1]
        if self.normalise == "data":
            targets = y.reshape(len(y), -1)
            if targets.shape[1] != n_outputs:
                raise ValueError(
                    f"y must have one column for each of the machine's {n_outputs} outputs, got {targets.shape[1]}."
                )
        return replace(self._problem_of(X, weights), targets=targets)

    def kernel_component(self, variables: Any) -> KernelComponent:
        """Return the component K_u of the kernel itself, as a function of (X, X2).

        With the constant, `kernel_component(())`, all K_u sum to K; and f_u = sum_s xi_s K_u(·, x_s).

        Parameters
        ----------
        variables : int, str, or sequence of int or str
            The variables of the subspace, by indices or names.

        Returns
        -------
        KernelComponent
            A function of rows X, (N, n), and X2, (M, n), with values of shape (N, M).

        Raises
        ------
        ValueError
            If no term of the kernel depends on exactly these variables.
        """
        check_is_fitted(self)
        u = as_subspace(variables, self.decomposition_.feature_names)
        if u and u not in self._columns.dictionary.labels().subspaces:
            raise ValueError(f"The kernel has no component for {u}: no term of it depends on exactly these variables.")
        return KernelComponent(u, self)

    def _measure(self, X: NDArray[Any], weights: Floats | None) -> Measure:
        if isinstance(self.measure, str):
            if self.measure != "empirical":
                raise ValueError(f"measure must be 'empirical' or a tuple (mean, cov), got {self.measure!r}.")
            return RowsMeasure(X, weights, n_threads(self.n_jobs))
        try:
            mean, cov = self.measure
        except (TypeError, ValueError):
            raise ValueError(f"measure must be 'empirical' or a tuple (mean, cov), got {self.measure!r}.") from None
        if self.normalise != "data" and weights is not None and self.estimator_ is self.estimator:
            raise ValueError(
                "sample_weight was passed, but with measure=(mean, cov) and a fitted machine no rows are used. Pass no "
                "weights."
            )
        return GaussianMeasure(mean, cov, X.shape[1])

    def _assemble(
        self,
        machine: Any,
        sample: Sample,
        data: Deviations | None,
        dictionary: Dictionary,
        solutions: Sequence[Solution],
    ) -> None:
        several = self._columns.machine.several
        self._set_decomposition(
            dictionary,
            solutions,
            models=[self.estimator_],
            data=data,
            output_names=tuple(f"y{k}" for k in range(len(solutions))) if several else None,
            sample=sample,
            ci=self.ci,
            remedy=lambda: "a higher `order`",
            unit="score" if hasattr(self.estimator_, "decision_function") else "",
        )

    def _names(self, machine: Machine, X: NDArray[Any]) -> tuple[str, ...]:
        """Return the names of the variables: those of X, else those of the machine, else "x0", "x1" and so on."""
        if machine.n_features != X.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self.estimator_).__name__} is expecting {machine.n_features} "
                "features as input."
            )
        given = getattr(self, "feature_names_in_", None)
        names = None if given is None else tuple(map(str, given))
        check_model_names(names, machine.feature_names)
        return names or machine.feature_names or tuple(f"x{i}" for i in range(X.shape[1]))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.target_tags.multi_output = get_tags(self.estimator).target_tags.multi_output
        return tags


class KernelComponent:
    """The component K_u of a kernel, a function of the variables of u only.

    Parameters
    ----------
    subspace : tuple of int
    hdmr : KernelHDMR
    """

    def __init__(self, subspace: Subspace, hdmr: KernelHDMR) -> None:
        self.subspace = subspace
        self._hdmr = hdmr

    def __call__(self, X: Any, X2: Any) -> Floats:
        """Return K_u(x, x') for all rows of X, (N, n), and X2, (M, n): (N, M)."""
        hdmr = self._hdmr
        rows, others = hdmr._rows(X), hdmr._rows(X2)
        return hdmr._columns.kernel_component(self.subspace, rows, others, n_threads(hdmr.n_jobs))

    def __repr__(self) -> str:
        return f"KernelComponent({subspace_names([self.subspace], self._hdmr.feature_names_)[0]})"
