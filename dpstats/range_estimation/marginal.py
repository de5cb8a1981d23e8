"""Read the distribution of a column off noisy histograms, or off two noisy quantiles."""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from dpstats.range_estimation.bins import Dyadic
from dpstats.range_estimation.far_rows import far_rows
from dpstats.range_estimation.histogram import Histogram
from dpstats.range_estimation.quantiles import ONLY_ZEROS, around_value
from dpstats.schema import Numeric

# Standard deviations of a normal variable within which 7, 6, 5 and 4 eighths of it lie.
_NORMAL = {7: 1.53, 6: 1.15, 5: 0.89, 4: 0.67}
# A range from two quantiles reaches so many standard deviations to each side.
_REACH = 2.5
_POINTS = 41
# A range leaves out what noise hides, at most this share of the rows on a side.
_TAILS = 0.25
# Rows beyond a range are seen from so many deviations of noise on, and so many more for each octave
# farther out, as noise that is taken for rows does more harm there; and rows apart from zeros.
CLEAR, _CLEAR_OCTAVE, CLEAR_OF_ZERO = 3.0, 0.2, 4.5
# Rows are far from so many times the distance from the median on that this part of them lies
# within: 2.5 deviations of a normal column.
FAR, NEAR_PART = 2.5 / _NORMAL[6], 0.75
# Smaller standard deviations count as none, so that no quotient leaves the range of doubles.
LEAST_SD = 1e-200


@dataclass(frozen=True)
class Marginal:
    """Hold what was released of the distribution of one column.

    Parameters
    ----------
    low, high : float
        A range that holds nearly all rows.
    mean, sd : float
    points, weights : numpy.ndarray, shape (k,)
        A discrete distribution that resembles the column's, in increasing order; the weights add up
        to 1.
    is_rough : bool
        Whether it comes from two quantiles, because rows were too few for a histogram.
    tail_unknown : bool
        Whether it does with delta = 0, so that intervals allow for a tail. That may be so of 9,000
        rows at epsilon 1, of which intervals without one held least squares in .53 of the tables of
        ``python -m benchmarks far_out --pure``, and .95 now. With Gaussian noise it is so of 2,500
        rows at most, of which .9 are held without one (``--rows 1500 2500 --epsilon 1``).
    is_unseen : bool
        Whether nothing but one value was seen, so that all else here is a guess.
    hidden : float
        Share of the rows that the noise on a bin hides.
    clipping : tuple of float
        Ends at which values are clipped: the declared bounds, or else far out.
    seen : Histogram or None
        The last histogram of the column, where it was read off one with equal bins.
    """

    low: float
    high: float
    mean: float
    sd: float
    points: np.ndarray
    weights: np.ndarray
    is_rough: bool = False
    tail_unknown: bool = False
    is_unseen: bool = False
    hidden: float = 0.0
    clipping: tuple[float, float] = (-math.inf, math.inf)
    seen: Histogram | None = None

    @property
    def standardised(self) -> np.ndarray:
        """Return the points in standard deviations from the mean, (k,)."""
        return (self.points - self.mean) / max(self.sd, LEAST_SD)

    @property
    def is_within_bounds(self) -> bool:
        """Tell whether the range is that of the declared bounds."""
        return self.clipping == (self.low, self.high)

    @property
    def unseen_width(self) -> float:
        """Return how far values may be apart where one alone is seen; 0 where others are.

        That is the width of declared bounds. Without them it is infinite, but about zero, where a
        unit of 1 is as good a guess as any: such columns are 0/1 numbers as a rule.
        """
        if not self.is_unseen:
            return 0.0
        if self.is_within_bounds:
            return self.high - self.low
        return 0.0 if (self.low, self.high) == ONLY_ZEROS else math.inf

    def quantiles(self, levels: np.ndarray) -> np.ndarray:
        """Return the values (m,) below which parts ``levels`` (m,) of the rows lie."""
        places = np.searchsorted(np.cumsum(self.weights), levels)
        return self.points[np.minimum(places, len(self.points) - 1)]

    def with_points(self, numbers: Collection[float]) -> "Marginal":
        """Move the point nearest to each of the numbers within the points to it.

        Several numbers divide its weight. Of points that are equally near the heavier one is taken,
        as a number between two bins is in one of them.
        """
        nearest: dict[int, list[float]] = {}
        for number in numbers:
            if self.points[0] <= number <= self.points[-1]:
                distances = np.abs(self.points - number)
                near = np.isclose(distances, distances.min(), atol=0.0)
                nearest.setdefault(int(np.argmax(near * (1.0 + self.weights))), []).append(number)
        if not nearest:
            return self
        parts = [
            (number, weight / len(places))
            for j, (point, weight) in enumerate(zip(self.points, self.weights, strict=True))
            for places in [nearest.get(j, [point])]
            for number in places
        ]
        points, weights = np.array(sorted(parts)).T
        return replace(self, points=points, weights=weights)

    @property
    def beyond(self) -> float:
        """Return the share of the rows that are seen beyond the range."""
        return float(self.weights[(self.points < self.low) | (self.points > self.high)].sum())

    @property
    def square_error(self) -> float:
        """Return the standard error of the variance, relative to it, from the noise on bins."""
        return self.hidden * float(np.linalg.norm(self.standardised**2))

    @property
    def farthest(self) -> float:
        """Return how many standard deviations from the mean the farthest rows are seen."""
        return float(np.abs(self.standardised[self.weights > 0]).max(initial=0.0))

    def moment(self, power: int) -> float:
        """Return the mean of a power of standardised values."""
        return float(self.weights @ self.standardised**power)

    @property
    def far_share(self) -> tuple[float, float] | None:
        """Return the share of rows far from the median, and the noise on it.

        They do not stretch the deviation, that of three quarters of rows. All bins beyond count,
        with rows clear of the noise or not. None where three quarters of the rows have one value.
        """
        median = self.points[np.argmax(np.cumsum(self.weights) >= 0.5)]
        distances = np.abs(self.points - median)
        order = np.argsort(distances)
        reached = np.cumsum(self.weights[order]) >= NEAR_PART
        far = FAR * float(distances[order][np.argmax(reached)])
        if far == 0:
            return None
        if self.seen is None:
            return float(self.weights[distances > far].sum()), self.hidden
        edges, rows = self.seen.edges, max(float(self.seen.counts.sum()), 1.0)
        beyond = (edges[:-1] >= median + far) | (edges[1:] <= median - far)
        noise = self.seen.event.deviation * math.sqrt(beyond.sum())
        return float(self.seen.counts[beyond].sum()) / rows, noise / rows


TWO_OUTCOMES = Marginal(0.0, 1.0, 0.5, 0.5, np.array([0.0, 1.0]), np.array([0.5, 0.5]))
"""A response of 0 and 1 of which nothing is released."""


def from_quantiles(
    center: float, reach: float, eighths: int, seen: Histogram, limit: Numeric | None
) -> Marginal:
    """Build a marginal of which ``eighths`` of the rows lie within ``reach`` of the center.

    Rows that a first histogram shows farther out are added to it.
    """
    sd = reach / _NORMAL[eighths]
    if sd == 0:
        sd = _seen_deviation(seen, center)
    if sd == 0:
        return unseen(limit or Numeric(*around_value(center)))
    low, high = center - _REACH * sd, center + _REACH * sd
    if limit is not None:
        low, high = max(low, limit.low), min(high, limit.high)
        if not low < high:
            low, high = limit.low, limit.high
    points = np.linspace(low, high, _POINTS)
    weights = np.exp(-0.5 * ((points - center) / sd) ** 2) + 0.05
    near = max(seen.counts.sum(), 1.0) * weights / weights.sum()
    outside = np.searchsorted(seen.edges, [low, high])
    first, last = int(outside[0]) - 1, int(outside[1]) - 1
    far = far_rows(seen, first, last, CLEAR_OF_ZERO)
    marginal = _of_points(low, high, points, near, seen, far)
    mean = min(max(center, low), high) if not far.any() else marginal.mean
    sd = marginal.sd if far.any() else min(sd, (high - low) / 2)
    return replace(marginal, mean=mean, sd=sd, is_rough=True, tail_unknown=seen.is_laplace)


def from_histogram(histogram: Histogram, low: float, high: float, bounded: bool) -> Marginal:
    """Read the range, the mean, the standard deviation and the shape off a noisy histogram.

    ``low`` and ``high`` are the ends of its equal bins, of which the range is part.
    """
    wide = np.diff(histogram.edges) > 0
    edges = histogram.edges[np.append(True, wide)]
    histogram = replace(histogram, edges=edges, counts=histogram.counts[wide])
    first, last = np.searchsorted(edges, low, "right") - 1, np.searchsorted(edges, high)
    inner = replace(histogram, edges=edges[first : last + 1], counts=histogram.counts[first:last])
    low, high = inner.without_tails(_TAILS)
    first, last = np.searchsorted(edges, [low, high]).tolist()
    octaves = np.maximum(np.log2(np.diff(edges) / (high - low)), 0.0)
    clear = CLEAR + _CLEAR_OCTAVE * octaves * (not bounded)
    far = far_rows(histogram, first, last - 1, clear)
    near = rows_in(histogram)[first:last]
    found = _of_points(low, high, _places(histogram)[first:last], near, histogram, far)
    return replace(found, seen=histogram)


def rows_in(histogram: Histogram) -> np.ndarray:
    """Return the rows of each bin (k,): what is seen clear of the noise, else what is left."""
    counts = histogram.counts
    if not len(histogram.occupied):
        return on_simplex(counts)
    far = far_rows(histogram, *histogram.span, CLEAR_OF_ZERO)
    clear = (counts > histogram.threshold) | (far > 0)
    rows, rest = np.maximum(counts, far), counts[~clear]
    rows[~clear] = on_simplex(rest) if rest.sum() > 0 else 0.0
    return rows


def on_simplex(counts: np.ndarray) -> np.ndarray:
    """Return the closest counts (k,) that are not negative and have the same sum.

    Noise above zero is thus not taken for rows, as it would be in bins that are cut at zero.
    """
    total, ordered = counts.sum(), np.sort(counts)[::-1]
    if total <= 0:
        return np.ones(len(counts))
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(counts) + 1)
    return np.maximum(counts - excess[np.flatnonzero(ordered > excess)[-1]], 0.0)


def mostly_zero(first: Histogram, again: Histogram) -> Marginal:
    """Read what lies far from zero in a column of which a first histogram shows zeros alone."""
    shares = np.array([histogram.event.deviation**-2 for histogram in (first, again)])
    deviation = shares.sum() ** -0.5
    counts = np.average([first.counts, again.counts], axis=0, weights=shares)
    scaled = replace(again.event, scale=again.event.scale * deviation / again.event.deviation)
    both = replace(again, counts=counts, event=scaled)
    far = far_rows(both, *Dyadic().zero, CLEAR_OF_ZERO)
    if not far.any():
        return unseen(Numeric(*ONLY_ZEROS))
    held = np.flatnonzero(far)
    low, high = min(0.0, again.edges[held[0]]), max(0.0, again.edges[held[-1] + 1])
    inside = max(float(counts.sum() - far.sum()), 1.0)
    found = _of_points(float(low), float(high), np.zeros(1), np.array([inside]), again, far)
    return replace(found, seen=both)


def _of_points(
    low: float, high: float, points: np.ndarray, near: np.ndarray, seen: Histogram, far: np.ndarray
) -> Marginal:
    """Build a marginal from rows ``near`` at points of a range and ``far`` in bins beyond it."""
    everyone = near.sum() + far.sum()
    places = np.concatenate([points, _places(seen)[far > 0]])
    weights = np.concatenate([near, far[far > 0]]) / everyone
    mean = float(weights @ places)
    noise = seen.event.deviation / max(seen.counts.sum(), 1.0)
    # what one bin's noise hides halfway to the ends, where nearly all rows have one value; squares
    # are of parts of the range, which neither overflow nor vanish
    least, width = max(1 / 12, math.sqrt(min(noise, 0.25)) / 2), high - low
    square = float(weights @ ((places - mean) / width) ** 2)
    sd = width * math.sqrt(max(square, least**2))
    order = np.argsort(places)
    return Marginal(low, high, mean, sd, places[order], weights[order], hidden=min(noise, 1.0))


def _places(histogram: Histogram) -> np.ndarray:
    """Return a typical value of each bin."""
    return (histogram.edges[1:] + histogram.edges[:-1]) / 2


def _seen_deviation(histogram: Histogram, center: float) -> float:
    """Return the root mean square distance from a center of the rows in occupied bins.

    They are taken to lie at the end of their bin that is closer to the center.
    """
    low, high = histogram.edges[:-1], histogram.edges[1:]
    nearest = np.maximum(np.maximum(low - center, center - high), 0.0)
    rows = np.zeros(len(low))
    rows[histogram.occupied] = np.maximum(histogram.counts[histogram.occupied], 0.0)
    everyone = max(float(np.maximum(histogram.counts.sum(), rows.sum())), 1.0)
    return math.sqrt(float(rows @ nearest**2) / everyone)


def unseen(limit: Numeric) -> Marginal:
    """Build a marginal of a column of which nothing but one value is seen."""
    return replace(_flat(limit.low, limit.high), is_unseen=True)


def _flat(low: float, high: float) -> Marginal:
    """Build a marginal that is uniform on a range."""
    points = np.linspace(low, high, _POINTS)
    weights = np.full(_POINTS, 1 / _POINTS)
    return Marginal(low, high, (low + high) / 2, (high - low) / 4, points, weights)
