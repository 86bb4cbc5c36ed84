"""Spans: the size rule, knots, columns, and the top-down pass on them against a slow reference."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import spans as reference
from scipy.sparse import csc_array
from scipy.stats import norm
from tolerance import assert_close

from fasthdmr import HDMR, TreeHDMR, _core
from fasthdmr._spans import axes, dual, joint_fit
from fasthdmr._spans.axes import Axis, Profile, axis_columns
from fasthdmr._spans.basis import closure, coarse_basis, default_size, informative_rows, make_basis
from fasthdmr._spans.dual import Dual
from fasthdmr._spans.fit import RIDGE, solve_values
from fasthdmr._spans.kinds import BASES, SPANS
from fasthdmr._spans.ridge_systems import Primal
from fasthdmr.datasets import make_ishigami


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
    skewed=st.booleans(),
)
def test_columns_are_the_dense_ones(seed, degree, size, missing, weighted, skewed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(70, 3)), rng.integers(0, 3))
    if skewed:
        X = np.exp(3 * X)
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


def profile_of(column, weights):
    (profile,) = Profile.of(column[:, None], weights, [0], n_threads=1)
    return profile


def slow_profile(column, weights):
    """The distinct finite values with weight, the weight of each, and whether a row with weight has no value."""
    used = np.flatnonzero(np.isfinite(column) & (weights > 0))
    values = sorted(set(column[used].astype(float)))
    masses = [sum(weights[r] for r in used if column[r] == value) for value in values]
    return values, masses, bool(np.isnan(column[weights > 0]).any())


@pytest.mark.parametrize("kind", ["normal", "ties", "float32", "signs of zero", "tiny", "huge", "empty"])
@pytest.mark.parametrize("weighted", [True, False])
def test_profiles_are_those_of_the_reference(kind, weighted):
    rng = np.random.default_rng(5)
    X = {
        "normal": rng.normal(size=(300, 3)),
        "ties": rng.integers(-3, 3, size=(300, 3)).astype(float),
        "float32": rng.normal(size=(300, 3)).astype(np.float32),
        "signs of zero": rng.choice([0.0, -0.0, 1.0], size=(300, 3)),
        "tiny": rng.normal(size=(300, 3)) * 5e-324,
        "huge": 1e308 * rng.uniform(-1, 1, size=(300, 3)),
        "empty": np.full((300, 3), np.nan),
    }[kind]
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    X[3, 1], X[5, 1] = np.inf, -np.inf
    weights = rng.choice([0.0, 0.3, 1.7], size=300) if weighted else np.ones(300)
    X[weights == 0, 2] = np.nan
    for memory in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        for n_threads in (1, 2):
            found = Profile.of(memory, weights if weighted else None, [2, 0, 1], n_threads)
            for j, profile in zip([2, 0, 1], found, strict=True):
                values, masses, has_missing = slow_profile(X[:, j], weights)
                assert profile.values.tolist() == values and not np.signbit(profile.values[profile.values == 0]).any()
                assert profile.weights.tolist() == masses
                assert profile.has_missing == has_missing


def test_profiles_in_parts_are_the_same(monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 7))
    desired = list(Profile.of(X, None, range(7), 2))
    monkeypatch.setattr(axes, "_PROFILE_BYTES", 16.0 * 50 * 2)
    for found, whole in zip(Profile.of(X, None, range(7), 2), desired, strict=True):
        assert np.array_equal(found.values, whole.values)


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
        assert profile_of(column, weights).knots((7, 4), degree) == profile_of(repeated, None).knots((7, 4), degree)


@pytest.mark.parametrize("sizes", [(12, 8, 5), (32, 8, 5), (6, 4, 3), (5, 5, 5)])
def test_smaller_spans_lie_in_larger_ones(sizes):
    column = np.random.default_rng(0).normal(size=1000)
    for degree in (0, 1, 3):
        fine, *coarser = profile_of(column, None).knots(sizes, degree)
        X = column[:, None]
        full = reference.axis_columns(Axis(0, *fine, False), X)
        for axis, size in zip(coarser, sizes[1:], strict=True):
            columns = reference.axis_columns(Axis(0, *axis, False), X)
            assert columns.shape[1] == size
            assert_close(full @ np.linalg.lstsq(full, columns, rcond=None)[0], columns, 1e-9)


SKEWED = {
    "exponential": lambda z: np.exp(2 * z),
    "cube": lambda z: z**3,
    "mostly zero": lambda z: np.where(z < 1.5, 0.0, np.exp(z)),
    "tiny": lambda z: 1e-310 * np.exp(2 * z),
    "huge": lambda z: 1e300 * np.exp(2 * z),
}


@pytest.mark.parametrize("name", SKEWED)
def test_splines_of_skewed_variables_are_those_of_normal_scores(name):
    z = np.random.default_rng(0).normal(size=400)
    x = SKEWED[name](z)
    (axis,) = profile_of(x, None).axes(0, [7], 3)
    values, scores = map(np.array, axis.scores)
    below, above = np.searchsorted(np.sort(x), values, side="left"), np.searchsorted(np.sort(x), values, side="right")
    assert_close(scores, norm.ppf((below + above) / 800))
    assert min(axis.knots) == scores[0] and max(axis.knots) == scores[-1]


@pytest.mark.parametrize("transform", [lambda x: x, np.exp, lambda x: x**3], ids=["itself", "exp", "cube"])
def test_scores_of_many_values_are_interpolated(transform):
    x = transform(np.random.default_rng(0).standard_t(3, size=5000))
    profile = profile_of(x, None)
    (axis,) = profile.axes(0, [12], 3)
    exact = norm.ppf((np.arange(5000) + 0.5) / 5000)
    spacing = 2 * exact[-1] / 255
    assert 128 < len(axis.scores[0]) <= 256
    # In heavy tails as well: the values of a few rows are many times as large as those of the next.
    assert np.abs(profile.scored()[0].values - exact).max() < spacing
    columns = axis_columns(axis, np.sort(x))
    assert_close(columns, axis_columns(axis._replace(scores=([], [])), profile.scored()[0].values), 1e-9)


def test_variables_that_are_not_skewed_stay_as_they_are():
    rng = np.random.default_rng(0)
    few = np.r_[np.zeros(90), 2.0 ** np.arange(11)]
    for x in (rng.normal(size=10_000), rng.normal(size=300), rng.uniform(size=500), few):
        assert all(axis.scores == ([], []) for axis in profile_of(x, None).axes(0, [8, 4], 3))
    assert profile_of(np.exp(2 * rng.normal(size=500)), None).axes(0, [8], 0)[0].scores == ([], [])  # bins


def test_scores_count_weights():
    rng = np.random.default_rng(0)
    column, weights = rng.normal(size=200) ** 3, rng.integers(0, 4, size=200).astype(float)
    repeated = profile_of(np.repeat(column, weights.astype(int)), None).axes(0, [7, 4], 3)
    assert repeated[0].scores[0] and repeated[0].scores == repeated[1].scores
    assert profile_of(column, weights).axes(0, [7, 4], 3) == repeated


def test_heavy_ties_keep_knots_apart():
    column = np.r_[np.zeros(950), np.linspace(1, 2, 50)]
    ((degree, knots),) = profile_of(column, None).knots((12,), 3)
    assert degree == 3
    assert (np.diff(np.unique(knots)) > 0).all() and knots[0] == 0 and knots[-1] == 2


def test_the_rule_grows_with_rows_and_shrinks_with_order():
    for basis in SPANS:
        sizes = np.array([[default_size(n, t, basis) for t in (1, 2, 3)] for n in (8, 50, 500, 5000, 10**6)])
        assert (np.diff(sizes, axis=0) >= 0).all()
        assert (np.diff(sizes, axis=1) <= 0).all()
        assert sizes.min() == 2
    assert default_size(5000, 1, "bins") == 32


@pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")  # with 60 rows a large part is not explained
def test_estimators_take_the_kinds_of_the_table():
    X, y = make_ishigami(60, random_state=0)
    for kind in BASES.values():
        TreeHDMR(basis=kind.name, random_state=0).fit(X, y)
        if kind.is_span:
            HDMR(basis=kind.name).fit(X, y)
        else:
            with pytest.raises(ValueError, match="basis must be"):
                HDMR(basis=kind.name).fit(X, y)
    assert {kind: BASES[kind].degree(3) for kind in SPANS} == {"spline": 3, "bins": 0}


def test_repeated_rows_count_once():
    X = np.arange(12.0).reshape(6, 2)
    assert informative_rows(np.vstack([X, X]), None) == 6
    assert informative_rows(X, np.array([1, 0, 1, 0, 1, 0.0])) == 3


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_coarse_spans_lie_in_the_fine_ones(degree):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=400), rng.integers(0, 7, size=400), rng.exponential(size=400) ** 3])
    X[::9, 2] = np.nan
    basis = make_basis(X, None, closure([(0, 1, 2)], 2), (12, 8), degree=degree)
    coarse, refine = coarse_basis(basis)
    assert max(coarse.sizes) <= 16 < max(basis.sizes) and coarse.subspaces == basis.subspaces
    fine = evaluate(basis, X, identity(basis))
    assert_close(fine @ refine(np.eye(coarse.core.n_columns)), evaluate(coarse, X, identity(coarse)), 1e-9)


def case(seed, n_rows=400, n=3, order=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n)) @ (np.eye(n) + 0.3 * rng.normal(size=(n, n)) / np.sqrt(n))
    f = X[:, 0] + np.sin(2 * X[:, 1]) * X[:, 0] + X[:, -1] ** 2 + 0.1 * rng.normal(size=n_rows)
    return X, f, make_basis(X, None, closure([tuple(range(n))], order), (6, 4, 3), degree=3)


def ridge_regression(f, spans, weights, factor):
    """Dense ridge regression: mean squared residual, degrees of freedom and coefficients."""
    fit, parts = reference.project(f, spans, weights, factor)
    share = weights / weights.sum()
    p = np.concatenate([np.full(s.shape[1], s.shape[1]) for s in spans])
    design = np.hstack(spans) - share @ np.hstack(spans)
    products = design.T @ (share[:, None] * design)
    hat = np.linalg.solve(products + np.diag(factor / (reference.effective_rows(weights) * p)), products)
    return share @ (f - fit) ** 2, np.trace(hat), np.concatenate(parts)


def ridge_systems(X, weights, basis, values, sums):
    products = _core.SpanGram(sums, X, weights, "all", 1).covariance(list(range(len(basis.subspaces))), 1)
    right = sums.output_with_columns.reshape(-1, values.shape[1])[1:]
    scale = np.repeat(basis.sizes, basis.sizes) * reference.effective_rows(weights)
    primal = Primal(products, right, 1 / scale, sums.output_variance, 1)
    return primal, Dual(X, weights, basis, values, scale, 1)


@pytest.mark.parametrize("all_pairs", [True, False])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_gram_matrix_of_rows(order, all_pairs):
    """All pairs of axes with one scale have a shorter form."""
    X, _, basis = case(0, order=order, n_rows=60)
    random = np.random.default_rng(4)
    of_span = np.asarray(basis.sizes) * (3.0 if all_pairs else random.uniform(1, 2, len(basis.sizes)))
    spans = reference.columns(basis, X)
    expected = sum(scale * columns @ columns.T for scale, columns in zip(of_span, spans, strict=True))
    columns = [axis_columns(axis, X[:, axis.variable]) for axis in basis.axes]
    found = dual._gram_of_rows(basis, columns, np.repeat(of_span, basis.sizes))
    assert_close(found, expected, 1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("factor", [0.5, 20.0])
def test_ridge_regression_through_columns_and_through_rows(factor, weighted):
    X, f, basis = case(0, order=2, n_rows=150)
    weights = np.random.default_rng(1).uniform(0.5, 2, size=len(X)) if weighted else np.ones(len(X))
    expected = ridge_regression(f, reference.columns(basis, X), weights, factor)
    values = f[:, None].copy()
    sums = _core.array_sums(basis.core, X, weight=weights, values=values, n_threads=1)
    for system in ridge_systems(X, weights, basis, values, sums):
        left, spent = system.fit(factor)
        assert_close(left[0], expected[0], 1e-8, reason="normal equations")
        assert_close(spent, expected[1], 1e-8, reason="normal equations")
        assert_close(system.coefficients(factor)[:, 0], expected[2], 1e-7, reason="normal equations")


@pytest.mark.parametrize("centre", [0.5, 16.0, 512.0])
def test_fits_around_a_penalty(centre):
    """They are exact at the centre, and in error by less than the criterion can tell apart up to a ratio of 32."""
    X, f, basis = case(0, order=2, n_rows=300)
    values = np.column_stack([f, f + np.random.default_rng(2).normal(size=len(f)), np.zeros(len(f))])
    sums = _core.array_sums(basis.core, X, weight=None, values=values, n_threads=1)
    for system in ridge_systems(X, np.ones(len(X)), basis, values, sums):
        near = system.fits_around(centre)
        for ratio, tolerance in ((1.0, 1e-9), (0.25, 1e-6), (4.0, 1e-6), (1 / 32, 1e-2), (32.0, 1e-2)):
            left, spent = system.fit(ratio * centre)
            found, freedom = near(ratio * centre)
            assert_close(found, left, tolerance, reason="Gauss quadrature")
            assert_close(freedom, spent, tolerance, reason="Gauss quadrature")
        assert_close(system.solution(centre), system.factored(centre)(system.right), 1e-12, reason="rounding")


@pytest.mark.parametrize("noise", [0.0, 1.0, 10.0, 1000.0])
def test_the_penalty_is_the_same_with_one_factorisation(noise, monkeypatch):
    X, f, basis = case(0, order=2, n_rows=400)
    values = (f + noise * np.std(f) * np.random.default_rng(3).normal(size=len(f)))[:, None]
    sums = _core.array_sums(basis.core, X, weight=None, values=values, n_threads=1)
    fits = []
    for exact in (10_000, 10):
        monkeypatch.setattr(joint_fit, "EXACT", exact)
        for system in ridge_systems(X, np.ones(len(X)), basis, values, sums):
            system._n_probes, system._both = (
                1,
                np.asfortranarray(  # the same probes
                    np.hstack([system.right, np.diag(np.sqrt(system.diagonal))])
                ),
            )

            def criterion(left, spent):
                share = 1 - 1.5 * (1 + spent) / len(X)
                return left[0] / share**2 if share > 0 else np.inf

            fits.append(joint_fit._choose(system, criterion, RIDGE))
    assert len({factor for factor, _ in fits}) == 1
    assert_close([spent for _, spent in fits], [fits[0][1]] * 4, 1e-3, reason="Gauss quadrature")


def test_the_penalty_is_found_if_the_criterion_is_infinite_for_small_ones():
    """The criterion is infinite at first and then has a minimum; or it increases from the smallest factor on."""
    found = joint_fit._minimise(lambda c: np.inf if c < 100 else 1 + np.log(c / 1000) ** 2, 0.5)
    assert 500 <= found <= 2000
    assert joint_fit._minimise(lambda c: c, 0.5) == 0.5
    assert joint_fit._minimise(lambda c: np.inf, 0.5) > 1000


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_joint_projection_is_made_hierarchically_orthogonal(order, weighted):
    X, f, basis = case(0, order=order)
    weights = np.random.default_rng(1).uniform(0.5, 2, size=len(X)) if weighted else None
    w = np.ones(len(X)) if weights is None else weights
    (solution,), _ = solve_values(X, weights, basis, f[:, None].copy(), n_threads=1)
    spans = reference.columns(basis, X)
    weights_of = csc_array(solution.weights[[0, *range(2, solution.weights.shape[0])]])
    values = evaluate(basis, X, weights_of)
    fits = [reference.project(f, spans, w, factor)[0] for factor in RIDGE * 2.0 ** np.arange(15)]
    near = min(np.abs(solution.constant + values.sum(axis=1) - fit).max() for fit in fits)
    assert near < 1e-6 * np.ptp(f)  # factors are doublings
    share = w / w.sum()
    for c, u in enumerate(solution.subspaces):
        below = [s for v, s in zip(basis.subspaces, spans, strict=True) if set(v) < set(u)]
        fit, _ = reference.project(values[:, c], below, w, 0.0)
        assert share @ fit**2 < 1e-4 * np.var(f)  # orthogonal up to the ridge
        assert_close(solution.variance[c], share @ values[:, c] ** 2, 1e-8, reason="sums of products")
    total = solution.constant + values.sum(axis=1)
    assert_close(solution.covariance.sum(), np.cov(total, f, aweights=w, ddof=0)[0, 1], 1e-8, reason="the same")


def test_results_do_not_depend_on_threads():
    X, f, basis = case(2, n_rows=3000)
    (one,), _ = solve_values(X, None, basis, f[:, None].copy(), n_threads=1)
    for threads in (2, 3):
        (other,), _ = solve_values(X, None, basis, f[:, None].copy(), n_threads=threads)
        assert np.array_equal(one.weights.data, other.weights.data)
        assert np.array_equal(one.variance, other.variance)
        assert np.array_equal(evaluate(basis, X, identity(basis)), evaluate(basis, X, identity(basis), threads))


def test_equal_variables_share_equally():
    x = np.random.default_rng(3).normal(size=500)
    X = np.column_stack([x, x])
    basis = make_basis(X, None, [(0,), (1,)], (8,), degree=3)
    (solution,), _ = solve_values(X, None, basis, np.sin(x)[:, None].copy(), n_threads=1)
    values = evaluate(basis, X, csc_array(solution.weights[[0, *range(2, solution.weights.shape[0])]]))
    assert_close(values[:, 0], values[:, 1], 1e-9)
    assert np.var(values.sum(axis=1) - np.sin(x)) < 1e-3 * np.var(np.sin(x))


def test_a_basis_pickles():
    X, _, basis = case(4)
    other = pickle.loads(pickle.dumps(basis))
    assert np.array_equal(evaluate(other, X, identity(other)), evaluate(basis, X, identity(basis)))


@pytest.mark.parametrize("weighted", [True, False])
def test_knots_of_many_rows_come_from_evenly_spaced_ones(weighted, monkeypatch):
    rng = np.random.default_rng(3)
    column, weights = rng.integers(0, 9, size=300).astype(float), rng.uniform(size=300)
    own = weights if weighted else None
    desired = profile_of(column[::3], weights[::3] if weighted else None)
    monkeypatch.setattr(axes, "_KNOT_ROWS", 100)
    found = profile_of(column, own)
    assert np.array_equal(found.values, desired.values)
    assert np.array_equal(found.weights, desired.weights)
