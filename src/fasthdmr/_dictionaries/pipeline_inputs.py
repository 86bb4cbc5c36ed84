"""The columns that trees read behind transformers, as functions of variables whose levels are replaced by codes."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from fasthdmr._data.encoding import with_column
from fasthdmr._forest.front import Front
from fasthdmr._support.subspaces import Subspace, embed
from fasthdmr._support.typing import Floats
from fasthdmr.loaders.curves import Curve


@dataclass(frozen=True, eq=False)
class PipelineInputs:
    """What trees read behind the transformers of a pipeline, for given values of some variables.

    Values of numeric variables go through the transformers. Levels have their outputs in tables.

    Attributes
    ----------
    n_variables : int
    front : Front
    example : data frame or array of shape (1, n_variables)
        A row of X: the other variables have its values.
    tables : dict of int to ndarray of shape (L + 1, m)
        For each categorical variable, the m columns that trees read of it at each code. The last row is for unknown
        levels.
    is_alone : bool
        Whether rows hold one column for each variable (see `one_column_each`).
    """

    n_variables: int
    front: Front
    example: Any
    tables: Mapping[int, Floats]
    is_alone: bool = False

    @classmethod
    def of(
        cls,
        X: Any,
        codes: Floats,
        inputs: Floats,
        levels: Mapping[int, Sequence[Any]],
        front: Front,
        *,
        is_alone: bool = False,
    ) -> PipelineInputs:
        """Look up what trees read at the levels in X.

        Parameters
        ----------
        X : data frame or array of shape (N, n)
        codes : ndarray of shape (N, n)
            The same rows, with codes in place of levels.
        inputs : ndarray of shape (N, p)
            What trees read at these rows.
        levels : dict of int to sequence
            The levels of each categorical variable, by code. All occur in X.
        front : Front
        is_alone : bool
        """
        example = _safe_indexing(X if hasattr(X, "shape") else np.array(X, dtype=object), np.array([0]), axis=0)
        if isinstance(example, np.ndarray) and example.dtype.kind in "biu":
            example = example.astype(np.float64)
        tables = {}
        for j, own in levels.items():
            columns = inputs[:, front.columns_of(j)]
            table = np.full((len(own) + 1, columns.shape[1]), np.nan)
            table[codes[:, j].astype(np.int64)] = columns
            table[-1] = _at_unknown_level(front, example, j, own)
            tables[j] = table
        return cls(codes.shape[1], front, example, tables, is_alone)

    def curves(self, codes: Floats) -> dict[int, Curve]:
        """Return the columns of each numeric variable of which trees read several; `codes` are the rows, (N, n)."""
        numeric = sorted(set(self.front.sources) - set(self.tables))
        several = [j for j in numeric if len(self.front.columns_of(j)) > 1]
        return {j: Curve.of(np.asarray(codes[:, j], dtype=np.float64), partial(self._at, j)) for j in several}

    def _at(self, variable: int, values: Floats) -> Floats:
        """Return what trees read of a numeric variable at its values, (N, m)."""
        rows = _safe_indexing(self.example, np.zeros(len(values), dtype=np.int64), axis=0)
        read = self.front.transform(with_column(rows, variable, values))
        return read[:, self.front.columns_of(variable)].astype(np.float64)

    def embed(self, subspace: Subspace, values: Floats) -> Floats:
        """Return rows of the decomposition, with the given values of the variables of a subspace, (N, n + p)."""
        rows = _safe_indexing(self.example, np.zeros(len(values), dtype=np.int64), axis=0)
        for column, j in enumerate(subspace):
            if j not in self.tables:
                rows = with_column(rows, j, values[:, column])
        inputs = self.front.transform(rows).astype(np.float64)
        for column, j in enumerate(subspace):
            if j in self.tables:
                inputs[:, self.front.columns_of(j)] = self.tables[j][values[:, column].astype(np.int64)]
        codes = embed(subspace, values, self.n_variables)
        return one_column_each(self.front, codes, inputs, self.tables) if self.is_alone else np.hstack([codes, inputs])


def one_column_each(front: Front, codes: Floats, inputs: Floats, categorical: Collection[int]) -> Floats:
    """Return one column for each variable, (N, n).

    It holds the codes of a categorical variable, and what trees read in place of a numeric one; if they read several
    columns, the variable itself.
    """
    rows = np.array(codes, dtype=np.float64)
    for j in set(front.sources) - set(categorical):
        if len(own := front.columns_of(j)) == 1:
            rows[:, j] = inputs[:, own[0]]
    return rows


def _at_unknown_level(front: Front, example: Any, variable: int, levels: Sequence[Any]) -> Any:
    """Return what trees read at a level that is not among those given; NaN where the transformers refuse such."""
    numbers = [level for level in levels if isinstance(level, int | float)]
    level = max(numbers) + 1 if len(numbers) == len(levels) else "an unknown level"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = _safe_indexing(example, np.array([0]), axis=0)
            row = with_column(row, variable, np.array([level], dtype=object))
            return front.transform(row)[0, front.columns_of(variable)]
    except (TypeError, ValueError):
        return np.nan
