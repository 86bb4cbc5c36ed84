"""The HDMR under the product of the marginals, by enumerating the grid that the product measure lives on."""

from itertools import chain, combinations

import numpy as np


def subsets(u):
    return list(chain.from_iterable(combinations(u, k) for k in range(len(u) + 1)))


def marginal(column, weights):
    """The distinct values of a column, a missing one at the end, and their probabilities."""
    present = ~np.isnan(column)
    values, places = np.unique(column[present], return_inverse=True)
    mass = np.bincount(places, weights[present], minlength=len(values))
    if not present.all():
        values, mass = np.append(values, np.nan), np.append(mass, weights[~present].sum())
    return values, mass / mass.sum()


class ProductMeasure:
    """The product of the marginals of rows, and the functions on its grid, one axis a variable.

    Attributes
    ----------
    rows : ndarray of shape (number of points, n)
    shape : tuple of int
    probabilities : list of ndarray
    """

    def __init__(self, X, weights=None):
        X = np.asarray(X, dtype=np.float64)
        weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
        values, self.probabilities = zip(*(marginal(column, weights) for column in X.T), strict=True)
        self.shape = tuple(map(len, values))
        self.rows = np.stack([axis.ravel() for axis in np.meshgrid(*values, indexing="ij")], axis=1)

    def mean(self, f, others):
        """M^v f: the mean over the other variables, which keep an axis of length 1."""
        for j in others:
            weights = self.probabilities[j].reshape([-1 if k == j else 1 for k in range(f.ndim)])
            f = (f * weights).sum(axis=j, keepdims=True)
        return f

    def expectation(self, f):
        return float(self.mean(f, range(f.ndim)).squeeze())

    def components(self, values):
        """{u: f_u on the grid} of the function with these values on `rows`, for all u."""
        f = np.asarray(values, dtype=np.float64).reshape(self.shape)
        n = f.ndim
        means = {v: self.mean(f, [j for j in range(n) if j not in v]) for v in subsets(range(n))}
        return {
            u: np.broadcast_to(sum((-1) ** (len(u) - len(v)) * means[v] for v in subsets(u)), f.shape) for u in means
        }
