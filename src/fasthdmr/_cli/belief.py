"""How far the functions can be believed, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from fasthdmr._results.level_sets import holds_zero

_GOOD, _FAIR = 0.95, 0.8  # R² against the model
_GAP = 0.05  # between rows that were used and others


def belief(hdmr: Any, output: int, fidelity: float) -> list[str]:
    """Return sentences on one output, the most important first.

    Parameters
    ----------
    hdmr : estimator, fitted
    output : int
    fidelity : float
        R² of the components against the model on the rows of the fit. It is used where the fit has none itself.

    Returns
    -------
    list of str
    """
    lines = [
        _of_fidelity(hdmr, output, fidelity),
        _of_residual(hdmr, output),
        _of_intervals(hdmr, output),
        _of_concurvity(hdmr, output),
    ]
    return [line for line in lines if line]


def _of_fidelity(hdmr: Any, output: int, fidelity: float) -> str:
    """Return how much of the model the functions reproduce."""
    known = hdmr.sensitivity_.fidelity
    if known is None:
        return (
            f"The functions reproduce {_percent(fidelity)} of the variance of the model’s output on these rows (R²). "
            f"{_verdict(fidelity)}"
        )
    used, unused = float(known.used[output]), float(known.unused[output])
    gap = " The functions fit these rows better than others; more rows help." if used - unused > _GAP else ""
    return (
        f"The functions reproduce {_percent(used)} of the variance of the model’s output on rows that were used (R²), "
        f"and {_percent(unused)} on rows that were not.{gap} {_verdict(unused)}"
    )


def _verdict(share: float) -> str:
    if share >= _GOOD:
        return "They stand for the model well."
    if share >= _FAIR:
        return "They show the main features of the model, but not its details."
    return "They miss a large part of the model: do not draw conclusions from them alone."


def _of_residual(hdmr: Any, output: int) -> str:
    residual = float(np.atleast_1d(hdmr.residual_)[output])
    return (
        f"{_percent(residual)} of the variance is in none of the functions (the residual): interactions of more "
        "variables, or details finer than the functions."
    )


def _of_intervals(hdmr: Any, output: int) -> str:
    indices = hdmr.sensitivity_
    if indices.S_conf is None or not indices.subspaces:
        return ""
    S, widths = (values.reshape(len(values), -1)[:, output] for values in (indices.S, indices.S_conf))
    count = int(holds_zero(S, widths).sum())
    return f"Of {len(S)} functions, {count} have an interval of S that contains 0: on other rows they may be nothing."


def _of_concurvity(hdmr: Any, output: int) -> str:
    """Return whether effects can be divided among the variables."""
    found = hdmr.decomposition_.concurvity
    if found is None or np.isnan(shares := found.reshape(len(found), -1)[:, output]).all():
        return ""
    j = int(np.nanargmax(shares))
    name = hdmr.decomposition_.feature_names[j]
    return (
        f"Functions of the other variables explain at most {_percent(shares[j])} of the variance of an effect, that of "
        f"{name}. The nearer this is to 100 %, the less do the rows determine how effects are divided among variables."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %".replace("-", "−")
