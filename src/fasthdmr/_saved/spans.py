"""Dictionaries of spans in a file: axes, subspaces, and the cells of pairs that hold rows."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from fasthdmr._dictionaries.dictionary import Dictionary
from fasthdmr._saved.archive import Archive, Writer
from fasthdmr._saved.context import Context
from fasthdmr._saved.fields import Fields, Refused
from fasthdmr._saved.trees import read_trees, write_trees
from fasthdmr._spans.axes import Axis
from fasthdmr._spans.basis import Basis
from fasthdmr._spans.fit import Regression
from fasthdmr._spans.nearest_cells import Cells, Support
from fasthdmr._spans.span_dictionaries import SpanDictionary, TreeSpans, ValueSpans
from fasthdmr._support.groups import columns_of
from fasthdmr._support.subspaces import embed
from fasthdmr._support.typing import Floats

_MOST_COLUMNS = 10**7
_CELL_TYPES = {1: "|u1", 2: "<u2", 4: "<u4"}


class UnknownBlackBox(Dictionary):
    """The dictionary of one column, a black box that is not in the file.

    Parameters
    ----------
    n_features : int
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features

    def evaluate(self, rows: Any, output: int, weights: csc_array, n_threads: int) -> Floats:
        """Raise an error: nothing is known of the black box at new rows."""
        raise ValueError(
            "No black box was saved with this decomposition, so its output and the residual are not known. Keep the "
            "model and use the fitted estimator, or compare the model's output with predict(X)."
        )

    def embed(self, subspace: Any, values: Floats) -> Floats:
        """Return rows with the given values of the variables in `subspace`; the other variables are set to 0."""
        return embed(subspace, values, self.n_features)


def keeps_terms(dictionary: SpanDictionary) -> bool:
    """Return whether components hold terms of the trees, which then are in the file."""
    return isinstance(dictionary, TreeSpans) and not dictionary.regression.smooth


def write_spans(dictionary: SpanDictionary, out: Writer) -> dict[str, Any]:
    """Return the document of a dictionary of spans, and add its arrays."""
    basis, regression, support = dictionary.basis, dictionary.regression, dictionary.support
    for s, nearest in ({} if support is None else support.nearest).items():
        out.add(f"nearest/{s}", nearest, _CELL_TYPES[nearest.dtype.itemsize])
    return {
        "trees": write_trees(dictionary.given, out)
        if isinstance(dictionary, TreeSpans) and keeps_terms(dictionary)
        else None,
        "n_effective": regression.n_effective,
        "factor": regression.factor,
        "axes": [_written(axis) for axis in basis.axes],
        "subspaces": [list(u) for u in basis.subspaces],
        "axes_of_subspaces": [list(axes) for axes in basis.axes_of],
        "nearest": None if support is None else list(support.nearest),
    }


def _written(axis: Axis) -> dict[str, Any]:
    return {
        "column": axis.variable,
        "degree": axis.degree,
        "knots": list(map(float, axis.knots)),
        "missing": axis.missing,
        "score_values": list(map(float, axis.scores[0])),
        "scores": list(map(float, axis.scores[1])),
        "categorical": axis.is_categorical,
    }


def read_spans(fields: Fields, context: Context) -> SpanDictionary:
    """Return the dictionary of a document."""
    basis = _read_basis(fields, context)
    trees = None if fields.is_null("trees") else read_trees(fields.fields("trees"), context)
    if (n_effective := fields.number("n_effective")) <= 0:
        raise Refused(f"'n_effective' of {fields.where} must be positive")
    regression = Regression(n_effective, smooth=trees is None, factor=fields.number("factor"))
    support = None
    if not fields.is_null("nearest"):
        spans = fields.integers("nearest", len(basis.subspaces) - 1)
        support = Support(basis, {s: _read_nearest(context.archive, basis, s) for s in spans})
    if trees is None:
        given = UnknownBlackBox(context.n_columns)
        return ValueSpans(given, [1] * context.n_outputs, basis, regression, support)
    n_given = [len(trees.labels(k).column_subspace) for k in range(context.n_outputs)]
    return TreeSpans(trees, n_given, basis, regression, support)


def _read_basis(fields: Fields, context: Context) -> Basis:
    axes = [_read_axis(each, context) for each in fields.objects("axes")]
    subspaces = fields.subspaces("subspaces", context.n_variables)
    axes_of = [list(of) for of in fields.lists("axes_of_subspaces", len(axes) - 1)]
    if len(axes_of) != len(subspaces):
        raise Refused(f"'axes_of_subspaces' of {fields.where} must have one list for each subspace")
    for u, of in zip(subspaces, axes_of, strict=True):
        columns = [axes[a].variable for a in of]
        if not columns or sorted(set(columns)) != columns or not set(columns) <= set(columns_of(context.groups, u)):
            raise Refused(f"the axes of the subspace {list(u)} must be those of its columns, in their order")
    basis = Basis(axes, subspaces, axes_of)
    if sum(prod(axes[a].size for a in of) for of in axes_of) > _MOST_COLUMNS:
        raise Refused(f"its spans have more than {_MOST_COLUMNS:,} columns")
    basis.core  # noqa: B018 (raises an error for knots, scores or an order of subspaces that no fit gives)
    return basis


def _read_axis(fields: Fields, context: Context) -> Axis:
    axis = Axis(
        fields.integer("column", 0, context.n_columns - 1),
        fields.integer("degree", 0, 3),
        fields.numbers("knots"),
        fields.flag("missing"),
        (fields.numbers("score_values"), fields.numbers("scores")),
        fields.flag("categorical"),
    )
    if len(axis.knots) < 2 * (axis.degree + 1):
        raise Refused(f"{fields.where} has too few knots")
    is_categorical = axis.variable in context.levels
    if axis.is_categorical != is_categorical:
        raise Refused(f"{fields.where} must be categorical if, and only if, its column has levels")
    if is_categorical and axis.knots[-1] + 0.5 != len(context.levels[axis.variable]):
        raise Refused(f"{fields.where} has another number of levels than its column")
    return axis


def _read_nearest(archive: Archive, basis: Basis, span: int) -> NDArray[Any]:
    """Return the nearest cells with rows of a pair."""
    if len(basis.axes_of[span]) != 2:
        raise Refused(f"there are nearest cells for the subspace {list(basis.subspaces[span])}, which is not a pair")
    counts = [Cells.of(basis.axes[a]).count for a in basis.axes_of[span]]
    n_cells = prod(counts)
    dtype = np.min_scalar_type(n_cells)
    nearest = archive.array(f"nearest/{span}", [n_cells], _CELL_TYPES[min(dtype.itemsize, 4)])
    if nearest.max(initial=0) > n_cells:
        raise Refused(f"'nearest/{span}' holds numbers of cells that do not exist")
    return nearest
