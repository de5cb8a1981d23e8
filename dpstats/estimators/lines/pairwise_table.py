"""Compute predictions by the lines through pairs of rows, for many groups, in compiled loops.

Rows are whole numbers of grid steps, and predictions are kept as
:class:`~dpstats.noise.queries.RankTable` wants them: doubled, and odd where they lie between
two grid points.
"""

import numba
import numpy as np

# Predictions beyond this magnitude are equivalent: outputs and their reach end at 5 * 2^24.
_FARTHEST = 2.0**28


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _doubled(x, y, other_x, other_y, x_new):
    """Return the doubled prediction at x_new of the line through two points of different x.

    x, y < 2^24 + 1 and |x_new| <= 2^25 + 1 are whole, so the numerator is a whole number below
    2^52 and exact. The quotient z is a multiple of 1/|dx| and below 2^52 / |dx|: unless whole it
    is farther from any whole number than the division rounds, so its floor is exact too.
    """
    dx = other_x - x
    numerator = y * dx + (other_y - y) * (x_new - x)
    whole = np.floor(numerator / dx)
    between = whole * dx != numerator
    return np.int32(2 * min(max(whole, -_FARTHEST), _FARTHEST) + between)


@numba.njit(cache=True, nogil=True)
def all_pairs(x, y, edges, x_new):
    """List doubled predictions by all pairs of rows of different x, and their edges by group."""
    size = 0
    for g in range(len(edges) - 1):
        n = edges[g + 1] - edges[g]
        size += n * (n - 1) // 2
    doubled, ends, place = np.empty(size + 1, np.int32), np.zeros(len(edges), np.int64), 0
    for g in range(len(edges) - 1):
        for j in range(edges[g], edges[g + 1]):
            for l in range(j + 1, edges[g + 1]):
                doubled[place] = _doubled(x[j], y[j], x[l], y[l], x_new)
                place += x[j] != x[l]
        ends[g + 1] = place
    return doubled[:place], ends


@numba.njit(cache=True, nogil=True)
def given_pairs(x, y, pairs, edges, x_new):
    """List doubled predictions by the given pairs of rows of different x, and their edges."""
    doubled, ends, place = np.empty(len(pairs) + 1, np.int32), np.zeros(len(edges), np.int64), 0
    for g in range(len(edges) - 1):
        for pair in range(edges[g], edges[g + 1]):
            j, l = pairs[pair]
            doubled[place] = _doubled(x[j], y[j], x[l], y[l], x_new)
            place += x[j] != x[l]
        ends[g + 1] = place
    return doubled[:place], ends


@numba.njit(cache=True, nogil=True)
def entries_between(x, y, other_x, other_y, x_new, low, high, written, place):
    """Write the :func:`entries` of a pair of rows that are strictly between two points.

    Returns the place after them; the one at ``place`` is to be written next.
    """
    doubled = _doubled(x, y, other_x, other_y, x_new)
    up, above = (doubled + 1) >> 1, (doubled >> 1) + 1
    if low < up < high:
        written[place] = up
        place += 1
    if low < above < high:
        written[place] = above
        place += 1
    return place


def entries(doubled: np.ndarray) -> np.ndarray:
    """Return two entries for each prediction z: z rounded up, and the next grid point above z.

    They are one and the same unless z is on the grid.

    >>> entries(np.array([6, 7], np.int32))
    array([3, 4, 4, 4], dtype=int32)
    """
    return np.concatenate([(doubled + 1) >> 1, (doubled >> 1) + 1])
