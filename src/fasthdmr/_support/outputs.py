"""The choice of an output by index or by name, and what outputs are of: names for tables and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def with_unit(text: str, unit: str) -> str:
    """Return a label with the unit of what it names.

    Examples
    --------
    >>> with_unit("f(age)", "log-odds"), with_unit("f(age)", "")
    ('f(age) (log-odds)', 'f(age)')
    """
    return f"{text} ({unit})" if unit else text


def quantity(unit: str, target: str) -> str:
    """Return the name of an output for a label: its unit, and what it is of.

    Examples
    --------
    >>> quantity("log-odds", '"malignant"'), quantity("", "price"), quantity("log-odds", "")
    ('log-odds of "malignant"', 'price', 'log-odds')
    """
    return " of ".join(filter(None, (unit, target)))


def names_of_target(y: Any) -> tuple[str, ...]:
    """Return the name of a Series, or the names of the columns of a data frame; none of other arrays.

    Examples
    --------
    >>> names_of_target([1.0, 2.0])
    ()
    """
    names = getattr(y, "columns", None)
    if names is None:
        names = [getattr(y, "name", None)]
    return tuple(str(name) for name in names) if all(name not in (None, "") for name in names) else ()


def targets_of(models: Iterable[Any], names: Sequence[str], n_outputs: int) -> tuple[str, ...]:
    """Return what each output is of: the class of a classifier's score in quotes, or the name of y.

    Parameters
    ----------
    models : iterable
        Models, or functions, whose scores the outputs are. Of two classes, the one score is for the second.
    names : sequence of str
        The names of y, or none.
    n_outputs : int

    Returns
    -------
    tuple of str, length `n_outputs`, or ()
        () if it is not known.

    Examples
    --------
    >>> targets_of([], ["price"], 1)
    ('price',)
    """
    classes = [getattr(model, "classes_", None) for model in models]
    labels = {tuple(map(str, k)) if isinstance(k, np.ndarray) and k.ndim == 1 else () for k in classes}
    of_scores = [f'"{label}"' for label in (labels.pop() if len(labels) == 1 else ())]
    if n_outputs == 1 and len(of_scores) == 2:
        of_scores = of_scores[1:]
    return next((tuple(found) for found in (of_scores, names) if len(found) == n_outputs), ())


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
