"""A replacement of `SALib.analyze.hdmr` with the same signature, keys and data frame. SALib is not needed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import check_consistent_length

from fasthdmr._estimators.hdmr import HDMR
from fasthdmr._spans.basis import closure, informative_rows
from fasthdmr._spans.pair_strengths import screen_pairs, screened_rows
from fasthdmr._spans.planning import MAX_JOINT_COLUMNS, SpanOptions, SpanPlan, plan_spans
from fasthdmr._support.numbers import check_numbers
from fasthdmr._support.optional import require
from fasthdmr._support.scale import Deviations
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.tables import format_rows, plus_minus
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import check_names
from fasthdmr._support.warnings import ConcurvityWarning, warn

__all__ = ["InputError", "ResultDict", "analyze"]

_DEGREE = 3
_INDICES = ("Sa", "Sb", "S")


class InputError(ValueError, RuntimeError):
    """Invalid input: a ValueError, as everywhere in this package, and a RuntimeError, as in SALib."""


class ResultDict(dict[str, Any]):
    """The result of `analyze`, with the keys of SALib's.

    Attributes
    ----------
    problem : mapping
        As it was passed.
    models : list of HDMR
        One for each subsample.
    """

    problem: Mapping[str, Any]
    models: list[HDMR]

    def to_df(self) -> Any:
        """Return the indices as a DataFrame: a row for each term, columns Sa, Sa_conf, Sb, …, ST_conf.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed (extra ``frame``).
        """
        pandas = require("pandas", extra="frame")
        columns = [column for name in (*_INDICES, "ST") for column in (name, f"{name}_conf")]
        return pandas.DataFrame({column: self[column] for column in columns}, index=self["names"])

    def emulate(self, X: ArrayLike, Y: ArrayLike | None = None) -> None:
        """Set "emulated" to the mean prediction of `models` at new rows.

        Parameters
        ----------
        X : array-like of shape (N, d)
            The new rows.
        Y : array-like of shape (N,), optional
            Values at these rows; "Y_test" is set to them.
        """
        if Y is not None:
            self["Y_test"] = Y
        self["emulated"] = np.mean([model.predict(X) for model in self.models], axis=0)

    def __str__(self) -> str:
        def cells(name: str, row: Any) -> tuple[Any, Any]:
            return float(self[name][row]), float(self[f"{name}_conf"][row])

        counts = self["Em"]["select"].sum(axis=1).astype(int).tolist()
        rows: list[tuple[Any, ...]] = []
        for k, term in enumerate(self["Term"]):
            total = (None, None) if np.isnan(self["ST"][k]) else cells("ST", k)
            rows.append((term, *(cell for name in _INDICES for cell in cells(name, k)), *total, counts[k]))
        sums = [cell for name in _INDICES for cell in cells(f"{name}_sum", ())]
        heads = [head for name in (*_INDICES, "ST") for head in (name, plus_minus())]
        return format_rows(("Term", *heads, "#select"), rows, [("Sum", *sums, None, None, None)])


def analyze(
    problem: Mapping[str, Any],
    X: ArrayLike,
    Y: ArrayLike,
    maxorder: int = 2,
    maxiter: int = 100,
    m: int = 2,
    K: int = 20,
    R: int | None = None,
    alpha: float = 0.95,
    lambdax: float = 0.01,
    print_to_console: bool = False,
    seed: Any = None,
) -> ResultDict:
    """Compute the sensitivity indices of a sample, as `SALib.analyze.hdmr.analyze` does.

    Parameters
    ----------
    problem : mapping
        Its "names" are the names of the variables; it is not changed. "groups" of several variables raise an error.
        "bounds", "dists" and other keys are ignored, as in SALib.
    X : array-like of shape (N, d)
        The rows of the sample.
    Y : array-like of shape (N,) or (N, 1)
        The output at these rows.
    maxorder : int
        Largest order of a term; above d it means d.
    maxiter : int
        Not used: the projection is joint, so there is no iteration.
    m : int
        Intervals between knots: m + 3 cubic B-splines for each variable. There are fewer, in terms of high order first,
        if there were less than two rows for each dimension of their space, or not enough memory.
    K : int
        Number of subsamples, over which indices are averaged; 1: all rows, once.
    R : int or None
        Rows of each subsample, drawn without replacement; None: N/2.
    alpha : float in [0.5, 1)
        Confidence level of the intervals, and of the F-tests that `select` reports.
    lambdax : float
        Not used: the solution is the one of minimum norm, without a penalty.
    print_to_console : bool
        Whether to print the result.
    seed : int, sequence of int, Generator or None
        What determines the subsamples. None means 0: the same call gives the same result.

    Returns
    -------
    ResultDict
        Sa, Sb, S, (C,): indices of all C terms. ST, (C,): totals of the variables, NaN for the other terms. Sa_conf, …:
        half-widths of their confidence intervals. Sa_sum, Sa_sum_conf, …: of the sums over terms. Term, names: of the
        terms, "x/y" for pairs. select, (C * K,): whether the F-test of a term is significant in a subsample. Em: the
        numbers of terms, RMSE, the emulated Y_e and others. Y_em, (R, C): terms at the rows of the last subsample.
        idx, (R, K): the subsamples. RT, (K,): seconds. X, Y: as passed.

    Raises
    ------
    InputError
        A ValueError and RuntimeError: if a parameter is invalid, or the terms do not fit into memory.

    Warns
    -----
    PairsWarning
        Once, if pairs are left out for lack of rows: their indices are 0.
    ConstantWarning
        Once, if Y is constant.

    Notes
    -----
    Signature and keys: SALib 1.6. Intended differences: terms are orthogonal to lower ones also for
    dependent variables; Sb is S - Sa (specification, section 2); the sums have intervals, where SALib's are 0; any
    number of rows and any maxorder are allowed; a constant column has indices of 0. Em has no spline coefficients:
    `emulate`, and the attribute `models`, give values at new rows. `SALib.plotting.hdmr.plot` takes the result.
    With a SALib ProblemSpec `sp`, call ``sp.analyze(fasthdmr.salib.analyze)``, then ``sp.analysis.to_df()``.

    Below some 300 rows prefer K=1, which uses all rows and gives no intervals.

    Examples
    --------
    >>> import fasthdmr
    >>> X, Y = fasthdmr.datasets.make_ishigami(1000, random_state=0)
    >>> Si = fasthdmr.salib.analyze({"num_vars": 3, "names": ["x1", "x2", "x3"]}, X, Y, K=2)
    >>> Si["Term"]
    ['x1', 'x2', 'x3', 'x1/x2', 'x1/x3', 'x2/x3']
    """
    try:
        check_numbers(X, "X")
        check_numbers(Y, "Y")
        rows = check_array(X, dtype=np.float64, input_name="X")
        values = column_or_1d(check_array(Y, ensure_2d=False, dtype=np.float64, input_name="Y"))
        check_consistent_length(rows, values)
        _check_problem(problem, rows.shape[1])
        check_names(X, tuple(map(str, problem["names"])), during="the problem", may_be_unnamed=True)
        _check_parameters(len(rows), maxorder=maxorder, maxiter=maxiter, m=m, K=K, R=R, alpha=alpha, lambdax=lambdax)
        idx = _subsamples(len(rows), K, R, seed)
        order = min(maxorder, rows.shape[1])
        plan = _plan(rows, values, len(idx), order, m)
    except ValueError as error:
        raise InputError(str(error)) from error
    models, runtimes = _fit(rows, values, idx, plan, order)
    terms = [u for t in range(1, order + 1) for u in combinations(range(rows.shape[1]), t)]
    Em, Y_em = _emulators(models, rows, values, idx, terms, plan.sizes, alpha)
    names = ["/".join(str(problem["names"][j]) for j in u) for u in terms]
    Si = ResultDict(_indices(models, terms, alpha), select=Em["select"].flatten(), Term=names, names=names)
    Si.update(Em={**Em, "m": m, "maxorder": order}, RT=runtimes, Y_em=Y_em, idx=idx, X=X, Y=Y)
    Si.problem, Si.models = problem, models
    if print_to_console:
        print(Si)
    return Si


def _check_problem(problem: Mapping[str, Any], d: int) -> None:
    names, groups = list(problem["names"]), problem.get("groups")
    if len(names) != d:
        raise ValueError(f"problem['names'] has {len(names)} names, but X has {d} columns.")
    if problem.get("num_vars", d) != d:
        raise ValueError(f"problem['num_vars'] is {problem['num_vars']}, but X has {d} columns.")
    # Without groups, SALib's ProblemSpec makes a group of each variable.
    if groups is not None and list(groups) not in ([], names):
        raise ValueError(
            f"Groups of variables are not supported, got problem['groups'] = {list(groups)!r}. Pass "
            "{**problem, 'groups': None}: the index of a group is the sum of S over the terms within it."
        )


def _check_parameters(n_rows: int, *, R: int | None, alpha: float, lambdax: float, **counts: int) -> None:
    def is_count(value: Any) -> bool:
        return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 1

    for name, value in counts.items():
        if not is_count(value):
            raise ValueError(f"{name} must be a positive integer, got {value!r}.")
    if R is not None and not (is_count(R) and n_rows >= R):
        raise ValueError(f"R must be an integer from 1 to {n_rows}, the number of rows of X, or None; got {R!r}.")
    if not 0.5 <= alpha < 1:
        raise ValueError(f"alpha must be at least 0.5 and below 1, got {alpha!r}.")
    if not 0 <= lambdax < np.inf:
        raise ValueError(f"lambdax must be a number that is not negative, got {lambdax!r}.")


def _subsamples(n_rows: int, K: int, R: int | None, seed: Any) -> NDArray[np.intp]:
    """Return the rows of each subsample, (R, K)."""
    if K == 1:
        return np.arange(n_rows)[:, None]
    rng = np.random.default_rng(0 if seed is None else seed)
    size = max(1, n_rows // 2) if R is None else R
    return np.argsort(rng.random((n_rows, K)), axis=0)[:size]


def _plan(X: Floats, Y: Floats, n_rows: int, order: int, m: int) -> SpanPlan:
    """Choose terms and sizes once, for all subsamples."""
    d = X.shape[1]
    some = screened_rows(len(X))
    return plan_spans(
        closure([tuple(range(d))], order),
        min(n_rows, informative_rows(X, None)),
        order,
        SpanOptions("spline", _DEGREE, _sizes(m + _DEGREE, d, order, n_rows)),
        joint=True,
        strength=lambda pairs: screen_pairs(X[some], None, Y[some, None], pairs, _DEGREE),
    )


def _sizes(wanted: int, d: int, order: int, n_rows: int) -> list[int] | None:
    """Return the number of cubic B-splines of a variable by order: as wanted, or fewer, in high orders first.

    None: not even four are possible, and `plan_spans` decides.
    """

    def count(sizes: list[int], less: int) -> int:
        return sum(comb(d, t) * (size - less) ** t for t, size in enumerate(sizes, start=1))

    sizes = [wanted] * order
    for t in reversed(range(order)):
        for size in range(wanted, _DEGREE, -1):
            sizes[t] = size
            # The B-splines of a variable sum to 1: without the constant their space has one dimension less.
            if count(sizes, 0) <= MAX_JOINT_COLUMNS and 2 * count(sizes, 1) <= n_rows:
                return sizes
    return None


def _fit(X: Floats, Y: Floats, idx: NDArray[np.intp], plan: SpanPlan, order: int) -> tuple[list[HDMR], Floats]:
    """Return a model for each subsample, and their times of fitting in seconds."""
    models, runtimes = [], []
    interactions = [u for u in plan.subspaces if len(u) > 1]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ConcurvityWarning)  # SALib has the correlations of inputs in Sb
        for rows in idx.T:
            started = time.perf_counter()
            model = HDMR(order=order, interactions=interactions, degree=_DEGREE, n_splines=plan.sizes)
            models.append(model.fit(X[rows], Y[rows]))
            runtimes.append(time.perf_counter() - started)
    # Each warning once, instead of once for each subsample.
    for first in {warning.category: warning for warning in reversed(caught)}.values():
        warn(first.message, first.category)
    return models, np.array(runtimes)


def _emulators(
    models: Sequence[HDMR],
    X: Floats,
    Y: Floats,
    idx: NDArray[np.intp],
    terms: list[Subspace],
    sizes: Sequence[int],
    alpha: float,
) -> tuple[dict[str, Any], Floats]:
    """Return the dictionary that SALib calls Em, and the terms at the rows of the last subsample, (R, C)."""
    orders = np.array([len(u) for u in terms])
    by_order = [np.array([u for u in terms if len(u) == t]) for t in range(1, orders[-1] + 1)]
    number = {u: c for c, u in enumerate(terms)}
    n_columns = np.array(sizes)[orders - 1] ** orders
    emulated, select = np.empty(idx.shape), np.empty((len(terms), len(models)))
    scale = float(Deviations.of(Y[:, None], None).scale[0])
    for k, (model, rows) in enumerate(zip(models, idx.T, strict=True)):
        Y_em = np.zeros((len(rows), len(terms)))
        Y_em[:, [number[u] for u in model.subspaces_]] = model.evaluate(X[rows])
        emulated[:, k] = model.intercept_ + Y_em.sum(axis=1)
        select[:, k] = _f_tests((Y[rows] - model.intercept_) / scale, Y_em / scale, n_columns, alpha)
    Em = {
        "nterms": select.sum(axis=0),
        "RMSE": scale * np.sqrt(np.mean(((Y[idx] - emulated) / scale) ** 2, axis=0)),
        "Y_e": emulated,
        "f0": np.array([model.intercept_ for model in models]),
        "n": len(terms),
        **{f"n{t}": int((orders == t).sum()) for t in range(1, max(3, orders[-1]) + 1)},
        "c1": by_order[0][:, 0],
        **{f"c{t}": subspaces for t, subspaces in enumerate(by_order[1:], start=2)},
        "select": select,
    }
    return Em, Y_em


def _f_tests(centred: Floats, Y_em: Floats, n_columns: NDArray[np.intp], alpha: float) -> NDArray[np.bool_]:
    """Return whether each term alone explains Y significantly better than the mean does (F-test), (C,)."""
    freedom = np.maximum(len(centred) - n_columns, 1)
    before = np.sum(centred**2)
    after = np.sum((centred[:, None] - Y_em) ** 2, axis=0)
    critical = stats.f.ppf(alpha, n_columns, freedom)
    significant: NDArray[np.bool_] = (before - after) * freedom > critical * n_columns * after
    return significant


def _indices(models: Sequence[HDMR], terms: list[Subspace], alpha: float) -> dict[str, Any]:
    """Return means over the models, and half-widths of confidence intervals, of indices, their sums and totals."""
    number = {u: c for c, u in enumerate(terms)}
    half = stats.norm.ppf(0.5 + alpha / 2)
    values = {name: np.zeros((len(terms), len(models))) for name in _INDICES}
    total = np.full((len(terms), len(models)), np.nan)
    for k, model in enumerate(models):
        position = [number[u] for u in model.subspaces_]
        for name in _INDICES:
            values[name][position, k] = getattr(model.sensitivity_, name)
        total[: model.n_features_in_, k] = model.sensitivity_.ST
    found: dict[str, Any] = {}
    for suffix, part in (("", values), ("_sum", {name: table.sum(axis=0) for name, table in values.items()})):
        for name, table in part.items():
            found[name + suffix], found[f"{name}{suffix}_conf"] = table.mean(axis=-1), half * table.std(axis=-1)
    return {**found, "ST": total.mean(axis=1), "ST_conf": half * total.std(axis=1)}
