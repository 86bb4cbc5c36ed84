"""Data frames of pandas made of rows that have lost their dtypes."""

from __future__ import annotations

from typing import Any


def as_typed(frame: Any, dtypes: Any) -> Any:
    """Return a frame of objects with the dtypes that its values have, and with categories.

    Parameters
    ----------
    frame : DataFrame
    dtypes : Series or None
        The dtypes of a frame with the same columns. Objects stay objects; categories are taken if they are known.

    Examples
    --------
    >>> import numpy as np, pandas
    >>> category = pandas.CategoricalDtype(["a", "b"])
    >>> frame = pandas.DataFrame([["b", 1.5]], columns=["level", "number"], dtype=object)
    >>> as_typed(frame, pandas.Series({"level": category, "number": np.dtype(float)})).dtypes["level"] == category
    True
    """
    typed = frame.infer_objects()
    if dtypes is None or list(frame.columns) != list(dtypes.index):
        return typed
    for j, dtype in enumerate(dtypes):
        column = frame.iloc[:, j]
        is_level = dtype.name == "category" and (column.isna() | column.isin(dtype.categories)).all()
        is_missing_text = dtype.kind == "O" and column.isna().all()  # inferred to be a missing number
        if is_level or is_missing_text or dtype.name == "object":
            typed.isetitem(j, column.astype(dtype))
    return typed
