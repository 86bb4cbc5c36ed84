"""Kernel machines written out in monomials, and the paper's form of their components (spec 6)."""

from itertools import product
from math import factorial, prod

import numpy as np
from scipy.linalg import solve_triangular


def exponents(n, d):
    """All alpha of n variables with |alpha| <= d, sorted by subspace."""
    found = [a for a in product(range(d + 1), repeat=n) if 0 < sum(a) <= d]
    return sorted(found, key=lambda a: (len(support(a)), support(a), a))


def support(alpha):
    return tuple(i for i, a in enumerate(alpha) if a)


def monomials(X, alphas):
    return np.column_stack([np.prod(X ** np.array(a), axis=1) for a in alphas])


def weights(alphas, d, gamma, coef0):
    """beta_alpha² of (gamma x·x' + coef0)^d."""
    found = []
    for a in alphas:
        a_0 = d - sum(a)
        multinomial = factorial(d) / factorial(a_0) / prod(factorial(k) for k in a)
        found.append(multinomial * coef0**a_0 * gamma ** sum(a))
    return np.array(found)


def trap(A, beta, w, columns, alphas, u):
    """The paper's f_u: A nu = beta for the kernel's weights beta, then the inner product with f (constant first)."""
    nu = solve_triangular(A, beta, unit_diagonal=True)
    own = [j for j, a in enumerate(alphas, 1) if support(a) == u]
    return columns @ (w * (A[:, own] @ nu[own]))
