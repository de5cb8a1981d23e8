"""Find the rows that lie far from the others in a noisy histogram."""

import math

import numpy as np


def far_rows(
    counts: np.ndarray, first: int, last: int, deviation: float, clear: np.ndarray | float
) -> np.ndarray:
    """Return how many rows are seen in each bin before ``first`` and after ``last``, (k,).

    Rows spread over bins show in their sum where no bin shows them, so groups of 1, 2, 4, ...
    neighbouring bins are looked at, each for rows that no smaller one in it has shown. They are
    seen from ``clear`` deviations of the noise on their sum on, one for all bins or of each (k,).
    Elsewhere, and from ``first`` to ``last``, there are none.
    """
    seen, needed = np.zeros(len(counts)), np.broadcast_to(clear, counts.shape)
    seen[:first] = _outward(counts[:first][::-1], deviation, needed[:first][::-1])[::-1]
    seen[last + 1 :] = _outward(counts[last + 1 :], deviation, needed[last + 1 :])
    return seen


def _outward(counts: np.ndarray, deviation: float, needed: np.ndarray) -> np.ndarray:
    """Return the rows seen in bins (k,) that lie farther and farther out."""
    seen, free = np.zeros(len(counts)), np.ones(len(counts), dtype=bool)
    for width in 2 ** np.arange((2 * len(counts)).bit_length()):
        for start in range(0, len(counts), width):
            group = start + np.flatnonzero(free[start : start + width])
            noise = deviation * math.sqrt(len(group))
            place = _clearest(counts[group]) if len(group) else 0
            if len(group) and counts[group].sum() > needed[group[place]] * noise:
                seen[group[place]] = counts[group].sum()
                free[group] = False
    return seen


def _clearest(counts: np.ndarray) -> int:
    """Return where in bins (k,) the neighbours begin that stand out most, 1, 2, 4, ... of them."""
    best, place = -math.inf, 0
    for width in 2 ** np.arange(len(counts).bit_length()):
        sums = np.add.reduceat(counts, np.arange(0, len(counts), width)) / math.sqrt(width)
        if sums.max() > best:
            best, place = float(sums.max()), int(sums.argmax() * width)
    return place
