"""Fitted models from files, without running code that a file brings along unless the user trusts it."""

from __future__ import annotations

import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import joblib
import sklearn
from sklearn.exceptions import InconsistentVersionWarning

from fasthdmr._optional import require

# skops leaves these out of what it trusts because scikit-learn walks their nodes unchecked, so that a forged
# file can crash `predict`. fasthdmr never lets scikit-learn walk them: it copies and checks every index.
_TREE_TYPES = [
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
]

# Follows the name of the attribute at once in a pickle, after some lines in the schema of a skops file.
_VERSION = re.compile(rb"_sklearn_version.{1,250}?(\d+\.\d+(?:\.\d+)?(?:\.?(?:rc|dev|post)\d+)?)", re.DOTALL)


def load_model(path: Path, *, trust: bool = False) -> Any:
    """Load a fitted model from a skops file or, if it is trusted, from a pickle or joblib file.

    Parameters
    ----------
    path : Path
    trust : bool, default=False
        Load pickle and joblib files, and types in skops files that skops does not know: either can run code.

    Returns
    -------
    model

    Raises
    ------
    ValueError
        If the file cannot be loaded, not without trust, or was written by another version of scikit-learn.
    OSError
        If the file cannot be read.
    ImportError
        If skops is needed and not installed (extra ``cli``).

    Examples
    --------
    >>> load_model(Path("no-such-file.skops"))
    Traceback (most recent call last):
        ...
    FileNotFoundError: There is no file no-such-file.skops.
    """
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    is_skops = _schema(path) is not None
    if not is_skops and not trust:
        raise ValueError(
            f"{path} is no skops file. Pickle and joblib files can run any code when they are loaded: "
            "pass --trust if you trust who made it."
        )
    skops_io = require("skops.io", extra="cli") if is_skops else None
    with warnings.catch_warnings():
        warnings.simplefilter("error", InconsistentVersionWarning)
        try:
            return _read_skops(skops_io, path, trust) if is_skops else joblib.load(path)
        except _UntrustedError:
            raise
        except Exception as error:  # a foreign file can fail in any way
            version = _version_of_writer(path)
            if version not in (None, sklearn.__version__):
                raise ValueError(
                    f"{path} was written by scikit-learn {version}, installed is {sklearn.__version__}: "
                    f"save the model again with {sklearn.__version__}, or install {version}."
                ) from error
            raise ValueError(f"{path} cannot be loaded: {error!r}.") from error


class _UntrustedError(ValueError):
    """A skops file holds types that neither skops nor fasthdmr trusts."""


def _read_skops(skops_io: Any, path: Path, trust: bool) -> Any:
    unknown = [name for name in skops_io.get_untrusted_types(file=path) if name not in _TREE_TYPES]
    if unknown and not trust:
        raise _UntrustedError(
            f"{path} holds types that are not trusted: {', '.join(unknown)}. "
            "They can run any code: pass --trust if you trust who made the file."
        )
    return skops_io.load(path, trusted=[*_TREE_TYPES, *unknown])


def _schema(path: Path) -> bytes | None:
    """Return the schema of a skops file, None if the file is none."""
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        return archive.read("schema.json") if "schema.json" in archive.namelist() else None


def _version_of_writer(path: Path) -> str | None:
    """Return the version of scikit-learn that wrote a file, None if it does not say."""
    found = _VERSION.search(_schema(path) or path.read_bytes())
    return found[1].decode() if found else None
