"""Preprocessing steps of pipelines as affine maps.

A kernel machine in a pipeline is a function of the variables of X only if every step before it maps single variables:
it may shift, scale and select columns. Such steps compose to one affine map.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from fasthdmr._support.typing import Floats


@dataclass(frozen=True, eq=False)
class Affine:
    """An affine map x -> t of single variables, t_j = scale_j x_{columns_j} + shift_j.

    Attributes
    ----------
    columns : ndarray of shape (m,), int64
    scale, shift : ndarray of shape (m,)

    Examples
    --------
    >>> double = Affine(np.array([1]), np.array([2.0]), np.array([0.0]))
    >>> double.after(double.identity(3))(np.array([[1.0, 5.0, 7.0]]))
    array([[10.]])
    """

    columns: NDArray[np.int64]
    scale: Floats
    shift: Floats

    @classmethod
    def identity(cls, n: int) -> Self:
        """Return the identity map of n variables."""
        return cls(np.arange(n), np.ones(n), np.zeros(n))

    def __call__(self, X: Floats) -> Floats:
        """Return t(x) for each row x of X, (N, m)."""
        result: Floats = X[:, self.columns] * self.scale + self.shift
        return result

    def after(self, first: Affine) -> Affine:
        """Return the composition of the two maps: `first` is applied first, then this one."""
        at = self.columns
        return Affine(first.columns[at], self.scale * first.scale[at], self.scale * first.shift[at] + self.shift)

    def gradient(self, points: Floats, n: int) -> Floats:
        """Return the gradients of x -> t(x)·p for each point p, (S, n)."""
        result = np.zeros((n, len(points)))
        np.add.at(result, self.columns, (points * self.scale).T)
        return result.T


def read_steps(steps: list[Any]) -> Affine | None:
    """Return the composition of fitted transformers; None if the list has no transformer."""
    result: Affine | None = None
    for step in steps:
        if step is not None and not isinstance(step, str):
            affine = read_transformer(step)
            result = affine if result is None else affine.after(result)
    return result


def read_transformer(step: Any) -> Affine:
    """Return a fitted transformer as an affine map.

    Raises
    ------
    ValueError
        If the transformer does more than shift, scale and select single columns.
    """
    if isinstance(step, Pipeline):
        result = read_steps([part for _, part in step.steps])
        if result is not None:
            return result
    elif isinstance(step, ColumnTransformer):
        check_is_fitted(step)
        return _read_column_transformer(step)
    elif isinstance(step, SelectorMixin):
        kept = step.get_support(indices=True)
        return Affine(np.asarray(kept, dtype=np.int64), np.ones(len(kept)), np.zeros(len(kept)))
    elif isinstance(step, FunctionTransformer) and step.func is None:
        check_is_fitted(step)
        return Affine.identity(step.n_features_in_)
    elif type(step) in _SCALERS and not getattr(step, "clip", False):
        check_is_fitted(step)
        scale, shift = _SCALERS[type(step)](step)
        n = step.n_features_in_
        return Affine(np.arange(n), np.broadcast_to(scale, n), np.broadcast_to(shift, n))
    raise ValueError(
        f"The step {step!r} of the pipeline is not supported: a step must shift, scale or select single columns "
        "(StandardScaler, MinMaxScaler, MaxAbsScaler and RobustScaler without clipping, ColumnTransformer, selectors), "
        "or components would not be functions of the variables of X. Decompose the last step on the transformed rows "
        "(pipe[-1] on pipe[:-1].transform(X)), or the whole pipeline with fasthdmr.HDMR(pipe)."
    )


def _standard(step: StandardScaler) -> tuple[Any, Any]:
    scale = 1 / step.scale_ if step.with_std else 1.0
    return scale, -step.mean_ * scale if step.with_mean else 0.0


def _robust(step: RobustScaler) -> tuple[Any, Any]:
    scale = 1 / step.scale_ if step.with_scaling else 1.0
    return scale, -step.center_ * scale if step.with_centering else 0.0


_SCALERS: dict[type, Any] = {
    StandardScaler: _standard,
    RobustScaler: _robust,
    MinMaxScaler: lambda step: (step.scale_, step.min_),
    MaxAbsScaler: lambda step: (1 / step.scale_, 0.0),
}


def _read_column_transformer(step: ColumnTransformer) -> Affine:
    """Return the maps of all parts in one, each at the output columns of its part."""
    width = max(piece.stop for piece in step.output_indices_.values())
    result = Affine(np.zeros(width, dtype=np.int64), np.zeros(width), np.zeros(width))
    for name, transformer, _ in step.transformers_:
        place = step.output_indices_[name]
        if place.stop == place.start:
            continue
        indices = np.asarray(step._transformer_to_input_indices[name], dtype=np.int64)
        part = Affine(indices, np.ones(len(indices)), np.zeros(len(indices)))
        if not isinstance(transformer, str):
            part = read_transformer(transformer).after(part)
        weight = (step.transformer_weights or {}).get(name, 1.0)
        result.columns[place] = part.columns
        result.scale[place] = weight * part.scale
        result.shift[place] = weight * part.shift
    return result
