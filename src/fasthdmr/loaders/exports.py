"""Export from libraries that write models to a path only, and checks of these exports."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

_MOST = 1 << 20  # columns or outputs; a damaged file may name any number, and memory is reserved for it


def exported(write: Callable[[str], object]) -> bytes | mmap.mmap:
    """Return what `write` writes to a path: a file in memory on Linux, which is not copied, else a temporary file.

    Examples
    --------
    >>> from pathlib import Path
    >>> exported(lambda path: Path(path).write_bytes(b"trees"))[:]
    b'trees'
    """
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        file = os.memfd_create("model")
        try:
            write(f"/proc/self/fd/{file}")
            return mmap.mmap(file, 0, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE, prot=mmap.PROT_READ)
        finally:
            os.close(file)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model"
        write(str(path))
        return path.read_bytes()


def count(fields: Mapping[str, Any], key: str, *, least: int = 1, absent: int | None = None, more: int = 0) -> int:
    """Return a number of columns or outputs, plus `more`; `absent` if the key is missing.

    Raises
    ------
    KeyError
        If the key is missing and `absent` is None.
    ValueError
        If the number is out of range.

    Examples
    --------
    >>> count({"max_feature_idx": "2"}, "max_feature_idx", more=1)
    3
    """
    number = int(fields[key] if absent is None else fields.get(key, absent)) + more
    if not least <= number <= _MOST:
        raise ValueError(f"'{key}' is out of range: {number}")
    return number


def refuse_unknown(parts: Iterable[str], known: Iterable[str], library: str) -> None:
    """Raise an error if an export has parts that are not known, because predictions may depend on them.

    Raises
    ------
    ValueError
        The message names the parts.

    Examples
    --------
    >>> refuse_unknown(["trees"], ["trees", "bias"], "xgboost")
    """
    unknown = sorted(set(parts).difference(known))
    if unknown:
        raise ValueError(
            f"This {library} model has parts that fasthdmr does not know: {', '.join(map(repr, unknown))}. Its "
            f"predictions may depend on them. Perhaps a newer version of {library} wrote it: update fasthdmr, or use "
            "fasthdmr.HDMR."
        )
