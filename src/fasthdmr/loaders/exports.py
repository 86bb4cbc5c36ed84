"""Exports of libraries that write to a path only, and the counts in them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

_MOST = 1 << 20  # columns or outputs: a file may hold any number


def exported(write: Callable[[str], object]) -> bytes:
    """Return what is written to a path, which is in memory where the system can do that.

    Examples
    --------
    >>> from pathlib import Path
    >>> exported(lambda path: Path(path).write_bytes(b"trees"))
    b'trees'
    """
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        file = os.memfd_create("model")
        try:
            write(f"/proc/self/fd/{file}")
            return os.pread(file, os.fstat(file).st_size, 0)
        finally:
            os.close(file)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model"
        write(str(path))
        return path.read_bytes()


def count(fields: Mapping[str, Any], key: str, *, least: int = 1, absent: int | None = None, more: int = 0) -> int:
    """Return a number of columns or outputs, plus `more`.

    Raises
    ------
    KeyError
        If there is none, and no number for that.
    ValueError
        If it is out of range.

    Examples
    --------
    >>> count({"max_feature_idx": "2"}, "max_feature_idx", more=1)
    3
    """
    number = int(fields[key] if absent is None else fields.get(key, absent)) + more
    if not least <= number <= _MOST:
        raise ValueError(f"'{key}' is out of range: {number}")
    return number
