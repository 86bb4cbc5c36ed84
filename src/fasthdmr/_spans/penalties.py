"""Ridge regression for all penalties from one factorisation, by Gauss quadrature."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fasthdmr._support.typing import Floats

_STEPS = 12  # for penalties up to 32 times smaller or larger, relative errors of residuals are then some 1e-3


class Quadratures:
    """Quadratic forms of the inverse of A + c D for all c, from solutions for one c.

    Let M = A + C D. In the inner product of M, the operator T = M⁻¹ D is symmetric, and for the vector v = M⁻¹ b
    b' (A + c D)⁻¹ b = <v, (1 + (c - C) T)⁻¹ v>. That is an integral over the spectrum of T. Its Gauss quadrature has
    the eigenvalues of the tridiagonal matrix of Lanczos' method as nodes (Golub and Meurant). Its error is 0 for
    c = C, and grows with the ratio of the two.

    Parameters
    ----------
    solve : callable
        Multiplies columns, (n, m), by the inverse of M.
    centre : float
        C.
    diagonal : ndarray of shape (n,)
        That of D, positive.
    b : ndarray of shape (n, m)
    """

    def __init__(self, solve: Callable[[Floats], Floats], centre: float, diagonal: Floats, b: Floats) -> None:
        self.centre = centre
        v = solve(b)
        self.of_centre = v
        norm = np.sqrt(_products(b, v))
        z, v = _divided(b, norm), _divided(v, norm)
        before, beta = np.zeros_like(z), np.zeros_like(norm)
        tridiagonal = np.zeros((b.shape[1], _STEPS, _STEPS))
        for k in range(_STEPS):
            image = diagonal[:, None] * v
            alpha = _products(v, image)
            tridiagonal[:, k, k] = alpha
            if k + 1 == _STEPS:
                break
            following = image - alpha * z - beta * before
            v = solve(following)
            beta = np.sqrt(_products(following, v))
            tridiagonal[:, k + 1, k] = beta  # eigh reads the lower triangle only
            before, z, v = z, _divided(following, beta), _divided(v, beta)
        self.nodes, vectors = np.linalg.eigh(tridiagonal)
        self.weights = (norm[:, None] * vectors[:, 0]) ** 2

    def at(self, c: float) -> tuple[Floats, Floats]:
        """Return b' (A + c D)⁻¹ b and b' (A + c D)⁻¹ D (A + c D)⁻¹ b, for each column b."""
        share = 1 / (1 + (c - self.centre) * self.nodes)
        return np.sum(self.weights * share, axis=1), np.sum(self.weights * self.nodes * share**2, axis=1)


def _products(a: Floats, b: Floats) -> Floats:
    result: Floats = np.maximum(np.einsum("ij,ij->j", a, b), 0.0)
    return result


def _divided(a: Floats, norm: Floats) -> Floats:
    """Return columns divided by their norms; 0 where the norm is 0, where the Krylov space ends."""
    return a * np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
