"""What may be observed: counts of all categories, of those that occurred, or the draws themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr.chisquare.exact_moments import Inverse, inverse_of
from fasthdmr.chisquare.probabilities import SUM_TOLERANCE, check_positive, check_probabilities

# Sums of 1/p that differ from k^2 by less are those of a uniform p.
_UNIFORM_SUM = 1e-9


@dataclass(frozen=True)
class Observed:
    """The categories that occurred, and what is known of the others.

    Attributes
    ----------
    counts, probabilities : ndarray
        Of the categories that occurred.
    unseen : float
        The probability of all the others together.
    inverse : Inverse
    p : ndarray of shape (k,) or None
        All positive probabilities, where they were given.
    """

    counts: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    unseen: float
    inverse: Inverse
    p: NDArray[np.float64] | None

    @property
    def n(self) -> int:
        """The number of observations."""
        return int(self.counts.sum())

    @property
    def is_impossible(self) -> bool:
        """Whether a category of probability 0 occurred."""
        return bool((self.probabilities == 0).any())


def observe(counts: Any, p: Any, *, samples: bool, k: int | None, inverse_sum: float | None) -> Observed:
    """Return the observations in one form.

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
        If they do not fit together.
    """
    if callable(p):
        return _of_callable(counts, p, samples=samples, k=k, inverse_sum=inverse_sum)
    if k is not None or inverse_sum is not None:
        raise ValueError("k and inverse_sum are for a callable p: else p says both.")
    names = _names(p)
    probabilities = check_probabilities(list(p.values()) if isinstance(p, Mapping) else p)
    dense = _dense(counts, names, len(probabilities), samples=samples)
    seen = dense > 0
    unseen = float(probabilities[~seen].sum())
    positive = probabilities[probabilities > 0]
    return _checked(Observed(dense[seen], probabilities[seen], unseen, inverse_of(positive), positive))


def _checked(observed: Observed) -> Observed:
    if observed.n == 0:
        raise ValueError("There are no observations: all counts are 0.")
    return observed


def _is_series(values: Any) -> bool:
    return hasattr(values, "iloc") and hasattr(values, "index")


def _names(p: Any) -> list[Any] | None:
    """Return the categories' names where p has them."""
    if isinstance(p, Mapping):
        return list(p)
    if _is_series(p):
        names = list(p.index)
        if len(set(names)) < len(names):
            raise ValueError("p names a category twice.")
        return names
    return None


def _whole(values: Any, what: str) -> NDArray[np.float64]:
    """Return counts as float64, in which sums and squares do not wrap around."""
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{what} must be one-dimensional and not empty, got shape {array.shape}.")
    try:
        numbers = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} must be whole numbers: {error}.") from error
    if not np.isfinite(numbers).all():
        raise ValueError(f"{what} must be whole numbers, but there are NaN or infinite values.")
    if (numbers != np.floor(numbers)).any():
        raise ValueError(f"{what} must be whole numbers. Are they frequencies? Give the numbers of observations.")
    if (numbers < 0).any():
        raise ValueError(f"{what} must not be negative.")
    return numbers


def _tally(counts: Any, *, samples: bool) -> tuple[list[Any], NDArray[np.float64]]:
    """Return categories and their counts, from draws, a mapping or a Series."""
    if samples:
        draws = counts.tolist() if hasattr(counts, "tolist") else list(counts)
        if any(draw is None or draw != draw for draw in draws):
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
    raise TypeError("counts must be {category: count} or a Series where p is callable, or draws with samples=True.")


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
    """Return observations of categories of which p(category) is known one by one: nothing has size k."""
    if k is None or inverse_sum is None:
        raise ValueError("A callable p needs k, the number of categories, and inverse_sum, the sum of 1/p over them.")
    k = check_positive(k, "k")
    categories, values = _tally(counts, samples=samples)
    seen = values > 0
    probabilities = np.array([p(c) for c, occurred in zip(categories, seen, strict=True) if occurred], dtype=np.float64)
    values = values[seen]
    if not np.isfinite(probabilities).all() or (probabilities < 0).any() or (probabilities > 1).any():
        raise ValueError("p must give a probability, from 0 to 1, for every category that occurred.")
    positive = probabilities[probabilities > 0]
    total, inverse_total = float(positive.sum()), float((1 / positive).sum())
    if total > 1 + SUM_TOLERANCE:
        raise ValueError(f"The probabilities of the categories that occurred sum to {total:.10g}, more than 1.")
    if len(positive) > k:
        raise ValueError(f"{len(positive)} categories occurred, but k is {k}.")
    # Cauchy and Schwarz: sum 1/p >= k^2, equal where p is uniform.
    if not inverse_total * (1 - _UNIFORM_SUM) <= inverse_sum < np.inf or inverse_sum < k**2 * (1 - _UNIFORM_SUM):
        raise ValueError(f"inverse_sum cannot be {inverse_sum:g}: a sum of 1/p over k categories is at least k^2.")
    unseen = max(0.0, 1 - total)
    return _checked(Observed(values, probabilities, unseen, _inverse_of_sums(k, float(inverse_sum)), None))


def _inverse_of_sums(k: int, total: float) -> Inverse:
    """Return how 1/p is distributed; the third moment is that of the power law with the same sum of 1/p."""
    variance = total - float(k) ** 2
    if variance <= _UNIFORM_SUM * total:
        return Inverse(k, float(k) ** 2, 0.0, 0.0)
    alpha = (1 - k**2 / total) ** 0.5
    second, third = 1 / (1 - alpha**2), 1 / ((1 - alpha) ** 2 * (1 + 2 * alpha))  # of 1 / (k p), about 0
    return Inverse(k, total, variance, float(k) ** 3 * (third - 3 * second + 2))
