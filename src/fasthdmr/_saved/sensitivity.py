"""Sensitivity indices in a file, with their intervals and what standard errors of components need."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fasthdmr._results.decomposition import Decomposition
from fasthdmr._results.fidelity import Fidelity
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._saved.archive import Archive, Writer
from fasthdmr._saved.dictionaries import count_columns, given_columns
from fasthdmr._saved.fields import Fields, Refused
from fasthdmr._saved.solutions import read_matrix, without_columns, write_matrix
from fasthdmr._support.cached import with_values
from fasthdmr._support.groups import columns_of
from fasthdmr._support.indices import INDICES
from fasthdmr._support.subspaces import Subspace
from fasthdmr._uncertainty.blocks import Curve
from fasthdmr._uncertainty.bootstrap import Bootstrap, Spread
from fasthdmr._uncertainty.uncertainty import Uncertainty


def write_sensitivity(decomposition: Decomposition, out: Writer) -> dict[str, Any]:
    """Return the document of the indices, and add their arrays. Intervals and fidelity are computed for it."""
    sensitivity = decomposition.sensitivity
    for name in ("Sa", "S", "residual", "variance"):
        out.add(f"indices/{name}", getattr(sensitivity, name))
    fidelity, uncertainty = sensitivity.fidelity, sensitivity.uncertainty
    if fidelity is not None:
        out.add("fidelity", fidelity.both)
    document: dict[str, Any] = {"fidelity": fidelity is not None, "intervals": None}
    if uncertainty is None:
        return document
    for name, values in uncertainty.half_widths.items():
        out.add(f"intervals/{name}", values)
    if isinstance(uncertainty, Bootstrap):
        curves = uncertainty.spread.curves
        for j, by_output in curves.items():
            for k, weights in enumerate(by_output):
                n_given = given_columns(decomposition.dictionary, k)
                write_matrix(without_columns(weights, n_given), f"curves/{j}/{k}", out)
        return {**document, "intervals": "bootstrap", "curves": list(curves)}
    for j, curve in uncertainty.curves.items():
        out.add(f"curves/{j}/means", curve.means)
        out.add(f"curves/{j}/covariance", curve.covariance)
    return {**document, "intervals": "jackknife", "curves": list(uncertainty.curves)}


def read_sensitivity(
    fields: Fields,
    subspaces: list[Subspace],
    feature_names: tuple[str, ...],
    output_names: tuple[str, ...] | None,
    archive: Archive,
) -> Sensitivity:
    """Return the indices without intervals and fidelity."""
    of_outputs = [] if output_names is None else [len(output_names)]
    Sa, S = (archive.array(f"indices/{name}", [len(subspaces), *of_outputs]) for name in ("Sa", "S"))
    residual = archive.array("indices/residual", of_outputs)
    variance = archive.array("indices/variance", of_outputs, finite=False)
    return Sensitivity(subspaces, Sa, S, residual, variance, feature_names, output_names)


def with_intervals(fields: Fields, decomposition: Decomposition, archive: Archive) -> Decomposition:
    """Return a decomposition whose indices have their fidelity and intervals."""
    sensitivity, result = decomposition.sensitivity, decomposition
    if fields.flag("fidelity"):
        both = archive.array("fidelity", [2, len(decomposition.solutions)], finite=False)
        sensitivity = replace(sensitivity, fidelity=with_values(Fidelity(decomposition), both=both))
        result = replace(decomposition, sensitivity=sensitivity)
    if fields.is_null("intervals"):
        return result
    if (sample := result.sample) is None:
        raise Refused(f"{fields.where} has intervals, but the file has no sample of rows")
    kind, n = fields.text("intervals"), len(result.feature_names)
    read = {"jackknife": _jackknife, "bootstrap": _bootstrap}
    curves = fields.integers("curves", n - 1)
    needed = {u[0] for u in result.subspaces if len(u) == len(columns_of(result.groups, u)) == 1}
    if kind not in read or not needed <= set(curves):
        raise Refused(f"'intervals' and 'curves' of {fields.where} must be those of all components of one variable")
    of_outputs = result.sensitivity.S.shape[1:]
    shapes = {"subspace": (len(result.subspaces), *of_outputs), "variable": (n, *of_outputs)}
    widths = {
        name: archive.array(f"intervals/{name}", shapes[index.of], finite=False) for name, index in INDICES.items()
    }
    uncertainty = with_values(read[kind](result, sample, curves, archive), half_widths=widths)
    return replace(result, sensitivity=replace(sensitivity, uncertainty=uncertainty))


def _jackknife(result: Decomposition, sample: Any, variables: list[int], archive: Archive) -> Uncertainty:
    curves = {}
    for j in variables:
        means = archive.array(f"curves/{j}/means", [None])
        shape = (len(result.solutions), len(means) + 1, len(means) + 1)
        curves[j] = Curve(means, archive.array(f"curves/{j}/covariance", shape))
        if result.columns_of(j, np.zeros(1)).shape[1] not in (0, len(means)):
            raise Refused(f"'curves/{j}/means' has another length than the component has columns")
    return with_values(Uncertainty(result, sample, None), curves=curves)


def _bootstrap(result: Decomposition, sample: Any, variables: list[int], archive: Archive) -> Uncertainty:
    counts = [count_columns(result.dictionary, k) for k in range(len(result.solutions))]
    curves = {
        j: [read_matrix(f"curves/{j}/{k}", count, None, archive) for k, count in enumerate(counts)] for j in variables
    }
    return with_values(Bootstrap(result, sample, None), spread=Spread([], curves))
