"""Shapley values and interactions of a game, from their definitions."""

from itertools import combinations
from math import factorial

import numpy as np


def coalitions(players):
    return [S for size in range(len(players) + 1) for S in combinations(players, size)]


def values(game, n):
    """(..., n): the mean contributions of the players over all orders, for a function from coalitions to arrays."""
    found = []
    for i in range(n):
        others = [j for j in range(n) if j != i]
        found.append(sum(_share(len(S), n, 1) * (game({*S, i}) - game(set(S))) for S in coalitions(others)))
    return np.stack(found, axis=-1)


def interactions(game, n):
    """(..., n, n): shap's convention. Half of the Shapley interaction index off the diagonal; rows sum to `values`."""
    own = values(game, n)
    matrix = np.zeros((*own.shape, n))
    for i, j in combinations(range(n), 2):
        others = [k for k in range(n) if k not in (i, j)]
        index = sum(
            _share(len(S), n, 2) * (game({*S, i, j}) - game({*S, i}) - game({*S, j}) + game(set(S)))
            for S in coalitions(others)
        )
        matrix[..., i, j] = matrix[..., j, i] = index / 2
    diagonal = np.arange(n)
    matrix[..., diagonal, diagonal] = own - matrix.sum(axis=-1)
    return matrix


def _share(size, n, joined):
    """The probability of a coalition before `joined` players who act as one."""
    return factorial(size) * factorial(n - size - joined) / factorial(n - joined + 1)
