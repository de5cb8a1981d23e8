"""Estimate the distribution of each column, from noisy histograms or two noisy quantiles."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dpstats.noise import Noise
from dpstats.privacy import REPLACE_ONE, Cost
from dpstats.range_estimation.bins import Dyadic, Linear
from dpstats.range_estimation.estimate import histograms, is_far, magnitude, number_of_rows
from dpstats.range_estimation.histogram import Histogram
from dpstats.range_estimation.quantiles import ONLY_ZEROS, center_and_spread
from dpstats.schema import Batch, Numeric

# Fractions of a column's cost: the first histogram, and each of up to three that zoom in. The
# last histogram has the rest.
_FIRST, _ZOOM, _ZOOMS = 0.25, 0.12, 3
# A first histogram is read from so many times its threshold in rows. Where bounds are declared
# the bins are few and known, and half as many do.
_ENOUGH, _ENOUGH_RESPONSE, _WITHIN_BOUNDS = 15.0, 30.0, 0.5
# Standard deviations of a normal variable within which 7, 6, 5 and 4 eighths of it lie.
_NORMAL = {7: 1.53, 6: 1.15, 5: 0.89, 4: 0.67}
# A range from two quantiles reaches so many standard deviations to each side.
_REACH = 2.5
_POINTS = 41
# Values are clipped so many standard deviations from the mean, by where the distribution is from:
# two quantiles say nothing of the tails, and may miss a value that a quarter of the rows has.
# The latter grows with the root of rows times mu per column from so many on: what clipping moves
# a coefficient by stays as rows are added, while the noise falls.
_ROUGH_CLIPPING, _CLEAR_CLIPPING, _MOST_CLIPPING = 16.0, 8.0, 32.0
_ROWS_PER_CLIPPING = 60.0
# Below so many times the noise on a count of a column's rows, for one regressor and for several, a
# fit shows no interval that clipping could bias (noisy_newton asks for 20 and 30 times), and closer
# limits predict better.
_FEW_CLIPPING, _FEW_ROWS = 6.0, (16.0, 24.0)
# Chance that an empty bin is taken for an occupied one: it ruins the scale of its column.
_FALSE_BIN = 1e-5
# A range this narrow, relative to its ends, is not cut into bins any more.
_LEAST_WIDTH = 2.0**-40


@dataclass(frozen=True)
class Marginal:
    """Hold what was released of the distribution of one column.

    Parameters
    ----------
    low, high : float
        A range that holds nearly all rows.
    mean, sd : float
    points, weights : numpy.ndarray, shape (k,)
        A discrete distribution that resembles the column's; the weights add up to 1.
    is_rough : bool
        Whether it comes from two quantiles, because rows were too few for a histogram.
    reach : float
        How many standard deviations from the mean values are clipped.
    """

    low: float
    high: float
    mean: float
    sd: float
    points: np.ndarray
    weights: np.ndarray
    is_rough: bool = False
    reach: float = _CLEAR_CLIPPING

    @property
    def clipping(self) -> tuple[float, float]:
        """Return the ends at which values are clipped: far out, as a range may miss rows.

        The range is part of it.
        """
        far = self.reach * self.sd
        return min(self.low, self.mean - far), max(self.high, self.mean + far)


def estimate_marginals(
    total: Callable[[Callable[[Batch], np.ndarray]], np.ndarray],
    limits: Mapping[str, Numeric | None],
    weights: Mapping[str, float],
    cost: Cost,
    noise: Noise,
    neighbors: str,
    response: str,
    one: int = 1,
) -> dict[str, Marginal]:
    """Release the distribution of each column in ``limits``, the cost divided by weights.

    ``total(each)`` is the sum of ``each(batch)`` over all batches of rows. ``limits`` are the
    declared bounds, None for a column without. ``one`` is what a row counts for, or at most all
    rows of a privacy unit together.

    1. A histogram gives the order of magnitude: over dyadic bins, or within declared bounds over
       64 equal ones. 2. Where rows are too few for it, or no bin is seen, the median and a
       quantile of the distances from it take what the column has left. 3. A column seen in one or
       two bins away from zero is zoomed in on, up to three times. 4. A last histogram over 64
       equal bins gives the range and the shape.

    Guarantee. The cost, under add/remove or replace-one, as for
    :func:`~dpstats.range_estimation.estimate.estimate_ranges`: each histogram counts one person in
    one bin, which comes next follows from what was released, and the fractions of a column add up
    to at most its own. Values are clipped to declared bounds first, row by row. How far out they
    are clipped in the fit follows from the released number of rows and public facts.
    """
    each = {name: cost.part(weights[name] / sum(weights.values())) for name in limits}

    def count(what: str, bins: Mapping, fraction: Mapping[str, float]) -> dict[str, Histogram]:
        costs = {name: each[name].part(fraction[name]) for name in bins}
        return histograms(what, total, bins, costs, noise, neighbors, _FALSE_BIN, one)

    unbounded = {name: Dyadic() for name, limit in limits.items() if limit is None}
    bounded = {n: Linear(v.low, v.high) for n, v in limits.items() if v is not None}
    quarter = dict.fromkeys(limits, _FIRST)
    first = count("order of magnitude", unbounded, quarter) | count("histogram", bounded, quarter)
    rows = number_of_rows(list(first.values()))
    needed = {name: _enough(name == response, name in bounded) * first[name].threshold
              for name in limits}  # fmt: skip
    rough = [n for n in limits if rows < needed[n] or not len(first[n].occupied)]
    rest = {name: each[name].part(1 - _FIRST) for name in rough}
    quantiles = center_and_spread(total, rest, rows, noise, neighbors, one, limits)
    marginals = {
        name: _from_quantiles(*quantiles[name], first[name], limits[name]) for name in rough
    }
    clear = {name: first[name] for name in limits if name not in rough}
    marginals |= _from_histograms(clear, limits, rows, count)
    far = _rough_reach(rows, min(each.values(), key=lambda part: part.mu), len(limits), neighbors)
    reach = dict.fromkeys(limits, _reach(rows, cost, len(limits))) | dict.fromkeys(rough, far)
    return {name: replace(marginals[name], reach=reach[name]) for name in limits}


def _rough_reach(rows: float, cost: Cost, columns: int, neighbors: str) -> float:
    """Return how many standard deviations from the mean columns known by two quantiles are clipped.

    ``cost`` is that of one of them, ``columns`` their number with the response.
    """
    noise = math.sqrt(2 if neighbors == REPLACE_ONE else 1) / cost.mu
    return _FEW_CLIPPING if rows < _FEW_ROWS[columns > 2] * noise else _ROUGH_CLIPPING


def _reach(rows: float, cost: Cost, columns: int) -> float:
    """Return how many standard deviations from the mean values are clipped.

    ``cost`` is that of the distributions of all ``columns``. With 10,000 rows and six regressors of
    long tails (t3 and lognormal in benchmarks/grid.py), intervals at 8 cover 65 to 99% of the
    slopes, these 95 to 99%.

    >>> from dpstats.privacy import GDP
    >>> _reach(4000, GDP(0.1), 7), round(_reach(20_000, GDP(0.1), 7), 1), _reach(10**6, GDP(0.1), 7)
    (8.0, 17.5, 32.0)
    """
    signal = max(rows, 0.0) * cost.mu / columns / _ROWS_PER_CLIPPING
    return min(max(_CLEAR_CLIPPING * math.sqrt(signal), _CLEAR_CLIPPING), _MOST_CLIPPING)


def _enough(is_response: bool, is_bounded: bool) -> float:
    """Return how many times its threshold in rows a first histogram needs."""
    return (_ENOUGH_RESPONSE if is_response else _ENOUGH) * (_WITHIN_BOUNDS if is_bounded else 1)


def _from_quantiles(
    center: float, reach: float, eighths: int, seen: Histogram, limit: Numeric | None
) -> Marginal:
    """Build a marginal of which ``eighths`` of the rows lie within ``reach`` of the center.

    Bins farther out that a first histogram has ``seen`` to be occupied widen it.
    """
    sd = max(reach / _NORMAL[eighths], _seen_deviation(seen, center))
    if sd == 0:
        return _flat(*ONLY_ZEROS)
    low, high = center - _REACH * sd, center + _REACH * sd
    if limit is not None:
        low, high = max(low, limit.low), min(high, limit.high)
        if not low < high:
            low, high = limit.low, limit.high
    points = np.linspace(low, high, _POINTS)
    weights = np.exp(-0.5 * ((points - center) / sd) ** 2) + 0.05
    mean = min(max(center, low), high)
    sd = min(sd, (high - low) / 2)
    return Marginal(low, high, mean, sd, points, weights / weights.sum(), True)


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


def _flat(low: float, high: float) -> Marginal:
    """Build a marginal that is uniform on a range."""
    points = np.linspace(low, high, _POINTS)
    weights = np.full(_POINTS, 1 / _POINTS)
    return Marginal(low, high, (low + high) / 2, (high - low) / 4, points, weights)


def _from_histograms(
    first: Mapping[str, Histogram],
    limits: Mapping[str, Numeric | None],
    rows: float,
    count: Callable,
) -> dict[str, Marginal]:
    """Zoom in on the columns that need it, and read a last histogram of each.

    Declared bounds stay where the bins seen within them lack many rows, which are spread thinly.
    """
    zeros = [n for n, h in first.items() if limits[n] is None and magnitude(h) == ONLY_ZEROS]
    thin = [n for n, h in first.items() if limits[n] is not None and not h.spans(rows)]
    ranges = {n: _ends(first[n]) for n in thin} | {
        n: _narrowed(_ends(h), h.around(0)) for n, h in first.items() if n not in [*zeros, *thin]
    }
    narrow = [
        n
        for n in ranges
        if n not in thin and first[n].is_narrow and (limits[n] or is_far(first[n]))
    ]
    left = dict.fromkeys(ranges, 1 - _FIRST)
    for _ in range(_ZOOMS):
        bins = {name: Linear(*ranges[name]) for name in narrow}
        zoomed = count("neighbourhood", bins, dict.fromkeys(narrow, _ZOOM))
        ranges |= {n: _narrowed(ranges[n], h.around(1), limits[n]) for n, h in zoomed.items()}
        left |= {name: left[name] - _ZOOM for name in narrow}
        narrow = [name for name in narrow if zoomed[name].is_narrow]
    last = count("range", {name: Linear(*ranges[name]) for name in ranges}, left)
    marginals = {name: _flat(*ONLY_ZEROS) for name in zeros}
    for name, histogram in last.items():
        if len(histogram.occupied) == 1 and histogram.is_narrow:
            limit, far = limits[name], max(map(abs, first[name].around(0)))
            marginals[name] = _flat(*((limit.low, limit.high) if limit else (-far, far)))
        else:
            marginals[name] = _from_histogram(histogram)
    return marginals


def _ends(histogram: Histogram) -> tuple[float, float]:
    return float(histogram.edges[0]), float(histogram.edges[-1])


def _narrowed(
    old: tuple[float, float], new: tuple[float, float], limit: Numeric | None = None
) -> tuple[float, float]:
    """Cut a narrower range to declared bounds; keep the old one where doubles cannot divide it."""
    low, high = new if limit is None else (max(new[0], limit.low), min(new[1], limit.high))
    return (low, high) if high - low > _LEAST_WIDTH * max(abs(low), abs(high)) else old


def _from_histogram(histogram: Histogram) -> Marginal:
    """Read the range, the mean, the standard deviation and the shape off a noisy histogram."""
    low, high = histogram.without_tails()
    middles = (histogram.edges[1:] + histogram.edges[:-1]) / 2
    inside = (middles > low) & (middles < high)
    if not inside.any():
        return _flat(low, high)
    counts = np.maximum(np.where(inside, histogram.counts, 0.0), 0.0)
    counts = np.where(counts > histogram.event.deviation, counts, counts / 2)
    weights = counts if counts.sum() > 0 else inside.astype(float)
    weights = weights / weights.sum()
    mean = float(weights @ middles)
    sd = math.sqrt(max(float(weights @ (middles - mean) ** 2), ((high - low) / 12) ** 2))
    return Marginal(low, high, mean, sd, middles[inside], weights[inside])
