"""Read noisy histograms of leverages and score norms, and choose where to cut them."""

import math
from dataclasses import dataclass

import numpy as np

# Edges of |score| / (sigma sqrt t) and of squared leverage |a|^2 / t.
SCORE_EDGES = np.array(
    [1/16, 1/8, 1/4, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8, 11.3, 16, 22.6, 32]
)  # fmt: skip
LEVERAGE_EDGES = np.array([0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8, 11.3, 16, 22.6, 32, 45, 64])
# A tail sum over k bins is seen when it exceeds so many times its noise, from this bin on.
_SEEN, _SCORE_START, _LEVERAGE_START = 2.0, 6, 2
# Rows that the noise hides beyond what is seen, in units of its standard deviation.
_HIDDEN, _MOST_HIDDEN = 1.0, 2.0
# They are taken to lie in the next bins in these parts.
_HIDDEN_BINS = (0.5, 0.3, 0.2)
# A leverage limit lies between these, unless its noise is below half of the rows.
_LEAST_LEVERAGE, _SURE_LEVERAGE = 2.0, 4.0
# Score limits keep this part of the rows whole and are at least so many root mean squares.
_WHOLE, _LEAST_LIMIT = 0.6, 1.2
# The part of the clipped excess that may point in one direction.
SYSTEMATIC = 0.5
# Ranges have failed where more than this part of the rows has a leverage 32 times the average.
_WILD = 0.03


@dataclass(frozen=True)
class Tail:
    """Hold counts of rows by size as far as the noise lets them be seen.

    ``counts`` and ``sizes`` (k,): rows in each bin and a typical size in it.
    """

    counts: np.ndarray
    sizes: np.ndarray

    @property
    def rows(self) -> float:
        """Return the number of rows seen, at least 1."""
        return max(float(self.counts.sum()), 1.0)

    def excess(self, limit: float, power: int = 1) -> float:
        """Add up (size - limit)^power over the rows whose size exceeds the limit."""
        return float(self.counts @ np.maximum(self.sizes - limit, 0.0) ** power)

    def mean_square(self, limit: float = math.inf) -> float:
        """Return the mean square of sizes cut at a limit."""
        return float(self.counts @ np.minimum(self.sizes, limit) ** 2) / self.rows

    def whole(self, limit: float) -> float:
        """Return the part of the rows whose size is below the limit."""
        return float(self.counts[self.sizes < limit].sum()) / self.rows


def _seen(counts: np.ndarray, deviation: float, start: int) -> tuple[np.ndarray, int]:
    """Return counts up to the last bin whose tail sum is seen, and that bin.

    A far bin counts only where all tail sums before it are seen, so that noise in it is not taken
    for rows.
    """
    bins = np.arange(len(counts), 0, -1)
    sums = np.cumsum(counts[::-1])[::-1]
    hidden = np.flatnonzero(sums[start:] <= _SEEN * deviation * np.sqrt(bins[start:]))
    top = start - 1 + int(hidden[0]) if len(hidden) else len(counts) - 1
    return np.where(np.arange(len(counts)) > top, 0.0, np.maximum(counts, 0.0)), top


def score_tail(counts: np.ndarray, deviation: float, rows: float, sigma: float) -> Tail:
    """Read a noisy histogram over ``SCORE_EDGES``; sizes are in units of 1 / sigma of its bins."""
    counts, top = _seen(counts, deviation, _SCORE_START)
    beyond = len(counts) - top - 1
    if beyond:
        noise = deviation * math.sqrt(beyond)
        missing = rows - counts.sum()
        hidden = min(max(missing, _HIDDEN * noise), _MOST_HIDDEN * noise)
        for place, part in enumerate(_HIDDEN_BINS, start=top + 1):
            counts[min(place, len(counts) - 1)] += part * hidden
    middle = np.sqrt(SCORE_EDGES[1:] * SCORE_EDGES[:-1])
    sizes = np.concatenate([[SCORE_EDGES[0] / 2], middle, [SCORE_EDGES[-1] * 1.2]])
    return Tail(counts, sizes * sigma)


def leverage_tail(counts: np.ndarray, deviation: float) -> Tail:
    """Read a noisy histogram over ``LEVERAGE_EDGES``."""
    counts, top = _seen(counts, deviation, _LEVERAGE_START)
    beyond = len(counts) - top - 1
    counts[min(top + 1, len(counts) - 1)] += _HIDDEN * deviation * math.sqrt(beyond)
    middle = np.sqrt(LEVERAGE_EDGES[1:] * LEVERAGE_EDGES[:-1])
    return Tail(counts, np.concatenate([[0.35], middle, [90.0]]))


def is_wild(tail: Tail, deviation: float, rows: float) -> bool:
    """Tell whether so many rows have a huge leverage that the ranges must have failed."""
    return tail.counts[-3:].sum() > max(_WILD * rows, 3 * deviation * math.sqrt(3))


def mean_leverage(tail: Tail, deviation: float) -> float:
    """Return the mean squared leverage less its standard error, at least 1, which whitening gives.

    It is more where X'X was of rows scaled down, so that steps by it would go too far.
    """
    noise = deviation * float(np.linalg.norm(tail.sizes[tail.counts > 0]))
    return max(float(tail.counts @ tail.sizes - noise) / tail.rows, 1.0)


def leverage_limit(tail: Tail, rows: float, t: float, noise: float) -> float:
    """Choose the leverage at which rows are scaled down in a Gram sum.

    Its noise has the norm ``noise`` for a limit of 1; what rows lose in leverage is half counted.
    """
    limits = [
        limit
        for limit in LEVERAGE_EDGES.tolist()
        if limit >= _LEAST_LEVERAGE and (limit <= _SURE_LEVERAGE or limit * noise < rows / 2)
    ]
    return min(limits, key=lambda limit: limit * noise + 0.5 * t * tail.excess(limit))


def score_limit(tail: Tail, sigma: float, directions: int, noise: float) -> tuple[float, float]:
    """Choose the limit of least estimated error, and the part of the rows that it leaves whole.

    The noise on each of the directions is ``noise`` for a limit of 1; the other part of the error
    is the excess that is cut off, of which ``SYSTEMATIC`` may point in one direction.
    """
    best = None
    least = _LEAST_LIMIT * math.sqrt(tail.mean_square())
    for limit in np.geomspace(sigma / 4, 32 * sigma, 120).tolist():
        whole = tail.whole(limit)
        if whole < _WHOLE or limit < least:
            continue
        lost = tail.excess(limit, 2) + (SYSTEMATIC * tail.excess(limit)) ** 2
        error = (directions * (limit * noise) ** 2 + lost) / whole**2
        if best is None or error < best[0]:
            best = error, limit, whole
    return best[1:] if best else (2 * sigma, 0.7)
