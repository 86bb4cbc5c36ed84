"""The result of every estimator: component functions, sensitivity indices and the residual (spec 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from fasthdmr._dictionaries.dictionary import Dictionary
from fasthdmr._results.component import Component
from fasthdmr._results.documents import as_json, decomposition_document
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._results.summary import Summary, summarise
from fasthdmr._solve.hierarchy import Solution
from fasthdmr._support.groups import Groups, columns_of
from fasthdmr._support.sample import Sample
from fasthdmr._support.scale import in_units
from fasthdmr._support.shown import Shown, ShownInNotebooks
from fasthdmr._support.subspaces import Subspace, subspace_names
from fasthdmr._support.typing import Floats


@dataclass(frozen=True, eq=False, repr=False)
class Decomposition(ShownInNotebooks):
    """The HDMR f = f_0 + sum f_u + r of a black box with one or several outputs.

    Attributes
    ----------
    dictionary : Dictionary
        The columns over which the components are linear combinations.
    solutions : tuple of Solution, length K
        One for each output.
    subspaces : list of tuple of int, length C
        The subspaces of the reported components of all outputs.
    sensitivity : Sensitivity
        The indices of the components.
    feature_names : tuple of str, length n
    output_names : tuple of str, length K, or None
        None for a black box of one output. Its arrays have no axis of outputs.
    sample : Sample or None
        A subsample of the fitted rows; None for a dictionary of columns.
    concurvity : ndarray of float64, shape (n,) or (n, K), or None
        The adjusted R² of each main effect in a regression on functions of the other variables; NaN for main effects
        with small indices. None without spline or bin spans, or if there are too few rows.
    unit : str
        What f_0, components and residual are, such as "log-odds"; "" in the units of the target, or not known.
    levels : dict of int to tuple
        The levels of each categorical column by code; None stands for missing values. Rows hold the codes.
    groups : Groups or None
        The columns of X that each variable consists of. None: each column is one variable.
    warnings : tuple of str
        The messages of the warnings that were given.
    targets : tuple of str, length K, or ()
        What each output is of, for pictures: the class of a score in quotes, or the name of y; () if not known.
    """

    dictionary: Dictionary
    solutions: tuple[Solution, ...]
    subspaces: list[Subspace]
    sensitivity: Sensitivity
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...] | None
    sample: Sample | None = None
    concurvity: Floats | None = None
    unit: str = ""
    levels: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)
    groups: Groups | None = None
    warnings: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()

    @property
    def intercept(self) -> float | Floats:
        """The constant f_0, a float or (K,)."""
        f_0: float | Floats = self._by_output([s.constant for s in self.solutions])
        return f_0

    @property
    def residual(self) -> float | Floats:
        """The index of the residual function r, Cov(r, f) / V, a float or (K,)."""
        return self.sensitivity.residual

    def target_of(self, output: int) -> str:
        """Return what an output is of, for labels.

        Parameters
        ----------
        output : int
            Index of the output.

        Returns
        -------
        str
            A class in quotes, the name of y, or that of the output; "" if it is not known.

        Examples
        --------
        >>> import fasthdmr
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> fasthdmr.HDMR().fit(X, y).decomposition_.target_of(0)
        ''
        """
        names = self.targets or self.output_names
        return names[output] if names else ""

    @property
    def rank(self) -> int | list[int] | None:
        """Numerical rank of the columns (1, B); a list with one for each output if there are several.

        None if the projection has a ridge penalty (splines and bins), or if there is none (product measure).
        """
        ranks = [s.rank for s in self.solutions if s.rank is not None]
        if not ranks:
            return None
        return ranks[0] if self.output_names is None else ranks

    @property
    def coef(self) -> Floats | list[Floats]:
        """The coefficients beta of the columns, (b,); a list with one array for each output if there are several."""
        coef = [s.coef for s in self.solutions]
        return coef[0] if self.output_names is None else coef

    @property
    def components(self) -> list[Component]:
        """The component functions, in the order of `subspaces`."""
        return [self._component(u) for u in self.subspaces]

    def summary(self) -> Summary:
        """Return what to read first: fidelity, the strongest components, the residual, and warnings.

        Returns
        -------
        Summary

        Examples
        --------
        >>> import fasthdmr
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> fasthdmr.HDMR().fit(X, y).decomposition_.summary().components[0]["names"].tolist()[:3]
        ['x1', 'x0', 'x0 & x2']
        """
        return summarise(self, "Decomposition")

    def _shown(self) -> list[Shown]:
        return list(self.summary()._shown())

    def component(self, variables: Sequence[int]) -> Component:
        """Return the component function of a subspace. Its arguments have the order of `variables`.

        Parameters
        ----------
        variables : sequence of int
            The column indices of the variables, in any order.

        Returns
        -------
        Component

        Raises
        ------
        ValueError
            If there is no component of these variables.
        """
        subspace = tuple(sorted(variables))
        if subspace not in self.subspaces:
            (name,) = subspace_names([subspace], self.feature_names)
            raise ValueError(
                f"There is no component for {subspace} ({name}): the black box has no term that depends on exactly "
                "these variables, or `order` or `interactions` excludes it. Existing components are in subspaces_."
            )
        return self._component(variables)

    def evaluate(self, rows: Any, n_threads: int = 1) -> Floats:
        """Return the component functions at rows.

        Parameters
        ----------
        rows : ndarray of shape (N, n)
            Rows of the variables; for `fasthdmr.decompose`, rows of the columns.
        n_threads : int
            Number of threads. Results do not depend on it.

        Returns
        -------
        ndarray of shape (N, C) or (N, C, K)
            Column c is the component of ``subspaces[c]``.

        Raises
        ------
        ValueError
            If `rows` has too few columns.

        Examples
        --------
        >>> import fasthdmr
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> decomposition = fasthdmr.HDMR().fit(X, y).decomposition_
        >>> decomposition.evaluate(X[:2]).shape
        (2, 6)
        """
        values = []
        for k, solution in enumerate(self.solutions):
            kept = np.flatnonzero(is_kept(solution, self.subspaces))
            part = self.dictionary.evaluate(rows, k, _weights_of(solution, kept), n_threads)
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
        """Return f_0 plus the reported components at rows.

        Parameters
        ----------
        rows : ndarray of shape (N, n)
            Rows of the variables; for `fasthdmr.decompose`, rows of the columns.
        n_threads : int
            Number of threads. Results do not depend on it.

        Returns
        -------
        ndarray of shape (N,) or (N, K)
            The sum, for each output.

        Raises
        ------
        ValueError
            If `rows` has too few columns.

        Examples
        --------
        >>> import fasthdmr
        >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
        >>> decomposition = fasthdmr.HDMR().fit(X, y).decomposition_
        >>> decomposition.predict(X[:2]).shape
        (2,)
        """
        values = self._each_output(rows, lambda s: s.reduced(is_kept(s, self.subspaces)), n_threads)
        for k, solution in enumerate(self.solutions):
            output = values if self.output_names is None else values[:, k]
            for _, moved, change in self._changes(rows, k, np.flatnonzero(is_kept(solution, self.subspaces))):
                output[moved] += change
        return values

    def black_box(self, rows: Any, n_threads: int = 1) -> Floats:
        """Return the black box f at rows.

        Parameters
        ----------
        rows : ndarray of shape (N, n)
            Rows of the variables; for `fasthdmr.decompose`, rows of the columns.
        n_threads : int
            Number of threads. Results do not depend on it.

        Returns
        -------
        ndarray of shape (N,) or (N, K)
            The output of the black box.

        Raises
        ------
        ValueError
            If `rows` has too few columns, or if y itself was decomposed.
        """
        return self._each_output(rows, lambda s: s.black_box, n_threads)

    def to_json(self) -> str:
        """Return indices, intervals and names as JSON.

        Returns
        -------
        str
            As from ``to_json`` of an estimator, without "estimator" and "versions".
        """
        return as_json(decomposition_document(self))

    def component_at(self, subspace: Subspace, values: Floats) -> Floats:
        """Return one component at given values of its variables.

        Parameters
        ----------
        subspace : tuple of int
            The column indices of the variables, ascending.
        values : ndarray of shape (N, |u|)
            One column for each variable, or column of a group, sorted.

        Returns
        -------
        ndarray of shape (N,) or (N, K)

        Raises
        ------
        ValueError
            If `values` has another number of columns.
        """
        rows = self.dictionary.embed(columns_of(self.groups, subspace), values)
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
        """Yield corrections of components at rows where they extrapolate: component number, rows, correction."""
        solution = self.solutions[output]
        subspaces = [solution.subspaces[c] for c in components]
        return self.dictionary.changes(rows, output, _weights_of(solution, components), subspaces)

    def columns_of(self, variable: int, values: Floats) -> Floats:
        """Return the columns of the components of one variable at its values.

        Tree columns are divided by a power of two, so that their squares do not overflow.

        Parameters
        ----------
        variable : int
            Index of the variable.
        values : ndarray of shape (N,)
            Values of the variable.

        Returns
        -------
        ndarray of shape (N, m)
        """
        u = (variable,)
        components = [
            (k, s.weights[:, [s.subspaces.index(u)]]) for k, s in enumerate(self.solutions) if u in s.subspaces
        ]
        return self.dictionary.columns_of(self.embed(variable, values[:, None]), components)

    def embed(self, variable: int, values: Floats) -> Floats:
        """Return rows with given values of one variable.

        Parameters
        ----------
        variable : int
            Index of the variable.
        values : ndarray of shape (N, 1)
            Its values; (N, m) for a group of m columns.

        Returns
        -------
        ndarray of shape (N, n)
        """
        return self.dictionary.embed(columns_of(self.groups, (variable,)), values)

    def marginal(self, variable: int) -> tuple[Floats, Floats] | None:
        """Return the sampled values of a variable and their weights.

        Parameters
        ----------
        variable : int
            Index of the variable.

        Returns
        -------
        tuple of ndarray of shape (S,), or None
            Values and weights; None without a sample, or for a group of columns.
        """
        columns = columns_of(self.groups, (variable,))
        if self.sample is None or len(columns) > 1:
            return None
        return self.sample.rows[:, columns[0]], self.sample.weights

    def _component(self, variables: Sequence[int]) -> Component:
        subspace = tuple(sorted(variables))
        names, arguments = self.feature_names, list(variables)
        if self.groups is not None:
            names, arguments = self.groups.column_names, [j for i in variables for j in self.groups.columns[i]]
        columns = columns_of(self.groups, subspace)
        variances = [
            in_units(s.variance[s.subspaces.index(subspace)], s.scale) if subspace in s.subspaces else 0.0
            for s in self.solutions
        ]
        return Component(
            subspace,
            tuple(self.feature_names[i] for i in subspace),
            self._by_output(variances),
            None if self.sample is None else self.sample.bounds(columns),
            tuple(names[j] for j in arguments),
            None if self.dictionary.takes_columns else tuple(map(arguments.index, columns)),
            self,
            self.sensitivity.uncertainty,
            self.unit,
            {j: self.levels[j] for j in columns if j in self.levels},
            columns,
        )

    def _each_output(self, rows: Any, weights: Callable[[Solution], Any], n_threads: int) -> Floats:
        columns = [self.dictionary.evaluate(rows, k, weights(s), n_threads)[:, 0] for k, s in enumerate(self.solutions)]
        return columns[0] if self.output_names is None else np.column_stack(columns)

    def _by_output(self, values: Sequence[Any]) -> Any:
        return float(values[0]) if self.output_names is None else np.array(values)


def is_kept(solution: Solution, subspaces: Iterable[Subspace]) -> NDArray[np.bool_]:
    """Return, for each component of a solution, whether its subspace is among `subspaces`, (C,)."""
    kept = set(subspaces)
    return np.array([u in kept for u in solution.subspaces], dtype=bool)


def _weights_of(solution: Solution, components: NDArray[np.int64]) -> csc_array:
    """Return the weights of some components, given in ascending order, without a copy if these are all."""
    weights = solution.weights
    return weights if len(components) == weights.shape[1] else weights[:, components]
