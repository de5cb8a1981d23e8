"""Release medians and quantiles of a column whose range is unknown."""

import math

import numpy as np

from dpstats.noise import Noise, RankQuery
from dpstats.privacy import REPLACE_ONE, PureDP

# The public grid: zero and +-2^e (1 + f / 2^12) for e = -40..59 and f = 0..2^12 - 1, in
# order, so that a number of any size is within a relative 2^-13 of a grid point.
_LOWEST = -40
_OCTAVES = 100
_STEPS = 1 << 12
_ZERO = _OCTAVES * _STEPS
# Cells between grid points, for ends of intervals: eight per factor of two, of either sign.
_CELL = _STEPS // 8
CELLS = 2 * _ZERO // _CELL


def private_median(values: np.ndarray, step: str, cost: PureDP, noise: Noise, neighbors: str):
    """Release a point of a wide public grid near the median of ``values`` (n,).

    Guarantee. epsilon-DP: the exponential mechanism with utility
    -|#{values > r} - #{values < r}| at every grid point r. Adding or removing one row
    moves the difference by at most 1, replacing one by at most 2 (from above r to below).
    The grid has about 8 * 10^5 points whatever the data, so the rank of the release is
    off by about 14 / epsilon rows.
    """
    moved, ordered = 2 if neighbors == REPLACE_ONE else 1, np.sort(values)
    query = RankQuery(step, lambda index: _imbalance(ordered, index), 2 * _ZERO + 1, moved)
    return grid_point(noise.choose(query, cost))


def private_end(values: np.ndarray, excess: int, moved: int, step: str, cost: PureDP, noise):
    """Release the outer edge of a cell with ``excess`` more of the values (n,) above than below.

    That is the lower edge for a positive excess and the upper one for a negative. The cell is one
    of ``CELLS`` between points of the grid.

    Guarantee. epsilon-DP where one person changes ``moved`` / 2 of the values: the exponential
    mechanism whose utility is how near to ``excess`` the difference of :func:`private_median`
    comes within a cell. Between neighbours the difference moves by at most ``moved`` at every
    point, so its least and largest value in a cell do, and so does the number between them
    that is nearest to ``excess``.
    """
    ordered = np.sort(values)

    def imbalance(cell: int) -> int:
        most, least = (_imbalance(ordered, _CELL * edge) - excess for edge in (cell, cell + 1))
        return min(max(least, 0), most)

    cell = noise.choose(RankQuery(step, imbalance, CELLS, moved), cost)
    return grid_point(_CELL * (cell if excess > 0 else cell + 1))


def _imbalance(ordered: np.ndarray, index: int) -> int:
    """Count how many more of the sorted values lie above a grid point than below it."""
    point = grid_point(index)
    below, not_above = (int(ordered.searchsorted(point, side)) for side in ("left", "right"))
    return len(ordered) - not_above - below


def grid_point(index: int) -> float:
    """Return the grid point with this index, 0 <= index <= 2 * 409,600; increasing.

    >>> grid_point(409_600), grid_point(409_600 + 40 * 4096 + 1), grid_point(409_600 - 1)
    (0.0, 1.0, -9.094947017729282e-13)
    """
    if index == _ZERO:
        return 0.0
    octave, step = divmod(abs(index - _ZERO) - 1, _STEPS)
    return math.copysign(math.ldexp(1 + step / _STEPS, octave + _LOWEST), index - _ZERO)
