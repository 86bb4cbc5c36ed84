"""A component as a table of its values, for print and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from fasthdmr._support.outputs import with_unit
from fasthdmr._support.shown import Shown
from fasthdmr._support.subspaces import Subspace
from fasthdmr._support.text import level_name
from fasthdmr._support.typing import Floats

_POINTS = (7, 3)  # of each variable, for components of one and of two
_LEVELS = (10, 3)


def values_table(
    name: str,
    component: Any,
    columns: Subspace,
    order: Sequence[int] | None,
    output_names: Sequence[str] | None,
) -> Shown:
    """Return the values of a component at a few points; without points for three variables and more.

    Parameters
    ----------
    name : str
    component : Component
    columns : tuple of int
        The columns of X that it depends on, ascending.
    order : sequence of int, or None
        The place of each of them among the arguments; None: the component is a function of a dictionary's columns.
    output_names : sequence of str, or None
    """
    title = with_unit(f"Component of {name}", component.unit)
    remark = f"(variance: {_numbers(component.variance)})"
    if order is None or component.bounds is None or len(columns) > 2:
        return Shown((), (), title=title, remarks=[remark])
    points = [_points(component.levels.get(j), low, high, len(columns) - 1) for j, (low, high) in _ranges(component)]
    by_argument = [points[k] for k in np.argsort(order)]
    arguments = list(product(*by_argument))
    values = component(np.array(arguments, dtype=object if component.levels else np.float64))
    heads = ["Value"] if values.ndim == 1 else list(output_names or map(str, range(values.shape[1])))
    rows = [
        (*map(level_name, argument), *row)
        for argument, row in zip(arguments, values.reshape(len(arguments), -1).tolist(), strict=True)
    ]
    return Shown((*component.arguments, *heads), rows, title=title, remarks=[remark], bar=heads[0])


def _ranges(component: Any) -> list[tuple[int, Floats]]:
    return list(zip(component.columns, component.bounds, strict=True))


def _points(levels: tuple[Any, ...] | None, low: float, high: float, place: int) -> list[Any]:
    """Return the most frequent levels, or evenly spaced values of a range."""
    if levels is not None:
        return list(levels[: _LEVELS[place]])
    values: list[Any] = np.unique(np.linspace(low, high, _POINTS[place])).tolist()
    return values


def _numbers(values: Any) -> str:
    return ", ".join(f"{value:.4g}" for value in np.atleast_1d(values))
