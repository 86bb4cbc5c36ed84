"""The assembly of a decomposition from the solutions of all outputs: indices, warnings, fidelity and intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fasthdmr._dictionaries.dictionary import Dictionary
from fasthdmr._results.concurvity import concurvity
from fasthdmr._results.decomposition import Decomposition, is_kept
from fasthdmr._results.fidelity import Fidelity
from fasthdmr._results.sensitivity import Sensitivity
from fasthdmr._solve.hierarchy import Solution, indices_of
from fasthdmr._solve.problem import Kept
from fasthdmr._spans.levels import merged_levels
from fasthdmr._support.choices import IntervalMethod
from fasthdmr._support.groups import Groups
from fasthdmr._support.sample import Sample
from fasthdmr._support.scale import Deviations, in_units
from fasthdmr._support.warnings import ConstantWarning, LevelsWarning, ResidualWarning, warn
from fasthdmr._uncertainty.bootstrap import KINDS

_NAMED = 3  # the largest number of merges in a warning
_LARGE_RESIDUAL = 0.1


def assemble(
    dictionary: Dictionary,
    solutions: Sequence[Solution],
    kept: Kept,
    *,
    feature_names: tuple[str, ...],
    output_names: tuple[str, ...] | None,
    data: Deviations | None = None,
    sample: Sample | None = None,
    ci: IntervalMethod | None = "jackknife",
    remedy: Callable[[], str] | None = None,
    unit: str = "",
    levels: Mapping[int, tuple[Any, ...]] | None = None,
    groups: Groups | None = None,
    targets: tuple[str, ...] = (),
    n_threads: int = 1,
) -> Decomposition:
    """Combine the solutions of all outputs, and compute the indices (spec 2).

    Parameters
    ----------
    dictionary : Dictionary
    solutions : sequence of Solution
    kept : Kept
    feature_names, output_names : tuple of str
    data : Deviations or None
        The indices are divided by the variances of these data. None: by the variance of each output.
    sample : Sample or None
    ci : str or None
        The method of confidence intervals, "jackknife" or "bootstrap". None: there are no intervals, because the
        measure is not that of the rows.
    remedy : callable or None
        Returns the advice in the warning of a large residual. None: there is no warning, because a large residual is
        expected.
    unit : str
    levels : dict of int to tuple, optional
        The levels of categorical variables, by code.
    groups : Groups, optional
        The columns of each variable.
    targets : tuple of str
        What each output is of.
    n_threads : int
        For the intervals, which are computed when they are first asked for.

    Returns
    -------
    Decomposition

    Warns
    -----
    ConstantWarning
        If an output or the data are constant. The indices are 0 then.
    ResidualWarning
        If the residual has more than a tenth of the variance of an output.
    ConcurvityWarning
        If a main effect is nearly a sum of functions of other variables.
    LevelsWarning
        If levels of categorical variables are merged in some spans.
    """
    subspaces = sorted({u for s in solutions for u in s.subspaces if u in kept}, key=lambda u: (len(u), u))
    _warn_of_constants([s.is_constant for s in solutions], "The output of the black box", output_names)
    if data is not None:
        _warn_of_constants(data.is_constant & [not s.is_constant for s in solutions], "y", output_names)
    divisors = [_divisor(solution, data, k) for k, solution in enumerate(solutions)]
    Sa, S = indices_of(solutions, subspaces, divisors)
    residual, reported, left = [], [], []
    for solution, divisor in zip(solutions, divisors, strict=True):
        rest = solution.total - solution.covariance[is_kept(solution, subspaces)].sum()
        residual.append(0.0 if divisor == 0 else 1 / divisor * rest)
        left.append(0.0 if solution.is_constant else rest / solution.total)
        reported.append(in_units(divisor, solution.scale))
    _warn_of_residual(left, remedy, output_names)
    _warn_of_merged_levels(dictionary, feature_names if groups is None else groups.column_names)
    one = output_names is None
    sensitivity = Sensitivity(
        subspaces,
        Sa[:, 0] if one else Sa,
        S[:, 0] if one else S,
        residual[0] if one else np.array(residual),
        reported[0] if one else np.array(reported),
        feature_names,
        output_names,
    )
    result = Decomposition(dictionary, tuple(solutions), subspaces, sensitivity, feature_names, output_names, sample)
    result = replace(result, unit=unit, levels=levels or {}, groups=groups, targets=targets)
    result = replace(result, concurvity=concurvity(result))
    if all(s.projection is not None for s in solutions) and sample is not None:
        sensitivity = replace(sensitivity, fidelity=Fidelity(result))
        result = replace(result, sensitivity=sensitivity)
    if sample is None or ci is None or not np.isfinite(sample.n_effective):
        return result
    uncertainty = KINDS[ci](result, sample, None if data is None else np.array(divisors), n_threads)
    return replace(result, sensitivity=replace(sensitivity, uncertainty=uncertainty))


def _divisor(solution: Solution, data: Deviations | None, output: int) -> float:
    """Return the divisor of an output's indices, in units of its scale²; 0 if the indices are 0."""
    if solution.is_constant or (data is not None and data.is_constant[output]):
        return 0.0
    if data is None:
        return solution.total
    with np.errstate(all="ignore"):
        divisor = float(in_units(data.variance[output], data.scale[output] / solution.scale))
        if not 0 < np.divide(1, divisor) < np.inf:
            raise ValueError(
                "normalise='data' divides by the variance of y, but the magnitudes of y and of the output differ so "
                "much that the ratio overflows. Convert both to the same units, or use normalise='output'."
            )
    return divisor


def _warn_of_constants(is_constant: ArrayLike, what: str, output_names: tuple[str, ...] | None) -> None:
    """Warn once if some of the outputs are constant."""
    if len(constant := np.flatnonzero(is_constant)):
        which = "" if output_names is None else " (outputs " + ", ".join(output_names[k] for k in constant) + ")"
        warn(f"{what} is constant{which}: its indices are 0.", ConstantWarning)


def _warn_of_residual(
    left: Sequence[float], remedy: Callable[[], str] | None, output_names: tuple[str, ...] | None
) -> None:
    """Warn once if some residuals are large; `left` are their shares of the variances of the outputs."""
    much = [k for k, share in enumerate(left) if share > _LARGE_RESIDUAL]
    if remedy is not None and much:
        which = "" if output_names is None else " (outputs " + ", ".join(output_names[k] for k in much) + ")"
        warn(
            f"The residual has {max(left):.2g} of the variance of the black box{which}: {remedy()} would reduce it.",
            ResidualWarning,
        )


def _warn_of_merged_levels(dictionary: Dictionary, names: Sequence[str]) -> None:
    """Warn once if levels of categorical variables are merged."""
    merged = [] if dictionary.basis is None else merged_levels(dictionary.basis)
    if not merged:
        return
    words = {1: "single variables", 2: "pairs", 3: "triples"}
    parts = [
        f"the {n_merged:,} rarest of {n_levels:,} levels of {names[j]} in spans of {words.get(t, f'{t} variables')}"
        for j, t, n_levels, n_merged in merged
    ]
    more = f" (and {len(parts) - _NAMED} more)" if len(parts) > _NAMED else ""
    warn(
        f"Levels are merged, since spans with an indicator for each would be too large: {'; '.join(parts[:_NAMED])}"
        f"{more}. To choose which are merged, give levels the same name in X. To merge fewer, choose fewer subspaces "
        "with `interactions`.",
        LevelsWarning,
    )
