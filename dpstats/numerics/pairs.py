"""Add up functions of pairs of rows within groups, in compiled loops: each pair by itself.

A sum is that over groups of (1/W) times the sum over the pairs of rows i, j of a group of
w_i w_j f(i, j), W the sum of what its rows count for, w; without weights each counts for 1. It is
rounded down to a whole number group by group: all else is exact, so that tables which differ in a
row differ in the sums of the groups it leaves and joins alone. A pair is its difference, and the
same to the last bit whatever rows stand beside it and whichever of the two comes first. Exact for
groups of up to 2^21 rows. Where groups begin and what rows count for are
:class:`~dpstats.numerics.pair_groups.PairGroups`, as a plain tuple.
"""

import numba
import numpy as np

# Products of whole numbers up to 2^20 of so many pairs add up exactly in doubles, and whole numbers
# up to 2^40 of so many, and of those of one row more, in integers of 64 bits.
_EXACT, _MANY = 1 << 12, 1 << 21


@numba.njit(cache=True, nogil=True)
def counts(rows, left, scored, limits, groups, one):
    """Count pairs by |a|^2, or by (|a| r)^2 if ``scored``, between ``limits`` (k,); (k + 1,).

    ``a`` is the difference of ``rows`` (n, p) and r that of ``left`` (n,). A pair counts ``one``.
    """
    starts, totals, parts, unit = groups
    bins, shift = len(limits) + 1, one // unit
    total, inside = np.zeros(bins, np.int64), np.zeros(bins, np.int64)
    whole, rest = np.zeros(bins, np.int64), np.zeros(bins, np.int64)
    for g in range(len(totals)):
        start, divisor, summed = starts[g], totals[g], 0
        whole[:], rest[:] = 0, 0
        for i in range(start, starts[g + 1]):
            part = parts[i] * unit * unit
            for j in range(start, i):
                size = 0.0
                for k in range(rows.shape[1]):
                    apart = rows[i, k] - rows[j, k]
                    size += apart * apart
                if scored:
                    between = left[i] - left[j]
                    size *= between * between
                inside[np.searchsorted(limits, size)] += np.int64(part * parts[j])
            summed += i - start
            if summed > _MANY:
                _fold(inside, divisor, whole, rest)
                summed = 0
        _fold(inside, divisor, whole, rest)
        for b in range(bins):
            total[b] += whole[b] * shift + rest[b] * shift // divisor
    return total


@numba.njit(cache=True, nogil=True)
def products(rows, length, groups, one):
    """Sum a a' over the differences a of ``rows`` (n, p), cut to a ``length``, (p, p).

    Those are cut toward zero to whole numbers in units of ``length`` over ``one``, times the roots
    of what both rows count for.
    """
    starts, totals, parts, unit = groups
    p, roots = rows.shape[1], np.sqrt(parts)
    total, a, some = np.zeros((p, p), np.int64), np.empty(p), np.zeros(p * p)
    whole, rest = np.empty(p * p, np.int64), np.empty(p * p, np.int64)
    for g in range(len(totals)):
        start, divisor, summed = starts[g], totals[g], 0
        whole[:], rest[:] = 0, 0
        for i in range(start, starts[g + 1]):
            for j in range(start, i):
                square = 0.0
                for k in range(p):
                    a[k] = rows[i, k] - rows[j, k]
                    square += a[k] * a[k]
                factor = one / max(np.sqrt(square), length) * (roots[i] * roots[j])
                for k in range(p):
                    a[k] = np.trunc(a[k] * factor)
                for k in range(p):
                    for l in range(k + 1):
                        some[k * p + l] += a[k] * a[l]
                summed += 1
                if summed == _EXACT:
                    _fold(some, divisor, whole, rest)
                    summed = 0
        _fold(some, divisor, whole, rest)
        for k in range(p):
            for l in range(k + 1):
                at = k * p + l
                total[k, l] += whole[at] * unit + rest[at] * unit // divisor
                total[l, k] = total[k, l]
    return total


@numba.njit(cache=True, nogil=True)
def _fold(some, divisor, whole, rest):
    """Add whole numbers ``some`` to multiples of a divisor and rests, and set them to zero."""
    for k in range(len(some)):
        value = np.int64(some[k])
        left = rest[k] + value % divisor
        whole[k] += value // divisor + left // divisor
        rest[k] = left % divisor
        some[k] = 0


@numba.njit(cache=True, nogil=True)
def scores(rows, left, limit, cut, weight, groups, one):
    """Sum a r clipped to the length ``limit``, and w min(|r| / cut, 1)^2; by group, (G, p + 1).

    ``a`` is the difference of ``rows`` (n, p) and r that of ``left`` (n,), w the ``weight``. They
    are in units of ``limit`` over ``one``, and of 1 over ``one``; those of a pair are cut toward
    zero to whole numbers of these, over the unit of what rows count for.
    """
    starts, totals, parts, unit = groups
    p, fine = rows.shape[1], one * unit
    sums, inside = np.zeros((len(totals), p + 1), np.int64), np.zeros(p + 1, np.int64)
    a, some, rest = np.empty(p), np.zeros(p + 1), np.empty(p + 1, np.int64)
    for g in range(len(totals)):
        start, divisor, summed = starts[g], totals[g], 0
        rest[:] = 0
        for i in range(start, starts[g + 1]):
            for first in range(start, i, _EXACT):
                some[:] = 0.0
                for j in range(first, min(first + _EXACT, i)):
                    square, between = 0.0, left[i] - left[j]
                    for k in range(p):
                        a[k] = rows[i, k] - rows[j, k]
                        square += a[k] * a[k]
                    both = parts[i] * parts[j]
                    factor = between * (fine / max(np.sqrt(square) * abs(between), limit)) * both
                    for k in range(p):
                        some[k] += np.trunc(a[k] * factor)
                    part = min(abs(between) / cut, 1.0)
                    some[p] += np.trunc(weight * (part * part) * fine * both)
                for k in range(p + 1):
                    inside[k] += np.int64(some[k])
            summed += i - start
            if summed > _MANY:
                _fold(inside, divisor, sums[g], rest)
                summed = 0
        _fold(inside, divisor, sums[g], rest)
    return sums
