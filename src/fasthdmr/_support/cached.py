"""Values that are computed at first access and cached."""

from __future__ import annotations

import functools
from typing import Any, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(functools.cached_property[T]):
    """A `functools.cached_property` that holds no lock, as from Python 3.12 on.

    Python 3.11 holds one lock for all instances while a value is computed; a process forked meanwhile waits for that
    lock for ever. Here two threads may compute a value at the same time; both get the one that is stored first.

    Examples
    --------
    >>> class Data:
    ...     @cached_property
    ...     def rows(self):
    ...         return [1, 2]
    >>> data = Data()
    >>> data.rows is data.rows
    True
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Self | T:
        if instance is None:
            return self
        value: T = instance.__dict__.setdefault(self.func.__name__, self.func(instance))
        return value


def with_values(instance: T, **values: Any) -> T:
    """Return an object after its cached properties were given their values, so that these are not computed.

    Examples
    --------
    >>> class Data:
    ...     @cached_property
    ...     def rows(self):
    ...         return [1, 2]
    >>> with_values(Data(), rows=[3]).rows
    [3]
    """
    instance.__dict__.update(values)
    return instance
