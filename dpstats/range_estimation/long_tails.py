"""Continue the tails of a released distribution where noise hides them.

Beyond its middle a tail is taken for that of a lognormal distribution with a shift: a + b e^(s z)
at normal deviates z (Johnson 1949, the system S_L). With s = 0 it is a normal one, and with s < 0
it ends. Beyond the rows that are seen it may go on as a power law, by the index that it has there.
Where nothing but zeros is seen of a column, other values are taken for exponential ones.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dpstats.range_estimation.histogram import Histogram
from dpstats.range_estimation.marginal import Marginal

# Neighbouring bins are taken together until their rows exceed so many deviations of noise. A tail
# has so many of these at least, and their normal deviates span this.
_CLEAR, _LEAST_BINS, _LEAST_SPAN = 4.0, 4, 0.3
# Growths s that are tried, by a unit of the tail; none is 0.
_GROWTHS = np.linspace(math.log(0.05), math.log(8), 80)[:, None]
# Counts may be off by this part of what a growth predicts, as no tail has exactly this form, and
# their variance is this at least, where there is hardly any noise. All was chosen on 18
# distributions and the columns of 23 tables (benchmarks/tried_tails.py).
_MISFIT, _LEAST_VARIANCE = 0.1, 1e-6
# This part of the rows is taken to be other than zero where nothing but zeros is seen.
_UNSEEN = 0.03
# No row is taken to lie so many times as far from the median as rows are seen.
_FARTHEST = 4.0
# The index of a power law is this part of the one that a tail has from the farthest rows that are
# seen to so many times as far: of the lognormal through its middle it is too large, as that bends
# and Student's t does not (benchmarks/tried_tails.py).
_PART_OF_INDEX, _FARTHER = 0.8, 1.15


def continued(marginal: Marginal, rows: int) -> np.ndarray:
    """Return values (rows,), in increasing order, as so many rows have whose tails go on."""
    return LongTails.of(marginal).values(rows)


@dataclass(frozen=True)
class LongTails:
    """Hold the tails of a distribution above and below its ``center``, None where none is seen.

    They are in units of its farthest edge, so that no difference of values leaves the doubles.
    """

    marginal: Marginal
    unit: float = 1.0
    center: float = 0.0
    tails: "tuple[_Tail | None, _Tail | None]" = (None, None)

    @classmethod
    def of(cls, marginal: Marginal) -> "LongTails":
        """Fit the tails to the histogram that a distribution was read off, if any."""
        if marginal.seen is None or _is_far(marginal):
            return cls(marginal)
        unit = float(np.abs(marginal.seen.edges).max())
        seen = replace(marginal.seen, edges=marginal.seen.edges / unit)
        center = float(marginal.quantiles(np.array([0.5]))[0]) / unit
        return cls(marginal, unit, center, (_fitted(seen, center, 1), _fitted(seen, center, -1)))

    def values(self, rows: int, power: bool = False) -> np.ndarray:
        """Return values (rows,), in increasing order, as so many rows have whose tails go on.

        Where no tail is seen they are quantiles of the released distribution; none is farther in
        than these, or beyond the ends at which values are clipped. With ``power`` a tail is a power
        law beyond the rows that are seen where that is longer.
        """
        marginal, levels = self.marginal, (np.arange(rows) + 0.5) / rows
        if _is_far(marginal):
            return -np.log(np.minimum((1 - levels) / _UNSEEN, 1.0))
        values = marginal.quantiles(levels)
        if marginal.seen is None:
            return values
        values = values / self.unit
        sides = ((1.0, 1 - levels), (-1.0, levels))
        for tail, (sign, shares) in zip(self.tails, sides, strict=True):
            if tail is not None:
                distances = tail.reached(sign * (values - self.center), shares, power)
                values = self.center + sign * distances
        return np.clip(self.unit * values, *marginal.clipping)


def continued_sizes(seen: Histogram, sizes: np.ndarray, power: bool = False) -> np.ndarray:
    """Return sizes (rows,), in increasing order, as so many rows have whose tail goes on.

    They are sizes of values that are symmetric about zero, and those given are quantiles of what
    was ``seen`` of them. With ``power`` it is as for :meth:`LongTails.values`.
    """
    rows, unit = len(sizes), float(seen.edges[-1])
    tail = _fitted(replace(seen, edges=seen.edges / unit), 0.0, 1)
    if tail is None:
        return sizes
    shares = 1 - (np.arange(rows) + 0.5) / rows
    return unit * tail.reached(sizes / unit, shares, power)


def _is_far(marginal: Marginal) -> bool:
    """Tell whether nothing but zeros is seen of a column without bounds."""
    return marginal.is_unseen and not marginal.is_within_bounds


@dataclass(frozen=True)
class _Tail:
    """Hold a tail: from the distance ``start`` on, beyond which a ``share`` of the rows lies.

    That share has the normal deviate ``deviate``; one that is ``unit`` smaller lies a ``step``
    closer. From unit to unit the distance grows by steps that are e^``growth`` times as long, up to
    ``farthest``. Rows are seen up to ``seen``. Several growths are (k, 1).
    """

    start: float
    share: float
    deviate: float
    unit: float
    step: float
    seen: float
    farthest: float
    growth: np.ndarray | float = 0.0

    def distances(self, shares: np.ndarray, power: bool) -> np.ndarray:
        """Return beyond which distances from the median shares (m,) of the rows lie."""
        from scipy.special import ndtri

        units = (-ndtri(shares) - self.deviate) / self.unit
        grown = np.expm1(self.growth * units) / -np.expm1(-self.growth)
        distances = self.start + self.step * grown
        if power:
            distances = np.maximum(distances, self._by_power_law(shares))
        return np.minimum(distances, self.farthest)

    def reached(self, seen: np.ndarray, shares: np.ndarray, power: bool) -> np.ndarray:
        """Return distances (m,) beyond which shares (m,) of the rows lie, no less than is seen."""
        reached, far = seen.copy(), shares < self.share
        reached[far] = np.maximum(seen[far], self.distances(shares[far], power))
        return reached

    def _by_power_law(self, shares: np.ndarray) -> np.ndarray:
        """Return distances of shares (m,) where the tail is a power law, 0 where rows are seen."""
        near, far = self.shares(self.seen * np.array([1.0, _FARTHER]))
        if not far > 0:
            return np.zeros(len(shares))
        index = max(_PART_OF_INDEX * math.log(near / far) / math.log(_FARTHER), 1.0)
        return np.where(shares < near, self.seen * (near / shares) ** (1 / index), 0.0)

    def shares(self, distances: np.ndarray) -> np.ndarray:
        """Return which shares of the rows lie beyond distances (m,): the inverse, without end."""
        from scipy.special import ndtr

        grown = (distances - self.start) / self.step * -np.expm1(-self.growth)
        with np.errstate(divide="ignore"):  # a tail that ends has no rows beyond
            units = np.log1p(np.maximum(grown, -1.0)) / self.growth
        return ndtr(-(self.deviate + self.unit * units))


class _Bins(NamedTuple):
    """Hold bins on one side of the median: distances of their ends (k,), and noisy counts."""

    inner: np.ndarray
    outer: np.ndarray
    counts: np.ndarray

    @property
    def middles(self) -> np.ndarray:
        """Return distances halfway between the ends."""
        return (self.inner + self.outer) / 2


def _fitted(histogram: Histogram, center: float, sign: float) -> _Tail | None:
    """Fit the tail above the median, or below it; return None where too little of it is seen."""
    bins, deviation = _outward(histogram, center, sign), histogram.event.deviation
    everyone = max(float(histogram.counts.sum()), 1.0)
    places, rows, last = _together(bins, deviation)
    if len(places) < _LEAST_BINS:
        return None
    # halfway, so that values which are heaped have a continuous distribution too
    edges = (places[1:] + places[:-1]) / 2
    start, tail = _begun(places, edges, rows / everyone)
    if tail is None:
        return None
    tail = replace(tail, farthest=min(tail.farthest, float(bins.outer[-1])))
    end = (3 * places[-1] - places[-2]) / 2
    beyond = last + np.flatnonzero(bins.middles[last:] > end)
    ends = np.concatenate([edges[start:], [end], bins.outer[beyond]])
    counts = np.concatenate([rows[start + 1 :], bins.counts[beyond]])
    expected = -np.diff(everyone * replace(tail, growth=_GROWTHS).shares(ends))
    return replace(tail, growth=_likely_growth(counts, np.maximum(expected, 0.0), deviation))


def _begun(places: np.ndarray, edges: np.ndarray, parts: np.ndarray) -> tuple[int, _Tail | None]:
    """Return at which edge a tail begins, in the middle of what is seen, and the tail from there.

    ``parts`` are the shares of the rows at ``places``, and ``edges`` lie between these.
    """
    from scipy.special import ndtri

    shares = np.minimum(parts[::-1].cumsum()[::-1][1:], 0.5)
    deviates = np.maximum.accumulate(-ndtri(shares))
    first, last = deviates[[0, -1]]
    if last - first < _LEAST_SPAN:
        return 0, None
    start = int(np.searchsorted(deviates, (first + last) / 2))
    return start, _Tail(
        edges[start], shares[start], deviates[start], deviates[start] - first,
        edges[start] - edges[0], places[-1], _FARTHEST * places[-1],
    )  # fmt: skip


def _likely_growth(counts: np.ndarray, expected: np.ndarray, deviation: float) -> float:
    """Return the mean of the growths by their likelihoods, given noisy counts (m,).

    ``expected`` (k, m) are those that each growth predicts.
    """
    variance = deviation**2 + expected + (_MISFIT * expected) ** 2 + _LEAST_VARIANCE
    fit = -((counts - expected) ** 2 / variance + np.log(variance)).sum(axis=1) / 2
    return float(np.average(_GROWTHS[:, 0], weights=np.exp(fit - fit.max())))


def _outward(histogram: Histogram, center: float, sign: float) -> _Bins:
    """Return the bins that reach above a center, or below it, from there outward."""
    ends, counts = sign * (histogram.edges - center), histogram.counts
    if sign < 0:
        ends, counts = ends[::-1], counts[::-1]
    beyond = ends[1:] > 0
    return _Bins(ends[:-1][beyond], ends[1:][beyond], counts[beyond])


def _together(bins: _Bins, deviation: float) -> tuple[np.ndarray, np.ndarray, int]:
    """Take bins together until they stand clear of the noise; return places, rows and a bin.

    A place is the mean distance of the rows taken together, and the rest begins at that bin.
    """
    places, rows, first = [], [], 0
    middles, seen = bins.middles, np.maximum(bins.counts, 0.0)
    for last in range(1, len(seen) + 1):
        total = float(bins.counts[first:last].sum())
        if total > _CLEAR * deviation * math.sqrt(last - first):
            places.append(np.average(middles[first:last], weights=seen[first:last]))
            rows.append(total)
            first = last
    return np.array(places), np.array(rows), first
