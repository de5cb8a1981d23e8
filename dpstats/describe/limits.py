"""Choose the limits at which values count in sums, by noise and by what lies beyond them."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpstats.estimators.newton.steps.hidden_rows import LONG, hidden_share
from dpstats.range_estimation import Histogram, Marginal, Tail
from dpstats.range_estimation.excess import tails
from dpstats.schema import Numeric

# Rows that the noise hides may lie so many times as far from the center as the limits, within
# declared bounds, and are as many as so many deviations of the noise on a bin.
_FARTHER, _HIDDEN = 1.5, 2.0
# They move means of columns with these kurtoses so many times; the last is that of mostly zeros.
_KURTOSES, _TIMES = (3.5, 5.5, 12.0), (0.0, 1.0, 2.0)
_LEAST_POINTS = 3
# The squared error of what lies beyond, in that of a posterior by which tails are heavy as often
# as not. It chooses limits alone: intervals allow for all of it.
_SURE = 0.25
# Quantiles are read from so many bins at most, of a width that people round to.
_BINS = 1024
_ROUND = (1.0, 5.0)


@dataclass(frozen=True)
class Limits:
    """Hold where the values of a column are cut, and the grid of its quantiles.

    Parameters
    ----------
    low, high : float
        Sums are of values cut at these.
    tails : tuple of two Tail, or None
        What is believed of values beyond; None where it is nothing.
    is_known : bool
        Whether that bounds what is beyond: no tail may be seen, unless bounds are declared.
    hidden, hidden_square : float
        By how much rows that the noise hides may raise the mean, and the mean square about the
        center.
    hidden_share : float
        The share of rows that the noise could hide far out, where bounds leave room for them.
    first, width, size : int, float, int
        Bin i of the grid holds values within half a ``width`` of (first + i) width; the outer ones
        hold all beyond them too.
    """

    low: float
    high: float
    tails: tuple[Tail, Tail] | None
    is_known: bool
    first: int
    width: float
    size: int
    hidden: float = 0.0
    hidden_square: float = 0.0
    hidden_share: float = 0.0

    @property
    def center(self) -> float:
        """Return the middle between the limits."""
        return self.low / 2 + self.high / 2

    @property
    def half(self) -> float:
        """Return half of the distance between the limits."""
        return self.high / 2 - self.low / 2

    @property
    def points(self) -> np.ndarray:
        """Return the values (size,) that stand for the bins."""
        return (float(self.first) + np.arange(self.size)) * self.width

    @cached_property
    def ends(self) -> np.ndarray:
        """Return the least and the largest (value - center) / half, cut to [-1, 1], of each bin.

        Of shape (size, 2); the outer bins hold all beyond.
        """
        edges = (float(self.first) + np.arange(self.size + 1) - 0.5) * self.width
        edges[[0, -1]] = -np.inf, np.inf
        t = np.clip((edges - self.center) / self.half, -1.0, 1.0)
        return np.stack([t[:-1], t[1:]], axis=1)

    def excess(
        self, power: int, ends: tuple[float, float] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return means and variances of expected powers of what exceeds two ends, (2,).

        These are the limits if they are not given.
        """
        if self.tails is None:
            return np.zeros(2), np.zeros(2)
        low, high = (self.low, self.high) if ends is None else ends
        distances = np.array([self.tails[0].start - low, high - self.tails[1].start])
        pairs = zip(self.tails, distances, strict=True)
        found = [tail.excess(np.array([distance]), power) for tail, distance in pairs]
        means, variances = np.array(found)[..., 0].T
        return means, variances


def limits(marginal: Marginal, bound: Numeric | None, whole: bool, noise: float) -> Limits:
    """Choose limits that make noise and uncertainty about what lies beyond small together.

    ``noise`` is the standard deviation of the noise on a mean of values in [-1, 1]. A function of
    what was released, so it costs nothing.
    """
    ends = (-np.inf, np.inf) if bound is None else (bound.low, bound.high)
    seen = marginal.seen
    low, high = _outermost(marginal)
    both = None if seen is None else _tails(marginal, seen, low, high, ends)
    # one bin beside zero may be noise, and what lies farther out is hidden then
    rough = marginal.is_rough or marginal.is_unseen or len(marginal.points) < _LEAST_POINTS
    if bound is None and seen is not None:  # rows of the outer bins may be at any distance
        rough = rough or low < seen.edges[1] or high > seen.edges[-2]
    has_tail = both is not None and (both[0].is_seen or both[1].is_seen)
    if seen is None or both is None or rough or not (has_tail or _has_ends(marginal, both)):
        if bound is not None:
            return Limits(*ends, None, True, *_grid(*ends, whole))
        return Limits(low, high, None, False, *_grid(low, high, whole))
    grid = _grid(max(low, ends[0]), min(high, ends[1]), whole)
    lows, highs = _candidates(seen, low, high, ends)
    down = _squared(both[0].excess(both[0].start - lows, 1))
    up = _squared(both[1].excess(highs - both[1].start, 1))
    half = (highs[None] - lows[:, None]) / 2
    error = (half * noise) ** 2 + _SURE * (down[:, None] + up[None])
    i, j = np.unravel_index(np.argmin(error), error.shape)
    low, high = float(lows[i]), float(highs[j])
    if (low, high) == ends:
        return Limits(low, high, both, True, *grid)
    share, reach = marginal.hidden, (high - low) / 2
    center = (high + low) / 2
    farthest = min(_FARTHER * reach, max(ends[1] - center, center - ends[0]))
    heavy = float(np.interp(marginal.moment(4), _KURTOSES, _TIMES))
    heavy = heavy if has_tail else max(heavy, 1.0)
    has_room = max(ends[1] - marginal.mean, marginal.mean - ends[0]) > LONG * marginal.sd
    return Limits(
        low, high, both, True, *grid,
        hidden=heavy * share * reach, hidden_square=_HIDDEN * share * farthest**2,
        hidden_share=hidden_share(share, 1.0) if has_room else 0.0,
    )  # fmt: skip


def _tails(
    marginal: Marginal, seen: Histogram, low: float, high: float, ends: tuple[float, float]
) -> tuple[Tail, Tail]:
    """Return the tails of a column that is seen between ``low`` and ``high``.

    Where one begins at a value that many rows have, and nothing is seen beyond, as below the zeros
    of spending, there is none: its density would be fitted to noise alone.
    """
    down, up = tails(seen, marginal.low, marginal.high, marginal.sd, ends)
    return (
        _empty(down) if down.start <= low else down,
        _empty(up) if up.start >= high else up,
    )


def _has_ends(marginal: Marginal, both: tuple[Tail, Tail]) -> bool:
    """Tell whether a column ends on both sides at values that many rows have."""
    return both[0].start <= marginal.low and both[1].start >= marginal.high


def _empty(tail: Tail) -> Tail:
    none = np.zeros_like(tail.share)
    return replace(tail, share=none, share_variance=none)


def _squared(found: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return by what square an excess of this mean and variance may be wrong."""
    return found[0] ** 2 + found[1]


def _outermost(marginal: Marginal) -> tuple[float, float]:
    """Return the ends of all that is seen, rows far from the others included."""
    held = marginal.points[marginal.weights > 0]
    far = held[(held < marginal.low) | (held > marginal.high)]
    return float(min([marginal.low, *far])), float(max([marginal.high, *far]))


def _candidates(
    seen: Histogram, low: float, high: float, ends: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return limits to choose from on either side: the ends of what is seen, and farther ones.

    None cuts rows that are seen: a density that is smooth tells little of values with gaps.
    """
    edges = np.clip(seen.edges, *ends)
    lows, highs = edges[edges <= low], edges[edges >= high]
    return np.unique(np.append(lows, low)), np.unique(np.append(highs, high))


def _grid(low: float, high: float, whole: bool) -> tuple[int, float, int]:
    """Return the first bin, the width and the number of bins of a grid over a range.

    The width is 1 or 5 times a power of ten, so that values which people round to are the
    middle of their bins, and a whole number where values are.
    """
    least = max((high - low) / (_BINS - 2), 1.0 if whole else 0.0, 1e-300)
    power = 10.0 ** np.floor(np.log10(least))
    steps = [step * power for step in (*_ROUND, 10.0) if step * power >= least * (1 - 1e-9)]
    width = float(steps[0])
    first = int(np.floor(low / width + 0.5))
    last = int(np.floor(high / width + 0.5))
    return first, width, max(last - first + 1, 2)
