"""The HDMR of spec 3, slow and readable: least squares on all rows, one subspace after the other."""

import numpy as np


def top_down(columns, subspaces, beta, weights=None):
    """f = beta[0] + columns @ beta[1:]; return f_0 and {u: values of f_u at the rows}."""
    columns = np.asarray(columns, float)
    n, b = columns.shape
    root = np.sqrt(np.ones(n) if weights is None else np.asarray(weights, float))[:, None]
    design = np.column_stack([np.ones(n), columns])
    labels = [(), *subspaces]
    coefficients = np.array(beta, float)
    components = {}
    for u in sorted(set(subspaces), key=lambda u: (-len(u), u)):
        own = [j for j in range(b + 1) if labels[j] == u]
        lower = [j for j in range(b + 1) if set(labels[j]) < set(u)]
        y = design[:, own] @ coefficients[own]
        d = np.linalg.lstsq(root * design[:, lower], root[:, 0] * y, rcond=None)[0]
        components[u] = y - design[:, lower] @ d
        coefficients[lower] += d
    return coefficients[0], components


def paper_form(columns, subspaces, beta, weights=None):
    """Return A (the eta as columns) and nu with A nu = beta, over (1, columns)."""
    columns = np.asarray(columns, float)
    n, b = columns.shape
    root = np.sqrt(np.ones(n) if weights is None else np.asarray(weights, float))[:, None]
    design = np.column_stack([np.ones(n), columns])
    labels = [(), *subspaces]
    A = np.eye(b + 1)
    for j in range(1, b + 1):
        lower = [k for k in range(b + 1) if set(labels[k]) < set(labels[j])]
        A[lower, j] = -np.linalg.lstsq(root * design[:, lower], root[:, 0] * design[:, j], rcond=None)[0]
    return A, np.linalg.solve(A, beta)


def indices(f, components, weights=None):
    """Return {u: (Sa, S)} from values at rows."""
    w = np.ones(len(f)) / len(f) if weights is None else np.asarray(weights, float) / np.sum(weights)
    centred = f - w @ f
    variance = w @ centred**2
    return {u: (w @ (v - w @ v) ** 2 / variance, w @ (centred * v) / variance) for u, v in components.items()}
