"""Hold what released distributions of the columns tell: center, scale, offsets and far values."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpstats.numerics.cut_normal import kurtosis_within


@dataclass(frozen=True)
class Extremes:
    """Hold what released distributions of columns tell of outlying values.

    Parameters
    ----------
    heavy : float
        How likely they make a heavy tail of scores, from 0 to 1.
    heavy_seen : float
        The same, as far as they show it: without what noise may hide.
    leverage : float
        Largest squared leverage of a row, as far as is seen.
    kurtosis, skewness : numpy.ndarray, shape (d,)
        Of the numeric columns of the design.
    squared_gaps : numpy.ndarray, shape (d,)
        Of columns of two values the square of their difference, in variances; 0 of others.
    tails : numpy.ndarray, shape (d,)
        By how much the kurtosis exceeds that of a normal column, 3, if tails go on where noise
        hides them; 0 of columns that are not seen to have one (:meth:`has_tail`). Of an interaction
        of a number with codes it is that of the number within a code.
    far_tails : numpy.ndarray, shape (d,)
        The same, and a part of it for columns that are not seen to have one.
    distances : numpy.ndarray, shape (d, k)
        How far from their means, in deviations, more than ``SHARES`` (k,) of the rows lie if tails
        go on so.
    within : numpy.ndarray, shape (d,)
        Deviations, within a code, of the columns of such interactions and of their number; 0 for
        other columns.
    mode_shares : numpy.ndarray, shape (d,)
        Shares of the rows at the mode of the released distribution of a variable, which is a value
        or a bin; 0 of expressions.
    unseen_widths : numpy.ndarray, shape (d,)
        Widths of the declared bounds of variables of which noise hides all values but one, in their
        own units, infinite where there are none and the one is not zero; 0 of other columns.
    moves : numpy.ndarray, shape (d, d)
        How far all columns move, on average, where rows are far out in one of them, by a unit of
        that: those of an interaction of numbers move with these.
    y_ends : numpy.ndarray, shape (2,)
        Between which means of the response lie, about its center in units of its scale: its
        declared bounds, or somewhat beyond where it is seen.
    y_reach : float
        How far from its center the response lies, in units of its scale: to its declared bounds,
        or beyond where it is seen.
    y_most : float
        How far it may lie, to its declared bounds or far beyond what is seen.
    far_squares : numpy.ndarray, shape (d,)
        The variances of variables if their tails go on where noise hides them, over those that are
        seen; 1 of expressions.
    y_far_square : float
        The variance of the response if its tails go on where noise hides them, over that of its
        scale.
    y_error : float
        Standard error of the square of its scale, relative to it.
    y_points, y_weights : numpy.ndarray, shape (k,)
        A discrete distribution that resembles the response's, in such units.
    y_unseen : bool
        Whether nothing but one value is seen of it.
    y_heavy : tuple of float, optional
        How likely the histogram of the response makes a heavy tail of scores of single rows, or
        that of its differences one of pairs of rows, at least and at most; None where there is
        none.
    """

    # Rows may lie so many times as far out as is seen in a histogram; without declared bounds a few
    # responses, which noise hides, so many times as far.
    BEYOND_SEEN: ClassVar[float] = 1.3
    BEYOND_ALL: ClassVar[float] = 5.0
    # Largest squared leverage that a code of a factor is taken to have.
    CODE_LEVERAGE: ClassVar[float] = 8.0
    # Where no tail of the response is seen it is heavy with this chance: with .4, as for any
    # histogram that hides 0.5% of the rows, visits to a doctor are covered in .8 of 100 fits.
    HEAVY_UNSEEN: ClassVar[float] = 0.55
    # Where a response may lie farther from its center than so many units of its scale there is room
    # for a tail that noise hides, and for any from so many.
    ROOM: ClassVar[tuple[float, float]] = (5.0, 20.0)
    # Scores of single rows have a heavy tail where more than about this share of the responses,
    # with a standard deviation, is far from their median. Far are .012 of normal ones, .037 of
    # gamma ones of shape 4, .054 of Student's with three degrees of freedom and .11 of exponential
    # ones. The chance of a heavy tail is at most that of the share plus the square of its noise
    # over that deviation, which is little where the share is known. It is at least that of the
    # share times the square of its noise in these deviations, up to 1: columns that look light say
    # the less the more the noise hides.
    FAR_SHARE: ClassVar[tuple[float, float]] = (0.035, 0.008)
    # Noise alone makes kurtoses of normal columns exceed a normal one by this in one of 30 from
    # 20,000 rows at epsilon 1 on; in one of 7 of 5,000 rows, and one of 5 of 1,000 at epsilon 4,
    # where intervals are 4 to 12% longer for it, on average.
    NORMAL_KURTOSIS: ClassVar[float] = 3.0
    CLEAR_TAIL: ClassVar[float] = 0.5
    # Two values have the least kurtosis for their skewness. Noise in bins adds less than this, and
    # a group of values in place of one, as of rates other than 0, more.
    TWO_VALUES: ClassVar[float] = 0.1
    # Where no tail of a column is seen one that goes on counts for this part, or intervals of
    # columns without any are long: with 1/2 lognormal ones of a logit off the model are held in all
    # of 60 tables of 5,000 rows at epsilon 1, with 1/4 in .93 and without it in .87
    # (benchmarks/coded.py).
    UNSEEN_TAIL: ClassVar[float] = 0.4
    # Tails of a group's column are at most so many times the square of the skewness of all groups',
    # or so long: gamma columns have 1.5 times it, lognormal ones 2.3 times where logs deviate by
    # .8. What is longer on both sides is taken to come from groups of different scales
    # (benchmarks/pooled.py).
    GROUP_TAIL: ClassVar[tuple[float, float]] = (2.5, 3.0)
    # Shares of the rows of which distances are known.
    SHARES: ClassVar[np.ndarray] = 2.0 ** -np.arange(1.0, 15.01, 0.25)
    # Largest error of the square of the response's scale.
    LARGEST_ERROR: ClassVar[float] = 0.5

    heavy: float
    heavy_seen: float
    leverage: float
    kurtosis: np.ndarray
    skewness: np.ndarray
    squared_gaps: np.ndarray
    tails: np.ndarray
    far_tails: np.ndarray
    distances: np.ndarray
    within: np.ndarray
    mode_shares: np.ndarray
    unseen_widths: np.ndarray
    moves: np.ndarray
    far_squares: np.ndarray
    y_ends: np.ndarray
    y_reach: float
    y_most: float
    y_far_square: float
    y_error: float
    y_points: np.ndarray
    y_weights: np.ndarray
    y_unseen: bool = False
    y_heavy: tuple[float, float] | None = None

    @classmethod
    def has_tail(cls, kurtosis: float, is_long: bool, farthest: float = math.inf) -> bool:
        """Tell whether a kurtosis clearly exceeds that of a normal column.

        ``is_long`` tells that it is of more than two values, as two have no tail. Of a column that
        is seen up to ``farthest`` deviations it is that of the part that is seen, and a normal
        column has less than 3 there: 2.5 up to 2.5 deviations, where differences of Student's t
        with three degrees of freedom have 3.3.
        """
        return is_long and kurtosis - kurtosis_within(farthest) > cls.CLEAR_TAIL

    @classmethod
    def squared_gap(cls, kurtosis: float, skewness: float) -> float:
        """Return the squared difference of two values, in variances; 0 of more values, or one.

        Two values in parts q and 1 - q of the rows differ by a square of 1 / (q (1 - q)) variances,
        which is their squared skewness and 4. Their kurtosis is that square and 1, the least that
        there is.
        """
        excess = kurtosis - skewness**2 - 1
        return skewness**2 + 4 if abs(excess) < cls.TWO_VALUES else 0.0

    @classmethod
    def tail(cls, kurtosis: float, is_long: bool) -> float:
        """Return by how much the kurtosis of a column exceeds a normal one, 0 if not clearly."""
        return kurtosis - cls.NORMAL_KURTOSIS if cls.has_tail(kurtosis, is_long) else 0.0

    def of_groups(self) -> "Extremes":
        """Return what distributions of the rows of all groups tell of those of one group.

        Scales that differ from group to group make the columns of all of them long-tailed on both
        sides, as no group's own need be. A column that is skewed in its groups is so in all.
        """
        skewed, even = self.GROUP_TAIL
        most = np.maximum(skewed * self.skewness**2, even)
        tails, far_tails = np.minimum(self.tails, most), np.minimum(self.far_tails, most)
        shorter = far_tails / np.where(far_tails > 0, self.far_tails, 1.0)
        distances = self.distances * shorter[:, None] ** 0.25  # kurtoses are of fourth powers
        return replace(self, tails=tails, far_tails=far_tails, distances=distances)

    def far_parts(self, distance: float) -> np.ndarray:
        """Return the parts of the columns' variances beyond a distance in deviations, (d,)."""
        shares = -np.diff(np.append(self.SHARES, 0.0))
        beyond = np.maximum(self.distances**2 - distance**2, 0.0) @ shares
        return np.minimum(beyond, 1.0)

    @property
    def room(self) -> float:
        """Return how much room the ends of the response leave for a tail, from 0 to 1."""
        none, full = self.ROOM
        return min(max((self.y_most - none) / (full - none), 0.0), 1.0)

    @classmethod
    def heavy_by_far(cls, share: float, noise: float) -> tuple[float, float]:
        """Return how likely a ``share`` of far responses, known up to noise, makes a heavy tail.

        It is so likely at least and at most.
        """
        usual, unsure = cls.FAR_SHARE
        hidden, unit = noise / unsure, math.sqrt(2) * math.hypot(unsure, noise)
        likely, most = (
            (1 + math.erf((share + above - usual) / unit)) / 2 for above in (0.0, hidden * noise)
        )
        return min(hidden, 1.0) ** 2 * likely, most

    @classmethod
    def unknown(cls, columns: int) -> "Extremes":
        """Return the extremes of distributions of which nothing is known; no column has a tail."""
        none = np.zeros(columns)
        return cls(
            heavy=1.0,
            heavy_seen=1.0,
            leverage=math.inf,
            kurtosis=np.full(columns, math.inf),
            skewness=none,
            squared_gaps=none,
            tails=none,
            far_tails=none,
            distances=np.zeros((columns, len(cls.SHARES))),
            within=none,
            mode_shares=none,
            unseen_widths=none,
            moves=np.eye(columns),
            far_squares=np.ones(columns),
            y_ends=np.array([-math.inf, math.inf]),
            y_reach=math.inf,
            y_most=math.inf,
            y_far_square=1.0,
            y_error=1.0,
            y_points=np.zeros(1),
            y_weights=np.ones(1),
        )


@dataclass(frozen=True)
class Offsets:
    """Hold what was released of the distribution of rows' offsets.

    Parameters
    ----------
    points, weights : numpy.ndarray, shape (k,)
        A discrete distribution that resembles theirs; the weights add up to 1.
    high : float
        The largest that declared bounds allow for.
    """

    points: np.ndarray
    weights: np.ndarray
    high: float = math.inf

    def mean(self, function: Callable, predictors: np.ndarray | float) -> np.ndarray:
        """Return the mean of a function of linear predictors (m,) with offsets added, (m,)."""
        return function(np.asarray(predictors)[..., None] + self.points) @ self.weights


@dataclass(frozen=True)
class Reference:
    """Hold a center and a scale of the rows that follow from released distributions of columns.

    Parameters
    ----------
    center : numpy.ndarray, shape (d,)
        Of the numeric columns of the design.
    root : numpy.ndarray, shape (d, d)
        Lower triangular; root @ root.T is about their covariance.
    y_center, y_scale : float
        Of the response.
    extremes : Extremes
    offsets : Offsets or None
        Where rows have offsets.
    hidden : float
        Share of the rows that noise hides in a bin of the distribution of some column.
    """

    center: np.ndarray
    root: np.ndarray
    y_center: float
    y_scale: float
    extremes: Extremes
    offsets: Offsets | None = None
    hidden: float = 1.0
