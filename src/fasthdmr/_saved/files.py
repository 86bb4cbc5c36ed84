"""Reading and writing of the files themselves: paths, and open binary files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fasthdmr._support.output_file import write_files


def write_file(file: Any, content: bytes) -> None:
    """Write a file, given by its path or open for writing.

    Raises
    ------
    TypeError
        If it is neither.
    OSError
        If it cannot be written.
    """
    if hasattr(file, "write"):
        file.write(content)
    else:
        write_files({_path(file): content})


def read_file(file: Any) -> tuple[str, bytes]:
    """Return the name and the content of a file, given by its path or open for reading.

    Raises
    ------
    TypeError
        If it is neither, or open as text.
    OSError
        If it cannot be read.
    """
    if not hasattr(file, "read"):
        path = _path(file)
        return str(path), path.read_bytes()
    content = file.read()
    if not isinstance(content, bytes):
        raise TypeError("The file must be open in binary mode ('rb').")
    return str(getattr(file, "name", "The file")), content


def _path(file: Any) -> Path:
    if not isinstance(file, str | os.PathLike):
        raise TypeError(f"file must be a path or a binary file object, got {type(file).__name__}.")
    return Path(os.fsdecode(file))
