"""KernelHDMR: exact, orthogonal, and the same in every basis."""

import pickle
import time
import warnings
from math import comb

import numpy as np
import pytest
from reference import kernels as reference
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from tolerance import assert_close

from fasthdmr import KernelHDMR, decompose
from fasthdmr._kernel_machines import columns as kernel_dictionary
from fasthdmr.analytic import GaussianQuadratic
from fasthdmr.kernels import AnovaKernel, FourierKernel, PolynomialKernel

# Trees have steps, and more variables than components, so residuals are large.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning")

RNG = np.random.default_rng(0)
COV = np.array([[1, 0.5, 0.2], [0.5, 2, -0.3], [0.2, -0.3, 1]])
MEAN = np.array([1.0, -2.0, 0.5])
X = RNG.multivariate_normal(MEAN, COV, size=400)
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * X[:, 0] ** 2 + 0.1 * RNG.normal(size=400)
WEIGHTS = RNG.uniform(0, 2, size=400)
NEW = RNG.normal(size=(50, 3))


def machine(degree, **options):
    return SVR(kernel="poly", degree=degree, **{"coef0": 1.0, "gamma": 0.3, **options}).fit(X[:150], Y[:150])


def sums_to(hdmr, rows):
    return hdmr.intercept_ + hdmr.evaluate(rows).sum(axis=1)


def covariances(hdmr, u, designs, weights=None):
    """Largest correlation of f_u with columns of proper subsets of u, from designs {subspace: columns}."""
    f_u = hdmr.component(u)(X[:, list(u)])
    lower = [c for v, columns in designs.items() if set(v) < set(u) for c in columns.T]
    return max(abs(np.average(f_u * c, weights=weights)) for c in lower) / np.sqrt(np.average(f_u**2, weights=weights))


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("coef0", [0.0, 1.0])
def test_components_sum_to_the_machine(degree, coef0):
    model = machine(degree, coef0=coef0)
    hdmr = KernelHDMR(model).fit(X)
    for rows in (X, NEW):
        assert_close(sums_to(hdmr, rows), model.predict(rows), 1e-9)
        assert_close(hdmr.predict(rows), model.predict(rows), 1e-9)
        assert np.abs(hdmr.residual(rows)).max() < 1e-12 * np.abs(model.predict(rows)).max()
    assert_close(hdmr.sensitivity_.S.sum() + hdmr.residual_, 1.0, 1e-9)
    assert len(hdmr.subspaces_) == sum(comb(3, k) for k in range(1, min(degree, 3) + 1))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("coef0", [0.0, 1.0])
def test_components_are_those_of_raw_monomials(coef0, weights):
    model = machine(3, coef0=coef0)
    hdmr = KernelHDMR(model).fit(X, sample_weight=weights)
    alphas = reference.exponents(3, 3)
    squares = reference.weights(alphas, 3, 0.3, coef0)
    primal = squares * (model.dual_coef_[0] @ reference.monomials(model.support_vectors_, alphas))
    columns = reference.monomials(X, alphas)
    raw = decompose(columns, [reference.support(a) for a in alphas], coef=primal, sample_weight=weights)
    assert hdmr.subspaces_ == raw.subspaces
    assert_close(hdmr.evaluate(X), raw.evaluate(columns), 1e-9)
    assert_close(hdmr.sensitivity_.S, raw.sensitivity.S, 1e-9)
    assert_close(hdmr.sensitivity_.Sa, raw.sensitivity.Sa, 1e-9)
    designs = {}
    for u in [(), *hdmr.subspaces_]:
        own = [a for a in alphas if reference.support(a) == u]
        designs[u] = reference.monomials(X - MEAN, own) if own else np.ones((len(X), 1))
    for u in hdmr.subspaces_:
        assert covariances(hdmr, u, designs, weights) < 1e-10


def test_shifts_and_scales_change_no_component():
    shift, scale = np.array([3.0, -1.0, 10.0]), np.array([100.0, 0.01, 2.0])
    kernel = PolynomialKernel(3, 1.0, 1.0)
    model = SVR(kernel=kernel).fit(X[:100], Y[:100])
    scaler = StandardScaler().fit(X)
    scaler.mean_, scaler.scale_ = -shift / scale, 1 / scale  # inverts (x - shift) / scale
    there = make_pipeline(scaler, model)
    here = KernelHDMR(model).fit(X)
    moved = KernelHDMR(there).fit((X - shift) / scale)
    assert_close(moved.evaluate((X - shift) / scale), here.evaluate(X), 1e-9)


def test_order_keeps_the_others():
    model = machine(3)
    whole, cut = KernelHDMR(model).fit(X), KernelHDMR(model, order=1).fit(X)
    assert cut.subspaces_ == [(0,), (1,), (2,)]
    assert np.array_equal(cut.evaluate(X), whole.evaluate(X)[:, :3])
    assert_close(cut.residual_, whole.sensitivity_.S[3:].sum())
    assert_close(cut.predict(X) + cut.residual(X), model.predict(X), 1e-9)


# --- the Gaussian law ---------------------------------------------------------------------------------------------


def quadratic(model):
    """The same machine of degree 2 in closed form."""
    xi, S = model.dual_coef_[0], model.support_vectors_
    gamma, c = model._gamma, model.coef0
    return GaussianQuadratic(
        MEAN, COV, model.intercept_[0] + c**2 * xi.sum(), 2 * c * gamma * xi @ S, gamma**2 * (S.T * xi) @ S
    )


@pytest.mark.parametrize("coef0", [0.0, 0.7])
def test_gaussian_moments_give_the_closed_form(coef0):
    model = machine(2, coef0=coef0)
    exact = quadratic(model)
    hdmr = KernelHDMR(model, measure=(MEAN, COV)).fit(X[:2])
    assert hdmr.subspaces_ == exact.subspaces
    assert_close(hdmr.intercept_, exact.intercept, 1e-10)
    for u in exact.subspaces:
        assert_close(hdmr.component(u)(NEW[:, list(u)]), exact.component(u)(NEW[:, list(u)]), 1e-10)
        assert_close(hdmr.component(u).variance, exact.component(u).variance, 1e-10)
    for name in ("Sa", "S", "ST", "R"):
        assert_close(getattr(hdmr.sensitivity_, name), getattr(exact.sensitivity(), name), 1e-10)


def test_gaussian_moments_of_higher_degree():
    model = machine(4)
    hdmr = KernelHDMR(model, measure=(MEAN, COV)).fit(X)
    assert_close(sums_to(hdmr, NEW), model.predict(NEW), 1e-9)
    # Gauss-Hermite points integrate all products of these polynomials exactly.
    nodes, weights = np.polynomial.hermite_e.hermegauss(6)
    w = np.stack(np.meshgrid(nodes, nodes, nodes), axis=-1).reshape(-1, 3)
    mass = np.prod(np.stack(np.meshgrid(weights, weights, weights), axis=-1).reshape(-1, 3), axis=1)
    rows = MEAN + w @ np.linalg.cholesky(COV).T
    by_points = KernelHDMR(model).fit(rows, sample_weight=mass)
    assert_close(hdmr.evaluate(NEW), by_points.evaluate(NEW), 1e-9)
    assert_close(hdmr.sensitivity_.S, by_points.sensitivity_.S, 1e-9)


def test_gaussian_moments_with_collinear_and_constant_variables():
    cov = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 0]], dtype=float)
    model = machine(2)
    with pytest.warns(LinAlgWarning, match="numerical rank"):
        hdmr = KernelHDMR(model, measure=(np.zeros(3), cov)).fit(X)
    assert_close(sums_to(hdmr, NEW), model.predict(NEW), 1e-9)
    assert hdmr.component(2).bounds.tolist() == [[0, 0]]


def test_marginals_of_the_gaussian_law():
    hdmr = KernelHDMR(machine(2), measure=(MEAN, COV)).fit(X)
    assert_close(
        hdmr.component(1).bounds[0], MEAN[1] + np.sqrt(2) * np.array([-2.3263, 2.3263]), 0.01, reason="quantiles"
    )
    assert hdmr.component(0).fourier(2)(np.zeros(3)).shape == (3,)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("gaussian", "measure must be"),
        (3, "measure must be"),
        ((MEAN[:2], COV), "mean"),
        ((MEAN, COV[:2]), "cov"),
        ((MEAN, -COV), "positive semi-definite"),
        ((MEAN, np.triu(COV)), "symmetric"),
    ],
)
def test_invalid_measures_are_refused(measure, message):
    with pytest.raises(ValueError, match=message):
        KernelHDMR(machine(2), measure=measure).fit(X)


def test_a_gaussian_measure_refuses_weights_and_fourier_kernels():
    with pytest.raises(ValueError, match="sample_weight"):
        KernelHDMR(machine(2), measure=(MEAN, COV)).fit(X, sample_weight=WEIGHTS)
    waves = SVR(kernel=FourierKernel(1)).fit(X, Y)
    with pytest.raises(ValueError, match="polynomial kernels"):
        KernelHDMR(waves, measure=(MEAN, COV)).fit(X)


# --- the paper's form, and the components of kernels---------------------------------------------------------------


def test_the_papers_components_of_kernels_are_not_orthogonal():
    """1 + x0 + x1 + x0 x1, rho = 1/2: the paper's f_0 has no square, ours has .4; its f_01 is not orthogonal."""
    rows = np.random.default_rng(1).multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=2000)
    alphas = reference.exponents(2, 2)
    beta = np.sqrt(np.concatenate([[1.0], reference.weights(alphas, 2, 1.0, 1.0)]))
    primal = np.array([1.0] + [float(max(a) == 1) for a in alphas])
    columns = np.column_stack([np.ones(2000), reference.monomials(rows, alphas)])
    result = decompose(columns[:, 1:], [reference.support(a) for a in alphas], coef=primal[1:])
    w = primal / beta  # f = sum of w beta x^alpha
    theirs = {u: reference.trap(result.A, beta, w, columns, alphas, u) for u in [(0,), (1,), (0, 1)]}
    order = np.array(result.column_order)
    assert order.tolist() == list(range(5))
    nothing = reference.trap(result.A, beta, w, columns, alphas, ())
    constant = np.full(2000, w[0] * np.linalg.solve(result.A, beta)[0])
    assert np.abs(nothing).max() == 0
    assert_close(constant + sum(theirs.values()), columns @ primal, 1e-9)

    def worst(f_u):
        lower = columns[:, [j for j, a in enumerate(alphas, 1) if len(reference.support(a)) == 1]]
        return np.abs(lower.T @ f_u / 2000).max() / f_u.std()

    def square(f_0):
        return np.polynomial.Polynomial.fit(rows[:, 0], f_0, 2).convert().coef[2]

    model = KernelRidge(kernel="poly", degree=2, gamma=1, coef0=1, alpha=1e-8).fit(rows, columns @ primal)
    ours = KernelHDMR(model).fit(rows)
    assert worst(ours.component((0, 1))(rows)) < 1e-10
    assert worst(theirs[0, 1]) > 0.1  # the check that ours passes
    assert abs(square(theirs[0,])) < 1e-9
    assert abs(square(ours.component(0)(rows[:, 0])) - 0.4) < 0.1


KERNELS = [
    PolynomialKernel(3, 0.3, 1.0),
    PolynomialKernel(2, 0.3, 0.0),
    FourierKernel(2, 0.3, 0.5),
    AnovaKernel(2).fit(X),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_components_of_the_kernel(kernel):
    model = SVR(kernel=kernel, C=5).fit(X[:100], Y[:100])
    hdmr = KernelHDMR(model).fit(X)
    assert_close(sums_to(hdmr, NEW), model.predict(NEW), 1e-9)
    points, xi = X[model.support_], model.dual_coef_[0]
    parts = {u: hdmr.kernel_component(u)(NEW, points) for u in [(), *hdmr.subspaces_]}
    assert_close(sum(parts.values()), kernel(NEW, points), 1e-9)
    assert np.ptp(parts[()], axis=0).max() == 0
    assert_close(model.intercept_[0] + (parts[()] @ xi)[0], hdmr.intercept_, 1e-9)
    for u in hdmr.subspaces_:
        f_u = hdmr.component(u)(NEW[:, list(u)])
        assert np.abs(parts[u] @ xi - f_u).max() < 1e-9 * np.abs(model.predict(NEW)).max()


def test_components_of_fourier_kernels_are_orthogonal():
    model = SVR(kernel=FourierKernel(2, 0.3, 0.5)).fit(X, Y)
    hdmr = KernelHDMR(model).fit(X, sample_weight=WEIGHTS)
    designs = {(): np.ones((len(X), 1))}
    for i in range(3):
        angles = 2 * np.pi * X[:, [i]] * [1, 2]
        designs[i,] = np.hstack([np.cos(angles), np.sin(angles)])
    for u in hdmr.subspaces_:
        assert covariances(hdmr, u, designs, WEIGHTS) < 1e-10
    assert len(hdmr.coef_) == 2 * 9


def test_components_of_anova_take_correlation_into_account():
    """The kernel's own f_0 is orthogonal to constants only; the HDMR of the same machine is what `poly` has too."""
    kernel = AnovaKernel(2).fit(X)
    model = KernelRidge(kernel=kernel, alpha=1e-10).fit(X, (X - MEAN)[:, 0] * (X - MEAN)[:, 1])
    poly = KernelRidge(kernel="poly", degree=2, coef0=1, alpha=1e-10).fit(X, (X - MEAN)[:, 0] * (X - MEAN)[:, 1])
    ours, theirs = KernelHDMR(model).fit(X), KernelHDMR(poly).fit(X)
    for u in [(0,), (1,), (0, 1)]:
        assert_close(
            ours.component(u)(X[:, list(u)]), theirs.component(u)(X[:, list(u)]), 1e-4, reason="penalties of the ridges"
        )


def test_a_kernel_has_no_component_beyond_its_degree():
    hdmr = KernelHDMR(machine(2)).fit(X)
    with pytest.raises(ValueError, match="no component"):
        hdmr.kernel_component((0, 1, 2))


# --- size ---------------------------------------------------------------------------------------------------------


def test_too_many_columns_are_refused_at_once():
    rows = RNG.normal(size=(20, 200))
    model = SVR(kernel="poly", degree=5).fit(rows, rows[:, 0])
    start = time.perf_counter()
    with pytest.raises(ValueError, match=r"2,872,408,791 feature columns.*fewer variables.*lower degree.*order=2"):
        KernelHDMR(model).fit(rows)
    assert time.perf_counter() - start < 0.1  # a millisecond on an idle machine


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_results_do_not_depend_on_the_blocks_of_rows(weights, monkeypatch):
    model = KernelRidge(kernel="poly", degree=2, alpha=0.1).fit(X, Y)  # support vectors are processed in blocks too
    once = KernelHDMR(model).fit(X, sample_weight=weights)
    desired = once.evaluate(X)
    monkeypatch.setattr(kernel_dictionary, "_ROWS", 30)
    often = KernelHDMR(model).fit(X, sample_weight=weights)
    assert_close(often.sensitivity_.S, once.sensitivity_.S, 1e-11)
    assert_close(often.evaluate(X), desired, 1e-11)


# --- what all estimators have -------------------------------------------------------------------------------------


def test_several_outputs():
    both = np.column_stack([Y, X[:, 1] ** 2])
    model = KernelRidge(kernel="poly", degree=2, alpha=0.1).fit(X, both)
    hdmr = KernelHDMR(model, normalise="data").fit(X, both)
    assert hdmr.evaluate(X).shape == (400, 6, 2) and hdmr.transform(X).shape == (400, 12)
    assert_close(hdmr.predict(X), model.predict(X), 1e-9)
    for k in range(2):
        alone = KernelHDMR(KernelRidge(kernel="poly", degree=2, alpha=0.1).fit(X, both[:, k])).fit(X)
        assert_close(hdmr.evaluate(X)[..., k], alone.evaluate(X), 1e-9)
    with pytest.raises(ValueError, match="2 outputs"):
        KernelHDMR(model, normalise="data").fit(X, Y)


def test_indices_may_be_divided_by_the_datas_variance():
    model = machine(2)
    own, data = KernelHDMR(model).fit(X), KernelHDMR(model, normalise="data").fit(X, Y, sample_weight=None)
    assert_close(data.sensitivity_.S * np.var(Y), own.sensitivity_.S * np.var(model.predict(X)), 1e-9)
    with pytest.raises(ValueError, match="requires y"):
        KernelHDMR(model, normalise="data").fit(X)


def test_frames_and_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = SVR(kernel="poly", degree=2).fit(frame, Y)
    hdmr = KernelHDMR(model).set_output(transform="pandas").fit(frame)
    assert list(hdmr.transform(frame).columns)[-1] == "b & c"
    assert hdmr.component(["c", "a"]).names == ("a", "c")
    with pytest.raises(ValueError, match="feature names"):
        KernelHDMR(model).fit(frame.rename(columns={"a": "z"}))
    assert KernelHDMR(model).fit(X).feature_names_ == ("a", "b", "c")


def test_copies_are_equal():
    hdmr = KernelHDMR(machine(3)).fit(X)
    other = pickle.loads(pickle.dumps(hdmr))
    assert np.array_equal(other.evaluate(NEW), hdmr.evaluate(NEW))
    assert np.array_equal(other.kernel_component(0)(NEW, X), hdmr.kernel_component(0)(NEW, X))


def test_machines_that_are_not_fitted_are_cloned_and_fitted():
    model = KernelRidge(kernel="poly", degree=2)
    hdmr = KernelHDMR(model).fit(X, Y, sample_weight=WEIGHTS)
    assert not hasattr(model, "dual_coef_")
    assert_close(hdmr.predict(X), clone(model).fit(X, Y, sample_weight=WEIGHTS).predict(X), 1e-9)
    with pytest.raises(ValueError, match="not fitted"):
        KernelHDMR(model).fit(X)


@pytest.mark.parametrize("bad", [{"order": 0}, {"order": 1.5}, {"normalise": "y"}])
def test_parameters(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        KernelHDMR(machine(2), **bad).fit(X)


def test_few_rows_and_collinear_variables():
    model = machine(3)
    rows = np.column_stack([X[:, 0], X[:, 0], np.ones(400)])
    for given in (rows, X[:3], X[:1]):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            hdmr = KernelHDMR(model).fit(given)
        assert "numerical rank" in str(caught[0].message)
        assert_close(sums_to(hdmr, NEW), model.predict(NEW), 1e-9)


def test_a_constant_machine():
    model = SVR(kernel="poly", degree=2).fit(X, np.ones(400))
    with pytest.warns(UserWarning, match="constant"):
        hdmr = KernelHDMR(model).fit(X)
    assert not hdmr.sensitivity_.S.any()


def test_a_gaussian_process_of_degree_zero():
    model = GaussianProcessRegressor(ConstantKernel(2.0, "fixed"), alpha=1.0).fit(X, Y)
    with pytest.warns(UserWarning, match="constant"):
        hdmr = KernelHDMR(model).fit(X)
    assert_close(hdmr.predict(NEW), model.predict(NEW), 1e-9)
