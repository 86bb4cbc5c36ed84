"""The result that every estimator returns: component functions, indices, and what is left over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fasthdmr._dictionaries.dictionary import Dictionary
from fasthdmr._results.concurvity import concurvity
from fasthdmr._results.fidelity import Fidelity
from fasthdmr._results.fourier import FourierSeries, project
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._solve.hierarchy import Solution, indices_of
from fasthdmr._solve.problem import Kept
from fasthdmr._support.sample import Sample
from fasthdmr._support.scale import Deviations, in_units
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import take_columns
from fasthdmr._support.warnings import ConstantWarning, ResidualWarning, warn
from fasthdmr._uncertainty.bootstrap import KINDS
from fasthdmr._uncertainty.uncertainty import Uncertainty

_LARGE_RESIDUAL = 0.1


class Source(Protocol):
    """What component functions belong to: a `Decomposition`, or a function whose components have a closed form."""

    def component_at(self, subspace: Subspace, values: Floats) -> Floats:
        """Return one component at given values of its variables, (N,) or (N, K)."""
        ...

    def marginal(self, variable: int) -> tuple[Floats, Floats] | None:
        """Return values of a variable and their weights, each (S,), that stand for its law; None if there are none."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Component:
    """One component function f_u.

    Attributes
    ----------
    subspace : tuple of int
        u, sorted column indices.
    names : tuple of str
        The names of these variables.
    variance : float or ndarray of shape (K,)
        Var(f_u) under the fitted measure, one a output where there are several.
    bounds : ndarray of shape (|u|, 2) or None
        From where to where each variable is worth plotting: the 1st and 99th percentile of the fitted rows, or of
        the law of a closed form.
    arguments : tuple of str
        The names in the order in which the component takes its variables: that in which it was asked for.
        ``component(("s5", "bmi"))`` takes s5 first, though s5 is the later column, and so the second of `names`.

    Notes
    -----
    Rows without names go by position. Of data frames, and Series with a name, the names have to be the `arguments`, in
    any order; a component of variables without names, x0, x1 and so on, takes frames with other names by position.
    """

    subspace: Subspace
    names: tuple[str, ...]
    variance: float | Floats
    bounds: Floats | None
    arguments: tuple[str, ...]
    _order: tuple[int, ...] | None  # of the arguments, to make them those of the subspace; None: they are other columns
    _source: Source
    _uncertainty: Uncertainty | None = None

    def __call__(self, values: ArrayLike) -> Floats:
        """Evaluate f_u.

        Parameters
        ----------
        values : array-like or data frame of shape (N, |u|), or (N,) for one variable
            Values of the variables, in the order of `arguments`; of a data frame by name. (For `fasthdmr.decompose`:
            the columns of the dictionary, (N, b).)

        Returns
        -------
        ndarray of shape (N,) or (N, K)

        Raises
        ------
        ValueError, TypeError
            If `values` has another number of columns or other names, or holds anything but numbers.
        """
        return self._source.component_at(self.subspace, self._columns(values))

    def standard_error(self, values: ArrayLike) -> Floats:
        """Return the pointwise standard error of f_u, for a component of one variable.

        It says how far f_u would move with another sample of as many rows, the black box staying as it is. Twice this
        to either side makes a band that holds the component of all rows there are at about 95 % of the points.

        Parameters
        ----------
        values : array-like or data frame of shape (N,) or (N, 1)
            Values of the variable.

        Returns
        -------
        ndarray of shape (N,) or (N, K)

        Raises
        ------
        ValueError, TypeError
            If the component is of several variables, or its measure is no sample of rows; as for a call.

        Examples
        --------
        >>> import numpy as np
        >>> from fasthdmr import HDMR
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
        >>> component = HDMR(lambda X: X[:, 0] + X[:, 0] * X[:, 1]).fit(X).component(0)
        >>> bool((component.standard_error([-0.5, 0.0, 0.5]) < 0.05).all())
        True
        """
        if len(self.subspace) > 1:
            raise ValueError(
                f"standard_error is for components of one variable, got {' '.join(self.names)}; the indices of all "
                "components have intervals: sensitivity_.Sa_conf, .S_conf."
            )
        if self._uncertainty is None:
            raise ValueError(
                f"The measure of {self!r} is known, or its rows were not kept, so it has no standard error. Fit "
                "HDMR, KernelHDMR or TreeHDMR with measure='empirical' to have one."
            )
        return self._uncertainty.standard_error(self.subspace, self._columns(values))

    def fourier(self, degree: int = 4) -> FourierSeries:
        """Return a smooth view: the projection on zero-mean Fourier series over the variable's range (spec 5).

        The decomposition stays as it is. The measure is that of the fitted rows, of many rows an even sample.

        Parameters
        ----------
        degree : int
            The highest frequency; the paper takes 4.

        Returns
        -------
        FourierSeries
            Callable on (N,) values, of a data frame by name.

        Raises
        ------
        ValueError
            If the component is not of one variable, or `degree` is not a positive integer.
        """
        marginal = self._source.marginal(self.subspace[0]) if len(self.subspace) == 1 else None
        if marginal is None:
            raise ValueError(f"Only a component of one variable has a Fourier series, got {' '.join(self.names)}.")
        return replace(project(self, *marginal, degree), name=self.names[0])

    def _columns(self, values: Any) -> Any:
        """Return values in the order of the subspace; other shapes as they are, for whom they go to to refuse."""
        if self._order is None:
            return values
        columns = take_columns(values, self.arguments, repr(self))
        if columns.ndim == 1 and len(self.subspace) == 1:
            return columns[:, None]
        return columns[:, list(self._order)] if columns.shape[1:] == (len(self.subspace),) else columns

    def __repr__(self) -> str:
        return f"Component({' '.join(self.arguments)})"


@dataclass(frozen=True, eq=False, repr=False)
class Decomposition:
    """The HDMR f = f_0 + sum f_u + r of a black box with one or several outputs.

    Attributes
    ----------
    dictionary : Dictionary
        The columns that the components are made of.
    solutions : tuple of Solution, length K
        One an output.
    subspaces : list of tuple of int, length C
        The subspaces whose components are kept: those of all outputs.
    sensitivity : Sensitivity
    feature_names : tuple of str
    output_names : tuple of str or None
        None for a black box with one output, whose arrays have no axis of outputs.
    sample : Sample or None
        A few of the fitted rows; None for a dictionary of columns.
    concurvity : ndarray of shape (n,) or (n, K), or None
        How much of each component of one variable can be written as a sum of functions of the other variables; NaN for
        components that hardly matter. None without spans, or where rows do not tell.
    """

    dictionary: Dictionary
    solutions: tuple[Solution, ...]
    subspaces: list[Subspace]
    sensitivity: Sensitivity
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...] | None
    sample: Sample | None = None
    concurvity: Floats | None = None

    @property
    def intercept(self) -> float | Floats:
        """The constant f_0, a float or (K,)."""
        f_0: float | Floats = self._by_output([s.constant for s in self.solutions])
        return f_0

    @property
    def residual(self) -> float | Floats:
        """Cov(r, f) / V of what the components leave over, a float or (K,)."""
        return self.sensitivity.residual

    @property
    def rank(self) -> int | list[int] | None:
        """Numerical rank of the columns that are the spans, the constant included; one an output.

        None where spans have a ridge (splines and bins), or where there are none (the product measure).
        """
        ranks = [s.rank for s in self.solutions if s.rank is not None]
        if not ranks:
            return None
        return ranks[0] if self.output_names is None else ranks

    @property
    def coef(self) -> Floats | list[Floats]:
        """The coefficients beta of the columns; one array an output."""
        coef = [s.coef for s in self.solutions]
        return coef[0] if self.output_names is None else coef

    @property
    def components(self) -> list[Component]:
        """The component functions, in the order of `subspaces`."""
        return [self._component(u) for u in self.subspaces]

    def component(self, variables: Sequence[int]) -> Component:
        """Return the component function of a subspace that is kept; it takes the variables in the order given.

        Raises
        ------
        ValueError
            If there is none.
        """
        subspace = tuple(sorted(variables))
        if subspace not in self.subspaces:
            names = " ".join(self.feature_names[i] for i in subspace)
            raise ValueError(
                f"There is no component for {subspace} ({names}): the black box has no term that depends on exactly "
                "these variables, or `order` or `interactions` leave it out. The ones that exist are in subspaces_."
            )
        return self._component(variables)

    def evaluate(self, rows: Any, n_threads: int = 1) -> Floats:
        """Return the component functions at rows, (N, C) or (N, C, K)."""
        values = []
        for k, solution in enumerate(self.solutions):
            kept = np.flatnonzero(is_kept(solution, self.subspaces))
            part = self.dictionary.evaluate(rows, k, solution.weights[:, kept], n_threads)
            for c, moved, change in self._changes(rows, k, kept):
                part[moved, c] += change
            if len(kept) < len(self.subspaces):  # the others exist for another output only
                number = {u: c for c, u in enumerate(self.subspaces)}
                whole = np.zeros((len(part), len(self.subspaces)), order="F")
                whole[:, [number[solution.subspaces[c]] for c in kept]] = part
                part = whole
            values.append(part)
        return values[0] if self.output_names is None else np.stack(values, axis=2)

    def predict(self, rows: Any, n_threads: int = 1) -> Floats:
        """Return f_0 plus the components that are kept, (N,) or (N, K)."""
        values = self._each_output(rows, lambda s: s.reduced(is_kept(s, self.subspaces)), n_threads)
        for k, solution in enumerate(self.solutions):
            output = values if self.output_names is None else values[:, k]
            for _, moved, change in self._changes(rows, k, np.flatnonzero(is_kept(solution, self.subspaces))):
                output[moved] += change
        return values

    def black_box(self, rows: Any, n_threads: int = 1) -> Floats:
        """Return f itself, (N,) or (N, K)."""
        return self._each_output(rows, lambda s: s.black_box, n_threads)

    def component_at(self, subspace: Subspace, values: Floats) -> Floats:
        """Return one component at given values of its variables, (N,) or (N, K)."""
        rows = self.dictionary.embed(subspace, values)
        columns = []
        for k, s in enumerate(self.solutions):
            own = np.flatnonzero(is_kept(s, [subspace]))
            column = self.dictionary.evaluate(rows, k, s.weights[:, own], 1).sum(axis=1)
            for _, moved, change in self._changes(rows, k, own):
                column[moved] += change
            columns.append(column)
        return columns[0] if self.output_names is None else np.column_stack(columns)

    def _changes(
        self, rows: Any, output: int, components: NDArray[np.int64]
    ) -> Iterable[tuple[int, NDArray[np.int64], Floats]]:
        """Yield what components of pairs change by at rows far from the fitted ones: number, rows and change."""
        solution = self.solutions[output]
        subspaces = [solution.subspaces[c] for c in components]
        return self.dictionary.changes(rows, output, solution.weights[:, components], subspaces)

    def columns_of(self, variable: int, values: Floats) -> Floats:
        """Return the columns that components of one variable are made of, at its values, (N,): (N, m).

        Sums of trees are divided by a power of two near what their leaves reach.
        """
        u = (variable,)
        components = [
            (k, s.weights[:, [s.subspaces.index(u)]]) for k, s in enumerate(self.solutions) if u in s.subspaces
        ]
        return self.dictionary.columns_of(self.dictionary.embed(u, values[:, None]), components)

    def marginal(self, variable: int) -> tuple[Floats, Floats] | None:
        """Return the sampled values of a variable and their weights, each (S,), or None without a sample."""
        return None if self.sample is None else (self.sample.rows[:, variable], self.sample.weights)

    def _component(self, variables: Sequence[int]) -> Component:
        subspace = tuple(sorted(variables))
        variances = [
            in_units(s.variance[s.subspaces.index(subspace)], s.scale) if subspace in s.subspaces else 0.0
            for s in self.solutions
        ]
        return Component(
            subspace,
            tuple(self.feature_names[i] for i in subspace),
            self._by_output(variances),
            None if self.sample is None else self.sample.bounds[list(subspace)],
            tuple(self.feature_names[i] for i in variables),
            None if self.dictionary.takes_columns else tuple(map(variables.index, subspace)),
            self,
            self.sensitivity.uncertainty,
        )

    def _each_output(self, rows: Any, weights: Callable[[Solution], Any], n_threads: int) -> Floats:
        columns = [self.dictionary.evaluate(rows, k, weights(s), n_threads)[:, 0] for k, s in enumerate(self.solutions)]
        return columns[0] if self.output_names is None else np.column_stack(columns)

    def _by_output(self, values: Sequence[Any]) -> Any:
        return float(values[0]) if self.output_names is None else np.array(values)


def is_kept(solution: Solution, subspaces: Iterable[Subspace]) -> NDArray[np.bool_]:
    """Return which components of a solution belong to the subspaces that are kept, (C,)."""
    kept = set(subspaces)
    return np.array([u in kept for u in solution.subspaces], dtype=bool)


def assemble(
    dictionary: Dictionary,
    solutions: Sequence[Solution],
    kept: Kept,
    *,
    feature_names: tuple[str, ...],
    output_names: tuple[str, ...] | None,
    data: Deviations | None = None,
    sample: Sample | None = None,
    ci: str | None = "jackknife",
    remedy: Callable[[], str] | None = None,
) -> Decomposition:
    """Put the solutions of all outputs together, and work out the indices of spec 2.

    Parameters
    ----------
    dictionary : Dictionary
    solutions : sequence of Solution
    kept : Kept
    feature_names, output_names : tuple of str
    data : Deviations or None
        Whose variances the indices are divided by, if not by that of each output.
    sample : Sample or None
    ci : str or None
        What intervals come from, "jackknife" or "bootstrap"; None: the measure is not that of the rows, and they
        tell nothing.
    remedy : callable or None
        Says what lowers the residual, if it is large; None where that is no fault.

    Returns
    -------
    Decomposition

    Warns
    -----
    ConstantWarning
        If an output, or what its indices are divided by, is constant: its indices are 0.
    ResidualWarning
        If the components leave over more than a tenth of the variance of an output.
    ConcurvityWarning
        If what a variable does can be written in others.
    """
    subspaces = sorted({u for s in solutions for u in s.subspaces if u in kept}, key=lambda u: (len(u), u))
    _warn_of_constants([s.is_constant for s in solutions], "The output of the black box", output_names)
    if data is not None:
        _warn_of_constants(data.is_constant & [not s.is_constant for s in solutions], "y", output_names)
    divisors = [_divisor(solution, data, k) for k, solution in enumerate(solutions)]
    Sa, S = indices_of(solutions, subspaces, divisors)
    residual, reported, left = [], [], []
    for solution, divisor in zip(solutions, divisors, strict=True):
        rest = solution.total - solution.covariance[is_kept(solution, subspaces)].sum()
        residual.append(0.0 if divisor == 0 else 1 / divisor * rest)
        left.append(0.0 if solution.is_constant else rest / solution.total)
        reported.append(in_units(divisor, solution.scale))
    _warn_of_residual(left, remedy, output_names)
    one = output_names is None
    sensitivity = Sensitivity(
        subspaces,
        Sa[:, 0] if one else Sa,
        S[:, 0] if one else S,
        residual[0] if one else np.array(residual),
        reported[0] if one else np.array(reported),
        feature_names,
        output_names,
    )
    result = Decomposition(dictionary, tuple(solutions), subspaces, sensitivity, feature_names, output_names, sample)
    result = replace(result, concurvity=concurvity(result))
    if all(s.projection is not None for s in solutions) and sample is not None:
        sensitivity = replace(sensitivity, fidelity=Fidelity(result))
        result = replace(result, sensitivity=sensitivity)
    if sample is None or ci is None or not np.isfinite(sample.n_effective):
        return result
    uncertainty = KINDS[ci](result, sample, None if data is None else np.array(divisors))
    return replace(result, sensitivity=replace(sensitivity, uncertainty=uncertainty))


def _divisor(solution: Solution, data: Deviations | None, output: int) -> float:
    """Return what the indices of an output are divided by, in units of its scale²; 0: they are 0."""
    if solution.is_constant or (data is not None and data.is_constant[output]):
        return 0.0
    if data is None:
        return solution.total
    with np.errstate(all="ignore"):
        divisor = float(in_units(data.variance[output], data.scale[output] / solution.scale))
        if not 0 < np.divide(1, divisor) < np.inf:
            raise ValueError(
                "normalise='data' divides by the variance of y, but the numbers of y and of the output are too unlike "
                "for that. Bring them into the same units, or take normalise='output'."
            )
    return divisor


def _warn_of_constants(is_constant: ArrayLike, what: str, output_names: tuple[str, ...] | None) -> None:
    """Warn once where some of the outputs are constant."""
    if len(constant := np.flatnonzero(is_constant)):
        which = "" if output_names is None else " (outputs " + ", ".join(output_names[k] for k in constant) + ")"
        warn(f"{what} is constant{which}: its indices are 0.", ConstantWarning)


def _warn_of_residual(
    left: Sequence[float], remedy: Callable[[], str] | None, output_names: tuple[str, ...] | None
) -> None:
    """Warn once where the components leave over much of the outputs (shares of their variances)."""
    much = [k for k, share in enumerate(left) if share > _LARGE_RESIDUAL]
    if remedy is not None and much:
        which = "" if output_names is None else " (outputs " + ", ".join(output_names[k] for k in much) + ")"
        warn(
            f"The components leave over {max(left):.2g} of the variance of the black box{which}: {remedy()} would "
            "lower that.",
            ResidualWarning,
        )
