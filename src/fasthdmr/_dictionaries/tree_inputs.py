"""The columns that trees read, as functions of variables whose levels are replaced by codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fasthdmr._support.subspaces import Subspace, embed
from fasthdmr._support.typing import Floats


@dataclass(frozen=True, eq=False)
class TreeInputs:
    """The numbers that trees read in place of the codes of levels.

    Spans read the codes of a data set's `Encoding`. A model has codes of its own. Rows hold the variables, followed by
    the columns that the trees read.

    Attributes
    ----------
    n_variables : int
    tables : dict of int to ndarray of shape (L + 1,)
        For each categorical variable, the number that trees read at each code. The last one is for unknown levels.
    is_alone : bool
        Whether rows hold only what the trees read.
    """

    n_variables: int
    tables: Mapping[int, Floats]
    is_alone: bool = False

    @classmethod
    def of(cls, codes: Floats, inputs: Floats, n_levels: Mapping[int, int], *, is_alone: bool) -> TreeInputs:
        """Look up the numbers that trees read at rows in which all levels occur.

        Parameters
        ----------
        codes : ndarray of shape (N, n)
            Rows with codes in place of levels.
        inputs : ndarray of shape (N, n)
            What trees read at these rows.
        n_levels : dict of int to int
            The number of levels of each categorical variable.
        is_alone : bool

        Examples
        --------
        >>> TreeInputs.of(np.array([[0.0], [1.0]]), np.array([[7.0], [3.0]]), {0: 2}, is_alone=True).tables
        {0: array([ 7.,  3., nan])}
        """
        tables = {j: np.full(count + 1, np.nan) for j, count in n_levels.items()}
        for j, table in tables.items():
            table[codes[:, j].astype(np.int64)] = inputs[:, j]
            table[-1] = np.nan
        return cls(codes.shape[1], tables, is_alone)

    def embed(self, subspace: Subspace, values: Floats) -> Floats:
        """Return rows of the decomposition with the given values of the variables of a subspace, and 0 elsewhere."""
        codes = embed(subspace, values, self.n_variables)
        inputs = np.array(codes, dtype=np.float64)
        for j, table in self.tables.items():
            inputs[:, j] = table[codes[:, j].astype(np.int64)]
        return inputs if self.is_alone else np.hstack([codes, inputs])
