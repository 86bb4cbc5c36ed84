"""Levels of categorical variables in JSON."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Iterable
from typing import Any

from fasthdmr._data.encoding import level_of
from fasthdmr._saved.fields import Fields, Refused
from fasthdmr._support.optional import require


def write_levels(levels: Iterable[Any]) -> list[Any]:
    """Return levels as JSON values: text, numbers, booleans and None as they are, bytes and intervals as objects.

    Raises
    ------
    ValueError
        For a level of another type.

    Examples
    --------
    >>> write_levels(["a", True, 1.5, None, b"x"])
    ['a', True, 1.5, None, {'bytes': 'eA=='}]
    """
    return [_written(level_of(level)) for level in levels]


def _written(level: Any) -> Any:
    if level is None or isinstance(level, str | bool | int) or (isinstance(level, float) and math.isfinite(level)):
        return level
    if isinstance(level, bytes):
        return {"bytes": base64.b64encode(level).decode()}
    if type(level).__name__ == "Interval" and isinstance(level.left, int | float):
        ends = [float(end) if math.isfinite(end) else str(end) for end in (level.left, level.right)]
        return {"interval": ends, "closed": level.closed}
    raise ValueError(
        f"The level {level!r} cannot be saved: levels must be text, finite numbers, booleans, bytes or intervals of "
        "numbers. Give the levels names before the fit."
    )


def read_levels(values: Any, where: str) -> tuple[Any, ...]:
    """Return levels from JSON values."""
    if not isinstance(values, list):
        raise Refused(f"{where} must be a list of levels")
    return tuple(_read(value, where) for value in values)


def read_distinct_levels(values: Any, where: str) -> tuple[Any, ...]:
    """Return distinct levels, at least one."""
    levels = read_levels(values, where)
    if not levels or len(set(levels)) < len(levels):
        raise Refused(f"{where} must be distinct levels")
    return levels


def read_levels_of_columns(fields: Fields, n_columns: int) -> dict[int, tuple[Any, ...]]:
    """Return the levels of each categorical column, from the list "levels"."""
    levels: dict[int, tuple[Any, ...]] = {}
    for each in fields.objects("levels"):
        j = each.integer("column", 0, n_columns - 1)
        if j in levels:
            raise Refused(f"{each.where} is of a column that has levels already")
        levels[j] = read_distinct_levels(each.value("levels"), each.where)
    return levels


def _read(value: Any, where: str) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    fields = Fields(value, where)
    if "bytes" in value:
        try:
            return base64.b64decode(fields.text("bytes"), validate=True)
        except (binascii.Error, ValueError):
            raise Refused(f"'bytes' of {where} must be base64") from None
    given, closed = fields.value("interval"), fields.text("closed")
    ends = [_end(end, where) for end in given] if isinstance(given, list) else []
    if len(ends) != 2 or not ends[0] <= ends[1] or closed not in ("left", "right", "both", "neither"):
        raise Refused(f"{where} must hold intervals with two ascending ends")
    return require("pandas", extra="frame").Interval(*ends, closed=closed)


def _end(value: Any, where: str) -> float:
    if value in ("inf", "-inf") or (isinstance(value, int | float) and not isinstance(value, bool)):
        return float(value)
    raise Refused(f"the ends of intervals of {where} must be numbers, 'inf' or '-inf'")
