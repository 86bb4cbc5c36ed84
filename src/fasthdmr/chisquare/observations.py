"""Forms of observations: counts of all categories, of those that occurred, or the draws themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr.chisquare.exact_moments import Inverse, inverse_of
from fasthdmr.chisquare.probabilities import (
    MOST_DRAWS,
    check_numbers,
    check_positive,
    check_probabilities,
    sum_tolerance,
)

# Relative difference of the sum of 1/p from k^2 below which p is uniform.
_UNIFORM_SUM = 1e-9


@dataclass(frozen=True)
class Observed:
    """The categories that occurred, and the known properties of the others.

    Attributes
    ----------
    counts, probabilities : ndarray
        Counts and probabilities of the categories that occurred.
    unseen : float
        The probability of all the others together.
    inverse : Inverse
    p : ndarray of shape (k,) or None
        All positive probabilities, if they were given.
    tolerance : float
        The square root of the machine epsilon of the dtype of p.
    """

    counts: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    unseen: float
    inverse: Inverse
    p: NDArray[np.float64] | None
    tolerance: float

    @property
    def n(self) -> int:
        """The number of observations."""
        return int(self.counts.sum())

    @property
    def is_impossible(self) -> bool:
        """Whether a category of probability 0 occurred."""
        return bool((self.probabilities == 0).any())


def observe(counts: Any, p: Any, *, samples: bool, k: int | None, inverse_sum: float | None) -> Observed:
    """Return the observations in a common form.

    Parameters
    ----------
    counts : array-like, Series, mapping
        See `test`.
    p : array-like, Series, mapping or callable
    samples : bool
    k : int or None
    inverse_sum : float or None

    Returns
    -------
    Observed

    Raises
    ------
    ValueError, TypeError
        If the arguments are inconsistent.
    """
    if callable(p):
        return _of_callable(counts, p, samples=samples, k=k, inverse_sum=inverse_sum)
    if k is not None or inverse_sum is not None:
        raise ValueError("k and inverse_sum are for a callable p, but p holds all probabilities. Leave both out.")
    names = _names(p)
    values = list(p.values()) if isinstance(p, Mapping) else p
    probabilities, tolerance = check_probabilities(values), sum_tolerance(np.asarray(values))
    dense = _dense(counts, names, len(probabilities), samples=samples)
    seen = dense > 0
    unseen = float(probabilities[~seen].sum())
    positive = probabilities[probabilities > 0]
    return _checked(Observed(dense[seen], probabilities[seen], unseen, inverse_of(positive), positive, tolerance))


def terms(
    counts: NDArray[np.float64], expected: NDArray[np.float64] | float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what categories add to chi2, and to hdmr - k.

    Parameters
    ----------
    counts : ndarray
    expected : ndarray or float
        n p of each, positive or 0.

    Returns
    -------
    tuple of ndarray

    Examples
    --------
    >>> terms(np.array([0.0, 1.0, 4.0]), 2.0)
    (array([2. , 0.5, 2. ]), array([2., 0., 0.]))
    """
    with np.errstate(over="ignore", invalid="ignore"):  # overflow gives infinity
        squares = (counts - expected) ** 2 / expected
        # A rare category that occurred once adds 1/(n p) to chi2 and to S / n, which would cancel.
        pairs = counts * (counts - 1) / expected + expected - 2 * counts
        return squares, np.where(2 * expected < counts, pairs, squares - counts / expected)


def _checked(observed: Observed) -> Observed:
    if len(observed.counts) == 0:
        raise ValueError("counts must have at least one observation, but all are 0.")
    if observed.counts.max() > MOST_DRAWS or observed.n > MOST_DRAWS:
        raise ValueError(f"There are more than 2^63 observations: counts go up to {observed.counts.max():.6g}.")
    return observed


def _is_series(values: Any) -> bool:
    return hasattr(values, "iloc") and hasattr(values, "index")


def _names(p: Any) -> list[Any] | None:
    """Return the names of the categories if p has them."""
    if isinstance(p, Mapping):
        return list(p)
    if _is_series(p):
        names = list(p.index)
        if len(set(names)) < len(names):
            raise ValueError("p names a category twice.")
        return names
    return None


def _whole(values: Any, what: str) -> NDArray[np.float64]:
    """Return counts as float64, so that sums and squares do not overflow as integers would."""
    array = check_numbers(values, f"{what} must be whole numbers")
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{what} must be one-dimensional and not empty, got shape {array.shape}.")
    try:
        with np.errstate(over="ignore"):  # overflow gives infinity
            numbers = array.astype(np.float64)
    except OverflowError as error:
        raise ValueError(f"{what} must be at most 2^63: {error}.") from error
    if not np.isfinite(numbers).all():
        raise ValueError(f"{what} must be whole numbers, but there are NaN or infinite values.")
    if (numbers != np.floor(numbers)).any():
        raise ValueError(f"{what} must be whole numbers. Pass numbers of observations, not relative frequencies.")
    if (numbers < 0).any():
        raise ValueError(f"{what} must not be negative.")
    return numbers


def _tally(counts: Any, *, samples: bool) -> tuple[list[Any], NDArray[np.float64]]:
    """Return categories and their counts, from draws, a mapping or a Series."""
    if samples:
        if isinstance(counts, Mapping):
            raise TypeError(
                "With samples=True, counts must be the draws themselves, got a mapping. Pass samples=False for counts."
            )
        draws = counts.tolist() if hasattr(counts, "tolist") else list(counts)
        if np.ma.is_masked(counts) or any(draw is None or draw != draw for draw in draws):
            raise ValueError("The samples have missing values.")
        tally = Counter(draws)
        return list(tally), np.fromiter(tally.values(), np.float64, len(tally))
    if isinstance(counts, Mapping):
        return list(counts), _whole(list(counts.values()), "counts")
    if _is_series(counts):
        names = list(counts.index)
        if len(set(names)) < len(names):
            raise ValueError("counts name a category twice.")
        return names, _whole(counts, "counts")
    raise TypeError("With a callable p, counts must be {category: count}, a Series, or draws with samples=True.")


def _dense(counts: Any, names: list[Any] | None, k: int, *, samples: bool) -> NDArray[np.float64]:
    """Return the counts of all k categories, in the order of p."""
    named = isinstance(counts, Mapping) or (_is_series(counts) and names is not None)
    if not samples and not named:
        dense = _whole(counts, "counts")
        if len(dense) != k:
            raise ValueError(f"There are {len(dense)} counts, but {k} probabilities.")
        return dense
    if samples and names is None:
        draws = _whole(counts, "Samples")
        if draws.max() >= k:
            raise ValueError(f"Category {draws.max():.0f} occurred, but p has categories 0 to {k - 1}.")
        return np.bincount(draws.astype(np.int64), minlength=k).astype(np.float64)
    categories, values = _tally(counts, samples=samples)
    places = {name: place for place, name in enumerate(range(k) if names is None else names)}
    dense = np.zeros(k)
    for category, value in zip(categories, values, strict=True):
        if category not in places:
            raise ValueError(f"Category {category!r} occurred, but p does not name it.")
        dense[places[category]] = value
    return dense


def _of_callable(
    counts: Any, p: Callable[[Any], float], *, samples: bool, k: int | None, inverse_sum: float | None
) -> Observed:
    """Return observations if p is a callable; no array has size k."""
    if k is None or inverse_sum is None:
        raise ValueError("A callable p needs k, the number of categories, and inverse_sum, the sum of 1/p over them.")
    k = check_positive(k, "k")
    categories, values = _tally(counts, samples=samples)
    seen = values > 0
    found = [p(category) for category, occurred in zip(categories, seen, strict=True) if occurred]
    given = check_numbers(found, "p must give numbers")
    probabilities, tolerance = given.astype(np.float64), sum_tolerance(given)
    values = values[seen]
    if not np.isfinite(probabilities).all() or (probabilities < 0).any() or (probabilities > 1).any():
        raise ValueError("p must give a probability, from 0 to 1, for every category that occurred.")
    positive = probabilities[probabilities > 0]
    total, others = float(positive.sum()), k - len(positive)
    if total > 1 + tolerance:
        raise ValueError(f"The probabilities of the categories that occurred sum to {total:.10g}, more than 1.")
    if others < 0:
        raise ValueError(f"{len(positive)} categories occurred, but k is {k}.")
    if others == 0 and total < 1 - tolerance:
        raise ValueError(f"All k = {k} categories occurred, but their probabilities sum to {total:.10g}, less than 1.")
    if others == 0:
        probabilities, positive = probabilities / total, positive / total
    unseen = max(0.0, 1 - total) if others > 0 else 0.0
    _check_inverse_sum(inverse_sum, positive, others, unseen, tolerance)
    if k == 2 and len(positive) > 0:
        pair = positive if others == 0 else np.append(positive, _other_of_two(positive[0], inverse_sum))
        return _checked(Observed(values, probabilities, unseen, inverse_of(pair), pair, tolerance))
    inverse = _inverse_of_sums(k, float(inverse_sum))
    return _checked(Observed(values, probabilities, unseen, inverse, None, tolerance))


def _check_inverse_sum(
    inverse_sum: float, positive: NDArray[np.float64], others: int, unseen: float, tolerance: float
) -> None:
    """Raise an error if no `others` categories with total probability `unseen` can have this sum of 1/p."""
    with np.errstate(over="ignore"):
        known = float((1 / positive).sum())
    # The Cauchy-Schwarz inequality, with equality if p is uniform on the others.
    least = known + others**2 / (unseen + tolerance)
    most = known if others == 0 else np.inf
    if not least * (1 - tolerance) <= inverse_sum <= most * (1 + tolerance) or np.isinf(inverse_sum):
        limit = "is" if others == 0 else "is at least"
        raise ValueError(
            f"inverse_sum cannot be {inverse_sum:g}: given the probabilities from p, the sum of 1/p {limit} {least:g}."
        )


def _other_of_two(p: float, inverse_sum: float) -> float:
    """Return the probability of the other category, without the rounding error of 1 - p if it is small."""
    return 1 - p if p <= 0.5 else 1 / (inverse_sum - 1 / p)


def _inverse_of_sums(k: int, total: float) -> Inverse:
    """Return the moments of 1/p; the third is that of the power law with the same sum of 1/p."""
    variance = total - float(k) ** 2
    if variance <= _UNIFORM_SUM * total:
        return Inverse(k, float(k) ** 2, 0.0, 0.0)
    alpha = (1 - k**2 / total) ** 0.5
    second, third = 1 / (1 - alpha**2), 1 / ((1 - alpha) ** 2 * (1 + 2 * alpha))  # of 1 / (k p), about 0
    return Inverse(k, total, variance, float(k) ** 3 * (third - 3 * second + 2))
