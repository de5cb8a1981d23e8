"""Find the rows that lie far from the others in a noisy histogram."""

import math
from functools import lru_cache

import numpy as np

from dpstats.range_estimation.histogram import Histogram

# Where Chernoff's bound is tried.
_SLOPES = np.linspace(0.01, 0.999, 200) * math.sqrt(2)
# What rounding may add to a sum, over the sum of absolute values.
_ROUNDING = 1e-9


def far_rows(histogram: Histogram, first: int, last: int, clear: np.ndarray | float) -> np.ndarray:
    """Return how many rows are seen in each bin before ``first`` and after ``last``, (k,).

    Rows spread over bins show in their sum where no bin shows them, so groups of 1, 2, 4, ...
    neighbouring bins are looked at, each for rows that no smaller one in it has shown. They are
    seen where noise on their sum is as rarely as a normal variable is ``clear`` deviations from
    zero, one number for all bins or of each (k,). Elsewhere, and from ``first`` to ``last``, there
    are none.
    """
    counts = histogram.counts
    seen, needed = np.zeros(len(counts)), np.broadcast_to(clear, counts.shape)
    seen[:first] = _outward(histogram, counts[:first][::-1], needed[:first][::-1])[::-1]
    seen[last + 1 :] = _outward(histogram, counts[last + 1 :], needed[last + 1 :])
    return seen


def _outward(histogram: Histogram, counts: np.ndarray, needed: np.ndarray) -> np.ndarray:
    """Return the rows seen in bins (k,) that lie farther and farther out."""
    seen, free = np.zeros(len(counts)), np.ones(len(counts), dtype=bool)
    for width in (2 ** np.arange((2 * len(counts)).bit_length())).tolist():
        for start in _perhaps_clear(histogram, counts, needed, free, width):
            group = start + np.flatnonzero(free[start : start + width])
            place, total = _clearest(counts[group]), counts[group].sum()
            if _is_clear(histogram, total, len(group), float(needed[group[place]])):
                seen[group[place]] = total
                free[group] = False
    return seen


def _perhaps_clear(
    histogram: Histogram, counts: np.ndarray, needed: np.ndarray, free: np.ndarray, width: int
) -> list[int]:
    """Return where groups of ``width`` bins begin whose sum over ``free`` ones may be clear.

    Most are not, and are left out by all sums at once, which rounding may have changed.
    """
    starts = np.arange(0, len(counts), width)
    sums = np.add.reduceat(np.where(free, counts, 0.0), starts)
    bins = np.add.reduceat(free.astype(np.int64), starts)
    least = np.minimum.reduceat(needed, starts) * histogram.event.deviation * np.sqrt(bins)
    rounding = _ROUNDING * np.abs(counts).sum()
    return starts[(bins > 0) & (sums + rounding > least)].tolist()


def _is_clear(histogram: Histogram, total: float, bins: int, clear: float) -> bool:
    """Tell whether noise alone hardly ever gives so large a sum over so many bins."""
    deviation = histogram.event.deviation
    if total <= clear * deviation * math.sqrt(bins):
        return False
    return not histogram.is_laplace or total > deviation * rare(clear, bins)


@lru_cache(maxsize=4096)
def rare(clear: float, terms: int) -> float:
    """Bound what a sum of Laplace variables exceeds as rarely as a normal one ``clear`` deviations.

    There are so many ``terms`` of variance 1. By Chernoff's bound P(sum >= t) is at most
    e^(-a t) (1 - a^2 / 2)^(-terms) for any a below sqrt 2; the smallest t on a grid of a is taken.

    >>> round(rare(4.5, 1), 1), round(rare(4.5, 1000) / 1000**0.5, 1)
    (11.1, 5.0)
    """
    from scipy.special import log_ndtr

    chance = -float(log_ndtr(-clear))
    return float(((chance - terms * np.log1p(-(_SLOPES**2) / 2)) / _SLOPES).min())


def _clearest(counts: np.ndarray) -> int:
    """Return where in bins (k,) the neighbours begin that stand out most, 1, 2, 4, ... of them."""
    best, place = -math.inf, 0
    for width in 2 ** np.arange(len(counts).bit_length()):
        sums = np.add.reduceat(counts, np.arange(0, len(counts), width)) / math.sqrt(width)
        if sums.max() > best:
            best, place = float(sums.max()), int(sums.argmax() * width)
    return place
