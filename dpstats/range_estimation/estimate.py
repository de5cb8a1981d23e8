"""Estimate ranges of columns without declared bounds from noisy histograms."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpstats.noise import Noise, Query
from dpstats.privacy import REPLACE_ONE, Cost
from dpstats.range_estimation.bins import Dyadic, Linear, Overflowing
from dpstats.range_estimation.bins import counts as bin_counts
from dpstats.range_estimation.histogram import FALSE_BIN, Histogram
from dpstats.range_estimation.quantiles import ONLY_ZEROS, quantile_ranges
from dpstats.range_estimation.reach import LIGHT, reach
from dpstats.schema import Batch, Numeric

# Fractions of a column's cost: the first histogram, and each of up to three that zoom in. The
# last histogram has the rest.
_COARSE_FRACTION, _ZOOM_FRACTION, _ZOOMS = 0.25, 0.12, 3
# A first histogram is read from this many times its threshold in rows; below, the median and the
# spread give better fits (benchmarks/tried.py). Missing the tails of the response biases all
# predictions; missing those of a regressor does less harm.
_ENOUGH, _ENOUGH_RESPONSE = 5.0, 10.0


@dataclass(frozen=True)
class Ranges:
    """Hold estimated ranges of columns, by name.

    ``found`` holds the ranges; ``quantile_based`` names those that come from two quantiles, with
    the number of rows from which a histogram would have been read instead. ``rows`` is the number
    of rows that the first histograms add up to, and its standard deviation. ``light`` names the
    columns beyond whose ranges hardly a row is likely, and the response where its tails were
    looked at: rows that errors alone put beyond its range bend no slope.
    """

    found: dict[str, Numeric]
    quantile_based: dict[str, float]
    rows: tuple[float, float]
    light: frozenset[str] = frozenset()


def estimate_ranges(
    total: Callable[[Callable[[Batch], np.ndarray]], np.ndarray],
    weights: Mapping[str, float],
    cost: Cost,
    noise: Noise,
    neighbors: str,
    everywhere: bool = False,
    response: str | None = None,
    careful: bool = False,
    one: int = 1,
) -> Ranges:
    """Release ranges of columns from noisy histograms, the cost divided in proportion to weights.

    ``total(count)`` is the sum of ``count(batch)`` over all batches of rows; ``response`` names
    the column that is the response, if it is among them. ``careful`` asks for
    ranges that hold the tails which noise hides (:func:`~dpstats.range_estimation.reach.reach`).
    ``one`` is what a row counts for, or at most all rows of a privacy unit together.

    1. A histogram over dyadic bins gives the order of magnitude. A column of which only
       zeros are seen has the range (-1, 1): its few other values could be anywhere, and what
       lies outside is clipped or norm-clipped, so that a range too small does little harm.
    2. A column seen in one or two neighbouring bins, away from zero, is far from zero beside
       its spread, as years are: histograms over 64 equal bins zoom in, up to three times.
    3. A last histogram over 64 equal bins, with ``careful`` and wider ones that reach far beyond
       them, gives the range. A column seen in only one of them
       does not vary as far as can be seen; it keeps its order of magnitude as range, since
       in a tiny one its coefficient would be huge.

    A column that is seen in no bin of its first histogram, which is a released fact, has no
    range; unless ranges are wanted ``everywhere``: then what such a column has left, and one
    with too few rows for its noise, goes to
    :func:`~dpstats.range_estimation.quantiles.quantile_ranges`.

    Guarantee. The cost, under add/remove or replace-one. One person falls into one bin of
    each histogram: under add/remove one count changes by 1, so L1 = L2 = 1; under
    replace-one two counts change by 1, so L1 = 2 and L2 = sqrt 2. A person of several rows, whose
    parts add up to at most one, adds to the counts a vector p >= 0 of L1 norm at most 1, so its L2
    norm is at most 1 too, and |p - q|^2 <= |p|^2 + |q|^2 <= 2. Which histogram or choice
    comes next follows from those released, and a column's fractions add up to at most its part
    of the cost whatever they are. Costs that depend on earlier releases and stay within a limit
    fixed beforehand compose as fixed costs do, both pure (Rogers, Roth, Ullman and Vadhan 2016)
    and Gaussian (Smith and Thakurta 2022).
    """
    of_column = {
        name: cost.part(weight / sum(weights.values())) for name, weight in weights.items()
    }
    columns = tuple(weights)

    def ask(what: str, bins: Mapping, fractions: Mapping[str, float]) -> dict[str, Histogram]:
        costs = {name: of_column[name].part(fractions[name]) for name in bins}
        return histograms(what, total, bins, costs, noise, neighbors, FALSE_BIN, one)

    coarse = ask("order of magnitude", _all(columns, Dyadic()), _all(columns, _COARSE_FRACTION))
    rows = number_of_rows(list(coarse.values()))
    needed = {n: _enough(n == response) * coarse[n].threshold for n in columns}
    unclear = [name for name in columns if rows < needed[name] or not len(coarse[name].occupied)]
    quantile_based = unclear if everywhere else []
    costs = {name: of_column[name].part(1 - _COARSE_FRACTION) for name in quantile_based}
    ranges = quantile_ranges(total, costs, rows, noise, neighbors, response, one)
    clear = {name: coarse[name] for name in columns if name not in quantile_based}
    refined = _refined({name: h for name, h in clear.items() if len(h.occupied)}, ask, careful)
    ranges |= {name: ends for name, (ends, _) in refined.items()}
    light = frozenset(
        name
        for name, (_, heavy) in refined.items()
        if heavy <= (1.0 if name == response else LIGHT)
    )
    numeric = {name: Numeric(*ranges[name]) for name in columns if name in ranges}
    quantiles = {name: needed[name] for name in quantile_based}
    return Ranges(numeric, quantiles, (rows, _deviation_of_rows(list(coarse.values()))), light)


def _enough(is_response: bool) -> float:
    """Return how many times its threshold, in rows, a first histogram needs."""
    return _ENOUGH_RESPONSE if is_response else _ENOUGH


def number_of_rows(histograms: list[Histogram]) -> float:
    """Estimate the row count by inverse-variance weighting of the histogram totals."""
    weights = [1 / histogram.event.deviation**2 for histogram in histograms]
    counted = [histogram.counts.sum() for histogram in histograms]
    return float(np.average(counted, weights=weights))


def _deviation_of_rows(histograms: list[Histogram]) -> float:
    """Return the standard deviation of the noise in :func:`number_of_rows`."""
    deviations = np.array([histogram.event.deviation for histogram in histograms])
    bins = np.array([len(histogram.counts) for histogram in histograms])
    return float(np.sqrt(np.sum(bins / deviations**2)) / np.sum(1 / deviations**2))


def _refined(
    coarse: Mapping[str, Histogram], ask, careful: bool
) -> dict[str, tuple[tuple[float, float], float]]:
    """Carry out steps 2 and 3 for columns whose order of magnitude is seen.

    Each has a range and the chance that a tail is heavy, infinite where none was looked at.
    """
    ranges = {name: magnitude(histogram) for name, histogram in coarse.items()}
    spread = [name for name, histogram in coarse.items() if not only_zeros(histogram)]
    narrow = [name for name in spread if is_far(coarse[name])]
    remaining = _all(coarse, 1 - _COARSE_FRACTION)
    for _ in range(_ZOOMS):
        zoomed = ask("neighbourhood", _linear(ranges, narrow), _all(narrow, _ZOOM_FRACTION))
        ranges |= {name: histogram.around(1) for name, histogram in zoomed.items()}
        remaining |= {name: remaining[name] - _ZOOM_FRACTION for name in narrow}
        narrow = [name for name in narrow if zoomed[name].is_narrow]
    kind = Overflowing if careful else Linear
    last = ask("range", {name: kind(*ranges[name]) for name in spread}, remaining)
    found = {name: (ranges[name], math.inf) for name in coarse}
    found |= {n: _last_range(h, ranges[n], careful) for n, h in last.items()}
    constant = [name for name in spread if len(last[name].occupied) == 1 and last[name].is_narrow]
    return found | {name: (_either_sign(coarse[name]), math.inf) for name in constant}


def _last_range(
    histogram: Histogram, ends: tuple[float, float], careful: bool
) -> tuple[tuple[float, float], float]:
    """Read the range off the last histogram, and the chance that a tail is heavy."""
    if not careful:
        return histogram.without_tails(), math.inf
    found = reach(histogram, *ends)
    return (found.low, found.high), found.heavy


def _all(columns, value) -> dict:
    return dict.fromkeys(columns, value)


def _linear(ranges: Mapping, columns) -> dict[str, Linear]:
    return {name: Linear(*ranges[name]) for name in columns}


def magnitude(histogram: Histogram) -> tuple[float, float]:
    """Return the span of the dyadic bins, or (-1, 1) when only zeros are seen."""
    return ONLY_ZEROS if only_zeros(histogram) else histogram.around(0)


def only_zeros(histogram: Histogram) -> bool:
    """Tell whether a column is seen in no dyadic bin but those that touch zero."""
    return set(histogram.span) <= set(Dyadic().zero)


def is_far(histogram: Histogram) -> bool:
    """Return whether a column is seen in one or two neighbouring bins, none of them at zero."""
    return histogram.is_narrow and not set(histogram.span) & set(Dyadic().zero)


def _either_sign(histogram: Histogram) -> tuple[float, float]:
    """Return the order of magnitude as a range about zero."""
    reach = max(map(abs, histogram.around(0)))
    return -reach, reach


def histograms(
    what: str,
    total,
    bins: Mapping,
    costs: Mapping[str, Cost],
    noise: Noise,
    neighbors: str,
    false_bin: float = FALSE_BIN,
    one: int = 1,
) -> dict[str, Histogram]:
    """Release a noisy histogram for each column in ``bins``, in one pass over the data."""
    if not bins:
        return {}
    moved = 2 if neighbors == REPLACE_ONE else 1
    histograms = {}
    for (name, kind), count in zip(bins.items(), total(partial(bin_counts, bins)), strict=True):
        l1, l2 = moved * one, math.sqrt(moved) * one
        query = Query(f"{what} of {name}", count.tolist(), l1=l1, l2=l2, unit=1 / one)
        noisy = noise.add(query, costs[name])
        histograms[name] = Histogram(kind.edges, noisy.values, noisy.event, false_bin)
    return histograms
