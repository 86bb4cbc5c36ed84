"""Fitted models from files, without running code that a file brings along unless the user trusts it."""

from __future__ import annotations

import json
import math
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import joblib
import sklearn
from sklearn.exceptions import InconsistentVersionWarning

from fasthdmr._support.optional import require

T = TypeVar("T")

# skops leaves these out of what it trusts because scikit-learn walks their nodes unchecked, so that a forged
# file can crash `predict`. fasthdmr never lets scikit-learn walk them: it copies and checks every index.
_TREE_TYPES = [
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
]

# Follows the name of the attribute at once in a pickle, after some lines in the schema of a skops file.
_VERSION = re.compile(rb"_sklearn_version.{1,250}?(\d+\.\d+(?:\.\d+)?(?:\.?(?:rc|dev|post)\d+)?)", re.DOTALL)


# What pickles and the files of joblib's compressors begin with. A pickle of protocol 0 or 1 has no mark of its own, but
# that of an object begins with the name of a function.
_PICKLE = re.compile(
    rb"\x80[\x02-\x05]|c[\w.]+\r?\n[\w.]+\r?\n|x[\x01\x5e\x9c\xda]|\x1f\x8b|BZh|\xfd7zXZ|\x5d\x00|\x04\"M\x18|ZF0x"
)

UNPACK_LIMIT = 4e9
"""Bytes that the members of a skops file may unpack to."""

_VALUE = 200  # bytes of Python objects that a bracket or comma of JSON can stand for: an empty dict and its place
# Bytes that are unpacked at once: of deflate so many come out, of others they go in. A block of bzip2 takes 40 bytes
# and can hold 46 MB.
_PIECE = 4096
_OTHER_PIECE = 64


def load_model(path: Path, *, trust: bool = False, unpack_limit: float = UNPACK_LIMIT) -> Any:
    """Load a fitted model from a skops file or, if it is trusted, from a pickle or joblib file.

    Parameters
    ----------
    path : Path
    trust : bool, default=False
        Load pickle and joblib files, and types in skops files that skops does not know: either can run code.
    unpack_limit : float
        Bytes that the members of a skops file may unpack to, each counted as often as it is read.

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
        if path.exists() and not path.is_dir():
            raise ValueError(f"{path} is a pipe or a device, but a model is read from a file.")
        raise FileNotFoundError(f"There is no file {path}.")
    is_skops = _is_skops(path, trust)
    if is_skops:
        _check_archive(path, unpack_limit)
    skops_io = require("skops.io", extra="cli") if is_skops else None
    with warnings.catch_warnings():
        warnings.simplefilter("error", InconsistentVersionWarning)
        try:
            return _read_skops(skops_io, path, trust) if is_skops else joblib.load(path)
        except _UntrustedError:
            raise
        except Exception as error:  # a foreign file can fail in any way
            version = _version_of_writer(path, is_skops)
            if version not in (None, sklearn.__version__):
                raise ValueError(
                    f"{path} was written by scikit-learn {version}, installed is {sklearn.__version__}: "
                    f"save the model again with {sklearn.__version__}, or install {version}."
                ) from error
            raise ValueError(f"{path} cannot be loaded: {error!r}.") from error


class _UntrustedError(ValueError):
    """A skops file holds types that neither skops nor fasthdmr trusts."""


def _is_skops(path: Path, trust: bool) -> bool:
    """Return whether this is a skops file, or else a pickle; refuse what is neither, and pickles without trust."""
    with path.open("rb") as file:
        start = file.read(1000)
    if _PICKLE.match(start):
        if trust:
            return False
        raise ValueError(
            f"{path} is no skops file. Pickle and joblib files can run any code when they are loaded: "
            "pass --trust if you trust who made it."
        )
    if zipfile.is_zipfile(path):
        if "schema.json" in _read_archive(path, zipfile.ZipFile.namelist):
            return True
        what = "a zip file, but no skops file, which would hold a schema.json"
    elif start.startswith(b"PK"):
        what = "no skops file: it begins like one, but its end is missing"
    else:
        what = "no skops, pickle or joblib file"
    raise ValueError(
        f"{path} cannot be loaded: {path.name} is {what}. MODEL is a fitted scikit-learn model, saved by "
        "skops.io.dump; files in the formats of other libraries, such as xgboost's .json, are not read."
    )


def _read_skops(skops_io: Any, path: Path, trust: bool) -> Any:
    unknown = [name for name in skops_io.get_untrusted_types(file=path) if name not in _TREE_TYPES]
    if unknown and not trust:
        raise _UntrustedError(
            f"{path} holds types that are not trusted: {', '.join(unknown)}. "
            "They can run any code: pass --trust if you trust who made the file."
        )
    return skops_io.load(path, trusted=[*_TREE_TYPES, *unknown])


def _check_archive(path: Path, limit: float) -> None:
    """Refuse a skops file whose members are encrypted, or unpack to more than the limit or than they say."""
    sizes = _read_archive(path, _declared_sizes)
    _check_size(path, sum(sizes.values()), limit)
    _read_archive(path, _check_declared)
    schema = _read_archive(path, _schema)
    objects = _VALUE * sum(map(schema.count, (b"{", b"[", b",")))
    _check_size(path, sum(sizes.values()) + objects, limit)
    used: Counter[str] = Counter()

    def note(node: dict[str, Any]) -> None:
        used[str(node.get("file"))] += 1

    _read_archive(path, lambda _: json.loads(schema, object_hook=note))
    _check_size(path, sum(size * max(1, used[name]) for name, size in sizes.items()) + objects, limit)


def _check_size(path: Path, size: float, limit: float) -> None:
    if size > limit:
        raise ValueError(
            f"{path} would unpack to {size / 1e9:.3g} GB, more than the limit of {limit / 1e9:.3g} GB. "
            f"If you trust who made it, raise the limit: --unpack-limit {math.ceil(size / 1e9)}."
        )


def _schema(archive: zipfile.ZipFile) -> bytes:
    return archive.read("schema.json")


def _declared_sizes(archive: zipfile.ZipFile) -> dict[str, int]:
    """Return the bytes that members say they unpack to."""
    return {member.filename: max(member.file_size, member.compress_size) for member in archive.infolist()}


def _check_declared(archive: zipfile.ZipFile) -> None:
    """Unpack what is compressed piece by piece, to nowhere: the size that it says it has may be a lie."""
    for member in archive.infolist():
        if member.compress_type == zipfile.ZIP_STORED:
            continue
        declared = member.file_size
        member.file_size = declared + 1  # zipfile reads no further than it is told
        piece = _PIECE if member.compress_type == zipfile.ZIP_DEFLATED else _OTHER_PIECE
        with archive.open(member) as content:
            content.MIN_READ_SIZE = piece  # type: ignore[attr-defined]
            if sum(map(len, iter(partial(content.read, piece), b""))) > declared:
                raise zipfile.BadZipFile(f"{member.filename!r} is larger than it says")


def _read_archive(path: Path, read: Callable[[zipfile.ZipFile], T]) -> T:
    """Return what `read` finds in a zip file; a damaged one can fail in any way."""
    try:
        with zipfile.ZipFile(path) as archive:
            return read(archive)
    except Exception as error:
        raise ValueError(f"{path} cannot be loaded: the zip file is damaged or encrypted ({error}).") from error


def _version_of_writer(path: Path, is_skops: bool) -> str | None:
    """Return the version of scikit-learn that wrote a file, None if it does not say."""
    found = _VERSION.search(_read_archive(path, _schema) if is_skops else path.read_bytes())
    return found[1].decode() if found else None
