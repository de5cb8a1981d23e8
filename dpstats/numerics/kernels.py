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
def whole_parts(values, one):
    """Return ``one`` times values, clipped to [0, 1] and NaN as 0, cut to whole numbers."""
    out = np.empty(len(values))
    for i in range(len(values)):
        value = values[i] if values[i] > 0.0 else 0.0
        out[i] = np.trunc((value if value < 1.0 else 1.0) * one)
    return out


@numba.njit(cache=True, nogil=True, error_model="numpy")
def places(values, edges, first):
    """Return how many of ascending ``edges`` (k,) are at most each value (m,), less one.

    Values are sought from where they lie between edges ``first`` and k - 1 - ``first``, if the bins
    there are equally wide. That saves time alone; NaN counts as infinite.
    """
    last, out = len(edges) - 1 - first, np.empty(len(values), np.int64)
    per_unit = (last - first) / (edges[last] - edges[first])
    for i in range(len(values)):
        value = values[i] if values[i] == values[i] else np.inf
        guess = (value - edges[first]) * per_unit
        place = first + (int(min(guess, last - first)) if guess > 0 else 0)
        while place >= 0 and value < edges[place]:
            place -= 1
        while place + 1 < len(edges) and value >= edges[place + 1]:
            place += 1
        out[i] = place
    return out


@numba.njit(cache=True, nogil=True)
def dyadic_places(values, dropped, lowest, most, zero):
    """Return the bin of each value (m,): how far above bin ``zero``, or below the one before it.

    That is the exponent and the leading digits of the mantissa, which are the first bits after the
    sign, without the ``dropped`` ones and less ``lowest``, between 0 and ``most``.
    """
    out = np.empty(len(values), np.int64)
    bits = values.view(np.int64)
    for i in range(len(values)):
        steps = ((bits[i] & 0x7FFFFFFFFFFFFFFF) >> dropped) - lowest
        steps = min(max(steps, 0), most)
        out[i] = zero + (steps ^ -np.int64(values[i] < 0))  # -1 - steps below zero
    return out


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


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def weighted_products(columns, weights, one):
    """Sum w z z' over rows z, given as columns (k, m), for weights w (m,); in two parts, (2, k, k).

    All are integers. Each w z_j is h ``one`` + l with |l| < ``one``, a power of two, and the parts
    are the sums of h z_l and of l z_l, exact as long as m of either term add up to at most 2^53.
    """
    k, m = columns.shape
    high, low = np.empty((k, m)), np.empty((k, m))
    for j in range(k):
        for i in range(m):
            heavy = columns[j, i] * weights[i]
            high[j, i] = np.trunc(heavy / one)
            low[j, i] = heavy - high[j, i] * one
    sums = np.empty((2, k, k))
    for j in range(k):
        for l in range(j, k):
            upper = lower = 0.0
            for i in range(m):
                upper += high[j, i] * columns[l, i]
                lower += low[j, i] * columns[l, i]
            sums[0, j, l] = sums[0, l, j] = upper
            sums[1, j, l] = sums[1, l, j] = lower
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


@numba.njit(cache=True, nogil=True)
def lengths(columns):
    """Return the Euclidean norms (m,) of columns (k, m), each by itself.

    numpy adds up the squares of a column that stands alone in another order.
    """
    out = np.zeros(columns.shape[1])
    for j in range(len(columns)):
        column = columns[j]
        for i in range(len(out)):
            out[i] += column[i] * column[i]
    return np.sqrt(out)


@numba.njit(cache=True, nogil=True)
def round_rows(columns, factors, limit):
    """Multiply rows, given as columns (k, m), by ``factors`` (m,), and round and clip them.

    Entries become whole numbers of at most ``limit`` in magnitude, which is whole and at most 2^51.
    The norms of the rows are returned, as :func:`lengths` has them.
    """
    # doubles this large are whole numbers, so that a sum is rounded to one; rint is a slow call
    whole, squares = 1.5 * 2.0**52, np.zeros(columns.shape[1])
    for j in range(len(columns)):
        column = columns[j]
        for i in range(len(column)):
            value = column[i] * factors[i]
            value = value if value < limit else limit
            value = value if value > -limit else -limit
            value = (value + whole) - whole
            column[i] = value
            squares[i] += value * value
    return np.sqrt(squares)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def clipped_residuals(columns, theta, cut, parts, scale):
    """Return w e / c, |e| <= c, for rows (u, v), and the sum of ``scale`` w (e / c)^2, each cut.

    A residual e = v - u'theta that is no number counts as one beyond the cut c.

    Parameters
    ----------
    columns : numpy.ndarray, shape (S + 1, m)
    theta : numpy.ndarray, shape (S,)
    cut, scale : float
    parts : numpy.ndarray, shape (m,)
        The weights w.
    """
    left, total = columns[-1].copy(), 0.0
    for j in range(len(theta)):
        for i in range(len(left)):
            left[i] -= columns[j, i] * theta[j]
    for i in range(len(left)):
        size = left[i] / cut
        size = size if size < 1.0 else 1.0
        size = size if size > -1.0 else -1.0
        left[i] = parts[i] * size
        total += np.trunc(scale * parts[i] * (size * size))
    return left, total


@numba.njit(cache=True, nogil=True)
def sums_of_runs(columns, numbers):
    """Add up columns (k, m) of integers over each run of equal ``numbers`` (m,); (k, runs)."""
    runs = min(len(numbers), 1)
    for i in range(1, len(numbers)):
        runs += numbers[i] != numbers[i - 1]
    sums = np.zeros((len(columns), runs))
    for j in range(len(columns)):
        column, run = columns[j], 0
        for i in range(len(numbers)):
            if i > 0 and numbers[i] != numbers[i - 1]:
                run += 1
            sums[j, run] += column[i]
    return sums


@numba.njit(cache=True, nogil=True)
def less_means(columns, starts):
    """Subtract from columns (k, m) their means over the rows from each start (G + 1,) to the next.

    Values are added up in ascending order, less the smallest, so that their order does not matter.
    """
    out = np.empty(columns.shape)
    for j in range(len(columns)):
        for g in range(len(starts) - 1):
            ascending = np.sort(columns[j, starts[g] : starts[g + 1]])
            total = 0.0
            for value in ascending:
                total += value - ascending[0]
            for i in range(starts[g], starts[g + 1]):
                out[j, i] = columns[j, i] - ascending[0] - total / len(ascending)
    return out


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
