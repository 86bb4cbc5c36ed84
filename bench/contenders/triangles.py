"""Ways to the R factor of (1, B) on one core: ours, LAPACK's, and Cholesky QR without a check of the condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import lapack
from threadpoolctl import threadpool_limits

from bench.runner import Arrays, Contender
from fasthdmr import _core


def ours(columns: np.ndarray, design: np.ndarray) -> np.ndarray:
    """Compute R as a fit does, for columns in memory."""
    return _core.array_triangle(columns, weight=None, y=None, n_threads=1)[0]


def dgeqrf(columns: np.ndarray, design: np.ndarray) -> np.ndarray:
    """Call LAPACK's blocked Householder QR, without Q."""
    width = design.shape[1]
    return np.triu(lapack.dgeqrf(design, lwork=64 * width)[0][:width])


def numpy_qr(columns: np.ndarray, design: np.ndarray) -> np.ndarray:
    """Do the same through NumPy."""
    return np.linalg.qr(design, mode="r")


def plain_products(columns: np.ndarray, design: np.ndarray) -> np.ndarray:
    """Compute the Cholesky factor of the Gram matrix without a check of the condition number."""
    return np.linalg.cholesky(design.T @ design).T


WAYS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "ours": ours,
    "dgeqrf": dgeqrf,
    "numpy.linalg.qr": numpy_qr,
    "Gram, Cholesky": plain_products,
}


def contenders(columns: np.ndarray, design: np.ndarray, stage: str) -> list[Contender]:
    """Return a row for each way; the design matrix (1, B) is given to those that need it."""

    def running(way: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[Any], np.ndarray]:
        def run(_: Any) -> np.ndarray:
            with threadpool_limits(1, user_api="blas"):
                return way(columns, design)

        return run

    def summary(R: np.ndarray) -> Arrays:
        return {"R": R * np.where(np.diag(R) < 0, -1.0, 1.0)[:, None]}

    return [Contender(name, stage, run=running(way), summary=summary) for name, way in WAYS.items()]
