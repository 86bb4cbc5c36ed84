"""HDMR: of functions, of any fitted model, of data."""

import pickle
import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tolerance import assert_close

from fasthdmr import HDMR
from fasthdmr.datasets import make_bilinear_gaussian, make_ishigami

# Trees have steps, and more variables than components, so residuals are large.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning", "ignore::fasthdmr.ConcurvityWarning")

X, y = make_ishigami(3000, random_state=0)
NEW = make_ishigami(500, random_state=1)[0]


def ishigami(X):
    return (1 + 0.1 * X[:, 2] ** 4) * np.sin(X[:, 0]) + 7 * np.sin(X[:, 1]) ** 2


FUNCTION = HDMR(ishigami, order=3).fit(X)
SAMPLE = "12 splines on 3,000 rows; the rest is the chance absorption of a finite sample"


def test_components_are_those_of_the_function():
    exact = {
        (0,): (1 + 0.1 * np.pi**4 / 5) * np.sin(NEW[:, 0]),
        (1,): -3.5 * np.cos(2 * NEW[:, 1]),
        (0, 2): 0.1 * (NEW[:, 2] ** 4 - np.pi**4 / 5) * np.sin(NEW[:, 0]),
    }
    values = dict(zip(FUNCTION.subspaces_, FUNCTION.evaluate(NEW).T, strict=True))
    for u, f_u in exact.items():
        assert_close(values[u], f_u, 0.1, reason=SAMPLE)
    for u in set(values) - set(exact):
        assert np.abs(values[u]).max() < 0.05 * np.abs(y).max()
    assert_close(FUNCTION.predict(NEW), ishigami(NEW), 0.02, reason=SAMPLE)


def test_identities():
    values = FUNCTION.evaluate(NEW)
    assert_close(FUNCTION.intercept_ + values.sum(axis=1), FUNCTION.predict(NEW))
    assert_close(FUNCTION.predict(NEW) + FUNCTION.residual(NEW), ishigami(NEW))
    assert_close(FUNCTION.sensitivity_.S.sum() + FUNCTION.residual_, 1.0, 1e-9)
    difference = FUNCTION.residual(X)
    assert abs(FUNCTION.residual_ - np.cov(difference, y, bias=True)[0, 1] / y.var()) < 1e-9
    for c, component in enumerate(FUNCTION.components_):
        assert_close(component(NEW[:, list(component.subspace)]), values[:, c])
        assert_close(component.variance, FUNCTION.evaluate(X)[:, c].var(), 1e-8, reason="products of spans")


def test_data_is_decomposed_by_a_glass_box_regressor():
    noise = np.random.default_rng(0).normal(size=len(y))
    glass = HDMR().fit(X, y + noise)
    assert glass.score(NEW, ishigami(NEW)) > 0.99
    assert_close(glass.sensitivity_.variance, (y + noise).var(), 1e-9)
    assert 0 < glass.residual_ < 0.1
    for method in (glass.residual, glass.fidelity):
        with pytest.raises(ValueError, match="no model to evaluate at new rows"):
            method(X)
    with pytest.raises(ValueError, match="requires y to be passed"):
        HDMR().fit(X)


@pytest.mark.parametrize(
    ("model", "output"),
    [
        (LinearRegression(), lambda m, X: m.predict(X)),
        (make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=5)), lambda m, X: m.predict(X)),
    ],
)
def test_any_fitted_regressor(model, output):
    model.fit(X, y)
    hdmr = HDMR(model, order=1).fit(X)
    assert_close(hdmr.predict(X) + hdmr.residual(X), output(model, X))


def test_classifiers_give_their_raw_output():
    iris = load_iris()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        svc = SVC(decision_function_shape="ovr").fit(iris.data, iris.target)
        hdmr = HDMR(svc, order=1).fit(iris.data)
        assert hdmr.evaluate(iris.data).shape == (150, 4, 3)
        assert_close(hdmr.predict(iris.data) + hdmr.residual(iris.data), svc.decision_function(iris.data))
        half = iris.target < 2
        logistic = LogisticRegression().fit(iris.data[half], iris.target[half])
        binary = HDMR(logistic, order=1).fit(iris.data)
        tree = DecisionTreeClassifier(max_depth=2).fit(iris.data, iris.target > 1)
        probability = HDMR(tree, order=1).fit(iris.data)
    assert binary.fidelity(iris.data) > 0.99
    assert binary.evaluate(iris.data).ndim == 2
    output = probability.predict(iris.data) + probability.residual(iris.data)
    assert_close(output, tree.predict_proba(iris.data)[:, 1])


def test_linearity():
    """With spans that all outputs share, outputs that sum to a constant have components that sum to zero."""
    three = np.column_stack([y, np.cos(X[:, 0]), 5.0 - y - np.cos(X[:, 0])])
    for order in (1, 2):
        hdmr = HDMR(order=order).fit(X, three)
        assert np.abs(hdmr.evaluate(NEW).sum(axis=2)).max() < 1e-9 * np.abs(y).max()
        assert_close(hdmr.intercept_.sum(), 5.0)


def test_correlated_gaussian():
    rows, values = make_bilinear_gaussian(20_000, rho=0.5, random_state=0)
    indices = HDMR(lambda X: (1 + X[:, 0]) * (1 + X[:, 1])).fit(rows).sensitivity_
    rho, V = 0.5, 0.25 + 1 + 3
    Sa = np.array([(1 + 2 * rho**2 / (1 + rho**2) ** 2) / V] * 2 + [(1 - rho**2) ** 2 / (1 + rho**2) / V])
    assert_close(indices.Sa, Sa, 0.06, reason="sampling error of 20,000 rows")
    assert abs(indices.Sb[2]) < 0.005
    assert_close(values.var(), V, 0.06, reason="sampling error of 20,000 rows")


@pytest.mark.parametrize("basis", ["spline", "bins"])
def test_weights_are_repetitions(basis):
    weights = np.random.default_rng(0).integers(0, 3, size=len(X))
    weighted = HDMR(basis=basis).fit(X, y, sample_weight=weights)
    repeated = HDMR(basis=basis).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_close(weighted.evaluate(NEW), repeated.evaluate(NEW), 1e-8, reason="case O24 asks for 1e-8")
    assert_close(weighted.sensitivity_.S, repeated.sensitivity_.S, 1e-9)


@pytest.mark.parametrize("n_rows", [1, 2, 8, 30, 50])
@pytest.mark.parametrize("basis", ["spline", "bins"])
def test_few_rows(n_rows, basis):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hdmr = HDMR(ishigami, basis=basis).fit(X[:n_rows])
    assert np.isfinite(hdmr.evaluate(NEW)).all()
    assert np.isfinite(hdmr.sensitivity_.Sa).all()
    assert_close(hdmr.predict(NEW) + hdmr.residual(NEW), ishigami(NEW))


def test_missing_values_have_a_column():
    rows = X.copy()
    gone = np.random.default_rng(0).random(len(X)) < 0.3
    rows[gone, 0] = np.nan
    target = np.where(gone, 4.0, np.sin(X[:, 0])) + X[:, 1]
    hdmr = HDMR(order=1).fit(rows, target)
    assert hdmr.score(rows, target) > 0.999
    effect = hdmr.component(0)(np.array([np.nan, 0.0]))
    assert effect[0] - effect[1] == pytest.approx(4.0, abs=0.1)


def test_bins_are_steps():
    steps = np.floor(X[:, 0]) + (X[:, 1] > 0)
    hdmr = HDMR(basis="bins", n_splines=(64, 8), order=1).fit(X, steps)
    assert hdmr.score(X, steps) > 0.98
    assert len(np.unique(hdmr.evaluate(NEW)[:, 0])) <= 64


def test_many_variables_keep_the_strongest_pairs():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(3100, 24))
    target = wide[:, 3] * wide[:, 7] + wide[:, 20] * wide[:, 21] + wide[:, 0]
    with pytest.warns(UserWarning, match="pairs of variables are left out"):
        hdmr = HDMR().fit(wide, target)
    pairs = [u for u in hdmr.subspaces_ if len(u) == 2]
    assert {(3, 7), (20, 21)} <= set(pairs)
    assert len(pairs) < 24 * 23 // 2
    chosen = HDMR(interactions=[(3, 7), (20, 21)]).fit(wide, target)
    assert [u for u in chosen.subspaces_ if len(u) == 2] == [(3, 7), (20, 21)]
    assert chosen.score(wide, target) > 0.99


def test_all_pairs_are_in_where_rows_are_few():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(300, 12))
    hdmr = HDMR().fit(wide, wide[:, 3] * wide[:, 7] + wide[:, 0])
    assert len(hdmr.subspaces_) == 12 + 66
    assert hdmr.subspaces_[12 + hdmr.sensitivity_.S[12:].argmax()] == (3, 7)


def test_spans_beyond_memory_are_refused_with_the_estimate():
    wide = np.random.default_rng(0).normal(size=(3100, 300))
    pairs = list(combinations(range(60), 2))
    with pytest.raises(ValueError, match=r"need about .* GB.*choose fewer subspaces with `interactions` or lower"):
        HDMR(n_splines=6, interactions=pairs).fit(wide[:, :60], wide[:, 0])
    assert len(HDMR(n_splines=6, interactions=pairs[:40]).fit(wide[:, :60], wide[:, 0]).subspaces_) == 100


def test_several_outputs_and_pickle():
    both = np.column_stack([y, X[:, 0]])
    hdmr = HDMR(order=2).fit(X, both)
    copy = pickle.loads(pickle.dumps(hdmr))
    assert np.array_equal(copy.evaluate(NEW), hdmr.evaluate(NEW))
    single = HDMR(order=2).fit(X, y)
    assert_close(hdmr.evaluate(NEW)[:, :, 0], single.evaluate(NEW), 1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"basis": "trees"}, "basis must be 'spline' or 'bins'"),
        ({"order": None}, "Only TreeHDMR and KernelHDMR accept None"),
        ({"order": 0}, "order must be"),
        ({"n_splines": 1}, "n_splines must be"),
        ({"n_splines": (5,)}, "a tuple of 2"),
        ({"degree": 4}, "degree must be"),
        ({"normalise": "no"}, "normalise must be"),
        ({"model": lambda X: X[:3, 0]}, "must have shape"),
        ({"interactions": [("x0", "x9")]}, "names 'x9'"),
    ],
)
def test_wrong_parameters_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        HDMR(**options).fit(X, y)


def test_invalid_models_are_refused():
    with pytest.raises(TypeError, match="fitted estimator or a function"):
        HDMR(3.0).fit(X)
    with pytest.raises(NotFittedError):
        HDMR(LinearRegression()).fit(X)
