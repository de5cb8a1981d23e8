"""Count and add up scores of a block of rows in compiled loops.

Every number that is added is a whole one, so that sums are exact in any order. Scores come as rows
(p, m), residuals (m,), by which they are multiplied, and norms (m,) of the products.
"""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def norms(squares, left):
    """Return the norms (m,) of scores from rows' squared norms and their residuals (m,)."""
    return np.sqrt(squares) * np.abs(left)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def above(sizes, unit, edges):
    """Count the sizes (m,) that are above each edge (k,) in units of ``unit``.

    Their number comes first and 0 last, (k + 2,).
    """
    counts, sizes = np.zeros(len(edges) + 2, np.int64), sizes / unit
    counts[0] = len(sizes)
    for e in range(len(edges)):
        edge, count = edges[e], 0
        for i in range(len(sizes)):
            count += sizes[i] > edge
        counts[e + 1] = count
    return counts


@numba.njit(cache=True, nogil=True, error_model="numpy")
def clipped_sums(columns, left, norms, limit, cut, weight, grid):
    """Sum scores clipped to ``limit``, and squared residuals to ``cut``, (p + 1,).

    In units of ``limit`` over ``grid``, and of ``cut`` squared over ``weight`` times ``grid``, each
    cut to a whole number. Exact as long as the number of rows times ``grid`` is at most 2^53.
    """
    factors, squares, sums = np.empty_like(left), 0.0, np.empty(len(columns) + 1)
    for i in range(len(left)):
        factors[i] = left[i] * (grid / max(norms[i], limit))
        part = min(abs(left[i]) / cut, 1.0)
        squares += np.trunc(weight * (part * part) * grid)
    sums[:-1], sums[-1] = cut_sums(columns, factors), squares
    return sums


# Whole numbers add up exactly in any order.
@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def sums_and_squares(columns, factors, weight):
    """Sum vectors s, columns (p, m) times ``factors`` (m,), and ``weight`` |s|^2, (p + 1,).

    Entries and squares are cut to whole numbers. Exact as long as |s|^2 and m times the largest of
    either are at most 2^53.
    """
    sums, squares = np.empty(len(columns) + 1), np.zeros(len(factors))
    for j in range(len(columns)):
        column, total = columns[j], 0.0
        for i in range(len(squares)):
            value = np.trunc(column[i] * factors[i])
            total += value
            squares[i] += value * value
        sums[j] = total
    total = 0.0
    for i in range(len(squares)):
        total += np.trunc(weight * squares[i])
    sums[-1] = total
    return sums


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def cut_sums(columns, factors):
    """Sum each of columns (k, m) times ``factors`` (m,), products cut to whole numbers, (k,).

    Exact as long as m times the largest product is at most 2^53.
    """
    sums = np.empty(len(columns))
    for j in range(len(columns)):
        column, total = columns[j, : len(factors)], 0.0
        for i in range(len(column)):
            total += np.trunc(column[i] * factors[i])
        sums[j] = total
    return sums
