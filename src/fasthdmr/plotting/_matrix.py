"""Overall indices of variables and pairs as a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.indices import INDICES
from fasthdmr._support.typing import Floats
from fasthdmr.plotting import _shared as shared
from fasthdmr.plotting._protocols import Indices

_MAX_VARIABLES = 15
_NOTHING = 5e-5
_DARK = 0.75  # fraction of the colour scale above which text is white


def draw_matrix(indices: Indices, S: Floats, ST: Floats, quantity: str, ax: Any) -> Any:
    """Draw S of the strongest variables and their pairs, of an output that is named; return the axes."""
    chosen = np.argsort(-np.abs(ST), kind="stable")[:_MAX_VARIABLES]
    matrix = _matrix(indices, S, chosen)
    short = shared.short_names(indices.feature_names)
    names = [short[i] for i in chosen]

    size, margin = 0.42 * max(chosen.size, 3), shared.text_width(names)
    ax = shared.one_axes(ax, 1.6 + size + margin, 0.8 + size + margin)
    scaled = np.sign(matrix) * np.sqrt(np.abs(matrix) / (np.abs(matrix).max() or 1.0))
    ax.imshow(scaled, cmap=shared.DIVERGING, vmin=-1, vmax=1)
    for i, j in np.argwhere(~np.ma.getmaskarray(matrix)):
        colour = "white" if abs(scaled[i, j]) > _DARK else "black"
        ax.text(j, i, _number(matrix[i, j]), ha="center", va="center", fontsize="x-small", color=colour)
    at = np.arange(chosen.size)
    ax.set_xticks(at, names, rotation=90, **shared.PLAIN)
    ax.set_yticks(at, names, **shared.PLAIN)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title(f"{INDICES['S'].text} index {INDICES['S'].symbol}", fontsize="medium")
    share = f"share of the variance of {quantity}" if quantity else ""
    ax.set_xlabel("\n".join(filter(None, [share, _left_out(indices, chosen)])), **shared.PLAIN)
    return ax


def _matrix(indices: Indices, S: Floats, chosen: NDArray[np.intp]) -> Any:
    place = {variable: k for k, variable in enumerate(chosen.tolist())}
    matrix: Any = np.ma.masked_invalid(np.full((chosen.size, chosen.size), np.nan))
    for u, value in zip(indices.subspaces, S, strict=True):
        if len(u) <= 2 and all(i in place for i in u):
            i, j = place[u[0]], place[u[-1]]
            matrix[i, j] = matrix[j, i] = value
    return matrix


def _number(value: float) -> str:
    """Return an index as its sign and two decimals, without a leading zero; only the sign where they are 0.

    Examples
    --------
    >>> _number(0.204), _number(-0.1), _number(0.001), _number(0.0)
    ('+.20', '−.10', '+', '0')
    """
    if abs(value) < _NOTHING:
        return "0"
    text = shared.number_text(value, "+.2f").replace("0.", ".", 1)
    return text if abs(value) >= 0.005 else text[0]


def _left_out(indices: Indices, chosen: NDArray[np.intp]) -> str:
    hidden, higher = len(indices.feature_names) - chosen.size, sum(len(u) > 2 for u in indices.subspaces)
    parts = [f"weaker variables ({hidden})"] if hidden else []
    parts += [f"components of order 3 and more ({higher})"] if higher else []
    return f"not shown: {', '.join(parts)}" if parts else ""
