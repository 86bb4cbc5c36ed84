"""The values of parameters with fixed choices: for annotations, and for checks by ``typing.get_args``."""

from __future__ import annotations

from typing import Literal

SpanBasis = Literal["spline", "bins"]
"""Bases of functions of the variables."""

Basis = Literal["spline", "bins", "trees"]

Combine = Literal["auto", "sum", "ridge"]
"""How several models are combined."""

TreeMeasure = Literal["empirical", "product"]

Normalise = Literal["output", "data"]
"""What indices are divided by the variance of."""

IntervalMethod = Literal["bootstrap", "jackknife"]

LevelSetKind = Literal["T", "R", "I", "X", "P"]

IndicesPicture = Literal["bars", "matrix"]

PairPicture = Literal["map", "surface"]

LevelOrder = Literal["frequency", "effect"]
"""The order of the levels of a categorical variable in pictures."""
