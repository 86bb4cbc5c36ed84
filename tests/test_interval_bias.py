"""The bias that intervals include: against fits on two halves of the rows, and indices of effects that do not exist."""

from copy import copy

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.tree import DecisionTreeRegressor
from tolerance import assert_close

from fasthdmr import HDMR, KernelHDMR, TreeHDMR
from fasthdmr._spans import joint_fit
from fasthdmr._spans.fit import RIDGE
from fasthdmr._support import sample
from fasthdmr._uncertainty import bootstrap, uncertainty
from fasthdmr._uncertainty.bias import RATE
from fasthdmr._uncertainty.blocks import random_blocks
from fasthdmr._uncertainty.uncertainty import NORMAL_95

# Low orders and dependent variables are chosen on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::fasthdmr.ResidualWarning", "ignore::fasthdmr.ConcurvityWarning")

NAMES = ("Sa", "Sb", "S", "ST", "R")


def bits(n_rows, n=3, seed=0):
    """Dependent variables of two values, whose spans do not depend on the rows."""
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n_rows, n)) + 0.7 * rng.normal(size=(n_rows, 1)) > 0.3).astype(float)


def of_bits(X):
    return X[:, :3] @ [1.0, 2.0, -1.0] + 3 * X[:, 0] * X[:, 1] - 2 * X[:, 1] * X[:, 2]


def two_of_bits(X):
    return np.column_stack([of_bits(X), 1e3 * X[:, 0] * X[:, 2]])


def half_widths(hdmr):
    return [getattr(hdmr.sensitivity_, f"{name}_conf") for name in NAMES]


def indices_on(parts, weights):
    """All indices of the mean variances and covariances of fits on parts of the rows with these weights."""
    moments = [[h.sensitivity_.variance * getattr(h.sensitivity_, name) for name in ("Sa", "S")] for h in parts]
    Sa, S = np.tensordot(weights, moments, 1) / np.tensordot(weights, [h.sensitivity_.variance for h in parts], 1)
    ST = np.array([sum(S[c] for c, u in enumerate(parts[0].subspaces_) if j in u) for j in range(3)])
    return Sa, S - Sa, S, ST, ST / ST.sum(axis=0)


PAIRS = [(0, 1), (0, 2), (1, 2)]
TREE = DecisionTreeRegressor(max_depth=3, random_state=0).fit(bits(100), two_of_bits(bits(100)))
MACHINE = KernelRidge(kernel="poly", degree=2, coef0=1, gamma=1).fit(bits(50) + bits(50, seed=1), of_bits(bits(50)))


@pytest.mark.parametrize("ci", ["jackknife", "bootstrap"])
@pytest.mark.parametrize(
    "hdmr",
    [
        HDMR(of_bits, interactions=PAIRS),
        HDMR(two_of_bits, interactions=PAIRS),
        HDMR(interactions=PAIRS),
        TreeHDMR(TREE),
        TreeHDMR(TREE, smooth=False),
        KernelHDMR(MACHINE),
    ],
    ids=["function", "two outputs", "data", "trees", "faithful", "kernel"],
)
def test_from_fits_on_two_halves_of_the_rows(hdmr, ci, monkeypatch):
    """Half-widths are 1.96 times the root of variance plus bias²."""
    monkeypatch.setattr(joint_fit, "_LARGEST_FACTOR", RIDGE)  # the penalty is fixed
    monkeypatch.setattr(bootstrap, "N_RESAMPLES", 20)
    rng = np.random.default_rng(3)
    X = bits(161) + (rng.normal(size=(161, 3)) if isinstance(hdmr, KernelHDMR) else 0.0)
    weights = rng.integers(1, 3, size=161).astype(float)
    y = of_bits(X) + rng.normal(size=161) if hdmr.get_params().get("model", 0) is None else None

    def fit(at):
        return copy(hdmr).set_params(ci=ci).fit(X[at], None if y is None else y[at], sample_weight=weights[at])

    order, filled = random_blocks(161, 2)
    halves = [half[there] for half, there in zip(order.reshape(2, -1), filled.reshape(2, -1), strict=True)]
    one = indices_on([fit(slice(None))], [1.0])
    two = indices_on([fit(half) for half in halves], [weights[half].sum() for half in halves])
    found = half_widths(fit(slice(None)))
    monkeypatch.setattr(uncertainty, "bias_of_indices", lambda *arguments: [0.0] * len(NAMES))
    spread = half_widths(fit(slice(None)))
    assert any((with_bias > 1.05 * alone).any() for with_bias, alone in zip(found, spread, strict=True))
    for with_bias, alone, first, second in zip(found, spread, one, two, strict=True):
        bias = (second - first) / (2**RATE - 1)
        assert_close(with_bias, np.hypot(alone, NORMAL_95 * bias), 1e-9)


def test_intervals_of_effects_that_do_not_exist_contain_0():
    """Chance makes S and Sa of the pair positive, by more than they vary over samples."""

    def pair(seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 2))
        return HDMR().fit(X, X[:, 0] + X[:, 1] + rng.normal(size=300)).sensitivity_

    found = [pair(seed) for seed in range(15)]
    for name in ("Sa", "S"):
        index, width = (np.array([getattr(s, f"{name}{end}")[2] for s in found]) for end in ("", "_conf"))
        assert index.min() > 0 and np.mean(index) > 1.5 * np.std(index)
        assert np.mean(index <= width) > 0.8


def test_bias_decreases_with_rows_that_a_sample_stands_for(monkeypatch):
    """A tenth of the rows shows what the bias of all is."""
    X = np.random.default_rng(0).normal(size=(6000, 3))
    biases, real = [], uncertainty.bias_of_indices
    monkeypatch.setattr(
        uncertainty, "bias_of_indices", lambda *arguments: biases.append(real(*arguments)) or biases[-1]
    )

    def fit():
        return HDMR(lambda X: X[:, 0] + X[:, 1] * X[:, 2]).fit(X).sensitivity_.S_conf

    fit()
    monkeypatch.setattr(sample, "_ROWS", 600)
    fit()
    every, some = (found[2][:, 0] for found in biases)  # of S
    largest = np.argmin(every)
    assert every[largest] < -5e-4  # the product of two unbounded variables is underestimated
    assert 0.3 < some[largest] / every[largest] < 3


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 5])
@pytest.mark.filterwarnings("ignore::fasthdmr.ConstantWarning", "ignore::fasthdmr.RankWarning")
def test_a_handful_of_rows(n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    for hdmr in (HDMR(order=1), HDMR(lambda X: X[:, 0] * X[:, 1])):
        for width in half_widths(hdmr.fit(X, X[:, 0])):
            assert np.isfinite(width).all()


def test_an_output_that_is_constant_on_half_of_the_rows():
    X = np.random.default_rng(0).normal(size=(40, 1))
    rare = (np.arange(40) == 7).astype(float)
    for width in half_widths(HDMR(order=1).fit(X, np.column_stack([rare, X[:, 0]]))):
        assert np.isfinite(width).all()
