"""Columns that transformers make of one numeric variable, and where splits of them cut the variable."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.typing import Floats

Intervals = tuple[tuple[float, float], ...]
GoesLeft = Callable[[Floats], NDArray[np.bool_]]  # of the columns (N, m) at some values

_GRID = 1000
_STEPS = 2.0 ** np.arange(-5, 40)  # beyond the range of the rows, in units of half of it


@dataclass(frozen=True, eq=False)
class Curve:
    """The columns that trees read of a numeric variable, as functions of its values.

    Attributes
    ----------
    values : ndarray of shape (L,)
        The values in the rows, and others between and beyond them; ascending.
    columns : ndarray of shape (L, m)
    missing : ndarray of shape (m,)
        The columns where the variable is missing; NaN if the transformers refuse it.
    read : callable
        Returns the columns (N, m) at values (N,). Raises an error at values that the transformers refuse.
    """

    values: Floats
    columns: Floats
    missing: Floats
    read: Callable[[Floats], Floats]

    @classmethod
    def of(cls, rows: Floats, read: Callable[[Floats], Floats]) -> Curve:
        """Evaluate the columns at the values in the rows, (N,), and where possible on a grid between and beyond."""
        known = np.unique(rows[~np.isnan(rows)])
        if len(known) == 0:
            known = np.zeros(1)
        least, largest = known[0], known[-1]
        with np.errstate(over="ignore"):
            step = _STEPS * (largest / 2 - least / 2 or 1.0)
            parts = [known, np.linspace(least, largest, _GRID), least - step, largest + step]
            if largest - least < _GRID:  # encoders single out whole numbers
                parts.append(np.arange(np.floor(least) - _GRID, largest + _GRID))
        found = [(part, _if_accepted(read, part[np.isfinite(part)])) for part in parts]
        values = np.concatenate([part[np.isfinite(part)] for part, columns in found if columns is not None])
        columns = np.vstack([columns for _, columns in found if columns is not None])
        values, first = np.unique(values, return_index=True)
        missing = _if_accepted(read, np.full(1, np.nan))
        at_missing = np.full(columns.shape[1], np.nan) if missing is None else missing[0]
        return cls(values, columns[first], at_missing, read)

    def intervals(self, splits: Sequence[GoesLeft]) -> list[Intervals]:
        """Return the values of the variable that go left at each split, as closed intervals.

        Between two neighbours that go to different sides, the place of the change is found by bisection. Values between
        that the transformers refuse go right.
        """
        sides = [split(self.columns) for split in splits]
        changes = [np.flatnonzero(side[1:] != side[:-1]) for side in sides]
        ends = np.cumsum([0, *map(len, changes)])
        at = np.concatenate([np.zeros(0, dtype=np.int64), *changes])
        low, high = self.values[at], self.values[at + 1]
        while (is_open := (low < low + (high - low) / 2) & (low + (high - low) / 2 < high)).any():
            middle = np.where(is_open, low + (high - low) / 2, low)
            columns = _if_accepted(self.read, middle)
            if columns is None:
                break
            for k, (split, side, change) in enumerate(zip(splits, sides, changes, strict=True)):
                own = slice(ends[k], ends[k + 1])
                if not is_open[own].any():
                    continue
                stays = split(columns[own]) == side[change]
                low[own] = np.where(stays, middle[own], low[own])
                high[own] = np.where(stays, high[own], middle[own])
        result = []
        for k, side in enumerate(sides):
            first = np.concatenate([[-np.inf], high[ends[k] : ends[k + 1]]])
            last = np.concatenate([low[ends[k] : ends[k + 1]], [np.inf]])
            left = np.arange(len(first)) % 2 == (0 if side[0] else 1)
            result.append(tuple(zip(first[left].tolist(), last[left].tolist(), strict=True)))
        return result


def _if_accepted(read: Callable[[Floats], Floats], values: Floats) -> Floats | None:
    """Return the columns at values, None if the transformers refuse these."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read(values)
    except (TypeError, ValueError):
        return None
