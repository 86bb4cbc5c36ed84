"""Class labels, and how many of them the scores of a classifier hit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.typing import Floats


def class_numbers(labels: Any, classes: Sequence[Any] | None, n_outputs: int) -> NDArray[np.intp]:
    """Return the number of the class of each label.

    Parameters
    ----------
    labels : Series of length N
        As read from a file, so whole numbers may be text or float, as where some are missing.
    classes : sequence or None
        The classes in the order of the model's outputs; two for one output. None: 0, 1 and so on, or the labels in
        order if they are others.
    n_outputs : int

    Returns
    -------
    ndarray of shape (N,)

    Raises
    ------
    ValueError
        If a label is missing, or is none of the classes.
    """
    if labels.isna().any():
        row = int(np.argmax(labels.isna()))
        raise ValueError(f"column {labels.name!r} has no class label in row {row + 1}.")
    texts = [_text(label) for label in labels]
    n_classes = max(n_outputs, 2)
    known = [_text(k) for k in (range(n_classes) if classes is None else classes)]
    if classes is None and not set(texts) <= set(known):
        known = list(map(_text, np.unique(labels.to_numpy())))
    if len(known) != n_classes:
        shown = ", ".join(known[:5]) + (", …" if len(known) > 5 else "")
        raise ValueError(f"column {labels.name!r} has {len(known)} classes ({shown}), the model has {n_classes}.")
    number = {text: k for k, text in enumerate(known)}
    if (unknown := next((row for row, text in enumerate(texts) if text not in number), None)) is not None:
        raise ValueError(
            f"column {labels.name!r} has the class label {texts[unknown]!r} in row {unknown + 1}, the classes of the "
            f"model are {', '.join(known)}."
        )
    return np.array([number[text] for text in texts], dtype=np.intp)


def accuracy(scores: Floats, unit: str, numbers: NDArray[np.intp], weights: Floats | None = None) -> float:
    """Return the share of rows whose class has the largest score; of two classes, the second if its score is positive.

    Parameters
    ----------
    scores : ndarray of shape (N,) or (N, K)
    unit : str
        That of the model's output: probabilities are compared with one half.
    numbers : ndarray of shape (N,)
        The numbers of the classes.
    weights : ndarray of shape (N,), optional
        The weights of the rows.

    Examples
    --------
    >>> accuracy(np.array([-1.0, 2.0, 3.0]), "log-odds", np.array([0, 1, 0]))
    0.6666666666666666
    """
    if scores.ndim == 1:
        found = (scores > (0.5 if unit == "probability" else 0.0)).astype(np.intp)
    else:
        found = scores.argmax(axis=1)
    return float(np.average(found == numbers, weights=weights))


def _text(label: Any) -> str:
    """Return a label as text, numbers alike whether they are written as 1, 1.0 or True."""
    try:
        return f"{float(label):.17g}"
    except (TypeError, ValueError):
        return str(label)
