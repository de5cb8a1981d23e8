"""Read noisy histograms of leverages and score norms, and choose where to cut them."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dpstats.estimators.newton.row_sums.sums import LEVERAGE_EDGES, SCORE_EDGES

# Noise is small from this part of the variance of sums of scores on.
_SMALL_NOISE = 1e-4
# Nothing counts as larger.
_FARTHEST = 2 * float(SCORE_EDGES[-1])
# A tail begins at these sizes or where a count is below so many deviations of noise; beyond it
# bins that exceed so many stand out.
_SCORE_START, _LEVERAGE_START, _CLEAR, _STANDS_OUT = 1.4, 2.0, 5.0, 3.5
# Tails are Pareto with these indices. Their prior chances where the distributions of the columns
# are light, where they say nothing and where they are heavy: histograms of scores alone cannot
# settle the index. All set by simulation (benchmarks/tails.py).
_INDICES = np.array([0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0])
_UNKNOWN = np.array([0.02, 0.04, 0.1, 0.2, 0.25, 0.25, 0.14, 0.0, 0.0, 0.0])
_STRONG = np.array([0.03, 0.07, 0.2, 0.3, 0.25, 0.1, 0.05, 0.0, 0.0, 0.0])
_LIGHT = np.array([0, 0, 0, 0, 0, 0, 0, 1 / 3, 1 / 3, 1 / 3])
# The least prior chance of a heavy tail.
_LEAST_HEAVY = 0.02
# A hypothesis is never excluded for good.
_LEAST_WEIGHT = 1e-12
# So many numbers of rows in a tail are tried.
_NUMBERS = 16
# Points of a tail in each octave.
_POINTS = 4
# A leverage limit lies between these, unless its noise is below half of the rows.
_LEAST_LEVERAGE, _SURE_LEVERAGE = 2.0, 4.0
# Score limits keep this part of the rows whole and are at least so many root mean squares.
_WHOLE, _LEAST_LIMIT = 0.6, 1.2
_LIMITS = np.geomspace(0.25, SCORE_EDGES[-1], 200)
# The part of what is cut off the scores that may point in one direction, of light and heavy tails.
_SYSTEMATIC, _SYSTEMATIC_HEAVY = 0.4, 0.8
# Of a size or more there may be as many rows as bins count and so many deviations of their noise.
_MOST = 1.5
# Steps are divided by at most this: a tail says little of a mean leverage.
_MOST_DIVIDED = 4.0
# Ranges have failed where more than this part of the rows has a leverage 32 times the average.
_WILD, _WILD_LEVERAGE = 0.03, 32.0


@dataclass(frozen=True)
class Tail:
    """Hold the posterior distribution of rows by size, given a noisy histogram.

    ``sizes`` (k,) are typical ones, ``counts`` (h, k) the rows of each by several hypotheses, and
    ``weights`` (h,) the probabilities of these, which add up to 1. ``systematic`` is the part of
    what a limit cuts off that may point in one direction, and ``deviation`` the noise on a bin.
    Of each of the sizes ``edges`` (m,) or more there are ``most`` (m,) rows at most, as counted.
    """

    counts: np.ndarray
    sizes: np.ndarray
    weights: np.ndarray
    systematic: float
    deviation: float = 0.0
    edges: np.ndarray = field(default_factory=lambda: np.zeros(0))
    most: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def mean_counts(self) -> np.ndarray:
        """Return the expected rows of each size, (k,)."""
        return self.weights @ self.counts

    @cached_property
    def rows(self) -> float:
        """Return the expected number of rows, at least 1."""
        return max(float(self.mean_counts.sum()), 1.0)

    @property
    def farthest(self) -> float:
        """Return the largest size that a row may have."""
        return float(self.sizes[self.mean_counts > 0].max(initial=0.0))

    def excess(self, limit: float, power: int = 1) -> float:
        """Return the expected sum of (size - limit)^power over the rows beyond the limit."""
        return float(self.mean_counts @ np.maximum(self.sizes - limit, 0.0) ** power)

    def square_excess(self, limit: float) -> float:
        """Return the expected square of the sum of size - limit over the rows beyond the limit."""
        return float(self.weights @ (self.counts @ np.maximum(self.sizes - limit, 0.0)) ** 2)

    def hidden_beyond(self, sizes: np.ndarray | float) -> np.ndarray:
        """Return how many rows of each of the sizes or more the noise on bins may hide."""
        bins = len(self.edges) - np.searchsorted(self.edges, sizes, "right") + 1
        return _MOST * self.deviation * np.sqrt(np.maximum(bins, 1))

    def most_beyond(self, size: float) -> float:
        """Return how many rows of that size or more there may be, as counted and hidden."""
        place = int(np.searchsorted(self.edges, size, "right")) - 1
        return float(self.most[place]) if place >= 0 else self.rows

    def lost(self, limits: np.ndarray, most: np.ndarray | float = math.inf) -> np.ndarray:
        """Return the expected squared norm of the clipping bias in the sum of scores, by limit.

        With each hypothesis it is taken to be at most ``most``.
        """
        from dpstats.numerics.tail_loops import squared_losses

        limits = np.atleast_1d(limits)
        most = np.broadcast_to(np.asarray(most, float), limits.shape).copy()
        of_rows = self.counts, self.sizes, self.weights
        return squared_losses(*of_rows, limits, most, self.systematic)

    def systematic_square(self, limit: float) -> float:
        """Return the part of :meth:`lost` that all rows beyond the limit lose in one direction."""
        return self.systematic**2 * self.square_excess(limit)

    def mean_square(self, limit: float = math.inf) -> float:
        """Return the expected mean square of sizes cut at a limit."""
        return float(self.mean_counts @ np.minimum(self.sizes, limit) ** 2) / self.rows

    def beyond(self, size: float) -> float:
        """Return the expected number of rows of that size or more."""
        return float(self.mean_counts[self.sizes >= size].sum())

    def with_at_least(self, beyond: Callable[[np.ndarray], np.ndarray]) -> "Tail":
        """Return the tail with at least the rows of each size that ``beyond(sizes)`` implies.

        These are numbers of rows beyond sizes (m,), which stand for those halfway to the next ones.
        """
        order = np.argsort(self.sizes)
        order = order[np.any(self.counts > 0, axis=0)[order]]
        sizes = self.sizes[order]
        rows = beyond(np.append(0.0, np.sqrt(sizes[1:] * sizes[:-1])))
        counts = self.counts.copy()
        counts[:, order] = np.maximum(counts[:, order], -np.diff(rows, append=0.0))
        return replace(self, counts=counts)

    def given_mean_square(self, least: tuple[float, float], most: tuple[float, float]) -> "Tail":
        """Return the tail given that the mean square of sizes lies in an interval.

        ``least`` and ``most`` are its ends, each with how unsure it is.
        """
        squares = self.counts @ self.sizes**2 / np.maximum(self.counts.sum(axis=1), 1.0)
        short = np.minimum(squares - least[0], 0.0) / least[1]
        over = np.maximum(squares - most[0], 0.0) / most[1]
        likely = np.log(np.maximum(self.weights, _LEAST_WEIGHT)) - 0.5 * (short**2 + over**2)
        weights = np.exp(likely - likely.max())
        return replace(self, weights=weights / weights.sum())


def score_tail(
    counts: np.ndarray,
    deviation: float,
    sigma: float,
    heavy: float,
    most: float,
    edges: np.ndarray = SCORE_EDGES,
) -> Tail:
    """Read a noisy histogram over ``edges``; sizes are in units of 1 / sigma of its bins.

    ``heavy`` is the prior chance of a heavy tail and ``most`` the largest size that is possible.
    """
    tail = _read(counts, edges, deviation, _SCORE_START, heavy, most / sigma)
    tail, beyond = replace(tail, edges=edges), np.maximum(counts[:0:-1].cumsum()[::-1], 0.0)
    beyond = beyond + tail.hidden_beyond(edges)
    return replace(tail, sizes=tail.sizes * sigma, edges=edges * sigma, most=beyond)


def leverage_tail(counts: np.ndarray, deviation: float, heavy: float, most: float) -> Tail:
    """Read a noisy histogram over ``LEVERAGE_EDGES``."""
    return _read(counts, LEVERAGE_EDGES, deviation, _LEVERAGE_START, heavy, most)


def _read(
    counts: np.ndarray, edges: np.ndarray, deviation: float, start: float, heavy: float, most: float
) -> Tail:
    """Take counts as they are up to a bin that noise may hide; fit a tail from there on.

    A tail is Pareto from there to ``most``, its index and number of rows distributed as a prior and
    the counts have it.
    """
    from dpstats.numerics.tail_loops import fitted

    heavy = min(max(heavy, _LEAST_HEAVY), 1.0)
    limits, tried = (start, _CLEAR, _STANDS_OUT), (_POINTS, _NUMBERS)
    found = fitted(
        counts, edges, deviation, limits, most, _FARTHEST, _INDICES, _prior(heavy), tried
    )
    systematic = _SYSTEMATIC + (_SYSTEMATIC_HEAVY - _SYSTEMATIC) * heavy
    return Tail(*found, systematic, deviation)


def _prior(heavy: float) -> np.ndarray:
    """Return the prior chances of the indices, for that of a heavy tail."""
    return (1 - heavy) * _LIGHT + heavy * ((1 - heavy) * _UNKNOWN + heavy * _STRONG)


def is_wild(tail: Tail, deviation: float, rows: float) -> bool:
    """Tell whether so many rows have a huge leverage that the ranges must have failed."""
    return tail.beyond(_WILD_LEVERAGE) > max(_WILD * rows, 3 * deviation * math.sqrt(3))


def mean_leverage(tail: Tail) -> float:
    """Return the mean squared leverage less its standard error, at least 1, which whitening gives.

    It is more where X'X was of rows scaled down, so that steps by it would go too far.
    """
    held = tail.counts @ tail.sizes
    mean = float(tail.weights @ held)
    error = math.sqrt(float(tail.weights @ (held - mean) ** 2))
    return min(max((mean - error) / tail.rows, 1.0), _MOST_DIVIDED)


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


def score_limit(
    tail: Tail, sigma: float, directions: int, noise: float, most: float = math.inf
) -> tuple[float, float]:
    """Choose the limit of least expected error, and the part of the rows that it leaves whole.

    The noise on each of the directions is ``noise`` for a limit of 1; the other part of the error
    is what is cut off, of which at most ``most`` counts.
    """
    from dpstats.numerics.tail_loops import least_costly

    limits, least = sigma * _LIMITS, _LEAST_LIMIT * math.sqrt(tail.mean_square(4 * sigma))
    of_rows = tail.counts, tail.sizes, tail.weights, tail.mean_counts
    usable, noise = (least, _WHOLE), directions * noise**2
    place, whole = least_costly(*of_rows, limits, usable, noise, most, tail.systematic)
    return (float(limits[place]), whole) if place >= 0 else (2 * sigma, 0.7)


def edge_beyond(limit: float, tail: Tail, sigma: float, directions: int, noise: float) -> float:
    """Return the edge of the bin that a limit lies in, if noise at it is small beside sampling.

    Rows of one bin differ in size, so a limit within it cuts some. ``noise`` is as for
    :func:`score_limit`.
    """
    place = min(int(np.searchsorted(SCORE_EDGES, limit / sigma)), len(SCORE_EDGES) - 1)
    edge = sigma * float(SCORE_EDGES[place])
    sampling = tail.rows * tail.mean_square(limit)
    return max(limit, edge) if directions * (edge * noise) ** 2 < _SMALL_NOISE * sampling else limit
