"""The explanation of one prediction: the values of all components at one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from fasthdmr._support.optional import require
from fasthdmr._support.outputs import with_unit
from fasthdmr._support.shown import Shown, ShownInNotebooks
from fasthdmr._support.subspaces import Subspace, subspace_names, subspace_text
from fasthdmr._support.text import level_name
from fasthdmr._support.typing import Floats

if TYPE_CHECKING:
    from fasthdmr.plotting import WaterfallDisplay


_MOST_PRINTED, _MOST_IN_HTML = 40, 20


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(ShownInNotebooks):
    """The HDMR of the output at one row: f(x) = f_0 + sum of f_u(x) + r(x), the largest terms first.

    All numbers but the values of variables are in the units of the output.

    Attributes
    ----------
    subspaces : list of tuple of int, length C
        The subspaces of the components, sorted by the magnitude of their contributions.
    variables : list of tuple of str, length C
        The names of their variables.
    values : list of tuple, length C
        The values of these variables in the row. Of categorical variables, levels: None stands for missing values. Of
        a group of columns, a tuple.
    contributions : ndarray of float64, shape (C,)
        The component functions at the row.
    intercept : float
        The constant f_0.
    residual : float or None
        The residual at the row; None without a black box that can be evaluated.
    output : float or None
        The output of the black box: the sum of `intercept`, `contributions` and `residual`.
    unit : str
        What they are, such as "log-odds"; "" in the units of the target, or not known.
    feature_names : tuple of str, or None
        The names of all variables; None: of those that have a component.
    target : str
        What the output is of: a class in quotes, the name of y or of the output; "" if not known.

    Examples
    --------
    >>> from fasthdmr._results.explanation import Explanation
    >>> e = Explanation([(1,), (0, 1)], [("income",), ("age", "income")], [(2.0,), (30.0, 2.0)],
    ...                 np.array([0.5, -0.25]), intercept=1.0, residual=0.125, output=1.375)
    >>> print(e)
    Subspace  Variables     Values  Contribution     Sum
    ----------------------------------------------------
              f0                          1.0000  1.0000
    (1,)      income        2             0.5000  1.5000
    (0, 1)    age & income  30 & 2       -0.2500  1.2500
              Residual                    0.1250  1.3750
    ----------------------------------------------------
              Output                      1.3750       -
    """

    subspaces: list[Subspace]
    variables: list[tuple[str, ...]]
    values: list[tuple[Any, ...]]
    contributions: Floats
    intercept: float
    residual: float | None
    output: float | None
    unit: str = ""
    feature_names: tuple[str, ...] | None = None
    target: str = ""

    @property
    def names(self) -> list[str]:
        """The names of the variables of each subspace, such as "Latitude & Longitude"."""
        present = dict(zip(chain(*self.subspaces), chain(*self.variables), strict=True))
        return subspace_names(self.subspaces, self.feature_names or present)

    def to_frame(self) -> Any:
        """Return all terms as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            Columns subspace, names, values, contribution. The first row is f_0, with the empty subspace. The
            components follow. The last row is the residual, if it is known, with subspace None. Subspaces are text,
            such as "0 & 2", and so are the values of several variables; the attributes of these names have the tuples.

        Raises
        ------
        ImportError
            If pandas is not installed (extra ``frame``).
        """
        pandas = require("pandas", extra="frame")
        first = ("", "f0", "", self.intercept)
        last = [] if self.residual is None else [(None, "residual", "", self.residual)]
        values = map(_as_cell, self.values)
        subspaces = map(subspace_text, self.subspaces)
        terms = zip(subspaces, self.names, values, self.contributions.tolist(), strict=True)
        return pandas.DataFrame([first, *terms, *last], columns=["subspace", "names", "values", "contribution"])

    def plot(self, *, ax: Any = None) -> WaterfallDisplay:
        """Draw the terms and their cumulative sum as a waterfall chart.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default, the axes of a new figure.

        Returns
        -------
        display : fasthdmr.plotting.WaterfallDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra ``plot``).
        """
        from fasthdmr.plotting import WaterfallDisplay

        return WaterfallDisplay(self).plot(ax=ax)

    def __str__(self) -> str:
        return str(self._table(_MOST_PRINTED))

    def _shown(self) -> list[Shown]:
        return [self._table(_MOST_IN_HTML)]

    def _table(self, most: int) -> Shown:
        """Return the table of the strongest terms."""
        terms: list[tuple[Any, str, str, float]] = [("", "f0", "", self.intercept)]
        for u, name, values, term in zip(self.subspaces, self.names, self.values, self.contributions, strict=True):
            terms.append((u, name, " & ".join(map(level_name, values)), float(term)))
        terms, rest = terms[: 1 + most], terms[1 + most :]
        if rest:
            terms.append(("", f"{len(rest)} weaker", "", sum(term for *_, term in rest)))
        last, output = "Prediction", self.output
        if self.residual is not None:
            terms.append(("", "Residual", "", self.residual))
            last = "Output"
        sums = np.cumsum([term for *_, term in terms]).tolist()
        rows = [(*term, total) for term, total in zip(terms, sums, strict=True)]
        columns = ("Subspace", "Variables", "Values", "Contribution", "Sum")
        foot = ("", with_unit(last, self.unit), "", sums[-1] if output is None else output, None)
        return Shown(columns, rows, [foot], bar="Contribution", without_bar=1)


def _as_cell(values: Sequence[Any]) -> Any:
    """Return the values of a subspace as a cell of a data frame: the value itself, or several as text.

    Examples
    --------
    >>> _as_cell((1.5,)), _as_cell(("red", (0.25, None)))
    (1.5, 'red & 0.25 & missing')
    """
    columns = [value for own in values for value in (own if isinstance(own, tuple) else (own,))]
    if len(columns) == 1:
        return columns[0]
    return " & ".join("missing" if value is None else str(value) for value in columns)
