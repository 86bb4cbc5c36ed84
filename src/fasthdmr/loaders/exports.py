"""Exports of libraries that write to a path only."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


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
