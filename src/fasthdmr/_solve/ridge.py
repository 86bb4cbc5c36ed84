"""Ridge regression from R factors: the coefficients that combine tree columns (spec 4, the paper's F_I)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from fasthdmr import _core
from fasthdmr._solve.hierarchy import RANK_TOLERANCE
from fasthdmr._support.progress import progress
from fasthdmr._support.threads import one_blas_thread
from fasthdmr._support.typing import Floats

DEFAULT_ALPHAS = np.logspace(-6, 4, 11)
"""The default candidates for the penalty, relative to sums of squares of centred, unscaled columns."""

_LARGEST_SVD = 500
"""The most columns for an SVD, which takes 0.2 s then and cannot be interrupted. QR can, and is faster for more."""


def ridge_path(triangle: Floats, alphas: Floats) -> Floats:
    """Return the ridge coefficients for every penalty, with an unpenalised intercept.

    Parameters
    ----------
    triangle : ndarray of shape (b + 2, b + 2)
        R factor of the weighted matrix (1, B, y).
    alphas : ndarray of shape (L,)

    Returns
    -------
    ndarray of shape (1 + b, L)
        Intercepts, then coefficients. The coefficient of a column that is constant up to rounding is 0. If the penalty
        is 0 and columns are collinear, this is the minimum-norm solution.

    Examples
    --------
    >>> R = np.linalg.qr(np.c_[np.ones(4), [0, 1, 2, 3], [1, 3, 5, 7]], mode="r")
    >>> R *= np.sign(np.diag(R))[:, None]
    >>> ridge_path(R, np.array([0.0, 5.0])).round(6)
    array([[1. , 2.5],
           [2. , 1. ]])
    """
    means = triangle[0] / (triangle[0, 0] or 1.0)  # the first entry is 0 if all weights are 0
    columns, target = triangle[1:, 1:-1], triangle[1:, -1]
    varying = np.linalg.norm(columns, axis=0) > RANK_TOLERANCE * np.abs(triangle[0, 1:-1])
    columns = np.where(varying, columns, 0.0)
    solve = _by_svd if len(columns) <= _LARGEST_SVD else _by_qr
    coef = solve(columns, target, alphas)
    return np.vstack([means[-1] - means[1:-1] @ coef, coef])


def _by_svd(columns: Floats, target: Floats, alphas: Floats) -> Floats:
    """Return the coefficients for every penalty, (b, L), by a singular value decomposition."""
    if columns.size == 0:  # no matrix for SciPy before 1.14
        return np.zeros((columns.shape[1], len(alphas)))
    u, s, vt = svd(columns, full_matrices=False, check_finite=False)
    s = np.where(s > np.finfo(float).eps * (len(columns) + 1) * s.max(initial=0.0), s, 0.0)
    squares = s[:, None] ** 2 + alphas
    shrunk = np.divide(s[:, None], squares, out=np.zeros_like(squares), where=squares > 0)
    coef: Floats = vt.T @ (shrunk * (u.T @ target)[:, None])
    return coef


def _by_qr(columns: Floats, target: Floats, alphas: Floats) -> Floats:
    """Return the coefficients for every penalty, (b, L), by a pivoted QR.

    For every penalty, another QR decomposition of its R factor and of the penalty's rows follows.
    """
    tolerance = np.finfo(float).eps * (len(columns) + 1)
    square, own = np.asfortranarray(columns[:-1]), np.ascontiguousarray(target[:-1])  # the last row is 0 except for y
    with one_blas_thread():
        return _core.ridge(square, own, alphas.tolist(), tolerance)


def cross_validate(folds: Floats, alphas: Floats, *, verbose: int = 0) -> Floats:
    """Return the sum of squared errors on left-out folds for every penalty.

    Parameters
    ----------
    folds : ndarray of shape (K, b + 2, b + 2)
        The R factor of (1, B, y) of each fold.
    alphas : ndarray of shape (L,)
    verbose : int
        Whether to show a progress bar.

    Returns
    -------
    ndarray of shape (L,)
    """
    errors = np.zeros(len(alphas))
    with one_blas_thread():
        pairs = zip(folds, _all_but_one(folds), strict=True)
        for fold, rest in progress(pairs, "cross-validation", total=len(folds), verbose=verbose):
            coef = ridge_path(rest, alphas)
            contrast = np.vstack([-coef, np.ones(len(alphas))])  # (1, B, y) @ contrast are the prediction errors
            errors += np.square(fold @ contrast).sum(axis=0)
    return errors


def _all_but_one(folds: Floats) -> Iterable[Floats]:
    """Yield, for each fold, the R factor of all other folds.

    It is merged from the R factors of all folds before and of all folds after, so 3 K merges suffice instead of K².
    """
    after = [folds[-1]]
    for fold in folds[-2:0:-1]:
        after.append(_core.merge_triangles(np.stack([after[-1], fold])))
    yield after[-1]
    before = folds[0]
    for k in range(1, len(folds) - 1):
        yield _core.merge_triangles(np.stack([before, after[-1 - k]]))
        before = _core.merge_triangles(np.stack([before, folds[k]]))
    yield before


def fold_numbers(cv: Any, X: Any, y: Any) -> tuple[NDArray[np.int64] | None, int]:
    """Return the fold of each row, and the number of folds.

    Parameters
    ----------
    cv : int, splitter with a method ``split``, or iterable of (train, test) index arrays
        An int K puts row i into fold i mod K. C++ computes that itself, so `fold` is None then.
    X : array-like of shape (N, n)
    y : array-like of shape (N,) or (N, K)

    Returns
    -------
    fold : ndarray of shape (N,) or None
    n_folds : int

    Raises
    ------
    ValueError
        If there are fewer than 2 folds or fewer rows than folds, or the test sets are not a partition of the rows.
    """
    n_samples = len(X)
    if isinstance(cv, int | np.integer):
        if cv < 2:
            raise ValueError(
                f"k-fold cross-validation requires at least one train/test split by setting cv=2 or more, got cv={cv}."
            )
        if cv > n_samples:
            raise ValueError(
                f"Cannot have number of splits n_splits={cv} greater than the number of samples: n_samples={n_samples}."
            )
        return None, int(cv)
    if not hasattr(cv, "split") and not isinstance(cv, Iterable):
        raise ValueError(f"cv must be an int, a splitter or an iterable of (train, test) splits, got {cv!r}.")
    splits = list(cv.split(np.array(X), np.array(y)) if hasattr(cv, "split") else cv)
    fold = np.full(n_samples, -1, dtype=np.int64)
    seen = 0
    for k, (_, test) in enumerate(splits):
        test = np.asarray(test)
        fold[test] = k
        seen += int(test.sum()) if test.dtype == bool else test.size
    if len(splits) < 2 or seen != n_samples or (fold < 0).any():
        raise ValueError(
            f"cv={cv!r} is not a partition of the {n_samples} rows into two or more test sets. Use KFold, GroupKFold "
            "or another splitter whose test sets hold every row exactly once."
        )
    return fold, len(splits)
