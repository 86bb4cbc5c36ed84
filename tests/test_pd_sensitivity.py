"""Indices that partial dependence would give, against the paper's table (spec 9)."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from tolerance import assert_close

from fasthdmr.inspection import partial_dependence, pd_sensitivity

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
Z = np.array([(a, b) for a in NODES for b in NODES])
W = np.array([a * b for a in WEIGHTS for b in WEIGHTS])


def function(X):
    return 1 + X[:, 0] + X[:, 1] + X[:, 0] * X[:, 1]


def gaussian(rho):
    """Rows and weights under which polynomials of degree 17 have their Gaussian means."""
    return np.column_stack([Z[:, 0], rho * Z[:, 0] + np.sqrt(1 - rho**2) * Z[:, 1]]), W


@pytest.mark.parametrize("rho", [-0.9, -0.5, 0.0, 0.3, 0.8])
def test_both_of_the_papers_marginal_rows(rho):
    rows, weights = gaussian(rho)
    V = rho**2 + 2 * rho + 3
    # The curves are straight lines, for which interpolation is exact.
    for centred, Sa, Sb in ((True, 2, 2 * rho), (False, 2 * (rho**2 + 1), 2 * rho * (rho + 1))):
        found = pd_sensitivity(function, rows, centred=centred, sample_weight=weights)
        assert_close(found.Sa.sum(), Sa / V)
        assert_close(found.S.sum(), (Sa + Sb) / V)
        assert_close(found.variance, V)
        assert_close(found.residual, 1 - (Sa + Sb) / V)


def test_the_conditional_row():
    rho = 0.5
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20_000, 2)) @ np.linalg.cholesky([[1, rho], [rho, 1]]).T
    found = pd_sensitivity(function, rows, kind="conditional")
    V = rho**2 + 2 * rho + 3
    desired = np.array([6 * rho**2 + 4 * rho + 2, 2 * rho * (2 * rho**3 + rho**2 + 2 * rho + 1)]) / V
    actual = [found.Sa.sum(), found.Sb.sum()]
    assert_close(actual, desired, rtol=0.05, reason="twenty thousand random rows: a standard error of 2 %")


def test_the_fast_path_of_trees_gives_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, function(X))
    sets = [0, 2, (0, 1)]
    fast = pd_sensitivity(model, X, sets, grid_resolution=20)
    slow = pd_sensitivity(lambda rows: model.predict(rows), X, sets, grid_resolution=20)
    assert_close(fast.Sa, slow.Sa)
    assert_close(fast.S, slow.S)
    assert fast.subspaces == [(0,), (2,), (0, 1)]


def test_curves_are_read_off_at_the_rows():
    # On a grid of all its values, a curve is exact at the rows.
    X = np.random.default_rng(0).integers(0, 4, size=(100, 2)).astype(float)
    model = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, function(X))
    curve = partial_dependence(model, X, 0)
    at_rows = curve.average[0][np.searchsorted(curve.grid_values[0], X[:, 0])]
    found = pd_sensitivity(model, X, [0])
    assert_close(found.Sa, [at_rows.var() / model.predict(X).var()])


def test_constant_columns_and_constant_functions():
    X = np.column_stack([np.arange(5.0), np.ones(5)])
    assert_close(pd_sensitivity(lambda X: X[:, 0] * X[:, 1], X).Sa, [1.0, 0.0])
    assert_close(pd_sensitivity(lambda X: np.ones(len(X)), X).S, [0.0, 0.0])


def test_grids_resolve_heavy_tailed_variables():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.pareto(1.2, 20_000) + 1, rng.normal(size=20_000)])

    def curve(x):
        return np.tanh(2 * (x - 2))

    found = pd_sensitivity(lambda X: curve(X[:, 0]) + X[:, 1], X)
    desired = curve(X[:, 0]).var() / (curve(X[:, 0]) + X[:, 1]).var()
    assert_close(found.Sa[0], desired, rtol=0.01, reason="curves are interpolated between 100 points")


def test_missing_values_are_refused():
    X = np.array([[0.0, 1.0], [np.nan, 2.0], [1.0, 3.0]])
    with pytest.raises(ValueError, match="X contains NaN in column 0"):
        pd_sensitivity(lambda X: X[:, 1], X)


def test_several_outputs_are_refused():
    with pytest.raises(ValueError, match="one output, got 2"):
        pd_sensitivity(lambda X: X, np.ones((3, 2)))
