"""Bound how much of the Hessian limits cut along columns of which one of two values is rare.

The rows of the rare value have nearly all of X'X along such a column, and a row whose score is cut
adds nothing to the slope of the sum along its direction. So a step there falls short by the part of
these rows that is cut, however few that is of all rows.
"""

import numpy as np

from dpstats.estimators.newton.steps.far_directions import far_directions
from dpstats.estimators.newton.steps.queries import Queries
from dpstats.estimators.newton.steps.score_tails import Tail
from dpstats.estimators.newton.steps.whitening import Whitening

# Columns without a tail and with a kurtosis from here on have two values. The rarer one is in about
# 1 / kurtosis of the rows.
_RARE = 6.0


def parts_cut(
    queries: Queries, whitening: Whitening, tail: Tail, limit: float, rows: float
) -> np.ndarray:
    """Return the squared part (p,) of the Hessian that a limit may cut along rare values.

    All of the ``rows`` beyond the limit, as many as the histogram of scores counts and its noise
    may hide, are taken to have the rare value.
    """
    extremes = queries.reference.extremes
    is_rare = (extremes.tails == 0) & (extremes.kurtosis > _RARE) & np.isfinite(extremes.kurtosis)
    directions, kurtosis = far_directions(
        queries.basis, whitening.map, queries.problem, np.where(is_rare, extremes.kurtosis, 0.0)
    )
    cut = np.minimum(tail.most_beyond(limit) / rows * kurtosis, 1.0)
    return (directions**2 * cut[:, None] ** 2).max(axis=0, initial=0.0)
