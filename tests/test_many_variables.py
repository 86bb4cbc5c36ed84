"""Many variables: the strongest are found, budgets hold, and the remedies in the messages work."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

import fasthdmr
from fasthdmr import HDMR, TreeHDMR
from fasthdmr._spans import planning, screening

N = 1200


@pytest.fixture(scope="module")
def wide():
    """Rows of 600 variables, of which a function uses four."""
    X = np.random.default_rng(0).normal(size=(N, 600))
    return X, 2 * X[:, 5] + X[:, 17] ** 2 + X[:, 300] + 2 * X[:, 5] * X[:, 300]


def test_the_strongest_variables_and_pairs_of_data_are_found(wide):
    X, y = wide
    with pytest.warns(fasthdmr.VariablesWarning, match=r"597 of 600 variables are left out.*1 of 3 pairs") as caught:
        hdmr = HDMR().fit(X, y)
    assert len(caught) == 1
    assert hdmr.subspaces_ == [(5,), (17,), (300,), (5, 300)]
    assert np.abs(hdmr.sensitivity_.S - np.array([4, 2, 1, 4]) / 11).max() < 0.05


def test_pairs_of_the_user_are_kept_with_their_variables(wide, monkeypatch):
    monkeypatch.setattr(planning, "MAX_DUAL_PRODUCTS", 5e6)
    X, _ = wide
    with pytest.warns(fasthdmr.VariablesWarning, match="`interactions`: they are kept, with their variables"):
        hdmr = HDMR(lambda X: 2 * X[:, 5] + 0.01 * X[:, 99], interactions=[(98, 99)]).fit(X)
    assert hdmr.subspaces_ == [(5,), (98,), (99,), (98, 99)]


def test_order_one_and_order_three(wide):
    X, y = wide
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hdmr = HDMR(order=1).fit(X[:200, :250], y[:200])
    assert hdmr.subspaces_ == [(j,) for j in range(250)]  # more variables than rows, but they fit
    assert not caught
    with pytest.warns(fasthdmr.VariablesWarning, match="Interactions are kept among the strongest 3 of them"):
        hdmr = HDMR(order=3).fit(X, y)
    assert (5, 17, 300) in hdmr.subspaces_


def test_pairs_alone_are_screened_where_all_variables_fit(monkeypatch):
    monkeypatch.setattr(planning, "MAX_DUAL_PRODUCTS", 5e6)
    X = np.random.default_rng(0).normal(size=(400, 40))
    with pytest.warns(fasthdmr.PairsWarning, match="1 of 780 pairs of these are kept"):
        hdmr = HDMR(lambda X: X.sum(axis=1) + 5 * X[:, 2] * X[:, 3]).fit(X)
    assert [u for u in hdmr.subspaces_ if len(u) == 2] == [(2, 3)]
    assert len(hdmr.subspaces_) == 41


@pytest.mark.parametrize("weights", [None, np.arange(60) % 4 * 1.0], ids=["equal", "weighted"])
def test_strengths_are_shares_of_the_variance_between_bins(weights):
    rng = np.random.default_rng(0)
    levels = np.repeat([[0.0, 1.0, 2.0, 3.0, 0.0], [0.0, 1.0, 2.0, 3.0, np.nan], [0.0, 1.0, 2.0, 3.0, 1.0]], 12, axis=1)
    levels[[0, 2], -12:] = np.tile([0.0, 1.0, 2.0, 3.0], 3)  # as many rows of each level
    X = np.column_stack([rng.permutation(column) for column in levels])
    values = np.column_stack([X[:, 0], np.nan_to_num(X[:, 1], nan=9.0), np.ones(60)])
    w = np.ones(60) if weights is None else weights
    y = values - np.average(values, axis=0, weights=w)
    expected = np.zeros(3)
    for j in range(3):
        for level in [0, 1, 2, 3, np.nan]:
            at = np.isnan(X[:, j]) if np.isnan(level) else X[:, j] == level
            mean = (w[at] @ y[at]) / max(w[at].sum(), 1.0)
            expected[j] += sum(w[at].sum() * mean[:2] ** 2 / (w @ y[:, :2] ** 2))
    assert np.abs(screening.variable_strengths(X, weights, values) - expected).max() < 1e-12


def test_strengths_of_categories_are_shares_between_levels():
    rng = np.random.default_rng(0)
    codes = np.minimum(rng.geometric(0.08, size=2000) - 1, 39)
    effect = rng.choice([-1.0, 1.0], size=40)[codes]  # in no order, so quantiles of codes explain little of it
    found = screening.variable_strengths(np.column_stack([codes, codes]), None, effect[:, None], {0: 40})
    cells = np.minimum(codes, screening.LEVELS - 1)
    means = np.array([effect[cells == cell].mean() for cell in range(screening.LEVELS)])
    assert abs(found[0] - np.var(means[cells]) / np.var(effect)) < 1e-12
    assert found[1] < 0.3 < 0.6 < found[0]


def test_categories_are_found_among_hundreds_of_variables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 600)).astype(object)
    for j in (7, 8, 9):
        X[:, j] = [f"level {k}" for k in rng.integers(12, size=N)]
    y = np.array([int(level[6:]) % 3 for level in X[:, 8]]) + X[:, 100].astype(float)
    with pytest.warns(fasthdmr.VariablesWarning, match="598 of 600 variables are left out"):
        assert HDMR().fit(X, y).subspaces_[:2] == [(8,), (100,)]


def test_variables_without_effect_rarely_pass():
    rng = np.random.default_rng(0)
    passing = [
        len(screening.above_chance(screening.variable_strengths(rng.normal(size=(500, 300)), None, y[:, None]), 3, 500))
        for y in rng.normal(size=(20, 500))
    ]
    assert np.mean(passing) < 1.5  # a tenth is expected by chance, and at least one is always kept


@pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")
def test_forest_of_all_variables_names_ways_that_work(monkeypatch):
    """The spans of its pairs do not fit, but those of single variables do, and the product measure has none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 120))
    model = RandomForestRegressor(20, max_depth=6, max_features=5, random_state=0).fit(X, X.sum(axis=1))
    monkeypatch.setattr(planning, "MAX_BYTES", 1e6)
    way = r"choose fewer subspaces with `interactions` or lower `order` or lower `n_splines` or pass measure='product'"
    with pytest.raises(ValueError, match=way):
        TreeHDMR(model).fit(X)
    for parameters in ({"order": 1}, {"interactions": []}):
        assert TreeHDMR(model, **parameters).fit(X).subspaces_ == [(j,) for j in range(120)]
    exact = TreeHDMR(model, measure="product", order=None).fit(X)
    assert len(exact.subspaces_) > 1000
    assert np.abs(exact.residual(X)).max() < 1e-9
    monkeypatch.setattr(planning, "MAX_BYTES", 1e4)
    with pytest.raises(ValueError, match="To reduce them, lower `n_splines` or pass measure='product'"):
        TreeHDMR(model, order=1).fit(X)
