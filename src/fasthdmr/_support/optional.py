"""Optional packages: imported where they are used, with an error that names the extra."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def require(module: str, *, extra: str) -> Any:
    """Import an optional package.

    Parameters
    ----------
    module : str
        Dotted name of the module.
    extra : str
        The extra of fasthdmr that installs it.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If the package is missing; the message names the command that installs it.

    Examples
    --------
    >>> require("math", extra="plot").sqrt(4.0)
    2.0
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{package} is needed here: pip install 'fasthdmr[{extra}]'") from error


def find(module: str) -> Any:
    """Return an optional package, None if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def is_from(module: str, name: str, value: Any) -> bool:
    """Return whether a value is of a class of an optional package. The package is not imported for that.

    Parameters
    ----------
    module : str
        Dotted name of the module that has the class.
    name : str
        The class.
    value : object

    Examples
    --------
    >>> from decimal import Decimal
    >>> is_from("decimal", "Decimal", Decimal(1)), is_from("decimal", "Decimal", 1)
    (True, False)
    """
    package = sys.modules.get(module)
    return isinstance(value, getattr(package, name, ()))


def is_dask(values: Any) -> bool:
    """Return whether values are a collection of dask.

    Examples
    --------
    >>> is_dask([1.0])
    False
    """
    return is_from("dask.base", "DaskMethodsMixin", values)
