"""Categorical columns of a dictionary, replaced by centred indicators of their levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._data.encoding import FROM_DTYPE, Encoding
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.typing import Floats


@dataclass(frozen=True, eq=False)
class Indicators:
    """The indicators that take the place of the categorical columns of a dictionary.

    A categorical column has one for each level but the most frequent, as the indicators of all levels sum to the
    constant. Each is centred by its mean over the fitted rows. With the constant, they span the same functions as the
    indicators of all levels. An unknown level, at which all are 0, counts as the mean over the rows.

    Attributes
    ----------
    encoding : Encoding
        The levels of each categorical column.
    means : dict of int to ndarray
        The means of the indicators of each categorical column.

    Examples
    --------
    >>> columns = np.array([["a", 1.5], ["b", 2.5], ["b", 0.5], ["b", 1.0]], dtype=object)
    >>> encoding = encoding_of(columns)
    >>> codes = encoding.encode(columns).astype(float)
    >>> Indicators.of(encoding, codes, None).replace(codes)[:2]
    array([[ 0.75,  1.5 ],
           [-0.25,  2.5 ]])
    """

    encoding: Encoding
    means: dict[int, Floats]

    @classmethod
    def of(cls, encoding: Encoding, columns: NDArray[Any], weights: Floats | None) -> Indicators:
        """Compute the means, for columns (N, b) with codes in place of levels."""
        means = {
            j: np.average(_indicators(columns[:, j], n), axis=0, weights=weights) for j, n in encoding.counts.items()
        }
        return cls(encoding, means)

    def replace(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return columns (N, b), which hold codes, with indicators in place of categorical columns."""
        if not self.means:
            return columns
        blocks = []
        for j in range(columns.shape[1]):
            block = columns[:, [j]]
            if j in self.means:
                known = block < len(self.encoding.levels[j])
                block = np.where(known, _indicators(block[:, 0], len(self.encoding.levels[j])) - self.means[j], 0.0)
            blocks.append(block)
        return np.hstack(blocks)

    def subspaces(self, given: Sequence[Subspace]) -> list[Subspace]:
        """Return the subspace of each column of `replace`, for those of the given columns."""
        return [u for j, u in enumerate(given) for _ in range(len(self.means.get(j, [0])))]


def encoding_of(columns: Any, categorical_features: Any = FROM_DTYPE, sample_weight: Any = None) -> Encoding:
    """Return the levels of the categorical columns of a dictionary.

    Of columns that are categorical by their dtype, those of booleans without missing values are left out: they are
    indicators themselves.
    """
    found = Encoding.of(columns, categorical_features, sample_weight)
    if not isinstance(categorical_features, str):
        return found
    return Encoding({j: levels for j, levels in found.levels.items() if not set(levels) <= {False, True}})


def _indicators(codes: NDArray[Any], n_levels: int) -> Floats:
    """Return the indicators of the codes 1, 2, … below the number of levels, (N, n_levels - 1); at least one column."""
    result: Floats = (codes[:, None] == np.arange(1, max(n_levels, 2))).astype(np.float64)
    return result
