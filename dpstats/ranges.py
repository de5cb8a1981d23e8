"""Ranges of the columns nobody declared bounds for, from noisy histograms."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from dpstats.noise import Noise
from dpstats.noise.queries import Query
from dpstats.privacy import REPLACE_ONE, Cost, Event
from dpstats.schema import Batch, Numeric

# Of a column's share: the first histogram, and each of up to three that zoom in. The last
# histogram has the rest.
_COARSE_SHARE, _ZOOM_SHARE, _ZOOMS = 0.4, 0.12, 3
# Dyadic bins +-[2^j, 2^(j+1)) cover 1e-12 to 1e15 whatever the unit of measurement.
_LEAST, _LARGEST = -40, 50
_LINEAR_BINS = 64
# The range of a column of which only zeros are seen.
_ONLY_ZEROS = (-1.0, 1.0)
# Chance that an empty bin of a histogram is taken for an occupied one.
_FALSE_BIN = 1e-3


class Dyadic:
    """Public bins 0, +-[2^j, 2^(j+1)), in the order of the values they hold.

    >>> bins = Dyadic()
    >>> bins.edges[bins.index(np.array([-3.0, 0.0, 5.0, np.inf]))]
    array([-4.00000000e+00,  0.00000000e+00,  4.00000000e+00,  1.12589991e+15])
    """

    edges = 2.0 ** np.arange(_LEAST, _LARGEST + 2)
    edges = np.concatenate([-edges[::-1], [0.0], edges])
    zero = np.array([_LARGEST - _LEAST + 1, _LARGEST - _LEAST + 2])

    def index(self, values: np.ndarray) -> np.ndarray:
        """The bin of each value; what lies beyond the outer edges counts as just inside."""
        exponent = np.frexp(np.clip(np.abs(values), 2.0 ** (_LEAST - 1), 2.0**_LARGEST))[1]
        steps = exponent - _LEAST
        return np.where(values < 0, self.zero[0] - steps, self.zero[1] + steps)


@dataclass(frozen=True)
class Linear:
    """64 public bins of equal width."""

    low: float
    high: float

    @property
    def edges(self) -> np.ndarray:
        """The ends of the bins, shape (65,)."""
        return np.linspace(self.low, self.high, _LINEAR_BINS + 1)

    def index(self, values: np.ndarray) -> np.ndarray:
        """The bin of each value; what lies beyond the outer edges counts as just inside."""
        place = (values - self.low) * (_LINEAR_BINS / (self.high - self.low))
        return np.clip(place, 0, _LINEAR_BINS - 1).astype(np.int64)


@dataclass(frozen=True)
class Histogram:
    """Noisy counts of one column and what is known of their noise."""

    edges: np.ndarray
    counts: np.ndarray
    event: Event

    @cached_property
    def occupied(self) -> np.ndarray:
        """Indices of the bins whose counts noise alone exceeds in one histogram of a thousand.

        Outer ones that hold at most 0.1% of the counts a side are left out: a few rows far
        away are no order of magnitude.
        """
        from scipy.special import ndtri

        chance = _FALSE_BIN / len(self.counts)
        laplace = self.event.mechanism == "laplace"
        threshold = self.event.scale * (-math.log(2 * chance) if laplace else -ndtri(chance))
        seen = np.flatnonzero(self.counts > threshold)
        held = self.counts[seen]
        below, least = np.cumsum(held) - held, 0.001 * held.sum()
        return seen[(below + held > least) & (held.sum() - below > least)]

    @cached_property
    def span(self) -> tuple[int, int]:
        """The first and the last bin of a range that leaves out few rows.

        Rows may be spread so thinly that none of their bins is occupied; then the sum of the
        counts outside shows them. So the occupied bins are extended, toward the larger count,
        until that sum is at most 5% of what is inside or three standard deviations of its noise.
        """
        first, last = int(self.occupied[0]), int(self.occupied[-1])
        inside, total = self.counts[first : last + 1].sum(), self.counts.sum()
        left, right = np.r_[-np.inf, self.counts], np.r_[self.counts, -np.inf]
        while last - first + 1 < len(self.counts):
            unseen = 3 * self.event.deviation * math.sqrt(len(self.counts) - (last - first + 1))
            if total - inside <= max(0.05 * inside, unseen):
                break
            below, above = left[first], right[last + 1]
            inside += max(below, above)
            first, last = (first - 1, last) if below > above else (first, last + 1)
        return first, last

    @property
    def is_narrow(self) -> bool:
        """Whether nearly all rows lie in one bin or in two that touch."""
        return len(self.occupied) > 0 and self.span[1] - self.span[0] <= 1

    def around(self, margin: int) -> tuple[float, float]:
        """The span and ``margin`` more bins on each side; all bins if none is occupied."""
        if not len(self.occupied):
            return float(self.edges[0]), float(self.edges[-1])
        first, last = self.span[0] - margin, self.span[1] + margin + 1
        return float(self.edges[max(first, 0)]), float(self.edges[min(last, len(self.counts))])

    def without_tails(self) -> tuple[float, float]:
        """The range beyond which rows cannot be told from noise, at most 3% a side.

        Counts are added up from the end as they are, because a threshold would drop rows
        that are spread over many bins. The sum over k empty bins has sqrt(k) deviations; the
        range begins where it first exceeds three times that, which noise alone does in
        about one histogram of fifty, and then it makes the range too wide. No occupied bin
        is left out.
        """
        most = 0.03 * max(self.counts.sum(), 0.0)
        tail = np.minimum(
            3 * self.event.deviation * np.sqrt(np.arange(1, len(self.counts) + 1)), most
        )
        first = int(np.argmax(np.cumsum(self.counts) > tail))
        last = len(self.counts) - 1 - int(np.argmax(np.cumsum(self.counts[::-1]) > tail))
        seen = [first, last, *self.occupied]
        return float(self.edges[min(seen)]), float(self.edges[max(seen) + 1])


def estimate_ranges(
    total: Callable[[Callable[[Batch], np.ndarray]], np.ndarray],
    weights: Mapping[str, float],
    cost: Cost,
    noise: Noise,
    neighbors: str,
) -> dict[str, Numeric]:
    """Private ranges of columns from noisy histograms, for shares in proportion to weights.

    ``total(each)`` is the sum of ``each(batch)`` over all batches of rows.

    1. A histogram over dyadic bins gives the order of magnitude. A column of which only
       zeros are seen has the range (-1, 1): its few other values could be anywhere, and what
       lies outside is clipped or shortened, so that a range too small does little harm.
    2. A column seen in one or two neighbouring bins, away from zero, is far from zero beside
       its spread, as years are: histograms over 64 equal bins zoom in, up to three times.
    3. A last histogram over 64 equal bins gives the range. A column seen in only one of them
       does not vary as far as can be seen; it keeps its order of magnitude as range, since
       in a tiny one its coefficient would be huge.

    Guarantee. The cost, under add/remove or replace-one. One person falls into one bin of
    each histogram: under add/remove one count changes by 1, so L1 = L2 = 1; under
    replace-one two counts change by 1, so L1 = 2 and L2 = sqrt 2. Which histogram comes next
    follows from those released, and a column's shares add up to at most its share of the
    cost whatever they are. Costs that depend on earlier releases and stay within a limit fixed
    beforehand compose as fixed costs do, both pure (Rogers, Roth, Ullman and Vadhan 2016) and
    Gaussian (Smith and Thakurta 2022).

    Returns
    -------
    dict
        A :class:`~dpstats.schema.Numeric` a column, but none for a column that is seen in no
        bin of its first histogram, which is a released fact.
    """
    each = {name: cost.part(weight / sum(weights.values())) for name, weight in weights.items()}
    columns = tuple(weights)

    def ask(what: str, bins: Mapping, shares: Mapping[str, float]) -> dict[str, Histogram]:
        costs = {name: each[name].part(shares[name]) for name in bins}
        return _histograms(what, total, bins, costs, noise, neighbors)

    coarse = ask("order of magnitude", _all(columns, Dyadic()), _all(columns, _COARSE_SHARE))
    columns = tuple(name for name in columns if len(coarse[name].occupied))
    ranges = {name: _magnitude(coarse[name]) for name in columns}
    spread = [name for name in columns if ranges[name] != _ONLY_ZEROS]
    narrow = [name for name in spread if _is_far(coarse[name])]
    left = _all(columns, 1 - _COARSE_SHARE)
    for _ in range(_ZOOMS):
        zoomed = ask("neighbourhood", _linear(ranges, narrow), _all(narrow, _ZOOM_SHARE))
        ranges |= {name: histogram.around(1) for name, histogram in zoomed.items()}
        left |= {name: left[name] - _ZOOM_SHARE for name in narrow}
        narrow = [name for name in narrow if zoomed[name].is_narrow]
    last = ask("range", _linear(ranges, spread), left)
    ranges |= {name: histogram.without_tails() for name, histogram in last.items()}
    constant = [name for name in spread if len(last[name].occupied) == 1 and last[name].is_narrow]
    ranges |= {name: _either_sign(coarse[name]) for name in constant}
    return {name: Numeric(*ranges[name]) for name in columns}


def _all(columns, value) -> dict:
    return dict.fromkeys(columns, value)


def _linear(ranges: Mapping, columns) -> dict[str, Linear]:
    return {name: Linear(*ranges[name]) for name in columns}


def _magnitude(histogram: Histogram) -> tuple[float, float]:
    """The span of the dyadic bins, or (-1, 1) when only zeros are seen."""
    return _ONLY_ZEROS if set(histogram.span) <= set(Dyadic.zero) else histogram.around(0)


def _is_far(histogram: Histogram) -> bool:
    """Whether a column is seen in one or two neighbouring bins, none of them at zero."""
    return histogram.is_narrow and not set(histogram.span) & set(Dyadic.zero)


def _either_sign(histogram: Histogram) -> tuple[float, float]:
    """The order of magnitude as a range about zero."""
    reach = max(map(abs, histogram.around(0)))
    return -reach, reach


def _histograms(
    what: str, total, bins: Mapping, costs: Mapping[str, Cost], noise: Noise, neighbors: str
) -> dict[str, Histogram]:
    """One pass over the data: a noisy histogram for each column in ``bins``."""
    if not bins:
        return {}
    moved = 2 if neighbors == REPLACE_ONE else 1
    found = {}
    for (name, kind), count in zip(bins.items(), total(partial(_counts, bins)), strict=True):
        query = Query(f"{what} of {name}", count.tolist(), l1=moved, l2=math.sqrt(moved))
        noisy = noise.add(query, costs[name])
        found[name] = Histogram(kind.edges, noisy, noise.events[-1])
    return found


def _counts(bins: Mapping, batch: Batch) -> np.ndarray:
    """Rows of a batch in each bin, one row of counts a column."""
    counts = [
        np.bincount(kind.index(batch[name]), minlength=len(kind.edges) - 1)
        for name, kind in bins.items()
    ]
    return np.array(counts)
