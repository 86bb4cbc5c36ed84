"""The Gaussian law, given by mean and covariance, as a measure for polynomials."""

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
    """Jointly Gaussian variables.

    Parameters
    ----------
    mean : array-like of shape (n,)
    cov : array-like of shape (n, n)
        Any covariance, singular ones included.
    n_features : int

    Attributes
    ----------
    mean, sd : ndarray of shape (n,)
        sd is 1 for variables without variance, so that one can divide by it.
    """

    def __init__(self, mean: ArrayLike, cov: ArrayLike, n_features: int) -> None:
        self.mean, self.cov = check_moments(mean, cov, n_features)
        sd = np.sqrt(np.maximum(self.cov.diagonal(), 0))
        self.sd: Floats = np.where(sd > 0, sd, 1.0)

    def columns(self, machine: Machine) -> tuple[Monomials, Floats]:
        """Return monomials that are shifted by the mean and scaled by sd, and R of the QR of (1, monomials).

        Raises
        ------
        ValueError
            If the kernel is no polynomial.
        """
        if isinstance(machine.kernel, Multiple):
            raise ValueError(
                "measure=(mean, cov) is for polynomial kernels; use measure='empirical' on a large sample."
            )
        monomials = Monomials(machine, self.mean, self.sd)
        return monomials, self.triangle(monomials)

    def triangle(self, dictionary: Monomials) -> Floats:
        """Return R of the columns (1, B) of monomials that are shifted by the mean and scaled by sd.

        The variables are linear in independent standard Gaussians w, so every column is a polynomial in w. Its
        coefficients in the orthonormal Hermite polynomials of w, to be had by multiplying column by column, take the
        place of rows: the QR is as accurate as on rows, and no moment of a monomial is ever formed.
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
        """Return quantiles of every variable: they stand for its law, not for how variables depend."""
        sd = np.sqrt(np.maximum(self.cov.diagonal(), 0))
        z = ndtri((np.arange(_QUANTILES) + 0.5) / _QUANTILES)
        return Sample(self.mean + z[:, None] * sd, np.ones(_QUANTILES))


def _multiplication(words: list[tuple[int, ...]], k: int) -> csr_array:
    """Return multiplication by w_k on coefficients in orthonormal Hermite polynomials, up to their highest degree."""
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
