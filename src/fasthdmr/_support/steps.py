"""Long computations of NumPy and SciPy, divided into steps: Python handles Ctrl-C only between their calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from fasthdmr._support.typing import Floats

_WORK = 1e9  # multiplications per step: about a tenth of a second
_COPIES = 1e7  # numbers copied per step with scattered access to memory


def steps(count: int, work: float, most: float = _WORK) -> Iterator[slice]:
    """Divide `count` elements of equal work into slices whose work is below `most`.

    Examples
    --------
    >>> list(steps(5, 10.0, 20.0))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    size = max(1, int(most / max(work, 1.0)))
    return (slice(start, start + size) for start in range(0, count, size))


def product(left: Floats, right: Any) -> Floats:
    """Return left @ right.

    Examples
    --------
    >>> product(np.eye(2), np.ones((2, 1)))
    array([[1.],
           [1.]])
    """
    result = np.empty((len(left), right.shape[1]))
    for rows in steps(len(left), float(right.shape[0]) * right.shape[1]):
        result[rows] = left[rows] @ right
    return result


def gram(left: Floats, right: Floats) -> Floats:
    """Return left.T @ right.

    Examples
    --------
    >>> gram(np.ones((3, 1)), np.ones((3, 1)))
    array([[3.]])
    """
    result = np.zeros((left.shape[1], right.shape[1]))
    for rows in steps(len(left), float(left.shape[1]) * right.shape[1]):
        result += left[rows].T @ right[rows]
    return result


def solve_unit_triangle(triangle: Floats, right: Floats) -> Floats:
    """Return the solution of a unit upper triangular system.

    Examples
    --------
    >>> solve_unit_triangle(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[5.0], [1.0]]))
    array([[3.],
           [1.]])
    """
    result = np.empty(right.shape, order="F")
    for columns in steps(right.shape[1], float(triangle.size)):
        result[:, columns] = solve_triangular(triangle, right[:, columns], unit_diagonal=True)
    return result


def take_columns(matrix: NDArray[Any], order: Sequence[int]) -> NDArray[Any]:
    """Return the columns in the given order, in Fortran order; the matrix itself if it has this order already.

    Examples
    --------
    >>> take_columns(np.eye(2), [1, 0])
    array([[0., 1.],
           [1., 0.]])
    """
    if matrix.flags.f_contiguous and list(order) == list(range(matrix.shape[1])):
        return matrix
    result = np.empty((len(matrix), len(order)), dtype=matrix.dtype, order="F")
    for rows in steps(len(matrix), float(len(order)), _COPIES):
        result[rows] = matrix[rows][:, order]
    return result
