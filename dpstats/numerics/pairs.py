"""Add up functions of pairs of rows within groups, in compiled loops: each pair by itself.

Rows are sorted by group, group g from ``starts[g]`` to ``starts[g + 1]``. A sum is that over groups
of (1/n) times the sum over the pairs of its n rows, rounded down to a whole number group by group:
all else is exact, so that tables which differ in a row differ in the sums of the groups it leaves
and joins alone. A pair is its difference, and the same to the last bit whatever rows stand beside
it and whichever of the two comes first. Exact for groups of up to 2^21 rows.
"""

import numba
import numpy as np

# Products of whole numbers up to 2^20 of so many pairs add up exactly in doubles.
_EXACT = 1 << 12


@numba.njit(cache=True, nogil=True)
def counts(rows, left, scored, limits, starts, one):
    """Count pairs by |a|^2, or by (|a| r)^2 if ``scored``, between ``limits`` (k,); (k + 1,).

    ``a`` is the difference of ``rows`` (n, p) and r that of ``left`` (n,). A pair counts ``one``.
    """
    total, inside = np.zeros(len(limits) + 1, np.int64), np.zeros(len(limits) + 1, np.int64)
    for g in range(len(starts) - 1):
        inside[:] = 0
        for i in range(starts[g], starts[g + 1]):
            for j in range(starts[g], i):
                size = 0.0
                for k in range(rows.shape[1]):
                    apart = rows[i, k] - rows[j, k]
                    size += apart * apart
                if scored:
                    between = left[i] - left[j]
                    size *= between * between
                inside[np.searchsorted(limits, size)] += 1
        for b in range(len(inside)):
            total[b] += inside[b] * one // max(starts[g + 1] - starts[g], 1)
    return total


@numba.njit(cache=True, nogil=True)
def products(rows, length, starts, one):
    """Sum a a' over the differences a of ``rows`` (n, p), cut to a ``length``, (p, p).

    Those are cut toward zero to whole numbers in units of ``length`` over ``one``.
    """
    p = rows.shape[1]
    total, whole = np.zeros((p, p), np.int64), np.empty((p, p), np.int64)
    rest, some, a = np.empty((p, p), np.int64), np.zeros((p, p)), np.empty(p)
    for g in range(len(starts) - 1):
        n, summed = max(starts[g + 1] - starts[g], 1), 0
        whole[:], rest[:] = 0, 0
        for i in range(starts[g], starts[g + 1]):
            for j in range(starts[g], i):
                square = 0.0
                for k in range(p):
                    a[k] = rows[i, k] - rows[j, k]
                    square += a[k] * a[k]
                factor = one / max(np.sqrt(square), length)
                for k in range(p):
                    a[k] = np.trunc(a[k] * factor)
                for k in range(p):
                    for l in range(k + 1):
                        some[k, l] += a[k] * a[l]
                summed += 1
                if summed == _EXACT:
                    _fold(some, n, whole, rest)
                    summed = 0
        _fold(some, n, whole, rest)
        for k in range(p):
            for l in range(k + 1):
                total[k, l] += whole[k, l] + rest[k, l] // n
                total[l, k] = total[k, l]
    return total


@numba.njit(cache=True, nogil=True)
def _fold(some, n, whole, rest):
    """Add whole numbers ``some`` (p, p) to multiples of n and rests, and set them to zero."""
    for k in range(len(some)):
        for l in range(k + 1):
            value = np.int64(some[k, l])
            whole[k, l] += value // n
            rest[k, l] += value % n
            some[k, l] = 0.0


@numba.njit(cache=True, nogil=True)
def scores(rows, left, limit, cut, weight, starts, one):
    """Sum a r clipped to the length ``limit``, and w min(|r| / cut, 1)^2; by group, (G, p + 1).

    ``a`` is the difference of ``rows`` (n, p) and r that of ``left`` (n,), w the ``weight``. They
    are cut toward zero to whole numbers in units of ``limit`` over ``one``, and of 1 over ``one``.
    """
    p = rows.shape[1]
    sums, a, some = np.zeros((len(starts) - 1, p + 1), np.int64), np.empty(p), np.zeros(p + 1)
    for g in range(len(starts) - 1):
        for i in range(starts[g], starts[g + 1]):
            some[:] = 0.0
            for j in range(starts[g], i):
                square, between = 0.0, left[i] - left[j]
                for k in range(p):
                    a[k] = rows[i, k] - rows[j, k]
                    square += a[k] * a[k]
                factor = between * (one / max(np.sqrt(square) * abs(between), limit))
                for k in range(p):
                    some[k] += np.trunc(a[k] * factor)
                part = min(abs(between) / cut, 1.0)
                some[p] += np.trunc(weight * (part * part) * one)
            for k in range(p + 1):
                sums[g, k] += np.int64(some[k])
        for k in range(p + 1):
            sums[g, k] = sums[g, k] // max(starts[g + 1] - starts[g], 1)
    return sums
