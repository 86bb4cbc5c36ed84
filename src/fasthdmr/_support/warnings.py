"""The warnings of the package, and the one way to raise them: at the line of the caller."""

from __future__ import annotations

import os
import sys
import warnings

from scipy.linalg import LinAlgWarning

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
    """What a variable does can be written as a sum of functions of other variables, nearly: read them as one group."""


class ResidualWarning(FastHDMRWarning):
    """The components leave over more than a tenth of the black box's variance, or no order explains enough."""


class PairsWarning(FastHDMRWarning):
    """Pairs of variables are left out, the weakest: there is no room for all in a joint projection."""


class ConstantWarning(FastHDMRWarning):
    """What is decomposed is constant, so that its indices are 0."""


class RankWarning(FastHDMRWarning, LinAlgWarning):
    """Columns are linearly dependent, or nearly, so that components are not unique or not exact."""


def warn(message: str | Warning, category: type[Warning]) -> None:
    """Raise a warning at the first line outside the package: the one that the user can change.

    Parameters
    ----------
    message : str or Warning
    category : type
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HOME):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
