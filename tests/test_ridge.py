"""Ridge regression and its cross-validation on triangles, against scikit-learn on rows."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, RepeatedKFold, ShuffleSplit
from tolerance import assert_close

from fasthdmr import TreeHDMR, _core, load_forest
from fasthdmr._solve.ridge import DEFAULT_ALPHAS, cross_validate, fold_numbers, ridge_path
from fasthdmr.datasets import make_ishigami

# Terms of more variables than `order` leave a large residual on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning", "ignore::fasthdmr.ConcurvityWarning")

RNG = np.random.default_rng(0)
B = RNG.normal(size=(230, 6)) * [1, 2, 3, 4, 5, 1e-3] + 7
Y = B @ RNG.normal(size=6) + RNG.normal(size=230)
W = RNG.uniform(0.1, 3, size=230)


def triangle(rows=slice(None), weights=None):
    weight = None if weights is None else weights[rows].copy()
    return _core.array_triangle(B[rows], weight=weight, y=Y[rows].copy(), n_threads=1)[0]


@pytest.mark.parametrize("weights", [None, W])
def test_path_is_ridge_with_an_intercept(weights):
    path = ridge_path(triangle(weights=weights), DEFAULT_ALPHAS)
    for alpha, (intercept, *coef) in zip(DEFAULT_ALPHAS, path.T, strict=True):
        expected = Ridge(alpha=alpha, solver="svd").fit(B, Y, sample_weight=weights)
        assert_close(coef, expected.coef_, 1e-9)
        assert_close(intercept, expected.intercept_, 1e-9)


def test_no_penalty_is_least_norm_least_squares():
    doubled = np.column_stack([B, B[:, 0]])
    R = _core.array_triangle(doubled, weight=None, y=Y, n_threads=1)[0]
    centred = doubled - doubled.mean(axis=0)
    assert_close(ridge_path(R, np.zeros(1))[1:, 0], np.linalg.lstsq(centred, Y - Y.mean(), rcond=1e-12)[0], 1e-9)


@pytest.mark.parametrize("weights", [None, W])
def test_rounding_errors_of_constant_columns_are_not_fitted(weights):
    design = np.column_stack([np.ones(230), B[:, :2], np.full(230, 1e9 / 7), Y])
    R = np.linalg.qr(design if weights is None else np.sqrt(weights)[:, None] * design, mode="r")
    R[3, 3] = 1e-5  # of 2e9
    coef = ridge_path(R, np.zeros(1))[1:, 0]
    assert coef[2] == 0
    assert_close(coef[:2], ridge_path(R[:, [0, 1, 2, 4]], np.zeros(1))[1:, 0], 1e-9)


@pytest.mark.parametrize("n_folds", [2, 3, 4, 7])
@pytest.mark.parametrize("weights", [None, W])
def test_cross_validation_is_that_of_the_rows(n_folds, weights):
    folds = np.stack([triangle(slice(k, None, n_folds), weights) for k in range(n_folds)])
    errors = cross_validate(folds, DEFAULT_ALPHAS)
    expected = np.zeros(len(DEFAULT_ALPHAS))
    w = np.ones(len(Y)) if weights is None else weights
    for k in range(n_folds):
        test = np.arange(len(Y)) % n_folds == k
        for a, alpha in enumerate(DEFAULT_ALPHAS):
            model = Ridge(alpha=alpha, solver="svd").fit(B[~test], Y[~test], sample_weight=w[~test])
            expected[a] += w[test] @ (Y[test] - model.predict(B[test])) ** 2
    assert_close(errors, expected, 1e-9)


def test_default_folds_are_the_row_number_modulo_their_count():
    X, y = make_ishigami(1300, random_state=0)
    forest = TreeHDMR(random_state=0).fit(X, y).forests_
    by_number = TreeHDMR(forest, cv=3).fit(X, y)
    by_splitter = TreeHDMR(forest, cv=PredefinedSplit(np.arange(len(X)) % 3)).fit(X, y)
    assert by_number.alpha_ == by_splitter.alpha_
    assert_close(by_number.coef_, by_splitter.coef_, 1e-9)


def test_chosen_penalty_has_the_least_error():
    X, y = make_ishigami(400, random_state=0)
    y = y + np.random.default_rng(0).normal(scale=8, size=400)
    train, test = slice(None, 200), slice(200, None)
    members = TreeHDMR(random_state=0).fit(X[train], y[train]).forests_
    hdmr = TreeHDMR(members, cv=4).fit(X[test], y[test])
    columns = np.column_stack([load_forest(m).group_features(X[test]) for m in members])
    errors = []
    for alpha in DEFAULT_ALPHAS:
        fold = np.arange(200) % 4
        errors.append(
            sum(
                np.sum(
                    (
                        y[test][fold == k]
                        - Ridge(alpha, solver="svd")
                        .fit(columns[fold != k], y[test][fold != k])
                        .predict(columns[fold == k])
                    )
                    ** 2
                )
                for k in range(4)
            )
        )
    assert hdmr.alpha_ == DEFAULT_ALPHAS[np.argmin(errors)]
    assert DEFAULT_ALPHAS[0] < hdmr.alpha_


@pytest.mark.parametrize("cv", [KFold(4), KFold(4, shuffle=True, random_state=0), list(KFold(5).split(B))])
def test_partitions_are_taken(cv):
    fold, n_folds = fold_numbers(cv, B, Y)
    assert sorted(np.unique(fold)) == list(range(n_folds))


def test_groups_need_a_list_of_splits():
    splits = list(GroupKFold(3).split(B, Y, groups=np.arange(len(B)) // 10))
    assert fold_numbers(splits, B, Y)[1] == 3


@pytest.mark.parametrize("cv", [ShuffleSplit(3, random_state=0), RepeatedKFold(n_splits=3, n_repeats=2), [([0], [1])]])
def test_folds_that_are_not_a_partition_are_refused(cv):
    with pytest.raises(ValueError, match="not a partition of the 230 rows"):
        fold_numbers(cv, B, Y)


def test_fewer_rows_than_folds():
    with pytest.raises(ValueError, match="n_splits=5 greater than the number of samples: n_samples=3"):
        fold_numbers(5, B[:3], Y[:3])
    with pytest.raises(ValueError, match="cv must be an int"):
        fold_numbers(None, B, Y)
