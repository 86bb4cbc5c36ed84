"""Fitted models from files; code in a file is executed only if the user trusts it."""

from __future__ import annotations

import json
import math
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePath
from typing import Any, TypeVar

import joblib
import sklearn
from sklearn.exceptions import InconsistentVersionWarning

from fasthdmr._support.optional import require
from fasthdmr.loaders.library_files import kind_of_file, read_library_file

T = TypeVar("T")

# skops does not trust these types because scikit-learn does not check the indices of their nodes: a forged file can
# crash `predict`. fasthdmr never evaluates them with scikit-learn; it copies their arrays and checks every index.
# The last one, which scikit-learn 1.6 writes, is a list of columns.
_KNOWN_TYPES = [
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.compose._column_transformer._RemainderColsList",
]

# The version follows the name of the attribute: immediately in a pickle, some lines later in a skops file.
_VERSION = re.compile(rb"_sklearn_version.{1,250}?(\d+\.\d+(?:\.\d+)?(?:\.?(?:rc|dev|post)\d+)?)", re.DOTALL)


# First bytes of pickles and of joblib's compressed files. Pickles of protocol 0 or 1 have no signature, but a pickled
# object begins with the opcode "c" and the name of a function.
_PICKLE = re.compile(
    rb"\x80[\x02-\x05]|c[\w.]+\r?\n[\w.]+\r?\n|x[\x01\x5e\x9c\xda]|\x1f\x8b|BZh|\xfd7zXZ|\x5d\x00|\x04\"M\x18|ZF0x"
)

UNPACK_LIMIT = 4e9
"""Largest total size of the unpacked members of a skops file, in bytes."""

_VALUE = 200  # bytes of memory for each bracket or comma of JSON: an empty dict and the reference to it
# Bytes unpacked at a time: of the output for deflate, of the input for other methods. The latter is small because 40
# bytes of bzip2 can unpack to 46 MB.
_PIECE = 4096
_OTHER_PIECE = 64


def load_model(path: Path, *, trust: bool = False, unpack_limit: float = UNPACK_LIMIT) -> Any:
    """Load a model from a file of its library or of skops or, if it is trusted, from a pickle or joblib file.

    Parameters
    ----------
    path : Path
    trust : bool, default=False
        Load pickle and joblib files, and types in skops files that skops does not trust. Both can run code.
    unpack_limit : float
        Largest total size in bytes of the unpacked members of a skops file; a member counts as often as it is read.

    Returns
    -------
    fitted model, or Forest
        A Forest from files of xgboost, LightGBM and CatBoost.

    Raises
    ------
    ValueError
        If the file is damaged or of another kind, needs `trust`, or was written by another version of scikit-learn.
    TypeError
        If the file holds text, bytes or a path instead of a model.
    OSError
        If the file cannot be read.
    ImportError
        If skops is needed and not installed (extra ``cli``), or catboost.

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
    with path.open("rb") as file:
        start = file.read(1000)
    if kind_of_file(start):
        return read_library_file(path)
    is_skops = _is_skops(path, start, trust)
    if is_skops:
        _check_archive(path, unpack_limit)
    model = _load(path, trust, is_skops)
    if isinstance(model, str | bytes | bytearray | PurePath):  # load_forest would read it as the name of a file
        raise TypeError(f"{path} holds no fitted model, but an object of type {type(model).__name__}.")
    return model


def _load(path: Path, trust: bool, is_skops: bool) -> Any:
    skops_io = require("skops.io", extra="cli") if is_skops else None
    with warnings.catch_warnings():
        warnings.simplefilter("error", InconsistentVersionWarning)
        try:
            return _read_skops(skops_io, path, trust) if is_skops else joblib.load(path)
        except _UntrustedError:
            raise
        except Exception as error:  # loading a file can raise any error
            version = _version_of_writer(path, is_skops)
            if version not in (None, sklearn.__version__):
                raise ValueError(
                    f"{path} was written by scikit-learn {version}, installed is {sklearn.__version__}: "
                    f"save the model again with {sklearn.__version__}, or install {version}."
                ) from error
            raise ValueError(f"{path} cannot be loaded: {error!r}.") from error


class _UntrustedError(ValueError):
    """A skops file holds types that neither skops nor fasthdmr trusts."""


def _is_skops(path: Path, start: bytes, trust: bool) -> bool:
    """Return True for a skops file and False for a trusted pickle; raise an error for anything else."""
    if _PICKLE.match(start):
        if trust:
            return False
        raise ValueError(
            f"{path} is not a skops file. Pickle and joblib files can run any code when they are loaded. If you trust "
            "who made it: joblib.load gives the model; on the command line, pass --trust."
        )
    if zipfile.is_zipfile(path):
        if "schema.json" in _read_archive(path, zipfile.ZipFile.namelist):
            return True
        what = "a zip file, but not a skops file, which has a schema.json"
    elif start.startswith(b"PK"):
        what = "a truncated skops file"
    else:
        what = "not a skops, pickle or joblib file"
    raise ValueError(
        f"{path} cannot be loaded: {path.name} is {what}, nor one of a library. Read are fitted scikit-learn models, "
        "saved by skops.io.dump, and what save_model of xgboost (.ubj, .json), LightGBM (.txt) and CatBoost (.cbm, "
        ".json) writes."
    )


def _read_skops(skops_io: Any, path: Path, trust: bool) -> Any:
    unknown = [name for name in skops_io.get_untrusted_types(file=path) if name not in _KNOWN_TYPES]
    if unknown and not trust:
        raise _UntrustedError(
            f"{path} holds types that are not trusted: {', '.join(unknown)}. "
            "They can run any code: pass --trust if you trust who made the file."
        )
    return skops_io.load(path, trusted=[*_KNOWN_TYPES, *unknown])


def _check_archive(path: Path, limit: float) -> None:
    """Raise an error if members are encrypted, or unpack to more than the limit or more than their declared size."""
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
    """Return the size of each member in bytes: the declared unpacked size, or the packed size if that is larger."""
    return {member.filename: max(member.file_size, member.compress_size) for member in archive.infolist()}


def _check_declared(archive: zipfile.ZipFile) -> None:
    """Check declared sizes, which may be wrong, by unpacking compressed members piece by piece."""
    for member in archive.infolist():
        if member.compress_type == zipfile.ZIP_STORED:
            continue
        declared = member.file_size
        member.file_size = declared + 1  # zipfile stops at the declared size; one more byte shows that it is wrong
        piece = _PIECE if member.compress_type == zipfile.ZIP_DEFLATED else _OTHER_PIECE
        with archive.open(member) as content:
            content.MIN_READ_SIZE = piece  # type: ignore[attr-defined]
            if sum(map(len, iter(partial(content.read, piece), b""))) > declared:
                raise zipfile.BadZipFile(f"{member.filename!r} is larger than its declared size")


def _read_archive(path: Path, read: Callable[[zipfile.ZipFile], T]) -> T:
    """Return the result of `read` on a zip file. All errors become a ValueError: a damaged file can raise any."""
    try:
        with zipfile.ZipFile(path) as archive:
            return read(archive)
    except Exception as error:
        raise ValueError(f"{path} cannot be loaded: the zip file is damaged or encrypted ({error}).") from error


def _version_of_writer(path: Path, is_skops: bool) -> str | None:
    """Return the version of scikit-learn that wrote a file, None if unknown."""
    found = _VERSION.search(_read_archive(path, _schema) if is_skops else path.read_bytes())
    return found[1].decode() if found else None
