"""The explanations of many predictions: the values of all components at rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import index as as_int
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from fasthdmr._data.encoding import level_of
from fasthdmr._data.frames import as_typed
from fasthdmr._results.decomposition import Decomposition
from fasthdmr._results.explanation import Explanation
from fasthdmr._support.groups import Groups
from fasthdmr._support.numbers import as_array_of, check_rows_are_there
from fasthdmr._support.optional import require
from fasthdmr._support.outputs import output_index, with_unit
from fasthdmr._support.shown import Shown, ShownInNotebooks
from fasthdmr._support.subspaces import Subspace, distinct, subspace_names
from fasthdmr._support.typing import Floats

if TYPE_CHECKING:
    from fasthdmr.plotting import ExplanationsDisplay

_MOST_SHOWN = 10


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(ShownInNotebooks, Sequence[Explanation]):
    """The HDMR of the output at several rows: f(x) = f_0 + sum of f_u(x) + r(x). A sequence of `Explanation`.

    ``explanations[i]`` is the explanation of row i, and a slice gives the explanations of some rows. All numbers are
    in the units of the output.

    Attributes
    ----------
    subspaces : list of tuple of int, length C
        The subspaces of the components, in the order of the estimator.
    contributions : ndarray of float64, shape (N, C)
        The component functions at the rows.
    intercept : float
        The constant f_0.
    residual : ndarray of float64, shape (N,), or None
        The residual; None without a black box that can be evaluated.
    output : ndarray of float64, shape (N,), or None
        The output of the black box: the sum of `intercept`, `contributions` and `residual`.
    unit : str
        What they are, such as "log-odds"; "" in the units of the target, or not known.
    feature_names : tuple of str
        The names of all variables.
    columns : list of ndarray of shape (N,)
        The columns of X: numbers, and levels of categorical variables.
    groups : Groups or None
        The columns of each variable. None: each column is one variable.
    index : pandas.Index or None
        The index of the data frame.
    target : str
        What the output is of, for labels: a class in quotes, or the name of y; "" if it is not known.

    Examples
    --------
    >>> import fasthdmr
    >>> X, y = fasthdmr.datasets.make_ishigami(500, random_state=0)
    >>> explanations = fasthdmr.HDMR().fit(X, y).explain(X)
    >>> len(explanations), explanations.contributions.shape
    (500, (500, 6))
    >>> explanations[0].names[:2]
    ['x1', 'x0']
    """

    subspaces: list[Subspace]
    contributions: Floats
    intercept: float
    residual: Floats | None
    output: Floats | None
    unit: str
    feature_names: tuple[str, ...]
    columns: list[NDArray[Any]]
    groups: Groups | None = None
    index: Any = None
    target: str = ""

    @property
    def names(self) -> list[str]:
        """The names of the variables of each subspace, such as "Latitude & Longitude", length C."""
        return subspace_names(self.subspaces, self.feature_names)

    def __len__(self) -> int:
        return len(self.contributions)

    @overload
    def __getitem__(self, key: int) -> Explanation: ...
    @overload
    def __getitem__(self, key: slice) -> Explanations: ...
    def __getitem__(self, key: Any) -> Explanation | Explanations:
        """Return the explanation of a row by its position, or those of some rows by a slice."""
        if isinstance(key, slice):
            return replace(
                self,
                contributions=self.contributions[key],
                residual=None if self.residual is None else self.residual[key],
                output=None if self.output is None else self.output[key],
                columns=[column[key] for column in self.columns],
                index=None if self.index is None else self.index[key],
            )
        try:
            row = as_int(key)
        except TypeError:
            raise TypeError(f"Explanations are indexed by the position of a row or a slice, got {key!r}.") from None
        if not -len(self) <= row < len(self):
            raise IndexError(f"There is no row {row}: {len(self)} rows are explained.")
        return self._of_row(row)

    def _of_row(self, row: int) -> Explanation:
        terms = self.contributions[row]
        strongest = np.argsort(-np.abs(terms), kind="stable")
        subspaces = [self.subspaces[c] for c in strongest]
        values = self._values(row)
        return Explanation(
            subspaces,
            [tuple(self.feature_names[i] for i in u) for u in subspaces],
            [tuple(values[i] for i in u) for u in subspaces],
            terms[strongest],
            intercept=self.intercept,
            residual=None if self.residual is None else float(self.residual[row]),
            output=None if self.output is None else float(self.output[row]),
            unit=self.unit,
            feature_names=self.feature_names,
            target=self.target,
        )

    def _values(self, row: int) -> list[Any]:
        """Return the values of all variables in a row: numbers, levels, and tuples for groups."""
        values = [level_of(v[row]) if v.dtype.kind == "O" else float(v[row]) for v in self.columns]
        if self.groups is None:
            return values
        grouped = [tuple(values[j] for j in columns) for columns in self.groups.columns]
        return [several if len(several) > 1 else several[0] for several in grouped]

    def to_frame(self) -> Any:
        """Return all terms as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            A row for each row of X, with its index. Columns: f0, the components by name, and, if they are known,
            residual and output. The output is the sum of the other columns. If a component has one of these other
            names, the places of both columns are added to their names.

        Raises
        ------
        ImportError
            If pandas is not installed (extra ``frame``).
        """
        pandas = require("pandas", extra="frame")
        known = {"residual": self.residual, "output": self.output}
        last = {name: values for name, values in known.items() if values is not None}
        names = distinct(["f0", *self.names, *last])
        values = np.column_stack([np.full(len(self), self.intercept), self.contributions, *last.values()])
        return pandas.DataFrame(values, columns=names, index=self.index)

    def plot(self, *, ax: Any = None) -> ExplanationsDisplay:
        """Draw the contributions at all rows as a heat map. For a waterfall chart of one row: ``[i].plot()``.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default, the axes of a new figure.

        Returns
        -------
        display : fasthdmr.plotting.ExplanationsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra ``plot``).
        """
        from fasthdmr.plotting import ExplanationsDisplay

        return ExplanationsDisplay(self).plot(ax=ax)

    def _shown(self) -> list[Shown]:
        title = with_unit(f"{len(self):,} explanations", self.unit)
        if not len(self):
            return [Shown((), (), title=title)]
        sizes = np.abs(self.contributions).mean(axis=0)
        strongest, names = np.argsort(-sizes, kind="stable"), self.names
        rows = [
            (names[c], float(sizes[c]), float(self.contributions[:, c].min()), float(self.contributions[:, c].max()))
            for c in strongest[:_MOST_SHOWN]
        ]
        if self.residual is not None:
            r = self.residual
            rows.append(("Residual", float(np.abs(r).mean()), float(r.min()), float(r.max())))
        heads = ("Component", "mean magnitude", "least", "largest")
        hidden = len(strongest) - _MOST_SHOWN
        remarks = [f"({hidden} weaker not shown)"] if hidden > 0 else []
        return [Shown(heads, rows, title=title, remarks=remarks, bar="mean magnitude")]


def explain(
    decomposition: Decomposition,
    rows: NDArray[Any],
    columns: list[NDArray[Any]],
    black_box: Floats | None,
    output: int | str | None,
    n_threads: int,
    index: Any = None,
) -> Explanations:
    """Return the explanations of one output at rows.

    Parameters
    ----------
    decomposition : Decomposition
    rows : ndarray of shape (N, m)
    columns : list of ndarray of shape (N,), length n
        The columns of X: numbers, and levels of categorical variables.
    black_box : ndarray of shape (N,) or (N, K), or None
        The values of the black box.
    output : int, str or None
    n_threads : int
    index : pandas.Index or None

    Returns
    -------
    Explanations
    """
    n_outputs = len(decomposition.solutions)
    k = output_index(output, n_outputs, decomposition.output_names)
    f_0 = float(np.atleast_1d(decomposition.intercept)[k])
    values = decomposition.evaluate(rows, n_threads)
    terms = values if values.ndim == 2 else values[:, :, k]
    box = None if black_box is None else black_box.reshape(len(rows), -1)[:, k].astype(np.float64)
    return Explanations(
        list(decomposition.subspaces),
        terms,
        f_0,
        None if box is None else box - (f_0 + terms.sum(axis=1)),
        box,
        decomposition.unit,
        decomposition.feature_names,
        columns,
        decomposition.groups,
        index,
        decomposition.target_of(k),
    )


def as_rows(X: Any, dtypes: Any = None) -> tuple[Any, bool]:
    """Return rows in two dimensions, and whether they are a single one, which may be a vector or a Series.

    Parameters
    ----------
    X : array-like, data frame or Series
    dtypes : Series or None
        The dtypes of the frame that the row of a Series is from. It may have columns of dtype category.

    Raises
    ------
    ValueError
        If a single number is given.

    Examples
    --------
    >>> rows, is_one = as_rows([1.0, 2.0])
    >>> rows.shape, is_one
    ((1, 2), True)
    """
    given = X
    if hasattr(X, "iloc") and np.ndim(X) == 1:  # a row of a pandas frame: its index names the variables
        # Of columns of several dtypes it has objects, pd.NA among them.
        X = X.where(X.notna(), np.nan) if X.dtype.kind == "O" else X
        return as_typed(X.to_frame().T, dtypes), True
    check_rows_are_there(X, "X")
    X = as_array_of(X)
    if len(X.shape) == 0:
        raise ValueError(f"Expected rows of the variables, as an array, frame or Series, got {type(given).__name__}.")
    if len(X.shape) == 1:
        return np.asarray(X)[None, :], True
    return X, X.shape[0] == 1


def index_of(X: Any) -> Any:
    """Return the index of a data frame of pandas, None for anything else."""
    return X.index if hasattr(X, "iloc") else None
