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
