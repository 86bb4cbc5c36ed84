"""The Gaussian measure with given mean and covariance, for polynomial kernels (spec 6)."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, vstack
from scipy.special import ndtri

from fasthdmr import _core
from fasthdmr._kernel_machines.columns import Monomials
from fasthdmr._kernel_machines.machine import Machine, Multiple
from fasthdmr._support.moments import check_moments
from fasthdmr._support.sample import Sample
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats

_QUANTILES = 2_000


class GaussianMeasure:
    """The measure of jointly Gaussian variables.

    Parameters
    ----------
    mean : array-like of shape (n,)
    cov : array-like of shape (n, n)
        The covariance matrix; it may be singular.
    n_features : int

    Attributes
    ----------
    mean, sd : ndarray of shape (n,)
        Means and standard deviations. The latter are 1 for variables of variance 0, so that they can be divisors.
    """

    def __init__(self, mean: ArrayLike, cov: ArrayLike, n_features: int) -> None:
        self.mean, self.cov = check_moments(mean, cov, n_features)
        sd = np.sqrt(np.maximum(self.cov.diagonal(), 0))
        self.sd: Floats = np.where(sd > 0, sd, 1.0)

    def columns(self, machine: Machine) -> tuple[Monomials, Floats]:
        """Return the monomials of the standardised variables, and R of the QR of (1, monomials).

        Raises
        ------
        ValueError
            If the kernel is not polynomial.
        """
        if isinstance(machine.kernel, Multiple):
            raise ValueError(
                "measure=(mean, cov) is for polynomial kernels; use measure='empirical' on a large sample."
            )
        monomials = Monomials(machine, self.mean, self.sd)
        return monomials, self.triangle(monomials)

    def triangle(self, dictionary: Monomials) -> Floats:
        """Return R of the QR of the monomials (1, B) of the standardised variables in L² of the measure.

        The variables are linear in independent standard Gaussians w, so each column is a polynomial in w. Its
        coefficients in the orthonormal Hermite polynomials of w follow from those of its parent by one multiplication.
        They take the place of rows in the QR. So no moment of a monomial is formed, and the condition number is not
        squared.
        """
        products, used = dictionary.products, dictionary.used
        correlation = self.cov[np.ix_(used, used)] / self.sd[used] / self.sd[used, None]
        eigenvalues, vectors = np.linalg.eigh(correlation)
        root: Floats = vectors * np.sqrt(np.maximum(eigenvalues, 0))
        times_w = vstack([_multiplication(products.words, k) for k in range(len(used))])
        p = dictionary.n_columns
        coefficients = np.zeros((p, p), order="F")
        coefficients[0, 0] = 1
        by_parent = np.argsort(products.parent, kind="stable")
        for children in np.split(by_parent, np.flatnonzero(np.diff(products.parent[by_parent])) + 1):
            raised = (times_w @ coefficients[:, products.parent[children[0]]]).reshape(len(used), p)
            coefficients[:, children + 1] = raised.T @ root[products.factor[children]].T
        with one_blas_thread():
            return _core.triangle(coefficients)

    def sample(self) -> Sample:
        """Return quantiles of each variable. They represent its marginal law, not the dependence of variables."""
        sd = np.sqrt(np.maximum(self.cov.diagonal(), 0))
        z = ndtri((np.arange(_QUANTILES) + 0.5) / _QUANTILES)
        return Sample(self.mean + z[:, None] * sd, np.ones(_QUANTILES))


def _multiplication(words: list[tuple[int, ...]], k: int) -> csr_array:
    """Return the matrix of the multiplication by w_k in orthonormal Hermite polynomials, up to their highest degree."""
    number = {(): 0} | {word: j for j, word in enumerate(words, 1)}
    low, high, value = [], [], []
    for word, j in number.items():
        raised = tuple(sorted((*word, k)))
        if raised in number:  # w h_a = sqrt(a + 1) h_(a + 1) + sqrt(a) h_(a - 1)
            low.append(j)
            high.append(number[raised])
            value.append(sqrt(word.count(k) + 1))
    shape = (len(number), len(number))
    return csr_array((value * 2, (high + low, low + high)), shape=shape)
