"""Run the exponential mechanism for many groups at once in compiled double precision.

:func:`draw_each` follows :func:`dpstats.noise.exact_samplers.sample_index` in double precision.
Every uniform number there is floor(V n) for a real V in [0, 1), whose first 64 bits are given
here. A double decides where V falls whenever V is farther from the nearest boundary than
all rounding together; a group where it is not gets the answer :data:`UNDECIDED`, once in some
2^18 draws, and exact integers take over from the same first bits. So what is drawn is, bit for
bit, what exact integers alone would have drawn.
"""

import math

import numba
import numpy as np

from dpstats.noise.exact_samplers import MAX_EXPONENT

UNDECIDED = -1
# Words of 64 bits per draw, two per round; a round keeps its point at least half of the time.
WORDS = 16
# Sums of up to 2^8 masses, each right to 2^-50, are right to 2^-44 of the total.
_MOST_BLOCKS = 1 << 8
_MARGIN = 2.0**-44


@numba.njit(cache=True, nogil=True)
def _above_less_below(doubled, r):
    """Count entries above r less those below, branch-free so that it is vectorised."""
    total, at = np.int32(0), np.int32(2 * r)
    for i in range(len(doubled)):
        above = np.int32(np.int32(at - doubled[i]) >> np.int32(31))
        below = np.int32(np.int32(doubled[i] - at) >> np.int32(31))
        total = np.int32(total + np.int32(below - above))
    return np.int64(total)


@numba.njit(cache=True, nogil=True)
def imbalance(doubled, r, reach):
    """Return the number nearest to zero between the imbalances at r + reach and r - reach."""
    if reach == 0:
        return _above_less_below(doubled, r)
    least = max(_above_less_below(doubled, r + reach), 0)
    return min(least, _above_less_below(doubled, r - reach))


@numba.njit(cache=True, nogil=True)
def _weight(score, rate):
    return math.exp(-min(rate * score, MAX_EXPONENT))


@numba.njit(cache=True, nogil=True)
def _best(doubled, first, size, reach, rate):
    """Find the smallest |imbalance| as :func:`dpstats.noise.exact_samplers.best` does."""
    ends = imbalance(doubled, first, reach), imbalance(doubled, first + size - 1, reach)
    if rate * max(abs(ends[0]), abs(ends[1])) <= MAX_EXPONENT:
        return 0
    low, high = 0, size
    while low < high:
        midpoint = (low + high) // 2
        if imbalance(doubled, first + midpoint, reach) < 0:
            high = midpoint
        else:
            low = midpoint + 1
    before = abs(imbalance(doubled, first + max(low - 1, 0), reach))
    return min(before, abs(imbalance(doubled, first + min(low, size - 1), reach)))


@numba.njit(cache=True, nogil=True)
def _weigh(blocks, masses, i, rate, base):
    """Set the lower and upper mass of block i."""
    start, stop, first, last = blocks[i, 0], blocks[i, 1], blocks[i, 2], blocks[i, 3]
    least = 0 if first >= 0 >= last else min(abs(first), abs(last))
    largest = max(abs(first), abs(last), base)
    masses[i, 0] = (stop - start) * _weight(largest - base, rate)
    masses[i, 1] = (stop - start) * _weight(max(least, base) - base, rate)


@numba.njit(cache=True, nogil=True)
def _widest(masses, m):
    """Find the block whose masses differ most; -1 when the lower are about half the upper."""
    lower, upper, gap, worst = 0.0, 0.0, -1.0, 0
    for i in range(m):
        lower += masses[i, 0]
        upper += masses[i, 1]
        if masses[i, 1] - masses[i, 0] > gap:
            gap, worst = masses[i, 1] - masses[i, 0], i
    return -1 if 2 * lower >= upper * (1 - 2.0**-32) else worst


@numba.njit(cache=True, nogil=True)
def partition(doubled, first, size, reach, rate, base):
    """Cut the grid until the lower masses add up to half the upper ones, or very nearly.

    Returns the blocks (start, stop, first imbalance, last imbalance), int64 (m, 4) in the
    order of the grid, and their lower and upper masses, (m, 2).
    """
    blocks, masses, m = np.empty((64, 4), np.int64), np.empty((64, 2)), 1
    blocks[0, 0], blocks[0, 1] = 0, size
    blocks[0, 2] = imbalance(doubled, first, reach)
    blocks[0, 3] = imbalance(doubled, first + size - 1, reach)
    _weigh(blocks, masses, 0, rate, base)
    i = _widest(masses, m)
    while i >= 0:
        start, stop, high = blocks[i, 0], blocks[i, 1], blocks[i, 2]
        midpoint = (start + stop) // 2
        if midpoint == start:
            blocks[i, 3] = high
        else:
            if m == len(blocks):
                blocks, masses = np.concatenate((blocks, blocks)), np.concatenate((masses, masses))
            for j in range(m, i, -1):
                for column in range(4):
                    blocks[j, column] = blocks[j - 1, column]
                masses[j, 0], masses[j, 1] = masses[j - 1, 0], masses[j - 1, 1]
            m += 1
            at_middle = imbalance(doubled, first + midpoint, reach)
            blocks[i, 1], blocks[i, 3] = midpoint, at_middle if midpoint - start > 1 else high
            blocks[i + 1, 0], blocks[i + 1, 2] = midpoint, at_middle
            _weigh(blocks, masses, i + 1, rate, base)
        _weigh(blocks, masses, i, rate, base)
        i = _widest(masses, m)
    return blocks[:m], masses[:m]


@numba.njit(cache=True, nogil=True)
def _draw(doubled, first, size, reach, rate, words):
    """Draw one index, or return UNDECIDED."""
    base = _best(doubled, first, size, reach, rate)
    blocks, masses = partition(doubled, first, size, reach, rate, base)
    if len(blocks) > _MOST_BLOCKS:
        return UNDECIDED
    total = masses[:, 1].sum()
    for round_ in range(0, len(words), 2):
        rest, b = np.float64(words[round_]) * 2.0**-64 * total, 0
        while b < len(blocks) - 1 and rest >= masses[b, 1]:
            rest -= masses[b, 1]
            b += 1
        width = blocks[b, 1] - blocks[b, 0]
        upper = masses[b, 1] / width
        low, high = (rest - _MARGIN * total) / upper, (rest + _MARGIN * total) / upper
        if low < 0 or high >= width or math.floor(low) != math.floor(high):
            return UNDECIDED
        index = blocks[b, 0] + math.floor(low)
        score = abs(imbalance(doubled, first + index, reach)) - base
        excess = np.float64(words[round_ + 1]) * 2.0**-64 - _weight(score, rate) / upper
        if abs(excess) <= _MARGIN:
            return UNDECIDED
        if excess < 0:
            return index
    return UNDECIDED


@numba.njit(cache=True, nogil=True)
def draw_each(doubled, edges, first, size, reach, rates, words):
    """Draw an index per group, UNDECIDED where double precision does not decide.

    Parameters
    ----------
    doubled, edges, first, size, reach
        As in :class:`~dpstats.noise.queries.RankTable`.
    rates : numpy.ndarray, shape (G,)
    words : numpy.ndarray of uint64, shape (G, WORDS)
        The first bits of the uniform numbers of each group, in the order of their use.
    """
    drawn = np.empty(len(rates), np.int64)
    for g in range(len(rates)):
        entries = doubled[edges[g] : edges[g + 1]]
        drawn[g] = _draw(entries, first, size, reach, rates[g], words[g])
    return drawn
