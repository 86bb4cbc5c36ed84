"""Fits in parts: estimators that see a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from fasthdmr._batches.batch import Batch
from fasthdmr._batches.batches import Batches
from fasthdmr._data.encoding import Encoding
from fasthdmr._dictionaries.dictionary import Dictionary
from fasthdmr._estimators.knots import Knots
from fasthdmr._estimators.row_state import Part, RowState
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._solve.problem import Problem
from fasthdmr._support.groups import Groups
from fasthdmr._support.progress import batches_progress
from fasthdmr._support.sample import Sample
from fasthdmr._support.scale import Deviations
from fasthdmr._support.threads import n_threads
from fasthdmr._support.typing import Floats
from fasthdmr._support.warnings import FastHDMRWarning, warn

FIRST_ROWS = 50_000
"""The number of rows at the beginning of a source from which knots are chosen."""

NO_ROWS = "Found array with 0 sample(s) while a minimum of 1 is required: no batch has rows."

_MAY_DIFFER = ("estimators", "model", "estimator", "knots", "n_jobs", "verbose", "random_state", "ci")
_LAZY = ("decomposition_", "alpha_")  # attributes that follow from the sums


@dataclass(frozen=True, eq=False)
class Start:
    """What all parts have in common.

    Attributes
    ----------
    strategy : Additive
        Without rows.
    plan : object
        That of the strategy.
    knots : Knots
    constants : dict of int to float
        The values of columns that are constant in the first rows. They have no spans.
    """

    strategy: Any
    plan: Any
    knots: Knots
    constants: Mapping[int, float] = field(default_factory=dict)


class Incremental:
    """The methods of estimators that see their rows in parts."""

    knots: Any = None
    verbose: int = 0
    get_params: Callable[..., dict[str, Any]]
    _start: Start | None = None
    _state: RowState | None = None
    n_jobs: int | None
    _encoding: Encoding
    _groups: Groups | None

    @available_if(lambda self: self._has_fitted_models())  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Add rows to those that were seen before.

        Results are computed when they are first asked for. The first call chooses the knots, unless the parameter
        `knots` gives them; later rows outside of their range are moved to its ends.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
            Rows of the empirical distribution that is the measure.
        y : array-like of shape (N,) or (N, K), optional
            As for `fit`.
        sample_weight : array-like of shape (N,), optional
            Non-negative weights of the rows. Rows of weight 0 are ignored, also if all are.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the rows do not belong to those seen before: other columns, a level that was not there when the knots
            were chosen, missing values or changes in a column that had none. The estimator is left as it was. Also if
            rows must be read twice.

        Warns
        -----
        FastHDMRWarning
            If the estimator was fitted by `fit`, which keeps no sums to which rows could be added. It begins anew.

        See Also
        --------
        fasthdmr.merge : Merge estimators that saw different rows.
        fasthdmr.batches : Batches of rows for `fit`.

        Examples
        --------
        >>> import numpy as np
        >>> import fasthdmr
        >>> X, y = fasthdmr.datasets.make_ishigami(4000, random_state=0)
        >>> hdmr = fasthdmr.HDMR()
        >>> for rows in np.split(np.arange(4000), 4):
        ...     hdmr = hdmr.partial_fit(X[rows], y[rows])
        >>> round(float(hdmr.sensitivity_.S[1]), 1)
        0.4
        """
        with self._restored_on_error():
            if self._state is None and "decomposition_" in vars(self):
                warn(
                    f"The rows that this {type(self).__name__} was fitted on are forgotten: fit keeps no sums to which "
                    "rows could be added, except with `knots` or on fasthdmr.batches(...).",
                    FastHDMRWarning,
                )
                self._start = None
            self._add(Batch(0, X, y, sample_weight), name="")
            self._forget_results()
        return self

    def _forget_results(self) -> None:
        for name in _LAZY:
            vars(self).pop(name, None)

    @property
    def knots_(self) -> Knots:
        """The knots and levels, for estimators whose rows are other parts of the same data (parameter `knots`).

        Only estimators that were fitted in parts or with `knots` have them.
        """
        if self._start is None:
            raise AttributeError("no knots")  # `__getattr__` raises the error that the caller sees
        return self._start.knots

    def __getattr__(self, name: str) -> Any:
        if name in _LAZY and vars(self).get("_state") is not None:
            with self._restored_on_error():
                self._finish()
            if name in vars(self):
                return vars(self)[name]
        why = ", because it was not fitted in parts: by partial_fit, on batches or with `knots`"
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}{why if name == 'knots_' else ''}"
        )

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit the estimator: in parts if X is batches or there are `knots`, else on all rows at once."""
        if isinstance(X, Batches) or self.knots is not None:
            return self._fit_parts(X, y, sample_weight)
        with self._restored_on_error():
            self._start = self._state = None
            self._fit_at_once(X, y, sample_weight)
        return self

    def _fit_at_once(self, X: Any, y: Any, sample_weight: Any) -> None:
        part = self._first_part(X, y, sample_weight)
        sample = Sample.of(part.rows, part.problem.weights, part.values)
        solved = self._solve(part)
        self._assemble(part.strategy, sample, self._moments_of_y(part.problem), *solved)

    def _solve(self, part: Part) -> tuple[Dictionary, Sequence[Solution]]:
        """Return the dictionary and the components of every output, for rows that are seen at once."""
        solved: tuple[Dictionary, Sequence[Solution]] = part.strategy.solve(part.problem)
        return solved

    def _moments_of_y(self, problem: Problem) -> Deviations | None:
        """Return the moments of y if indices are divided by its variance."""
        if self.normalise != "data":
            return None
        assert problem.targets is not None
        return Deviations.of(problem.targets, problem.weights)

    def _problem_of(self, X: NDArray[Any], weights: Floats | None) -> Problem:
        """Return the problem of rows, without targets."""
        n_levels, threads = self._encoding.counts, n_threads(self.n_jobs)
        return Problem(X, weights, self._kept(), None, threads, self.verbose, n_levels, self._groups)

    def _fit_parts(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit the estimator on batches, or on one."""
        source: Any = X
        if not isinstance(X, Batches):
            source = [Batch(0, X, y, sample_weight)]
        elif y is not None or sample_weight is not None:
            raise ValueError(
                "y and sample_weight cannot be passed with batches. Name their columns: "
                "fasthdmr.batches(source, target=..., weight=...)."
            )
        with self._restored_on_error():
            self._begin_parts(source)
            for batch in batches_progress(source, total=None, verbose=self.verbose):
                self._add(batch, name=f"Batch {batch.number}: " if source is X else "")
                del batch  # so that it is not alive while the next is read
            self._finish_with(self._state)
        return self

    def _begin_parts(self, batches: Any) -> None:
        """Forget earlier rows, and choose the knots, from the first rows or the parameter `knots`."""
        if not self._has_fitted_models():
            raise ValueError("Models cannot be fitted in batches. Fit them first, and pass them fitted.")
        self._start = self._state = None
        first = Batch(0, None)
        if self.knots is None:
            first = batches.first(FIRST_ROWS) if isinstance(batches, Batches) else batches[0]
        self._begin(first, batches)

    def _finish_with(self, state: RowState | None) -> None:
        """Use the sums of all rows, and compute the decomposition."""
        if state is None:
            raise ValueError(NO_ROWS)
        self._state = state
        self._forget_results()
        self._finish()

    def _add(self, batch: Batch, *, name: str) -> None:
        """Add the sums over a batch to those of the batches before."""
        if self._start is None:
            self._begin(batch, None)
        with named(name):
            state = self._state_of(batch.X, batch.y, batch.sample_weight)
            if state is not None:
                self._state = state if self._state is None else self._state.merged(state)

    def _state_of(self, X: Any, y: Any, sample_weight: Any) -> RowState | None:
        """Return the sums over rows, None if no row has weight."""
        start = self._start
        assert start is not None
        part = self._part_of(start.strategy, X, y, sample_weight)
        if part is None:
            return None
        _check_part(part, start, self._column_names)
        return RowState.of(part, start.plan, with_targets=self.normalise == "data")

    def _part_of(self, strategy: Any, X: Any, y: Any, sample_weight: Any) -> Part | None:
        """Return rows after the first look, None if no row has weight."""
        if sample_weight is not None and np.size(sample_weight) and not np.any(np.asarray(sample_weight)):
            return None
        part: Part = self._next_part(strategy, X, y, sample_weight)
        return part

    def _begin(self, first: Batch, source: Any) -> None:
        """Choose the knots, from the first rows or the parameter `knots`."""
        X, y, weights, plan = first.X, first.y, first.sample_weight, None
        if isinstance(self.knots, Knots):
            X, y, weights, plan = self.knots.X, self.knots.y, None, self.knots.plan
            self._known_encoding = self.knots.encoding
        elif self.knots is not None:
            if self._needs_y():
                raise ValueError(
                    "knots must be the knots_ of a fitted estimator here, since rows without y do not determine the "
                    "spans: fit one on a part of the rows with partial_fit(X, y)."
                )
            X, y, weights = self.knots, None, None
        part = self._first_part(X, y, weights)
        vars(self).pop("_known_encoding", None)
        strategy = self._after_first_pass(part.strategy, source)
        plan = strategy.plan(part.problem, plan)
        codes = part.rows[:, : len(self._column_names)]
        knots = Knots.of(X, y, codes, self._encoding, plan)
        self._start = Start(self._without_rows(strategy), plan, knots, _constants(part, self._columns_in_use()))

    def _has_fitted_models(self) -> bool:
        """Return whether no model is to be fitted, so that rows can be seen in parts."""
        return False

    def _decomposes_same(self, other: Any) -> bool:
        """Return whether another estimator of the same class has the same parameters; models are not compared."""
        own, others = self.get_params(deep=False), other.get_params(deep=False)
        return all(repr(own[name]) == repr(others[name]) for name in own if name not in _MAY_DIFFER)

    def _needs_y(self) -> bool:
        """Return whether the decomposition needs y."""
        return False

    def _columns_in_use(self) -> set[int]:
        """Return the columns of the rows on which the black box depends."""
        return set()

    def _after_first_pass(self, strategy: Any, batches: Any) -> Any:
        """Return the strategy after a first pass over the rows, if it needs one."""
        return strategy

    def _without_rows(self, strategy: Any) -> Any:
        """Return the strategy without the rows that it was made with."""
        return strategy

    def _finish(self) -> None:
        """Compute the decomposition from the sums."""
        start, state = self._start, self._state
        assert start is not None and state is not None
        sample = state.sample()
        problem = self._problem_of(sample.rows, sample.weights)
        solved = start.strategy.solve_sums(start.plan, state.sums, state.counts, problem)
        self._assemble(start.strategy, sample, state.targets, *solved)


def _constants(part: Part, columns: set[int]) -> dict[int, float]:
    """Return the values of those columns that are constant in the rows of a part."""
    X = part.problem.X
    return {j: float(X[0, j]) for j in sorted(columns) if _all_equal(X[:, j], X[0, j])}


def _all_equal(column: NDArray[Any], value: float) -> bool:
    return bool(np.isnan(column).all() if np.isnan(value) else (column == value).all())


def _check_part(part: Part, start: Start, names: tuple[str, ...]) -> None:
    """Raise an error if columns have values for which there are no spans."""
    basis, weights = start.knots.basis, part.problem.weights
    if basis is None:
        return
    rows = part.problem.X if weights is None else part.problem.X[weights > 0]
    remedy = "Pass rows in which this occurs as `knots`."
    for j, value in start.constants.items():
        if not _all_equal(rows[:, j], value):
            raise ValueError(f"Column {names[j]!r} was constant when the knots were chosen, but is not here. {remedy}")
    for j in sorted({axis.variable for axis in basis.axes if not axis.missing}):
        if np.isnan(rows[:, j]).any():
            name = repr(names[j])
            raise ValueError(f"Column {name} had no missing values when the knots were chosen, but has here. {remedy}")


@contextmanager
def named(name: str) -> Iterator[None]:
    """Put the name of a batch before the messages of errors about data."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if not name or type(error) not in (TypeError, ValueError):
            raise
        raise type(error)(f"{name}{error}") from error
