"""Derivative-based global sensitivity measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_scalar

from fasthdmr._dictionaries.black_box import OUTPUTS, Output
from fasthdmr._support.numbers import as_floats, check_numbers
from fasthdmr._support.scale import Deviations, in_units, power_of_two
from fasthdmr._support.shown import Shown, ShownInNotebooks
from fasthdmr._support.subspaces import Subspace, as_subspace, subspace_names
from fasthdmr._support.table import Table
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import check_names
from fasthdmr._support.weights import check_weights
from fasthdmr.analytic.base import AnalyticModel

Derivative = Callable[[Subspace], Floats]


@dataclass(frozen=True, eq=False, repr=False)
class DGSM(ShownInNotebooks):
    """Derivative-based measures, one for each subspace.

    Attributes
    ----------
    subspaces : list of tuple of int, length C
    names : list of str, length C
    values : ndarray of shape (C,)
        The mean of (D^u f)² w_u.
    S : ndarray of shape (C,)
        `values` over their sum; 0 where all are 0.
    steps : dict of tuple of int to ndarray of shape (|u|,), or None
        The half steps of the central differences, in units of the variables; None: derivatives are exact.
    """

    subspaces: list[Subspace]
    names: list[str]
    values: Floats
    S: Floats
    steps: dict[Subspace, Floats] | None

    def table(self) -> Table:
        """Return subspaces, names, values and shares as a table.

        Returns
        -------
        Table
            Columns subspace, names, value and S; it has a method ``to_frame``.
        """
        rows = zip(self.subspaces, self.names, self.values.tolist(), self.S.tolist(), strict=True)
        return Table(("subspace", "names", "value", "S"), tuple(rows))

    def _shown(self) -> list[Shown]:
        return self.table()._shown()


def dgsm(
    model: Any,
    X: Any = None,
    subspaces: Sequence[Any] | None = None,
    *,
    weights: Mapping[Any, Callable[[Floats], ArrayLike]] | None = None,
    step: float | None = None,
    sample_weight: Any = None,
) -> DGSM:
    """Return the derivative-based global sensitivity measures, the means of (D^u f)² w_u.

    D^u is the mixed partial derivative, once in each variable of u. It is exact for the functions in
    `fasthdmr.analytic`, and a central difference for others.

    Parameters
    ----------
    model : analytic model, fitted estimator or callable
        With one output.
    X : array-like of shape (N, n), or None
        Rows to average over. None, for analytic models: the exact mean under the law of their variables.
    subspaces : sequence of int, str or sequences of them, or None
        The subspaces u; None: every single variable.
    weights : mapping of subspaces to functions, or None
        The functions w_u, from values of the variables of u, (N, |u|), to (N,). Subspaces that are not keys have
        weight 1. Weights need X.
    step : float or None
        Half the step of a difference, in standard deviations of each variable. None: eps^(1/(2 + |u|)), which balances
        truncation and rounding errors: 6e-6 for a variable, 1e-4 for a pair.
    sample_weight : array-like of shape (N,), or None
        Non-negative weights of the rows.

    Returns
    -------
    DGSM

    Raises
    ------
    ValueError
        If X is missing for a model or for weights that need it, if `step` is not positive, or if the model has
        several outputs.

    Notes
    -----
    Paper, section "Derivative-based global sensitivity measures"; specification, section 9. A tree ensemble is
    piecewise constant, so its derivative is 0 almost everywhere: choose a step as large as the trend that matters, or
    differentiate a smooth surrogate.

    Examples
    --------
    >>> from fasthdmr.analytic import GaussianQuadratic
    >>> from fasthdmr.inspection import dgsm
    >>> f = GaussianQuadratic([0, 0], [[1, 0.5], [0.5, 1]], 1, [1, 1], [[0, 0.5], [0.5, 0]])
    >>> dgsm(f, subspaces=[0, 1, (0, 1)]).S
    array([0.4, 0.4, 0.2])
    """
    check_numbers(X, "X")
    rows = None if X is None else check_array(X, dtype=np.float64, input_name="X")
    if rows is None and not isinstance(model, AnalyticModel):
        raise ValueError("X is None, but only the functions in fasthdmr.analytic define a distribution. Pass rows X.")
    if rows is None and weights:
        raise ValueError("weights were passed, but X is None. Pass rows X to average over.")
    n_features = model.n_features if rows is None else rows.shape[1]
    names = tuple(map(str, getattr(X, "columns", [f"x{i}" for i in range(n_features)])))
    chosen = [as_subspace(u, names) for u in (range(n_features) if subspaces is None else subspaces)]
    steps: dict[Subspace, Floats] | None = None
    if rows is None:
        values, scales = np.array([model.derivative_moment(u) for u in chosen]), np.ones(len(chosen))
    else:
        given = {as_subspace(u, names, what="weights"): w for u, w in (weights or {}).items()}
        row_weights = check_weights(sample_weight, X)
        derivative, steps = _derivative(model, X, rows, chosen, step)
        found = [_mean_square(derivative(u), rows[:, u], given.get(u), row_weights) for u in chosen]
        values, scales = np.array(found).reshape(-1, 2).T
    common = scales[values > 0].max(initial=0.0) or 1.0
    relative = in_units(values, scales / common)
    total = relative.sum()
    shares = relative / total if total > 0 else np.zeros_like(values)
    values = in_units(values, scales)
    return DGSM(chosen, subspace_names(chosen, names), values, shares, steps)


def _mean_square(derivative: Floats, own: Floats, weight: Any, row_weights: Floats | None) -> tuple[float, float]:
    """Return a mean square in units of scale², and the scale."""
    scale = power_of_two(np.abs(derivative).max())
    squares = (derivative / scale) ** 2
    if weight is not None:
        squares = squares * np.broadcast_to(as_floats(weight(own), "weights"), squares.shape)
    return float(np.average(squares, weights=row_weights)), scale


def _derivative(
    model: Any, X: Any, rows: Floats, subspaces: Sequence[Subspace], step: float | None
) -> tuple[Derivative, dict[Subspace, Floats] | None]:
    """Return the derivative at the rows as a function of u, and the steps if it is a difference quotient."""
    if isinstance(model, AnalyticModel):
        check_names(X, model.feature_names, may_be_unnamed=True)
        return lambda u: model.derivative(u, rows), None
    if step is not None:
        check_scalar(step, "step", (int, float), min_val=0, include_boundaries="neither")
    output, of_rows = Output(model, OUTPUTS), Deviations.of(rows, None)
    deviations = np.sqrt(of_rows.variance) * of_rows.scale
    scale = np.where(deviations > 0, deviations, np.maximum(np.abs(rows[0]), 1.0))
    half = {
        u: scale[list(u)] * (np.finfo(float).eps ** (1 / (2 + len(u))) if step is None else step) for u in subspaces
    }

    def difference(u: Subspace) -> Floats:
        total: Floats = np.zeros(len(rows))
        for signs in product((1.0, -1.0), repeat=len(u)):
            moved = rows.copy()
            moved[:, list(u)] += np.array(signs) * half[u]
            values = output(_like(X, moved))
            if values.ndim > 1:
                raise ValueError(f"model must have one output, got {values.shape[1]}. Pass a function of X with one.")
            total += np.prod(signs) * values
        with np.errstate(over="ignore"):
            for width in 2 * half[u]:
                total /= width
        if not np.isfinite(total).all():
            raise ValueError(
                f"The derivative by the variables {u} overflows: steps of {half[u]} are too small for the output. "
                "Multiply these variables by a power of ten."
            )
        return total

    return difference, half


def _like(X: Any, rows: Floats) -> Any:
    """Return rows as a data frame if X is one: the model may need the names."""
    return type(X)(rows, columns=X.columns) if hasattr(X, "columns") else rows
