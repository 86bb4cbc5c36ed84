"""The triangle: R of a QR, by products or by reflections, whatever the blocks, threads and parts."""

import numpy as np
import pytest
from tolerance import assert_close

from fasthdmr import _core

EPS = np.finfo(float).eps


def triangle(columns, weights=None, y=None, threads=1):
    return _core.array_triangle(columns, weight=weights, y=y, n_threads=threads)[0]


def nearly_dependent(n_rows, n_columns, near, seed=0):
    """Pairs of columns that differ by a part `near`: their condition is about 1 / near."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n_rows, n_columns))
    columns[:, 1::2] = columns[:, ::2] + near * columns[:, 1::2]
    return columns


def mixtures(n_rows, n_columns, near, seed=0):
    """Columns of which the second half are mixtures of all of the first, but for a part `near`."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n_rows, n_columns))
    half = n_columns // 2
    mixed = columns[:, :half] @ rng.normal(size=(half, n_columns - half)) / np.sqrt(half)
    columns[:, half:] = mixed + near * columns[:, half:]
    return columns


def with_ones(columns):
    return np.column_stack([np.ones(len(columns)), columns])


def exact_triangle(design):
    """R by Gram and Schmidt, twice, in higher precision."""
    Q = design.astype(np.longdouble)
    R = np.zeros((Q.shape[1], Q.shape[1]), dtype=Q.dtype)
    for j in range(len(R)):
        for _ in range(2):
            products = Q[:, :j].T @ Q[:, j]
            R[:j, j] += products
            Q[:, j] -= Q[:, :j] @ products
        R[j, j] = np.sqrt(Q[:, j] @ Q[:, j])
        Q[:, j] /= R[j, j]
    return R


def error(R, exact):
    """Return the norm of (R - exact) times the inverse of the exact one: what components are as wrong as."""
    left = R - exact
    for j in range(len(R)):
        left[:, j] = (left[:, j] - left[:, :j] @ exact[:j, j]) / exact[j, j]
    return float(np.linalg.norm(left.astype(float), 2))


@pytest.mark.parametrize("n_rows", [1, 5, 511, 512, 513, 5000])
def test_triangle_is_the_r_factor(n_rows):
    rng = np.random.default_rng(n_rows)
    columns, weights = rng.normal(size=(n_rows, 7)), rng.uniform(0.5, 2, n_rows)
    R = triangle(columns, weights)
    design = with_ones(columns)
    assert_close(R.T @ R, design.T @ (weights[:, None] * design))
    assert (np.tril(R, -1) == 0).all()
    assert (np.diag(R) >= 0).all()


@pytest.mark.parametrize("make", [nearly_dependent, mixtures])
@pytest.mark.parametrize("near", [0.5, 1e-6])
def test_triangle_does_not_depend_on_threads_or_memory_order(make, near):
    columns = make(30_000, 6, near)
    R = triangle(columns)
    for threads in (2, 3, 4, 8):
        assert np.array_equal(R, triangle(columns, threads=threads))
    assert np.array_equal(R, triangle(np.asfortranarray(columns)))
    assert np.array_equal(R, triangle(np.repeat(columns, 2, axis=1)[:, ::2]))
    assert np.array_equal(R, triangle(np.repeat(np.asfortranarray(columns), 2, axis=0)[::2]))


@pytest.mark.parametrize(("near", "rtol"), [(0.5, 1e-13), (1e-6, 1e-9)])  # eps times the condition
def test_triangles_of_parts_merge(near, rtol):
    columns = nearly_dependent(3000, 6, near)
    parts = np.stack([triangle(columns[:70]), triangle(columns[70:2000]), triangle(columns[2000:])])
    assert_close(_core.merge_triangles(parts), triangle(columns), rtol)


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="long double is no longer than double here")
@pytest.mark.parametrize("condition", [3, 10, 50, 1e2, 1e3, 1e4, 1e8, 1e10])
@pytest.mark.parametrize("n_rows", [1000, 1100, 4000])
@pytest.mark.parametrize("make", [nearly_dependent, mixtures])
def test_the_error_of_the_triangle_grows_with_the_condition(make, condition, n_rows):
    columns = make(n_rows, 40, 2 / condition)
    design = with_ones(columns)
    found = np.linalg.cond(design / np.linalg.norm(design, axis=0))
    assert condition / 3 < found < 5 * condition
    # Cholesky QR, used up to a condition number of 50 to 100, is allowed a larger error than Householder QR.
    limit = 64 if n_rows >= 1024 and condition <= 100 else 5
    assert error(triangle(columns), exact_triangle(design)) < limit * EPS * found


def test_a_target_in_the_span_of_the_columns_has_no_residual():
    columns = nearly_dependent(4000, 6, 0.5)
    target = columns @ np.arange(1.0, 7.0) - 3
    R = triangle(columns, y=target)
    assert abs(R[-1, -1]) < 1e-12 * np.linalg.norm(target)
    assert_close(np.linalg.solve(R[:-1, :-1], R[:-1, -1]), [-3, 1, 2, 3, 4, 5, 6], 1e-11)


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="long double is no longer than double here")
@pytest.mark.parametrize("make", [nearly_dependent, mixtures])
@pytest.mark.parametrize("near", [0.5, 1e-8])
def test_collinearity_in_the_last_rows_is_noticed(make, near):
    columns = make(20_000, 20, near)
    columns[-3, [4, 13]] = 1e8
    columns[-2, [0, 1]] = 1e8, -1e7
    design = with_ones(columns)
    found = np.linalg.cond(design / np.linalg.norm(design, axis=0))
    assert error(triangle(columns), exact_triangle(design)) < 10 * EPS * found
