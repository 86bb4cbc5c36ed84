"""Spans: the size rule, knots, columns, and the top-down pass on them against a slow reference."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import spans as reference
from scipy.linalg import LinAlgWarning
from scipy.sparse import csc_array
from tolerance import assert_close

from fasthdmr import spans
from fasthdmr.span_fit import SPAN_RANK_TOLERANCE, solve_values
from fasthdmr.spans import Profile, closure, default_size, informative_rows, make_basis, product_pairs


def identity(basis):
    """Weights that evaluate every column of a basis."""
    return csc_array(np.eye(basis.core.n_columns))


def evaluate(basis, X, weights, threads=1):
    return basis.core.evaluate(
        X, weights.indptr.astype(np.int64), weights.indices.astype(np.int64), weights.data, threads
    )


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    degree=st.integers(0, 3),
    size=st.integers(2, 9),
    missing=st.booleans(),
    weighted=st.booleans(),
)
def test_columns_are_the_dense_ones(seed, degree, size, missing, weighted):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(70, 3)), rng.integers(0, 3))
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    weights = rng.integers(0, 3, size=70).astype(float) if weighted else None
    basis = make_basis(X, weights, closure([(0, 1, 2)], 3), (size, 4, 3), degree=degree)
    rows = np.vstack([X, X + 5, X - 5])  # outside the knots too
    expected = np.column_stack([np.ones(len(rows)), *reference.columns(basis, rows)])
    actual = evaluate(basis, rows, identity(basis))
    assert_close(actual, expected)
    assert basis.sizes == [c.shape[1] for c in reference.columns(basis, X)]
    for u, block in zip(basis.subspaces, reference.columns(basis, rows), strict=True):
        if not np.isnan(rows[:, list(u)]).any() or missing:
            complete = ~np.isnan(rows[:, list(u)]).any(axis=1)
            assert_close(block[complete].sum(axis=1), np.ones(complete.sum()))  # a partition of unity


def test_few_distinct_values_get_a_column_each():
    X = np.column_stack([np.repeat([1.0, 2.0, 5.0], 20), np.arange(60.0), np.full(60, 3.0)])
    basis = make_basis(X, None, closure([(0, 1, 2)], 2), (8, 4), degree=3)
    assert basis.subspaces == [(0,), (1,), (0, 1)]  # a constant variable has none
    assert basis.sizes[:2] == [3, 8]
    columns = evaluate(basis, X, identity(basis))[:, 1:4]
    assert np.array_equal(columns, X[:, [0]] == [1, 2, 5])


def test_knots_are_weighted_quantiles():
    rng = np.random.default_rng(0)
    column, weights = rng.normal(size=200), rng.integers(0, 4, size=200).astype(float)
    repeated = np.repeat(column, weights.astype(int))
    for degree in (0, 1, 3):
        assert Profile.of(column, weights).knots((7, 4), degree) == Profile.of(repeated, None).knots((7, 4), degree)


@pytest.mark.parametrize("sizes", [(12, 8, 5), (32, 8, 5), (6, 4, 3), (5, 5, 5)])
def test_smaller_spans_lie_in_larger_ones(sizes):
    column = np.random.default_rng(0).normal(size=1000)
    for degree in (0, 1, 3):
        fine, *coarser = Profile.of(column, None).knots(sizes, degree)
        X = column[:, None]
        full = reference.axis_columns((0, *fine, False), X)
        for axis, size in zip(coarser, sizes[1:], strict=True):
            columns = reference.axis_columns((0, *axis, False), X)
            assert columns.shape[1] == size
            assert_close(full @ np.linalg.lstsq(full, columns, rcond=None)[0], columns, 1e-9)


def test_heavy_ties_keep_knots_apart():
    column = np.r_[np.zeros(950), np.linspace(1, 2, 50)]
    ((degree, knots),) = Profile.of(column, None).knots((12,), 3)
    assert degree == 3
    assert (np.diff(np.unique(knots)) > 0).all() and knots[0] == 0 and knots[-1] == 2


def test_the_rule_grows_with_rows_and_shrinks_with_order():
    for basis in ("spline", "bins"):
        sizes = np.array([[default_size(n, t, basis) for t in (1, 2, 3)] for n in (8, 50, 500, 5000, 10**6)])
        assert (np.diff(sizes, axis=0) >= 0).all()
        assert (np.diff(sizes, axis=1) <= 0).all()
        assert sizes.min() == 2
    assert default_size(5000, 1, "bins") == 32


def test_repeated_rows_count_once():
    X = np.arange(12.0).reshape(6, 2)
    assert informative_rows(np.vstack([X, X]), None) == 6
    assert informative_rows(X, np.array([1, 0, 1, 0, 1, 0.0])) == 3


def test_pairs_of_products():
    subspaces = closure([(0, 1), (2,)], 2)
    assert len(product_pairs(subspaces, joint=True)) == 4 * 5 // 2
    assert (2, 3) not in product_pairs(subspaces, joint=False)
    assert (0, 3) in product_pairs(subspaces, joint=False)


def case(seed, n_rows=400, n=3, order=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n)) @ (np.eye(n) + 0.3 * rng.normal(size=(n, n)) / np.sqrt(n))
    f = X[:, 0] + np.sin(2 * X[:, 1]) * X[:, 0] + X[:, -1] ** 2 + 0.1 * rng.normal(size=n_rows)
    return X, f, make_basis(X, None, closure([tuple(range(n))], order), (6, 4, 3), degree=3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_joint_projection_is_least_squares_and_is_purified(order, weighted):
    X, f, basis = case(0, order=order)
    weights = np.random.default_rng(1).uniform(0.5, 2, size=len(X)) if weighted else None
    w = np.ones(len(X)) if weights is None else weights
    (solution,) = solve_values(X, weights, basis, f[:, None].copy(), n_threads=1)
    spans = reference.columns(basis, X)
    expected = reference.top_down(basis.subspaces, spans, {}, f, w, smooth=True)
    weights_of = csc_array(solution.weights[[0, *range(2, solution.weights.shape[0])]])
    values = evaluate(basis, X, weights_of)
    reason = "spans overlap: a least-norm solution is good to eps over the weakest direction kept"
    fit, _ = reference.project(f, spans, w, reference.RIDGE)
    assert_close(solution.constant + values.sum(axis=1), fit, 1e-7, reason=reason)
    for c, u in enumerate(solution.subspaces):
        assert np.abs(values[:, c] - expected[u]).max() < 1e-6 * np.abs(f).max()
        lower = np.column_stack(
            [np.ones(len(X)), *(s for v, s in zip(basis.subspaces, spans, strict=True) if set(v) < set(u))]
        )
        overlap = np.abs((w[:, None] * lower).T @ values[:, c]) / np.linalg.norm(lower, axis=0)
        assert overlap.max() < 1e-9 * np.linalg.norm(f)
        share = w / w.sum()
        assert_close(solution.variance[c], share @ values[:, c] ** 2, 1e-8, reason=reason)
    assert_close(solution.covariance.sum(), np.cov(fit, f, aweights=w, ddof=0)[0, 1], 1e-8, reason=reason)


def test_results_do_not_depend_on_threads():
    X, f, basis = case(2, n_rows=3000)
    (one,) = solve_values(X, None, basis, f[:, None].copy(), n_threads=1)
    for threads in (2, 3):
        (other,) = solve_values(X, None, basis, f[:, None].copy(), n_threads=threads)
        assert np.array_equal(one.weights.data, other.weights.data)
        assert np.array_equal(one.variance, other.variance)
        assert np.array_equal(evaluate(basis, X, identity(basis)), evaluate(basis, X, identity(basis), threads))


def test_collinear_variables_share_equally_with_one_warning():
    x = np.random.default_rng(3).normal(size=500)
    X = np.column_stack([x, x])
    basis = make_basis(X, None, [(0,), (1,)], (8,), degree=3)
    with pytest.warns(LinAlgWarning, match="numerical rank 8 of 15") as record:
        (solution,) = solve_values(X, None, basis, np.sin(x)[:, None].copy(), n_threads=1)
    assert len(record) == 1
    assert SPAN_RANK_TOLERANCE < 1
    values = evaluate(basis, X, csc_array(solution.weights[[0, *range(2, solution.weights.shape[0])]]))
    assert_close(values[:, 0], values[:, 1], 1e-9)


def test_a_basis_pickles():
    X, _, basis = case(4)
    other = pickle.loads(pickle.dumps(basis))
    assert np.array_equal(evaluate(other, X, identity(other)), evaluate(basis, X, identity(basis)))


@pytest.mark.parametrize("weighted", [True, False])
def test_every_so_many_rows_of_many_place_the_knots(weighted, monkeypatch):
    rng = np.random.default_rng(3)
    column, weights = rng.integers(0, 9, size=300).astype(float), rng.uniform(size=300)
    own = weights if weighted else None
    desired = Profile.of(column[::3], weights[::3] if weighted else None)
    monkeypatch.setattr(spans, "_KNOT_ROWS", 100)
    found = Profile.of(column, own)
    assert np.array_equal(found.values, desired.values)
    assert np.array_equal(found.weights, desired.weights)
