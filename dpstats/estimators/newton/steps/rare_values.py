"""Bound what limits cut along columns with a rare value, and along rare levels of factors.

The rows of a rare value have nearly all of X'X along its column, and a row whose score is cut adds
nothing to the slope of the sum along its direction. So a step there falls short by the part of
these rows that is cut, however few that is of all rows. And as their scores are long, they are the
ones that are cut: along that direction, and on one side where residuals are skewed.
"""

import math

import numpy as np

from dpstats.estimators.contract import Extremes
from dpstats.estimators.newton.row_sums import IndicatorBasis
from dpstats.estimators.newton.steps.far_directions import far_directions
from dpstats.estimators.newton.steps.queries import RowQueries
from dpstats.estimators.newton.steps.score_tails import Tail
from dpstats.estimators.newton.steps.whitening import Whitening

# A level is rare if it has at most one of so many rows. A column without a tail and with a kurtosis
# from here on has two values, of which the rarer one is in about 1 / kurtosis of the rows.
_RARE = 6.0
# The share of a level that columns do not tell from others is as good as 0.
_NO_SHARE = 1e-12
# A skewed response is as one-sided as beyond so many deviations at least: nearer its mean, sums on
# both sides are alike.
_ONE_SIDED = 1.0
# Rows beyond a limit are at most so many times those expected there, where noise could hide more.
# With 2 a level of 3% of the rows whose counts vary most is held in .82 of 24 fits at epsilon 1,
# with 3 in .95, and levels are a third wider (benchmarks/coded.py has such tables).
_TIMES = 3.0
# Residuals have a tail of this index, and those of a rare value are so many times as large as
# others. With 1.6 times the same level is held in .86, and one of 10% in .75 instead of .88; as if
# all rows beyond had the value intervals of visits to a doctor (benchmarks/poisson.py) are up to
# 1.9 times as long.
_INDEX, _LARGER = 3.0, 2.0


def parts_cut(
    queries: RowQueries, whitening: Whitening, tail: Tail, limit: float, rows: float
) -> np.ndarray:
    """Return the squared part (p,) of the Hessian that a limit may cut along rare values.

    All of the ``rows`` beyond the limit, as many as the histogram of scores counts and its noise
    may hide, are taken to have the rare value.
    """
    directions, rarity = _rare(queries, whitening)
    cut = np.minimum(tail.most_beyond(limit) / rows * rarity, 1.0)
    return (directions**2 * cut[:, None] ** 2).max(axis=0, initial=0.0)


def one_sided_losses(
    queries: RowQueries, whitening: Whitening, tail: Tail, limit: float, rows: float,
    deviation: float,
) -> np.ndarray:  # fmt: skip
    """Return what a limit cuts off the rows of each rare value on one side, (k, p).

    Mapped rows have a squared length of the dimension t, and those of a value in one of r rows one
    of r along its direction and t - 1 along others. So the lengths of their scores are to those of
    others as the root of (t - 1 + r) / t, and to what lies along the direction as that of
    (t - 1 + r) / r. With that, and residuals that are larger by a factor, they are a part of the
    rows beyond the limit, and lose it of what all rows lose there, in the measure that a response
    of such a ``deviation`` is one-sided where they are cut. It is no more than so many rows can
    lose whose squares are those of all: by Cauchy's inequality the root of their number times the
    sum of these.
    """
    directions, rarity = _rare(queries, whitening)
    most = tail.most_beyond(limit) / max(tail.beyond(limit), 1.0)
    times = min(max(most, 1.0), _TIMES)
    lost, squares = math.sqrt(tail.square_excess(limit)), tail.excess(limit, 2)
    lengths = np.minimum(times * lost, np.sqrt(times * squares * rows / rarity))
    square = whitening.dimension - 1 + rarity
    longer = np.sqrt(square / whitening.dimension)
    odds = (_LARGER * longer) ** _INDEX / (rarity - 1)
    lengths *= odds / (1 + odds) * np.sqrt(rarity / square)
    places = np.maximum(limit / longer / deviation, _ONE_SIDED).tolist()
    sides = [one_sided(queries.reference.extremes, place) for place in places]
    return (np.reshape(sides, len(rarity)) * lengths)[:, None] * directions


def one_sided(extremes: Extremes, distance: float) -> float:
    """Return how one-sided the response is beyond a distance from its mean, from 0 to 1.

    It is the difference of what lies beyond above and below, over their sum, and 1 where nothing
    is seen; distances are in deviations.
    """
    points = extremes.y_points - extremes.y_weights @ extremes.y_points
    above, below = (
        float(extremes.y_weights @ np.maximum(side - distance, 0.0)) for side in (points, -points)
    )
    return abs(above - below) / (above + below) if above + below > 0 else 1.0


def _rare(queries: RowQueries, whitening: Whitening) -> tuple[np.ndarray, np.ndarray]:
    """Return directions (k, p) of length 1 of rows of rare values, and one over their shares."""
    extremes = queries.reference.extremes
    is_rare = (extremes.tails == 0) & (extremes.kurtosis > _RARE) & np.isfinite(extremes.kurtosis)
    of_numbers = far_directions(
        queries.basis, whitening.map, queries.problem, np.where(is_rare, extremes.kurtosis, 0.0)
    )
    of_levels = rare_levels(queries.basis, whitening.map)
    directions, rarity = (np.concatenate(both) for both in zip(of_numbers, of_levels, strict=True))
    return directions, rarity


def rare_levels(basis: IndicatorBasis, map_: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return directions (k, p) of length 1 of rows with rare levels, and one over their shares.

    ``map_`` W (m, p) whitens X'X: W'(X'X / n) W = I. With A its left inverse X'X / n is A'A on the
    span. So where phi c is the indicator of a level its share s, the mean square of that, is
    |A c|^2, and the mean of its rows is, mapped, W'(X'X / n) c / s = A c / s, of the squared length
    1 / s: along A c these rows have all of X'X.
    """
    if not basis.sizes:
        return np.zeros((0, map_.shape[1])), np.zeros(0)
    means = basis.levels @ np.linalg.pinv(map_).T
    shares = (means**2).sum(axis=1)
    is_rare = (shares > _NO_SHARE) & (shares * _RARE < 1)
    return means[is_rare] / np.sqrt(shares[is_rare])[:, None], 1 / shares[is_rare]
