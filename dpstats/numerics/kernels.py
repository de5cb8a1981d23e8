"""Clip, scale, cut to the grid and multiply columns of rows in compiled loops.

Loaded when rows are first summarised, because numba takes a while to load.
"""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def scaled(values, center, scale, limit, out):
    """Write (values - center) / scale, clipped to [-limit, limit], into ``out``.

    NaN becomes -limit. Each operation is rounded as numpy rounds it, so none may be fused or
    reordered.
    """
    for i in range(len(values)):
        value = (values[i] - center) / scale
        value = value if value > -limit else -limit
        out[i] = value if value < limit else limit


@numba.njit(cache=True, nogil=True)
def within(values, low, high, middle, out):
    """Write values, clipped to [low, high], into ``out``; NaN becomes ``middle``."""
    for i in range(len(values)):
        value = values[i] if values[i] > low else low
        value = value if value < high else high
        out[i] = value if values[i] == values[i] else middle


@numba.njit(cache=True, nogil=True)
def cut(columns, units):
    """Turn each entry of columns (k, m) into a number of units of 1 / ``units``, toward zero."""
    for column in columns:
        for i in range(len(column)):
            column[i] = np.trunc(column[i] * units)


# Sums of integers below 2^53 are exact in any order and with any fused operation.
@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def products(columns):
    """Sum the products of any two columns, (k, k), of integers (k, m).

    Exact as long as m times the square of the largest entry is at most 2^53.
    """
    k = len(columns)
    sums = np.empty((k, k))
    for j in range(k):
        for l in range(j, k):
            total = 0.0
            for i in range(columns.shape[1]):
                total += columns[j, i] * columns[l, i]
            sums[j, l] = sums[l, j] = total
    return sums


@numba.njit(cache=True, nogil=True)
def cut_rows(columns, factors):
    """Multiply rows, given as columns (k, m), by ``factors`` (m,); cut to whole numbers."""
    out = np.empty_like(columns)
    for j in range(len(columns)):
        column, target = columns[j], out[j]
        for i in range(len(target)):
            target[i] = np.trunc(column[i] * factors[i])
    return out


@numba.njit(cache=True, nogil=True, error_model="numpy")
def clipped_scores(left, norms, limit, weight, grid):
    """Return what residuals (m,) become where scores are clipped to ``limit``, and a sum.

    Multiplied by these (m,), rows are scores in units of ``limit`` over ``grid``. The sum is of
    weight |s|^2 in these units, for clipped scores s, each cut to a whole number.
    """
    out, total = np.empty_like(left), 0.0
    for i in range(len(left)):
        out[i] = left[i] * (grid / max(norms[i], limit))
        part = min(norms[i] / limit, 1.0)
        total += np.trunc(weight * (part * part) * grid)
    return out, total


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def cut_sums(columns, factors):
    """Sum each of columns (k, m) times ``factors`` (m,), products cut to whole numbers, (k,).

    Exact as long as m times the largest product is at most 2^53.
    """
    sums = np.empty(len(columns))
    for j in range(len(columns)):
        column, total = columns[j], 0.0
        for i in range(len(column)):
            total += np.trunc(column[i] * factors[i])
        sums[j] = total
    return sums


@numba.njit(cache=True, nogil=True)
def code_products(codes, offsets, entries, sums):
    """Add to ``sums`` (M, M) the products of indicators with each other and with numbers.

    ``entries`` (1 + d, m), whole numbers: what each indicator of a row is that is not 0, then its
    numbers, whose coordinates are the last d. Block b has the coordinates from ``offsets[b]`` on,
    of which its ``codes`` (K, m) name one.
    """
    first = len(sums) - len(entries)
    for i in range(codes.shape[1]):
        one = entries[0, i]
        for b in range(len(codes)):
            place = offsets[b] + int(codes[b, i])
            sums[place, place] += one * one
            for c in range(b):
                other = offsets[c] + int(codes[c, i])
                sums[place, other] += one * one
                sums[other, place] += one * one
            for j in range(1, len(entries)):
                sums[place, first + j] += one * entries[j, i]
    for place in range(first + 1):
        for j in range(first + 1, len(sums)):
            sums[j, place] = sums[place, j]


@numba.njit(cache=True, nogil=True)
def above(sizes, edges):
    """Count the sizes above each of the edges (k,), after their number and before 0, (k + 2,)."""
    counts = np.zeros(len(edges) + 2, np.int64)
    counts[0] = len(sizes)
    for e in range(len(edges)):
        edge, count = edges[e], 0
        for i in range(len(sizes)):
            count += sizes[i] > edge
        counts[e + 1] = count
    return counts
