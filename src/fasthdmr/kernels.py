"""Kernels that `KernelHDMR` can decompose, for the parameter `kernel` of scikit-learn's machines."""

from __future__ import annotations

import copy
from abc import abstractmethod
from math import comb
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import Kernel
from sklearn.utils import check_array

from fasthdmr._support.numbers import as_floats, check_numbers
from fasthdmr._support.scale import centre_and_scale
from fasthdmr._support.typing import Floats

__all__ = ["AnovaKernel", "FourierKernel", "PolynomialKernel"]


class _FixedKernel(Kernel):  # type: ignore[misc]
    """A kernel without hyperparameters to tune, of scikit-learn's class, so that its machines pass whole matrices."""

    @abstractmethod
    def _gram(self, X: Floats, Y: Floats) -> Floats:
        """Return K(X, Y)."""

    @abstractmethod
    def _diagonal(self, X: Floats) -> Floats:
        """Return K(x, x) of every row."""

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False) -> Any:
        """Return the matrix K(X, Y), (N, M), and on request its empty gradient.

        Parameters
        ----------
        X : array-like of shape (N, n)
        Y : array-like of shape (M, n), optional
            None: X.
        eval_gradient : bool
            Whether to return the gradient too, as scikit-learn's protocol of kernels requires.
        """
        rows = np.atleast_2d(as_floats(X, "X"))
        others = rows if Y is None else np.atleast_2d(as_floats(Y, "Y"))
        gram = self._gram(rows, others)
        return (gram, np.empty((*gram.shape, 0))) if eval_gradient else gram

    def diag(self, X: ArrayLike) -> Floats:
        """Return the diagonal of K(X, X).

        Parameters
        ----------
        X : array-like of shape (N, n)
            The rows.

        Returns
        -------
        ndarray of shape (N,)
            K(x, x) of every row.
        """
        return self._diagonal(np.atleast_2d(as_floats(X, "X")))

    def is_stationary(self) -> bool:
        """Return whether K depends on x - x' only.

        Returns
        -------
        bool
        """
        return False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.get_params().items())})"


class PolynomialKernel(_FixedKernel):
    """The polynomial kernel (gamma x·x' + coef0)^degree.

    Parameters
    ----------
    degree : int
        At least 1.
    gamma : float
        Scale of the inner product, not negative.
    coef0 : float
        Additive constant, not negative. With a negative number the kernel is not positive semi-definite.

    Notes
    -----
    Specification, section 6.

    Examples
    --------
    >>> from sklearn.svm import SVR
    >>> X = np.array([[0.0, 1.0], [2.0, 3.0]])
    >>> PolynomialKernel(degree=2)(X)
    array([[  4.,  16.],
           [ 16., 196.]])
    >>> SVR(kernel=PolynomialKernel(degree=2)).fit(X, [0, 1]).predict(X).shape
    (2,)
    """

    def __init__(self, degree: int = 3, gamma: float = 1.0, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def _gram(self, X: Floats, Y: Floats) -> Floats:
        _check(self)
        result: Floats = (self.gamma * (X @ Y.T) + self.coef0) ** self.degree
        return result

    def _diagonal(self, X: Floats) -> Floats:
        _check(self)
        result: Floats = (self.gamma * np.einsum("ij,ij->i", X, X) + self.coef0) ** self.degree
        return result


class FourierKernel(_FixedKernel):
    """The Fourier kernel Re (gamma sum_j exp(2 pi i (x_j - x'_j)) + coef0)^degree of real data.

    Its features are the cosines and sines of 2 pi <alpha, x>, alpha a vector of non-negative integers whose sum is at
    most the degree: functions of period 1 in every variable.

    Parameters
    ----------
    degree : int
        At least 1.
    gamma : float
        Scale of the inner product, not negative.
    coef0 : float
        Additive constant, not negative. With a negative number the kernel is not positive semi-definite.

    Notes
    -----
    Specification, section 6. The paper's form lacks the conjugate of the second point and is no kernel.

    Examples
    --------
    >>> X = np.array([[0.0, 0.25], [0.5, 0.75]])
    >>> FourierKernel(degree=1)(X).round(12)
    array([[ 3., -1.],
           [-1.,  3.]])
    """

    def __init__(self, degree: int = 3, gamma: float = 1.0, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def _gram(self, X: Floats, Y: Floats) -> Floats:
        _check(self)
        inner = np.exp(2j * np.pi * X) @ np.exp(-2j * np.pi * Y).T
        result: Floats = ((self.gamma * inner + self.coef0) ** self.degree).real
        return result

    def _diagonal(self, X: Floats) -> Floats:
        _check(self)
        return np.full(len(X), float((self.gamma * X.shape[1] + self.coef0) ** self.degree))

    def is_stationary(self) -> bool:
        """Return True: K depends on x - x' only.

        Returns
        -------
        bool
        """
        return True


class AnovaKernel(_FixedKernel):
    """The ANOVA kernel, the product of 1 + k_i(x_i, x'_i) over all variables, each k_i of zero mean under given data.

    k_i is (1 + z z')^degree of the standardised variable z after double centring: the means over both arguments are
    subtracted.

    Parameters
    ----------
    degree : int
        At least 1.

    Attributes
    ----------
    centre_, scale_ : ndarray of shape (n,)
        The centre and scale of the standardisation z = (x - centre) / scale.
    means_ : ndarray of shape (n, degree)
        The means of z, z², … under the data.

    Notes
    -----
    Specification, section 6. A machine's term k_i is orthogonal to the constant, but under correlation it is not the
    component of an HDMR: that takes `KernelHDMR`. Clones stay fitted.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> kernel = AnovaKernel(degree=2).fit(X)
    >>> bool(np.abs(kernel.powers(X).mean(axis=0)).max() < 1e-12)
    True
    """

    def __init__(self, degree: int = 2) -> None:
        self.degree = degree

    def fit(self, X: ArrayLike) -> Self:
        """Compute the means that make the k_i centred.

        Parameters
        ----------
        X : array-like of shape (N, n)
            The rows over which the means are taken.

        Returns
        -------
        self
            The fitted kernel.

        Raises
        ------
        ValueError
            If `degree` is not a positive integer, or X holds anything but finite numbers.
        """
        _check(self)
        check_numbers(X, "X")
        rows = check_array(X, dtype=np.float64)
        self.centre_, self.scale_ = centre_and_scale(rows, None)
        self.means_ = np.zeros((rows.shape[1], self.degree))
        self.means_ = self.powers(rows).mean(axis=0)
        return self

    def powers(self, X: Floats) -> Floats:
        """Return the features of the k_i without their weights: z, z², … less their means.

        Parameters
        ----------
        X : ndarray of shape (N, n)
            The rows.

        Returns
        -------
        ndarray of shape (N, n, degree)

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the kernel is not fitted.
        ValueError
            If X has another number of columns than the fitted rows.
        """
        if not hasattr(self, "means_"):
            raise NotFittedError("This AnovaKernel is not fitted: AnovaKernel(degree).fit(X) gives it its data.")
        if X.shape[1] != len(self.centre_):
            raise ValueError(f"X has {X.shape[1]} features, but AnovaKernel was fitted with {len(self.centre_)}.")
        z = (X - self.centre_) / self.scale_
        result: Floats = z[:, :, None] ** np.arange(1, self.degree + 1) - self.means_
        return result

    @property
    def weights(self) -> Floats:
        """The weights of the products of powers in k_i, (degree,): binomial coefficients."""
        return np.array([comb(self.degree, a) for a in range(1, self.degree + 1)], dtype=np.float64)

    def _gram(self, X: Floats, Y: Floats) -> Floats:
        left, right = self.powers(X) * self.weights, self.powers(Y)
        gram = np.ones((len(X), len(Y)))
        for i in range(X.shape[1]):
            gram *= 1 + left[:, i] @ right[:, i].T
        return gram

    def _diagonal(self, X: Floats) -> Floats:
        result: Floats = np.prod(1 + self.powers(X) ** 2 @ self.weights, axis=1)
        return result

    def __sklearn_clone__(self) -> Self:
        return copy.deepcopy(self)


def _check(kernel: Any) -> None:
    """Raise an error for parameters that give no positive semi-definite kernel."""
    degree = kernel.degree
    if not isinstance(degree, int | np.integer) or isinstance(degree, bool) or degree < 1:
        raise ValueError(f"degree must be a positive integer, got {degree!r}.")
    for name in ("gamma", "coef0"):
        if not 0 <= getattr(kernel, name, 0.0) < np.inf:
            raise ValueError(f"{name} must be a non-negative number, got {getattr(kernel, name)!r}.")
