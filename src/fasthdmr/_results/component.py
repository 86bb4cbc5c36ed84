"""Component functions of decompositions and of closed forms (spec 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from fasthdmr._results.arguments import Arguments
from fasthdmr._results.component_table import values_table
from fasthdmr._results.fourier import FourierSeries, project
from fasthdmr._support.choices import LevelOrder, PairPicture
from fasthdmr._support.outputs import output_index
from fasthdmr._support.shown import Shown, ShownInNotebooks
from fasthdmr._support.subspaces import Subspace, subspace_names
from fasthdmr._support.typing import Floats
from fasthdmr._uncertainty.uncertainty import Uncertainty

if TYPE_CHECKING:
    from fasthdmr.plotting import ComponentDisplay


class Source(Protocol):
    """The owner of component functions: a `Decomposition`, or a function with closed-form components."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of all variables."""
        ...

    def component_at(self, subspace: Subspace, values: Floats) -> Floats:
        """Return one component at given values of its variables, (N,) or (N, K)."""
        ...

    def marginal(self, variable: int) -> tuple[Floats, Floats] | None:
        """Return a weighted sample of the law of a variable, values and weights, each (S,); None if unknown."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Component(ShownInNotebooks):
    """One component function f_u.

    Attributes
    ----------
    subspace : tuple of int
        u, the sorted column indices of its variables.
    names : tuple of str
        The names of these variables.
    variance : float or ndarray of float64, shape (K,)
        Var(f_u) under the fitted measure; one value for each output if there are several.
    bounds : ndarray of float64, shape (|u|, 2), or None
        A range for plots of each variable, or column of a group: the 1st and 99th percentile of the fitted rows, or of
        the law of a closed form.
    arguments : tuple of str
        The names of the variables, or of the columns of groups, in the order of the arguments. It is the order in which
        the component was requested: ``component(("s5", "bmi"))`` takes s5 first, though bmi is the first column of the
        two.
    unit : str
        What its values are, such as "log-odds"; "" in the units of the output.
    levels : dict of int to tuple
        The levels of its categorical variables, by column index. None stands for missing values. Arguments of the
        component are levels, not codes. At other levels, which raise a warning, its part in spans is 0.

    Notes
    -----
    Arrays are matched by position. A data frame, or a Series with a name, must have the names in `arguments`, in any
    order; a frame may have other columns. If the variables have the default names x0, x1 and so on, frames with other
    names are matched by position.

    Examples
    --------
    >>> from fasthdmr.analytic import Ishigami
    >>> component = Ishigami().component(1)
    >>> component.names, component.variance
    (('x1',), 6.125)
    >>> component([0.0])
    array([-3.5])
    """

    subspace: Subspace
    names: tuple[str, ...]
    variance: float | Floats
    bounds: Floats | None
    arguments: tuple[str, ...]
    _order: tuple[int, ...] | None  # position in `arguments` of each of `columns`; None: of a dictionary
    _source: Source
    _uncertainty: Uncertainty | None = None
    unit: str = ""
    levels: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)
    _columns_of_X: Subspace | None = None  # sorted; None: those of `subspace`

    @property
    def columns(self) -> Subspace:
        """The sorted columns of X that it depends on: its variables, or the columns of groups."""
        return self.subspace if self._columns_of_X is None else self._columns_of_X

    def __call__(self, values: ArrayLike) -> Floats:
        """Evaluate f_u.

        Parameters
        ----------
        values : array-like, data frame or Series
            Values of the variables in the order of `arguments`, levels for categorical ones: (N, |u|), or (N,) for one
            variable. Or rows of all variables, (N, n). An array of |u| columns has the arguments, also if |u| = n.
            The columns of a data frame are matched by name; it may have further columns. One point is a scalar for one
            variable, an array (|u|,) or (n,) for several, or a row of a data frame as a Series. For
            `fasthdmr.decompose`: the columns of the dictionary, (N, b).

        Returns
        -------
        ndarray of float64, shape (N,) or (N, K)
            f_u at the values, in the units of the output. For one point: float64, or an array of shape (K,).

        Raises
        ------
        ValueError, TypeError
            If `values` has another number of columns or other names, or its entries are not numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from fasthdmr import HDMR
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
        >>> hdmr = HDMR(lambda X: X[:, 0] + 4 * X[:, 0] * X[:, 1]).fit(X)
        >>> np.sign(hdmr.component((0, 1))([[0.5, 0.5], [0.5, -0.5]]))
        array([ 1., -1.])
        >>> float(np.sign(hdmr.component(0)(0.5)))
        1.0
        >>> hdmr.component(0)(X).shape
        (2000,)
        """
        points, is_one = self._columns(values)
        result = self._source.component_at(self.subspace, points)
        return result[0] if is_one else result

    def plot(
        self,
        *,
        output: int | str | None = None,
        kind: PairPicture = "map",
        sort: LevelOrder = "frequency",
        ax: Any = None,
    ) -> ComponentDisplay:
        """Draw f_u: a curve or bars for one variable, a map or surface for two.

        Parameters
        ----------
        output : int or str, optional
            Index or name of the output; needed where there are several.
        kind : {"map", "surface"}, default="map"
            How a component of two numeric variables is drawn.
        sort : {"frequency", "effect"}, default="frequency"
            The order of the levels of a categorical variable.
        ax : matplotlib Axes, optional
            By default, the axes of a new figure.

        Returns
        -------
        display : fasthdmr.plotting.ComponentDisplay

        Raises
        ------
        ValueError
            If there are three variables or more, or `output`, `kind` or `sort` is none of those allowed.
        ImportError
            If matplotlib is not installed (extra ``plot``).
        """
        from fasthdmr.plotting import ComponentDisplay

        number = output_index(output, np.size(self.variance), getattr(self._source, "output_names", None))
        return ComponentDisplay([self], output=number, kind=kind, sort=sort).plot(ax=ax)

    def standard_error(self, values: ArrayLike) -> Floats:
        """Return the pointwise standard error of f_u, for a component of one variable.

        It is the standard deviation of f_u over samples of the same size, for the given black box. A band of two
        standard errors to either side covers the component under the law of the rows at about 95 % of the points.

        Parameters
        ----------
        values : scalar, array-like, data frame or Series
            Values of the variable, (N,) or (N, 1), or rows of all variables, (N, n), as for a call.

        Returns
        -------
        ndarray of float64, shape (N,) or (N, K)
            Standard errors, in the units of the output. NaN at levels of a single row, which does not show how much
            rows of the level differ.

        Raises
        ------
        ValueError, TypeError
            If the component has several variables, if its measure is not a sample of rows, or if `values` are invalid
            as for a call.

        Examples
        --------
        >>> import numpy as np
        >>> from fasthdmr import HDMR
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
        >>> component = HDMR(lambda X: X[:, 0] + X[:, 0] * X[:, 1]).fit(X).component(0)
        >>> bool((component.standard_error([-0.5, 0.0, 0.5]) < 0.05).all())
        True
        """
        if len(self.arguments) > 1:
            raise ValueError(
                f"standard_error is for components of one variable, got {self._name}. The indices of all "
                "components have confidence intervals: sensitivity_.Sa_conf, .S_conf."
            )
        if self._uncertainty is None:
            raise ValueError(
                f"The component of {self._name} has no standard error: its measure is known exactly, or no sample of "
                "rows was kept. Fit HDMR, KernelHDMR or TreeHDMR with measure='empirical'."
            )
        points, is_one = self._columns(values)
        errors = self._uncertainty.standard_error(self.subspace, points)
        return errors[0] if is_one else errors

    def fourier(self, degree: int = 4) -> FourierSeries:
        """Return a smooth approximation: the projection on zero-mean Fourier series over the variable's range (spec 5).

        The measure of the projection is that of the fitted rows; many rows are thinned evenly. The decomposition does
        not change.

        Parameters
        ----------
        degree : int, default=4
            The highest frequency, in periods over the range of the variable. The default is that of the paper.

        Returns
        -------
        FourierSeries
            A function of values of the variable, (N,) or a data frame.

        Raises
        ------
        ValueError
            If the component has several variables or a categorical one, or `degree` is not a positive integer.

        Examples
        --------
        >>> import numpy as np
        >>> from fasthdmr import HDMR
        >>> X = np.random.default_rng(0).uniform(0, 1, size=(2000, 2))
        >>> component = HDMR(lambda X: np.sin(2 * np.pi * X[:, 0]) + X[:, 1]).fit(X).component(0)
        >>> component.fourier(degree=2)([0.25, 0.75]).round(1)
        array([ 1., -1.])
        """
        is_numeric = len(self.subspace) == 1 and not self.levels
        marginal = self._source.marginal(self.subspace[0]) if is_numeric else None
        if marginal is None:
            raise ValueError(f"Only a component of one numeric variable has a Fourier series, got {self._name}.")
        return replace(project(self, *marginal, degree), name=self.names[0])

    def _columns(self, values: Any) -> tuple[Any, bool]:
        """Return the columns in the order of the subspace, and whether a single point was given."""
        if self._order is None:  # the dictionary raises the error for wrong shapes
            return values, False
        groups = getattr(self._source, "groups", None)
        names = self._source.feature_names if groups is None else groups.column_names
        levels = {k: self.levels[j] for j, k in zip(self.columns, self._order, strict=True) if j in self.levels}
        columns = tuple(self.columns[k] for k in np.argsort(self._order))
        points, is_one = Arguments(self.arguments, columns, names, levels).take(
            values, f"the component of {self._name}"
        )
        return points[:, list(self._order)], is_one

    @property
    def _name(self) -> str:
        """The variables in the order of the arguments, as one name."""
        order = (
            range(len(self.subspace))
            if self._order is None or len(self.columns) > len(self.subspace)
            else sorted(range(len(self.subspace)), key=self._order.__getitem__)
        )
        return subspace_names([[self.subspace[k] for k in order]], self._source.feature_names)[0]

    def _shown(self) -> list[Shown]:
        output_names = getattr(self._source, "output_names", None)
        return [values_table(self._name, self, self.columns, self._order, output_names)]
