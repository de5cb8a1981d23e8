"""Compiled loops that whiten rows: each row by itself, one operation after the other.

A row's result is the same to the last bit whatever rows stand beside it, which a matrix product
of a whole batch does not promise.
"""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def standardised(rows, blocks, center, root, far, out):
    """Write root^-1 (x - center) into ``out`` (m, d), for x the numbers after ``blocks`` codes.

    ``root`` (d, d) is lower triangular with a positive diagonal. Each number is cut to
    [-far, far] before the next one is computed from it, and NaN counts as -far, so that what
    is written is finite whatever the row.
    """
    for i in range(len(rows)):
        for j in range(len(center)):
            value = rows[i, blocks + j] - center[j]
            for l in range(j):
                value -= root[j, l] * out[i, l]
            value = value / root[j, j]
            value = value if value > -far else -far
            out[i, j] = value if value < far else far


@numba.njit(cache=True, nogil=True, error_model="numpy")
def whitened(rows, numbers, offsets, codes_to, numbers_to, out):
    """Write the whitened rows (m, p) into ``out`` and return their squared norms (m,).

    A row is the sum of the rows of ``codes_to`` (L, p) that its codes name, block b from
    ``offsets[b]`` on, and of numbers @ ``numbers_to`` (d, p). Without codes it starts from the
    only row of ``codes_to``.
    """
    squares = np.empty(len(rows))
    for i in range(len(rows)):
        for k in range(out.shape[1]):
            value = 0.0
            if len(offsets) == 0:
                value = codes_to[0, k]
            for b in range(len(offsets)):
                value += codes_to[offsets[b] + int(rows[i, b]), k]
            for j in range(numbers.shape[1]):
                value += numbers[i, j] * numbers_to[j, k]
            out[i, k] = value
        total = 0.0
        for k in range(out.shape[1]):
            total += out[i, k] * out[i, k]
        squares[i] = total
    return squares


@numba.njit(cache=True, nogil=True, error_model="numpy")
def residuals(response, rows, theta, out):
    """Write response - rows @ theta into ``out`` (m,), for ``rows`` (m, p)."""
    for i in range(len(rows)):
        value = response[i]
        for k in range(rows.shape[1]):
            value -= rows[i, k] * theta[k]
        out[i] = value
