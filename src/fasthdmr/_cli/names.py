"""Names of variables and of subspaces in the text of an option."""

from __future__ import annotations

import re

_NAME = re.compile(r'\s*(?:"((?:[^"]|"")*)"|(?!&(?:\s|$))([^"\s,].*?))\s*(,|\s&(?=\s|$)|$)', re.DOTALL)

RULE = 'names are separated by commas; one that holds a comma or " & " stands in double quotes, doubled within it'
"""How the help states the format."""


def subspaces_in(text: str) -> list[tuple[str, ...]]:
    r"""Return the subspaces that a text lists: separated by commas, their variables joined by " & ".

    A name that holds a comma or " & ", or begins with a double quote, stands in double quotes, doubled within it, as in
    the tables of indices.

    Raises
    ------
    ValueError
        If a name is empty, or its quotes are not closed.

    Examples
    --------
    >>> subspaces_in("age & income, age & rooms")
    [('age', 'income'), ('age', 'rooms')]
    >>> subspaces_in('"size, m2" & R&D')
    [('size, m2', 'R&D')]
    """
    subspaces: list[tuple[str, ...]] = []
    names: list[str] = []
    position, mark = 0, ","
    while mark:
        if (found := _NAME.match(text, position)) is None:
            raise ValueError(f"{text!r} has an empty name, or a quote that is not closed.")
        quoted, plain, mark = found.groups()
        names.append(plain if quoted is None else quoted.replace('""', '"'))
        position = found.end()
        if mark in ("", ","):
            subspaces.append(tuple(names))
            names = []
    return subspaces


def names_in(text: str) -> list[str]:
    """Return the names that a text lists, separated by commas, in the quotes of `subspaces_in`.

    Raises
    ------
    ValueError
        Also if a name holds " & " without quotes.

    Examples
    --------
    >>> names_in("zip code, city")
    ['zip code', 'city']
    """
    subspaces = subspaces_in(text)
    if several := next((names for names in subspaces if len(names) > 1), None):
        raise ValueError(f'{" & ".join(several)!r} holds " & ", so it must stand in double quotes.')
    return [name for (name,) in subspaces]
