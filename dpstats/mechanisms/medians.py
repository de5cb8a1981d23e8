"""Private medians and quantiles of a column whose range nobody knows."""

import math

import numpy as np

from dpstats.noise import Noise
from dpstats.noise.queries import RankQuery
from dpstats.privacy import REPLACE_ONE, PureDP

# The public grid: zero and +-2^e (1 + f / 2^12) for e = -40..59 and f = 0..2^12 - 1, in
# order, so that a number of any size is within a relative 2^-13 of a grid point.
_LOWEST = -40
_OCTAVES = 100
_STEPS = 1 << 12
_ZERO = _OCTAVES * _STEPS


def private_median(values: np.ndarray, step: str, cost: PureDP, noise: Noise, neighbors: str):
    """A point of a wide public grid near the median of ``values`` (n,).

    Guarantee. epsilon-DP: the exponential mechanism with utility
    -|#{values > r} - #{values < r}| at every grid point r. Adding or removing one row
    moves the difference by at most 1, replacing one by at most 2 (from above r to below).
    The grid has about 8 * 10^5 points whatever the data, so the rank of the release is
    off by about 14 / epsilon rows.
    """
    moved = 2 if neighbors == REPLACE_ONE else 1
    return private_quantile(values, 0, moved, step, cost, noise)


def private_quantile(values: np.ndarray, excess: int, moved: int, step: str, cost: PureDP, noise):
    """A point of the grid with about ``excess`` more of the values (n,) above than below it.

    Guarantee. epsilon-DP where one person changes ``moved`` / 2 of the values, or adds or
    removes ``moved`` of them: the mechanism of :func:`private_median` with a public number
    taken off the difference.
    """
    ordered = np.sort(values)

    def imbalance(index: int) -> int:
        point = grid_point(index)
        below, not_above = (int(ordered.searchsorted(point, side)) for side in ("left", "right"))
        return len(ordered) - not_above - below - excess

    return grid_point(noise.choose(RankQuery(step, imbalance, 2 * _ZERO + 1, moved), cost))


def grid_point(index: int) -> float:
    """The grid point with this index, 0 <= index <= 2 * 409,600; increasing.

    >>> grid_point(409_600), grid_point(409_600 + 40 * 4096 + 1), grid_point(409_600 - 1)
    (0.0, 1.0, -9.094947017729282e-13)
    """
    if index == _ZERO:
        return 0.0
    octave, step = divmod(abs(index - _ZERO) - 1, _STEPS)
    return math.copysign(math.ldexp(1 + step / _STEPS, octave + _LOWEST), index - _ZERO)
