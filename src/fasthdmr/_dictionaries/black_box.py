"""Black boxes of which only values are known: fitted models, functions and data."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from sklearn.utils import check_array

from fasthdmr._dictionaries.dictionary import Dictionary
from fasthdmr._dictionaries.models import (
    check_model_is_fitted,
    is_xgboost_booster,
    kind_of_model,
    names_of,
    reads_codes,
)
from fasthdmr._support.numbers import as_floats, check_numbers, holds_numbers, is_number_type
from fasthdmr._support.optional import find
from fasthdmr._support.scale import check_size
from fasthdmr._support.subspaces import embed
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import copy_of

OUTPUTS = ("decision_function", "predict_proba", "predict")
"""The methods that give a model's output. The first one that the model has is used."""


_NO_OUTPUT = {
    "clusterer": "its predict returns cluster numbers, and an average of cluster numbers has no meaning. Pass a "
    "function of X, such as a column of model.transform: the distance to a centre",
    "classifier": "it has neither decision_function nor predict_proba, and its predict returns labels, of which an "
    "average has no meaning. Pass a function of X that returns a score",
}


class Output:
    """The numerical output of a fitted model or of a function.

    Parameters
    ----------
    model : fitted estimator or callable
    methods : sequence of str
        The names of methods that give the output. The first one that the model has is used. A model without any of
        them is called itself.

    Attributes
    ----------
    method : str
        The name of the method that is used; "" for a function.
    unit : str
        "score" of a decision function, "probability" of a classifier without one; "" if it is not known.

    Raises
    ------
    TypeError
        If the model is neither an estimator nor callable.
    ValueError
        If its output is labels.
    sklearn.exceptions.NotFittedError
        If the model is an estimator that is not fitted.

    Notes
    -----
    The model gets a copy of X at each call, because functions, and models with steps such as
    ``StandardScaler(copy=False)``, may write into their argument. A read-only view is no substitute: such functions
    would fail, and so would compiled functions that ask for a writable buffer without writing to it.
    """

    def __init__(self, model: Any, methods: Sequence[str] = OUTPUTS) -> None:
        if not hasattr(model, "predict"):
            if not callable(model):
                raise TypeError(f"model must be a fitted estimator or a function of X, got {type(model).__name__}.")
        elif hasattr(model, "fit"):
            check_model_is_fitted(model)
        self.model = model
        self.method = next((name for name in methods if hasattr(model, name)), "")
        kind = kind_of_model(model)
        if self.method == "predict" and kind in _NO_OUTPUT:
            raise ValueError(
                f"model must be a fitted regressor or classifier with scores, got {type(model).__name__}, a {kind}: "
                f"{_NO_OUTPUT[kind]}."
            )

    @property
    def unit(self) -> str:
        return {"decision_function": "score", "predict_proba": "probability"}.get(self.method, "")

    def __call__(self, X: Any) -> Floats:
        """Return the output at the rows of X, (N,) or (N, K)."""
        function = getattr(self.model, self.method) if self.method else self.model
        found = self._call(function, self._as_fitted(X))
        check_numbers(found, "the model's output", remedy="Pass a function of X that returns numbers.")
        with np.errstate(invalid="ignore"):  # check_array tests the sum for NaN, and a sum may overflow
            # A copy, since a function may reuse the returned array for its next call.
            values = check_array(found, ensure_2d=False, dtype=np.float64, copy=True, input_name="the model's output")
        if values.shape[0] != len(X) or values.ndim > 2:
            raise ValueError(
                f"The model's output must have shape (N,) or (N, K), got {values.shape} for {len(X)} rows."
            )
        check_size(values, "The model's output")
        if hasattr(self.model, "predict_proba") and values.ndim == 2 and values.shape[1] == 2:
            values = values[:, 1]
        result: Floats = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
        return result

    def _call(self, function: Any, rows: Any) -> Any:
        if not reads_codes(self.model):
            return function(rows)
        with warnings.catch_warnings():  # LightGBM reads arrays as codes, but warns that they have no names
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return function(rows)

    def _as_fitted(self, X: Any) -> Any:
        """Return a copy of the rows as the model takes them."""
        rows = self._named(X) if isinstance(X, np.ndarray) else self._frame(X)
        if not is_xgboost_booster(self.model):
            return rows
        if not isinstance(rows, np.ndarray):
            return find("xgboost").DMatrix(rows, enable_categorical=True)
        names, types = self.model.feature_names, self.model.feature_types
        return find("xgboost").DMatrix(rows, feature_names=names, feature_types=types)

    def _frame(self, X: Any) -> Any:
        """Return a data frame. Models fitted without names would warn of names, so they get an array."""
        is_unnamed = hasattr(self.model, "n_features_in_") or is_xgboost_booster(self.model)
        if is_unnamed and names_of(self.model) is None and holds_numbers(X):
            return as_floats(X, "X").copy()
        return copy_of(X)

    def _named(self, X: NDArray[Any]) -> Any:
        """Return an array, as a data frame if the model was fitted with names and pandas is installed."""
        names, takes_codes = names_of(self.model), reads_codes(self.model)
        pandas = None if names is None or len(names) != X.shape[1] else find("pandas")
        if pandas is None or (takes_codes and X.dtype.kind != "O"):
            return X.copy(order="K")
        frame = pandas.DataFrame(X, columns=names, copy=True)
        if X.dtype.kind != "O":
            return frame
        frame = frame.infer_objects()
        texts = [name for name in names if takes_codes and not is_number_type(frame.dtypes[name])]
        return frame.astype(dict.fromkeys(texts, "category"))


class FunctionDictionary(Dictionary):
    """A dictionary of one column: a black box f of which only values are known.

    Parameters
    ----------
    output : Output or None
        None if the black box is data y, which has no values at new rows.
    n_features : int
    has_levels : bool
        Whether rows hold codes of levels, which the black box does not take.
    """

    def __init__(self, output: Output | None, n_features: int, *, has_levels: bool = False) -> None:
        self.output = output
        self.n_features = n_features
        self.has_levels = has_levels

    def evaluate(self, rows: Any, output: int, weights: csc_array, n_threads: int) -> Floats:
        """Return the product of the columns (1, f) at the rows and the weights, (N, C)."""
        if self.output is None:
            raise ValueError(
                "The decomposition was fitted to data y, so there is no model to evaluate at new rows. Compare y with "
                "predict(X), or use score(X, y)."
            )
        if self.has_levels:
            raise ValueError(
                "Rows hold codes of levels, which the model does not take. Use predict(X) + residual(X) of the "
                "estimator, with X as in fit."
            )
        values = self.output(rows).reshape(len(rows), -1)[:, output]
        result: Floats = np.column_stack([np.ones(len(rows)), values]) @ weights
        return result

    def embed(self, subspace: Sequence[int], values: Floats) -> Floats:
        """Return rows with the given values of the variables in `subspace`; the other variables are set to 0."""
        return embed(subspace, values, self.n_features)
