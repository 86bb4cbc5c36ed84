"""Spans and the top-down pass on them, slow and readable: dense columns, least squares on all rows (spec 3, 4)."""

import numpy as np
from scipy.interpolate import BSpline


def axis_columns(axis, X):
    """Columns of one axis (variable, degree, knots, missing) at rows."""
    variable, degree, knots, missing = axis
    knots = np.asarray(knots)
    x = np.clip(X[:, variable], knots[0], knots[-1])
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


RIDGE = 1e-6


def project(target, designs, weights, ridge=0.0):
    """Weighted least squares on the constant and designs; return the fit and its part in each design."""
    root = np.sqrt(weights / np.sum(weights))[:, None]
    full = np.column_stack([np.ones(len(target)), *designs])
    penalty = np.sqrt(ridge) * np.eye(full.shape[1])[1:]  # none on the constant
    rows = np.vstack([root * full, penalty])
    coefficients = np.linalg.lstsq(rows, np.r_[root[:, 0] * target, np.zeros(len(penalty))], rcond=1e-9)[0]
    parts, start = [], 1
    for design in designs:
        parts.append(design @ coefficients[start : start + design.shape[1]])
        start += design.shape[1]
    return full @ coefficients, parts


def top_down(subspaces, spans, own, rest, weights, *, smooth):
    """Return {u: f_u at the rows} for own terms {u: values} and the rest of higher order."""
    pushed = {u: np.zeros(len(weights)) for u in subspaces}
    of = dict(zip(subspaces, spans, strict=True))
    if rest is not None:
        _, parts = project(rest, spans, weights, RIDGE)
        for u, part in zip(subspaces, parts, strict=True):
            pushed[u] += part
    components = {}
    for u in sorted(subspaces, key=lambda u: (-len(u), u)):
        lower = [v for v in subspaces if set(v) < set(u)]
        y = pushed[u]
        if u in own:
            if smooth:
                _, parts = project(own[u], [of[v] for v in [*lower, u]], weights, RIDGE)
                for v, part in zip([*lower, u], parts, strict=True):
                    pushed[v] = pushed[v] + part
                y = pushed[u]
            else:
                y = y + own[u]
        fit, parts = project(y, [of[v] for v in lower], weights)
        components[u] = y - fit
        for v, part in zip(lower, parts, strict=True):
            pushed[v] = pushed[v] + part
    return components
