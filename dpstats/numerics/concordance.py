"""Count concordant minus discordant pairs in O(n log n) time and O(n) memory."""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def _equal_pairs(ordered: np.ndarray, starts: np.ndarray) -> int:
    """Count pairs of equal values within the runs that begin at ``starts``, each ascending."""
    pairs = 0
    for run in range(len(starts)):
        stop = starts[run + 1] if run + 1 < len(starts) else len(ordered)
        length = 1
        for i in range(starts[run] + 1, stop):
            length = length + 1 if ordered[i] == ordered[i - 1] else 1
            pairs += length - 1
    return pairs


@numba.njit(cache=True, nogil=True)
def _merge_halves(source: np.ndarray, target: np.ndarray, low: int, width: int) -> int:
    """Merge two ascending runs of equal length from both ends at once.

    The two ends do not wait for each other, which takes half the time. Each inversion is
    counted once, when its smaller value is written: from the front it passes the greater
    ones still to come, from the back those already written.
    """
    middle, last = low + width, low + 2 * width - 1
    i, j, p, q = low, middle, middle - 1, last
    count = 0
    for step in range(width):
        a, b, c, d = source[i], source[j], source[p], source[q]
        first_right, last_left = a > b, c > d
        target[low + step] = b if first_right else a
        count += (middle - i) * first_right
        i, j = i + 1 - first_right, j + first_right
        target[last - step] = c if last_left else d
        count += (middle - 1 - p) * (1 - last_left)
        p, q = p - last_left, q - 1 + last_left
    return count


@numba.njit(cache=True, nogil=True)
def _merge(source: np.ndarray, target: np.ndarray, low: int, middle: int, high: int) -> int:
    """Merge two ascending runs; return the number of inversions between them."""
    count, i, j = 0, low, middle
    for out in range(low, high):
        if i < middle and (j >= high or source[i] <= source[j]):
            target[out] = source[i]
            i += 1
        else:
            target[out] = source[j]
            j += 1
            count += middle - i
    return count


@numba.njit(cache=True, nogil=True)
def _sort_counting_inversions(values: np.ndarray) -> int:
    """Sort ``values`` in place; return the number of a < b with values[a] > values[b]."""
    count, width, size = 0, 1, len(values)
    source, target = values, np.empty_like(values)
    while width < size:
        for low in range(0, size, 2 * width):
            middle, high = min(low + width, size), min(low + 2 * width, size)
            if high == low + 2 * width:
                count += _merge_halves(source, target, low, width)
            else:
                count += _merge(source, target, low, middle, high)
        source, target = target, source
        width *= 2
    values[:] = source
    return count


@numba.njit(cache=True, nogil=True)
def concordance(values: np.ndarray, starts: np.ndarray, tied_pairs: int) -> int:
    """Count concordant minus discordant pairs of ``values`` with their order.

    Parameters
    ----------
    values : numpy.ndarray, shape (m,)
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


@numba.njit(cache=True, nogil=True)
def in_order_of(order: np.ndarray, starts: np.ndarray, ranks: np.ndarray, ascending: np.ndarray):
    """Put a variable's values in the order of another, tied rows ascending, in O(n) time.

    Parameters
    ----------
    order : numpy.ndarray of int, shape (m,)
        The rows, ascending in the variable.
    starts : numpy.ndarray of int, shape (g,)
        Where each run of rows tied in the other variable begins.
    ranks : numpy.ndarray of int, shape (m,)
        Which of those runs each row is in.
    ascending : numpy.ndarray, shape (m,)
        The variable's values, ascending.

    Returns
    -------
    numpy.ndarray, shape (m,)
        What :func:`concordance` takes.
    """
    free, values = starts.copy(), np.empty_like(ascending)
    for i in range(len(order)):
        run = ranks[order[i]]
        values[free[run]] = ascending[i]
        free[run] += 1
    return values
