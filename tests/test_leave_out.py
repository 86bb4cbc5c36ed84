"""Leave-one-out fidelity, compared with refits without single rows, on the same spans."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

from fasthdmr import HDMR, TreeHDMR
from fasthdmr._dictionaries.tree_output import TreeOutput
from fasthdmr._spans.axes import axis_columns
from fasthdmr._spans.fit import Regression, effective_rows, solve_trees

pytestmark = pytest.mark.filterwarnings(
    "ignore::fasthdmr.ResidualWarning",  # trees are deeper than components, so that residuals are not 0
)


def problem(n_rows=60, n=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n))
    X[:, 1] += X[:, 0]
    return X, X[:, 0] + X[:, 0] * X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n_rows)


def unused_by_refits(hdmr, X, weights=None, each=None):
    """1 - mean squared residual of refits at the left-out row over Var f; of repeated rows one is left out."""
    decomposition = hdmr.decomposition_
    dictionary, f = decomposition.dictionary, decomposition.black_box(X)
    columns = dictionary.given.columns[0]
    solution = decomposition.solutions[0]
    coef = solution.black_box.toarray()[1 : 1 + len(columns.column_subspace), 0]
    output = TreeOutput(columns, solution.black_box.toarray()[0, 0], coef)
    w = np.ones(len(X)) if weights is None else weights
    missed = []
    for i in range(len(X)):
        less = w.copy()
        less[i] -= 1
        regression = Regression(effective_rows(len(X), less), smooth=hdmr.smooth)
        (refit,) = solve_trees(X, less, dictionary.basis, [output], regression, n_threads=1)
        components = dictionary.evaluate(X[i : i + 1], 0, refit.weights, 1)
        missed.append(f[i] - refit.constant - components.sum())
    return 1 - np.average(np.square(missed), weights=w) / np.average((f - np.average(f, weights=w)) ** 2, weights=w)


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("order", [1, 2])
def test_trees(smooth, order):
    X, y = problem()
    model = GradientBoostingRegressor(max_depth=3, n_estimators=30, random_state=0).fit(X, y)
    hdmr = TreeHDMR(model, smooth=smooth, order=order).fit(X)
    fidelity = hdmr.sensitivity_.fidelity
    assert abs(fidelity.used[0] - hdmr.fidelity(X)) < 1e-9
    assert abs(hdmr.fidelity_unused_ - unused_by_refits(hdmr, X)) < 1e-9
    assert hdmr.fidelity_unused_ < fidelity.used[0] - 0.001


def test_trees_with_repeated_rows():
    X, y = problem(40)
    weights = np.random.default_rng(1).integers(1, 4, size=40).astype(float)
    model = GradientBoostingRegressor(max_depth=3, n_estimators=20, random_state=0).fit(X, y)
    weighted = TreeHDMR(model, n_splines=3).fit(X, sample_weight=weights)
    assert abs(weighted.fidelity_unused_ - unused_by_refits(weighted, X, weights)) < 1e-9
    repeated = TreeHDMR(model, n_splines=3).fit(np.repeat(X, weights.astype(int), axis=0))
    assert abs(weighted.fidelity_unused_ - repeated.fidelity_unused_) < 1e-9


def test_trees_with_coarse_terms_and_coefficients():
    X, y = problem(80, 7)
    model = RandomForestRegressor(5, random_state=0).fit(X, y + X.sum(axis=1))
    hdmr = TreeHDMR(model).fit(X)
    # the coarse terms are evaluated in their own columns here, in those of the fine spans there
    refits = unused_by_refits(hdmr, X)
    assert abs(hdmr.fidelity_unused_ - refits) < 1e-6
    several = TreeHDMR(random_state=0).fit(X, y)
    assert several.fidelity_unused_ < several.fidelity(X)
    assert abs(several.sensitivity_.fidelity.used[0] - several.fidelity(X)) < 1e-9


@pytest.mark.parametrize("n_rows", [40, 300])
def test_functions(n_rows):
    """Both with fewer rows than columns and with more, against the hat matrix of the columns."""
    X, y = problem(n_rows)
    hdmr = HDMR().fit(X, y)
    decomposition = hdmr.decomposition_
    basis, projection = decomposition.dictionary.basis, decomposition.solutions[0].projection
    columns = [axis_columns(axis, X[:, axis[0]]) for axis in basis.axes]
    blocks = []
    for axes in basis.axes_of:
        block = columns[axes[0]]
        for a in axes[1:]:
            block = (block[:, :, None] * columns[a][:, None, :]).reshape(n_rows, -1)
        blocks.append(block)
    B = np.hstack(blocks)
    ridge = projection.factor / np.repeat(basis.sizes, basis.sizes)
    missed = []
    for i in range(n_rows):
        rest = np.delete(np.arange(n_rows), i)
        mean = B[rest].mean(axis=0)
        centred = B[rest] - mean
        b = np.linalg.solve(centred.T @ centred + np.diag(ridge), centred.T @ y[rest])
        missed.append(y[i] - y[rest].mean() - (B[i] - mean) @ b)
    assert abs(hdmr.fidelity_unused_ - (1 - np.mean(np.square(missed)) / y.var())) < 1e-8  # of two solvers
    assert abs(hdmr.sensitivity_.fidelity.used[0] - hdmr.score(X, y)) < 1e-9


def test_functions_at_many_rows_take_the_mean_leverage():
    X, y = problem(2500)
    many = HDMR().fit(X, y)
    few = HDMR(n_splines=many_sizes(many)).fit(X[:2000], y[:2000])
    # the half has 500 rows less, and leverages are replaced by their mean: a few hundredths
    assert abs(many.fidelity_unused_ - few.fidelity_unused_) < 0.05
    assert many.fidelity_unused_ < many.score(X, y)


def many_sizes(hdmr):
    sizes = hdmr.decomposition_.dictionary.basis.sizes
    return sizes[0], round(sizes[-1] ** 0.5)


def test_it_is_close_to_the_r_squared_on_the_other_half():
    X, y = problem(600, 4)
    model = RandomForestRegressor(30, random_state=0).fit(X, y)
    hdmr = TreeHDMR(model).fit(X[::2])
    # the random error of 300 rows
    assert abs(hdmr.fidelity_unused_ - hdmr.fidelity(X[1::2])) < 0.08
    assert hdmr.fidelity(X[::2]) - hdmr.fidelity_unused_ > 0.02


def test_several_outputs_and_the_table():
    X, y = problem()
    Y = np.column_stack([y, 1000 * y, X[:, 0]])
    model = RandomForestRegressor(10, max_depth=4, random_state=0).fit(X, Y)
    hdmr = TreeHDMR(model).fit(X)
    assert hdmr.fidelity_unused_.shape == (3,)
    printed = str(hdmr.sensitivity_)
    assert printed.count("\nFidelity ") == 3
    assert f"{hdmr.fidelity_unused_[2]:.4f} on rows that were not (leave-one-out)" in printed
    assert abs(hdmr.fidelity_unused_[0] - hdmr.fidelity_unused_[1]) < 1e-9


def test_it_is_none_without_projection_on_spans():
    X, y = problem()
    model = GradientBoostingRegressor(max_depth=2, n_estimators=10, random_state=0).fit(X, y)
    for options in ({"basis": "trees"}, {"measure": "product"}):
        hdmr = TreeHDMR(model, **options).fit(X)
        assert hdmr.fidelity_unused_ is None and "Fidelity" not in str(hdmr.sensitivity_)
