"""The explanation of one prediction: the values of all components at one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._data.frames import as_typed
from fasthdmr._results.decomposition import Decomposition
from fasthdmr._support.numbers import check_rows_are_there
from fasthdmr._support.optional import require
from fasthdmr._support.outputs import output_index, with_unit
from fasthdmr._support.subspaces import Subspace, subspace_names
from fasthdmr._support.tables import format_rows
from fasthdmr._support.text import level_name
from fasthdmr._support.typing import Floats

if TYPE_CHECKING:
    from fasthdmr.plotting import WaterfallDisplay


_MAX_PRINTED = 40


@dataclass(frozen=True, eq=False)
class Explanation:
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
    residual : float
        The residual at the row.
    output : float
        The output of the black box: the sum of `intercept`, `contributions` and `residual`.
    unit : str
        What they are, such as "log-odds"; "" in the units of the target, or not known.
    feature_names : tuple of str, or None
        The names of all variables; None: of those that have a component.

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
    residual: float
    output: float
    unit: str = ""
    feature_names: tuple[str, ...] | None = None

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
            components follow. The last row is the residual, with subspace None.

        Raises
        ------
        ImportError
            If pandas is not installed (extra ``frame``).
        """
        pandas = require("pandas", extra="frame")
        first, last = ((), "f0", (), self.intercept), (None, "residual", (), self.residual)
        terms = zip(self.subspaces, self.names, self.values, self.contributions.tolist(), strict=True)
        return pandas.DataFrame([first, *terms, last], columns=["subspace", "names", "values", "contribution"])

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
        terms: list[tuple[Any, str, str, float]] = [("", "f0", "", self.intercept)]
        for u, name, values, term in zip(self.subspaces, self.names, self.values, self.contributions, strict=True):
            terms.append((u, name, " & ".join(map(level_name, values)), float(term)))
        terms, rest = terms[: 1 + _MAX_PRINTED], terms[1 + _MAX_PRINTED :]
        if rest:
            terms.append(("", f"{len(rest)} weaker", "", sum(term for *_, term in rest)))
        terms.append(("", "Residual", "", self.residual))
        sums = np.cumsum([term for *_, term in terms]).tolist()
        rows = [(*term, total) for term, total in zip(terms, sums, strict=True)]
        columns = ("Subspace", "Variables", "Values", "Contribution", "Sum")
        return format_rows(columns, rows, [("", with_unit("Output", self.unit), "", self.output, None)])


def explain(
    decomposition: Decomposition,
    row: NDArray[Any],
    values: Sequence[Any],
    black_box: Floats,
    output: int | str | None,
    n_threads: int,
) -> Explanation:
    """Return the explanation of one output at one row.

    Parameters
    ----------
    decomposition : Decomposition
    row : ndarray of shape (1, m)
    values : sequence of length n
        The values of the variables: numbers, and levels of categorical variables.
    black_box : ndarray of shape (1,) or (1, K)
        The values of the black box.
    output : int, str or None
    n_threads : int

    Returns
    -------
    Explanation
    """
    names = decomposition.output_names
    k = output_index(output, len(decomposition.solutions), names)
    f_0 = float(np.atleast_1d(decomposition.intercept)[k])
    terms = decomposition.evaluate(row, n_threads).reshape(-1, len(decomposition.solutions))[:, k]
    value = float(black_box.reshape(-1)[k])
    strongest = np.argsort(-np.abs(terms), kind="stable")
    subspaces, given = [decomposition.subspaces[c] for c in strongest], list(values)
    if decomposition.groups is not None:
        grouped = [tuple(values[j] for j in columns) for columns in decomposition.groups.columns]
        given = [several if len(several) > 1 else several[0] for several in grouped]
    return Explanation(
        subspaces,
        [tuple(decomposition.feature_names[i] for i in u) for u in subspaces],
        [tuple(given[i] for i in u) for u in subspaces],
        terms[strongest],
        intercept=f_0,
        residual=value - (f_0 + float(terms.sum())),
        output=value,
        unit=decomposition.unit,
        feature_names=decomposition.feature_names,
    )


def as_row(x: Any, dtypes: Any = None) -> Any:
    """Return one row, given as a vector, a matrix of one row, a data frame or a Series, in two dimensions.

    Parameters
    ----------
    x : array-like, data frame or Series
    dtypes : Series or None
        The dtypes of the frame that the row of a Series is from. It may have columns of dtype category.

    Raises
    ------
    ValueError
        If there are several rows, or a single number is given.

    Examples
    --------
    >>> as_row([1.0, 2.0]).shape
    (1, 2)
    """
    given = x
    if hasattr(x, "iloc") and np.ndim(x) == 1:  # a row of a pandas frame: its index names the variables
        # Of columns of several dtypes it has objects, pd.NA among them.
        x = x.where(x.notna(), np.nan) if x.dtype.kind == "O" else x
        return as_typed(x.to_frame().T, dtypes)
    check_rows_are_there(x, "x")
    if not hasattr(x, "shape"):
        x = np.asarray(x)
        x = np.array(given, dtype=object) if x.dtype.kind in "US" else x  # numbers next to text would become text
    if len(x.shape) == 0:
        raise ValueError(
            f"Expected one row of the variables, as an array, frame or Series, got {type(given).__name__}."
        )
    if len(x.shape) == 1:
        return np.asarray(x)[None, :]
    if x.shape[0] > 1:
        raise ValueError(
            f"Found array with {x.shape[0]} samples (shape={tuple(x.shape)}) while exactly 1 is explained. "
            "Pass one row, as in X[:1] or X.iloc[[0]]."
        )
    return x
