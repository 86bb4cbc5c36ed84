"""Exact derivatives of the closed forms and their mean squares, which `inspection.dgsm` rests on."""

from itertools import chain, combinations, product

import numpy as np
import pytest
from tolerance import assert_close

from fasthdmr.analytic import GaussianQuadratic, Ishigami, Product, SymmetricPolynomial

RNG = np.random.default_rng(0)
ROOT = RNG.normal(size=(3, 3))
MODELS = {
    "product": Product(3, 0.7, 0.4),
    "all monomials": SymmetricPolynomial(4, 3, 0.3, 0.9),
    "by order": SymmetricPolynomial(3, 2, -0.4, 1.1, [1.0, -2.0, 0.5]),
    "mapping": SymmetricPolynomial(4, 3, 0.5, 0.8, {(): 1.0, (0,): 2.0, (0, 2): -1.5, (1, 2, 3): 0.7}),
    "gaussian": GaussianQuadratic([0.2, -1.0, 0.5], ROOT @ ROOT.T, 1.0, [1.0, 0.0, -2.0], RNG.normal(size=(3, 3))),
    "ishigami": Ishigami(),
}


def subsets(n, largest=3):
    return chain.from_iterable(combinations(range(n), k) for k in range(1, largest + 1))


def by_differences(model, u, rows):
    step = 1e-2 if len(u) == 3 else 1e-3
    total = np.zeros(len(rows))
    for signs in product((1, -1), repeat=len(u)):
        moved = rows.copy()
        moved[:, list(u)] += step * np.array(signs)
        total += np.prod(signs) * model(moved) / (2 * step) ** len(u)
    return total


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_are_the_limits_of_differences(name):
    model = MODELS[name]
    rows = model.sample(20, random_state=1)
    # All together, so that derivatives that are 0 are measured against the others.
    actual = [model.derivative(u, rows) for u in subsets(model.n_features)]
    desired = [by_differences(model, u, rows) for u in subsets(model.n_features)]
    assert_close(actual, desired, rtol=1e-4, reason="differences leave out the square of their step, and round")


def two_points(model):
    """All rows of variables that are mu - sigma or mu + sigma, which give exact means of multilinear squares."""
    ends = (model.mu - model.sigma, model.mu + model.sigma)
    return np.array(list(product(ends, repeat=model.n_features)))


@pytest.mark.parametrize("name", ["product", "all monomials", "by order", "mapping"])
def test_mean_squares_of_multilinear_functions_by_enumeration(name):
    model = MODELS[name]
    chosen = list(subsets(model.n_features))
    desired = [np.mean(model.derivative(u, two_points(model)) ** 2) for u in chosen]
    assert_close([model.derivative_moment(u) for u in chosen], desired)


def test_mean_squares_of_a_gaussian_quadratic_by_quadrature():
    model = MODELS["gaussian"]
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    z = np.array(list(product(nodes, repeat=3)))
    w = np.prod(list(product(weights, repeat=3)), axis=1) / (2 * np.pi) ** 1.5
    rows = model.mean + z @ np.linalg.cholesky(model.cov).T
    desired = [w @ model.derivative(u, rows) ** 2 for u in subsets(3)]
    assert_close([model.derivative_moment(u) for u in subsets(3)], desired)


def test_mean_squares_of_ishigami_by_quadrature():
    nodes, weights = np.polynomial.legendre.leggauss(40)
    rows = np.pi * np.array(list(product(nodes, repeat=3)))
    w = np.prod(list(product(weights, repeat=3)), axis=1) / 8
    desired = [w @ Ishigami().derivative(u, rows) ** 2 for u in subsets(3)]
    assert_close([Ishigami().derivative_moment(u) for u in subsets(3)], desired)


def test_many_variables():
    # (D^0 f)² of a product: mu^2 + sigma^2 once for each of the others.
    assert_close(Product(10_000, 1.0, 1e-2).derivative_moment((0,)), (1 + 1e-4) ** 9_999)
