"""Intervals by a bootstrap: against refits on repeated rows, spreads over samples, and the jackknife."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.tree import DecisionTreeRegressor
from tolerance import assert_close

from fasthdmr import HDMR, KernelHDMR, RankWarning, TreeHDMR
from fasthdmr._spans import joint_fit
from fasthdmr._spans.fit import RIDGE
from fasthdmr._support import sample
from fasthdmr._uncertainty import bootstrap
from fasthdmr._uncertainty.bootstrap import Bootstrap
from fasthdmr._uncertainty.uncertainty import NORMAL_95
from fasthdmr.analytic import GaussianQuadratic

# Low orders and dependent variables are chosen on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning", "ignore::fasthdmr.ConcurvityWarning")

NAMES = ("Sa", "Sb", "S", "ST", "R")


def correlated(n_rows, n=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n)) + 0.7 * rng.normal(size=(n_rows, 1))


def bits(n_rows, n=3):
    """Dependent variables of two values, whose spans do not depend on the rows."""
    return (correlated(n_rows, n) > 0.3).astype(float)


def of_bits(X):
    return X[:, :3] @ [1.0, 2.0, -1.0] + 3 * X[:, 0] * X[:, 1] - 2 * X[:, 1] * X[:, 2] + 2 * X[:, 0] * X[:, 1] * X[:, 2]


def half_widths(hdmr):
    return [getattr(hdmr.sensitivity_, f"{name}_conf") for name in NAMES]


def standard_errors(hdmr, values):
    """Standard errors of all indices, and of a component at some values."""
    found = [width.ravel() / NORMAL_95 for width in half_widths(hdmr)]
    return np.concatenate([*found, hdmr.component(0).standard_error(values).ravel()])


def refits(fit, X, values, monkeypatch, n_resamples=12):
    """The bootstrap by its definition: refits with the drawn multiplicity of each row."""
    monkeypatch.setattr(bootstrap, "N_RESAMPLES", n_resamples)
    rng, found = np.random.default_rng(0), []
    for _ in range(n_resamples):
        hdmr = fit(X[np.sort(rng.integers(len(X), size=len(X)))])
        indices = [getattr(hdmr.sensitivity_, name).ravel() for name in NAMES]
        found.append(np.concatenate([*indices, hdmr.component(0)(values).ravel()]))
    largest = np.abs(found).max(axis=0, initial=1)  # squares of large outputs would overflow
    return largest * np.std(found / largest, axis=0, ddof=1)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_equal_to_refits_of_functions(order, n_outputs, monkeypatch, intervals_without_bias):
    monkeypatch.setattr(joint_fit, "_LARGEST_FACTOR", RIDGE)  # the penalty is fixed

    def function(X):
        return of_bits(X) if n_outputs == 1 else 1e200 * np.column_stack([of_bits(X), X[:, 0] + X[:, 1] * X[:, 2]])

    def fit(X):
        pairs = [(0, 1), (0, 2), (1, 2)] if order == 2 else []
        return HDMR(function, order=order, interactions=pairs, ci="bootstrap").fit(X)

    X, values = bits(150), np.array([0.0, 1.0])
    expected = refits(fit, X, values, monkeypatch)
    found = standard_errors(fit(X), values)
    last = values.size * n_outputs  # of the components, in units of the output
    assert_close(found[:-last], expected[:-last], 1e-9)
    assert_close(found[-last:], expected[-last:], 1e-9)


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize(("depth", "order", "n_outputs"), [(2, 2, 1), (3, 2, 2), (5, 2, 1)])
def test_equal_to_refits_of_trees(smooth, depth, order, n_outputs, monkeypatch, intervals_without_bias):
    """Terms of up to five variables: of whole trees, of full and of coarse spans."""
    X = bits(120, n=5)
    y = np.column_stack([of_bits(X) - X[:, 4] * X[:, 1] * X[:, 2] * X[:, 3], X[:, 0] * X[:, 4]])[:, :n_outputs]
    model = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y)

    def fit(X):
        return TreeHDMR(model, smooth=smooth, order=order, ci="bootstrap").fit(X)

    values = np.array([0.0, 1.0])
    expected = refits(fit, X, values, monkeypatch)
    assert_close(standard_errors(fit(X), values), expected, 1e-9)


def test_equal_to_refits_with_trees_as_spans(monkeypatch, intervals_without_bias):
    X = correlated(150)
    y = X[:, 0] + X[:, 1] ** 2 + X[:, 0] * X[:, 1]
    models = [GradientBoostingRegressor(n_estimators=20, max_depth=d, random_state=0).fit(X, y) for d in (1, 2)]

    def fit(X):
        return TreeHDMR(models, basis="trees", combine="sum", ci="bootstrap").fit(X)

    values = np.array([-1.0, 0.0, 2.0])
    expected = refits(fit, X, values, monkeypatch)
    assert_close(standard_errors(fit(X), values), expected, 1e-9)


def test_equal_to_refits_of_a_kernel_machine(monkeypatch, intervals_without_bias):
    X = correlated(150)
    Y = np.column_stack([X[:, 0] + X[:, 1] ** 2, X[:, 0] * X[:, 2]])
    machine = KernelRidge(kernel="poly", degree=2, coef0=1, gamma=1).fit(X, Y)

    def fit(X):
        return KernelHDMR(machine, ci="bootstrap").fit(X)

    values = np.array([-1.0, 0.0, 2.0])
    expected = refits(fit, X, values, monkeypatch)
    assert_close(standard_errors(fit(X), values), expected, 1e-9)


def test_weights_are_drawn_with_their_rows():
    """Equal weights change nothing, rows of weight 0 are not drawn, and few heavy rows have a small effective size."""
    X = correlated(200)

    def fit(X, weights):
        return HDMR(of_bits, order=1, ci="bootstrap").fit(X, sample_weight=weights)

    plain = fit(X, None).sensitivity_.S_conf
    assert_close(fit(X, np.full(200, 0.5)).sensitivity_.S_conf, plain, 1e-9)
    padded = fit(np.vstack([X, X[:50] + 1]), np.repeat([1.0, 0.0], [200, 50]))
    assert_close(padded.sensitivity_.S_conf, plain, 1e-9)
    heavy = fit(X, np.random.default_rng(0).exponential(size=200) ** 2)
    assert (heavy.sensitivity_.S_conf > plain)[:2].all()


def test_near_the_spread_over_samples(intervals_without_bias):
    """A quadratic function of two Gaussian variables, whose indices are known."""
    mean, cov = np.zeros(2), np.array([[1.0, 0.6], [0.6, 1.0]])
    function = GaussianQuadratic(mean, cov, 0.0, [1.0, 0.7], [[0.0, 0.5], [0.5, 0.0]])

    def fit(seed):
        X = np.random.default_rng(seed).multivariate_normal(mean, cov, size=400)
        return HDMR(function, ci="bootstrap").fit(X)

    found, values = [fit(seed) for seed in range(80)], np.array([-1.0, 0.0, 1.0])
    worked = found[:5]
    truth = function.sensitivity()
    for name in NAMES:
        known = getattr(truth, name)
        large = np.abs(known) > 0.05
        assert large.any()
        all_found = np.array([getattr(hdmr.sensitivity_, name) for hdmr in found])[:, large]
        widths = np.array([getattr(hdmr.sensitivity_, f"{name}_conf") for hdmr in worked])[:, large]
        ratio = widths.mean(axis=0) / (NORMAL_95 * all_found.std(axis=0, ddof=1))
        assert ratio.min() > 0.6 and ratio.max() < 1.6
        assert (np.abs(all_found[:5] - known[large]) < 2 * widths).all()
    curves = np.array([hdmr.component(0)(values) for hdmr in found])
    errors = np.mean([hdmr.component(0).standard_error(values) for hdmr in worked], axis=0)
    ratio = errors / curves.std(axis=0, ddof=1)
    assert ratio.min() > 0.6 and ratio.max() < 1.6


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X, y, GradientBoostingRegressor(max_depth=3, random_state=0).fit(X, y)


def collinear_fits():
    """Decompositions of diabetes, whose cholesterols are nearly collinear, and the least number of indices."""
    X, y, model = diabetes()
    models = [GradientBoostingRegressor(max_depth=d, random_state=0).fit(X, y) for d in (1, 2, 3)]
    scaled = X / X.std(axis=0)
    machine = KernelRidge(kernel="poly", degree=2, coef0=1, gamma=0.1).fit(scaled, y)
    return X, {
        "trees": TreeHDMR(model),
        "faithful": TreeHDMR(model, smooth=False),
        "bins": TreeHDMR(model, basis="bins"),
        "ridge": TreeHDMR(models, combine="ridge"),
        "columns of trees": TreeHDMR(models[1], basis="trees", order=2),
        "columns of trees, ridge": TreeHDMR(models, basis="trees", combine="ridge", order=2),
        "data": HDMR(order=1),
        "data, pairs": HDMR(order=2),
        "function": HDMR(models[1].predict, order=2),
        "kernel": KernelHDMR(machine),
    }


@pytest.mark.filterwarnings("ignore::fasthdmr.RankWarning")  # the square of a variable of two values
@pytest.mark.parametrize("kind", list(collinear_fits()[1]))
def test_near_the_jackknife(kind):
    """Blocks and resamples have random errors of 10 % and 5 %, and derivatives neglect non-linear terms."""
    X, fits = collinear_fits()
    y = load_diabetes(return_X_y=True)[1]
    X = X / X.std(axis=0) if kind == "kernel" else X
    hdmr = fits[kind]
    jackknife, found = clone(hdmr).fit(X, y), clone(hdmr).set_params(ci="bootstrap").fit(X, y)
    large = np.concatenate([np.abs(getattr(jackknife.sensitivity_, name)) > 0.05 for name in NAMES])
    first, second = (np.concatenate(half_widths(h)) for h in (jackknife, found))
    assert large.sum() >= 3 and max(jackknife.sensitivity_.S_conf.max(), found.sensitivity_.S_conf.max()) < 0.1
    ratio = second[large] / first[large]
    assert ratio.min() > 0.6 and ratio.max() < 1.6
    if (2,) in found.subspaces_:
        values = np.percentile(X[:, 2], [10, 50, 90])
        ratio = found.component(2).standard_error(values) / jackknife.component(2).standard_error(values)
        assert ratio.min() > 0.6 and ratio.max() < 1.6


def test_large_samples_are_thinned(monkeypatch, intervals_without_bias):
    X = correlated(3000)
    every = half_widths(HDMR(of_bits, order=1, ci="bootstrap").fit(X))
    monkeypatch.setattr(sample, "_ROWS", 600)
    some = half_widths(HDMR(of_bits, order=1, ci="bootstrap").fit(X))
    for first, second in zip(every, some, strict=True):
        assert (second / first).min() > 0.6 and (second / first).max() < 1.6


def test_the_divisor_may_be_known(monkeypatch, intervals_without_bias):
    """The variance of y is not drawn with the rows."""
    X = bits(200)
    y = 1e-150 * of_bits(X)
    monkeypatch.setattr(joint_fit, "_LARGEST_FACTOR", RIDGE)
    monkeypatch.setattr(bootstrap, "N_RESAMPLES", 12)
    rng, found = np.random.default_rng(0), []
    for _ in range(12):
        rows = np.sort(rng.integers(200, size=200))
        again = HDMR(order=1).fit(X[rows], y[rows]).sensitivity_
        found.append(again.S * (y[rows].var() / y.var()))
    hdmr = HDMR(order=1, normalise="data", ci="bootstrap").fit(X, y)
    assert_close(hdmr.sensitivity_.S_conf, NORMAL_95 * np.std(found, axis=0, ddof=1), 1e-9)


def test_always_the_same():
    X, y, model = diabetes()
    found = [
        TreeHDMR(model, n_jobs=n_jobs, ci="bootstrap").fit(rows, y)
        for n_jobs, rows in [(1, X), (2, X), (2, np.asfortranarray(X))]
    ]
    for hdmr in found[1:]:
        for first, other in zip(half_widths(found[0]), half_widths(hdmr), strict=True):
            np.testing.assert_array_equal(first, other)
        errors = [h.component(2).standard_error(X[:9, 2]) for h in (found[0], hdmr)]
        np.testing.assert_array_equal(*errors)


def test_computed_at_first_access_and_pickled(monkeypatch):
    calls = []
    work = Bootstrap._resampled
    monkeypatch.setattr(Bootstrap, "_resampled", lambda self: calls.append(1) or work(self))
    hdmr = HDMR(of_bits, order=1, ci="bootstrap").fit(correlated(100))
    hdmr.sensitivity_.level_set("P")
    assert not calls
    errors, widths = hdmr.component(0).standard_error([0.0, 1.0]), half_widths(hdmr)
    assert len(calls) == 1
    after = pickle.loads(pickle.dumps(hdmr))
    assert_close(after.component(0).standard_error([0.0, 1.0]), errors)
    for first, second in zip(widths, half_widths(after), strict=True):
        assert_close(first, second)
    assert len(calls) == 1


def test_missing_values_are_values_like_others():
    X = correlated(300)
    X[::5, 0] = np.nan
    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, np.nan_to_num(X[:, 0], nan=3.0) + X[:, 1])
    hdmr = TreeHDMR(model, ci="bootstrap").fit(X)
    errors = hdmr.component(0).standard_error([np.nan, 0.0])
    assert np.isfinite(hdmr.sensitivity_.Sa_conf).all() and (errors > 0).all()


@pytest.mark.filterwarnings("ignore:The output of the black box is constant")
def test_indices_of_a_constant_have_no_error():
    X = correlated(100)
    hdmr = HDMR(lambda X: np.column_stack([np.full(len(X), 3.0), X[:, 0]]), order=1, ci="bootstrap").fit(X)
    assert not hdmr.sensitivity_.S_conf[:, 0].any() and hdmr.sensitivity_.S_conf[1:, 1].any()
    stump = GradientBoostingRegressor(n_estimators=2).fit(X, np.ones(100))
    assert TreeHDMR(stump, ci="bootstrap").fit(X).sensitivity_.Sa_conf.shape == (0,)


def test_few_rows_and_collinear_variables():
    X = correlated(12, n=2)
    hdmr = HDMR(of_bits, order=2, ci="bootstrap").fit(np.column_stack([X, X[:, 0]]))
    assert np.isfinite(hdmr.sensitivity_.S_conf).all()
    assert np.isfinite(hdmr.component(0).standard_error([0.0])).all()


def test_columns_that_depend_on_each_other():
    """The fit warns of them; the bootstrap does not warn again (warnings are errors)."""
    X = bits(60)
    machine = KernelRidge(kernel="poly", degree=2, coef0=1).fit(X, of_bits(X))
    with pytest.warns(RankWarning):
        hdmr = KernelHDMR(machine, ci="bootstrap").fit(X)
    assert np.isfinite(hdmr.sensitivity_.S_conf).all()


def test_other_measures_have_no_intervals():
    X, y, model = diabetes()
    assert TreeHDMR(model, measure="product", ci="bootstrap").fit(X).sensitivity_.S_conf is None
    machine = KernelRidge(kernel="poly", degree=2).fit(X[:, :2], y)
    law = KernelHDMR(machine, measure=(np.zeros(2), np.eye(2)), ci="bootstrap").fit(X[:, :2])
    assert law.sensitivity_.S_conf is None


@pytest.mark.parametrize("ci", ["boot", None, 200, ["bootstrap"], np.array(["bootstrap", "jackknife"])])
def test_refusals(ci):
    X, y, model = diabetes()
    machine = KernelRidge(kernel="linear").fit(X, y)
    for hdmr in (TreeHDMR(model, ci=ci), HDMR(ci=ci), KernelHDMR(machine, ci=ci)):
        with pytest.raises(ValueError, match=r"The 'ci' parameter must be a str among \{'bootstrap', 'jackknife'\}"):
            hdmr.fit(X, y)
