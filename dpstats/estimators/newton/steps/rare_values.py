"""Bound how much of the Hessian limits cut along columns with a rare value, and along rare levels.

The rows of a rare value have nearly all of X'X along its column, and a row whose score is cut adds
nothing to the slope of the sum along its direction. So a step there falls short by the part of
these rows that is cut, however few that is of all rows.
"""

import numpy as np

from dpstats.estimators.newton.row_sums import IndicatorBasis
from dpstats.estimators.newton.steps.far_directions import far_directions
from dpstats.estimators.newton.steps.queries import Queries
from dpstats.estimators.newton.steps.score_tails import Tail
from dpstats.estimators.newton.steps.whitening import Whitening

# A level is rare if it has at most one of so many rows. A column without a tail and with a kurtosis
# from here on has two values, of which the rarer one is in about 1 / kurtosis of the rows.
_RARE = 6.0
# The share of a level that columns do not tell from others is as good as 0.
_NO_SHARE = 1e-12


def parts_cut(
    queries: Queries, whitening: Whitening, tail: Tail, limit: float, rows: float
) -> np.ndarray:
    """Return the squared part (p,) of the Hessian that a limit may cut along rare values.

    All of the ``rows`` beyond the limit, as many as the histogram of scores counts and its noise
    may hide, are taken to have the rare value.
    """
    extremes = queries.reference.extremes
    is_rare = (extremes.tails == 0) & (extremes.kurtosis > _RARE) & np.isfinite(extremes.kurtosis)
    of_numbers = far_directions(
        queries.basis, whitening.map, queries.problem, np.where(is_rare, extremes.kurtosis, 0.0)
    )
    of_levels = rare_levels(queries.basis, whitening.map)
    directions, rarity = (np.concatenate(both) for both in zip(of_numbers, of_levels, strict=True))
    cut = np.minimum(tail.most_beyond(limit) / rows * rarity, 1.0)
    return (directions**2 * cut[:, None] ** 2).max(axis=0, initial=0.0)


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
