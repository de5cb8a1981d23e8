"""Add up functions of pairs of rows within groups, in compiled loops: each pair by itself.

A sum is that over groups of (1/W) times the sum over the pairs of rows i, j of a group of
w_i w_j f(i, j), W the sum of what its rows count for, w; without weights each counts for 1. It is
rounded down to a whole number group by group: all else is exact, so that tables which differ in a
row differ in the sums of the groups it leaves and joins alone. A pair is its difference, and the
same to the last bit whatever rows stand beside it and whichever of the two comes first. Exact for
groups of up to 2^21 rows: larger ones are to be divided, as by the released norm of their sizes.
Where groups begin and what rows count for are :class:`~dpstats.numerics.pair_groups.PairGroups`, as
a plain tuple.

Rows are given as columns. Pairs go through all operations a tile at a time, whose numbers are in
the nearest cache.
"""

import numba
import numpy as np

from dpstats.numerics.score_loops import cut_sums

# Pairs of a tile: products of whole numbers up to 2^20 of so many add up exactly in doubles, and
# whole numbers up to 2^40.
_TILE = 256
# Whole numbers up to 2^40 of so many, and of those of one row more, add up exactly in integers of
# 64 bits.
_MANY = 1 << 21
# Bits of a double that a cell of sizes leaves open: it has a quarter of an octave.
_OPEN = 50


@numba.njit(cache=True, nogil=True)
def counts(columns, left, limits, groups, one):
    """Count pairs by |a|^2, or by (|a| r)^2, between ``limits`` (k,), (k + 1,).

    ``a`` is the difference of the rows (p, n) and r that of ``left`` (n,), unless that is empty. A
    pair counts ``one``.
    """
    starts, totals, parts, unit = groups
    total, inside = np.zeros(len(limits) + 1, np.int64), np.zeros(len(limits) + 1, np.int64)
    whole, rest = np.zeros_like(total), np.zeros_like(total)
    tile, squares, shift = _tile(columns), np.empty(_TILE), one // unit
    ends, first = np.append(limits, np.inf), _first_in_cells(limits)
    for g in range(len(totals)):
        place, summed = (starts[g] + 1, starts[g]), 0
        while place[0] < starts[g + 1]:
            place, filled = _next(columns, left, parts, starts[g], starts[g + 1], place, tile)
            sizes = _sizes(tile, filled, len(left) > 0, squares)
            _count(sizes, tile[2], unit * unit, ends, first, inside)
            summed += filled
            if summed > _MANY:
                summed = _fold(inside, totals[g], whole, rest)
        _add(inside, totals[g], whole, rest, shift, total)
    return total


@numba.njit(cache=True, nogil=True)
def products(columns, length, groups, one):
    """Sum a a' over the differences a of rows (p, n), cut to a ``length``, (p, p).

    Those are cut toward zero to whole numbers in units of ``length`` over ``one``, times the roots
    of what both rows count for.
    """
    starts, totals, parts, unit = groups
    p, roots, none = len(columns), np.sqrt(parts), np.empty(0)
    total, inside = np.zeros(p * p, np.int64), np.zeros(p * p, np.int64)
    whole, rest = np.zeros_like(total), np.zeros_like(total)
    tile, squares = _tile(columns), np.empty(_TILE)
    for g in range(len(totals)):
        place, summed = (starts[g] + 1, starts[g]), 0
        while place[0] < starts[g + 1]:
            place, filled = _next(columns, none, roots, starts[g], starts[g + 1], place, tile)
            factors = _sizes(tile, filled, False, squares)
            _to_length(factors, tile[2], length, one)
            _add_products(tile[0], factors, inside)
            summed += filled
            if summed > _MANY:
                summed = _fold(inside, totals[g], whole, rest)
        _add(inside, totals[g], whole, rest, unit, total)
    lower = total.reshape(p, p)
    return lower + np.triu(lower.T, 1)


@numba.njit(cache=True, nogil=True)
def scores(columns, left, limit, cut, weight, groups, one):
    """Sum a r clipped to the length ``limit``, and w min(|r| / cut, 1)^2; by group, (G, p + 1).

    ``a`` is the difference of the rows (p, n) and r that of ``left`` (n,), w the ``weight``. They
    are in units of ``limit`` over ``one``, and of 1 over ``one``; those of a pair are cut toward
    zero to whole numbers of these, over the unit of what rows count for.
    """
    starts, totals, parts, unit = groups
    p, fine = len(columns), one * unit
    sums, inside = np.zeros((len(totals), p + 1), np.int64), np.zeros(p + 1, np.int64)
    rest, tile, squares = np.zeros(p + 1, np.int64), _tile(columns), np.empty(_TILE)
    for g in range(len(totals)):
        place, summed, rest[:] = (starts[g] + 1, starts[g]), 0, 0
        while place[0] < starts[g + 1]:
            place, filled = _next(columns, left, parts, starts[g], starts[g + 1], place, tile)
            factors = _sizes(tile, filled, False, squares)
            _to_limit(factors, tile, limit, fine)
            inside[:p] += cut_sums(tile[0], factors).astype(np.int64)
            inside[p] += _cut_squares(tile, filled, cut, weight, fine)
            summed += filled
            if summed > _MANY:
                summed = _fold(inside, totals[g], sums[g], rest)
        _fold(inside, totals[g], sums[g], rest)
    return sums


@numba.njit(cache=True, nogil=True)
def _tile(columns):
    """Return room for differences of rows (p, T) and of what is left, and products of parts."""
    return np.empty((len(columns), _TILE)), np.empty(_TILE), np.empty(_TILE)


@numba.njit(cache=True, nogil=True)
def _next(columns, left, parts, start, stop, place, tile):
    """Write the pairs of a group from ``place`` on into a tile; return the next place and how many.

    A place is a row and an earlier one of the group.
    """
    (i, j), (apart, between, both), filled = place, tile, 0
    while i < stop and filled < _TILE:
        run = min(i - j, _TILE - filled)
        there, others = slice(filled, filled + run), slice(j, j + run)
        for k in range(len(columns)):
            _less(columns[k, i], columns[k, others], apart[k, there])
        if len(left):
            _less(left[i], left[others], between[there])
        _times(parts[i], parts[others], both[there])
        filled, j = filled + run, j + run
        if j == i:
            i, j = i + 1, start
    return (i, j), filled


@numba.njit(cache=True, nogil=True)
def _less(one, others, out):
    for t in range(len(out)):
        out[t] = one - others[t]


@numba.njit(cache=True, nogil=True)
def _times(one, others, out):
    for t in range(len(out)):
        out[t] = one * others[t]


@numba.njit(cache=True, nogil=True)
def _sizes(tile, filled, scored, out):
    """Return |a|^2 of the pairs of a tile, or (|a| r)^2 if ``scored``."""
    apart, between, _ = tile
    sizes = out[:filled]
    sizes[:] = 0.0
    for k in range(len(apart)):
        column = apart[k]
        for t in range(len(sizes)):
            sizes[t] += column[t] * column[t]
    if scored:
        for t in range(len(sizes)):
            sizes[t] *= between[t] * between[t]
    return sizes


@numba.njit(cache=True, nogil=True)
def _first_in_cells(limits):
    """Return how many limits are below each cell of doubles of equal first bits."""
    first, place = np.empty(1 << 63 - _OPEN, np.int16), 0
    low = np.zeros(1)
    for cell in range(len(first)):
        low.view(np.int64)[0] = cell << _OPEN
        while place < len(limits) and limits[place] < low[0]:
            place += 1
        first[cell] = place
    return first


@numba.njit(cache=True, nogil=True)
def _count(sizes, both, one, ends, first, inside):
    """Add what pairs count for to the place of their size among ``ends``, the last infinite."""
    bits = sizes.view(np.uint64)
    for t in range(len(sizes)):
        place = np.uint64(first[bits[t] >> np.uint64(_OPEN)])
        # few cells have more than one end, so this step without a branch is mostly the last
        place += np.uint64(ends[place] < sizes[t])
        while ends[place] < sizes[t]:
            place += np.uint64(1)
        inside[place] += np.int64(both[t] * one)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _to_length(squares, both, length, one):
    """Turn squared norms into what scales differences, times ``both``, to a ``length`` of one."""
    for t in range(len(squares)):
        squares[t] = one / max(np.sqrt(squares[t]), length) * both[t]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _to_limit(squares, tile, limit, one):
    """Turn squared norms into what makes differences scores clipped to a ``limit`` of one."""
    _, between, both = tile
    for t in range(len(squares)):
        norm = np.sqrt(squares[t]) * abs(between[t])
        squares[t] = between[t] * (one / max(norm, limit)) * both[t]


# Sums of integers below 2^53 are exact in any order and with any fused operation.
@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "nsz"})
def _cut_squares(tile, filled, cut, weight, one):
    """Sum w min(|r| / cut, 1)^2 of the pairs of a tile, each cut to whole numbers."""
    between, both, total = tile[1][:filled], tile[2], 0.0
    for t in range(len(between)):
        part = min(abs(between[t]) / cut, 1.0)
        total += np.trunc(weight * (part * part) * one * both[t])
    return np.int64(total)


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _add_products(apart, factors, sums):
    """Add products of columns (p, T) times ``factors``, cut to whole numbers, to (p * p,)."""
    p = len(apart)
    for k in range(p):
        column = apart[k]
        for t in range(len(factors)):
            column[t] = np.trunc(column[t] * factors[t])
        for l in range(k + 1):
            other, total = apart[l], 0.0
            for t in range(len(factors)):
                total += column[t] * other[t]
            sums[k * p + l] += np.int64(total)


@numba.njit(cache=True, nogil=True)
def _fold(some, divisor, whole, rest):
    """Add whole numbers ``some`` to multiples of a divisor and rests, and set them to zero."""
    for k in range(len(some)):
        value = rest[k] + some[k]
        whole[k] += value // divisor
        rest[k] = value % divisor
        some[k] = 0
    return 0


@numba.njit(cache=True, nogil=True)
def _add(some, divisor, whole, rest, unit, total):
    """Add to a total all of a group over its divisor, in units, rounded down; set it to zero."""
    for k in range(len(total)):
        value = rest[k] + some[k]
        if value or whole[k]:
            total[k] += (whole[k] + value // divisor) * unit + value % divisor * unit // divisor
            some[k] = whole[k] = rest[k] = 0
