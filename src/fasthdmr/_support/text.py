"""Text in columns: control characters made visible, width on screen, and shortening."""

from __future__ import annotations

import sys
from bisect import bisect_right
from itertools import accumulate
from typing import Any
from unicodedata import category, east_asian_width


def escaped(text: str) -> str:
    r"""Return text in which characters without a shape of their own are written as escapes; blanks stay.

    Examples
    --------
    >>> print(escaped("two" + chr(10) + "lines"))
    two\nlines
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or category(c) == "Zs" else _escape(c) for c in text)


def width(text: str) -> int:
    """Return the number of columns that text takes on a screen.

    Examples
    --------
    >>> width("Oslo"), width("大阪")
    (4, 4)
    """
    return len(text) if text.isascii() else sum(map(_width, text))


def shorten(text: str, longest: int, mark: str = "…") -> str:
    """Return text of at most a given width: its first and last characters.

    Examples
    --------
    >>> shorten("average_number_of_rooms_per_household", 24)
    'average_numb…r_household'
    """
    if width(text) <= longest:
        return text
    room = max(longest - width(mark), 0)
    return _first(text, room - room // 2) + mark + _first(text[::-1], room // 2)[::-1]


def or_ascii(sign: str, instead: str) -> str:
    """Return a sign, or ASCII in its place if the encoding of standard output lacks it.

    Examples
    --------
    >>> or_ascii("a", "b")
    'a'
    """
    try:
        sign.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return instead
    return sign


def level_name(value: Any) -> str:
    r"""Return a value of a variable as text: a number, or a level of a categorical variable.

    Examples
    --------
    >>> level_name(None), level_name(0.123456), level_name(20304.0), level_name("New\nYork")
    ('missing', '0.1235', '20304', 'New\\nYork')
    """
    if value is None or value != value:
        return "missing"
    if isinstance(value, tuple):  # of a group of columns
        return f"({', '.join(map(level_name, value))})"
    if isinstance(value, float):  # codes of categories may be floats, and have to differ
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e9 else f"{value:.4g}"
    text = escaped(str(value))
    return text if text.strip() else "(empty)"


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _width(character: str) -> int:
    if category(character) in ("Mn", "Me"):  # accents above the character before
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _first(text: str, room: int) -> str:
    return text[: bisect_right(list(accumulate(map(_width, text))), room)]
