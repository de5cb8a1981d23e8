"""Order rows by their groups, in one pass."""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def by_group(codes, groups):
    """Find the rows of each group by a counting sort that keeps the order within groups.

    Parameters
    ----------
    codes : numpy.ndarray of int64, shape (m,)
        The group of each row, 0..groups-1, or negative for rows to leave out.
    groups : int

    Returns
    -------
    order : numpy.ndarray of int64
        Rows, the first group's first.
    edges : numpy.ndarray of int64, shape (groups + 1,)
        Group g has ``order[edges[g]:edges[g + 1]]``.
    """
    edges = np.zeros(groups + 1, np.int64)
    for code in codes:
        if code >= 0:
            edges[code + 1] += 1
    edges = np.cumsum(edges)
    order, free = np.empty(edges[-1], np.int64), edges.copy()
    for i in range(len(codes)):
        if codes[i] >= 0:
            order[free[codes[i]]] = i
            free[codes[i]] += 1
    return order, edges
