"""Exact references of the benchmarks: closed forms, and the exact HDMR of fitted ensembles."""

import json
from functools import reduce
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.ensemble import GradientBoostingRegressor
from tolerance import assert_close

from bench import boxes, exact

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "algebra.json").read_text())["6_ishigami"]


def quadrature(problem):
    """Return points and weights that integrate polynomials up to degree 11 against the problem's Gaussian."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(6)
    grid = np.array(list(product(nodes, repeat=problem.n_features)))
    weight = np.prod(list(product(weights / weights.sum(), repeat=problem.n_features)), axis=1)
    return problem.mean + grid @ np.linalg.cholesky(problem.cov).T, weight


def some_quadratic():
    rng = np.random.default_rng(3)
    root, form = rng.standard_normal((2, 3, 3))
    mean, linear = rng.standard_normal((2, 3))
    return exact.GaussianQuadratic("some", mean, root @ root.T, 0.3, linear, form + form.T)


@pytest.mark.parametrize(
    "problem", [some_quadratic(), exact.bilinear(0.9), exact.four_variables(0.4)], ids=lambda problem: problem.name
)
def test_gaussian_quadratics_agree_with_quadrature(problem):
    X, weight = quadrature(problem)
    f, components = problem(X), problem.components(X)
    f0 = weight @ f
    V = weight @ (f - f0) ** 2
    assert_close(f0 + sum(components.values()), f, 1e-11)
    for u, component in components.items():
        squares = weight @ component**2
        assert abs(weight @ component) <= 1e-11 * np.sqrt(V)
        if len(u) == 2:
            for i in u:
                for power in range(1, 6):
                    h = (X[:, i] - problem.mean[i]) ** power
                    assert abs(weight @ (component * h)) <= 1e-10 * np.sqrt(V * (weight @ h**2))
        overall = weight @ (component * (f - f0))
        assert_close([squares / V, (overall - squares) / V], problem.indices()[u], 1e-10, reason="quadrature")


def test_gaussian_quadratics_are_those_of_the_issue():
    X, y = exact.four_variables(0.7).sample(20_000, seed=0)
    x1, x2, x3, x4 = X.T
    assert_close(y, x1 + x2 + 0.5 * x3 + x1 * x2 + 0.8 * x3 * x4 + 0.3 * x3**2)
    # The standard error of a correlation is below 0.007 here.
    assert np.abs(np.cov(X.T) - exact.equicorrelated(4, 0.7)).max() < 0.05
    X, y = exact.bilinear(0.5).sample(10, seed=0)
    assert_close(y, (1 + X[:, 0]) * (1 + X[:, 1]))


def test_ishigami_components_sum_to_the_function():
    problem = exact.Ishigami()
    X, y = problem.sample(1000, seed=0)
    components = problem.components(X)
    assert_close(GOLDEN["f0"] + sum(components.values()), y)
    at_point = problem.components(np.array([GOLDEN["at_point"]["x"]]))
    assert_close(at_point[0, 2], [GOLDEN["at_point"]["f13"]], 1e-11)
    indices = problem.indices()
    assert len(indices) == 7 and sum(Sa for Sa, _ in indices.values()) == pytest.approx(1)
    assert indices[0, 2][0] == pytest.approx(GOLDEN["S13"], rel=1e-12)


def small_model(problem, n_trees):
    X, y = problem.sample(400, seed=0)
    model = GradientBoostingRegressor(n_estimators=n_trees, max_depth=3, random_state=0).fit(X, y)
    return model, boxes.leaf_boxes(model)


def test_leaf_boxes_are_the_model():
    problem = exact.Ishigami()
    model, leaves = small_model(problem, 15)
    X, _ = problem.sample(300, seed=1)
    components = boxes.product_components(leaves, problem.cdf, X)
    rest = model.predict(X) - sum(components.values())
    assert_close(rest, np.full(300, rest.mean()), 1e-12)


def test_the_product_law_agrees_with_brute_force():
    problem = exact.Ishigami()
    model, leaves = small_model(problem, 5)
    edges = [np.unique([-np.pi, np.pi, *column[np.isfinite(column)]]) for column in leaves.low.T]
    middles = [(e[1:] + e[:-1]) / 2 for e in edges]
    grid = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1)
    f = model.predict(grid.reshape(-1, 3)).reshape(grid.shape[:3])
    masses = [np.diff(e) / (2 * np.pi) for e in edges]

    def mean_given(u):
        """Average over the variables that are not in u, and keep their axes."""
        means = f
        for axis, mass in enumerate(masses):
            if axis not in u:
                means = np.expand_dims(np.tensordot(means, mass, (axis, 0)), axis)
        return means

    weight = reduce(np.multiply.outer, masses)
    brute = {}
    for u in [(), *exact.subspaces_of(3, 3)]:
        lower = [g for v, g in brute.items() if set(v) < set(u)]
        brute[u] = np.broadcast_to(mean_given(u) - sum(lower), f.shape)
    V = np.sum(weight * (f - brute[()]) ** 2)
    found = boxes.product_components(leaves, problem.cdf, grid.reshape(-1, 3))
    indices = boxes.product_indices(leaves, problem.cdf)
    scale = np.sqrt(V)
    for u, component in found.items():
        assert np.abs(component.reshape(f.shape) - brute[u]).max() <= 1e-11 * scale
        assert abs(indices[u] - np.sum(weight * brute[u] ** 2) / V) <= 1e-11


def test_the_correlated_law_without_correlation_is_the_product_law():
    problem = exact.bilinear(0.0)
    _, leaves = small_model(problem, 20)
    X, _ = problem.sample(200, seed=1)
    found = boxes.gaussian_components(leaves, 0.0, X)
    for u, component in boxes.product_components(leaves, ndtr, X).items():
        assert_close(found[u], component, 1e-7, reason="the projection is iterated to 1e-8")


def test_the_correlated_law_leaves_an_interaction_without_conditional_mean():
    rho, n_bins = 0.7, 50
    problem = exact.bilinear(rho)
    model, leaves = small_model(problem, 50)
    X, _ = problem.sample(200_000, seed=1)

    def chi_square(pair, values):
        """Return the mean square of the conditional means of bins over their standard errors: 1 if they are 0."""
        cell = np.digitize(values, np.quantile(values, np.arange(1, n_bins) / n_bins))
        return np.mean(np.bincount(cell, pair) ** 2 / np.bincount(cell, pair**2))

    components = boxes.gaussian_components(leaves, rho, X)
    total, output = sum(components.values()), model.predict(X)
    assert_close(total - total.mean(), output - output.mean(), 1e-11)
    few = X[:20_000]
    marginal = boxes.product_components(leaves, ndtr, few)
    assert min(chi_square(marginal[0, 1], values) for values in few.T) > 10
    # Its standard deviation is sqrt(2/50) = 0.2.
    assert max(chi_square(components[0, 1], values) for values in X.T) < 1.8
