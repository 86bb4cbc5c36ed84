"""Output to a terminal of any encoding, or to a pipe that may be closed."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import TextIO

from fasthdmr._support.text import escaped

_PLAIN = str.maketrans({"²": "2", "±": "+-", "…": "..."})
_LONGEST = 1000


def say(text: str, *, error: bool = False) -> None:
    """Print text and flush; characters that the encoding lacks are written in ASCII.

    A closed pipe, as after ``head``, is not an error; nothing more is written to it.

    Parameters
    ----------
    text : str
    error : bool, default=False
        To standard error instead of standard output.

    Raises
    ------
    OSError
        If the stream fails for another reason, such as a full disk.
    """
    stream = sys.stderr if error else sys.stdout
    if stream is None:  # closed by the parent process
        return
    try:
        print(_showable(text, stream.encoding or "utf-8"), file=stream, flush=True)
    except BrokenPipeError:
        _silence(stream)
    except OSError:
        _silence(stream)
        raise


def one_line(message: str) -> str:
    """Return a message as one line; the middle of a very long one is left out.

    Examples
    --------
    >>> one_line("two" + chr(10) + " lines")
    'two lines'
    >>> len(one_line("x" * 10**6))
    1003
    """
    line = " ".join(message.split())
    half = _LONGEST // 2
    return line if len(line) <= _LONGEST else f"{line[:half]}...{line[-half:]}"


def warning_lines(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """Return warnings as lines, each once."""
    return list(dict.fromkeys(one_line(str(warning.message)) for warning in caught))


def _showable(text: str, encoding: str) -> str:
    """Return text without control characters, and without characters that the encoding lacks."""
    text = "\n".join(map(escaped, text.split("\n")))
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    return text


def _silence(stream: TextIO) -> None:
    """Redirect the buffer of a stream to the null device: flushing it at exit would fail again."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())
