"""Product and SymmetricPolynomial: golden numbers, enumeration of discrete laws, and exact arithmetic at n = 10,000."""

import itertools
import json
from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.anova import enumerated
from tolerance import assert_close

from fasthdmr.analytic import Product, SymmetricPolynomial

GOLDEN = json.loads((Path(__file__).parent / "golden" / "analytic.json").read_text())
PRODUCT, MONOMIALS = GOLDEN["2_product"], GOLDEN["3_monomials"]


def two_points(mu, sigma, p):
    """A law with this mean and standard deviation, symmetric for p = 1/2 only."""
    return np.array([mu - sigma * np.sqrt((1 - p) / p), mu + sigma * np.sqrt(p / (1 - p))]), np.array([p, 1 - p])


def assert_each_close(actual, desired, rtol=1e-12):
    """Every number by its own size; `assert_close` goes by the largest."""
    for a, d in zip(np.ravel(actual), np.ravel(desired), strict=True):
        assert_close(a, d, rtol)


# --- golden numbers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", PRODUCT["stable"], ids=lambda row: f"{row['n']}-{row['rho']}")
def test_golden_product(row):
    f = Product(row["n"], 3.0, 3.0 * float(row["rho"]))
    mean, variance = f.order_moments()
    assert_each_close(f.ST[[0, -1]], [row["T"]] * 2)
    assert_each_close(f.R, np.full(row["n"], 1 / row["n"]))
    assert_each_close([mean, variance], [row["E"], row["Var"]])
    shares, logs = f.order_shares(), f.order_shares(log=True)
    for k, p in row["p"].items():
        if float(p) > 1e-300:
            assert_close(shares[int(k) - 1], float(p))
        # rho of the model is 3 rho / 3 in doubles: half a unit in its last place, times 2k
        assert abs(logs[int(k) - 1] - row["logp"][k]) <= 4e-16 * int(k) + 1e-12 * abs(row["logp"][k])


@pytest.mark.parametrize("rho", PRODUCT["minT_S09"])
def test_golden_order_of_a_product(rho):
    orders = [Product(n, 1, float(Fraction(rho))).order_for(0.9) for n in range(1, 101)]
    assert orders == PRODUCT["minT_S09"][rho]


@pytest.mark.parametrize("key", PRODUCT["S_cum"])
def test_golden_explained_of_a_product(key):
    rho, n = key.split("|")
    explained = Product(int(n), 1, float(Fraction(rho))).explained()
    golden = PRODUCT["S_cum"][key][:-1]  # the last one is the sum of all orders
    assert_each_close(explained[: len(golden)], golden)
    assert_close(explained[-1], 1.0)


@pytest.mark.parametrize("rho", PRODUCT["p_n100"])
def test_golden_shares_of_a_product(rho):
    shares = Product(100, -2, 2 * float(Fraction(rho))).order_shares()
    for k, p in PRODUCT["p_n100"][rho].items():
        assert_close(shares[int(k) - 1], p)


@pytest.mark.parametrize("key", MONOMIALS["general_T"])
@pytest.mark.parametrize("given_by", ["default", "order"])
def test_golden_monomials(key, given_by):
    n, order, mu, sigma = (float(part.split("=")[1]) for part in key.split(","))
    n, order = int(n), int(order)
    f = SymmetricPolynomial(n, order, mu, sigma, None if given_by == "default" else np.ones(order + 1))
    golden = MONOMIALS["general_T"][key]
    assert_close(f.variance, golden["Var"])
    assert_each_close(f.order_shares(), golden["q"])
    assert_close(f.intercept, golden["b_k"][0])
    for k in range(1, order + 1):
        component = f.component(tuple(range(k)))
        assert_close(component(np.full((1, k), mu + 1)), [golden["b_k"][k]])
        assert_close(component.variance / f.variance, golden["S_u_by_order"][k - 1])


@pytest.mark.parametrize("key", MONOMIALS["fig_n100"])
def test_golden_shares_of_all_monomials(key):
    rho, mu = (float(part.split("=")[1]) for part in key.split(","))
    golden = MONOMIALS["fig_n100"][key]
    assert_close(rho * mu / (1 + mu), golden["tau"])
    shares = SymmetricPolynomial(100, 100, mu, rho * mu).order_shares()
    for k, q in golden["q"].items():
        assert_close(shares[int(k) - 1], q)


@pytest.mark.parametrize("key", MONOMIALS["q_vs_p"])
def test_low_orders_of_all_monomials_beat_those_of_the_product_if_tau_is_below_rho(key):
    mu, sigma = (float(part.split("=")[1]) for part in key.split(","))
    golden = MONOMIALS["q_vs_p"][key]
    q = SymmetricPolynomial(100, 100, mu, sigma).order_shares()
    p = Product(100, mu, sigma).order_shares()
    assert_close([q[0], golden["tau"]], [golden["q1"], sigma / (1 + mu)], 1e-12)
    assert_close(p[0], golden["p1"])
    assert np.flatnonzero(q <= p)[0] + 1 == golden["first_k_where_q_le_p"]
    assert (q[0] > p[0]) == (golden["tau"] < abs(golden["rho"]))


# --- every point of a discrete law --------------------------------------------------------------------------------

numbers = st.integers(-8, 8).map(lambda k: k / 4)


@st.composite
def models(draw):
    n = draw(st.integers(1, 4))
    mu, sigma = draw(numbers), draw(st.sampled_from([0.25, 1.0, 3.0]))
    kind = draw(st.sampled_from(["product", "ones", "orders", "mapping"]))
    if kind == "product":
        return Product(n, mu, sigma)
    order = draw(st.integers(1, n))
    beta = None
    if kind == "orders":
        beta = draw(st.lists(numbers, min_size=order + 1, max_size=order + 1))
    if kind == "mapping":
        subspaces = [u for k in range(order + 1) for u in itertools.combinations(range(n), k)]
        beta = draw(st.dictionaries(st.sampled_from(subspaces), numbers, max_size=6))
    return SymmetricPolynomial(n, order, mu, sigma, beta)


@settings(max_examples=150, deadline=None)
@given(models(), st.sampled_from([0.5, 0.25, 0.75]))
@pytest.mark.filterwarnings("ignore:.*is constant:UserWarning")
def test_components_and_indices_are_those_of_a_discrete_law(f, p):
    support, probabilities = two_points(f.mu, f.sigma, p)
    points, weights, mean, exact = enumerated(f, support, probabilities, f.n)
    scale = 1 + np.abs(f(points)).max() + sum(np.abs(values).max() for values in exact.values())
    variance = weights @ (f(points) - mean) ** 2
    assert abs(f.intercept - mean) <= 1e-12 * scale
    assert abs(f.variance - variance) <= 1e-12 * scale**2
    listed = f.subspaces
    assert listed == sorted(set(listed), key=lambda u: (len(u), u))
    total = np.full(len(points), f.intercept)
    for u, values in exact.items():
        if u not in listed:
            assert np.abs(values).max() <= 1e-12 * scale
            continue
        component = f.component(u)
        at_points = component(points[:, list(u)])
        total += at_points
        assert np.abs(at_points - values).max() <= 1e-12 * scale
        assert abs(component.variance - weights @ values**2) <= 1e-12 * scale**2
    assert np.abs(total - f(points)).max() <= 1e-12 * scale

    indices = f.sensitivity()
    assert indices.variance == f.variance
    assert_close(indices.S.sum(), 1.0 if f.variance else 0.0)
    assert_close(indices.S, [f.component(u).variance / f.variance if f.variance else 0.0 for u in listed])
    assert not indices.Sb.any() and indices.residual == 0
    assert_close(f.ST, indices.ST)
    assert_close(f.R, indices.R)
    assert_close(f.explained(), indices.explained())
    assert_close(np.cumsum(f.order_shares()), f.explained())
    assert f.order_for(0.9) == indices.order_for(0.9) or not f.variance
    assert_close(f.order_moments()[0], f.ST.sum())


def test_conditional_means_and_moments_of_monomials():
    """E[e_T | x_u] = Σ_{w ⊆ u} a_{|u||w|} x_w, and the moments of the x_u themselves (spec 8)."""
    n, order, mu, sigma = 4, 3, -0.75, 0.5
    f = SymmetricPolynomial(n, order, mu, sigma)
    support, probabilities = two_points(mu, sigma, 0.25)
    points, weights, _, exact = enumerated(f, support, probabilities, n)
    for u in itertools.chain.from_iterable(itertools.combinations(range(n), k) for k in range(n + 1)):
        lower = [v for j in range(1, len(u) + 1) for v in itertools.combinations(u, j)]
        conditional = f.intercept + sum((exact[v] for v in lower), np.zeros(len(points)))
        expected = np.zeros(len(points))
        for w in [(), *lower]:
            if len(w) <= order:
                a = sum(comb(n - len(u), k) * mu**k for k in range(order - len(w) + 1))
                expected += a * points[:, list(w)].prod(axis=1)
        assert_close(conditional, expected)
    second = mu**2 + sigma**2
    for u, v in [((0, 1), (1, 2)), ((0,), (0, 1, 3)), ((2, 3), (2, 3)), ((0,), (1,))]:
        x_u, x_v = points[:, list(u)].prod(axis=1), points[:, list(v)].prod(axis=1)
        apart, both = len(set(u) ^ set(v)), len(set(u) & set(v))
        found = weights @ (x_u * x_v) - (weights @ x_u) * (weights @ x_v)
        assert abs(found - mu**apart * (second**both - mu ** (2 * both))) <= 1e-14


def test_mapping_by_names_and_a_constant():
    f = SymmetricPolynomial(3, 2, 0.5, 1, {"x2": 2, ("x1", "x0"): -4, (): 7})
    assert f.subspaces == [(0,), (1,), (2,), (0, 1)]
    assert f.beta == {(2,): 2.0, (0, 1): -4.0, (): 7.0}
    assert_close(f([[1, 2, 3]]), [7 + 6 - 8])
    assert_close(f.intercept, 7 + 1 - 1)
    assert f.component("x0").variance == 4.0


def test_product_is_the_polynomial_of_its_last_order():
    product, polynomial = Product(6, -0.7, 0.3), SymmetricPolynomial(6, 6, -0.7, 0.3, [0, 0, 0, 0, 0, 0, 1])
    assert_each_close(product.order_shares(), polynomial.order_shares())
    X = product.sample(50, random_state=0)
    assert_close(product(X), polynomial(X))


@pytest.mark.parametrize("order", [1, 3, 6])
def test_values_are_the_sums_of_monomials(order):
    f = SymmetricPolynomial(6, order, -0.5, 1)
    X = f.sample(20, random_state=0)
    subspaces = [u for k in range(order + 1) for u in itertools.combinations(range(6), k)]
    assert_close(f(X), sum(X[:, list(u)].prod(axis=1) for u in subspaces), 1e-11)


# --- ten thousand variables ---------------------------------------------------------------------------------------

N = 10_000


def ratio(numerator, denominator):
    """The quotient of integers of any size, rounded once; 0 where it is below all doubles."""
    return numerator / denominator


@pytest.mark.parametrize("sigma", [2.0**-13, 0.25, 1.0, 4.0])
def test_product_of_ten_thousand(sigma):
    """p{k} = C(n,k) s^k / ((1+s)^n - 1), s = p/q = sigma²: integers times q^n."""
    p, q = (sigma**2).as_integer_ratio()
    f = Product(N, 1, sigma)
    shares, explained, total = f.order_shares(), f.explained(), (p + q) ** N - q**N
    for k in (1, 2, 10, 100, 588, 5000, 5001, 9412, N):
        exact = ratio(comb(N, k) * p**k * q ** (N - k), total)
        if exact > 1e-300:
            assert_close(shares[k - 1], exact, 1e-15)
    assert_close(f.ST[0], ratio(p * (p + q) ** (N - 1), total), 1e-15)
    assert_close(f.order_moments()[0], ratio(N * p * (p + q) ** (N - 1), total), 1e-15)
    assert_close([explained[-1], shares.sum()], [1.0, 1.0], 1e-14)
    assert (np.diff(explained) >= 0).all()


def test_product_of_ten_thousand_whose_mean_overflows():
    f = Product(N, 4, 2)  # f_0 = 4^10000
    assert f.intercept == f.variance == np.inf
    assert_each_close(f.order_shares()[2000:2010], Product(N, 0.02, 0.01).order_shares()[2000:2010])
    assert f.order_for(0.9) > 1 and f.component((0, 1)).subspace == (0, 1)


@pytest.mark.parametrize("mu", [-0.125, 0.375, -1.5])
@pytest.mark.parametrize("by", ["default", "order"])
def test_monomials_of_ten_thousand(mu, by):
    """b_k by its definition, whose alternating signs cancel for negative mu, in exact arithmetic."""
    order, sigma = 20, 0.5
    f = SymmetricPolynomial(N, order, mu, sigma, None if by == "default" else np.ones(order + 1))
    m, s = Fraction(mu), Fraction(sigma)
    b = [sum(comb(N - k, j) * m**j for j in range(order - k + 1)) for k in range(order + 1)]
    variances = [comb(N, k) * b[k] ** 2 * s ** (2 * k) for k in range(1, order + 1)]
    assert_close(f.intercept, float(b[0]), 1e-15)
    assert_each_close(f.order_shares(), [float(v / sum(variances)) for v in variances], 1e-15)
    assert_close(f.ST[0], float(sum(k * v for k, v in enumerate(variances, 1)) / sum(variances) / N), 1e-15)
    assert_close(f.component((5, 77))([[mu + 1, mu + 1]]), [float(b[2])], 1e-15)


def test_cancellation_loses_no_digits():
    """b_0 = (1 + mu)^n but for a remainder, from terms that are 10^17 times larger."""
    n, mu = 200, -0.125
    f = SymmetricPolynomial(n, 150, mu, 1)
    exact = sum(comb(n, j) * Fraction(mu) ** j for j in range(151))
    naive = sum(comb(n, j) * mu**j for j in range(151))
    assert_close(f.intercept, float(exact), 1e-15)
    assert abs(naive / float(exact) - 1) > 1e-6


def test_all_monomials_of_ten_thousand():
    """T = n: q{k} is that of a product with rho = tau."""
    f = SymmetricPolynomial(N, N, -0.5, 0.25)
    assert_each_close(f.order_shares()[1900:2100], Product(N, 2, 1).order_shares()[1900:2100], 1e-14)
    assert_close(f([np.full(N, 1e-4)]), [(1 + 1e-4) ** N], 1e-11)


def test_order_below_all_of_ten_thousand():
    f = SymmetricPolynomial(N, 5_000, 0.1, 0.01)
    shares = f.order_shares()
    assert shares.shape == (5_000,) and (shares >= 0).all()
    assert_close([shares.sum(), f.order_moments()[0]], [1.0, f.ST.sum()])
