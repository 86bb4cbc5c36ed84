"""The warnings of the package, and the one way to raise them: at the line of the caller."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from scipy.linalg import LinAlgWarning

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

P = ParamSpec("P")
D = TypeVar("D", bound="DataclassInstance")

_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # of the whole package


class FastHDMRWarning(UserWarning):
    """Base of all warnings of the package.

    Examples
    --------
    >>> import warnings
    >>> import fasthdmr
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", fasthdmr.ConcurvityWarning)
    """


class ConcurvityWarning(FastHDMRWarning):
    """Concurvity: a main effect is nearly a sum of functions of other variables. Interpret them as one group."""


class ResidualWarning(FastHDMRWarning):
    """The residual has more than a tenth of the variance of the black box, or no order explains enough."""


class PairsWarning(FastHDMRWarning):
    """The weakest pairs of variables are left out of a joint projection, whose size is limited."""


class VariablesWarning(FastHDMRWarning):
    """The weakest variables are left out of a joint projection, whose size is limited."""


class LevelsWarning(FastHDMRWarning):
    """The rarest levels of a categorical variable are merged in some spans, whose size is limited."""


class ConstantWarning(FastHDMRWarning):
    """The output is constant, so its indices are 0."""


class RankWarning(FastHDMRWarning, LinAlgWarning):
    """Columns are collinear or nearly so, and components are not unique or not exact."""


class UnknownLevelsWarning(FastHDMRWarning):
    """Rows hold levels of categorical variables that were not seen in fit. Components of spans are 0 there."""


_REMEMBERED: ContextVar[list[str] | None] = ContextVar("remembered", default=None)
_SILENCED: ContextVar[tuple[type[Warning], ...]] = ContextVar("silenced", default=())


@contextmanager
def silenced(category: type[FastHDMRWarning]) -> Iterator[None]:
    """Do not raise the package's warnings of a category in a block.

    `warnings.catch_warnings` replaces the filters of the process. If blocks of two threads overlapped, the filters of
    one of them would stay.

    Examples
    --------
    >>> with silenced(RankWarning):
    ...     warn("Columns are collinear.", RankWarning)
    """
    token = _SILENCED.set((*_SILENCED.get(), category))
    try:
        yield
    finally:
        _SILENCED.reset(token)


@contextmanager
def remembered() -> Iterator[list[str]]:
    """Collect the messages of the package's warnings in a block, whatever filters do with the warnings.

    Examples
    --------
    >>> with remembered() as messages, warnings.catch_warnings(action="ignore"):
    ...     warn("The output is constant.", ConstantWarning)
    >>> messages
    ['The output is constant.']
    """
    messages: list[str] = []
    token = _REMEMBERED.set(messages)
    try:
        yield messages
    finally:
        _REMEMBERED.reset(token)


def remembers_warnings(function: Callable[P, D]) -> Callable[P, D]:
    """Decorate a function that returns a dataclass, whose field `warnings` gets the messages that were given."""

    @wraps(function)
    def remembering(*args: P.args, **keywords: P.kwargs) -> D:
        with remembered() as messages:
            result = function(*args, **keywords)
        return replace(result, warnings=tuple(messages))

    return remembering


def warn(message: str | Warning, category: type[Warning]) -> None:
    """Raise a warning at the first line outside the package: the one that the user can change.

    Parameters
    ----------
    message : str or Warning
    category : type
    """
    if issubclass(category, _SILENCED.get()):
        return
    messages = _REMEMBERED.get()
    if messages is not None and issubclass(category, FastHDMRWarning) and str(message) not in messages:
        messages.append(str(message))
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HOME):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
