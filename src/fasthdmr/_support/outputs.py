"""The choice of an output by index or by name."""

from __future__ import annotations

from collections.abc import Sequence


def with_unit(text: str, unit: str) -> str:
    """Return a label with the unit of what it names.

    Examples
    --------
    >>> with_unit("f(age)", "log-odds"), with_unit("f(age)", "")
    ('f(age) (log-odds)', 'f(age)')
    """
    return f"{text} ({unit})" if unit else text


def output_index(output: int | str | None, n_outputs: int, names: Sequence[str] | None = None) -> int:
    """Return the index of an output given by index or by name.

    Parameters
    ----------
    output : int, str or None
        None stands for the only output.
    n_outputs : int
    names : sequence of str, optional

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If there is no such output, or if there are several and none is named.

    Examples
    --------
    >>> output_index("b", 2, ["a", "b"])
    1
    """
    choices = [*range(n_outputs), *(names or ())]
    if output is None and n_outputs == 1:
        return 0
    if output is None or output not in choices:
        raise ValueError(f"output must be one of {choices} to choose among {n_outputs} outputs, got {output!r}.")
    return choices.index(output) % n_outputs
