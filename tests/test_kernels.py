"""The kernels: what they are, that they are kernels, and that scikit-learn's machines take them."""

import json
import pickle
from ast import literal_eval
from pathlib import Path

import numpy as np
import pytest
from reference import kernels as reference
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.svm import SVC, SVR
from tolerance import assert_close

from fasthdmr.kernels import AnovaKernel, FourierKernel, PolynomialKernel

GOLDEN = json.loads((Path(__file__).parent / "golden" / "kernels.json").read_text())["8_kernels"]
RNG = np.random.default_rng(0)
X = RNG.normal([1, 0, -1], size=(40, 3))
Y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
KERNELS = [PolynomialKernel(3, 0.5, 2.0), FourierKernel(2, 0.3, 0.5), AnovaKernel(2).fit(X)]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)


def test_polynomial_is_scikit_learns():
    assert_close(KERNELS[0](X, X[:7]), polynomial_kernel(X, X[:7], degree=3, gamma=0.5, coef0=2.0))


@pytest.mark.parametrize(("d", "gamma", "coef0"), [(2, 1.0, 1.0), (3, 2.0, 0.5)])
def test_feature_weights_are_golden(d, gamma, coef0):
    """And K is the sum of their squares times x^alpha x'^alpha."""
    betas = GOLDEN[f"beta_golden_n2_d{d}_c{coef0:g}_g{gamma:g}"]
    golden = {literal_eval(alpha)[1:]: beta for alpha, beta in betas.items()}
    alphas = [(0, 0), *reference.exponents(2, d)]
    squares = reference.weights(alphas, d, gamma, coef0)
    assert_close(np.sqrt(squares), [golden[a] for a in alphas])
    monomials = reference.monomials(X[:, :2], alphas)
    assert_close(monomials * squares @ monomials.T, PolynomialKernel(d, gamma, coef0)(X[:, :2]))


def test_fourier_conjugates():
    one, other = np.array([0.3, -0.1]), np.array([0.05, 2.2])
    waves = np.exp(2j * np.pi * one) @ np.conj(np.exp(2j * np.pi * other))
    found = FourierKernel(3, 0.7, 0.4)(one[None], other[None])
    assert_close(found, [[((0.7 * waves + 0.4) ** 3).real]])


def test_the_papers_fourier_form_is_not_positive_semidefinite_and_ours_is():
    points = RNG.uniform(size=(20, 2))
    waves = np.exp(2j * np.pi * points)
    printed = (waves @ waves.T + 1) ** 2  # without the conjugate: golden 8_kernels has -13.7 for other points
    assert np.linalg.eigvalsh((printed + printed.conj().T) / 2)[0] < -1
    assert np.linalg.eigvalsh(FourierKernel(2)(points))[0] > -1e-12


@each_kernel
def test_gram_matrices_are_symmetric_and_positive(kernel):
    gram = kernel(X)
    assert_close(gram, gram.T)
    eigenvalues = np.linalg.eigvalsh(gram)
    assert eigenvalues[0] > -1e-12 * eigenvalues[-1]
    assert_close(kernel.diag(X), gram.diagonal())


def test_anova_terms_have_mean_zero_and_are_double_centred():
    kernel = KERNELS[2]
    powers = kernel.powers(X)
    assert np.abs(powers.mean(axis=0)).max() < 1e-14
    z = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    plain = (1 + np.outer(z, z)) ** 2
    centred = plain - plain.mean(axis=0) - plain.mean(axis=1)[:, None] + plain.mean()
    assert_close(powers[:, 0] * kernel.weights @ powers[:, 0].T, centred)


def test_anova_refuses_rows_of_another_width():
    with pytest.raises(ValueError, match="3"):
        KERNELS[2](X[:, :2])
    with pytest.raises(ValueError, match="not fitted"):
        AnovaKernel()(X)
    constant = AnovaKernel(2).fit(np.column_stack([X[:, 0], np.full(40, 0.1)]))
    alone = AnovaKernel(2).fit(X[:, :1])
    assert_close(constant(np.column_stack([X[:, 0], np.full(40, 0.1)])), alone(X[:, :1]))


@each_kernel
def test_copies(kernel):
    for other in (pickle.loads(pickle.dumps(kernel)), clone(kernel)):
        assert np.array_equal(other(X), kernel(X)) and repr(other) == repr(kernel)


@each_kernel
@pytest.mark.parametrize(
    "machine", [SVR(), SVC(), KernelRidge(), GaussianProcessRegressor(alpha=0.1)], ids=lambda m: type(m).__name__
)
def test_machines_take_them(kernel, machine):
    target = Y > 0 if isinstance(machine, SVC) else Y
    found = clone(machine).set_params(kernel=kernel).fit(X, target).predict(X)
    if isinstance(machine, GaussianProcessRegressor):
        desired = kernel(X) @ np.linalg.solve(kernel(X) + 0.1 * np.eye(40), Y)
    else:
        desired = clone(machine).set_params(kernel="precomputed").fit(kernel(X), target).predict(kernel(X))
    assert_close(found, desired, 1e-9)


@pytest.mark.parametrize("make", [PolynomialKernel, FourierKernel])
def test_invalid_kernels_are_refused(make):
    for bad in ({"degree": 0}, {"degree": 1.5}, {"gamma": -1.0}, {"coef0": np.nan}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            make(**bad)(X)
    with pytest.raises(ValueError, match="degree"):
        AnovaKernel(0).fit(X)
