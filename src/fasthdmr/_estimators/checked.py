"""Checks of the parameters and data of estimators."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from fasthdmr._data.encoding import FROM_DTYPE, Encoding
from fasthdmr._solve.problem import Kept
from fasthdmr._spans.kinds import BasisKind
from fasthdmr._support.choices import IntervalMethod, Normalise
from fasthdmr._support.groups import Groups
from fasthdmr._support.numbers import as_floats, check_numbers, check_rows_are_there
from fasthdmr._support.outputs import names_of_target
from fasthdmr._support.scale import check_size
from fasthdmr._support.subspaces import Subspace, as_subspace
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import check_kind, check_names, dtypes_of

MAX_DEGREE = 3
_LABELS = (
    "The output of a model cannot be compared with class labels. Use fidelity(X) to compare with the model itself "
    "(TreeHDMR: combine='sum' to decompose the model without refitting)."
)


_TEXT = (
    "Encode it as numbers first, or add the column to categorical_features, or pass categorical_features='from_dtype'."
)


class CheckedEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that checks its parameters, the data of `fit`, and rows. Subclasses set `feature_names_`."""

    feature_names_: tuple[str, ...]
    _groups: Groups | None = None  # the columns of each variable; None: each column is one
    _encoding = Encoding({})  # the levels of categorical variables
    _known_encoding: Encoding | None = None  # the levels that `fit` is to use instead of those in X
    _dtypes: Any = None  # of the columns of the frame of pandas that was fitted
    _target_names: tuple[str, ...] = ()  # of y, where it has them
    _outputs_scores = False  # whether the black box is a classifier: its output is a score, but y holds labels

    def _check_common(self) -> None:
        """Check the parameters common to the estimators with splines."""
        self._check_kept()
        degree = self.degree
        if not isinstance(degree, int | np.integer) or not 0 <= degree <= MAX_DEGREE:
            raise ValueError(f"degree must be an integer from 0 to {MAX_DEGREE}, got {degree!r}.")

    def _check_basis(self, kinds: Mapping[str, BasisKind]) -> None:
        if self.basis not in list(kinds):
            *others, last = map(repr, kinds)
            raise ValueError(f"basis must be {', '.join(others)} or {last}, got {self.basis!r}.")

    def _check_kept(self) -> None:
        """Check the parameters common to all estimators."""
        order, normalise = self.order, self.normalise
        check_kind(self.ci, get_args(IntervalMethod), name="ci")
        if normalise not in get_args(Normalise):
            raise ValueError(f"normalise must be 'output' or 'data', got {normalise!r}.")
        if order is not None and (not isinstance(order, int | np.integer) or order < 1):
            raise ValueError(f"order must be a positive integer or None, got {order!r}.")

    def _targets_of(self, y: Any) -> Floats:
        """Return y as floating point numbers; raise an error if it holds class labels."""
        check_numbers(y, "y", remedy=_LABELS)
        targets = as_floats(y, "y")
        if self._outputs_scores and np.array_equal(targets, np.round(targets)):
            raise ValueError(
                f"y holds whole numbers only, but the output of the black box is a classifier's score. {_LABELS}"
            )
        return targets

    def _check_data(
        self, X: Any, y: Any, *, numeric: bool, needed_for: str = "", labels: bool = False
    ) -> tuple[NDArray[Any], Any]:
        """Check X, and y if it is given.

        Parameters
        ----------
        X : array-like or data frame of shape (N, n)
        y : array-like of shape (N,) or (N, K), or None
        numeric : bool
            Whether y must be converted to floating point.
        needed_for : str
            What y is required for, as named in the error if it is None; "" if it is not required.
        labels : bool
            Whether y may be text.

        Returns
        -------
        X : ndarray of shape (N, n)
        y : ndarray of shape (N,) or (N, K), or None
        """
        self._check_y_is_there(y, needed_for)
        has_list = not isinstance(getattr(self, "categorical_features", FROM_DTYPE), str)
        check_numbers(X, "X", remedy=_TEXT if has_list else "")
        X = self._validated(X, reset=True)
        self._target_names = names_of_target(y)
        return X, self._check_y(X, y, numeric=numeric, needed_for=needed_for, labels=labels)

    def _check_y_is_there(self, y: Any, needed_for: str) -> None:
        if y is None and needed_for:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None. "
                f"It is needed for {needed_for}."
            )

    def _check_y(self, X: NDArray[Any], y: Any, *, numeric: bool, needed_for: str = "", labels: bool = False) -> Any:
        """Check y for the rows X, and return it as an array (arguments: see `_check_data`)."""
        self._check_y_is_there(y, needed_for)
        if y is None:
            return None
        check_numbers(y, "y", labels=labels and not numeric, remedy=_LABELS)
        if self.normalise == "data":
            self._targets_of(y)
        with np.errstate(invalid="ignore"):  # scikit-learn sums the values to check them, which may overflow
            y = check_array(y, ensure_2d=False, dtype=np.float64 if numeric else None, input_name="y")
        if numeric:
            check_size(y, "y")
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        return y

    def _encode(self, X: Any, sample_weight: Any) -> Any:
        """Find the levels of categorical variables, and return rows with codes in place of levels."""
        self._dtypes = dtypes_of(X)
        known = self._known_encoding
        self._encoding = Encoding.of(X, self.categorical_features, sample_weight) if known is None else known
        return self._encoding.encode(X)

    def _set_names(self, column_names: tuple[str, ...]) -> None:
        """Set the names of the variables, which are columns or groups of columns."""
        self._groups = Groups.of(self.feature_groups, column_names)
        self.feature_names_ = column_names if self._groups is None else self._groups.names

    @property
    def _column_names(self) -> tuple[str, ...]:
        return self.feature_names_ if self._groups is None else self._groups.column_names

    def _in_numbers(self, X: Any) -> Any:
        """Return rows with codes in place of the levels of categorical variables."""
        return self._encoding.encode(X)

    def _rows(self, X: Any) -> NDArray[Any]:
        """Return rows as the decomposition takes them."""
        return self._rows_from(X, self._codes(X))

    def _rows_from(self, X: Any, codes: NDArray[Any]) -> NDArray[Any]:
        """Return rows as the decomposition takes them, given X and its numbers, with codes in place of levels."""
        return codes

    def _codes(self, X: Any, *, all_known: bool = False) -> NDArray[Any]:
        """Return rows as numbers, with codes in place of levels. If `all_known`, unknown levels raise an error."""
        check_is_fitted(self)
        check_rows_are_there(X, "X")
        # Names are checked before values. scikit-learn does not check names that are taken from the model.
        check_names(X, self._column_names, may_be_unnamed=not hasattr(self, "feature_names_in_"))
        given, X = X, self._in_numbers(X)
        check_numbers(X, "X")
        rows = self._validated(X, reset=False)
        if not all_known:
            self._encoding.warn_of_unknown(given, rows, self._column_names)
        elif unknown := self._encoding.unknown(given, rows, self._column_names):
            raise ValueError(
                f"X has levels that were not seen when the knots were chosen, such as {unknown}. Pass rows in which "
                "all levels occur as `knots`."
            )
        return rows

    def _validated(self, X: Any, *, reset: bool) -> NDArray[Any]:
        with np.errstate(invalid="ignore"):  # as for y
            rows: NDArray[Any] = validate_data(
                self, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=self._finite()
            )
        return rows

    def _finite(self) -> bool | str:
        return "allow-nan" if self.__sklearn_tags__().input_tags.allow_nan else True

    def _interactions(self) -> set[Subspace]:
        """Return the subspaces listed in the parameter `interactions`."""
        given, example = self.interactions, f"such as [{self.feature_names_[:2]!r}]"
        # An iterator would be exhausted at the second fit.
        if not isinstance(given, Collection | np.ndarray) or isinstance(given, str | bytes | Mapping):
            raise ValueError(f"interactions must be None or a list of subspaces, {example}, got {given!r}.")
        chosen = set()
        for variables in given:
            u = as_subspace(variables, self.feature_names_, what="interactions")
            if len(u) < 2:
                raise ValueError(
                    f"interactions must be a list of subspaces of two or more variables, {example}, got {variables!r} "
                    "in it. Components of one variable are always kept."
                )
            if self.order is not None and len(u) > self.order:
                raise ValueError(f"interactions has {variables!r}, of order {len(u)}, but order={self.order}.")
            chosen.add(u)
        return chosen

    def _kept(self) -> Kept:
        """Return the rule that decides which components are kept."""
        chosen = getattr(self, "interactions", None)
        return Kept(self.order, None if chosen is None else frozenset(self._interactions()))
