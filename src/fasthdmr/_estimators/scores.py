"""R² that neither overflows nor underflows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from fasthdmr._support.numbers import check_numbers
from fasthdmr._support.scale import CONSTANT, Deviations
from fasthdmr._support.typing import Floats
from fasthdmr._support.weights import check_weights


def r_squared(y: Any, prediction: Floats, sample_weight: Any) -> float:
    """Return scikit-learn's R², computed from values scaled to about 1 so that their squares do not overflow.

    A prediction that equals a constant y up to rounding counts as exact.
    """
    if sample_weight is not None:
        check_numbers(sample_weight, "sample_weight")
    values = np.asarray(y)
    weights = None if sample_weight is None else check_weights(sample_weight, prediction)
    if values.dtype.kind == "f" and values.shape == prediction.shape and np.isfinite(values).all():
        given, fitted = values.reshape(len(values), -1), prediction.reshape(len(values), -1)
        target = Deviations.of(given, weights)
        mean, constant = target.mean, target.is_constant
        is_hit = constant & (np.abs(fitted - mean) <= CONSTANT * np.abs(mean)).all(axis=0)
        y = np.where(constant, 0.0, given) / target.scale
        prediction = np.where(is_hit, 0.0, fitted - np.where(constant, mean, 0.0)) / target.scale
    return float(r2_score(y, prediction, sample_weight=weights))
