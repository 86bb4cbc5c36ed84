"""Atomic output files: written to temporary files, and moved to their places when all of them are complete."""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def check_target(path: Path) -> None:
    """Check, before the work begins, that a file can be written.

    Parameters
    ----------
    path : Path
        The file; it need not exist, nor do its directories. Nothing is created.

    Raises
    ------
    OSError
        If it cannot be written; the error names the path.
    """
    with _named(path):
        if path.is_dir():
            raise _error(errno.EISDIR, path)
        if _is_special(path):
            return
        if path.exists():
            path.open("ab").close()
        nearest = next(parent for parent in path.parents if parent.exists())
    if not nearest.is_dir():
        raise _error(errno.EEXIST, nearest)
    with _named(path), tempfile.TemporaryFile(dir=nearest):
        pass


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write all files, or none if one of them fails, as on a full disk; existing files stay as they are then.

    Parameters
    ----------
    contents : mapping of Path to bytes
        Directories are created. Devices and pipes are written to directly.

    Raises
    ------
    OSError
        If one cannot be written; the error names its path.
    """
    unfinished: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            if not _is_special(path):
                with _named(path):
                    _write_beside(path, content, unfinished)
        for path, content in contents.items():
            with _named(path):
                if path in unfinished:
                    unfinished[path].replace(_place(path))
                else:
                    path.write_bytes(content)
    finally:
        for temporary in unfinished.values():
            temporary.unlink(missing_ok=True)


def drawn(figure: Any, kind: str, **options: Any) -> bytes:
    """Return the content of the file of a matplotlib figure.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    kind : str
        The format: "png", "svg".
    **options
        Of ``savefig``.

    Returns
    -------
    bytes
    """
    content = io.BytesIO()
    figure.savefig(content, format=kind, **options)
    return content.getvalue()


def _write_beside(path: Path, content: bytes, unfinished: dict[Path, Path]) -> None:
    """Write a temporary file in the directory of another; record it first, so that it is removed after an error."""
    place = _place(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished[path] = place.with_name(f".{secrets.token_hex(8)}.unfinished")
    with unfinished[path].open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())  # some file systems report only here that they are full
    if place.exists():
        shutil.copymode(place, unfinished[path])


def _place(path: Path) -> Path:
    """Return the path behind links: a link stays a link, to the new file."""
    return Path(os.path.realpath(path))


def _is_special(path: Path) -> bool:
    """Return whether this is a device or a pipe, such as /dev/stdout, which no file may replace."""
    return path.exists() and not path.is_file()


def _error(number: int, path: Path) -> OSError:
    return OSError(number, os.strerror(number), str(path))


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Make errors name the requested file, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
