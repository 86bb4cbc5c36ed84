"""Rows that are seen in parts: equal to one pass, whatever the parts, and refused where they do not fit."""

from __future__ import annotations

import pickle
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestRegressor
from sklearn.svm import SVR
from tolerance import assert_close

import fasthdmr
from fasthdmr import HDMR, KernelHDMR, TreeHDMR

RNG = np.random.default_rng(0)
N = 900
X = RNG.normal(size=(N, 4))
X[:, 1] += X[:, 0]
X[:, 3] = np.round(X[:, 3], 1)
Y = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3]) + 0.1 * RNG.normal(size=N)
WEIGHTS = RNG.integers(0, 4, size=N).astype(float)
BOOSTING = GradientBoostingRegressor(n_estimators=30, max_depth=3, random_state=0).fit(X, Y)
FOREST = RandomForestRegressor(n_estimators=3, max_depth=6, random_state=0).fit(X, np.c_[Y, X[:, 0]])
CLASSES = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, np.digitize(Y, [-1, 1]))
MACHINE = SVR(kernel="poly", degree=2, coef0=1.0).fit(X[:200], Y[:200])

ESTIMATORS = {
    "trees": TreeHDMR(BOOSTING),
    "trees, faithful": TreeHDMR(BOOSTING, smooth=False, order=3),
    "trees, bins": TreeHDMR(BOOSTING, basis="bins"),
    "trees, deep": TreeHDMR(FOREST),
    "trees, classes": TreeHDMR(CLASSES),
    "trees basis": TreeHDMR(BOOSTING, basis="trees", order=3),
    "trees basis, ridge": TreeHDMR([BOOSTING], basis="trees", combine="ridge", cv=3),
    "product": TreeHDMR(BOOSTING, measure="product"),
    "product, ridge": TreeHDMR([BOOSTING], measure="product", combine="ridge", alphas=0.1),
    "trees, groups": TreeHDMR(BOOSTING, feature_groups={"g": [0, 2]}),
    "function": HDMR(BOOSTING),
    "data": HDMR(),
    "data, of y": HDMR(BOOSTING, normalise="data"),
    "kernel": KernelHDMR(MACHINE),
    "kernel, of y": KernelHDMR(MACHINE, normalise="data"),
}
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.FastHDMRWarning")


def parts_of(n: int, ends: list[int]) -> list[slice]:
    """Return slices of rows between the given ends."""
    cuts = [0, *sorted(ends), n]
    return [slice(a, b) for a, b in pairwise(cuts) if b > a]


def in_parts(estimator: Any, parts: list[slice], weights: Any = None) -> Any:
    """Return a copy that saw the rows part by part."""
    result = copy(estimator)
    for part in parts:
        result.partial_fit(X[part], Y[part], sample_weight=None if weights is None else weights[part])
    return result


def check_equal(one: Any, other: Any) -> None:
    """Check that all results of two estimators agree up to the rounding of sums over rows."""
    assert one.subspaces_ == other.subspaces_
    assert_close(one.intercept_, other.intercept_, 1e-10)
    assert_close(one.evaluate(X), other.evaluate(X), 1e-9)  # the condition number of the spans is up to 1e5
    for name in ("Sa", "Sb", "S", "ST"):
        assert_close(getattr(one.sensitivity_, name), getattr(other.sensitivity_, name), 1e-9)
    assert_close(1 + np.array(one.residual_), 1 + np.array(other.residual_), 1e-9)  # shares of the variance


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parts_give_the_same_as_one_pass_with_the_same_knots(name):
    knots = in_parts(ESTIMATORS[name], [slice(0, N)]).knots_
    with_knots = copy(ESTIMATORS[name]).set_params(knots=knots)
    whole = copy(with_knots).fit(X, Y)
    check_equal(in_parts(with_knots, parts_of(N, [99, 102, 500 - 500 % 3])), whole)  # the same folds
    check_equal(whole, copy(ESTIMATORS[name]).fit(X, Y))


@settings(max_examples=10, deadline=None)
@given(ends=st.lists(st.integers(1, N - 1), max_size=6), order=st.randoms(use_true_random=False))
def test_any_cut_and_order_of_merging_gives_the_same(ends, order):
    whole = in_parts(TreeHDMR(BOOSTING), [slice(0, N)], WEIGHTS)
    made = [in_parts(TreeHDMR(BOOSTING, knots=whole.knots_), [part], WEIGHTS) for part in parts_of(N, ends)]
    with_rows = [one for one in made if one._state is not None]
    order.shuffle(with_rows)
    check_equal(fasthdmr.merge(with_rows), whole)


@pytest.mark.parametrize("name", ["trees", "trees basis", "product", "data", "kernel"])
def test_a_fixed_order_gives_the_same_bits_on_any_number_of_threads(name):
    knots = in_parts(ESTIMATORS[name], [slice(0, N)]).knots_
    results = []
    for n_jobs in (1, 2, 3):
        estimator = copy(ESTIMATORS[name]).set_params(knots=knots)
        if "n_jobs" in estimator.get_params():
            estimator.set_params(n_jobs=n_jobs)
        results.append(in_parts(estimator, parts_of(N, [300, 350])))
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].evaluate(X), other.evaluate(X))
        np.testing.assert_array_equal(results[0].sensitivity_.S, other.sensitivity_.S)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_pickles_go_on(name):
    half = in_parts(ESTIMATORS[name], [slice(0, 500)])
    other = pickle.loads(pickle.dumps(half))
    for one in (half, other):
        one.partial_fit(X[500:], Y[500:])
    np.testing.assert_array_equal(half.evaluate(X), other.evaluate(X))
    assert len(pickle.dumps(half._state)) < 10e6


@pytest.mark.parametrize("name", ["trees", "trees basis", "product", "data", "kernel"])
def test_whole_weights_are_repetitions(name):
    knots = in_parts(ESTIMATORS[name], [slice(0, N)], WEIGHTS).knots_
    estimator = copy(ESTIMATORS[name]).set_params(knots=knots)
    repeated = np.repeat(np.arange(N), WEIGHTS.astype(int))
    one = copy(estimator).partial_fit(X[repeated[:700]], Y[repeated[:700]])
    one.partial_fit(X[repeated[700:]], Y[repeated[700:]])
    check_equal(one, in_parts(estimator, parts_of(N, [10, 400]), WEIGHTS))


def test_a_part_without_weight_changes_nothing():
    one = in_parts(HDMR(), [slice(0, 500)])
    before = one.evaluate(X)
    one.partial_fit(X[500:], Y[500:], sample_weight=np.zeros(N - 500))
    np.testing.assert_array_equal(one.evaluate(X), before)


def test_intervals_and_fidelity_are_those_of_one_pass():
    knots, whole = in_parts(HDMR(), [slice(0, N)]).knots_, HDMR().fit(X, Y)
    one = in_parts(HDMR(knots=knots), parts_of(N, [300]))
    # The sample is in another order, so the blocks of the jackknife hold other rows.
    ratio = one.sensitivity_.S_conf[:4] / whole.sensitivity_.S_conf[:4]
    assert np.all((ratio > 0.6) & (ratio < 1.6))
    assert_close(one.fidelity_unused_, whole.fidelity_unused_, 1e-9)


def test_ridge_in_spans_needs_two_passes():
    models = [BOOSTING, GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, Y)]
    ridge = TreeHDMR(models, combine="ridge", alphas=[0.1, 1.0], cv=2)
    with pytest.raises(ValueError, match="reads the rows twice"):
        copy(ridge).partial_fit(X, Y)
    data = [(X[part], Y[part]) for part in parts_of(N, [400])]  # 400 is even, so that the folds are the same
    with pytest.raises(ValueError, match="reads the rows twice"):
        copy(ridge).fit(fasthdmr.batches(iter(data)))
    two, one = copy(ridge).fit(fasthdmr.batches(data)), copy(ridge).fit(X, Y)
    check_equal(two, one)
    assert two.alpha_ == one.alpha_


def test_the_first_of_two_passes_skips_and_names_batches_like_the_second():
    ridge = TreeHDMR([BOOSTING], combine="ridge", alphas=[0.1])
    none = np.zeros(100)
    data = [(X, Y, WEIGHTS), (X[:100], Y[:100], none)]
    two = copy(ridge).fit(fasthdmr.batches(data))
    check_equal(two, copy(ridge).fit(X, Y, sample_weight=WEIGHTS))
    bad = X[:50].copy()
    bad[3, 2] = np.inf
    knots = two.knots_
    with pytest.raises(ValueError, match=r"Batch 1: .*infinity"):
        TreeHDMR([BOOSTING], combine="ridge", alphas=[0.1], knots=knots).fit(fasthdmr.batches([(X, Y), (bad, Y[:50])]))


def test_categories_keep_their_levels():
    frame = pd.DataFrame({"a": X[:, 0], "city": np.array(["Oslo", "Rome", "Bern"])[RNG.integers(0, 3, N)]})
    y = frame["a"] * (frame["city"] == "Rome")
    one, whole = HDMR(), HDMR().fit(frame, y)
    for part in parts_of(N, [200, 600]):
        one.partial_fit(frame[part], y[part])
    assert_close(one.evaluate(frame), HDMR(knots=one.knots_).fit(frame, y).evaluate(frame), 1e-9)
    assert one.sensitivity_.names == whole.sensitivity_.names
    new = frame[:2].assign(city=["Oslo", "Lima"])
    before = one.evaluate(frame)
    with pytest.raises(ValueError, match="levels that were not seen when the knots were chosen, such as 'Lima'"):
        one.partial_fit(new, y[:2])
    np.testing.assert_array_equal(one.evaluate(frame), before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda Z: Z.__setitem__((5, 2), np.nan), "Column 'x2' had no missing values"),
        (lambda Z: Z.__setitem__((5, 3), 2.0), "Column 'x3' was constant"),
        (lambda Z: Z.__setitem__((5, 0), np.inf), "contains infinity"),
    ],
)
def test_values_without_spans_are_errors_that_leave_the_state(change, message):
    first = X.copy()
    first[:, 3] = 1.0
    one = HDMR().partial_fit(first, Y)
    before, later = one.evaluate(first), first[:20].copy()
    change(later)
    with pytest.raises(ValueError, match=message):
        one.partial_fit(later, Y[:20])
    np.testing.assert_array_equal(one.evaluate(first), before)
    assert one._state.counts.n_rows == N


def test_knots_of_rows():
    one = TreeHDMR(BOOSTING, knots=X[:300]).fit(X)
    check_equal(one, in_parts(TreeHDMR(BOOSTING, knots=X[:300]), parts_of(N, [10])))
    with pytest.raises(ValueError, match="knots must be the knots_ of a fitted estimator here"):
        HDMR(knots=X[:300]).fit(X, Y)


def test_models_are_fitted_before():
    assert not hasattr(TreeHDMR(), "partial_fit")
    assert not hasattr(TreeHDMR(GradientBoostingRegressor()), "partial_fit")
    assert not hasattr(KernelHDMR(SVR()), "partial_fit")
    assert not hasattr(KernelHDMR(MACHINE, measure=(np.zeros(4), np.eye(4))), "partial_fit")
    with pytest.raises(ValueError, match="Models cannot be fitted in batches"):
        TreeHDMR().fit(fasthdmr.batches([(X, Y)]))


def test_rows_of_an_ordinary_fit_are_forgotten_with_a_warning():
    one = HDMR().fit(X, Y)
    with pytest.raises(AttributeError, match="no attribute 'knots_', because it was not fitted in parts"):
        _ = one.knots_
    with pytest.warns(fasthdmr.FastHDMRWarning, match="rows that this HDMR was fitted on are forgotten"):
        one.partial_fit(X[:500], Y[:500])
    check_equal(one, in_parts(HDMR(), [slice(0, 500)]))


def test_fit_forgets_earlier_parts():
    one = in_parts(HDMR(), [slice(0, 100)]).fit(X, Y)
    np.testing.assert_array_equal(one.evaluate(X), HDMR().fit(X, Y).evaluate(X))
    assert one._state is None


def test_merging_refuses_what_does_not_belong_together():
    first = in_parts(HDMR(), [slice(0, 500)])
    with pytest.raises(ValueError, match="no estimators"):
        fasthdmr.merge([])
    with pytest.raises(TypeError, match="HDMR and TreeHDMR"):
        fasthdmr.merge([first, in_parts(TreeHDMR(BOOSTING), [slice(0, 500)])])
    with pytest.raises(ValueError, match="Estimator 1 keeps no sums"):
        fasthdmr.merge([first, HDMR().fit(X, Y)])
    with pytest.raises(ValueError, match="Estimator 1 has other columns, knots or levels"):
        fasthdmr.merge([first, in_parts(HDMR(), [slice(0, 400)])])
    knots = in_parts(TreeHDMR(BOOSTING), [slice(0, 500)]).knots_
    smooth = in_parts(TreeHDMR(BOOSTING, knots=knots), [slice(0, 500)])
    with pytest.raises(ValueError, match="Estimator 1 has other models or parameters"):
        fasthdmr.merge([smooth, in_parts(TreeHDMR(BOOSTING, knots=knots, smooth=False), [slice(0, 500)])])


def test_merging_leaves_its_arguments():
    parts = [in_parts(HDMR(), [slice(0, 500)])]
    parts.append(in_parts(HDMR(knots=parts[0].knots_), [slice(500, N)]))
    before = parts[0].evaluate(X)
    merged = fasthdmr.merge(parts)
    np.testing.assert_array_equal(parts[0].evaluate(X), before)
    check_equal(merged, parts[0].partial_fit(X[500:], Y[500:]))


def test_warnings_come_with_the_results():
    one = HDMR(lambda X: np.sign(X[:, 0] * X[:, 2] * X[:, 3]))
    one.partial_fit(X[:500]).partial_fit(X[500:])
    with pytest.warns(fasthdmr.ResidualWarning):
        one.summary()


def test_extreme_weights_are_refused():
    with pytest.raises(ValueError, match="Sample weights of batches must be between"):
        HDMR(lambda X: X[:, 0]).partial_fit(X).partial_fit(X, sample_weight=np.full(N, 1e200))


@pytest.mark.parametrize("name", ["trees", "trees basis, ridge", "product", "data", "kernel, of y"])
def test_batches_give_the_same_as_rows_in_memory(name):
    one = copy(ESTIMATORS[name]).fit(fasthdmr.batches([(X[part], Y[part]) for part in parts_of(N, [300, 330])]))
    check_equal(one, copy(ESTIMATORS[name]).fit(X, Y))


def test_batches_with_weights_of_frames_and_a_source_that_is_read_once():
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=Y, w=WEIGHTS)
    parts = (frame[part] for part in parts_of(N, [20, 500]))
    one = HDMR().fit(fasthdmr.batches(parts, target="y", weight="w", columns=list("abcd")))
    rows = frame[list("abcd")]
    assert_close(one.evaluate(rows), HDMR().fit(rows, Y, sample_weight=WEIGHTS).evaluate(rows), 1e-9)
    assert list(one.feature_names_) == list("abcd")


def test_errors_name_the_batch_and_leave_the_estimator():
    hdmr = HDMR().fit(X, Y)
    before = hdmr.evaluate(X)
    bad = X[:50].copy()
    bad[3, 2] = np.nan
    data = fasthdmr.batches([(X, Y), (X, Y), (bad, Y[:50])])
    hdmr.knots = in_parts(HDMR(), [slice(0, N)]).knots_  # else the knots are of all of these rows
    with pytest.raises(ValueError, match="Batch 2: Column 'x2' had no missing values"):
        hdmr.fit(data)
    np.testing.assert_array_equal(hdmr.evaluate(X), before)
    with pytest.raises(ValueError, match="y and sample_weight cannot be passed with batches"):
        hdmr.fit(fasthdmr.batches([(X, Y)]), Y)


def test_a_batch_at_a_time_is_in_memory():
    reads = []

    def source():
        for k in range(8):
            reads.append(k)
            yield X[k * 100 : k * 100 + 100], Y[k * 100 : k * 100 + 100]

    knots = in_parts(HDMR(), [slice(0, N)]).knots_
    HDMR(knots=knots).fit(fasthdmr.batches(source))
    assert reads == list(range(8))  # with knots, no batch is read twice
