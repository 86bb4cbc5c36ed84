"""Partial dependence by its definitions, slow and readable."""

from itertools import product

import numpy as np


def marginal(output, X, weights, features, values):
    """Mean over rows of output(X), (N, K), the features set to every point of the grid: (K, *lengths of values)."""
    averages = []
    for point in product(*values):
        rows = np.array(X, dtype=float)
        rows[:, list(features)] = point
        averages.append(np.average(output(rows), axis=0, weights=weights))
    return np.transpose(averages).reshape(-1, *map(len, values))
