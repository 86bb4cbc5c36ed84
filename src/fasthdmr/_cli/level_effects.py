"""The levels of categorical variables: what each adds to the output, and its share of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from fasthdmr._data.encoding import codes_of, column_of
from fasthdmr._support.groups import columns_of
from fasthdmr._support.optional import require
from fasthdmr._support.subspaces import distinct
from fasthdmr._support.typing import Floats

COLUMNS = ("variable", "level", "share", "effect")


def level_effects(hdmr: Any, X: Any, weights: Floats | None = None) -> Any:
    """Return the levels of all categorical variables that have a component of their own; groups are left out.

    Parameters
    ----------
    hdmr : estimator, fitted
    X : DataFrame
        The rows of the fit.
    weights : ndarray of shape (N,), optional
        Their weights.

    Returns
    -------
    pandas.DataFrame
        Columns variable, level, share and effect, the largest effects of a variable first. Missing values are the
        level None. Several outputs are stacked, with a further first column, output.

    Examples
    --------
    >>> import pandas as pd
    >>> import fasthdmr
    >>> X = pd.DataFrame({"city": ["Oslo", "Oslo", "Bergen", None] * 50})
    >>> hdmr = fasthdmr.HDMR().fit(X, (X["city"] == "Oslo") * 2.0)
    >>> level_effects(hdmr, X).round(1)
      variable   level  share  effect
    0     city    Oslo    0.5     1.0
    1     city  Bergen    0.2    -1.0
    2     city    None    0.2    -1.0
    """
    pandas = require("pandas", extra="cli")
    decomposition = hdmr.decomposition_
    names, outputs = distinct(decomposition.feature_names), decomposition.output_names
    rows = []
    for i, name in enumerate(names):
        j, *others = columns_of(decomposition.groups, (i,))
        if others or j not in decomposition.levels or (i,) not in decomposition.subspaces:
            continue
        levels = decomposition.levels[j]
        count = len(levels)
        codes = codes_of(column_of(X, j), levels).astype(np.int64)
        counts = np.bincount(codes, weights, minlength=count)
        shares = (counts / counts.sum()).tolist()
        effects = decomposition.component_at((i,), np.arange(float(count))[:, None]).reshape(count, -1)
        for k, effect in enumerate(effects.T):
            order = np.argsort(-effect, kind="stable")
            rows += [(k, name, levels[c], shares[c], float(effect[c])) for c in order]
    rows.sort(key=lambda row: row[0])  # outputs are stacked as in the table of indices
    frame = pandas.DataFrame(rows, columns=["output", *COLUMNS], dtype=object)
    frame = frame.astype({"share": float, "effect": float})
    if outputs is None:
        return frame[list(COLUMNS)]
    return frame.assign(output=[outputs[k] for k in frame["output"]])
