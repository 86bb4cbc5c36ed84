"""The hierarchy: against a slow reference, exact arithmetic, and golden numbers."""

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial.hermite_e import hermegauss
from reference import hdmr as reference
from scipy.linalg import LinAlgWarning
from tolerance import assert_close, relative_error

from fasthdmr import decompose

GOLDEN = json.loads((Path(__file__).parent / "golden" / "algebra.json").read_text())


def monomials(x, order, degree=2):
    """Columns x_u^d of all subspaces up to an order, and their subspaces."""
    columns, subspaces = [], []
    for k in range(1, order + 1):
        for u in itertools.combinations(range(x.shape[1]), k):
            for d in range(1, degree + 1):
                columns.append(np.prod(x[:, u], axis=1) ** d)
                subspaces.append(u)
    return np.column_stack(columns), subspaces


def correlated(rng, n_rows, n):
    mix = np.eye(n) + 0.4 * rng.normal(size=(n, n)) / np.sqrt(n)
    return rng.normal(size=(n_rows, n)) @ mix


# --- both forms ---------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 4), order=st.integers(1, 4), weighted=st.booleans())
def test_both_forms_agree_with_each_other_and_the_reference(seed, n, order, weighted):
    rng = np.random.default_rng(seed)
    x = correlated(rng, 600, n)
    columns, subspaces = monomials(x, min(order, n))
    weights = rng.uniform(0.5, 2, len(x)) if weighted else None
    columns = columns + 0.3 * rng.normal(size=columns.shape)  # well conditioned
    coef = rng.normal(size=len(subspaces))
    result = decompose(columns, subspaces, coef=coef, sample_weight=weights)
    values = result.evaluate(columns)

    constant, expected = reference.top_down(columns, subspaces, np.r_[0, coef], weights)
    A, nu = reference.paper_form(columns, subspaces, np.r_[0, coef], weights)
    assert_close(result.intercept, constant, 1e-10)
    assert_close(values, np.column_stack([expected[u] for u in result.subspaces]), 1e-10)
    assert_close(result.A, A, 1e-10)
    assert_close(result.nu, nu, 1e-10)

    psi = np.column_stack([np.ones(len(x)), columns]) @ result.A
    labels = [(), *subspaces]
    for c, u in enumerate(result.subspaces):
        own = [j for j in range(len(labels)) if labels[j] == u]
        assert_close(psi[:, own] @ result.nu[own], values[:, c], 1e-10)
    assert np.array_equal(result.A, np.triu(result.A))
    assert (np.diag(result.A) == 1).all()


def test_components_sum_to_f_and_are_hierarchically_orthogonal():
    rng = np.random.default_rng(3)
    columns, subspaces = monomials(correlated(rng, 2000, 4), 3)
    coef = rng.normal(size=len(subspaces))
    result = decompose(columns, subspaces, coef=coef)
    values = result.evaluate(columns)
    f = columns @ coef
    assert_close(result.intercept + values.sum(axis=1), f)

    def overlap(component, u):
        lower = np.column_stack([np.ones(len(f)), columns[:, [set(v) < set(u) for v in subspaces]]])
        return np.abs(lower.T @ component / np.linalg.norm(lower, axis=0)).max() / np.linalg.norm(component)

    for c, u in enumerate(result.subspaces):
        assert overlap(values[:, c], u) < 1e-12
        assert overlap(values[:, c] + 1e-6 * values[:, c].std() * (1 + columns[:, 0]), u) > 1e-9

    expected = reference.indices(f, dict(zip(result.subspaces, values.T, strict=True)))
    assert_close(result.sensitivity.Sa, [expected[u][0] for u in result.subspaces], 1e-11)
    assert_close(result.sensitivity.S, [expected[u][1] for u in result.subspaces], 1e-11)
    assert_close(result.sensitivity.S.sum(), 1.0)


def test_gamma_of_the_appendix_equals_nu():
    rng = np.random.default_rng(4)
    columns, subspaces = monomials(correlated(rng, 1000, 3), 3)
    coef = rng.normal(size=len(subspaces))
    f = columns @ coef + 0.7
    result = decompose(columns, subspaces, y=f)
    phi = np.column_stack([np.ones(len(f)), columns]) @ result.A
    gamma = np.linalg.solve(phi.T @ phi, phi.T @ f)
    assert_close(gamma, result.nu, 1e-9)
    assert_close(result.coef, coef, 1e-9)
    assert_close((result.A @ result.nu)[0], 0.7, 1e-9)


# --- accuracy ---------------------------------------------------------------------------------------------------


def exact_components(columns, subspaces, coef):
    """The top-down pass in rational arithmetic on float data: no rounding at all."""
    rows = [[Fraction(1), *map(Fraction, row)] for row in columns.tolist()]
    labels = [(), *subspaces]
    coefficients = [Fraction(0), *map(Fraction, coef.tolist())]
    components = {}
    for u in sorted(set(subspaces), key=lambda u: (-len(u), u)):
        own = [j for j, v in enumerate(labels) if v == u]
        lower = [j for j, v in enumerate(labels) if set(v) < set(u)]
        y = [sum(row[j] * coefficients[j] for j in own) for row in rows]
        system = [
            [sum(row[i] * row[j] for row in rows) for j in lower]
            + [sum(r[i] * t for r, t in zip(rows, y, strict=True))]
            for i in lower
        ]
        d = solve_exactly(system)
        components[u] = [
            t - sum(row[j] * v for j, v in zip(lower, d, strict=True)) for row, t in zip(rows, y, strict=True)
        ]
        for j, v in zip(lower, d, strict=True):
            coefficients[j] += v
    return {u: np.array([float(v) for v in values]) for u, values in components.items()}


def solve_exactly(system):
    n = len(system)
    for k in range(n):
        pivot = next(i for i in range(k, n) if system[i][k] != 0)
        system[k], system[pivot] = system[pivot], system[k]
        system[k] = [v / system[k][k] for v in system[k]]
        for i in range(n):
            if i != k and system[i][k] != 0:
                system[i] = [a - system[i][k] * b for a, b in zip(system[i], system[k], strict=True)]
    return [row[n] for row in system]


@pytest.mark.parametrize("near", [1e-1, 1e-3, 1e-5, 1e-7])
def test_error_grows_with_the_condition_not_with_its_square(near):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(40, 2))
    columns = np.column_stack([x[:, 0], x[:, 0] + near * rng.normal(size=40), x[:, 1], x[:, 0] * x[:, 1]])
    subspaces, coef = [(0,), (0,), (1,), (0, 1)], np.array([1.0, -0.5, 0.25, 2.0])
    condition = np.linalg.cond(columns)
    result = decompose(columns, subspaces, coef=coef)
    values = result.evaluate(columns)
    expected = exact_components(columns, subspaces, coef)
    for c, u in enumerate(result.subspaces):
        error = relative_error(values[:, c], expected[u])
        assert error < 50 * np.finfo(float).eps * condition
    lower = np.column_stack([np.ones(40), columns[:, :3]])
    f12 = values[:, result.subspaces.index((0, 1))]
    overlap = np.abs(lower.T @ f12) / np.linalg.norm(lower, axis=0) / np.linalg.norm(f12)
    assert overlap.max() < 1e-15 * max(1, np.abs(result.nu).max())  # independent of the condition number
    assert_close(result.intercept + values.sum(axis=1), columns @ coef, 1e-9)


@pytest.mark.parametrize("row", [row for row in GOLDEN["7_algebra"]["ill_conditioned"] if 1e3 < row["cond"] < 2e10])
def test_golden_error_at_a_condition(row):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(60, 2))
    near = x[:, 0] + row["eps"] * rng.normal(size=60)
    columns, subspaces = np.column_stack([x[:, 0], near, x[:, 1], x[:, 0] * x[:, 1]]), [(0,), (0,), (1,), (0, 1)]
    coef = np.array([1.0, -0.5, 0.25, 2.0])
    result = decompose(columns, subspaces, coef=coef)
    expected = exact_components(columns, subspaces, coef)
    error = max(
        relative_error(values, expected[u])
        for u, values in zip(result.subspaces, result.evaluate(columns).T, strict=True)
    )
    # Errors are random, hence the factor of 10. Normal equations would be 1e3 (at 1e4) to 1e9 times worse.
    assert error / np.linalg.cond(columns) < 10 * row["topdown_globalR"]["err"] / row["cond"]


def gaussian_product_rule(correlation, points=6):
    """Nodes and weights that integrate polynomials under a Gaussian exactly."""
    n = len(correlation)
    nodes, weights = hermegauss(points)
    grid = np.array(list(itertools.product(nodes, repeat=n)))
    mass = np.array([np.prod(w) for w in itertools.product(weights, repeat=n)])
    return grid @ np.linalg.cholesky(correlation).T, mass / mass.sum()


def test_golden_truncation_is_not_the_best_additive_approximation():
    golden = GOLDEN["7_extra"]["truncation_not_minimiser"]
    z, mass = gaussian_product_rule(np.array(golden["R"]))
    columns, subspaces = monomials(z, 1)
    columns, subspaces = np.column_stack([columns, z[:, 0] * z[:, 1]]), [*subspaces, (0, 1)]
    coef = np.r_[np.zeros(6), 1.0]
    result = decompose(columns, subspaces, coef=coef, sample_weight=mass, order=1)
    f = z[:, 0] * z[:, 1]
    residual = f - result.predict(columns)
    assert_close(result.sensitivity.variance, golden["Var"])
    assert_close(mass @ residual**2, golden["hdmr_T1_residual"], 1e-10)
    squares = result.nu[1 + np.flatnonzero(result.column_order % 2 == 1)]
    assert_close(squares, golden["hdmr_coef"], 1e-10)


@pytest.mark.parametrize("rho", [-0.5, -0.9])
def test_golden_structural_indices_can_exceed_one(rho):
    z, mass = gaussian_product_rule(np.array([[1, rho], [rho, 1]]))
    columns = np.column_stack([z, z**2, z[:, 0] * z[:, 1]])
    result = decompose(columns, [0, 1, 0, 1, (0, 1)], coef=[1, 1, 0, 0, 1], sample_weight=mass)
    assert_close(result.sensitivity.Sa.sum(), GOLDEN["7_extra"][f"sumSa_rho{rho}"], 1e-10)


# --- rank ---------------------------------------------------------------------------------------------------------


def test_duplicate_columns_inside_a_group_change_nothing():
    rng = np.random.default_rng(6)
    columns, subspaces = monomials(correlated(rng, 500, 2), 2)
    coef = rng.normal(size=len(subspaces))
    plain = decompose(columns, subspaces, coef=coef)
    with pytest.warns(LinAlgWarning, match="numerical rank 7 ") as record:
        doubled = decompose(np.column_stack([columns, columns[:, 0]]), [*subspaces, subspaces[0]], coef=[*coef, 0.0])
    assert len(record) == 1
    assert_close(doubled.evaluate(np.column_stack([columns, columns[:, 0]])), plain.evaluate(columns))


def test_collinear_variables_share_equally():
    golden = GOLDEN["7_algebra"]["rank_deficient"]["x1==x2"]
    x = np.random.default_rng(7).normal(size=300)
    columns = np.column_stack([x, x, x**2, x**2, x * x])
    with pytest.warns(LinAlgWarning, match="minimum-norm solution"):
        result = decompose(columns, [0, 1, 0, 1, (0, 1)], coef=[0.5, 0.5, 0.0, 0.0, 1.0])
    f1, f2, f12 = result.evaluate(columns).T
    assert_close(f1, f2)
    assert_close(f1 + f2, x + x**2 - (x + x**2).mean())
    assert np.abs(f12).max() < 1e-13
    assert_close(result.sensitivity.S, [golden["S1"], golden["S2"], 0.0])


def test_a_component_in_the_span_of_lower_ones_is_zero():
    x = np.random.default_rng(8).normal(size=(300, 2))
    columns = np.column_stack([x, 2 * x[:, 0] - x[:, 1] + 3])
    with pytest.warns(LinAlgWarning, match="have numerical rank 3 "):
        result = decompose(columns, [0, 1, (0, 1)], coef=[1, 1, 1])
    f1, f2, f12 = result.evaluate(columns).T
    assert np.abs(f12).max() < 1e-12
    assert_close(f1, 3 * (x[:, 0] - x[:, 0].mean()))
    assert np.abs(f2).max() < 1e-12


@pytest.mark.parametrize("n_rows", [1, 3])
def test_more_columns_than_rows(n_rows):
    rng = np.random.default_rng(9)
    columns, subspaces = monomials(rng.normal(size=(n_rows, 3)), 2)
    coef = rng.normal(size=len(subspaces))
    with pytest.warns() as record:
        result = decompose(columns, subspaces, coef=coef)
    assert sum(issubclass(w.category, LinAlgWarning) for w in record) == 1
    assert np.isfinite(result.sensitivity.Sa).all()
    assert_close(result.intercept + result.evaluate(columns).sum(axis=1), columns @ coef)


def test_constant_columns_belong_to_the_constant():
    x = np.random.default_rng(10).normal(size=(200, 2))
    columns = np.column_stack([x, np.full(200, 5.0)])
    with pytest.warns(LinAlgWarning):
        result = decompose(columns, [0, 1, (0, 1)], coef=[1, 1, 1])
    values = result.evaluate(columns)
    assert np.abs(values[:, 2]).max() < 1e-13
    assert_close(result.intercept, 5 + x.mean(axis=0).sum())
