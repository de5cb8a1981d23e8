"""Add up, in one compiled pass over a column, what its values add to a description."""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def column_sums(values, codes, parts, scale, ends, lengths, weights, sums, counts):
    """Add missing values, trunc(p a t), trunc(p b (2 t^2 - 1)) and counts to the totals of groups.

    With k the bin of a value and t = (value - center) / half, t is cut to the ends of its bin.

    Parameters
    ----------
    values : numpy.ndarray, shape (m,)
    codes, parts : numpy.ndarray, shape (m,) or (0,)
        Group of each row, and what it counts for, as whole numbers; none where all are 0 and 1.
    scale : tuple of center, half, first and width
        Bin k holds what is within half a ``width`` of (first + k) width; the outer ones all beyond.
    ends : numpy.ndarray, shape (size, 2)
        The smallest and the largest t of each bin.
    lengths : tuple of a and b
    weights : numpy.ndarray, shape (size,)
        What counts for p adds floor(p weight) to its bin. Those of rows that count once each are 1.
    sums, counts : numpy.ndarray, shape (groups, 3) and (groups, size), int64
    """
    center, half, first, width = scale
    last = len(weights) - 1
    a, b = lengths
    for i in range(len(values)):
        g = codes[i] if len(codes) else 0
        part = parts[i] if len(parts) else 1.0
        value = values[i]
        if value != value:
            sums[g, 0] += np.int64(part)
            continue
        place = np.floor(value / width + 0.5) - first
        k = int(min(max(place, 0.0), last))
        t = (value - center) / half
        t = t if t > ends[k, 0] else ends[k, 0]
        t = t if t < ends[k, 1] else ends[k, 1]
        sums[g, 1] += np.int64(np.trunc(t * (part * a)))
        sums[g, 2] += np.int64(np.trunc((2 * t * t - 1) * (part * b)))
        counts[g, k] += np.int64(np.floor(part * weights[k]))
