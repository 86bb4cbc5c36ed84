"""The HDMR under a product of discrete laws, by adding up all points: no closed form, no algebra."""

import itertools

import numpy as np


def enumerated(function, support, probabilities, n):
    """Return points (m^n, n), their weights, f_0 and {u: f_u at the points}; each variable has the same law."""
    points = np.array(list(itertools.product(support, repeat=n)))
    weights = np.array([np.prod(w) for w in itertools.product(probabilities, repeat=n)])
    values = function(points).reshape((len(support),) * n)
    components = {}
    for k in range(n + 1):
        for u in itertools.combinations(range(n), k):
            conditional = values
            for i in set(range(n)) - set(u):
                mean = np.tensordot(probabilities, np.moveaxis(conditional, i, 0), axes=1)
                conditional = np.repeat(np.expand_dims(mean, i), len(support), axis=i)
            lower = [components[v] for j in range(k) for v in itertools.combinations(u, j)]
            components[u] = conditional - sum(lower)
    flat = {u: c.ravel() for u, c in components.items()}
    return points, weights, flat.pop(())[0], flat
