"""The counting kernels: the only code that imports Numba. Compiled in memory when first used, never cached on disk.

A draw uses a random number r of 64 bits, or half of one. The high half of the product r * k, truncated to 64 bits, is a
row of the alias table; its low half is compared with the threshold of the row. A row is a threshold and an alias of 32
bits each, loaded together.

LANES generators of the family xoshiro256++ run side by side. The compiler vectorises the generators; the
look-ups are independent, so their latencies overlap.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasthdmr._support.optional import require

njit = require("numba", extra="chisquare").njit

LANES = 256
STATE_WORDS = 4 * LANES
_U = np.uint64
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@njit(nogil=True)
def alias_table(p: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return Vose's alias table: threshold << 32 | alias."""
    k = len(p)
    share = p * k
    table = np.empty(k, np.uint64)
    # Rows with a probability below 1/k are stacked from the left, those above from the right.
    stack = np.empty(k, np.int64)
    n_small, first_large = 0, k
    for row in range(k):
        table[row] = (_LOW << _HALF) | _U(row)
        if share[row] < 1:
            stack[n_small] = row
            n_small += 1
        else:
            first_large -= 1
            stack[first_large] = row
    while n_small > 0 and first_large < k:
        n_small -= 1
        small, large = stack[n_small], stack[first_large]
        threshold = min(int(share[small] * 4294967296.0), 4294967295)
        table[small] = (_U(threshold) << _HALF) | _U(large)
        share[large] -= 1 - share[small]
        if share[large] < 1:
            stack[n_small] = large
            n_small += 1
            first_large += 1
    return table


@njit(nogil=True)
def _next_numbers(state: NDArray[np.uint64], numbers: NDArray[np.uint64]) -> None:
    """Advance all generators by one number (xoshiro256++)."""
    for lane in range(LANES):
        a, b = state[lane], state[LANES + lane]
        c, d = state[2 * LANES + lane], state[3 * LANES + lane]
        both = a + d
        numbers[lane] = ((both << _U(23)) | (both >> _U(41))) + a
        shifted = b << _U(17)
        c ^= a
        d ^= b
        state[LANES + lane] = b ^ c
        state[lane] = a ^ d
        state[2 * LANES + lane] = c ^ shifted
        state[3 * LANES + lane] = (d << _U(45)) | (d >> _U(19))


@njit(nogil=True)
def _draw(
    state: NDArray[np.uint64],
    numbers: NDArray[np.uint64],
    halves: NDArray[np.uint32] | None,
    table: NDArray[np.uint64] | None,
    k: int,
    drawn: NDArray[np.uint32],
) -> None:
    """Fill `drawn` with categories, one for each number or each half of one; without a table they are uniform."""
    _next_numbers(state, numbers)
    rows = _U(k)
    for i in range(len(drawn)):
        if halves is None:
            place = (numbers[i] >> _HALF) * rows + (((numbers[i] & _LOW) * rows) >> _HALF)
        else:
            place = _U(halves[i]) * rows
        row = place >> _HALF
        if table is None:
            drawn[i] = row
        else:
            entry = table[row]
            drawn[i] = row if (place & _LOW) < (entry >> _HALF) else entry & _LOW


@njit(nogil=True)
def simulate_dense(
    state: NDArray[np.uint64],
    numbers: NDArray[np.uint64],
    halves: NDArray[np.uint32] | None,
    table: NDArray[np.uint64] | None,
    inverse: NDArray[np.float64] | None,
    counts: NDArray[Any],
    n: int,
    sums: NDArray[np.float64],
    drawn: NDArray[np.uint32],
    at: NDArray[np.int64],
    most: int,
) -> None:
    """Fill sums (runs, 2) with sum N w and sum N^2 w, w = 1/p or 1; every run ends with a pass over all counts.

    It resumes where it stopped: in a run, with a number of draws left, at an index of `drawn`. It returns after about
    `most` draws, since Python handles no signal before that.
    """
    run, left, place = at
    while run < len(sums) and most > 0:
        while left > 0 and most > 0:
            if place == len(drawn):
                _draw(state, numbers, halves, table, len(counts), drawn)
                place = 0
            end = min(len(drawn), place + left)
            for c in drawn[place:end]:  # an explicit index would be checked for negative values
                counts[c] += 1
            most -= end - place
            left -= end - place
            place = end
        if left > 0:
            break
        if inverse is None:
            sums[run, 0], sums[run, 1] = n, _squares(counts)
        else:
            sums[run, 0], sums[run, 1] = _weighted(counts, inverse)
        counts[:] = 0
        run, left = run + 1, n
    at[0], at[1], at[2] = run, left, place


@njit(nogil=True)
def _squares(counts: NDArray[Any]) -> Any:
    """Return the sum of squares."""
    total = np.int64(0)
    for c in range(len(counts)):
        total += np.int64(counts[c]) * np.int64(counts[c])
    return total


@njit(nogil=True)
def _weighted(counts: NDArray[Any], inverse: NDArray[np.float64]) -> tuple[float, float]:
    """Return sum N w and sum N^2 w, with four partial sums of each to hide the latency of additions."""
    s0 = s1 = s2 = s3 = q0 = q1 = q2 = q3 = 0.0
    whole = len(counts) // 4 * 4
    for c in range(0, whole, 4):
        m0, m1 = np.float64(counts[c]), np.float64(counts[c + 1])
        m2, m3 = np.float64(counts[c + 2]), np.float64(counts[c + 3])
        w0, w1, w2, w3 = m0 * inverse[c], m1 * inverse[c + 1], m2 * inverse[c + 2], m3 * inverse[c + 3]
        s0, s1, s2, s3 = s0 + w0, s1 + w1, s2 + w2, s3 + w3
        q0, q1, q2, q3 = q0 + m0 * w0, q1 + m1 * w1, q2 + m2 * w2, q3 + m3 * w3
    for c in range(whole, len(counts)):
        m0 = np.float64(counts[c])
        s0 += m0 * inverse[c]
        q0 += m0 * m0 * inverse[c]
    return (s0 + s1) + (s2 + s3), (q0 + q1) + (q2 + q3)


@njit(nogil=True)
def simulate_sparse(
    state: NDArray[np.uint64],
    numbers: NDArray[np.uint64],
    halves: NDArray[np.uint32] | None,
    table: NDArray[np.uint64] | None,
    inverse: NDArray[np.float64] | None,
    counts: NDArray[Any],
    n: int,
    sums: NDArray[np.float64],
    drawn: NDArray[np.uint32],
    at: NDArray[np.int64],
    most: int,
    touched: NDArray[np.uint32],
) -> None:
    """Do the same with running sums, and reset only the counts that were incremented: no work of size k."""
    run, left, place = at
    while run < len(sums) and most > 0:
        total, squares = (0.0, 0.0) if left == n else (sums[run, 0], sums[run, 1])
        while left > 0 and most > 0:
            if place == len(drawn):
                _draw(state, numbers, halves, table, len(counts), drawn)
                place = 0
            end = min(len(drawn), place + left)
            touched[n - left : n - left + end - place] = drawn[place:end]
            for c in drawn[place:end]:
                weight = 1.0 if inverse is None else inverse[c]
                total += weight
                squares += weight * (2 * np.int64(counts[c]) + 1)
                counts[c] += 1
            most -= end - place
            left -= end - place
            place = end
        sums[run, 0], sums[run, 1] = total, squares
        if left > 0:
            break
        for c in touched:
            counts[c] = 0
        run, left = run + 1, n
    at[0], at[1], at[2] = run, left, place


@njit(nogil=True)
def simulate_occupancy(
    generator: np.random.Generator, hazard: NDArray[np.float64], k: int, n: int, sums: NDArray[np.float64]
) -> None:
    """Do the same for uniform p without counts of categories: only how many of them have each count matters.

    Independent Poisson counts of mean n / k are a uniform sample, given their sum. The sum is corrected to n by adding
    draws in random categories, or by removing random draws. hazard[c] is the probability that a count is c, given that
    it is at least c; its last entry is 1.
    """
    top = len(hazard)
    having = np.empty(top + 1, np.int64)  # number of categories with each count; the last entry is room for added draws
    for run in range(len(sums)):
        rest, drawn = k, 0
        having[:] = 0
        for count in range(top):
            if rest == 0:
                break
            having[count] = generator.binomial(rest, hazard[count]) if count + 1 < top else rest
            rest -= having[count]
            drawn += count * having[count]
        while drawn < n:
            left, count = generator.random() * k, 0
            while count < top - 1 and left >= having[count]:
                left -= having[count]
                count += 1
            having[count] -= 1
            having[count + 1] += 1
            drawn += 1
        while drawn > n:
            left, count = generator.random() * drawn, 1
            while count < top and left >= count * having[count]:
                left -= count * having[count]
                count += 1
            having[count] -= 1
            having[count - 1] += 1
            drawn -= 1
        squares = 0
        for count in range(1, top + 1):
            squares += count * count * having[count]
        sums[run, 0], sums[run, 1] = n, squares
