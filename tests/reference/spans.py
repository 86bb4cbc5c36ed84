"""Spans and the top-down pass on them, slow and readable: dense columns, least squares on all rows (spec 3, 4)."""

import numpy as np
from scipy.interpolate import BSpline


def axis_columns(axis, X):
    """Columns of one axis (variable, degree, knots, missing, scores, is_categorical) at rows."""
    variable, degree, knots, missing, scores, is_categorical = axis
    knots = np.asarray(knots)
    if is_categorical:
        x = X[:, variable, None]
        return ((knots[:-1] <= x) & (x < knots[1:])).astype(float)
    x = np.interp(X[:, variable], *scores) if scores[0] else X[:, variable]
    x = np.clip(x, knots[0], knots[-1])
    if degree == 0:
        bins = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)
        columns = (bins[:, None] == np.arange(len(knots) - 1)).astype(float)
    else:
        inside = np.minimum(x, np.nextafter(knots[-1], -np.inf))
        columns = BSpline.design_matrix(np.where(np.isnan(x), knots[0], inside), knots, degree).toarray()
    columns[np.isnan(x)] = 0
    return np.column_stack([columns, np.isnan(x)]) if missing else columns


def columns(basis, X):
    """List of (N, columns) arrays, one a span."""
    spans = []
    for axes in basis.axes_of:
        product = np.ones((len(X), 1))
        for a in axes:
            product = (product[:, :, None] * axis_columns(basis.axes[a], X)[:, None, :]).reshape(len(X), -1)
        spans.append(product)
    return spans


RIDGE = 0.5


def effective_rows(weights):
    """Whole weights are repetition counts; for other weights this is Kish's effective sample size."""
    return weights.sum() if np.all(weights == np.rint(weights)) else weights.sum() ** 2 / (weights**2).sum()


def project(target, designs, weights, factor=RIDGE):
    """Ridge regression on the constant and designs; return the fit and the coefficients of each design.

    The ridge is factor / (N p) on the coefficients of a design of p columns, and none on the constant.
    """
    share = weights / weights.sum()
    ridge = [np.full(d.shape[1], factor / (effective_rows(weights) * d.shape[1])) for d in designs]
    full = np.column_stack([np.ones(len(target)), *designs])
    penalty = np.sqrt(np.concatenate([np.zeros(1), *ridge]))
    rows = np.vstack([np.sqrt(share)[:, None] * full, np.diag(penalty)[1:]])
    right = np.r_[np.sqrt(share) * target, np.zeros(len(penalty) - 1)]
    coefficients = np.linalg.lstsq(rows, right, rcond=None)[0]
    ends = np.cumsum([1, *(d.shape[1] for d in designs)])
    return full @ coefficients, np.split(coefficients, ends)[1:-1]


def top_down(subspaces, spans, terms, weights, *, smooth):
    """Return {u: f_u at the rows} for a sum of terms {u: values}, each projected inside its own subspace first.

    Components that are not smooth keep the terms of their own subspaces unprojected.
    """
    pushed = {u: np.zeros(span.shape[1]) for u, span in zip(subspaces, spans, strict=True)}
    of = dict(zip(subspaces, spans, strict=True))
    for u, values in terms.items():
        if smooth or u not in of:
            inside = [v for v in subspaces if set(v) <= set(u)]
            for v, part in zip(inside, project(values, [of[v] for v in inside], weights)[1], strict=True):
                pushed[v] = pushed[v] + part
    return hand_down(subspaces, spans, pushed, {} if smooth else terms, weights)


def hand_down(subspaces, spans, pushed, terms, weights):
    """Return {u: f_u at the rows}, given the coefficients on the span of each subspace and the unprojected terms."""
    pushed, of = dict(pushed), dict(zip(subspaces, spans, strict=True))
    components = {}
    for u in sorted(subspaces, key=lambda u: (-len(u), u)):
        lower = [v for v in subspaces if set(v) < set(u)]
        y = of[u] @ pushed[u]
        if u in terms:
            y = y + terms[u]
        fit, parts = project(y, [of[v] for v in lower], weights)
        components[u] = y - fit
        for v, part in zip(lower, parts, strict=True):
            pushed[v] = pushed[v] + part
    return components
