"""Checked access to the entries of a JSON document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fasthdmr._support.subspaces import Subspace

LARGEST = 2**53
"""The largest integer in a document."""


class Refused(ValueError):
    """A file is not a saved decomposition, or it is damaged. The message completes "FILE cannot be loaded: ..."."""


class Fields:
    """The entries of an object of the document.

    Parameters
    ----------
    values : object
        It must be a dict.
    where : str
        The name of the object in errors.
    """

    def __init__(self, values: Any, where: str) -> None:
        if not isinstance(values, dict):
            raise Refused(f"{where} must be an object")
        self._values, self.where = values, where

    def value(self, name: str) -> Any:
        """Return an entry of any type."""
        if name not in self._values:
            raise Refused(f"{self.where} has no {name!r}")
        return self._values[name]

    def is_null(self, name: str) -> bool:
        """Return whether an entry is null."""
        return self.value(name) is None

    def text(self, name: str) -> str:
        """Return a text."""
        return str(self._checked(name, _is_text, "a text"))

    def flag(self, name: str) -> bool:
        """Return true or false."""
        return bool(self._checked(name, lambda v: isinstance(v, bool), "true or false"))

    def number(self, name: str) -> float:
        """Return a finite number."""
        return float(self._checked(name, _is_number, "a number"))

    def integer(self, name: str, low: int = 0, high: int = LARGEST) -> int:
        """Return an integer from `low` to `high`."""
        return int(self._checked(name, lambda v: _is_integer(v, low, high), f"an integer from {low} to {high}"))

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(self._checked(name, lambda v: _is_list(v, _is_text), "a list of texts"))

    def numbers(self, name: str) -> list[float]:
        """Return a list of finite numbers."""
        return [float(v) for v in self._checked(name, lambda v: _is_list(v, _is_number), "a list of numbers")]

    def integers(self, name: str, high: int) -> list[int]:
        """Return a list of integers from 0 to `high`."""
        found = self._checked(name, lambda v: _is_list(v, lambda i: _is_integer(i, 0, high)), "a list of integers")
        return list(found)

    def lists(self, name: str, high: int) -> list[Subspace]:
        """Return a list of lists of integers from 0 to `high`."""

        def is_inner(value: Any) -> bool:
            return _is_list(value, lambda i: _is_integer(i, 0, high))

        found = self._checked(name, lambda v: _is_list(v, is_inner), f"a list of lists of integers up to {high}")
        return [tuple(inner) for inner in found]

    def subspaces(self, name: str, n_variables: int) -> list[Subspace]:
        """Return distinct subspaces: ascending lists of indices of variables, none empty."""
        found = self.lists(name, n_variables - 1)
        if not all(u and list(u) == sorted(set(u)) for u in found) or len(set(found)) < len(found):
            raise Refused(f"{name!r} of {self.where} must be distinct ascending lists")
        return found

    def fields(self, name: str) -> Fields:
        """Return an object."""
        return Fields(self.value(name), f"{name!r} of {self.where}")

    def objects(self, name: str) -> list[Fields]:
        """Return a list of objects."""
        found = self._checked(name, lambda v: isinstance(v, list), "a list of objects")
        return [Fields(value, f"{name}[{k}] of {self.where}") for k, value in enumerate(found)]

    def _checked(self, name: str, is_right: Callable[[Any], bool], kind: str) -> Any:
        value = self.value(name)
        if not is_right(value):
            raise Refused(f"{name!r} of {self.where} must be {kind}")
        return value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_integer(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or _is_integer(value, -LARGEST, LARGEST)


def _is_list(value: Any, is_right: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(is_right, value))
