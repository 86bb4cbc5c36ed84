"""Warnings: of classes of the package's own, once, at the line of the caller."""

import warnings

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import fasthdmr
from fasthdmr import HDMR, TreeHDMR, decompose


def only(record):
    """The one warning that was caught."""
    assert len(record) == 1
    return record[0]


def test_classes():
    children = [getattr(fasthdmr, name) for name in fasthdmr.__all__ if name.endswith("Warning")]
    assert len(children) == 9
    assert all(issubclass(child, fasthdmr.FastHDMRWarning) for child in children)
    assert issubclass(fasthdmr.FastHDMRWarning, UserWarning)
    assert issubclass(fasthdmr.RankWarning, LinAlgWarning)


def constant(X):
    return np.zeros(len(X))


@pytest.mark.parametrize(
    "call",
    [
        lambda X: HDMR(constant).fit(X),
        lambda X: HDMR(constant).fit_transform(X),
        lambda X: decompose(X, [0, 1], y=np.zeros(len(X))),
        lambda X: TreeHDMR().fit(X, np.zeros(len(X))),
        lambda X: fasthdmr.analytic.GaussianQuadratic([0], [[1]], 1.0, [0], [[0]]).sensitivity(),
    ],
)
def test_warnings_are_at_the_line_of_the_caller(call):
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.warns(fasthdmr.ConstantWarning) as record:
        call(X)
    # the warning must not point to scikit-learn's wrapper of fit_transform either
    assert only(record).filename == __file__ or "sklearn" in only(record).filename


def test_dependent_columns_warn_at_the_line_of_the_caller():
    X = np.random.default_rng(0).normal(size=(60, 1))
    with pytest.warns(fasthdmr.RankWarning, match="numerical rank 2 ") as record:
        decompose(np.hstack([X, X]), [0, 1], coef=np.ones(2))
    assert only(record).filename == __file__


def diabetes():
    data = load_diabetes(as_frame=True, scaled=False)
    return data.data, data.target


@pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")  # 0.15 with smooth=True, which is not tested here
@pytest.mark.parametrize("smooth", [True, False])
def test_concurvity_of_diabetes_names_the_cholesterols(smooth):
    """Total cholesterol s1 is nearly the sum of LDL s2, HDL s3 and a function of s5."""
    X, y = diabetes()
    model = GradientBoostingRegressor(random_state=0).fit(X, y)
    with pytest.warns(
        fasthdmr.ConcurvityWarning, match=r"functions of s2.* explain the main effect of s1 \(adjusted R² 0\.9"
    ) as record:
        hdmr = TreeHDMR(model, smooth=smooth).fit(X)
    assert {warning.filename for warning in record} == {__file__}
    shares = hdmr.decomposition_.concurvity
    assert shares.shape == (10,) and np.nanargmax(shares) == 4
    assert shares[2] < 0.5 and np.isnan(shares[0])  # bmi; age, which hardly matters


@pytest.mark.parametrize("n", [2, 6, 20])
def test_no_concurvity_where_all_correlations_are_below_0_9(n):
    X = np.random.default_rng(n).multivariate_normal(np.zeros(n), 0.1 * np.eye(n) + 0.9, size=1000)
    hdmr = HDMR(lambda X: X.sum(axis=1), order=1).fit(X)
    assert hdmr.decomposition_.concurvity.max() < 0.93


def test_concurvity_is_the_r_squared_of_an_additive_fit():
    """Of x0 = x1² + noise: the share is 1 less the noise's part of the variance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    X[:, 0] = X[:, 1] ** 2 + 0.5 * X[:, 0]
    hdmr = HDMR(lambda X: X[:, 0] + 3 * X[:, 2], order=1).fit(X)
    share = hdmr.decomposition_.concurvity
    # 3,000 rows and a heavy tail: a few hundredths
    assert abs(share[0] - 2 / 2.25) < 0.03 and np.isnan(share[1]) and abs(share[2]) < 0.02


def test_concurvity_of_copies_and_of_several_outputs():
    X = np.random.default_rng(0).normal(size=(400, 3))
    X[:, 1] = X[:, 0]
    with pytest.warns(
        fasthdmr.ConcurvityWarning,
        match=r"functions of x. explain the main effect of x. \(adjusted R² 1\); functions of x.",
    ):
        hdmr = HDMR(lambda X: X[:, :2].sum(axis=1), order=1).fit(X)
    assert hdmr.decomposition_.concurvity[:2].min() > 0.999
    with pytest.warns(fasthdmr.ConcurvityWarning) as record:
        hdmr = HDMR(lambda X: np.column_stack([X[:, 0], X[:, 2]]), order=1).fit(X)
    assert only(record).filename == __file__
    shares = hdmr.decomposition_.concurvity
    assert shares.shape == (3, 2) and np.isnan(shares[0, 1]) and shares[2, 1] < 0.1


def product_of_three(X):
    return X[:, 0] * X[:, 1] * X[:, 2]


def test_the_warning_of_a_large_residual_names_the_remedy():
    X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 3))
    y = product_of_three(X) + X[:, 0]
    with pytest.warns(
        fasthdmr.ResidualWarning, match=r"residual has \S+ of .*: a higher `order` or a larger"
    ) as record:
        HDMR(lambda X: product_of_three(X) + 0.1 * X[:, 0]).fit(X)
    assert only(record).filename == __file__
    stumps = GradientBoostingRegressor(max_depth=1, n_estimators=3, learning_rate=1.0).fit(X, y)
    with pytest.warns(fasthdmr.ResidualWarning, match=r"black box: `smooth=False`"):
        TreeHDMR(stumps, n_splines=2).fit(X)
    trees = GradientBoostingRegressor(max_depth=4, random_state=0).fit(X, product_of_three(X))
    for options in ({"basis": "trees"}, {"measure": "product"}, {"smooth": False}):
        with pytest.warns(
            fasthdmr.ResidualWarning, match=r"a higher `order` \(trees depend on up to 3 variables\) would"
        ):
            TreeHDMR(trees, **options).fit(X)
    with pytest.warns(fasthdmr.ResidualWarning, match=r"a higher `order` \(.*\) or more `interactions` would"):
        TreeHDMR(trees, smooth=False, interactions=[(0, 1)]).fit(X)


def test_the_residual_of_data_does_not_warn():
    """If y itself is decomposed, the residual is noise, which no option reduces."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hdmr = HDMR().fit(X, np.random.default_rng(1).normal(size=300))
    assert hdmr.residual_ > 0.5


def test_order_for_warns_if_no_order_explains_the_fraction():
    indices = fasthdmr.Sensitivity([(0,), (0, 1)], [0.5, 0.2], [0.5, 0.2], 0.3, 1.0, ["a", "b"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert indices.order_for(0.7) == 1  # of the .7 that all explain
    with pytest.warns(fasthdmr.ResidualWarning, match=r"of order 1 to 2 explain 0\.7 of the variance, less than 0\.9"):
        assert indices.order_for(0.9) == 2
