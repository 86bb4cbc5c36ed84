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
