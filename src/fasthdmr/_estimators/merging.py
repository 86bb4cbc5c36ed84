"""Merging of estimators that saw different rows."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from functools import reduce
from typing import Any, TypeVar

from fasthdmr._estimators.incremental import Incremental
from fasthdmr._estimators.row_state import RowState

Estimator = TypeVar("Estimator", bound=Incremental)


def merge(estimators: Iterable[Estimator]) -> Estimator:
    """Merge estimators that were fitted on different rows to one that is fitted on all of them.

    All must have been fitted in parts with the same knots: by `partial_fit`, or `fit` with the parameter `knots`, or
    on `fasthdmr.batches`. Sums over rows are added in the order of the estimators. Another order gives the same
    result up to rounding.

    Parameters
    ----------
    estimators : iterable of TreeHDMR, HDMR or KernelHDMR
        They are not changed, and may be unpickled ones.

    Returns
    -------
    TreeHDMR, HDMR or KernelHDMR
        With the parameters and models of the first one.

    Raises
    ------
    ValueError
        If there are none, or they keep no sums over rows, or their knots, levels, columns or models differ.
    TypeError
        If they are of different classes.

    See Also
    --------
    fasthdmr.batches : Rows that one process reads in batches.

    Examples
    --------
    >>> import fasthdmr
    >>> X, y = fasthdmr.datasets.make_ishigami(4000, random_state=0)
    >>> first = fasthdmr.HDMR().partial_fit(X[:2000], y[:2000])
    >>> second = fasthdmr.HDMR(knots=first.knots_).partial_fit(X[2000:], y[2000:])
    >>> merged = fasthdmr.merge([first, second])
    >>> one_by_one = first.partial_fit(X[2000:], y[2000:])
    >>> bool(abs(merged.predict(X) - one_by_one.predict(X)).max() < 1e-9)
    True
    """
    given: list[Estimator] = list(estimators)
    if not given:
        raise ValueError("There are no estimators to merge.")
    for number, one in enumerate(given):
        _check(given[0], one, number)
    merged = copy(given[0])
    with merged._restored_on_error():
        merged._finish_with(reduce(RowState.merged, [one._state for one in given if one._state is not None]))
    return merged


def _check(first: Any, one: Any, number: int) -> None:
    """Raise an error if an estimator cannot be merged with the first one."""
    if type(one) is not type(first) or not isinstance(one, Incremental):
        raise TypeError(f"Estimators of one class can be merged, got {type(first).__name__} and {type(one).__name__}.")
    if one._start is None or one._state is None:
        raise ValueError(
            f"Estimator {number} keeps no sums over rows. Fit it with partial_fit, on fasthdmr.batches(...), or with "
            "the parameter `knots`."
        )
    assert first._start is not None
    if not first._start.knots.same_as(one._start.knots) or first._column_names != one._column_names:
        raise ValueError(
            f"Estimator {number} has other columns, knots or levels than the first one. Pass the knots_ of one "
            "estimator as the parameter `knots` of all others."
        )
    if not first._decomposes_same(one):
        raise ValueError(f"Estimator {number} has other models or parameters than the first one.")
