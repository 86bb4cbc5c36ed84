"""The Ishigami function and its exact HDMR (spec 8)."""

from __future__ import annotations

import numpy as np

A, B = 7.0, 0.1


def sample(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows uniform on [-pi, pi]^3 and the function there."""
    X = np.random.default_rng(seed).uniform(-np.pi, np.pi, (n_rows, 3))
    return X, np.sin(X[:, 0]) + A * np.sin(X[:, 1]) ** 2 + B * X[:, 2] ** 4 * np.sin(X[:, 0])


def main_effects(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return f_1 and f_2 on the rows."""
    return (1 + B * np.pi**4 / 5) * np.sin(X[:, 0]), -A / 2 * np.cos(2 * X[:, 1])


def interaction(X: np.ndarray) -> np.ndarray:
    """Return f_13 at rows of (x1, x3)."""
    return B * (X[:, 1] ** 4 - np.pi**4 / 5) * np.sin(X[:, 0])


def exact_indices() -> dict[tuple[int, ...], float]:
    """Return S_u of the components that are not zero."""
    V1, V2, V13 = (1 + B * np.pi**4 / 5) ** 2 / 2, A**2 / 8, 8 * B**2 * np.pi**8 / 225
    V = V1 + V2 + V13
    return {(0,): V1 / V, (1,): V2 / V, (0, 2): V13 / V}
