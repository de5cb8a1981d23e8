"""Compute figures with standard errors and intervals from released sums and counts.

Rows that count in parts, of a unit or by weights, are taken as S = sum of W rows, where W <= 1 is
what a unit or a row counts for. That bounds sampling: a mean of g, be it values, squares, or being
in a level or below a point, has the linearised variance sum W^2 (g_i - g)^2 / S^2, where g_i is the
unit's own mean, at most sum W (g_i - g)^2 / S^2 as W <= 1, and that is at most the variance of g
over rows by S, as a mean of squares is no less than the square of the mean. Nothing is assumed of
how rows of a unit, or weights and values, go together (linearisation: Binder 1983).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpstats.describe.column_parts import FactorPart, NumberPart
from dpstats.describe.distribution import Distribution
from dpstats.describe.limits import Limits

# A group has figures where its noisy number of rows is so many deviations of its noise, at least.
_LEAST_ROWS = 5.0
# From this kurtosis on, twice that of normal values, few rows decide over a standard deviation.
_KURTOSIS = 6.0
# So large a part of the fourth moment may be of values beyond the limits, which a model of the tail
# has; that of a t with four degrees of freedom, whose fourth moment is infinite, is larger.
_MOST_BEYOND = 0.18
# A deviation has an interval where rows that the noise hides are at most so large a part of its
# square; the second is for skewed columns, whose tail may look shorter than it is.
_MOST_HIDDEN, _SKEWNESS = (0.2, 0.03), 0.3
# An interval that reaches to so many times a deviation, or to none, tells little of it.
_PRECISE = 2.0
OK, IMPRECISE, UNIDENTIFIED = "ok", "imprecise", "not_identified"


@dataclass(frozen=True)
class Figure:
    """Hold one figure; ``level`` is that of a factor, None for a number."""

    level: object
    statistic: str
    estimate: float
    std_error: float
    lower: float
    upper: float
    status: str = OK


@dataclass(frozen=True)
class Counted:
    """Hold a noisy number and the variance of its noise."""

    value: float
    variance: float

    def figure(self, statistic: str, z: float, each: float, level: object = None) -> Figure:
        """Return the number as a figure; see :meth:`interval`."""
        return Figure(level, statistic, *self.interval(z, each))

    def interval(self, z: float, each: float) -> tuple[float, float, float, float]:
        """Return the number, at least 0, its error and an interval for that of this table's rows.

        Each that was counted stands for so many rows, or for such a sum of weights.
        """
        value, sd = each * self.value, each * math.sqrt(self.variance)
        return max(value, 0.0), sd, max(value - z * sd, 0.0), max(value + z * sd, 0.0)

    @property
    def seen(self) -> bool:
        """Tell whether the number stands clear of its noise."""
        return self.value >= _LEAST_ROWS * math.sqrt(self.variance) and self.value > 1


def present(rows: Counted, missing: Counted) -> Counted:
    """Return the number of values that are not missing."""
    return Counted(rows.value - missing.value, rows.variance + missing.variance)


def of_presence(
    part: FactorPart, places: np.ndarray, s: float, z: float, each: float
) -> Iterator[Figure]:
    """Yield numbers of values and of missing ones, each of which has a place of its own."""
    missing, n = (Counted(count, (s / part.length) ** 2) for count in places / part.length)
    yield n.figure("n", z, each)
    yield missing.figure("missing", z, each)


def of_factor(
    part: FactorPart, places: np.ndarray, rows: Counted, s: float, z: float, each: float
) -> Iterator[Figure]:
    """Yield the figures of a factor in one group, from its places (size,) with noise ``s``."""
    counts = places / part.length
    variance = (s / part.length) ** 2
    missing = Counted(float(counts[0]), variance)
    n = present(rows, missing)
    yield n.figure("n", z, each)
    yield missing.figure("missing", z, each)
    for level, count in zip(part.levels, counts[1:].tolist(), strict=True):
        yield Counted(count, variance).figure("count", z, each, level)
    for level, count in zip(part.levels, counts[1:].tolist(), strict=True):
        yield _share(level, count, variance, n, z)


def _share(level, count: float, variance: float, n: Counted, z: float) -> Figure:
    """Return the share of a level, whose interval holds noise and sampling."""
    if not n.seen:
        return _hidden("share", level)
    share = min(max(count / n.value, 0.0), 1.0)
    noise = (variance + share**2 * n.variance) / n.value**2
    # the share is taken closer to one half by what noise hides, so that 0 has a sampling error
    near = min(max(share, math.sqrt(noise), 1 / n.value), 1 - 1 / n.value)
    sd = math.sqrt(noise + near * (1 - near) / n.value)
    return Figure(level, "share", share, sd, max(share - z * sd, 0.0), min(share + z * sd, 1.0))


def of_number(
    part: NumberPart,
    places: np.ndarray,
    rows: Counted,
    s: float,
    z: float,
    quantiles: Sequence[float],
    of_all: float,
    ends: tuple[float, float] | None,
    whole: bool,
    each: float,
) -> Iterator[Figure]:
    """Yield the figures of a number in one group, from its places (size,) with noise ``s``.

    ``of_all`` is how many times the rows of this group all rows are, and ``ends`` the declared
    bounds.
    """
    missing = Counted(float(places[0]) / part.missing, (s / part.missing) ** 2)
    n = present(rows, missing)
    yield n.figure("n", z, each)
    yield missing.figure("missing", z, each)
    names = [quantile_name(q) for q in quantiles]
    if not n.seen:
        yield from (_hidden(name) for name in ("mean", "sd", *names))
        return
    curve = Distribution.of(part, places[3:], n.value, n.variance, s)
    yield from _moments(part, places, n, s, z, of_all, curve, ends)
    for name, q in zip(names, quantiles, strict=True):
        found, low, high = curve.quantile(q, z)
        more = 0.0 if whole else part.limits.width / 2
        low, high = low - more, high + more
        if ends is not None:
            low, high = max(low, ends[0]), min(high, ends[1])
        status = OK if math.isfinite(high - low) else IMPRECISE
        yield Figure(None, name, found, (high - low) / (2 * z), low, high, status)


def _moments(
    part: NumberPart, places, n: Counted, s: float, z: float, of_all: float, curve: Distribution,
    declared: tuple[float, float] | None,
) -> Iterator[Figure]:  # fmt: skip
    """Yield mean and standard deviation: what is within the limits, and what is beyond them.

    What exceeds a limit is estimated from all rows: its error in a group is multiplied by how
    many times larger all rows are, as it may lie in one group.
    """
    limits, rows = part.limits, n.value
    # of NumPy's type, whose powers become infinite where those of Python raise an error
    half, known = np.float64(limits.half), limits.is_known
    t = float(places[1]) / part.sums / rows
    tt = min(max((float(places[2]) / part.squares / rows + 1) / 2, 0.0), 1.0)
    t_noise = half**2 * ((s / part.sums) ** 2 + t**2 * n.variance) / rows**2
    tt_noise = ((s / part.squares / 2) ** 2 + (tt - 0.5) ** 2 * n.variance) / rows**2
    more, more_error = _beyond(limits.excess(1), of_all)
    square, square_error = _beyond(limits.excess(2), of_all)
    about = half * t + float(more[1] - more[0])
    mean = float(limits.center + about)
    second = half**2 * tt + float((2 * half * more + square).sum())
    variance = max(second - about**2, 0.0)
    noise = half**4 * tt_noise + (2 * about) ** 2 * t_noise
    hidden = float(((2 * half) ** 2 * more_error + square_error).sum())
    # a variance smaller than what noise hides may be as large as that
    likely = variance + math.sqrt(noise + hidden)
    unsure = t_noise + likely / rows + float(more_error.sum()) + (of_all * limits.hidden) ** 2
    yield _mean(mean, unsure, z, known)
    ends = float(limits.points[0]), float(limits.points[-1])
    fourth = curve.moment(mean, 4) + _fourth_beyond(limits, mean, ends)
    sampling = max(fourth - variance**2, 2 * variance**2) / rows
    beyond = _fourth_beyond(limits, mean, (limits.low, limits.high))
    of_tails = beyond > _MOST_BEYOND * fourth or fourth > _KURTOSIS * variance**2
    unseen = of_all * limits.hidden_square
    is_skewed = bool(abs(curve.moment(mean, 3)) > _SKEWNESS * variance**1.5)
    known = known and not of_tails and unseen < _MOST_HIDDEN[is_skewed] * variance
    if known or declared is None:
        yield _deviation(variance, noise + hidden + sampling + (unseen / 2) ** 2, z, known)
        return
    noise = half**4 * tt_noise + (2 * half * t) ** 2 * t_noise
    within = max(float(half**2 * (tt - t**2)), 0.0)
    yield _bounded_deviation(
        math.sqrt(variance), within, noise, limits.center + float(half * t), z, limits, curve,
        declared,
    )  # fmt: skip


def _mean(mean: float, square: float, z: float, known: bool) -> Figure:
    """Return a mean with this squared error."""
    error = math.sqrt(square)
    if not known:
        return Figure(None, "mean", mean, math.inf, -math.inf, math.inf, UNIDENTIFIED)
    return Figure(None, "mean", mean, error, mean - z * error, mean + z * error)


def _deviation(variance: float, square: float, z: float, known: bool) -> Figure:
    """Return a standard deviation, from a variance with this squared error."""
    sd, reach = math.sqrt(variance), z * math.sqrt(square)
    if not known:
        return Figure(None, "sd", sd, math.inf, 0.0, math.inf, UNIDENTIFIED)
    return _between(sd, max(variance - reach, 0.0), variance + reach, z)


def _between(sd: float, least: float, most: float, z: float) -> Figure:
    """Return a standard deviation whose square has an interval; imprecise where that is long."""
    low, high = math.sqrt(least), math.sqrt(most)
    status = OK if low and high < _PRECISE * sd else IMPRECISE
    return Figure(None, "sd", sd, (high - low) / (2 * z), low, high, status)


def _bounded_deviation(
    sd: float, within: float, noise: float, mean: float, z: float, limits: Limits,
    curve: Distribution, declared: tuple[float, float],
) -> Figure:  # fmt: skip
    """Return a standard deviation with an interval that holds whatever tail the bounds allow.

    ``within`` is the variance of values cut at the limits, ``mean`` their mean and ``noise`` the
    variance of the noise on the first. With v = c + e, where c is a value cut at the limits, e
    increases with c, so their covariance is no less than 0 and Var v >= Var c. The other way, Var v
    is at most the mean square of v about the mean of c, so no more than Var c and, for each row
    beyond a limit h with the bound b, (b - mean)^2 - (h - mean)^2. Rows beyond are as many as the
    cumulative counts tell, and what their noise hides. They count in the fourth moment too, which
    the sampling error of a variance follows from: of c for the lower end, at the bounds for the
    upper one.
    """
    shares = np.array(curve.beyond(limits.low, limits.high, z))
    far = (np.array(declared) - mean) ** 2
    near = np.minimum((np.array([limits.low, limits.high]) - mean) ** 2, far)
    seen = curve.moment(mean, 4)

    def reach(fourth: float) -> float:
        return z * math.sqrt(noise + max(fourth - within**2, 2 * within**2) / curve.rows)

    least = max(within - reach(seen + float(shares @ near**2)), 0.0)
    most = within + float(shares @ (far - near)) + reach(seen + float(shares @ far**2))
    # no values between two bounds vary by more than half of their distance
    most = max(min(most, ((declared[1] - declared[0]) / 2) ** 2), sd**2)
    return _between(sd, least, most, z)


def _beyond(found: tuple[np.ndarray, np.ndarray], of_all: float) -> tuple[np.ndarray, np.ndarray]:
    """Return what exceeds the limits and its mean squared error for a group, each (2,).

    No tail has just the shape of one of the densities: an estimate may be off by all of it, and its
    posterior is taken for half as precise as it is.
    """
    mean, variance = found
    return mean, of_all**2 * (2 * variance + mean**2)


def _fourth_beyond(limits: Limits, center: float, ends: tuple[float, float]) -> float:
    """Return by how much values beyond the ends raise the fourth moment about a center."""
    h = np.abs(np.array(ends) - center)
    powers = ((1, 4), (2, 6), (3, 4), (4, 1))
    return float(sum(c * (h ** (4 - j) * limits.excess(j, ends)[0]).sum() for j, c in powers))


def _hidden(statistic: str, level: object = None) -> Figure:
    """Return a figure that the noise hides."""
    nan, far = math.nan, math.inf
    return Figure(level, statistic, nan, far, -far, far, UNIDENTIFIED)


def quantile_name(q: float) -> str:
    """Name a quantile as pandas does, 25% for .25."""
    return f"{100 * q:g}%"
