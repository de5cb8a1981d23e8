"""Concordant minus discordant pairs in O(n log n) time and O(n) memory."""

import numba
import numpy as np


@numba.njit(cache=True)
def _equal_pairs(ordered: np.ndarray, starts: np.ndarray) -> int:
    """Pairs of equal values within the runs that begin at ``starts``, each run ascending."""
    pairs = 0
    for run in range(len(starts)):
        stop = starts[run + 1] if run + 1 < len(starts) else len(ordered)
        length = 1
        for i in range(starts[run] + 1, stop):
            length = length + 1 if ordered[i] == ordered[i - 1] else 1
            pairs += length - 1
    return pairs


@numba.njit(cache=True)
def _sort_counting_inversions(values: np.ndarray) -> int:
    """Sort ``values`` in place; return the number of a < b with values[a] > values[b]."""
    count, width, size = 0, 1, len(values)
    source, target = values, np.empty_like(values)
    while width < size:
        for low in range(0, size, 2 * width):
            middle, high = min(low + width, size), min(low + 2 * width, size)
            i, j = low, middle
            for out in range(low, high):
                if i < middle and (j >= high or source[i] <= source[j]):
                    target[out] = source[i]
                    i += 1
                else:
                    target[out] = source[j]
                    j += 1
                    count += middle - i
        source, target = target, source
        width *= 2
    values[:] = source
    return count


@numba.njit(cache=True)
def concordance(values: np.ndarray, starts: np.ndarray, tied_pairs: int) -> int:
    """Concordant minus discordant pairs of ``values`` with their order.

    Parameters
    ----------
    values : numpy.ndarray of float, shape (m,)
        In the order of the other variable; overwritten. Rows tied in the other variable
        stand together, ascending in ``values``, and form no pair.
    starts : numpy.ndarray of int, shape (g,)
        Where each run of tied rows begins.
    tied_pairs : int
        Number of pairs within the runs.

    Returns
    -------
    int
        Pairs equal in ``values`` count zero.
    """
    size = len(values)
    tied_in_both = _equal_pairs(values, starts)
    discordant = _sort_counting_inversions(values)
    tied = _equal_pairs(values, np.zeros(min(size, 1), np.int64))
    untied = size * (size - 1) // 2 - tied_pairs - (tied - tied_in_both)
    return untied - 2 * discordant
