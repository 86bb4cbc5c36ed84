"""Smooth approximations of component functions: band-limited Fourier series (spec 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fasthdmr._support.numbers import as_floats
from fasthdmr._support.shown import Shown, ShownInNotebooks
from fasthdmr._support.typing import Floats
from fasthdmr._support.validation import take_columns


@dataclass(frozen=True, eq=False, repr=False)
class FourierSeries(ShownInNotebooks):
    """A zero-mean Fourier series over the range of a variable (spec 5).

    Attributes
    ----------
    low, high : float
        The range of the variable, which is one period.
    coef : ndarray of float64, shape (1 + 2 * degree,) or (1 + 2 * degree, K)
        The coefficients of 1, of the cosines and of the sines, by rising frequency.
    name : str
        The name of the variable; "" if it has none.

    Examples
    --------
    >>> FourierSeries(0.0, 1.0, np.array([0.0, 0.0, 2.0]))([0.25, 0.5]).round(6) + 0.0
    array([2., 0.])
    """

    low: float
    high: float
    coef: Floats
    name: str = ""

    def _shown(self) -> list[Shown]:
        outputs = self.coef.reshape(len(self.coef), -1)
        of = ["" if outputs.shape[1] == 1 else f"[{k}]" for k in range(outputs.shape[1])]
        rows = [("0", *(cell for c in outputs[0].tolist() for cell in (c, None)))]
        for t in range(1, self.degree + 1):
            pairs = outputs[[t, t + self.degree]].T.tolist()
            rows.append((str(t), *(cell for pair in pairs for cell in pair)))
        heads = [f"{head}{k}" for k in of for head in ("cosine", "sine")]
        title = f"Fourier series{f' of {self.name}' if self.name else ''} on [{self.low:.4g}, {self.high:.4g}]"
        return [Shown(("frequency", *heads), rows, title=title)]

    @property
    def degree(self) -> int:
        """The highest frequency."""
        return (len(self.coef) - 1) // 2

    def __call__(self, values: ArrayLike) -> Floats:
        """Evaluate the series at values of the variable, (N,) or (N, 1). Return (N,) or (N, K).

        Raises
        ------
        ValueError, TypeError
            If `values` has another shape or name, or its entries are not numbers.
        """
        x = take_columns(values, [self.name], "the series") if self.name else as_floats(values, "values")
        if x.ndim != 1 and x.shape[1:] != (1,):
            raise ValueError(f"A Fourier series takes values of shape (N,) or (N, 1), got {x.shape}.")
        x = x.reshape(-1)
        result: Floats = columns(x, self.low, self.high, self.degree) @ self.coef
        return result


def columns(x: Floats, low: float, high: float, degree: int) -> Floats:
    """Return the columns 1, cosines and sines up to a degree, (N, 1 + 2 * degree)."""
    angle = 2 * np.pi * (x - low)[:, None] / (high - low) * np.arange(1, degree + 1)
    return np.column_stack([np.ones(len(x)), np.cos(angle), np.sin(angle)])


def project(component: Any, x: Floats, weights: Floats, degree: int) -> FourierSeries:
    """Project a function of one variable on zero-mean Fourier series, in L² of a weighted sample (spec 5).

    Parameters
    ----------
    component : callable
        The function; it maps (N, 1) to (N,) or (N, K).
    x : ndarray of shape (N,)
        Values of the variable; missing ones are ignored.
    weights : ndarray of shape (N,)
    degree : int

    Returns
    -------
    FourierSeries

    Raises
    ------
    ValueError
        If `degree` is not a positive integer, or the variable is constant.

    Examples
    --------
    >>> x = np.linspace(0, 1, 101)
    >>> series = project(lambda v: np.sin(2 * np.pi * v[:, 0]), x, np.ones(101), 2)
    >>> series.coef.round(6) + 0.0
    array([0., 0., 0., 1., 0.])
    """
    if not isinstance(degree, int | np.integer) or degree < 1:
        raise ValueError(f"degree must be a positive integer, got {degree!r}.")
    present = np.isfinite(x) & (weights > 0)
    x, weights = x[present], weights[present] / weights[present].sum()
    if len(x) == 0 or x.min() == x.max():
        raise ValueError("A Fourier series needs a variable with at least two different values; this one is constant.")
    low, high = float(x.min()), float(x.max())
    design, values = columns(x, low, high, degree), component(x[:, None])
    # Centred columns give a series of mean zero under the measure. The constant is minus the mean of the other terms.
    means = weights @ design
    root = np.sqrt(weights)[:, None]
    flat = values.reshape(len(x), -1)
    coef = np.linalg.lstsq(root * (design - means)[:, 1:], root * (flat - weights @ flat), rcond=None)[0]
    coef = np.vstack([-means[1:] @ coef, coef])
    return FourierSeries(low, high, coef[:, 0] if values.ndim == 1 else coef)
