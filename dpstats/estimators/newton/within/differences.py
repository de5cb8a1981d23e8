"""Release how large differences of columns are within groups: the scale that steps start from."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpstats.estimators.contract import Extremes, Reference
from dpstats.estimators.newton.within.pair_queries import PairQueries
from dpstats.estimators.newton.within.unit_deviations import DeviationQueries
from dpstats.privacy import Cost
from dpstats.range_estimation import LEAST_SD, Distances, Histogram
from dpstats.range_estimation.far_rows import far_rows
from dpstats.range_estimation.long_tails import continued_sizes
from dpstats.range_estimation.marginal import CLEAR_OF_ZERO, FAR, NEAR_PART, on_simplex

# Bins of an octave, and the chance that an empty one is taken for an occupied one.
_PARTS, _FALSE_BIN = 2, 1e-5
# Bins within declared bounds, over their width; there are more of them without bounds.
_BELOW, _MANY = 2.0 ** (np.arange(-20, 1) / _PARTS), 40
# How much less likely, in deviations of noise on a bin, a size e times as far from 1, or from the
# largest one, is assumed to be.
_TILT = 0.25
# Pairs beyond the others are seen from so many deviations of noise on, and so many more for each
# octave farther out.
_CLEAR, _CLEAR_OCTAVE = 4.0, 0.2
# From these kurtoses and numbers of root mean squares on a tail is more and more likely heavy,
# surely so many units farther. A difference of normal variables has a kurtosis of 3.
_KURTOSIS, _FARTHEST, _SURELY = 3.5, 4.5, (2.0, 4.0)
# So much of a column's mean square is left where squares are cut, in units found in such steps.
_KEPT, _STEP = 0.8, 2.0**0.125
# Bins count for the share of far pairs up to so many times where they begin; what is beyond counts
# where it is clear of noise.
_NEARER = 2.0**10
# Scores are as heavy as all columns make them where as many pairs as hold most of a column's mean
# square are fewer than so many deviations of noise on a bin, and not at all for this from as many
# as the second number on. Set on columns that are 1, or 999, in few rows.
_UNSEEN, _SEEN = 8.0, 16.0
# What the kurtosis of a column is taken for where it is not known.
_UNKNOWN_KURTOSIS = 3.0
# Differences other than 0 have this kurtosis at most where a column has two values, as all of them
# are alike.
_TWO_VALUES = 1.3
# Pairs, at least and at most, of a table whose tail goes on as far as that of the differences may.
_FEWEST, _MOST = 1 << 11, 1 << 14


@dataclass(frozen=True)
class Sizes:
    """Hold the released distribution of the size of a column's differences.

    ``points`` (k,) are typical sizes and ``shares`` (k,) those of the pairs, which add up to 1;
    ``hidden`` is the share that the noise on a bin hides. It is ``rough`` where no bin stands out.
    ``far`` is the share of pairs far out, with the noise on it, and ``seen`` the noisy histogram
    where the tail counts as it goes on beyond what it shows.
    """

    points: np.ndarray
    shares: np.ndarray
    hidden: float
    rough: bool = False
    far: tuple[float, float] = (0.0, 1.0)
    seen: Histogram | None = None

    @property
    def scale(self) -> float:
        """Return the root mean square, 1 where nothing but zeros is seen."""
        largest = float(self.points[self.shares > 0].max(initial=0.0))
        if largest < LEAST_SD:
            return 1.0
        return largest * math.sqrt(float(self.shares @ (self.points / largest) ** 2))

    def scale_within(self, bound: float) -> float:
        """Return the least unit in which most of the mean square is that of squares cut at a bound.

        It is the root mean square or longer. Where few pairs have most of a column they are far
        beyond that, so sums of squares cut in units of it would tell of a part of them only.
        """
        squares, unit = self.standardised**2, 1.0
        least = _KEPT * float(self.shares @ squares)
        while self.shares @ np.minimum(squares, bound * unit**2) < least:
            unit *= _STEP
        return unit * self.scale

    @property
    def standardised(self) -> np.ndarray:
        """Return the points in units of the scale."""
        return self.points / self.scale

    @property
    def unseen(self) -> bool:
        """Tell whether nothing but zeros is seen."""
        return not (self.shares[self.points > 0] > 0).any()

    @property
    def kurtosis(self) -> float:
        """Return the mean fourth power in units of the scale."""
        return float(self.shares @ self.standardised**4)

    @property
    def tail(self) -> float:
        """Return by how much the kurtosis exceeds a normal one if the tail goes on.

        It is 0 where what is seen has none, and of a column of two values.
        """
        if not self._has_tail:
            return 0.0
        fourth = float((self.continued**4).mean())
        return max(self._excess(fourth), self._excess(self.kurtosis))

    @property
    def far_tail(self) -> float:
        """Return the excess kurtosis if the tail goes on, a part of it where none is seen."""
        far = self._excess(float((self.continued**4).mean()))
        return self.tail or Extremes.UNSEEN_TAIL * far

    def _excess(self, kurtosis: float) -> float:
        """Return the tail of differences with a kurtosis, 0 of a column of two values."""
        return Extremes.tail(kurtosis, self._is_long)

    @property
    def _has_tail(self) -> bool:
        return Extremes.has_tail(self.kurtosis, self._is_long, self.farthest)

    @property
    def squared_gap(self) -> float:
        """Return the squared difference of two values in units of the scale, 0 of more values.

        They differ in one of so many pairs, where differences have a kurtosis of 1.
        """
        excess = self._kurtosis_beside_zeros - 1
        return self.kurtosis if abs(excess) < Extremes.TWO_VALUES else 0.0

    @property
    def _is_long(self) -> bool:
        return self._kurtosis_beside_zeros > _TWO_VALUES

    @property
    def _kurtosis_beside_zeros(self) -> float:
        """Return the kurtosis of the differences other than 0."""
        return self.kurtosis * float(self.shares @ (self.points > 0))

    @cached_property
    def continued(self) -> np.ndarray:
        """Return sizes (m,), in increasing order, as pairs have if the tail goes on.

        They are in units of their root mean square. A tail that is seen goes on as a power law.
        """
        pairs = 0.0 if self.seen is None else self.seen.counts.sum()
        rows = int(np.clip(pairs, _FEWEST, _MOST))
        below = np.searchsorted(np.cumsum(self.shares), (np.arange(rows) + 0.5) / rows)
        sizes = self.points[np.minimum(below, len(self.points) - 1)]
        if self.seen is not None:
            sizes = continued_sizes(self.seen, sizes, self._has_tail)
        largest = float(sizes[-1])
        sizes = sizes / largest if largest > LEAST_SD else np.zeros(rows)
        return sizes / max(math.sqrt(float((sizes**2).mean())), LEAST_SD)

    def beyond(self, shares: np.ndarray) -> np.ndarray:
        """Return beyond which of these sizes shares (k,) of the pairs lie."""
        return self.continued[::-1][(shares * (len(self.continued) - 1)).astype(int)]

    @property
    def farthest(self) -> float:
        """Return the largest size that is seen, in units of the scale."""
        return float(self.standardised[self.shares > 0].max(initial=0.0))


def release_sizes(
    queries: PairQueries | DeviationQueries, name: str, values: Callable, width: float | None,
    cost: Cost,
) -> Sizes:  # fmt: skip
    """Release the distribution of the differences of ``values(rows)``, by octaves.

    They are at most ``width``, that of declared bounds, or None.

    Guarantee. The cost: counts of pairs, or of rows, in public bins.
    """
    edges = Distances(0.0, _PARTS).edges[1:] if width is None else width * _BELOW
    noisy = queries.sizes(name, values, edges, cost)
    seen = Histogram(np.append(0.0, edges), noisy.values[:-1], noisy.event, _FALSE_BIN)
    sizes = read_sizes(seen)
    return sizes if queries.TAILS_GO_ON else replace(sizes, seen=None)


def read_sizes(seen: Histogram) -> Sizes:
    """Read the sizes off a noisy histogram that begins at zero."""
    counts, edges = seen.counts, seen.edges
    points = np.append(0.0, (edges[2:] + edges[1:-1]) / 2)
    hidden = min(seen.event.deviation / max(float(counts.sum()), 1.0), 1.0)
    if not len(seen.occupied):
        sums = np.convolve(counts[1:], np.ones(2 * _PARTS), "same")
        far = np.abs(np.log(points[1:] / (edges[-1] if len(edges) < _MANY else 1.0)))
        best = 1 + int(np.argmax(sums - _TILT * seen.event.deviation * far))
        return Sizes(points[best : best + 1], np.ones(1), hidden, rough=True)
    zeros = int(seen.occupied[0] == 0)
    others = replace(seen, edges=edges[zeros:], counts=counts[zeros:])
    rows = np.append(counts[:zeros], _rows(others))
    shares = rows / rows.sum()
    return Sizes(points, shares, hidden, far=_far_share(seen, shares), seen=seen)


def _rows(seen: Histogram) -> np.ndarray:
    """Return the pairs of each bin of a noisy histogram, (k,).

    Where no bin is occupied they stand beside zeros alone.
    """
    if not len(seen.occupied):
        return far_rows(seen, 0, -1, CLEAR_OF_ZERO)
    first, last = seen.span
    octaves = np.maximum(np.arange(len(seen.counts)) - last, 0) / _PARTS
    rows = far_rows(seen, first, last, _CLEAR + _CLEAR_OCTAVE * octaves).copy()
    rows[first : last + 1] = on_simplex(seen.counts[first : last + 1])
    return rows


def _far_share(seen: Histogram, shares: np.ndarray) -> tuple[float, float]:
    """Return the share of differences far out, and the noise on it.

    Pairs of a bin are taken to be spread evenly.
    """
    edges, counts, deviation = seen.edges, seen.counts, seen.event.deviation
    far = FAR * float(np.interp(NEAR_PART, np.append(0.0, np.cumsum(shares)), edges))
    beyond = np.clip((edges[1:] - far) / np.diff(edges), 0.0, 1.0)
    nearer = edges[:-1] < _NEARER * far
    counted = beyond * (nearer | (counts > _CLEAR * deviation))
    total = max(float(counts.sum()), 1.0)
    noise = deviation * float(np.linalg.norm(beyond * nearer))
    return float(counted @ counts) / total, noise / total


def reference_of(
    columns: Sequence[Sizes | None], y: Sizes, width: float | None, indicator: float
) -> Reference:
    """Return the scale of differences of rows and what is known of far ones.

    ``columns`` has None for indicators, whose root mean square is taken for ``indicator``; the
    response's differ by at most ``width``.
    """
    known = [column for column in columns if column is not None]
    scale = np.array([indicator if column is None else column.scale for column in columns])
    heavy = max([_heavy(column) for column in (*known, y)])
    far = [
        Extremes.CODE_LEVERAGE if c is None else (Extremes.BEYOND_SEEN * c.farthest) ** 2
        for c in columns
    ]
    reach = Extremes.BEYOND_SEEN * (1 + heavy) * y.farthest
    if width is not None:
        reach = min(reach, width / y.scale)
    error = y.hidden * float(np.linalg.norm(y.standardised**2))
    shares = Extremes.SHARES
    extremes = Extremes(
        heavy=heavy,
        heavy_seen=heavy,
        leverage=float(sum(far)),
        kurtosis=np.array([_UNKNOWN_KURTOSIS if c is None else c.kurtosis for c in columns]),
        skewness=np.zeros(len(columns)),  # differences are symmetric
        squared_gaps=np.array([0.0 if c is None else c.squared_gap for c in columns]),
        tails=np.array([0.0 if c is None else c.tail for c in columns]),
        far_tails=np.array([0.0 if c is None else c.far_tail for c in columns]),
        distances=np.array(
            [0 * shares if c is None else c.beyond(shares) for c in columns]
        ).reshape(len(columns), len(shares)),
        within=np.zeros(len(columns)),
        mode_shares=np.zeros(len(columns)),
        unseen_widths=np.zeros(len(columns)),
        moves=np.eye(len(columns)),
        far_squares=np.ones(len(columns)),
        y_ends=np.array([-reach, reach]),
        y_reach=reach,
        y_most=Extremes.BEYOND_ALL * reach if width is None else width / y.scale,
        y_far_square=1.0,
        y_error=min(error, Extremes.LARGEST_ERROR),
        y_points=y.standardised,
        y_weights=y.shares,
        y_unseen=y.unseen,
        y_heavy=None if y.rough else _heavy_response(y, known),
    )
    return Reference(np.zeros(len(scale)), np.diag(scale), 0.0, y.scale, extremes)


def _heavy_response(y: Sizes, columns: Sequence[Sizes]) -> tuple[float, float]:
    """Return how likely a heavy tail of scores is at least and at most, given the differences.

    Its own tail shows, or hides in the noise on the share of far ones. How long leverages make
    scores histograms tell, unless noise hides the pairs that have the large ones: a column is as
    good as equal differences of a share 1 / kurtosis of the pairs, beside zeros.
    """
    most = max((column.kurtosis for column in columns), default=1.0)
    deviations = 1 / max(most * y.hidden, LEAST_SD)
    unseen = (_SEEN - deviations) / (_SEEN - _UNSEEN)
    _, hidden = Extremes.heavy_by_far(*y.far)
    return 0.0, max(_heavy(y), hidden, min(max(unseen, 0.0), 1.0))


def _heavy(sizes: Sizes) -> float:
    """Return how likely a distribution makes a heavy tail of scores, from 0 to 1."""
    signs = (sizes.kurtosis - _KURTOSIS) / _SURELY[0], (sizes.farthest - _FARTHEST) / _SURELY[1]
    return min(max(*signs, Extremes.HEAVY_UNSEEN * sizes.rough), 1.0)
