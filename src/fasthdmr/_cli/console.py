"""Lines for a terminal: whatever it can show, and whether or not anybody still reads."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")  # all but the end of a line
_PLAIN = str.maketrans({"²": "2", "±": "+-"})
_LONGEST = 1000


def say(text: str, *, error: bool = False) -> None:
    """Print text at once; what the stream cannot show is written in ASCII.

    A pipe that is closed, as by ``head``, is no error: its reader has seen enough. The stream is silent from then on.

    Parameters
    ----------
    text : str
    error : bool, default=False
        To standard error instead of standard output.

    Raises
    ------
    OSError
        If the stream fails otherwise: its disk is full.
    """
    stream = sys.stderr if error else sys.stdout
    if stream is None:  # closed by whoever started us
        return
    try:
        print(_showable(text, stream.encoding or "utf-8"), file=stream, flush=True)
    except BrokenPipeError:
        _silence(stream)
    except OSError:
        _silence(stream)
        raise


def one_line(message: str) -> str:
    """Return a message as one line; where it quotes something huge, without its middle.

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


def _showable(text: str, encoding: str) -> str:
    """Return text without what moves a terminal's cursor, and without characters that the encoding lacks."""
    text = _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    return text


def _silence(stream: TextIO) -> None:
    """Send to nowhere what a stream still holds: Python would fail on it again when it ends."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())
