"""The table of the kinds of basis that estimators take as `basis`, one row for each kind."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BasisKind:
    """One kind of basis.

    Attributes
    ----------
    name : str
        The value of the parameter `basis`.
    is_span : bool
        Whether there are B-splines of one variable and tensor products of several. If not, the columns of the black
        box itself are the basis, and there are no sizes.
    follows_degree : bool
        Whether the B-splines have the degree that the user asks for, instead of degree 0.
    follows_data : bool
        Whether the default sizes are refined where the data show a need of it.
    max_sizes : tuple of int
        The largest default number of B-splines of a variable by order 1, 2, …; the last one holds for higher orders.
    growth : float
        The default number of B-splines at order 1 is the number of rows to this power, up to `max_sizes`.
    """

    name: str
    is_span: bool
    follows_degree: bool = False
    follows_data: bool = False
    max_sizes: tuple[int, ...] = ()
    growth: float = 0.0

    def degree(self, wanted: int) -> int:
        """Return the degree of the B-splines where the user asks for a degree."""
        return wanted if self.follows_degree else 0


_ALL = (
    BasisKind("spline", True, follows_degree=True, follows_data=True, max_sizes=(12, 8, 5, 4, 3), growth=0.3),
    BasisKind("bins", True, max_sizes=(32, 8, 5, 4, 3), growth=0.41),
    BasisKind("trees", False),
)
BASES = {kind.name: kind for kind in _ALL}
SPANS = {kind.name: kind for kind in _ALL if kind.is_span}
