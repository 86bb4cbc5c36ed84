"""Concurvity: the R² of the regression of a main effect on functions of the other variables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fasthdmr import _core
from fasthdmr._solve.decomposed import Decomposed
from fasthdmr._spans.additive_fit import AdditiveFit
from fasthdmr._spans.axes import coarsen
from fasthdmr._spans.basis import Basis
from fasthdmr._spans.fit import RIDGE
from fasthdmr._support.scale import Deviations
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats
from fasthdmr._support.warnings import ConcurvityWarning, warn

WARNED = 0.93
"""The adjusted R² above which there is a warning. Equicorrelated Gaussian variables of correlation .9 stay below .9."""

_MATTERS = 0.01  # components with smaller Sa and |S| are ignored
_ROWS = 2000
_MOST_COLUMNS = 2000
_FEW_LEVELS = 16  # of at most this many levels, none are merged
_NAMED = 3  # the largest number of variables in a warning, and of other variables for each of them


def concurvity(decomposition: Decomposed) -> Floats | None:
    """Return the concurvity of each main effect, and warn if it is close to 1.

    The concurvity of f_j is the adjusted R² of its ridge regression on the spans of all other single variables. The
    ridge is the one of the decomposition. At most about 2,000 to 4,000 evenly spaced rows are used.

    Parameters
    ----------
    decomposition : Decomposition

    Returns
    -------
    ndarray of shape (n,) or (n, K), or None
        NaN for variables without a main effect, or if Sa and |S| of the main effect are below .01. None without spline
        or bin spans, with less than two variables, with more than 2,000 columns, or with fewer than two rows per
        column.

    Warns
    -----
    ConcurvityWarning
        If a concurvity is above .93. One warning names the variables with the largest ones.
    """
    dictionary, sample = decomposition.dictionary, decomposition.sample
    basis, sensitivity = dictionary.basis, decomposition.sensitivity
    if basis is None or sample is None:
        return None
    single = [s for s, u in enumerate(basis.subspaces) if len(u) == 1]
    used = np.flatnonzero(sample.weights > 0)
    used = used[:: max(1, len(used) // _ROWS)]
    room = min(_MOST_COLUMNS, len(used) // 2)
    spans = _merged(Basis(basis.axes, [basis.subspaces[s] for s in single], [basis.axes_of[s] for s in single]), room)
    if len(single) < 2 or sum(spans.sizes) > room:
        return None
    n_outputs = sensitivity.n_outputs
    Sa, S = sensitivity.Sa.reshape(-1, n_outputs), sensitivity.S.reshape(-1, n_outputs)
    matters = np.maximum(Sa, np.abs(S)) > _MATTERS
    number = {u: c for c, u in enumerate(decomposition.subspaces)}
    shares = np.full((len(decomposition.feature_names), n_outputs), np.nan)
    strongest: dict[int, tuple[float, list[int]]] = {}
    with one_blas_thread():
        others = OtherSpans(spans, sample.rows[used], sample.weights[used], RIDGE / sample.n_effective)
        for k, solution in enumerate(decomposition.solutions):
            wanted = [u for u in spans.subspaces if u in number and u in solution.subspaces and matters[number[u], k]]
            if not wanted:
                continue
            weights = solution.weights[:, [solution.subspaces.index(u) for u in wanted]]
            values = dictionary.evaluate(sample.rows[used], k, weights, 1)
            for (j,), share, carried in zip(wanted, *others.regress(wanted, values), strict=True):
                shares[j, k] = share
                if share > max(WARNED, strongest.get(j, (0.0, []))[0]):
                    most = np.argsort(-carried, kind="stable")[:_NAMED]
                    strongest[j] = share, [spans.subspaces[m][0] for m in most if carried[m] > 0.1 * share]
    _warn(strongest, decomposition.feature_names)
    return shares[:, 0] if decomposition.output_names is None else shares


def _merged(spans: Basis, room: int) -> Basis:
    """Return spans whose rarest levels share an indicator, so that they have at most the given number of columns."""
    most = max((axis.size for axis in spans.axes if axis.is_categorical), default=0)
    while most > _FEW_LEVELS and sum(spans.sizes) > room:
        most //= 2
        axes = [coarsen(axis, most) if axis.is_categorical else axis for axis in spans.axes]
        spans = Basis(axes, spans.subspaces, spans.axes_of)
    return spans


class OtherSpans:
    """Ridge regression of main effects on the spans of all other variables.

    Parameters
    ----------
    spans : Basis
        The spans of single variables.
    rows : ndarray of shape (N, n)
    weights : ndarray of shape (N,)
    ridge : float
        The ridge parameter of a span of p columns is this number divided by p.
    """

    def __init__(self, spans: Basis, rows: Floats, weights: Floats, ridge: float) -> None:
        self.spans, self.rows, self.weights = spans, rows, weights
        self.n_rows = float(weights.sum() ** 2 / (weights**2).sum())
        self.ridge = ridge

    def regress(self, subspaces: Sequence[tuple[int, ...]], values: Floats) -> tuple[Floats, Floats]:
        """Return the adjusted R² of each component, (m,), and the part of it due to each variable, (m, variables).

        Parameters
        ----------
        subspaces : sequence of tuple of int, length m
            The subspaces of the components.
        values : ndarray of shape (N, m)
            The components at the rows.
        """
        target = Deviations.of(values, self.weights).values
        fit = AdditiveFit(self.spans, self.rows, self.weights, target, self.ridge, joint=True)
        system, right = fit.system(list(range(len(self.spans.subspaces)))), fit.right
        blocks = [slice(fit.first[s], fit.first[s + 1]) for s in map(self.spans.subspaces.index, subspaces)]
        units = [np.eye(len(system), block.stop - block.start, -block.start) for block in blocks]
        solved = _core.solve_positive(system, np.asfortranarray(np.hstack([right, *units])), 1)
        shares, carried = np.zeros(len(blocks)), np.zeros((len(blocks), len(self.spans.sizes)))
        first = len(blocks)
        for m, block in enumerate(blocks):
            own = solved[:, first : first + block.stop - block.start]
            first += own.shape[1]
            # The regression on all spans is corrected to that without the component's own span: a block of the inverse
            # is the inverse of a Schur complement, so no second factorisation is needed.
            b = solved[:, m] - own @ np.linalg.solve(own[block], solved[block, m])
            b[block] = 0.0
            variance = fit.variance[m]
            left = variance - b @ right[:, m] - fit.penalties @ b**2
            freedom = fit.first[-1] - (block.stop - block.start) - (len(self.spans.sizes) - 1)
            shares[m] = 1 - max(left, 0.0) / variance * (self.n_rows - 1) / max(self.n_rows - 1 - freedom, 1.0)
            carried[m] = np.add.reduceat(b * right[:, m], fit.first[:-1]) / variance
        return shares, carried


def _warn(found: dict[int, tuple[float, list[int]]], names: Sequence[str]) -> None:
    """Warn of the variables whose main effects have large concurvity."""
    if not found:
        return
    order = sorted(found, key=lambda j: -found[j][0])
    parts = []
    for j in order[:_NAMED]:
        share, others = found[j]
        parts.append(
            f"functions of {', '.join(names[k] for k in others)} explain the main effect of {names[j]} "
            f"(adjusted R² {share:.3g})"
        )
    text = "; ".join(parts)
    more = f" (and {len(order) - _NAMED} more)" if len(order) > _NAMED else ""
    warn(
        f"Concurvity: {text}{more}. So these rows do not determine how the effect is divided among these variables. "
        "Interpret them as one group, or fit the model without some of them. All adjusted R² are in "
        "decomposition_.concurvity.",
        ConcurvityWarning,
    )
