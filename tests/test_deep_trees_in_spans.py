"""Terms of many variables: on the spans of few subsets, in systems that are formed from the rows one by one."""

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


@pytest.mark.parametrize("weights", [None, RNG.exponential(size=400)], ids=["equal", "weighted"])
@pytest.mark.parametrize(("model", "rows"), [(MODEL, X), (OF_HOLES, HOLES)], ids=["complete", "missing"])
def test_systems_from_rows_equal_those_from_sums_of_pairs(model, rows, weights):
    """Sums of batches contain all pairs of spans, so no system is formed from the rows."""
    at_once = TreeHDMR(model, knots=rows).fit(rows, sample_weight=weights)
    assert any(b for b, _ in at_once.decomposition_.solutions[0].projection.of_term)
    threads = TreeHDMR(model, knots=rows, n_jobs=3).fit(rows, sample_weight=weights)
    np.testing.assert_array_equal(threads.evaluate(rows), at_once.evaluate(rows))
    in_parts = TreeHDMR(model, knots=rows)
    for part in (slice(150), slice(150, None)):
        in_parts.partial_fit(rows[part], sample_weight=None if weights is None else weights[part])
    assert in_parts.subspaces_ == at_once.subspaces_
    assert_close(in_parts.evaluate(rows), at_once.evaluate(rows), 1e-9)
