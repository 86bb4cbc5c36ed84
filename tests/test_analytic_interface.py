"""What the closed forms share: shapes, errors, laws, pictures."""

import pickle

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from scipy import stats
from sklearn.base import clone
from tolerance import assert_close

from fasthdmr import HDMR, Sensitivity
from fasthdmr._results.component import Component
from fasthdmr.analytic import GaussianQuadratic, Ishigami, Product, SymmetricPolynomial
from fasthdmr.plotting import ComponentDisplay, SensitivityDisplay

mpl.use("Agg")

MODELS = [
    Ishigami(),
    Product(3, 1, 0.5),
    SymmetricPolynomial(4, 2, 0, 1),
    SymmetricPolynomial(3, 3, 0.5, 1, {(0, 1): 1, (1, 2): -1}),
    GaussianQuadratic([0, 1], [[1, 0.5], [0.5, 1]], 1, [1, 1], [[0, 0.5], [0.5, 0]]),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@every_model
def test_results_are_those_of_an_estimator(model):
    X = model.sample(50, random_state=0)
    n = model.n_features
    assert X.shape == (50, n) and model(X).shape == (50,)
    assert model.feature_names == tuple(f"x{i}" for i in range(n))
    indices = model.sensitivity()
    assert isinstance(indices, Sensitivity) and indices.subspaces == model.subspaces
    assert indices.feature_names == model.feature_names
    frame = indices.to_frame()
    assert frame["ST"].notna().sum() == n  # every variable has its row
    assert model.order_for(0.99) == indices.order_for(0.99)
    assert [c.subspace for c in model.components] == model.subspaces
    assert_close(model.intercept + sum(c(X[:, list(c.subspace)]) for c in model.components), model(X), 1e-11)
    component = model.component("x0")
    assert isinstance(component, Component)
    assert (component.names, component.bounds.shape) == (("x0",), (1, 2))
    assert_close(component(X[:, 0]), component(X[:, [0]]))
    assert_close(model(pd.DataFrame(X.astype(np.float32))), model(X.astype(np.float32)))


@every_model
def test_draws_follow_the_random_state(model):
    assert np.array_equal(model.sample(5, 0), model.sample(5, np.random.RandomState(0)))
    assert not np.array_equal(model.sample(5, 0), model.sample(5, 1))
    assert model.sample(5, np.random.default_rng(0)).shape == (5, model.n_features)
    with pytest.raises(ValueError, match="N == 0, must be >= 1"):
        model.sample(0)


@every_model
def test_bounds_are_quantiles_of_the_law(model):
    X = model.sample(100_000, random_state=0)
    for component in model.components:
        found = np.percentile(X[:, list(component.subspace)], [1, 99], axis=0).T
        assert_close(component.bounds, found, 0.05, reason="percentiles of 100,000 draws")


@every_model
def test_it_pickles_and_an_estimator_with_it_clones(model):
    X = model.sample(40, random_state=0)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again(X), model(X)) and type(model).__name__ in repr(again)
    component = pickle.loads(pickle.dumps(model.component(0)))
    assert np.array_equal(component(X[:, 0]), model.component(0)(X[:, 0]))
    assert np.array_equal(clone(HDMR(model)).model(X), model(X))


@every_model
def test_pictures(model):
    pair = model.subspaces[-1][:2]
    display = ComponentDisplay.from_estimator(model, ["x1"] + ([pair] if pair in model.subspaces else []))
    x, y = display.axes_[0].lines[-1].get_data()
    assert_close(y, model.component(1)(x))
    assert_close([x[0], x[-1]], model.component(1).bounds[0])
    bars = SensitivityDisplay.from_estimator(model).axes_[0]
    assert len(bars.get_yticklabels()) == len(model.subspaces)
    with pytest.raises(ValueError, match="output must be one of"):
        ComponentDisplay.from_estimator(model, ["x1"], output=3)


def test_a_component_is_drawn_where_not_all_can_be_listed():
    f = Product(10_000, 1, 0.01)
    (axes,) = ComponentDisplay.from_estimator(f, ["x17"]).axes_
    assert axes.get_xlabel() == "x17"
    with pytest.raises(ValueError, match="more than 10\\^18 components"):
        SensitivityDisplay.from_estimator(f)


@every_model
def test_invalid_rows_are_refused(model):
    with pytest.raises(ValueError, match=f"but {type(model).__name__} is expecting {model.n_features} features"):
        model(np.zeros((2, model.n_features + 1)))
    with pytest.raises(ValueError, match="contains NaN"):
        model(np.full((2, model.n_features), np.nan))
    with pytest.raises(ValueError, match=r"takes an array of shape \(N, 1\), got \(2, \d+\)"):
        model.component(0)(np.zeros((2, model.n_features + 1)))


@every_model
def test_subspaces_without_a_component_are_refused(model):
    with pytest.raises(ValueError, match=r"subspace has the variable 9, but there are"):
        model.component(9)
    with pytest.raises(ValueError, match=r"There is no component for \(\)"):
        model.component(())
    with pytest.raises(ValueError, match="Only a component of one numeric variable"):
        model.component(model.subspaces[-1]).fourier()


def test_interactions_that_are_zero_have_no_component():
    for model, u in [
        (Ishigami(), (0, 1)),
        (Product(3, 0, 1), (0, 1)),
        (SymmetricPolynomial(3, 1, 1, 1), (0, 1)),
        (SymmetricPolynomial(3, 2, 1, 1, {(0, 2): 1}), (0, 1)),
        (GaussianQuadratic(np.zeros(3), np.eye(3), 0, np.ones(3), np.eye(3)), (0, 1)),
        (GaussianQuadratic(np.zeros(3), np.eye(3), 0, np.ones(3), np.ones((3, 3))), (0, 1, 2)),
    ]:
        with pytest.raises(ValueError, match="There is no component for"):
            model.component(u)
    assert Product(3, 0, 1).subspaces == [(0,), (1,), (2,), (0, 1, 2)]


# --- laws ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "law",
    [
        stats.uniform(0, 1),
        stats.beta(1.0, 1.0),
        stats.gamma(3, scale=0.5 / 3),
        stats.rv_discrete(values=([0, 1], [0.5, 0.5])),
    ],
)
def test_any_law_with_the_moments(law):
    model = Product(2, law.mean(), law.std())
    X = model.sample(1_000, random_state=0, law=law)
    assert X.dtype == np.float64
    assert stats.kstest(X[:, 0], law.cdf).pvalue > 1e-3 or isinstance(law, stats.rv_discrete)
    assert np.array_equal(X, law.rvs(size=(1_000, 2), random_state=0))


@pytest.mark.parametrize("law", [stats.norm(1, 1.001), stats.norm(0.999, 1), stats.norm(0, 1), stats.cauchy(1, 1)])
def test_other_moments_are_refused(law):
    with pytest.raises(ValueError, match="law must have mean 1 and standard deviation 1, as this Product; it has"):
        Product(2, 1, 1).sample(3, law=law)


def test_invalid_distributions_are_refused():
    with pytest.raises(TypeError, match="law must be a frozen SciPy distribution"):
        SymmetricPolynomial(2, 1, 0, 1).sample(3, law="normal")


# --- parameters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Product(0, 1, 1), ValueError, "n == 0, must be >= 1"),
        (lambda: Product(2.0, 1, 1), TypeError, "n must be an instance of"),
        (lambda: Product(2, np.nan, 1), ValueError, "mu must be finite, got nan"),
        (lambda: Product(2, 1, 0), ValueError, "sigma must be positive, got 0"),
        (lambda: Product(2, "1", 0), TypeError, "mu must be an instance of"),
        (lambda: SymmetricPolynomial(2, 3, 1, 1), ValueError, "order must be at most n = 2, got 3"),
        (lambda: SymmetricPolynomial(2, 0, 1, 1), ValueError, "order == 0, must be >= 1"),
        (lambda: SymmetricPolynomial(2, 2, 1, -1), ValueError, "sigma must be positive, got -1"),
        (lambda: SymmetricPolynomial(2, 2, 1, 1, [1, 2]), ValueError, r"beta must have shape \(3,\), got \(2,\)"),
        (lambda: SymmetricPolynomial(2, 2, 1, 1, [1, 2, np.inf]), ValueError, "beta must be finite"),
        (lambda: SymmetricPolynomial(2, 1, 1, 1, {(0, 1): 1}), ValueError, r"\(0, 1\) of order 2, above order = 1"),
        (lambda: SymmetricPolynomial(2, 2, 1, 1, {(0, 1): 1, (1, 0): 1}), ValueError, r"beta names .* \(0, 1\) twice"),
        (lambda: SymmetricPolynomial(2, 2, 1, 1, {2: 1}), ValueError, "beta has the variable 2, but there are 2"),
        (lambda: SymmetricPolynomial(2, 2, 1, 1, {"a": 1}), ValueError, "beta names 'a'"),
        (lambda: SymmetricPolynomial(2, 2, 1, 1, {0: "1"}), TypeError, r"beta\[0\] must be an instance of"),
        (lambda: Ishigami(np.inf), ValueError, "a must be finite, got inf"),
    ],
)
def test_invalid_models_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_too_many_components_are_counted_not_listed():
    assert len(Product(16, 1, 1).subspaces) == 2**16 - 1
    with pytest.raises(ValueError, match=r"has 131,071 components, of which at most 100,000 are listed\. Use what"):
        Product(17, 1, 1).sensitivity()
    with pytest.raises(ValueError, match="Product of 10000 variables has more than 10\\^18 components"):
        _ = Product(10_000, 1, 1).components
    assert len(Product(10_000, 0, 1).subspaces) == 10_001
    assert len(SymmetricPolynomial(10_000, 1, 1, 1).sensitivity().S) == 10_000


def test_subsets_of_a_mapping_are_counted_before_they_are_made():
    f = SymmetricPolynomial(60, 60, 1, 1, {tuple(range(50)): 1})
    with pytest.raises(ValueError, match="beta makes 1,125,899,906,842,624 terms of f_u; at most 10,000,000"):
        f.sensitivity()
    assert SymmetricPolynomial(60, 60, 0, 1, {tuple(range(50)): 1}).order_shares()[-1] == 1


def test_a_constant_polynomial_warns():
    for beta in ({}, {(): 3}, [3, 0, 0]):
        f = SymmetricPolynomial(2, 2, 1, 1, beta)
        with pytest.warns(UserWarning, match="This SymmetricPolynomial is constant: its indices are 0"):
            indices = f.sensitivity()
        assert indices.subspaces == [(0,), (1,)] and not indices.S.any()
        assert not f.explained().any() and not f.ST.any() and not f.R.any() and f.order_moments() == (0, 0)
        assert f.variance == 0 and np.array_equal(f.order_shares(log=True), [-np.inf])
