"""The container of a saved decomposition: a zip file that holds arrays in NumPy's format and one JSON document.

The members are not compressed, so none is larger than the file, and no array is larger than its member. Nothing is
allocated before that is known.
"""

from __future__ import annotations

import io
import json
import math
import re
import struct
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._saved.fields import Fields, Refused

FORMAT, VERSION = "fasthdmr decomposition", 1
"""The name of the format, and its version: a file of a later version is refused."""

_DOCUMENT, _SUFFIX = "document.json", ".npy"
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(rb"\{'descr': '(...)', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \} *\n")
_DATE = (1980, 1, 1, 0, 0, 0)  # equal decompositions give equal files
_ZIP_ERRORS = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, struct.error, NotImplementedError, RuntimeError),
    *(EOFError, OSError, LookupError, OverflowError, ValueError),
)
_MUST = "must be an array of type {} and shape ({})"


class Writer:
    """The arrays of a file that is written."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def add(self, name: str, array: Any, dtype: Any = np.float64) -> None:
        """Add an array. Its memory order is kept, C or Fortran."""
        self._arrays[name] = np.asarray(array, dtype=np.dtype(dtype).newbyteorder("<"))

    def content(self, document: dict[str, Any]) -> bytes:
        """Return the file with the document and all arrays.

        Raises
        ------
        ValueError
            If the document holds a number that is not finite.
        """
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            whole = {"format": FORMAT, "version": VERSION, **document}
            text = json.dumps(whole, allow_nan=False, ensure_ascii=False, indent=1)
            archive.writestr(zipfile.ZipInfo(_DOCUMENT, _DATE), text.encode("utf-8", "surrogatepass"))
            for name, array in self._arrays.items():
                member = io.BytesIO()
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(name + _SUFFIX, _DATE), member.getvalue())
        return file.getvalue()


class Archive:
    """The content of a file that is read.

    Parameters
    ----------
    content : bytes

    Raises
    ------
    Refused
        If it is not a file of this format and version.
    """

    def __init__(self, content: bytes) -> None:
        members = _members(content)
        if _DOCUMENT not in members:
            raise Refused(f"it has no {_DOCUMENT}")
        self.document = Fields(_parsed(members.pop(_DOCUMENT)), "document")
        if self.document.text("format") != FORMAT:
            raise Refused(f"its format is {self.document.text('format')!r}")
        if (version := self.document.integer("version")) > VERSION:
            raise Refused(f"its version is {version}; this fasthdmr reads up to {VERSION}. Install a newer one")
        if version < 1:
            raise Refused(f"its version is {version}")
        self._members = members

    def array(self, name: str, shape: Sequence[int | None], dtype: str = "<f8", *, finite: bool = True) -> NDArray[Any]:
        """Return an array.

        Parameters
        ----------
        name : str
        shape : sequence of int or None
            The expected lengths of its axes; None: any.
        dtype : str
        finite : bool
            Whether NaN and infinity are refused.

        Raises
        ------
        Refused
            If it is missing, has another shape or type, or holds NaN or infinity where there must be none.
        """
        data = self._members.pop(name + _SUFFIX, None)
        if data is None:
            raise Refused(f"the array {name!r} is missing")
        expected = _MUST.format(dtype, ", ".join("any" if n is None else str(n) for n in shape))
        begin = len(_MAGIC) + 2
        end = begin + int.from_bytes(data[begin - 2 : begin], "little")
        header = _HEADER.fullmatch(data[begin:end])
        if data[: len(_MAGIC)] != _MAGIC or header is None:
            raise Refused(f"the header of the array {name!r} is damaged")
        lengths = [int(n) for n in header[3].replace(b" ", b"").split(b",") if n]
        fits = len(lengths) == len(shape) and all(n in (None, m) for n, m in zip(shape, lengths, strict=True))
        if header[1].decode() != dtype or not fits:
            raise Refused(f"{name!r} {expected}")
        if math.prod(lengths) * np.dtype(dtype).itemsize != len(data) - end:
            raise Refused(f"the array {name!r} has another size than its header says")
        order = "F" if header[2] == b"True" else "C"
        values = np.frombuffer(data, dtype, offset=end).reshape(lengths, order=order).copy(order=order)  # type: ignore[call-overload]
        native: NDArray[Any] = values.astype(values.dtype.newbyteorder("="), copy=False)
        if finite and native.dtype.kind == "f" and not np.isfinite(native).all():
            raise Refused(f"{name!r} holds NaN or infinity")
        return native

    def integers(self, name: str, shape: Sequence[int | None], low: int, high: int) -> NDArray[np.int64]:
        """Return an array of integers from `low` to `high`."""
        values = self.array(name, shape, "<i8")
        if values.size and not (low <= values.min() and values.max() <= high):
            raise Refused(f"{name!r} must hold integers from {low} to {high}")
        return values

    def finish(self) -> None:
        """Raise an error if there are members that nothing has read."""
        if self._members:
            raise Refused(f"it holds {min(self._members)!r}, which does not belong to it")


def _members(content: bytes) -> dict[str, bytes]:
    """Return the members of a zip file by name."""
    if not content.startswith(b"PK"):
        raise Refused("it is not a zip file")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            names = {entry.filename for entry in entries}
            if len(names) < len(entries):
                raise Refused("two of its members have the same name")
            for entry in entries:
                is_plain = entry.compress_type == zipfile.ZIP_STORED and not entry.flag_bits & 1
                if not is_plain or entry.file_size != entry.compress_size:
                    raise Refused(f"its member {entry.filename!r} is compressed or encrypted")
            if sum(entry.file_size for entry in entries) > len(content):
                raise Refused("its members overlap")
            return {entry.filename: archive.read(entry) for entry in entries}
    except Refused:
        raise
    except _ZIP_ERRORS as error:
        raise Refused(f"it is damaged ({error})") from None


def _parsed(text: bytes) -> Any:
    """Return a JSON document, without NaN, infinity and repeated names."""

    def constant(name: str) -> Any:
        raise Refused(f"its document holds {name}")

    def number(digits: str) -> float:
        if math.isinf(value := float(digits)):
            raise Refused(f"its document holds the number {digits[:20]}")
        return value

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise Refused("its document has a name twice")
        return found

    try:
        decoded = text.decode("utf-8", "surrogatepass")
        return json.loads(decoded, parse_constant=constant, parse_float=number, object_pairs_hook=unique)
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        raise Refused(f"its document is damaged ({error})") from None
