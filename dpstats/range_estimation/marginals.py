"""Estimate the distribution of each column, from noisy histograms or two noisy quantiles."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import numpy as np

from dpstats.noise import Noise, noise_deviation
from dpstats.privacy import REPLACE_ONE, Cost
from dpstats.range_estimation.bins import Dyadic, Linear, Overflowing
from dpstats.range_estimation.estimate import histograms, is_far, number_of_rows, only_zeros
from dpstats.range_estimation.far_rows import far_rows
from dpstats.range_estimation.histogram import Histogram
from dpstats.range_estimation.marginal import (
    CLEAR,
    CLEAR_OF_ZERO,
    Marginal,
    from_histogram,
    from_quantiles,
    mostly_zero,
    unseen,
)
from dpstats.range_estimation.quantiles import center_and_spread
from dpstats.schema import Batch, Numeric

# Fractions of a column's cost: the first histogram, and each of up to four that zoom in. The last
# histogram has the rest.
_FIRST, _ZOOM, _ZOOMS = 0.25, 0.12, 4
# A first histogram is read from so many times its threshold in rows. Where bounds are declared
# the bins are few and known, and fewer do.
_ENOUGH, _ENOUGH_RESPONSE, _WITHIN_BOUNDS = 10.0, 15.0, 0.3
# So many times that with delta = 0: tails of Laplace noise make the threshold twice as long in its
# deviations, while a histogram of as many rows tells as much. It shows which of two regressors have
# no tail from some 8,000 rows on at epsilon 1 then (benchmarks/far_out.py with --pure).
_LAPLACE = 0.6
# Values without declared bounds are clipped so many standard deviations from the mean, as an
# interval is about least squares of all rows. Where rows are below so many times the noise on a
# count of a column's, for one regressor and for several, a fit shows no interval (noisy_newton asks
# for 20 and 30 times), and closer limits predict better.
_CLIPPING, _FEW_CLIPPING, _FEW_ROWS = 1024.0, 6.0, (16.0, 24.0)
# Chance that an empty bin is taken for an occupied one: it ruins the scale of its column.
_FALSE_BIN = 1e-5
# Beside the only occupied bin of a column that was zoomed in on rows are seen from so many
# deviations of noise on. From CLEAR_OF_ZERO on noise alone fills one of a hundred bins, and of
# their groups, in one column of a thousand, which tells a scale as short as a bin.
_CLEAR_WITHIN = 5.5
# A range this narrow, relative to its ends, is not cut into bins any more.
_LEAST_WIDTH = 2.0**-40


def estimate_marginals(
    total: Callable[[Callable[[Batch], np.ndarray]], np.ndarray],
    limits: Mapping[str, Numeric | None],
    weights: Mapping[str, float],
    cost: Cost,
    noise: Noise,
    neighbors: str,
    responses: Collection[str],
    one: int = 1,
    constant: Collection[str] = (),
) -> dict[str, Marginal]:
    """Release the distribution of each column in ``limits``, the cost divided by weights.

    ``total(each)`` is the sum of ``each(batch)`` over all batches of rows. ``limits`` are the
    declared bounds, None for a column without, and histograms of ``responses`` need more rows.
    ``one`` is what a row counts for, or at most all rows of a privacy unit together. ``constant``
    names columns that may well have one value.

    1. A histogram gives the order of magnitude: over dyadic bins, or within declared bounds over
       64 equal ones. 2. Where rows are too few for it, or no bin is seen, the median and a
       quantile of the distances from it take what the column has left. 3. A column seen in one or
       two bins away from zero is zoomed in on, up to four times. 4. A last histogram gives the
       range and the shape: over 64 equal bins, with wider ones that reach far beyond them, or to
       the declared bounds; where nothing but zeros was seen, over dyadic bins again. Where nothing
       but one value was seen of a column that varies the range is the declared bounds, or the order
       of magnitude.

    Guarantee. The cost, under add/remove or replace-one, as for
    :func:`~dpstats.range_estimation.estimate.estimate_ranges`: each histogram counts one person in
    one bin, which comes next follows from what was released, and the fractions of a column add up
    to at most its own. Values are clipped to declared bounds first, row by row. All else is read
    off what was released.
    """
    if not limits:
        return {}
    each = {name: cost.part(weights[name] / sum(weights.values())) for name in limits}

    def count(what: str, bins: Mapping, fraction: Mapping[str, float]) -> dict[str, Histogram]:
        costs = {name: each[name].part(fraction[name]) for name in bins}
        return histograms(what, total, bins, costs, noise, neighbors, _FALSE_BIN, one)

    unbounded = {name: Dyadic() for name, limit in limits.items() if limit is None}
    bounded = {n: Linear(v.low, v.high) for n, v in limits.items() if v is not None}
    quarter = dict.fromkeys(limits, _FIRST)
    first = count("order of magnitude", unbounded, quarter) | count("histogram", bounded, quarter)
    rows = number_of_rows(list(first.values()))
    needed = {
        name: _enough(name in responses, name in bounded, histogram.is_laplace)
        * histogram.threshold
        for name, histogram in first.items()
    }
    rough = [n for n in limits if rows < needed[n] or not len(first[n].occupied)]
    rest = {name: each[name].part(1 - _FIRST) for name in rough}
    quantiles = center_and_spread(total, rest, rows, noise, neighbors, one, limits, first)
    marginals = {
        name: from_quantiles(*quantiles[name], first[name], limits[name]) for name in rough
    }
    clear = {name: first[name] for name in limits if name not in rough}
    marginals |= _from_histograms(clear, limits, rows, count, responses, constant)
    least = max(each.values(), key=lambda part: noise_deviation(part, 1, 1))
    few = _are_few(rows, least, len({*limits} - {*responses}) + 1, neighbors)
    return {name: _clipped(marginals[name], limits[name], few) for name in limits}


def _are_few(rows: float, cost: Cost, columns: int, neighbors: str) -> bool:
    """Tell whether rows are so few that no interval is shown.

    ``cost`` is that of one of the ``columns``, with the response.
    """
    moved = 2 if neighbors == REPLACE_ONE else 1
    noise = noise_deviation(cost, moved, math.sqrt(moved))
    return rows < _FEW_ROWS[columns > 2] * noise


def _clipped(marginal: Marginal, limit: Numeric | None, few: bool) -> Marginal:
    """Set the ends at which values are clipped, of which the range is part."""
    if limit is not None:
        return replace(marginal, clipping=(limit.low, limit.high))
    far = (_FEW_CLIPPING if few else _CLIPPING) * marginal.sd
    ends = min(marginal.low, marginal.mean - far), max(marginal.high, marginal.mean + far)
    return replace(marginal, clipping=ends)


def _enough(is_response: bool, is_bounded: bool, is_laplace: bool) -> float:
    """Return how many times its threshold in rows a first histogram needs."""
    if is_bounded:
        return _WITHIN_BOUNDS * (_ENOUGH_RESPONSE if is_response else _ENOUGH)
    return (_LAPLACE if is_laplace else 1) * (_ENOUGH_RESPONSE if is_response else _ENOUGH)


def _from_histograms(
    first: Mapping[str, Histogram],
    limits: Mapping[str, Numeric | None],
    rows: float,
    count: Callable,
    responses: Collection[str],
    constant: Collection[str],
) -> dict[str, Marginal]:
    """Zoom in on the columns that need it, and read a last histogram of each.

    Declared bounds stay where the bins seen within them lack many rows, which are spread thinly, or
    where others are seen. Few of these decide the scale of a response, so less shows them.
    """
    zeros = [n for n, h in first.items() if limits[n] is None and only_zeros(h)]
    thin = [
        n
        for n, h in first.items()
        if limits[n] is not None
        and (not h.spans(rows) or _others(h, CLEAR if n in responses else CLEAR_OF_ZERO))
    ]
    ranges = {n: _ends(first[n]) for n in thin} | {
        n: _narrowed(_ends(h), h.around(0)) for n, h in first.items() if n not in [*zeros, *thin]
    }
    narrow = [
        n
        for n in ranges
        if n not in thin and first[n].is_narrow and (limits[n] or is_far(first[n]))
    ]
    left, near = dict.fromkeys(ranges, 1 - _FIRST), set(narrow)
    for _ in range(_ZOOMS):
        bins = {name: Linear(*ranges[name]) for name in narrow}
        zoomed = count("neighbourhood", bins, dict.fromkeys(narrow, _ZOOM))
        ranges |= {n: _narrowed(ranges[n], h.around(1), limits[n]) for n, h in zoomed.items()}
        left |= {name: left[name] - _ZOOM for name in narrow}
        narrow = [name for name in narrow if zoomed[name].is_narrow]
    bins = {name: Overflowing(*ranges[name], *_limits(limits[name])) for name in ranges}
    last = count("range", bins, left)
    rest = dict.fromkeys(zeros, 1 - _FIRST)
    again = count("order of magnitude", dict.fromkeys(zeros, Dyadic()), rest)
    found = {name: mostly_zero(first[name], again[name]) for name in zeros} | {
        name: from_histogram(histogram, *ranges[name], limits[name] is not None)
        for name, histogram in last.items()
    }
    varies = {n: h for n, h in last.items() if n not in constant}
    clear = {n: _CLEAR_WITHIN if n in near else CLEAR_OF_ZERO for n in last}
    no_scale = [n for n, h in varies.items() if not _tells_scale(h, limits[n], clear[n])]
    return found | {n: unseen(limits[n] or Numeric(*first[n].around(0))) for n in no_scale}


def _tells_scale(histogram: Histogram, limit: Numeric | None, clear: float) -> bool:
    """Tell whether more than one value is seen, ``clear`` of the noise, and how far apart they are.

    Without a ``limit`` the outer bins have no end, so rows there may be at any distance.
    """
    outer, occupied = [] if limit else [0, len(histogram.counts) - 1], histogram.occupied
    if len(np.setdiff1d(occupied, outer)) > 1 or not len(occupied):
        return True
    far = far_rows(histogram, int(occupied[0]), int(occupied[-1]), clear)
    return bool(far.any()) and not far[outer].any()


def _others(histogram: Histogram, clear: float) -> bool:
    """Tell whether rows are seen beyond the span of a histogram, ``clear`` of the noise."""
    return bool(far_rows(histogram, *histogram.span, clear).any())


def _limits(limit: Numeric | None) -> tuple[float, float]:
    return (-math.inf, math.inf) if limit is None else (limit.low, limit.high)


def _ends(histogram: Histogram) -> tuple[float, float]:
    return float(histogram.edges[0]), float(histogram.edges[-1])


def _narrowed(
    old: tuple[float, float], new: tuple[float, float], limit: Numeric | None = None
) -> tuple[float, float]:
    """Cut a narrower range to declared bounds; keep the old one where doubles cannot divide it."""
    low, high = new if limit is None else (max(new[0], limit.low), min(new[1], limit.high))
    return (low, high) if high - low > _LEAST_WIDTH * max(abs(low), abs(high)) else old
