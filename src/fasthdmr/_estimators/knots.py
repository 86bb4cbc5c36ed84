"""What estimators have in common whose rows are seen in parts: knots, levels, and example rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from fasthdmr._data.encoding import Encoding
from fasthdmr._spans.basis import Basis

_ROWS = 1_000


@dataclass(frozen=True, eq=False)
class Knots:
    """The knots and levels of a fitted estimator, for estimators whose sums over rows are to be added.

    It can be pickled, and is small: at most about a thousand rows, and one for each level.

    Attributes
    ----------
    X : array-like or data frame of shape (m, n)
        Rows of the fitted data, among them one for each level of each categorical variable. They show the names and
        dtypes of columns, and what trees read at levels.
    y : ndarray of shape (m,) or (m, K), or None
    encoding : Encoding
        The levels of categorical variables.
    plan : object
        The spans with their knots, a `Basis`; for kernel machines the centre and the scale of the variables; else None.
    """

    X: Any
    y: Any
    encoding: Encoding
    plan: Any

    @classmethod
    def of(cls, X: Any, y: Any, codes: NDArray[Any], encoding: Encoding, plan: Any) -> Knots:
        """Choose rows of X with their y; `codes` are the rows with codes in place of levels, (N, n)."""
        chosen = set(range(0, len(codes), -(-len(codes) // _ROWS)))
        for j in encoding.levels:
            chosen |= set(np.unique(codes[:, j], return_index=True)[1].tolist())
        rows = np.array(sorted(chosen))
        given = X if hasattr(X, "shape") else np.array(X, dtype=object if encoding.levels else None)
        return cls(_safe_indexing(given, rows, axis=0), None if y is None else np.asarray(y)[rows], encoding, plan)

    @property
    def basis(self) -> Basis | None:
        """The spans, if there are any."""
        return self.plan if isinstance(self.plan, Basis) else None

    def __repr__(self) -> str:
        parts = [] if self.basis is None else [f"{len(self.basis.subspaces)} spans"]
        if self.encoding.levels:
            parts.append(f"levels of {len(self.encoding.levels)} variables")
        return f"Knots({', '.join([*parts, f'{len(self.X)} example rows'])})"

    def same_as(self, other: Knots) -> bool:
        """Return whether sums for these knots and levels can be added to those for others."""
        if self.encoding.levels != other.encoding.levels or type(self.plan) is not type(other.plan):
            return False
        if isinstance(self.plan, Basis):
            own, others = self.plan.__getstate__(), other.plan.__getstate__()
            return bool(own == others)
        return self.plan is None or all(map(np.array_equal, self.plan, other.plan))
