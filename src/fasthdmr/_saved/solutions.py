"""The components of each output in a file: their coefficients with respect to the columns of the dictionary."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array

from fasthdmr._saved.archive import Archive, Writer
from fasthdmr._saved.fields import Fields, Refused
from fasthdmr._solve.hierarchy import Solution


def write_solution(solution: Solution, output: int, n_given: int | None, out: Writer) -> dict[str, Any]:
    """Return the document of one output, and add its arrays.

    Parameters
    ----------
    solution : Solution
    output : int
    n_given : int or None
        The number of columns of a black box that is not saved. They become one column, whose values are not known.
    out : Writer
    """
    weights, black_box = without_columns(solution.weights, n_given), solution.black_box
    if n_given is not None:
        black_box = csc_array(([1.0], [1], [0, 1]), shape=(weights.shape[0], 1))
    write_matrix(weights, f"outputs/{output}/weights", out)
    write_matrix(black_box, f"outputs/{output}/black_box", out)
    out.add(f"outputs/{output}/variance", solution.variance)
    out.add(f"outputs/{output}/covariance", solution.covariance)
    out.add(f"outputs/{output}/coef", solution.coef)
    return {
        "subspaces": [list(map(int, u)) for u in solution.subspaces],
        "constant": float(solution.constant),
        "total": float(solution.total),
        "rank": None if solution.rank is None else int(solution.rank),
        "is_constant": bool(solution.is_constant),
        "scale": float(solution.scale),
        "alpha": None if solution.alpha is None else float(solution.alpha),
    }


def read_solution(fields: Fields, output: int, n_columns: int, n_variables: int, archive: Archive) -> Solution:
    """Return the components of one output; `n_columns` is the number of columns, the constant included."""
    subspaces = fields.subspaces("subspaces", n_variables)
    name, C = f"outputs/{output}", len(subspaces)
    if (scale := fields.number("scale")) <= 0:
        raise Refused(f"'scale' of {fields.where} must be positive")
    return Solution(
        subspaces=subspaces,
        weights=read_matrix(f"{name}/weights", n_columns, C, archive),
        constant=fields.number("constant"),
        variance=archive.array(f"{name}/variance", [C]),
        covariance=archive.array(f"{name}/covariance", [C]),
        total=fields.number("total"),
        black_box=read_matrix(f"{name}/black_box", n_columns, 1, archive),
        coef=archive.array(f"{name}/coef", [None]),
        rank=None if fields.is_null("rank") else fields.integer("rank"),
        is_constant=fields.flag("is_constant"),
        scale=scale,
        alpha=None if fields.is_null("alpha") else fields.number("alpha"),
    )


def without_columns(weights: csc_array, n_given: int | None) -> csc_array:
    """Return the weights of components in which `n_given` columns without weight have become one; None: the same."""
    if n_given is None:
        return weights
    rows = np.asarray(weights.indices, dtype=np.int64)
    rows = np.where(rows > n_given, rows - n_given + 1, rows)
    return csc_array((weights.data, rows, weights.indptr), shape=(weights.shape[0] - n_given + 1, weights.shape[1]))


def write_matrix(matrix: csc_array, name: str, out: Writer) -> None:
    """Add the arrays of a sparse matrix."""
    out.add(f"{name}/begin", matrix.indptr, "<i8")
    out.add(f"{name}/row", matrix.indices, "<i8")
    out.add(f"{name}/value", matrix.data)


def read_matrix(name: str, n_rows: int, n_columns: int | None, archive: Archive) -> csc_array:
    """Return a sparse matrix; `n_columns` None: any number of columns."""
    values = archive.array(f"{name}/value", [None])
    begin = archive.integers(f"{name}/begin", [None if n_columns is None else n_columns + 1], 0, len(values))
    rows = archive.integers(f"{name}/row", [len(values)], 0, n_rows - 1)
    if len(begin) < 2 - (n_columns == 0) or begin[0] != 0 or begin[-1] != len(values) or (np.diff(begin) < 0).any():
        raise Refused(f"'{name}/begin' must ascend from 0 to the number of values")
    return csc_array((values, rows, begin), shape=(n_rows, len(begin) - 1))
