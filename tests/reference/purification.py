"""Purification of a table of two categorical variables by alternating weighted means, slow and readable."""

import numpy as np


def purify(table, weights, tolerance=1e-15, most=100_000):
    """Return the constant, two main effects and the interaction of a table; cells without weight are not used.

    The interaction has weighted mean 0 in every row and column, and the main effects have weighted mean 0. Rows and
    columns without weight have main effects of 0.
    """
    rest, rows, columns = np.array(table, dtype=float), np.zeros(len(table)), np.zeros(len(table[0]))
    row_weight, column_weight = weights.sum(axis=1), weights.sum(axis=0)
    for _ in range(most):
        moved = 0.0
        for axis, effect, total in ((1, rows, row_weight), (0, columns, column_weight)):
            sums = (weights * rest).sum(axis=axis)
            mean = np.divide(sums, total, out=np.zeros_like(sums), where=total > 0)
            effect += mean
            rest -= np.expand_dims(mean, axis)
            moved = max(moved, np.abs(mean).max())
        if moved <= tolerance * np.abs(table).max():
            break
    constant = 0.0
    for effect, total in ((rows, row_weight), (columns, column_weight)):
        mean = effect @ total / total.sum()
        effect -= mean
        effect[total == 0] = 0
        constant += mean
    return constant, rows, columns, rest
