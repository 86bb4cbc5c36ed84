"""GaussianQuadratic: golden numbers, exact quadrature, singular covariances. Ishigami: golden numbers, quadrature."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial.hermite_e import hermegauss
from numpy.polynomial.legendre import leggauss
from tolerance import assert_close

from fasthdmr import decompose
from fasthdmr.analytic import GaussianQuadratic, Ishigami

HERE = Path(__file__).parent / "golden"
GOLDEN = json.loads((HERE / "analytic.json").read_text())
ISHIGAMI = json.loads((HERE / "algebra.json").read_text())["6_ishigami"]


def tensor_rule(nodes, weights, n):
    grid = np.array(list(itertools.product(nodes, repeat=n)))
    mass = np.array([np.prod(w) for w in itertools.product(weights, repeat=n)])
    return grid, mass / mass.sum()


def gaussian_rule(mean, root, points=5):
    """Nodes and weights that integrate polynomials of degree below 2 * points under N(mean, root root') exactly."""
    grid, mass = tensor_rule(*hermegauss(points), root.shape[1])
    return mean + grid @ root.T, mass


def bilinear(rho, b0=1.0, b1=1.0, b2=1.0, b12=1.0, m1=0.0, m2=0.0, s1=1.0, s2=1.0):
    cov = [[s1**2, rho * s1 * s2], [rho * s1 * s2, s2**2]]
    return GaussianQuadratic([m1, m2], cov, b0, [b1, b2], [[0, b12], [0, 0]])


@st.composite
def quadratics(draw, max_features=4):
    """A model and a root of its covariance, which has any rank."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, max_features))
    root = rng.normal(size=(n, draw(st.integers(0, n))))
    if draw(st.booleans()):
        root[rng.integers(n)] = 0  # a variable without variance
    if draw(st.booleans()) and n > 1:
        root[0] = -2 * root[1]  # two that are fully correlated
    quadratic = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.7)
    mean = rng.normal(size=n)
    return GaussianQuadratic(mean, root @ root.T, rng.normal(), rng.normal(size=n), quadratic), root


# --- golden numbers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", GOLDEN["4_bilinear"]["golden"], ids=lambda row: str(row["rho"]))
def test_golden_bilinear(row):
    indices = bilinear(row["rho"], **GOLDEN["4_bilinear"]["params"]).sensitivity()
    assert_close(indices.variance, row["V"])
    assert_close(indices.Sa, [row["S1a"], row["S2a"], row["S12a"]])
    assert_close(indices.Sb, [row["S1b"], row["S2b"], row["S12b"]])


def test_golden_general():
    golden = GOLDEN["4_general"]
    f = GaussianQuadratic(golden["m"], golden["Sigma"], golden["c"], golden["g"], golden["H"])
    indices = f.sensitivity()
    assert [str(u) for u in indices.subspaces] == list(golden["Sa"])
    assert_close(f.intercept, golden["f0"])
    assert_close(f.variance, golden["V"])
    assert_close(indices.Sa, list(golden["Sa"].values()))
    assert_close(indices.Sb, list(golden["Sb"].values()))
    assert_close(indices.S.sum(), 1.0)


@pytest.mark.parametrize("rho", [-1.0, -0.5, 0.0, 0.2, 0.9, 1.0])
def test_the_row_of_hdmr_among_other_diagnostics(rho):
    """Spec 9: sums over the two variables, and the component of the first."""
    f = bilinear(rho)
    V = rho**2 + 2 * rho + 3
    indices = f.sensitivity()
    shared = (rho**2 + 1) ** 2 * V
    assert_close(indices.Sa[:2].sum(), 2 * (rho**4 + 4 * rho**2 + 1) / shared)
    assert_close(indices.Sb[:2].sum(), 2 * rho * (2 * rho**3 + (rho**2 + 1) ** 2) / shared)
    assert_close(indices.S[:2].sum(), 2 * (rho**3 + 3 * rho**2 + rho + 1) / ((rho**2 + 1) * V))
    if str(int(rho)) in GOLDEN["5_table"]["hdmr_mu0"]["vals"] and rho == int(rho):
        assert_close(indices.S[:2].sum(), GOLDEN["5_table"]["hdmr_mu0"]["vals"][str(int(rho))])
    x = np.linspace(-3, 3, 13)
    assert_close(f.component(0)(x), x + rho / (rho**2 + 1) * (x**2 - 1))


@pytest.mark.parametrize("rho", [-0.9, 0.3, 1.0])
def test_orthonormal_vectors_of_the_bilinear_case(rho):
    """Spec 8: f_i = γ_i Φ_i with Φ_i = (z_i, (z_i² - 1)/√2), and |γ_12| is the standard deviation of f_12."""
    params = GOLDEN["4_bilinear"]["params"]
    f = bilinear(rho, **params)
    z = np.linspace(-2, 2, 9)
    phi = np.column_stack([z, (z**2 - 1) / np.sqrt(2)])
    nodes, mass = tensor_rule(*hermegauss(5), 1)
    at_nodes = np.column_stack([nodes[:, 0], (nodes[:, 0] ** 2 - 1) / np.sqrt(2)])
    assert_close(at_nodes.T @ (mass[:, None] * at_nodes), np.eye(2))
    s = params["s1"] * params["s2"]
    for i, j in [(1, 2), (2, 1)]:
        slope = params[f"s{i}"] * (params[f"b{i}"] + params["b12"] * params[f"m{j}"])
        gamma = np.array([slope, np.sqrt(2) * params["b12"] * rho * s / (1 + rho**2)])
        component = f.component(i - 1)
        assert_close(component(params[f"m{i}"] + params[f"s{i}"] * z), phi @ gamma)
        assert_close(component.variance, gamma @ gamma)
    gamma_12 = params["b12"] * s * abs(1 - rho**2) / np.sqrt(1 + rho**2)
    assert_close(np.sqrt(f.component((0, 1)).variance), gamma_12)


# --- exact quadrature ---------------------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(quadratics())
@pytest.mark.filterwarnings("ignore:.*is constant:UserWarning")
def test_definitions_hold_for_any_covariance(drawn):
    f, root = drawn
    x, mass = gaussian_rule(f.mean, root)
    values = f(x)
    scale = 1 + np.abs(values).max()
    assert abs(mass @ values - f.intercept) <= 1e-12 * scale
    centred = values - f.intercept
    assert abs(mass @ centred**2 - f.variance) <= 1e-11 * scale**2
    at = {c.subspace: c(x[:, list(c.subspace)]) for c in f.components}
    size = scale + max(np.abs(c).max() for c in at.values())
    assert np.abs(sum(at.values()) - centred).max() <= 1e-9 * size
    for component in f.components:
        f_u = at[component.subspace]
        assert abs(mass @ f_u) <= 1e-9 * size
        assert abs(mass @ f_u**2 - component.variance) <= 1e-9 * size**2
    if f.variance > 1e-9 * scale**2:
        indices = f.sensitivity()
        covariances = [mass @ (at[u] * centred) / f.variance for u in indices.subspaces]
        assert np.abs(indices.S - covariances).max() <= 1e-9 * size**2 / f.variance
        variances = [f.component(u).variance / f.variance for u in indices.subspaces]
        assert_close(indices.Sa, variances)
        assert abs(indices.S.sum() - 1) <= 1e-9 * np.abs(indices.S).sum()


@settings(max_examples=40, deadline=None)
@given(quadratics())
def test_interactions_are_orthogonal_to_all_functions_of_one_variable(drawn):
    """E[f_ij x_i^d] = 0 for every power, not only for those that f is made of."""
    f, root = drawn
    x, mass = gaussian_rule(f.mean, root, points=6)
    for component in f.components:
        if len(component.subspace) != 2:
            continue
        f_u = component(x[:, list(component.subspace)])
        norm = np.sqrt(mass @ f_u**2)
        for i, d in itertools.product(component.subspace, range(8)):
            power = x[:, i] ** d
            # at full correlation f_ij is the rounding of terms of the size of Q
            floor = 1e-12 * np.abs(f.quadratic).max() * np.abs(root).max(initial=0) ** 2
            assert abs(mass @ (f_u * power)) <= (1e-9 * norm + floor) * np.sqrt(mass @ power**2)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_projection_on_quadratics(seed):
    """The generic construction of `decompose`, under a quadrature rule as its measure."""
    rng = np.random.default_rng(seed)
    n = 3
    root = np.eye(n) + 0.7 * rng.normal(size=(n, n))
    f = GaussianQuadratic(rng.normal(size=n), root @ root.T, 0.3, rng.normal(size=n), rng.normal(size=(n, n)))
    x, mass = gaussian_rule(f.mean, root, points=4)
    pairs = list(itertools.combinations(range(n), 2))
    columns = np.column_stack([x, x**2, *(x[:, i] * x[:, j] for i, j in pairs)])
    coef = [*f.linear, *f.quadratic.diagonal(), *(2 * f.quadratic[i, j] for i, j in pairs)]
    projection = decompose(columns, [*range(n), *range(n), *pairs], coef, sample_weight=mass)
    assert projection.subspaces == f.subspaces
    assert_close(f.const + projection.intercept, f.intercept, 1e-10)
    for u, found in zip(f.subspaces, projection.evaluate(columns).T, strict=True):
        assert_close(found, f.component(u)(x[:, list(u)]), 1e-9)
    indices = f.sensitivity()
    assert_close(projection.sensitivity.Sa, indices.Sa, 1e-10)
    assert_close(projection.sensitivity.S, indices.S, 1e-10)


def test_many_variables():
    rng = np.random.default_rng(0)
    n = 300
    root = rng.normal(size=(n, 20))
    quadratic = np.zeros((n, n))
    quadratic[np.arange(n - 1), np.arange(1, n)] = 1
    f = GaussianQuadratic(np.zeros(n), root @ root.T, 0, rng.normal(size=n), quadratic)
    indices = f.sensitivity()
    assert len(indices.subspaces) == 2 * n - 1
    assert_close(indices.S.sum(), 1.0, 1e-10)


def test_fully_correlated_variables_share_equally():
    f = bilinear(1.0)
    x = np.linspace(-2, 2, 5)
    assert not f.component((0, 1))(np.column_stack([x, x])).any()
    assert_close(f.component(0)(x), f.component(1)(x))


def test_constant_variables_have_no_components():
    f = GaussianQuadratic([1, 2], [[4, 0], [0, 0]], 0, [1, 1], [[1, 1], [1, 1]])
    assert f.subspaces == [(0,), (1,), (0, 1)]
    assert_close(f.sensitivity().S, [1, 0, 0])
    assert not f.component(1)([2.0, 3.0]).any() and not f.component((0, 1))([[0.0, 2.0]]).any()
    assert np.array_equal(f.component(1).bounds, [[2, 2]])
    assert np.array_equal(f.sample(4, random_state=0)[:, 1], [2, 2, 2, 2])


def test_a_constant_warns():
    f = GaussianQuadratic([0, 0], np.zeros((2, 2)), 3, [1, 1], np.eye(2))
    with pytest.warns(UserWarning, match="This GaussianQuadratic is constant: its indices are 0"):
        indices = f.sensitivity()
    assert not indices.S.any() and indices.variance == 0 and f.intercept == 3


def test_sample_has_the_moments():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 2))
    f = GaussianQuadratic([1, 2, 3], root @ root.T, 0, np.zeros(3), np.eye(3))
    X = f.sample(200_000, random_state=1)
    tolerance, reason = 0.02, "200,000 draws: standard errors of 0.003 standard deviations"
    assert_close(X.mean(axis=0), [1, 2, 3], tolerance, reason=reason)
    assert_close(np.cov(X.T), f.cov, tolerance, reason=reason)
    assert np.linalg.matrix_rank(X - X.mean(axis=0), tol=1e-6) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0], np.eye(3), 0, [1, 1], np.eye(2)), r"cov must have shape \(2, 2\), got \(3, 3\)"),
        (([0, 0], np.eye(2), 0, [1], np.eye(2)), r"linear must have shape \(2,\), got \(1,\)"),
        (([0, 0], np.eye(2), 0, [1, 1], [1, 1]), r"quadratic must have shape \(2, 2\), got \(2,\)"),
        (([], np.eye(2), 0, [1, 1], np.eye(2)), "mean must have at least one entry"),
        (([0, np.nan], np.eye(2), 0, [1, 1], np.eye(2)), "mean must be finite"),
        (([0, 0], np.eye(2), np.inf, [1, 1], np.eye(2)), "const must be finite, got inf"),
        (([0, 0], [[1, 0.5], [0.4, 1]], 0, [1, 1], np.eye(2)), "cov must be symmetric"),
        (([0, 0], [[1, 2], [2, 1]], 0, [1, 1], np.eye(2)), "cov must be positive semi-definite"),
    ],
)
def test_invalid_models_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        GaussianQuadratic(*arguments)


# --- Ishigami -----------------------------------------------------------------------------------------------------


def test_golden_ishigami():
    f = Ishigami()
    indices = f.sensitivity()
    assert_close([f.intercept, f.variance], [ISHIGAMI["f0"], ISHIGAMI["V"]])
    assert_close(indices.S, [ISHIGAMI["S1"], ISHIGAMI["S2"], ISHIGAMI["S3"], ISHIGAMI["S13"]])
    assert_close(f.ST, [ISHIGAMI["T1"], ISHIGAMI["T2"], ISHIGAMI["T3"]])
    assert_close(f.R, [ISHIGAMI["R1"], ISHIGAMI["R2"], ISHIGAMI["R3"]])
    point = ISHIGAMI["at_point"]
    x = np.array([point["x"]])
    found = [f(x)[0], *(f.component(u)(x[:, list(u)])[0] for u in [(0,), (1,), (0, 2)])]
    assert_close(found, [point["f"], point["f1"], point["f2"], point["f13"]])


@pytest.mark.parametrize(("a", "b"), [(7, 0.1), (-2, 0.05), (0, -1), (5, 0)])
def test_ishigami_by_quadrature(a, b):
    f = Ishigami(a, b)
    nodes, weights = leggauss(30)
    x, mass = tensor_rule(np.pi * nodes, weights, 3)
    centred = f(x) - f.intercept
    at = {c.subspace: c(x[:, list(c.subspace)]) for c in f.components}
    assert_close(sum(at.values()), centred)
    assert abs(mass @ centred) < 1e-11
    assert_close(mass @ centred**2, f.variance, 1e-11)
    assert_close([mass @ f_u**2 for f_u in at.values()], [c.variance for c in f.components], 1e-11)
    by_x0 = (mass * at[(0, 2)]).reshape(30, 30, 30).sum(axis=(1, 2))
    by_x2 = (mass * at[(0, 2)]).reshape(30, 30, 30).sum(axis=(0, 1))
    assert np.abs(np.concatenate([by_x0, by_x2])).max() < 1e-12


def test_fourier_series_of_a_sine_is_the_sine():
    component = Ishigami().component(0)
    x = np.linspace(-np.pi, np.pi, 7)
    assert_close(component.fourier(degree=2)(x), component(x))
    assert np.abs(Ishigami().component(1).fourier(degree=1)(x)).max() < 1e-12  # cos 2x is orthogonal to degree 1
