"""Readers of fitted kernel machines, f(x) = b + sum_s xi_s K(x, x_s) (spec 6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import index
from typing import Any

import numpy as np
from numpy.polynomial import polynomial
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from sklearn.utils.validation import check_is_fitted

from fasthdmr._kernel_machines.affine_steps import Affine, read_steps
from fasthdmr._support.groups import Groups
from fasthdmr._support.typing import Floats
from fasthdmr.kernels import AnovaKernel, FourierKernel, PolynomialKernel


@dataclass(frozen=True)
class Multiple:
    """The kernel factor * K + constant, K a Fourier or ANOVA kernel.

    Attributes
    ----------
    kernel : FourierKernel or AnovaKernel
    factor, constant : float
    """

    kernel: FourierKernel | AnovaKernel
    factor: float = 1.0
    constant: float = 0.0


KernelForm = Floats | Multiple
"""A kernel that `KernelHDMR` accepts: the coefficients of a polynomial in t·t', (degree + 1,), or a `Multiple`."""

_MACHINES = (SVR, NuSVR, SVC, NuSVC, OneClassSVM)


@dataclass(frozen=True, eq=False)
class Machine:
    """A kernel machine f(x) = intercept + sum_s coef_s K(t(x), points_s).

    Attributes
    ----------
    kernel : KernelForm
    points : ndarray of shape (S, m)
        The support vectors t(x_s), the second arguments of the kernel.
    coef : ndarray of shape (S, K)
        The dual coefficients xi, one column for each output.
    intercept : ndarray of shape (K,)
    affine : Affine
        The map t from x to the argument of the kernel.
    n_features : int
        The number of variables of x.
    feature_names : tuple of str or None
    several : bool
        Whether the outputs of the machine are two-dimensional.
    groups : Groups or None
        The columns of x that each variable of the decomposition consists of. None: each column is one.
    """

    kernel: KernelForm
    points: Floats
    coef: Floats
    intercept: Floats
    affine: Affine
    n_features: int
    feature_names: tuple[str, ...] | None = None
    several: bool = False
    groups: Groups | None = None

    def variables(self, columns: Iterable[int]) -> list[int]:
        """Return the variables that columns of x belong to."""
        variable = range(self.n_features) if self.groups is None else self.groups.of_columns()
        return [variable[j] for j in columns]


def read_machine(model: Any) -> Machine:
    """Read a fitted kernel machine, or a pipeline that ends in one.

    The kernel must be polynomial, a Fourier kernel or an ANOVA kernel. Its parameters are those of the fitted machine:
    gamma="scale" and the like are resolved.

    Raises
    ------
    TypeError
        If the model is not a kernel machine.
    ValueError
        If its kernel or a preprocessing step is of another kind. The message states the remedy.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    """
    if isinstance(model, FrozenEstimator):
        return read_machine(model.estimator)
    if hasattr(model, "best_estimator_"):
        return read_machine(model.best_estimator_)
    if isinstance(model, Pipeline):
        machine = _read_pipeline(model)
    else:
        machine = _read_alone(model)
    names = getattr(model, "feature_names_in_", None)
    return machine if names is None else replace(machine, feature_names=tuple(map(str, names)))


def _read_pipeline(model: Pipeline) -> Machine:
    machine = read_machine(model.steps[-1][1])
    before = read_steps([step for _, step in model.steps[:-1]])
    if before is None:
        return machine
    first = next(step for _, step in model.steps if step is not None and not isinstance(step, str))
    return replace(machine, affine=machine.affine.after(before), n_features=first.n_features_in_, feature_names=None)


def _read_alone(model: Any) -> Machine:
    if not isinstance(model, (*_MACHINES, KernelRidge, GaussianProcessRegressor)):
        raise TypeError(
            f"KernelHDMR takes a fitted SVR, NuSVR, SVC, NuSVC, OneClassSVM, KernelRidge or GaussianProcessRegressor, "
            f"or a Pipeline that ends in one, got {type(model).__name__}. fasthdmr.HDMR decomposes any fitted model."
        )
    check_is_fitted(model)
    if isinstance(model, _MACHINES):
        return _read_svm(model)
    if isinstance(model, KernelRidge):
        gamma = 1 / model.n_features_in_ if model.gamma is None else model.gamma  # the default of the pairwise kernel
        kernel = _form(model.kernel, model.degree, gamma, model.coef0)
        return _machine(model, kernel, model.X_fit_, model.dual_coef_, 0.0)
    kernel = _form_of_object(model.kernel_)
    scale, mean = model._y_train_std, model._y_train_mean
    return _machine(model, kernel, model.X_train_, model.alpha_ * scale, mean)


def _read_svm(model: Any) -> Machine:
    if len(getattr(model, "classes_", ())) > 2:
        raise ValueError(
            f"This {type(model).__name__} has {len(model.classes_)} classes: it predicts by a vote of machines, one "
            "for each pair of classes, and a vote is not a sum of kernels. Fit a binary machine for each class, or use "
            "fasthdmr.HDMR(model)."
        )
    kernel = _form(model.kernel, model.degree, model._gamma, model.coef0)
    points = model.support_vectors_
    if callable(model.kernel):  # scikit-learn stores all rows then, not the support vectors
        points = model._BaseLibSVM__Xfit[model.support_]
    return _machine(model, kernel, points, _dense(model.dual_coef_)[0], model.intercept_)


def _machine(model: Any, kernel: KernelForm, points: Any, coef: Any, intercept: Any) -> Machine:
    points, coef = _dense(points), np.asarray(coef, dtype=np.float64)
    columns = coef[:, None] if coef.ndim == 1 else coef
    return Machine(
        kernel,
        points,
        columns,
        np.broadcast_to(np.asarray(intercept, dtype=np.float64), columns.shape[1]),
        Affine.identity(points.shape[1]),
        points.shape[1],
        several=columns.shape[1] > 1,
    )


def _dense(values: Any) -> Floats:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)


def _form(kernel: Any, degree: Any, gamma: Any, coef0: Any) -> KernelForm:
    """Return the kernel of a machine, which is given by name or as an object."""
    if not isinstance(kernel, str):
        return _form_of_object(kernel)
    if kernel == "linear":
        return np.array([0.0, 1.0])
    if kernel in ("poly", "polynomial"):
        if degree != int(degree):
            raise ValueError(f"The degree of the polynomial kernel must be an integer, got {degree!r}.")
        return _power(np.array([coef0, gamma], dtype=np.float64), int(degree))
    if kernel == "precomputed":
        raise ValueError(
            "With kernel='precomputed' the kernel function is unknown. Fit the machine with the kernel itself, by name "
            "or as one of fasthdmr.kernels."
        )
    raise ValueError(_REFUSED.format(repr(kernel)))


def _form_of_object(kernel: Any) -> KernelForm:
    """Return the form of a kernel object. A Fourier or ANOVA kernel may be combined with constants only."""
    if isinstance(kernel, FourierKernel | AnovaKernel):
        return Multiple(kernel)
    if isinstance(kernel, PolynomialKernel):
        return _power(np.array([kernel.coef0, kernel.gamma], dtype=np.float64), kernel.degree)
    if isinstance(kernel, gp.DotProduct):
        return np.array([kernel.sigma_0**2, 1.0])
    if isinstance(kernel, gp.ConstantKernel):
        return np.array([float(kernel.constant_value)])
    if isinstance(kernel, gp.WhiteKernel):  # it is 0 between different rows
        return np.zeros(1)
    if isinstance(kernel, gp.Sum | gp.Product):
        parts = [_form_of_object(kernel.k1), _form_of_object(kernel.k2)]
        polynomials = [part for part in parts if not isinstance(part, Multiple)]
        if len(polynomials) == 2:
            combine = polynomial.polyadd if isinstance(kernel, gp.Sum) else polynomial.polymul
            return np.asarray(combine(*polynomials))
        if len(polynomials) == 1 and len(polynomials[0]) == 1:
            other, constant = next(part for part in parts if isinstance(part, Multiple)), float(polynomials[0][0])
            if isinstance(kernel, gp.Sum):
                return replace(other, constant=other.constant + constant)
            return Multiple(other.kernel, other.factor * constant, other.constant * constant)
    if isinstance(kernel, gp.Exponentiation) and kernel.exponent == int(kernel.exponent) >= 0:
        base = _form_of_object(kernel.kernel)
        if not isinstance(base, Multiple):
            return _power(base, int(kernel.exponent))
    raise ValueError(_REFUSED.format(repr(kernel)))


def _power(base: Floats, exponent: int) -> Floats:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        result: Floats = np.asarray(polynomial.polypow(base, index(exponent)), dtype=np.float64)
    if base[-1] != 0 and not np.finfo(float).tiny <= abs(result[-1]) < np.inf:
        raise ValueError(
            f"The kernel's coefficient {base[-1]:g} to the power of {exponent} is out of the range of floats. Scale "
            "the variables before the machine is fitted (a StandardScaler in its pipeline is supported)."
        )
    return result


_REFUSED = (
    "The kernel {} is not supported: KernelHDMR takes linear and polynomial kernels (by name, fasthdmr.kernels."
    "PolynomialKernel, or powers, sums and products of these, DotProduct and ConstantKernel), and FourierKernel or "
    "AnovaKernel, alone or with a ConstantKernel as factor or summand; WhiteKernel may be added to all of them. "
    "fasthdmr.HDMR(model) decomposes any fitted model, by projection of its output on splines."
)
