"""Sensitivity indices of a decomposition, their level sets and the choice of an order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from fasthdmr._results.documents import as_json, sensitivity_document
from fasthdmr._results.fidelity import Fidelity
from fasthdmr._results.index_tables import as_shown, as_text, on_rows
from fasthdmr._results.level_sets import LevelSet
from fasthdmr._results.orders import is_real, order_reaching
from fasthdmr._support.choices import IndicesPicture, LevelSetKind
from fasthdmr._support.indices import INDICES, OF_SUBSPACES, OF_VARIABLES, HalfWidths
from fasthdmr._support.optional import require
from fasthdmr._support.outputs import output_index
from fasthdmr._support.shown import Shown, ShownInNotebooks
from fasthdmr._support.subspaces import subspace_names, subspace_text
from fasthdmr._support.table import Table
from fasthdmr._support.text import escaped
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import check_kind
from fasthdmr._support.warnings import ResidualWarning, warn
from fasthdmr._uncertainty.uncertainty import Uncertainty

if TYPE_CHECKING:
    from fasthdmr.plotting import SensitivityDisplay

_OF_VARIABLES: dict[LevelSetKind, str] = {"T": "ST", "R": "R"}  # kinds of level sets, and the index of each
_ROUNDING = 1e-9  # of sums of indices
_SUBSPACE_COLUMNS = ("subspace", "names", "order", *(index.name for index in OF_SUBSPACES))


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(ShownInNotebooks):
    """Structural and correlative sensitivity indices of the component functions of one decomposition.

    With dependent inputs components are correlated: `Sb`, `S`, `ST` and `R` can be negative, and the sum of `Sa` can
    exceed 1. Only `S` together with the residual adds up to the variance. With independent inputs `Sb` is 0 and `Sa`
    are the Sobol' indices. An index is an attribute, and can be taken by its name: ``sensitivity["S"]``.

    Parameters
    ----------
    subspaces : sequence of tuple of int, length C
        Sorted tuples of column indices, the constant not among them.
    Sa : array_like of float64, shape (C,) or (C, K)
        Structural index, Var(f_u) / V. K is the number of outputs where there are several.
    S : array_like of float64, shape (C,) or (C, K)
        Overall index, Cov(f_u, f) / V, f the whole black box.
    residual : float or array_like, shape (K,)
        Cov(r, f) / V, r the residual function; the sum of `S` and `residual` is Var(f) / V.
    variance : float or array_like, shape (K,)
        V, the divisor of the indices; infinite or 0 if it overflows or underflows, unlike the indices.
    feature_names : sequence of str, length n
        Names of the variables.
    output_names : sequence of str, length K, optional
        Names of the outputs.
    uncertainty : Uncertainty, optional
        Computes the half-widths at first access.
    fidelity : Fidelity, optional
        R² of the components against the black box, at the fitted rows and by leave-one-out.

    Attributes
    ----------
    Sb : ndarray of float64, shape (C,) or (C, K)
        Correlative index, S - Sa: the covariance of a component with all others.
    ST : ndarray of float64, shape (n,) or (n, K)
        Total importance of a variable: the sum of `S` over the subspaces that contain it.
    R : ndarray of float64, shape (n,) or (n, K)
        Relative importance: `ST` over its sum, 0 where that is 0.
    Sa_conf, Sb_conf, S_conf : ndarray of float64, shape (C,) or (C, K), or None
        Half-widths of 95 % confidence intervals, index ± conf, for samples of the same size, given the black box. Bias
        is not included (see Notes). Computed at first access by the method `ci` of the estimator. None if no rows are
        kept as a sample: closed forms, `decompose`, a Gaussian law, the product of the marginals.
    ST_conf, R_conf : ndarray of float64, shape (n,) or (n, K), or None
    n_outputs : int
        K.
    names : list of str, length C
        The subspaces by the names of their variables, such as "Latitude & Longitude".

    Raises
    ------
    ValueError
        If the lengths of the arguments do not agree.

    Notes
    -----
    The estimate of an index whose true value is 0 is biased upwards: `Sa` by about p/N for a component of p columns.
    Half-widths are 1.96 times the root of variance plus bias². The bias is estimated from decompositions of two halves
    of the rows; indices are not corrected for it. Intervals are those of the estimator with its ridge. Sizes of bases
    that are chosen from the data, the weight of the ridge of a joint fit, and the variance of data by which indices may
    be divided, are taken as known.

    Definitions: Bastian and Rabitz, *High Dimensional Model Representation as a Glass Box in Supervised
    Machine Learning*; specification, section 2.

    Examples
    --------
    >>> indices = Sensitivity([(0,), (1,), (0, 1)], Sa=[0.5, 0.3, 0.2], S=[0.6, 0.25, 0.15], residual=0.0,
    ...                       variance=2.0, feature_names=["age", "income"])
    >>> print(indices)
    Subspace  Variables         Sa       Sb       S      ST       R
    ---------------------------------------------------------------
    (0,)      age           0.5000   0.1000  0.6000  0.7500  0.6522
    (1,)      income        0.3000  -0.0500  0.2500  0.4000  0.3478
    (0, 1)    age & income  0.2000  -0.0500  0.1500       -       -
    ---------------------------------------------------------------
              Sum           1.0000   0.0000  1.0000  1.1500  1.0000
              Residual           -        -  0.0000       -       -
    """

    subspaces: Sequence[tuple[int, ...]]
    Sa: Floats
    S: Floats
    residual: float | Floats
    variance: float | Floats
    feature_names: Sequence[str]
    output_names: Sequence[str] | None = None
    uncertainty: Uncertainty | None = None
    fidelity: Fidelity | None = None

    def __post_init__(self) -> None:
        def keep(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        # Copies, so that arguments are neither aliased nor changed.
        keep("subspaces", [tuple(map(int, u)) for u in self.subspaces])
        keep("feature_names", tuple(self.feature_names))
        keep("output_names", None if self.output_names is None else tuple(self.output_names))
        for name in ("Sa", "S"):
            keep(name, np.array(getattr(self, name), dtype=np.float64))
        shape = (len(self.subspaces), *self.Sa.shape[1:2])
        if self.Sa.shape != shape or self.S.shape != shape:
            raise ValueError(
                f"Sa and S must have the same shape, a row for each of the {len(self.subspaces)} subspaces; "
                f"got {self.Sa.shape} and {self.S.shape}."
            )
        for name in ("residual", "variance"):
            value = np.array(getattr(self, name), dtype=np.float64)
            if value.shape != shape[1:]:
                raise ValueError(f"{name} must have shape {shape[1:]}, got {value.shape}.")
            keep(name, float(value) if value.ndim == 0 else value)
        if self.output_names is not None and len(self.output_names) != self.n_outputs:
            raise ValueError(f"Expected {self.n_outputs} output names, got {len(self.output_names)}.")

    @property
    def n_outputs(self) -> int:
        """The number of outputs, K."""
        return self.Sa.shape[1] if self.Sa.ndim == 2 else 1

    @property
    def Sb(self) -> Floats:
        """Correlative index, (C,) or (C, K)."""
        return INDICES["Sb"].formula(self.Sa, self.S)

    @property
    def ST(self) -> Floats:
        """Total importance of each variable, (n,) or (n, K)."""
        total = np.zeros((len(self.feature_names), *self.S.shape[1:]))
        for u, S in zip(self.subspaces, self.S, strict=True):
            total[list(u)] += S
        return total

    @property
    def R(self) -> Floats:
        """Relative importance of each variable, (n,) or (n, K)."""
        return INDICES["R"].formula(self.ST)

    @property
    def Sa_conf(self) -> Floats | None:
        """Half-width of the 95 % interval of `Sa`, (C,) or (C, K)."""
        return self._half_width("Sa")

    @property
    def Sb_conf(self) -> Floats | None:
        """Half-width of the 95 % interval of `Sb`, (C,) or (C, K)."""
        return self._half_width("Sb")

    @property
    def S_conf(self) -> Floats | None:
        """Half-width of the 95 % interval of `S`, (C,) or (C, K)."""
        return self._half_width("S")

    @property
    def ST_conf(self) -> Floats | None:
        """Half-width of the 95 % interval of `ST`, (n,) or (n, K)."""
        return self._half_width("ST")

    @property
    def R_conf(self) -> Floats | None:
        """Half-width of the 95 % interval of `R`, (n,) or (n, K)."""
        return self._half_width("R")

    @property
    def names(self) -> list[str]:
        """The subspaces by the names of their variables, length C."""
        return subspace_names(self.subspaces, self.feature_names)

    def explained(self) -> Floats:
        """Return the fraction of the variance explained by the components up to each order.

        Returns
        -------
        explained : ndarray of float64, shape (T,) or (T, K)
            Entry t - 1 is the sum of `S` over the orders 1 to t; T is the largest order of a component. It
            need not increase with the order, since `S` can be negative. The R² of the truncated model is
            another number (``fidelity``).

        Examples
        --------
        >>> Sensitivity([(0,), (0, 1)], [0.75, 0.25], [0.75, 0.25], 0.0, 1.0, ["a", "b"]).explained()
        array([0.75, 1.  ])
        """
        orders = np.array([len(u) for u in self.subspaces], dtype=np.intp)
        by_order = np.zeros((orders.max(initial=0), *self.S.shape[1:]))
        np.add.at(by_order, orders - 1, self.S)
        explained: Floats = np.cumsum(by_order, axis=0)
        return explained

    def order_for(self, fraction: float, *, output: int | str | None = None) -> int:
        """Return the least order whose components explain a fraction of what all of them explain.

        Parameters
        ----------
        fraction : float in (0, 1]
            Of ``explained()[-1]``.
        output : int or str, optional
            Index or name of the output; needed where there are several.

        Returns
        -------
        order : int
            0 if there are no components.

        Raises
        ------
        ValueError
            If `fraction` or `output` is out of range.

        Warns
        -----
        ResidualWarning
            If the components do not explain that fraction of the whole variance, the residual included: a fit of
            higher order may.

        Examples
        --------
        >>> Sensitivity([(0,), (0, 1)], [0.75, 0.25], [0.75, 0.25], 0.0, 1.0, ["a", "b"]).order_for(0.9)
        2
        """
        one = self._of_output(output)
        explained = one.explained()
        order = order_reaching(explained, fraction)
        most = explained.max(initial=0.0)
        whole = one.S.sum() + one.residual
        if explained.size and most < (fraction - _ROUNDING) * whole:
            warn(
                f"The components of order 1 to {explained.size} explain {most / whole:.3g} of the variance, less than "
                f"{fraction:g}. Order {order} explains that fraction of what all of them explain. A fit with a higher "
                "`order` may explain more.",
                ResidualWarning,
            )
        return order

    def level_set(self, kind: LevelSetKind, eps: float = 0.0, *, output: int | str | None = None) -> Table:
        """Return the variables or subspaces whose index is at least `eps`, strongest first.

        Parameters
        ----------
        kind : {"T", "R", "I", "X", "P"}
            "T" and "R": variables by total and by relative importance. "I": subspaces of one variable, "X":
            of several, "P": all, by the overall index S.
        eps : float, default=0.0
            The level, not negative.
        output : int or str, optional
            Index or name of the output; needed where there are several.

        Returns
        -------
        table : Table
            Columns variable, name, ST, R for "T" and "R"; subspace, names, order, Sa, Sb, S for the others. In print,
            half-widths of 95 % intervals are beside the indices, if there are any, and "?" marks rows for which the
            interval of the index by which they are chosen (ST, R or S) contains 0.
            ``component(subspace)`` of the estimator is the function that belongs to a row.

        Raises
        ------
        ValueError
            If `kind`, `eps` or `output` is none of those allowed.

        Examples
        --------
        >>> indices = Sensitivity([(0,), (0, 1)], [0.75, 0.25], [0.75, 0.25], 0.0, 1.0, ["age", "income"])
        >>> print(indices.level_set("X", 0.01))
        subspace  names         order      Sa      Sb       S
        -----------------------------------------------------
        (0, 1)    age & income      2  0.2500  0.0000  0.2500
        """
        check_kind(kind, get_args(LevelSetKind))
        if not (is_real(eps) and 0 <= eps < np.inf):
            raise ValueError(f"The 'eps' parameter must be a float in the range [0.0, inf). Got {eps!r} instead.")
        one = self._of_output(output)
        if kind in _OF_VARIABLES:
            columns: tuple[str, ...] = ("variable", "name", *(index.name for index in OF_VARIABLES))
            by = _OF_VARIABLES[kind]
            values = getattr(one, by)
            names = subspace_names([(i,) for i in range(values.size)], one.feature_names)
            listed = [getattr(one, index.name).tolist() for index in OF_VARIABLES]
            rows = list(zip(range(values.size), names, *listed, strict=True))
            chosen = np.flatnonzero(values >= eps)
        else:
            columns, by, values, rows = _SUBSPACE_COLUMNS, "S", one.S, one._index_rows()
            is_single = np.array([len(u) == 1 for u in one.subspaces], dtype=np.bool_)
            is_wanted = {"I": is_single, "X": ~is_single, "P": np.ones_like(is_single)}[kind]
            chosen = np.flatnonzero(is_wanted & (values >= eps))
        strongest = chosen[np.argsort(-values[chosen], kind="stable")]
        half_widths = partial(self._half_widths, output_index(output, self.n_outputs, self.output_names))
        return LevelSet(columns, tuple(rows[k] for k in strongest), by, strongest, half_widths)

    def plot(
        self, kind: IndicesPicture = "bars", *, output: int | str | None = None, ax: Any = None
    ) -> SensitivityDisplay:
        """Draw the indices as bars, or as a matrix of interactions.

        Parameters
        ----------
        kind : {"bars", "matrix"}, default="bars"
            "bars": the strongest subspaces. "matrix": the strongest variables against each other.
        output : int or str, optional
            Index or name of the output; needed where there are several.
        ax : matplotlib Axes, optional
            By default, the axes of a new figure.

        Returns
        -------
        display : fasthdmr.plotting.SensitivityDisplay

        Raises
        ------
        ValueError
            If `output` is none of the outputs, or `kind` none of those allowed.
        ImportError
            If matplotlib is not installed (extra ``plot``).
        """
        from fasthdmr.plotting import SensitivityDisplay

        return SensitivityDisplay(self, output=output, kind=kind).plot(ax=ax)

    def to_frame(self) -> Any:
        """Return all indices as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            Columns subspace, names, order, Sa, Sb, S, ST, R, with ST and R on the rows of order 1 and NaN
            elsewhere; then, if there are intervals, Sa_conf, Sb_conf, S_conf, ST_conf, R_conf. Several outputs
            are stacked, with a further first column, output. A subspace is text, such as "0 & 2"; `subspaces` has
            the tuples, in the order of the rows.

        Raises
        ------
        ImportError
            If pandas is not installed (extra ``frame``).

        Examples
        --------
        >>> indices = Sensitivity([(0,), (0, 1)], [0.75, 0.25], [0.75, 0.25], 0.0, 1.0, ["age", "income"])
        >>> indices.to_frame()[["names", "S", "ST"]]
                  names     S   ST
        0           age  0.75  1.0
        1  age & income  0.25  NaN
        """
        pandas = require("pandas", extra="frame")
        frames = []
        for k in range(self.n_outputs):
            one = self._of_output(k)
            frame = pandas.DataFrame(one._index_rows(), columns=list(_SUBSPACE_COLUMNS))
            frame["subspace"] = list(map(subspace_text, one.subspaces))
            for index in OF_VARIABLES:
                frame[index.name] = on_rows(index, getattr(one, index.name), self.subspaces)
            if (conf := self._half_widths(k)) is not None:
                for name, index in INDICES.items():
                    frame[f"{name}_conf"] = on_rows(index, conf[name], self.subspaces)
            if self.Sa.ndim == 2:
                frame.insert(0, "output", k if self.output_names is None else self.output_names[k])
            frames.append(frame)
        return pandas.concat(frames, ignore_index=True)

    def __getitem__(self, name: str) -> Any:
        """Return an index or its half-widths by name, as the attribute: ``sensitivity["S"]`` is ``sensitivity.S``."""
        names = list(self)
        if name not in names:
            raise KeyError(f"There is no index {name!r}. Indices are {names}.")
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the indices and of their half-widths."""
        return iter([*INDICES, *(f"{name}_conf" for name in INDICES)])

    def to_json(self) -> str:
        """Return indices, intervals and names as JSON.

        Returns
        -------
        str
            As from ``to_json`` of an estimator, without "estimator", "versions", "unit" and "f0".

        Examples
        --------
        >>> Sensitivity([(0,)], [0.75], [0.5], 0.25, 1.0, ["age"]).to_json()[-67:]
        '"variables": [{"variable": 0, "name": "age", "ST": 0.5, "R": 1.0}]}'
        """
        return as_json(sensitivity_document(self))

    def __str__(self) -> str:
        tables = ((f"{title}\n" if title else "") + printed_table(self, k) for k, title in enumerate(self._titles()))
        return "\n\n".join(tables)

    def _shown(self) -> list[Shown]:
        return [as_shown(*self._part(k), title) for k, title in enumerate(self._titles())]

    def _titles(self) -> list[str]:
        """Return the title of the table of each output."""
        if self.Sa.ndim == 1:
            return [""]
        return [f"Output {escaped(name)}" for name in self.output_names or map(str, range(self.n_outputs))]

    def _part(self, output: int) -> tuple[Sensitivity, HalfWidths | None, str]:
        """Return indices, half-widths and the line of the fidelity of one output."""
        line = "" if self.fidelity is None else self.fidelity.line(output)
        return self._of_output(output), self._half_widths(output), line

    def _index_rows(self) -> list[tuple[Any, ...]]:
        orders = [len(u) for u in self.subspaces]
        values = [getattr(self, index.name).tolist() for index in OF_SUBSPACES]
        return list(zip(self.subspaces, self.names, orders, *values, strict=True))

    def _half_widths(self, output: int) -> HalfWidths | None:
        """Return the half-widths of one output."""
        if self.uncertainty is None:
            return None
        return {name: v if v.ndim == 1 else v[:, output] for name, v in self.uncertainty.half_widths.items()}

    def _half_width(self, name: str) -> Floats | None:
        """Return the half-widths of one index, of all outputs."""
        return None if self.uncertainty is None else self.uncertainty.half_widths[name]

    def _of_output(self, output: int | str | None) -> Sensitivity:
        """Return the indices of one output."""
        k = output_index(output, self.n_outputs, self.output_names)
        if self.Sa.ndim == 1:
            return self
        residual, variance = np.atleast_1d(self.residual), np.atleast_1d(self.variance)
        return Sensitivity(self.subspaces, self.Sa[:, k], self.S[:, k], residual[k], variance[k], self.feature_names)


def printed_table(indices: Sensitivity, output: int) -> str:
    """Return the printed table of one output, with the remarks below it."""
    return as_text(*indices._part(output))
