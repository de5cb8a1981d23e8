"""Estimate ranges of columns with too few rows for a histogram, by two noisy quantiles each."""

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from dpstats.noise import Noise, ScoreQuery
from dpstats.privacy import REPLACE_ONE, Cost
from dpstats.range_estimation.bins import Distances, Dyadic, Linear, counts
from dpstats.range_estimation.histogram import Histogram
from dpstats.schema import Batch, Numeric

# Bins are eighths of an octave, in which a median is looked for again: that of years is 128 wide,
# and nine in ten rows may have the lower end of [1, 1.125).
_PARTS = 8
# The quantiles, in eighths: the median of the values and of their distances from it six, or
# seven where rows suffice, so that one very frequent value does not hide the others.
_WHOLE, _MEDIAN, _DISTANCES = 8, 4, (6, 7)
# Rows suffice when an eighth of them is this many times the noise on a score.
_SLACK = 6.0
# The same for a column whose distribution is estimated, where one absurd scale spoils the fit.
_CLEAR = 9.0
# Fraction of a column's cost for its median, which needs less budget than the spread.
_MEDIAN_FRACTION = 1 / 3
# The same for a second median, inside the bin of the first.
_CLOSER_FRACTION = 1 / 12
# Distances from the center of up to this part of half its bin count as zero: where 4 of the 64
# parts of the bin hold k eighths of the rows, these rows may all have one value. Where that part is
# 1 or more, as for years, it is the distance instead, as the next whole number is within it.
_LEAST_PART = 1 / 16
# The range reaches this many of these distances to each side: more for the response, because
# clipping its tails biases the mean, while a regressor loses little with its own.
_REACH, _REACH_RESPONSE = 1.5, 2.0
# How much less likely, on the log scale, a magnitude e times as far from 1, or within declared
# bounds from the farther end, is assumed to be.
_TILT = 0.25
# What is added for distances shorter than the center is far from zero, by their ratio, and at most;
# nothing for a distance of zero. Where most rows have one value every bin between it and the other
# values scores alike, and a short distance makes the column's unit too small. More than 2 hides the
# spread of columns that have values close together.
_TILT_BELOW_CENTER, _MOST_BELOW_CENTER = 0.75, 2.0
# So much of the rows beyond a distance is expected within twice of it.
_NEAR_SHARE = 0.8
# No bin is less likely than this makes it, in scores: with 2^38 rows they stay within 63 bits.
_LEAST_LIKELY = 2.0**62
# The range where nothing but zeros is seen.
ONLY_ZEROS = (-1.0, 1.0)


def around_value(value: float) -> tuple[float, float]:
    """Return a range for a column of which nothing but one value is seen."""
    return (value - abs(value), value + abs(value)) if value else ONLY_ZEROS


def quantile_ranges(
    total: Callable[[Callable[[Batch], np.ndarray]], np.ndarray],
    costs: Mapping[str, Cost],
    rows: float,
    noise: Noise,
    neighbors: str,
    response: str | None = None,
    one: int = 1,
) -> dict[str, tuple[float, float]]:
    """Release a range for each column of ``costs``, whatever the data: its median and its spread.

    ``total(count)`` is the sum of ``count(batch)`` over all batches of rows. The median is
    released as the bin that holds it, among 1,458 of which eight make an octave, and one of 64
    parts of that unless it is a value, such as zero; the spread is the upper end of the bin that
    holds six or seven eighths of the distances from it, by the released number of ``rows``.

    Guarantee. The costs, under add/remove or replace-one: two or three choices by :func:`_choose`
    per column, with fractions of its cost that add up to one. A choice names a bin whatever the
    data are, so there is always a range; with few rows the bin is one that :data:`_TILT` favours,
    close to 1 in magnitude. Whether there are three, and what the second and third are about,
    depends on what was released, and the fractions on nothing else, so they compose.

    A range that misses the tails biases the mean of what is clipped to it, and a wide one takes
    more noise. Over a wide span both cost little: in tests/call/test_auto_method.py the mean of
    500 rows at epsilon 1 loses less than 0.05 of R^2 for normal, lognormal, Pareto and half-zero
    values, and that of 2,000 where four fifths are the same.
    """
    found, _ = _median_and_distance(
        total, costs, noise, neighbors, lambda cost: _eighths(rows, cost, neighbors), one, {}, {}
    )
    reach = {n: _REACH_RESPONSE if n == response else _REACH for n in costs}
    return {
        n: (center - reach[n] * distance, center + reach[n] * distance)
        if distance
        else around_value(center)
        for n, (center, distance) in found.items()
    }


def center_and_spread(
    total: Callable[[Callable[[Batch], np.ndarray]], np.ndarray],
    costs: Mapping[str, Cost],
    rows: float,
    noise: Noise,
    neighbors: str,
    one: int = 1,
    limits: Mapping[str, Numeric | None] | None = None,
    seen: Mapping[str, Histogram] | None = None,
) -> dict[str, tuple[float, float, int]]:
    """Release for each column its median and how far from it k eighths of the rows lie, with k.

    The distance is 0 where nothing is seen but one value. The largest k of 7, 6, 5 and 4 is taken
    for which a missing eighth of the rows stands clear of the noise. Neither is beyond declared
    bounds, ``limits``, however few rows there are. Of columns without them a distance is less
    likely the more rows a released histogram, ``seen``, lacks beyond it, as noise else draws one of
    the hundreds of bins far out now and then (tests/range_estimation/test_marginals.py).

    Guarantee. The costs, as for :func:`quantile_ranges`; what was released before is public.
    """
    found, eighths = _median_and_distance(
        total, costs, noise, neighbors, lambda cost: _clear_eighths(rows, cost, neighbors), one,
        limits or {}, seen or {},
    )  # fmt: skip
    return {name: (*found[name], eighths[name]) for name in costs}


def _median_and_distance(
    total,
    costs: Mapping,
    noise: Noise,
    neighbors: str,
    eighths_of,
    one: int,
    limits: Mapping,
    seen: Mapping,
):
    """Release a center of each column and how far from it k eighths of the rows lie, and return k.

    The center is the middle of a part of the median's bin, or a value that is a bin itself. The
    distance is 0 where it is so short that k eighths of the rows may have one value.
    """
    if not costs:
        return {}, {}
    ask = partial(_choose, total, noise, neighbors, one)
    halves = dict.fromkeys(costs, _MEDIAN)
    inside = {n: (limit.low, limit.high) for n, limit in limits.items() if limit and n in costs}
    first = {name: cost.part(_MEDIAN_FRACTION) for name, cost in costs.items()}
    bins = ask("median", halves, first, dict.fromkeys(costs, Dyadic(_PARTS)), inside, {})
    divided = {name: Linear(*ends) for name, ends in bins.items() if not _is_value(ends)}
    closer = {name: costs[name].part(_CLOSER_FRACTION) for name in divided}
    narrow = ask("closer median", halves, closer, divided, {}, {})
    centers = {name: _middle(ends) for name, ends in (bins | narrow).items()}
    rest = {
        name: cost.part(1 - _MEDIAN_FRACTION - (_CLOSER_FRACTION if name in divided else 0))
        for name, cost in costs.items()
    }
    eighths = {name: eighths_of(cost) for name, cost in rest.items()}
    farthest = {
        n: (0.0, max(high - centers[n], centers[n] - low)) for n, (low, high) in inside.items()
    }
    distances = {
        name: Distances(centers[name], _PARTS, _least_distance(ends)) for name, ends in bins.items()
    }
    lacking = {
        n: partial(_lacking, distances[n], 1 - k / _WHOLE, seen[n])
        for n, k in eighths.items()
        if n in seen and n not in inside
    }
    spreads = ask("spread", eighths, rest, distances, farthest, lacking)
    found = {}
    for name, (_, distance) in spreads.items():
        least = float(distances[name].edges[distances[name].first + 1])
        shortest = least if least >= 1 else 0.0
        found[name] = centers[name], distance if distance > least else shortest
    return found, eighths


def _least_distance(ends: tuple[float, float]) -> float:
    """Return up to where distances from a center in a bin count as zero."""
    return max(Distances.least, _LEAST_PART * (ends[1] - ends[0]) / 2)


def _middle(ends: tuple[float, float]) -> float:
    """Return the middle of a bin, or zero where it touches zero."""
    return 0.0 if 0.0 in ends else sum(ends) / 2


def _is_value(ends: tuple[float, float]) -> bool:
    """Tell whether the bin of a median is that of zero, or cut to one end of declared bounds."""
    return 0.0 in ends or ends[0] == ends[1]


def _eighths(rows: float, cost: Cost, neighbors: str) -> int:
    """Choose the quantile of the distances, in eighths."""
    few, many = _DISTANCES
    return many if _is_clear(many, rows, cost, neighbors, _SLACK) else few


def _clear_eighths(rows: float, cost: Cost, neighbors: str) -> int:
    """Choose the largest quantile that is clear of the noise, in eighths."""
    clear = (k for k in (7, 6, 5) if _is_clear(k, rows, cost, neighbors, _CLEAR))
    return next(clear, _MEDIAN)


def _is_clear(eighths: int, rows: float, cost: Cost, neighbors: str, slack: float) -> bool:
    """Tell whether the rows beyond a quantile are ``slack`` times the noise on a score."""
    return rows * (_WHOLE - eighths) >= slack * _spread(eighths, neighbors) / cost.loss_range


def _spread(eighths: int, neighbors: str) -> int:
    """Bound how much one score of :func:`_choose` can rise above another, in eighths of a row."""
    return 2 * (_WHOLE if neighbors == REPLACE_ONE else max(eighths, _WHOLE - eighths))


def _choose(
    total,
    noise: Noise,
    neighbors: str,
    one: int,
    what: str,
    quantiles: Mapping[str, int],
    costs: Mapping[str, Cost],
    bins: Mapping,
    inside: Mapping[str, tuple[float, float]],
    lacking: Mapping[str, Callable[[np.ndarray], np.ndarray]],
) -> dict[str, tuple[float, float]]:
    """Release the ends of a bin for each column that holds about its quantile, in eighths.

    Of a column with an interval ``inside`` the bin is one of those that meet it, and values beyond
    them count as in the first or the last, so that each row is still in one bin. ``lacking`` tells
    of some columns how unlikely bins are by what was released before, given their edges.

    Guarantee. The costs, by report noisy max (:meth:`~dpstats.noise.Noise.best`). Let b rows lie
    below a bin, a above it, n in all: its score is -max(b - q n, a - (1 - q) n, 0), largest for
    the bin that holds the quantile q, less a public constant of at most :data:`_LEAST_LIKELY`, so
    that the difference is exact. A row more adds 1 - q or -q to b - q n, and q or q - 1 to
    a - (1 - q) n, so it moves a score by at most q' = max(q, 1 - q), and one rises by at most 2 q'
    more than another; a row less likewise. A row exchanged leaves n and moves b and a by at most 1,
    so there it is 2. In eighths of a row all are integers. A person of several rows, whose parts
    add up to p <= 1, adds between -q and 1 - q to b - q n, so one more moves it by at most q' and
    one in the place of another by at most 1: both bounds hold.
    """
    chosen = {}
    if not bins:
        return chosen
    for (name, kind), held in zip(bins.items(), total(partial(counts, bins)), strict=True):
        low, high = inside.get(name, (kind.edges[0], kind.edges[-1]))
        places = np.searchsorted(kind.edges, [low, high], "right") - 1
        first, last = np.clip(places, 0, len(held) - 1).tolist()
        edges = kind.edges[first : last + 2]
        held = np.diff(np.cumsum(held)[first:last], prepend=0, append=held.sum())
        below = np.cumsum(held) - held
        above, n = held.sum() - below - held, held.sum()
        q, spread = quantiles[name], one * _spread(quantiles[name], neighbors)
        missed = np.maximum(_WHOLE * below - q * n, _WHOLE * above - (_WHOLE - q) * n)
        unit = max(abs(low), abs(high)) if name in inside else 1.0
        unlikely = _tilted(kind, edges, unit)
        if name in lacking:
            unlikely += lacking[name](edges)
        unlikely *= spread / costs[name].loss_range
        unlikely = np.round(np.minimum(unlikely, _LEAST_LIKELY)).astype(np.int64)
        scores = -np.maximum(missed, 0) - unlikely
        query = ScoreQuery(f"{what} of {name}", scores.tolist(), spread, unit=1 / (_WHOLE * one))
        index = noise.best(query, costs[name])
        edges = np.clip(edges, low, high)
        chosen[name] = float(edges[index]), float(edges[index + 1])
    return chosen


def _tilted(kind: Dyadic | Linear | Distances, edges: np.ndarray, unit: float) -> np.ndarray:
    """Return the log prior penalty of bins by their distance from magnitude ``unit``.

    Without declared bounds that is 1, and else the farthest that a value can be.
    """
    tilted = _TILT * np.abs(_logarithms(edges, unit))
    if isinstance(kind, Distances):
        center = min(abs(kind.center), unit) or unit
        below = -_TILT_BELOW_CENTER * _logarithms(edges, center)
        tilted += np.clip(below, 0.0, _MOST_BELOW_CENTER)
        tilted[kind.first] = 0.0
    return tilted


def _lacking(kind: Distances, share: float, seen: Histogram, edges: np.ndarray) -> np.ndarray:
    """Return the log penalty of distances by rows that a histogram lacks within twice of them.

    A ``share`` of the rows lies beyond a distance from the center, and most of these not far
    beyond. Rows of a bin that is partly there all count. Beyond the least distance none are
    expected, as most rows may have one value.
    """
    held = np.append(0.0, np.cumsum(seen.counts))
    rows, bins, center = 0.0, 0, kind.center
    for near, far in (
        (center + edges[1:], center + 2 * edges[1:]),
        (center - 2 * edges[1:], center - edges[1:]),
    ):
        first = np.searchsorted(seen.edges, near, "right") - 1
        last = np.searchsorted(seen.edges, far)
        first, last = np.clip(first, 0, len(seen.counts)), np.clip(last, 0, len(seen.counts))
        rows, bins = rows + held[last] - held[first], bins + last - first
    expected = _NEAR_SHARE * share * max(float(held[-1]), 0.0)
    lacks = np.maximum(expected - rows, 0.0) / seen.event.deviation
    penalty = lacks**2 / (2 * np.maximum(bins, 1))
    penalty[kind.first] = 0.0
    return penalty


def _logarithms(edges: np.ndarray, unit: float) -> np.ndarray:
    """Return the log of the outer end of each bin over ``unit``; 0 where the bin touches zero."""
    outer = np.maximum(np.abs(edges[:-1]), np.abs(edges[1:]))
    touches = np.minimum(np.abs(edges[:-1]), np.abs(edges[1:])) == 0
    return np.where(touches, 0.0, np.log(outer) - math.log(unit))
