"""Terms of many variables, which are projected on the spans of few subsets."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from tolerance import assert_close

from fasthdmr import TreeHDMR, load_forest
from fasthdmr._spans import of_trees
from fasthdmr._spans.basis import closure

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 40))
X[:, ::5] = RNG.exponential(size=(400, 8)) ** 3
HOLES = np.where(RNG.random(X.shape) < 0.05, np.nan, X)
MODEL, OF_HOLES = (
    RandomForestRegressor(2, max_features=0.2, random_state=0).fit(rows, X[:, 1:] @ np.arange(39.0))
    for rows in (X, HOLES)
)
pytestmark = pytest.mark.filterwarnings("ignore:The residual has")


def terms():
    return {group.subspace for group in load_forest(MODEL).node_groups}


def test_few_subsets_of_large_terms_have_components():
    hdmr = TreeHDMR(MODEL).fit(X)
    pairs = {v for u in terms() if len(u) <= 8 for v in closure([u], 2)}
    assert set(hdmr.subspaces_) == pairs | {(j,) for u in terms() for j in u}
    assert len(hdmr.subspaces_) < len(closure(terms(), 2))


@pytest.mark.parametrize("smooth", [True, False])
def test_spans_on_which_no_term_is_projected_change_nothing(smooth, monkeypatch):
    few = TreeHDMR(MODEL, smooth=smooth).fit(X)
    monkeypatch.setattr(of_trees, "projected_subspaces", lambda terms, order: set(closure(terms, order)))
    every = TreeHDMR(MODEL, smooth=smooth).fit(X)
    assert few.subspaces_ == every.subspaces_
    assert len(few.decomposition_.dictionary.basis.subspaces) < len(every.decomposition_.dictionary.basis.subspaces)
    assert_close(few.evaluate(X), every.evaluate(X), 1e-11)
