"""The closed forms as oracles of the estimators."""

import itertools

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from tolerance import assert_close

from fasthdmr import HDMR, TreeHDMR, decompose
from fasthdmr.analytic import GaussianQuadratic, Ishigami, Product, SymmetricPolynomial

SAMPLE = (
    "5,000 rows stand for the law: moments to about 1/70, and a pair's 64 splines absorb √(64/5000) = 0.11 by chance"
)
TREES = "300 trees of depth 3 on 5,000 rows stand for the function"

MODELS = {
    "Ishigami": Ishigami(),
    "Product": Product(3, 1, 0.5),
    "SymmetricPolynomial": SymmetricPolynomial(4, 2, -0.5, 1, {0: 1, (0, 1): 2, (1, 3): -1}),
    "GaussianQuadratic": GaussianQuadratic(
        [0.5, -1, 0],
        [[1, 0.5, 0.3], [0.5, 2, -0.4], [0.3, -0.4, 1]],
        1,
        [1, 0.5, -1],
        [[0.3, 0.5, 0], [0.5, 0, 0.4], [0, 0.4, 0]],
    ),
}


def differences(model, hdmr, X):
    """Largest difference of S, and L2 errors of components over the standard deviation of f."""
    indices = model.sensitivity()
    exact = dict(zip(indices.subspaces, indices.S, strict=True))
    found = dict(zip(hdmr.subspaces_, hdmr.sensitivity_.S, strict=True))
    share = max(abs(exact.get(u, 0.0) - found.get(u, 0.0)) for u in exact.keys() | found.keys())
    values = dict(zip(hdmr.subspaces_, hdmr.evaluate(X).T, strict=True))
    errors = {}
    for u in exact.keys() & found.keys():
        error = values[u] - model.component(u)(X[:, list(u)])
        errors[u] = np.sqrt(np.mean(error**2) / model.variance)
    return share, errors


@pytest.mark.parametrize("name", MODELS)
def test_hdmr_of_the_function(name):
    """Every term of the model is kept (order 3 only for the product): what differs is the sample and the splines."""
    model = MODELS[name]
    X = model.sample(5_000, random_state=0)
    hdmr = HDMR(model, order=3 if name == "Product" else 2).fit(X)
    assert set(model.subspaces) <= set(hdmr.subspaces_)
    share, errors = differences(model, hdmr, X)
    assert share < 0.03, SAMPLE
    assert max(errors.values()) < 0.12, SAMPLE
    assert abs(hdmr.intercept_ - model.intercept) < 0.05 * np.sqrt(model.variance)
    assert_close(hdmr.sensitivity_.variance, model.variance, 0.1, reason=SAMPLE)
    assert_close(hdmr.sensitivity_.ST, model.ST, 0.05, reason=SAMPLE)


@pytest.mark.parametrize("name", ["Ishigami", "GaussianQuadratic"])
def test_tree_hdmr_of_a_model_fitted_to_the_function(name):
    model = MODELS[name]
    X = model.sample(5_000, random_state=0)
    trees = GradientBoostingRegressor(n_estimators=300, max_depth=3, random_state=0).fit(X, model(X))
    hdmr = TreeHDMR(trees).fit(X)
    share, errors = differences(model, hdmr, X)
    assert share < 0.04, TREES
    assert max(errors.values()) < 0.1, TREES


@pytest.mark.parametrize("p", [0.5, 0.2])
def test_decompose_under_a_law_of_two_points_is_exact(p):
    """All points with their weights are the measure: no sample, no smoothing."""
    n, mu, sigma = 4, 0.75, 0.5
    subspaces = [u for k in range(1, n + 1) for u in itertools.combinations(range(n), k)]
    beta = dict(zip(subspaces, np.random.default_rng(0).normal(size=len(subspaces)), strict=True))
    support = [mu - sigma * np.sqrt((1 - p) / p), mu + sigma * np.sqrt(p / (1 - p))]
    points = np.array(list(itertools.product(support, repeat=n)))
    weights = np.array([np.prod(w) for w in itertools.product([p, 1 - p], repeat=n)])
    columns = np.column_stack([points[:, list(u)].prod(axis=1) for u in subspaces])
    found = decompose(columns, subspaces, list(beta.values()), sample_weight=weights)
    model = SymmetricPolynomial(n, n, mu, sigma, beta)
    assert found.subspaces == model.subspaces
    assert_close(found.intercept, model.intercept, 1e-11)
    assert_close(found.sensitivity.S, model.sensitivity().S, 1e-10)
    exact = np.column_stack([c(points[:, list(c.subspace)]) for c in model.components])
    assert_close(found.evaluate(columns), exact, 1e-10)


def test_bounds_and_series_are_those_of_a_sample():
    model = MODELS["GaussianQuadratic"]
    X = model.sample(20_000, random_state=0)
    hdmr = HDMR(model).fit(X)
    for i in range(3):
        exact, found = model.component(i), hdmr.component(i)
        assert_close(found.bounds, exact.bounds, 0.05, reason=SAMPLE)
        x = np.linspace(*exact.bounds[0], 20)
        assert_close(found.fourier(4)(x), exact.fourier(4)(x), 0.2, reason=SAMPLE + "; and the range is a sample's")
