"""Finer spans for few rows: chosen by leave-one-out, once for all outputs and orders."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor
from tolerance import assert_close

from fasthdmr import HDMR, TreeHDMR
from fasthdmr._spans.basis import default_size

pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning")  # of residuals, which are not tested here

RNG = np.random.default_rng(5)
X = RNG.uniform(-1, 1, size=(300, 4))
RULE = default_size(300, 1), default_size(300, 2)


def sizes(hdmr):
    """Return the number of splines of single variables, and of a variable in a pair."""
    basis = hdmr.decomposition_.dictionary.basis
    columns = {len(u): size for u, size in zip(basis.subspaces, basis.sizes, strict=True)}
    return columns[1], round(columns[2] ** 0.5)


def of_trees(y, **parameters):
    return TreeHDMR(DecisionTreeRegressor(max_depth=8, random_state=0).fit(X, y), **parameters)


STEPS = (X > 0.3).sum(axis=1)  # none of them alone lowers the cross-validation of the additive fit by a tenth
PRODUCT = np.sin(4 * X[:, 0]) * np.sin(4 * X[:, 1])
SMOOTH = X.sum(axis=1) + X[:, 0] * X[:, 1]


def test_rough_main_effects_get_twice_as_many_splines():
    assert sizes(of_trees(STEPS).fit(X))[0] == 2 * RULE[0]


def test_a_rough_interaction_gets_more_splines():
    model = GradientBoostingRegressor(n_estimators=200, random_state=0).fit(X, PRODUCT)
    hdmr = TreeHDMR(model).fit(X)
    assert sizes(hdmr)[1] == RULE[1] + 2
    assert hdmr.fidelity_unused_ > TreeHDMR(model, n_splines=RULE).fit(X).fidelity_unused_


def test_smooth_effects_keep_the_sizes_of_the_rule():
    model = GradientBoostingRegressor(n_estimators=300, max_depth=2, random_state=0).fit(X, SMOOTH)
    assert sizes(TreeHDMR(model).fit(X)) == RULE


def test_sizes_do_not_depend_on_the_order():
    model = GradientBoostingRegressor(n_estimators=200, random_state=0).fit(X, PRODUCT)
    one, two, three = (TreeHDMR(model, order=order).fit(X) for order in (1, 2, 3))
    main = [hdmr.decomposition_.dictionary.basis.sizes[:4] for hdmr in (one, two, three)]
    assert main[0] == main[1] == main[2]
    assert sizes(two) == sizes(three) != RULE
    assert_close(three.evaluate(X)[:, : len(two.subspaces_)], two.evaluate(X), 1e-9)  # trees of three variables


@pytest.mark.parametrize("distinct", [300, 30])
@pytest.mark.parametrize("y", [PRODUCT, STEPS])
def test_repeated_rows_are_one(distinct, y):
    """Repeated rows with different weights count once; rows without weight do not count."""
    rows = np.resize(np.arange(distinct), 300)
    weights = RNG.integers(0, 4, size=300).astype(float)
    repeated = np.repeat(rows, weights.astype(int))
    weighted, alike = of_trees(y).fit(X[rows], sample_weight=weights), of_trees(y).fit(X[repeated])
    assert sizes(weighted) == sizes(alike)
    assert_close(weighted.transform(X), alike.transform(X), 1e-9)
    assert_close(weighted.fidelity_unused_, alike.fidelity_unused_, 1e-9)


@pytest.mark.parametrize("distinct", [400, 80])
def test_repeated_rows_are_one_for_single_variables(distinct):
    """The number of splines of an oscillating main effect depends on the number of distinct rows."""
    rng = np.random.default_rng(0)
    Z = np.resize(rng.uniform(-1, 1, size=(distinct, 2)), (800, 2))
    y, weights = np.sin(8 * Z[:, 0]) + Z[:, 1], rng.integers(0, 4, size=800).astype(float)
    repeated = np.repeat(np.arange(800), weights.astype(int))
    weighted = HDMR(order=1).fit(Z, y, weights)
    alike, shuffled = (HDMR(order=1).fit(Z[rows], y[rows]) for rows in (repeated, rng.permutation(repeated)))
    found = [list(hdmr.decomposition_.dictionary.basis.sizes) for hdmr in (weighted, alike, shuffled)]
    assert found[0] == found[1] == found[2] and (distinct < 400 or found[0][0] > found[0][1])
    assert_close(weighted.transform(Z), alike.transform(Z), 1e-8, reason="case O24 asks for 1e-8")


def test_one_choice_for_all_outputs_whatever_their_scale():
    model = DecisionTreeRegressor(max_depth=8, random_state=0).fit(X, np.column_stack([PRODUCT, STEPS]))
    found = sizes(TreeHDMR(model).fit(X))
    model.tree_.value[:, 0] *= 1024.0
    assert sizes(TreeHDMR(model).fit(X)) == found != RULE


@pytest.mark.parametrize("parameters", [{"n_splines": (5, 3)}, {"basis": "bins"}])
def test_sizes_that_are_given_stay(parameters):
    hdmr = of_trees(PRODUCT, **parameters).fit(X)
    wanted = parameters.get("n_splines", (default_size(300, 1, "bins"), default_size(300, 2, "bins")))
    assert sizes(hdmr) == wanted


def test_many_rows_keep_the_rule():
    many = np.random.default_rng(1).uniform(-1, 1, size=(1200, 4))
    model = GradientBoostingRegressor(random_state=0).fit(many, np.sin(4 * many[:, 0]) * np.sin(4 * many[:, 1]))
    assert sizes(TreeHDMR(model).fit(many))[1] == default_size(1200, 2)
